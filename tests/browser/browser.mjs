// A headless Chromium with software rendering, and a page whose every complaint is a failure.

import { createRequire } from 'node:module';
import { fileURLToPath, pathToFileURL } from 'node:url';
import path from 'node:path';

const here = path.dirname(fileURLToPath(import.meta.url));
export const root = path.resolve(here, '../..');
const { chromium } = createRequire(path.join(root, 'apps/viewer/package.json'))('playwright-core');

const ARGUMENTS = [
  '--no-sandbox',
  '--use-gl=angle',
  '--use-angle=swiftshader',
  '--enable-unsafe-swiftshader',
  '--disable-quic',
  '--no-first-run',
  '--disable-background-networking',
  '--disable-component-update',
  '--disable-sync',
  '--disable-dev-shm-usage',
];

export async function openBrowser(executablePath) {
  return chromium.launch({ executablePath, headless: true, args: ARGUMENTS });
}

/** A page on a laptop's screen; `complaints` collects console errors, exceptions and requests that leave the machine. */
export async function openPage(browser, options = {}) {
  const context = await browser.newContext({ viewport: { width: 1366, height: 768 }, colorScheme: 'dark', ...options });
  const page = await context.newPage();
  // machines that test are busy; a test that hangs is ended by ctest
  page.setDefaultTimeout(200_000);
  const complaints = [];
  page.on('console', (message) => {
    if (message.type() === 'error' || message.type() === 'warning') complaints.push(message.text());
  });
  page.on('pageerror', (error) => complaints.push(String(error)));
  page.on('request', (request) => {
    const { protocol, hostname } = new URL(request.url());
    if (protocol.startsWith('http') && hostname !== '127.0.0.1') complaints.push(`request to ${request.url()}`);
  });
  // drivers that are slow say so; that is no complaint about the page
  const isOurs = (text) => !/GPU stall|GL Driver Message|GroupMarkerNotSet|swiftshader|software WebGL/i.test(text);
  return { page, context, complaints: () => complaints.filter(isOurs) };
}

export async function openFile(page, file) {
  await page.goto(pathToFileURL(file).href);
  await page.waitForFunction(() => window.tangere !== undefined && (window.tangere.loaded || window.tangere.error !== ''), undefined);
}
