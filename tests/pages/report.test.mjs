// The pages of `replisim report`, opened from disk.
import { after, before, test } from 'node:test';
import assert from 'node:assert/strict';
import { readFileSync, statSync } from 'node:fs';
import { pathToFileURL } from 'node:url';
import { lookup, numbers, open, serious, shows, start, stop } from './browser.mjs';
import { file, headline, readJson, replisim, write } from './program.mjs';

before(start);
after(stop);

/** Widths and schemes in which a page is opened; axe-core looks at those marked. */
const views = [
  [390, 'light', false],
  [390, 'dark', true],
  [820, 'light', false],
  [820, 'dark', false],
  [1280, 'light', true],
  [1280, 'dark', false],
];
const memory = ['--set', 'servers.pub.settings.logical_decoding_work_mem=64MB'];

/** Opens the page in both schemes at three widths: it complains of nothing, asks for nothing, fits, and is accessible. */
async function sound(path) {
  const url = pathToFileURL(path).href;
  for (const [width, scheme, checked] of views) {
    const { page, complaints, requests } = await open(url, { width, scheme });
    assert.deepEqual(complaints, [], `${path} at ${width} in ${scheme}`);
    assert.deepEqual(requests, [], 'the page asks for something');
    const wide = await page.evaluate(() => document.documentElement.scrollWidth);
    assert.ok(wide <= width, `at ${width} the page is ${wide} wide`);
    if (checked) assert.deepEqual(await serious(page), [], `axe at ${width} in ${scheme}`);
    await page.close();
  }
}

/** Every number of the page is, to the last bit, the one its path leads to, and is shown rounded. */
async function equalNumbers(path, roots, atLeast) {
  const { page } = await open(pathToFileURL(path).href);
  await page.$$eval('details', (all) => all.forEach((element) => (element.open = true)));
  const all = await numbers(page);
  await page.close();
  assert.ok(all.length >= atLeast, `${all.length} numbers on the page`);
  for (const { path: where, value, text, unit } of all) {
    const expected = lookup(roots, where);
    assert.equal(Number(value), expected, where);
    assert.ok(shows(text, expected, unit), `${where}: '${text}' is shown for ${expected}`);
  }
  return all;
}

test('a run: sound, and its numbers are those of result.json and of the other modes', async () => {
  replisim('run', headline, ...memory, '--out', file('run'));
  assert.equal(replisim('report', file('run')).trim(), file('run/report.html'));
  const modes = ['off', 'on', 'parallel'].map((mode) => JSON.parse(replisim('run', headline, ...memory, '--set', `subscriptions.s.streaming=${mode}`, '--format', 'json')));
  const result = readJson(file('run/result.json'));
  const all = await equalNumbers(file('run/report.html'), { result, comparison: { modes } }, 150);
  for (const path of ['result.metrics.total_s', 'result.stages.pub.walsender.blocked', 'result.transactions.0.lock_hold_s', 'comparison.modes.0.metrics.total_s', 'result.subscriptions.s.lag_anatomy.stages.apply.p99_s'])
    assert.ok(all.some((number) => number.path === path), `${path} is not on the page`);
  await sound(file('run/report.html'));
});

test('timelines zoom together by buttons and keyboard', async () => {
  const { page, complaints } = await open(pathToFileURL(file('run/report.html')).href);
  assert.equal(await page.locator('#timelines .uplot').count(), 6);
  const whole = page.getByRole('button', { name: 'Whole run' });
  assert.ok(await whole.isDisabled());
  await page.getByRole('button', { name: 'Zoom in' }).focus();
  await page.keyboard.press('Enter');
  assert.ok(await whole.isEnabled());
  await whole.click();
  assert.ok(await whole.isDisabled());
  await page.keyboard.press('Home');
  await page.locator('#timelines .u-over').first().hover({ position: { x: 200, y: 60 } });
  const times = await page.$$eval('#timelines .u-legend', (all) => all.map((legend) => legend.querySelector('.u-value').textContent));
  assert.equal(new Set(times).size, 1, `the cursors show ${times}`);
  assert.match(times[0], /\d s$/);
  assert.deepEqual(complaints, []);
  await page.close();
});

test('the page can be used by keyboard alone: skip link first, scrolling tables can be reached', async () => {
  const { page } = await open(pathToFileURL(file('run/report.html')).href);
  await page.keyboard.press('Tab');
  assert.equal(await page.evaluate(() => document.activeElement.className), 'skip');
  await page.keyboard.press('Enter');
  assert.equal(await page.evaluate(() => location.hash), '#main');
  await page.close();
});

