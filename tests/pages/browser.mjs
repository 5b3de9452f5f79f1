// Debian's Chromium driven by Playwright: opens a page and notes what it complains about and asks for.
import { createRequire } from 'node:module';
import { mkdtempSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { tmpdir } from 'node:os';

const require = createRequire(join(process.env.REPLISIM_PAGES_MODULES, 'package.json'));
const { chromium } = require('playwright-core');
export const axeSource = require('axe-core').source;

const flags = ['--headless', '--no-sandbox', '--disable-gpu', '--disable-dev-shm-usage', '--disable-quic', '--no-first-run', '--disable-background-networking', '--disable-component-update', '--disable-sync'];

const patience_ms = 120_000; // a machine may be busy with other things

let context;
let folder;

export async function start() {
  folder = mkdtempSync(join(tmpdir(), 'replisim-chromium-'));
  context = await chromium.launchPersistentContext(folder, { executablePath: '/usr/bin/chromium', args: flags, viewport: { width: 1280, height: 900 } });
  context.setDefaultTimeout(patience_ms);
}

export async function stop() {
  await context?.close();
  if (folder) rmSync(folder, { recursive: true, force: true });
}

/** Opens `url`. `complaints` are errors and warnings of the console, `requests` all that is not the page itself. */
export async function open(url, { width = 1280, scheme = 'light', allowed = () => false } = {}) {
  const page = await context.newPage();
  const complaints = [];
  const requests = [];
  page.on('console', (message) => ['error', 'warning'].includes(message.type()) && complaints.push(message.text()));
  page.on('pageerror', (error) => complaints.push(String(error)));
  page.on('dialog', (dialog) => (complaints.push(`dialog: ${dialog.message()}`), dialog.dismiss()));
  page.on('request', (request) => request.url() !== url && !request.url().startsWith('data:') && !allowed(request.url()) && requests.push(request.url()));
  await page.emulateMedia({ colorScheme: scheme });
  await page.setViewportSize({ width, height: 900 });
  const from = performance.now();
  await page.goto(url);
  await page.waitForSelector('h1');
  await drawn(page);
  return { page, complaints, requests, opened_ms: performance.now() - from };
}

/** Waits until what has been asked of the page is on the screen. */
export const drawn = (page) => page.evaluate(() => new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(done))));

/** Makes a check again and again until it holds: a page on a busy machine takes its time. */
export async function eventually(check) {
  const until = performance.now() + patience_ms / 2;
  for (;;) {
    try {
      return await check();
    } catch (error) {
      if (performance.now() > until) throw error;
      await new Promise((done) => setTimeout(done, 50));
    }
  }
}

/** Puts the page into another window and other colours. */
export async function look(page, width, scheme) {
  await page.emulateMedia({ colorScheme: scheme });
  await page.setViewportSize({ width, height: 900 });
  await drawn(page);
}

/** How wide the page is, and the elements that are the cause where it does not fit. */
export const overflow = (page) =>
  page.evaluate(() => {
    const { scrollWidth, clientWidth } = document.documentElement;
    const outside = (element) => element.getBoundingClientRect().right > clientWidth + 1 && !element.closest('.scroll, nav.toc');
    return scrollWidth <= clientWidth ? '' : `${scrollWidth} px in ${clientWidth}: ${[...document.querySelectorAll('body *')].filter(outside).slice(0, 4).map((element) => element.outerHTML.slice(0, 80)).join(' | ')}`;
  });

/** What axe-core calls serious or critical. */
export async function serious(page) {
  await page.evaluate(axeSource);
  const found = await page.evaluate(() => globalThis.axe.run(document, { resultTypes: ['violations'] }));
  return found.violations.filter((v) => ['serious', 'critical'].includes(v.impact)).map((v) => `${v.id}: ${v.nodes.slice(0, 3).map((n) => n.html.slice(0, 160)).join(' | ')}`);
}

/** Every number on the page: where it says it comes from, its exact value, and the text that is shown. */
export const numbers = (page) => page.$$eval('data[data-path]', (all) => all.map((element) => ({ path: element.dataset.path, value: element.value, text: element.textContent, unit: element.dataset.unit })));

/** The value a path leads to; keys may hold dots. Undefined: nothing is there. */
export function lookup(object, path) {
  if (object === null || typeof object !== 'object') return undefined;
  if (Object.hasOwn(object, path)) return object[path];
  for (let dot = path.indexOf('.'); dot > 0; dot = path.indexOf('.', dot + 1)) {
    const key = path.slice(0, dot);
    if (!Object.hasOwn(object, key)) continue;
    const found = lookup(object[key], path.slice(dot + 1));
    if (found !== undefined) return found;
  }
  return undefined;
}

/** Whether a text such as "1.5 ms" or "851.7 MB" is the value rounded. `own`: the value is in this unit, and shown so. */
export function shows(text, value, own) {
  const found = /^([+\u2212-]?[\d,]*\.?\d+(?:e[+-]?\d+)?)\s*(.*)$/.exec(text);
  if (!found) return false;
  const shown = Number(found[1].replaceAll(',', '').replace('\u2212', '-'));
  const units = { '': 1, ns: 1e-9, '\u00b5s': 1e-6, ms: 1e-3, s: 1, min: 60, h: 3600, d: 86400, byte: 1, bytes: 1, kB: 1024, MB: 1024 ** 2, GB: 1024 ** 3, TB: 1024 ** 4, '%': null };
  const places = (found[1].split('.')[1] ?? '').length;
  if (own !== undefined && found[2] !== own.replace('1e9 bytes', '\u00d710\u2079 B')) return false;
  const unit = own === undefined ? units[found[2]] : 1;
  if (unit === undefined) return false;
  const scales = unit === null ? [1, 0.01] : [unit];
  return scales.some((scale) => Math.abs(shown * scale - value) <= 0.51 * 10 ** -places * scale + 1e-9 * Math.abs(value) || Math.abs(shown * scale - value) <= 1e-3 * Math.abs(value));
}
