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

/**
 * How many times longer than its CPU time something takes here at the moment: 1 on a quiet machine. Times of day are
 * judged by it, as tests may run beside anything.
 */
export function slowdown(cpu_ms = 25) {
  const before = process.cpuUsage();
  const from = performance.now();
  let spent = 0;
  while (spent < cpu_ms) {
    const used = process.cpuUsage(before);
    spent = (used.user + used.system) / 1000;
  }
  return Math.max(1, (performance.now() - from) / spent);
}
export const median = (values) => [...values].sort((a, b) => a - b)[Math.floor(values.length / 2)];

/** What may take `ms` on a quiet machine may take this on the one there is. */
export const allowance = (ms, slow) => ms * (slow < 1.1 ? 1 : 3 * slow) * Number(process.env.REPLISIM_PAGES_SLOWER ?? 1);

/** CPU time of a process and the children it has waited for. */
export function cpuOf(pid) {
  const fields = readFileSync(`/proc/${pid}/stat`, 'utf8').replace(/^.*\) /s, '').split(' ');
  const ticks_a_second = 100; // USER_HZ, the same on every Linux
  return fields.slice(11, 15).reduce((sum, ticks) => sum + Number(ticks), 0) / ticks_a_second;
}
