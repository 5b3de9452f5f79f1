// The program under test, and folders that go away.
import { execFileSync, spawn } from 'node:child_process';
import { mkdtempSync, readFileSync, writeFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { tmpdir } from 'node:os';

export const source = resolve(import.meta.dirname ?? new URL('.', import.meta.url).pathname, '../..');
export const binary = process.env.REPLISIM_PROGRAM;
export const headline = 'scenarios/published/streaming_insert.yaml';
export const scratch = mkdtempSync(join(tmpdir(), 'replisim-pages-'));

/** Runs the program in the source folder and returns its standard output; a failure throws. */
export const replisim = (...args) => execFileSync(binary, args, { cwd: source, encoding: 'utf8', maxBuffer: 1 << 28, stdio: ['ignore', 'pipe', 'pipe'] });

export const file = (name) => join(scratch, name);
export const readJson = (name) => JSON.parse(readFileSync(name, 'utf8'));
export function write(name, text) {
  writeFileSync(file(name), text);
  return file(name);
}

/** Starts `replisim explore` and waits for its address. */
export function explore(...args) {
  return new Promise((done, failed) => {
    const child = spawn(binary, ['explore', ...args], { cwd: source, stdio: ['ignore', 'pipe', 'pipe'] });
    let out = '';
    let err = '';
    child.stderr.on('data', (chunk) => (err += chunk));
    child.on('exit', (code) => failed(new Error(`explore ended with ${code}: ${err}`)));
    child.stdout.on('data', (chunk) => {
      out += chunk;
      const url = /^(http:\S+)\n/.exec(out)?.[1];
      if (url) done({ url, child });
    });
  });
}