test('it prints: no navigation, no buttons, dark or not on white', async () => {
  const { page } = await open(pathToFileURL(file('run/report.html')).href, { scheme: 'dark' });
  await page.emulateMedia({ media: 'print', colorScheme: 'dark' });
  assert.equal(await page.locator('nav.toc').isVisible(), false);
  assert.equal(await page.locator('.controls').first().isVisible(), false);
  assert.equal(await page.evaluate(() => getComputedStyle(document.body).backgroundColor), 'rgb(255, 255, 255)');
  assert.equal(await page.evaluate(() => getComputedStyle(document.body).color), 'rgb(0, 0, 0)');
  await page.close();
});

test('result.json alone has a page that says what it lacks', async () => {
  write('alone.json', readFileSync(file('run/result.json')));
  replisim('report', file('alone.json'), '--out', file('alone.html'));
  await sound(file('alone.html'));
  const { page } = await open(pathToFileURL(file('alone.html')).href);
  assert.match(await page.locator('#timelines').textContent(), /There is no timeline/);
  assert.match(await page.locator('#modes').textContent(), /Without a manifest/);
  await page.close();
});

test('small transactions of clients', async () => {
  replisim('run', 'scenarios/lab/pgbench.yaml', '--out', file('clients'), '--set', 'observe.until=20s');
  replisim('report', file('clients'));
  await equalNumbers(file('clients/report.html'), { result: readJson(file('clients/result.json')), comparison: { modes: ['off', 'on', 'parallel'].map((mode) => JSON.parse(replisim('run', 'scenarios/lab/pgbench.yaml', '--set', 'observe.until=20s', '--set', `subscriptions.${Object.keys(readJson(file('clients/result.json')).subscriptions)[0]}.streaming=${mode}`, '--format', 'json'))) } }, 60);
  await sound(file('clients/report.html'));
});

test('hostile names are text', async () => {
  replisim('run', 'tests/pages/hostile.yaml', '--out', file('hostile'));
  replisim('report', file('hostile'));
  await sound(file('hostile/report.html'));
  const { page, complaints } = await open(pathToFileURL(file('hostile/report.html')).href);
  assert.equal(await page.locator('script').count(), 0, 'the body was replaced: no script element may be there');
  assert.equal(await page.locator('img').count(), 0);
  assert.equal(await page.locator('b').count(), 0);
  const shown = await page.locator('h1').textContent();
  assert.ok(shown.includes("<script>alert('name')</script><img src=x onerror=alert(1)>"), shown);
  assert.ok(!shown.includes('\u202e'), 'a character that turns the direction of what follows is shown as a mark');
  assert.equal(await page.locator('h1 bdi').getAttribute('dir'), 'auto');
  assert.deepEqual(complaints, []);
  await page.close();
});

test('hostile names in a result that somebody else wrote are text, too', async () => {
  const evil = `"></script><script>alert(3)</script><b>\u202e${'x'.repeat(3000)}`;
  const text = readFileSync(file('run/result.json'), 'utf8');
  const result = JSON.parse(text);
  result.subscriptions[evil] = result.subscriptions.s;
  result.stages[`${evil}.walsender`] = result.stages['pub.walsender'];
  result.transactions[0].name = evil;
  result.transactions[0].deliveries[evil] = result.transactions[0].deliveries.s;
  result.warnings = [evil];
  result.guesses[0] = { path: evil, value: evil, reason: evil };
  result.metrics[evil] = 1;
  result.bottleneck = `${evil}.walsender`;
  write('evil.json', JSON.stringify(result));
  replisim('report', file('evil.json'));
  await sound(file('evil.html'));
  const { page, complaints } = await open(pathToFileURL(file('evil.html')).href);
  assert.equal(await page.locator('script, main b, img').count(), 0);
  assert.deepEqual(complaints, []);
  await page.close();
});

test('a sweep: numbers, heat map, order, choice of figure', async () => {
  const axes = ['--vary', 'subscriptions.s.streaming=off,on,parallel', '--vary', 'servers.pub.settings.logical_decoding_work_mem=64kB,64MB,1GB'];
  replisim('sweep', headline, ...axes, '--set', 'workload.batch.transaction[0].rows=100000', '--out', file('sweep.json'));
  assert.equal(replisim('report', file('sweep.json')).trim(), file('sweep.html'));
  await equalNumbers(file('sweep.html'), readJson(file('sweep.json')), 25);
  await sound(file('sweep.html'));
  const { page } = await open(pathToFileURL(file('sweep.html')).href);
  assert.equal(await page.locator('#charts svg rect').count() >= 9, true);
  await page.getByLabel('Order').selectOption('up');
  const first = await page.locator('#points tbody tr').first().locator('data').first().getAttribute('value');
  const least = Math.min(...readJson(file('sweep.json')).points.map((point) => point.metrics.total_s));
  assert.equal(Number(first), least);
  await page.getByLabel('Figure').selectOption('spill_count');
  assert.match(await page.locator('#answer').textContent(), /spill_count/);
  await page.close();
});

