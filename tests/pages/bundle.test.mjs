// The committed bundle is what its sources give.
import { test } from 'node:test';
import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { readFileSync, readdirSync } from 'node:fs';
import { join } from 'node:path';
import { file, source } from './program.mjs';

test('building the pages again gives the committed bytes', () => {
  const modules = process.env.REPLISIM_PAGES_MODULES;
  execFileSync('node', [join(modules, 'build.mjs'), file('dist')], { cwd: modules, stdio: ['ignore', 'ignore', 'inherit'] });
  const committed = join(source, 'cli/report/dist');
  assert.deepEqual(readdirSync(file('dist')).sort(), readdirSync(committed).sort());
  for (const name of readdirSync(committed))
    assert.ok(readFileSync(join(file('dist'), name)).equals(readFileSync(join(committed, name))), `${name} differs: run \`npm ci && npm run build\` in cli/report and commit dist/`);
});

test('the lock file names no server', () => {
  const lock = readFileSync(join(source, 'cli/report/package-lock.json'), 'utf8');
  assert.ok(!/"resolved"/.test(lock));
  assert.ok(!/https?:\/\/(?!opencollective|github|tidelift|ko-fi|paulmillr|feross|www\.patreon|www\.buymeacoffee|dotenvx)/.test(lock.replace(/"url": "[^"]*"/g, '')));
});
