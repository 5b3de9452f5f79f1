// `replisim explore`: its page, and who is not let in.
import { after, before, test } from 'node:test';
import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { request } from 'node:http';
import { connect } from 'node:net';
import { networkInterfaces } from 'node:os';
import { eventually, look, lookup, numbers, open, overflow, serious, start, stop } from './browser.mjs';
import { allowance, binary, cpuOf, explore, file, headline, median, replisim, slowdown, source, write } from './program.mjs';

let url;
let child;
before(async () => {
  await start();
  ({ url, child } = await explore(headline));
});
after(async () => {
  await stop();
  child?.removeAllListeners('exit');
  child?.kill('SIGINT');
});

const own = (address) => address.startsWith(new URL(url).origin);
const answered = (page, n) => page.waitForFunction((least) => Number(document.documentElement.dataset.answer ?? 0) >= least, n);
const total = async (page) => Number((await numbers(page)).find((number) => number.path === 'result.metrics.total_s').value);

/** One request as somebody might make it; resolves to status and body. */
function ask(path, { method = 'GET', headers = {}, body } = {}) {
  const { hostname, port } = new URL(url);
  return new Promise((done, failed) => {
    const outgoing = request({ hostname, port, path, method, headers }, (response) => {
      let text = '';
      response.on('data', (chunk) => (text += chunk));
      response.on('end', () => done({ status: response.statusCode, text, headers: response.headers }));
    });
    outgoing.on('error', failed);
    outgoing.end(body);
  });
}
const question = (set = [], n = 1, page = 'test') => ({ method: 'POST', headers: { 'Content-Type': 'application/json' }, body: JSON.stringify({ page, n, set }) });

test('nobody is let in without the token, from another site, or under another name', async () => {
  const { port, search, host } = new URL(url);
  assert.match(search, /^\?token=[0-9a-f]{32}$/);
  assert.equal((await ask(`/${search}`)).status, 200);
  assert.equal((await ask('/')).status, 403);
  assert.equal((await ask(`${`/${search}`.slice(0, -1)}x`)).status, 403);
  assert.equal((await ask(`/${search}`, { headers: { Host: `evil.example:${port}` } })).status, 403);
  assert.equal((await ask(`/${search}`, { headers: { Origin: 'http://evil.example' } })).status, 403);
  const post = question();
  assert.equal((await ask('/answer', post)).status, 403);
  assert.equal((await ask(`/answer${search}`, { ...post, headers: { ...post.headers, Origin: 'null' } })).status, 403);
  assert.equal((await ask(`/answer${search}`, { ...post, headers: { ...post.headers, 'Sec-Fetch-Site': 'cross-site' } })).status, 403);
  const good = await ask(`/answer${search}`, { ...post, headers: { ...post.headers, Origin: `http://${host}` } });
  assert.equal(good.status, 200);
  assert.equal(good.headers['access-control-allow-origin'], undefined);
});

test('a page sets what it offers and no field that names a file', async () => {
  const { search } = new URL(url);
  for (const [path, value] of [['servers.pub.include_conf', '/etc/passwd'], ['servers.pub', '{include_conf: /etc/passwd}'], ['profile', '/etc/passwd.yaml'], ['extends', '/etc/passwd'], ['workload.r', '{server: pub, replay: /etc/passwd}']])
    for (const what of ['answer', 'modes', 'yaml']) {
      const answer = await ask(`/${what}${search}`, question([{ path, value }], 1, 'files'));
      assert.equal(answer.status, 400, `${path} ${what}`);
      assert.doesNotMatch(answer.text, /root:|include_conf: /);
    }
});

test('it listens on the loopback alone', async () => {
  const { hostname, port } = new URL(url);
  assert.equal(hostname, '127.0.0.1');
  const others = Object.values(networkInterfaces()).flat().filter((address) => address.family === 'IPv4' && !address.internal).map((address) => address.address);
  for (const address of [...others, '127.0.0.2']) {
    const refused = await new Promise((done) => {
      const socket = connect({ host: address, port: Number(port), timeout: 2000 });
      socket.on('connect', () => (socket.destroy(), done(false)));
      socket.on('error', () => done(true));
      socket.on('timeout', () => (socket.destroy(), done(true)));
    });
    assert.ok(refused, `${address} is served`);
  }
});

test('an answer is what `run` says, and comes within 200 ms', async () => {
  const { search } = new URL(url);
  const set = [{ path: 'servers.pub.settings.logical_decoding_work_mem', value: '64MB' }];
  const times = [];
  const slow = [];
  const most = 9;
  let answer;
  const cpu_before = cpuOf(child.pid);
  for (let n = 1; n <= most; n++) {
    const from = performance.now();
    answer = await ask(`/answer${search}`, question(set, n, 'timed'));
    times.push(performance.now() - from);
    slow.push(slowdown());
  }
  const cpu_ms = (1000 * (cpuOf(child.pid) - cpu_before)) / most;
  console.log(`the headline scenario is answered in ${Math.round(median(times))} ms (median of ${most}; CPU time ${Math.round(cpu_ms)} ms), the machine ${median(slow).toFixed(2)} times slower than alone`);
  const plain = JSON.parse(replisim('run', headline, '--set', 'servers.pub.settings.logical_decoding_work_mem=64MB', '--format', 'json'));
  assert.deepEqual(JSON.parse(answer.text).result, plain);
  assert.ok(median(times) < allowance(200, median(slow)), `${times} ms, slowed down ${slow}`);
  assert.ok(cpu_ms < allowance(200, median(slow)), `${cpu_ms} ms of CPU time`);
});