test('a sweep in a database', async () => {
  replisim('sweep', headline, '--vary', 'subscriptions.s.streaming=off,parallel', '--set', 'workload.batch.transaction[0].rows=100000', '--replications', '2', '--db', file('sweep.db'));
  replisim('report', file('sweep.db'), '--out', file('db.html'));
  const { page, complaints } = await open(pathToFileURL(file('db.html')).href);
  assert.deepEqual(complaints, []);
  const plain = JSON.parse(replisim('sweep', headline, '--vary', 'subscriptions.s.streaming=off,parallel', '--set', 'workload.batch.transaction[0].rows=100000', '--replications', '2', '--format', 'json'));
  for (const { path, value } of await numbers(page)) assert.equal(Number(value), lookup(plain, path), path);
  await page.close();
});

test('ten thousand points: below 10 MB, open within 2 s', async () => {
  const small = readJson(file('sweep.json'));
  const [model] = small.points;
  const points = [];
  for (let i = 0; i < 10000; i++) {
    const metrics = Object.fromEntries(Object.entries(model.metrics).map(([key, value], k) => [key, value * (1 + 0.37 * Math.sin(i * 0.013 + k)) + i / 7]));
    points.push({ ...model, axes: { 'links[0].latency': `${1 + (i % 100) * 0.5}ms`, 'servers.pub.settings.logical_decoding_work_mem': `${64 * (1 + Math.floor(i / 100))}kB` }, metrics });
  }
  write('large.json', JSON.stringify({ ...small, points, axes: [] }));
  replisim('report', file('large.json'), '--out', file('large.html'));
  const bytes = statSync(file('large.html')).size;
  assert.ok(bytes < 10e6, `${bytes} bytes`);
  const { page, complaints, requests, opened_ms } = await open(pathToFileURL(file('large.html')).href);
  assert.match(await page.locator('#charts svg image').first().getAttribute('href'), /^data:image\/png/, 'the heat map is drawn');
  console.log(`10,000 points: ${bytes} bytes, open after ${Math.round(opened_ms)} ms`);
  const limit = 2000 * Number(process.env.REPLISIM_PAGES_SLOWER ?? 1);
  assert.ok(opened_ms < limit, `open after ${opened_ms} ms`);
  assert.deepEqual([...complaints, ...requests], []);
  for (const { path, value } of await numbers(page)) assert.equal(Number(value), lookup({ points }, path), path);
  await page.close();
});

/** The program's exit code may be 1: the suite is short of its bar. */
function validated(...args) {
  try {
    return replisim('validate', ...args, '--format', 'json');
  } catch (error) {
    if (error.status === 1) return error.stdout;
    throw error;
  }
}

test('a validation: predicted against measured, residuals', async () => {
  write('suite.json', validated('seed-streaming'));
  replisim('report', file('suite.json'));
  await equalNumbers(file('suite.html'), { validation: readJson(file('suite.json')) }, 150);
  await sound(file('suite.html'));
  const { page } = await open(pathToFileURL(file('suite.html')).href);
  assert.equal(await page.locator('#predicted figure').count(), 2);
  assert.ok((await page.locator('#predicted svg circle').count()) >= 42);
  await page.close();
});

test('the user reports', async () => {
  write('reports.json', validated('reports'));
  replisim('report', file('reports.json'));
  await equalNumbers(file('reports.html'), { validation: readJson(file('reports.json')) }, 60);
  await sound(file('reports.html'));
});

test('a calibration: intervals and correlations', async () => {
  write('fit.json', replisim('calibrate', 'calibration/specs/rel17-decoding.yaml', '--format', 'json'));
  replisim('report', file('fit.json'));
  const calibration = readJson(file('fit.json'));
  await equalNumbers(file('fit.html'), { calibration }, 100);
  const n = calibration.parameters.length;
  assert.equal(calibration.correlations.length, n);
  for (let i = 0; i < n; i++) assert.ok(Math.abs(calibration.correlations[i][i] - 1) < 1e-9);
  await sound(file('fit.html'));
});

test('what is no result is refused with a sentence', () => {
  const refused = (name, text, pattern) => {
    write(name, text);
    assert.throws(() => replisim('report', file(name)), (error) => error.status === 2 && pattern.test(error.stderr));
  };
  refused('none.json', '{"a": 1}', /holds none of replisim's results/);
  refused('broken.json', '{"metrics": ', /no JSON of replisim/);
  refused('bad_sweep.json', '{"points": [1], "axes": []}', /no result of `replisim sweep/);
  assert.throws(() => replisim('report', file('missing.json')), (error) => error.status === 2 && /missing\.json/.test(error.stderr));
});
