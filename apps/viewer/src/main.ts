// The page: its own recording if it has one inside, else the one of the command that serves it, else whatever is dropped.

import './style.css';

import { App } from './app';

declare global {
  interface Window {
    /** For tests, and for the curious. */
    tangere: App;
  }
}

async function fromServer(app: App): Promise<void> {
  const shown = app.recording;
  const answer = await fetch('recording');
  const text = await answer.text();
  // something else was opened meanwhile
  if (app.recording !== shown) return;
  if (!answer.ok) {
    app.hint();
    return;
  }
  if (!(await app.load(text, 'recording')) || answer.headers.get('x-tangere-live') !== '1') return;
  app.onMissed = () => void fetchMissed(app).catch((error: unknown) => app.fail('recording', error));
  app.goLive();
}

/** A watcher that was too slow for a run has not all of its frames. */
async function fetchMissed(app: App): Promise<void> {
  const shown = app.recording;
  const answer = await fetch('recording');
  const text = await answer.text();
  if (answer.ok && app.recording === shown) await app.loadMissed(text);
}

async function start(app: App): Promise<void> {
  const element = document.getElementById('recording');
  const inside = element?.textContent ?? 'null';
  // not needed twice
  element?.remove();
  if (inside.trim() !== 'null') await app.load(inside, 'recording');
  else if (location.protocol.startsWith('http')) await fromServer(app);
  else app.hint();
  // a live run is followed already
  if (wishes.has('play') && app.recording !== null && !app.player.follow) app.player.toggle();
}

/** page.html#embed: only the picture, for galleries; #play: playing. */
const wishes = new Set(location.hash.slice(1).split('&'));
const root = document.getElementById('app')!;
root.classList.toggle('embed', wishes.has('embed'));
try {
  const app = new App(root);
  window.tangere = app;
  start(app).catch((error: unknown) => app.fail('recording', error));
} catch (error) {
  // no WebGL, most likely
  root.textContent = `The viewer cannot start: ${error instanceof Error ? error.message : String(error)}. It needs a browser with WebGL 2.`;
}