test('a superseded request is ended', async () => {
  const { search } = new URL(url);
  const slow = [{ path: 'simulation.time_resolution', value: '1ms' }];
  const from = performance.now();
  const first = ask(`/answer${search}`, question(slow, 1, 'superseded'));
  await new Promise((done) => setTimeout(done, 150));
  const second = await ask(`/answer${search}`, question([], 2, 'superseded'));
  const ended = await first;
  assert.equal(second.status, 200);
  assert.equal(ended.status, 409, `the first one was answered after ${performance.now() - from} ms`);
  assert.deepEqual(JSON.parse(ended.text), { superseded: true });
});

test('mistakes get the sentence that the command line gives', async () => {
  const { search } = new URL(url);
  const wrong = await ask(`/answer${search}`, question([{ path: 'subscriptions.s.streaming', value: 'perhaps' }], 1, 'wrong'));
  assert.equal(wrong.status, 422);
  assert.match(JSON.parse(wrong.text).error, /perhaps/);
  assert.equal((await ask(`/answer${search}`, { method: 'POST', body: '{' })).status, 400);
  assert.equal((await ask(`/nothing${search}`)).status, 404);
});

test('settings move the charts; copies lead to the same answer; an answer can be pinned', async () => {
  const { page, complaints, requests } = await open(url, { allowed: own });
  await page.context().grantPermissions(['clipboard-read', 'clipboard-write'], { origin: new URL(url).origin });
  await answered(page, 1);
  const before = await total(page);
  await page.getByRole('button', { name: 'Pin this answer' }).click();
  await page.locator('[data-knob="subscriptions.s.streaming"]').selectOption('off');
  await answered(page, 2);
  const after = await total(page);
  assert.notEqual(after, before);
  assert.match(await page.locator('.tiles .delta').first().textContent(), /^\+\d+\.\d % of /);
  // The charts keep the pinned answer, too, which ended earlier.
  const lag = page.locator('#timelines .chart').first();
  assert.match(await lag.locator('.u-legend').textContent(), /not applied, pinned/);
  await lag.focus();
  await page.keyboard.press('Home');
  assert.match(await page.locator('#timelines [role=status]').textContent(), /not applied, pinned 0 bytes$/);
  await page.keyboard.press('End');
  assert.match(await page.locator('#timelines [role=status]').textContent(), /not applied, pinned not known$/);

  const slider = page.locator('[data-knob="servers.pub.settings.logical_decoding_work_mem"]');
  await slider.focus();
  await page.keyboard.press('End');
  await answered(page, 3);
  assert.equal(await slider.getAttribute('aria-valuetext'), '4GB');

  await page.getByRole('button', { name: 'Copy as command' }).click();
  const command = await eventually(async () => {
    const text = await page.evaluate(() => navigator.clipboard.readText());
    assert.match(text, /^replisim run /);
    return text;
  });
  const run = JSON.parse(execFileSync('sh', ['-c', `${command.replace(/^replisim /, '"$REPLISIM" ')} --format json`], { cwd: source, env: { ...process.env, REPLISIM: binary }, encoding: 'utf8' }));
  const shown = await numbers(page);
  assert.ok(shown.length > 60);
  for (const { path, value } of shown.filter((number) => number.path.startsWith('result.'))) assert.equal(Number(value), lookup({ result: run }, path), path);

  await page.getByRole('button', { name: 'Copy as YAML' }).click();
  await page.waitForFunction(() => document.querySelector('textarea').value.includes('replisim: 1'));
  write('copied.yaml', await page.locator('textarea').inputValue());
  const copied = JSON.parse(replisim('run', file('copied.yaml'), '--format', 'json'));
  assert.deepEqual(copied.metrics, run.metrics);

  await page.waitForSelector('#modes svg');
  await page.getByRole('button', { name: 'Reset' }).click();
  await answered(page, 4);
  assert.equal(await total(page), before);
  assert.deepEqual(complaints, []);
  assert.deepEqual(requests, []);
  await page.close();
});

test('three widths, light and dark: it fits and is accessible', async () => {
  const { page, complaints, requests } = await open(url, { allowed: own });
  await answered(page, 1);
  await page.waitForSelector('#modes svg');
  for (const scheme of ['light', 'dark'])
    for (const width of [390, 820, 1280]) {
      await look(page, width, scheme);
      assert.equal(await overflow(page), '', `at ${width} in ${scheme}`);
      if (width !== 820) assert.deepEqual(await serious(page), [], `axe at ${width} in ${scheme}`);
    }
  assert.deepEqual([...complaints, ...requests], []);
  await page.close();
});

test('hostile names are text', async () => {
  const other = await explore('tests/pages/hostile.yaml');
  const { page, complaints } = await open(other.url, { allowed: (address) => address.startsWith(new URL(other.url).origin) });
  await answered(page, 1);
  assert.ok((await page.locator('h1').textContent()).includes("<script>alert('name')</script>"));
  assert.equal(await page.locator('script, img, main b').count(), 0);
  assert.deepEqual(complaints, []);
  await page.close();
  other.child.removeAllListeners('exit');
  const ended = new Promise((done) => other.child.on('exit', done));
  other.child.kill('SIGINT');
  assert.equal(await ended, 0, 'Ctrl-C ends it well');
});
