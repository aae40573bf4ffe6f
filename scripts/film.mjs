// Makes an animated picture of a page that the viewer plays, for documents that cannot show pages.
//
//   node scripts/film.mjs PAGE PICTURE [--width 800] [--height 420] [--fps 20] [--from s] [--to s] [--keys "cn"]
//                        [--eye x,y,z --at x,y,z]
//
// PAGE is what `tangere simulate --html` writes; PICTURE is a .webp or .gif. Needs chromium and ffmpeg on the PATH, and the
// viewer's packages (make demo installs them). Keys are those of the page, pressed once before the first picture.

import { execFileSync } from 'node:child_process';
import fs from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { parseArgs } from 'node:util';
import { pathToFileURL } from 'node:url';

import { openBrowser, openPage } from '../tests/browser/browser.mjs';

const { values, positionals } = parseArgs({
  allowPositionals: true,
  options: {
    width: { type: 'string', default: '800' },
    height: { type: 'string', default: '420' },
    fps: { type: 'string', default: '20' },
    from: { type: 'string', default: '0' },
    to: { type: 'string', default: '1e9' },
    keys: { type: 'string', default: '' },
    eye: { type: 'string', default: '' },
    at: { type: 'string', default: '0,0,0' },
  },
});
const [source, picture] = positionals;
if (!source || !picture) {
  console.error('usage: node scripts/film.mjs PAGE PICTURE [options]');
  process.exit(2);
}
const width = Number(values.width);
const height = Number(values.height);
const fps = Number(values.fps);

const chromium = ['chromium', 'chromium-browser', 'google-chrome'].map((name) => which(name)).find((found) => found);
if (!chromium || !which('ffmpeg')) {
  console.error('film.mjs needs chromium and ffmpeg');
  process.exit(2);
}

function which(name) {
  const folders = (process.env.PATH ?? '').split(path.delimiter);
  return folders.map((folder) => path.join(folder, name)).find((file) => fs.existsSync(file));
}

const folder = fs.mkdtempSync(path.join(os.tmpdir(), 'tangere-film-'));
const browser = await openBrowser(chromium);
try {
  const { page } = await openPage(browser, { viewport: { width, height }, colorScheme: 'light' });
  await page.goto(`${pathToFileURL(path.resolve(source)).href}#embed`);
  await page.waitForFunction(() => window.tangere?.loaded || window.tangere?.error);
  for (const key of values.keys) await page.keyboard.press(key);
  if (values.eye)
    await page.evaluate(([eye, at]) => {
      const { view } = window.tangere;
      view.controls.target.set(...at);
      view.camera.position.set(...eye);
      view.controls.update();
    }, [values.eye, values.at].map((text) => text.split(',').map(Number)));
  const end = Math.min(Number(values.to), await page.evaluate(() => window.tangere.player.end));
  let count = 0;
  for (let time = Number(values.from); time <= end; time += 1 / fps) {
    await page.evaluate((t) => new Promise((done) => {
      window.tangere.player.seek(t);
      requestAnimationFrame(() => requestAnimationFrame(done));
    }), time);
    await page.screenshot({ path: path.join(folder, `${String(count++).padStart(5, '0')}.png`) });
  }
  const input = ['-y', '-loglevel', 'error', '-framerate', String(fps), '-i', path.join(folder, '%05d.png')];
  const output = picture.endsWith('.gif')
    ? ['-vf', 'split[a][b];[a]palettegen=max_colors=96[p];[b][p]paletteuse=dither=none', '-loop', '0', picture]
    : ['-c:v', 'libwebp_anim', '-quality', '60', '-compression_level', '6', '-loop', '0', picture];
  execFileSync('ffmpeg', [...input, ...output], { stdio: 'inherit' });
  console.log(`${picture}: ${count} pictures, ${Math.round(fs.statSync(picture).size / 1000)} kB`);
} finally {
  await browser.close();
  fs.rmSync(folder, { recursive: true });
}
