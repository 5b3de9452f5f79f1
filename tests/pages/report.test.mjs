// The pages of `replisim report`, opened from disk.
import { after, before, test } from 'node:test';
import assert from 'node:assert/strict';
import { readFileSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { eventually, look, lookup, numbers, open, overflow, serious, shows, start, stop } from './browser.mjs';
import { allowance, file, headline, median, readJson, replisim, slowdown, source, write } from './program.mjs';

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

/**
 * The page in both schemes at three widths: it complains of nothing, asks for nothing, fits, and is accessible.
 * It is opened once; its charts follow the window.
 */
async function sound(path, axe_in = ['light', 'dark']) {
  const { page, complaints, requests } = await open(pathToFileURL(path).href, { width: views[0][0], scheme: views[0][1] });
  for (const [width, scheme, checked] of views) {
    await look(page, width, scheme);
    assert.equal(await overflow(page), '', `${path} at ${width} in ${scheme}`);
    if (checked && axe_in.includes(scheme)) assert.deepEqual(await serious(page), [], `axe at ${width} in ${scheme}`);
  }
  assert.deepEqual(complaints, [], path);
  assert.deepEqual(requests, [], 'the page asks for something');
  await page.close();
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

/** The time in seconds at which all six timelines have their cursors. */
async function cursor(page) {
  const times = await page.$$eval('#timelines .u-legend', (all) => all.map((legend) => legend.querySelector('.u-value').textContent));
  assert.equal(times.length, 6);
  assert.equal(new Set(times).size, 1, `the charts show ${times}`);
  const [, value, unit] = /^([\d.]+) (m?s)$/.exec(times[0]) ?? assert.fail(`the charts show ${times}`);
  return Number(value) * (unit === 'ms' ? 1e-3 : 1);
}

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
  let x = 200;
  await eventually(async () => {
    await page.locator('#timelines .u-over').first().hover({ position: { x: x++, y: 60 } }); // the page may still scroll
    assert.ok((await cursor(page)) > 0);
  });
  assert.deepEqual(complaints, []);
  await page.close();
});

test('charts can be read by keyboard: arrow keys move the cursor of all of them, plus, minus and 0 zoom', async () => {
  const { page, complaints } = await open(pathToFileURL(file('run/report.html')).href);
  const chart = page.locator('#timelines .chart').first();
  const read = page.locator('#timelines [role=status]');
  const seconds = async () => Number(/^([\d.]+) s: not sent /.exec(await read.textContent())[1]);
  await chart.focus();
  await page.keyboard.press('Home');
  assert.match(await read.textContent(), /^0 s: not sent 0 bytes, not applied 0 bytes/);
  await page.keyboard.press('End');
  const end = await seconds();
  assert.ok(end > 30);
  await page.keyboard.press('Shift+ArrowLeft');
  const before = await seconds();
  assert.ok(before < end && before > 0.8 * end);
  await eventually(async () => assert.equal(await cursor(page), before));
  const whole = page.getByRole('button', { name: 'Whole run' });
  await page.keyboard.press('+');
  assert.ok(await whole.isEnabled());
  await page.keyboard.press('0');
  assert.ok(await whole.isDisabled());
  assert.deepEqual(complaints, []);
  await page.close();
});

test('a drag over one timeline zooms all, a double click shows the whole run again', async () => {
  const { page } = await open(pathToFileURL(file('run/report.html')).href);
  const over = page.locator('#timelines .u-over').first();
  await over.scrollIntoViewIfNeeded();
  const box = await over.boundingBox();
  const at = (part) => [box.x + part * box.width, box.y + 60];
  const end = Number(readFileSync(file('run/timeline.csv'), 'utf8').trim().split('\n').at(-1).split(',')[0]);
  /** All charts have this time under the cursor at a place of the first one. */
  const lies = (part, expected) =>
    eventually(async () => {
      await page.mouse.move(...at(part - 0.001));
      await page.mouse.move(...at(part));
      const now = await cursor(page);
      assert.ok(Math.abs(now - expected) < 0.03 * end, `${now} s and not ${expected} s at ${part}`);
    });
  await lies(0.3, 0.3 * end);
  await lies(0.6, 0.6 * end);
  await page.mouse.move(...at(0.3));
  await page.mouse.down();
  await page.mouse.move(...at(0.6), { steps: 5 });
  await page.mouse.up();
  const whole = page.getByRole('button', { name: 'Whole run' });
  await eventually(async () => assert.ok(await whole.isEnabled()));
  // What was dragged over fills the charts.
  await lies(0.01, 0.303 * end);
  await lies(0.99, 0.597 * end);
  await page.mouse.dblclick(...at(0.5));
  await eventually(async () => assert.ok(await whole.isDisabled()));
  await lies(0.6, 0.6 * end);
  await page.close();
});

test('quantities that stay at zero have a sentence and no chart', async () => {
  replisim('run', 'scenarios/planning/five_or_fifty_subscriptions.yaml', '--set', 'observe.until=2s', '--out', file('calm'));
  replisim('report', file('calm'), '--no-compare');
  const rows = readFileSync(file('calm/timeline.csv'), 'utf8').trim().split('\n').map((line) => line.split(','));
  for (const column of ['sub_row_excl_locks', 'sub_lock_waits']) assert.ok(rows.slice(1).every((row) => Number(row[rows[0].indexOf(column)]) === 0));
  const { page } = await open(pathToFileURL(file('calm/report.html')).href);
  assert.match(await page.locator('#timelines').textContent(), /Zero throughout: sub_row_excl_locks, sub_lock_waits\./);
  assert.ok((await page.locator('#timelines .uplot').count()) >= 3);
  assert.match(await page.locator('#modes').textContent(), /Left out, as --no-compare asks/);
  await page.close();
});

test('several slots: stages of one kind side by side, one sentence for slots that fare alike', async () => {
  replisim('run', 'scenarios/reports/u14_one_frozen_slot.yaml', '--set', 'observe.until=300s', '--out', file('slots'));
  replisim('report', file('slots'));
  const result = readJson(file('slots/result.json'));
  const keys = Object.keys(result.stages);
  const kinds = new Set(keys.map((key) => key.slice(key.indexOf('.') + 1)));
  assert.ok(kinds.size < keys.length);
  await equalNumbers(file('slots/report.html'), { result }, 200);
  const { page } = await open(pathToFileURL(file('slots/report.html')).href);
  assert.equal(await page.locator('#pipeline ol > li').count(), kinds.size);
  assert.equal(await page.locator('#pipeline .stage').count(), keys.length);
  const verdicts = new Set(Object.values(result.subscriptions).map((slot) => slot.verdict));
  assert.ok(verdicts.size < Object.keys(result.subscriptions).length);
  assert.equal(await page.locator('#answer .callout', { hasText: /^Slots? / }).count(), verdicts.size);
  await page.close();
  await sound(file('slots/report.html'), ['light']);
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
  await sound(file('alone.html'), ['light']);
  const { page } = await open(pathToFileURL(file('alone.html')).href);
  assert.match(await page.locator('#timelines').textContent(), /There is no timeline/);
  assert.match(await page.locator('#modes').textContent(), /Without a manifest/);
  await page.close();
});

test('small transactions of clients', async () => {
  replisim('run', 'scenarios/lab/pgbench.yaml', '--out', file('clients'), '--set', 'observe.until=20s');
  replisim('report', file('clients'));
  await equalNumbers(file('clients/report.html'), { result: readJson(file('clients/result.json')), comparison: { modes: ['off', 'on', 'parallel'].map((mode) => JSON.parse(replisim('run', 'scenarios/lab/pgbench.yaml', '--set', 'observe.until=20s', '--set', `subscriptions.${Object.keys(readJson(file('clients/result.json')).subscriptions)[0]}.streaming=${mode}`, '--format', 'json'))) } }, 60);
  await sound(file('clients/report.html'), ['light']);
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
  await sound(file('evil.html'), ['light']);
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

test('a sweep: lines with the intervals of replications; first across the axis of numbers that does the most', async () => {
  const axes = ['--vary', 'workload.pgbench.clients=1,4,16', '--vary', 'servers.pub.settings.logical_decoding_work_mem=64kB,64MB,1GB'];
  replisim('sweep', 'scenarios/lab/pgbench.yaml', ...axes, '--set', 'observe.until=10s', '--replications', '3', '--out', file('lines.json'));
  replisim('report', file('lines.json'));
  const { points } = readJson(file('lines.json'));
  const all = await equalNumbers(file('lines.html'), { points }, 30);
  assert.ok(all.some(({ path }) => /^points\.\d+\.half_width_95\.lag_s_mean$/.test(path)), 'the table has no half widths');
  assert.ok(points.some((point) => point.half_width_95.lag_s_mean > 0));
  const { page, complaints } = await open(pathToFileURL(file('lines.html')).href);
  assert.equal(await page.getByLabel('Across').evaluate((menu) => menu.selectedOptions[0].textContent), 'workload.pgbench.clients');
  assert.match(await page.locator('#charts figcaption').first().textContent(), /Bars are 95 % intervals over the replications/);
  const shown = points.filter((point) => point.half_width_95.lag_s_mean >= 0).length;
  assert.equal(await page.locator('#charts figure').first().locator('g[aria-label="rule"] line').count(), shown);
  await page.getByLabel('Against').selectOption('-1');
  assert.equal(await page.locator('#charts figure').count(), 1, 'without a second axis there is no heat map');
  assert.match(await page.locator('#charts figcaption').first().textContent(), /means over the axes that are not shown/);
  assert.deepEqual(complaints, []);
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
  const times = [];
  const slow = [];
  for (let i = 0; i < 2; i++) {
    slow.push(slowdown());
    const once = await open(pathToFileURL(file('large.html')).href);
    times.push(once.opened_ms);
    await once.page.close();
  }
  slow.push(slowdown());
  const { page, complaints, requests, opened_ms } = await open(pathToFileURL(file('large.html')).href);
  times.push(opened_ms);
  assert.match(await page.locator('#charts svg image').first().getAttribute('href'), /^data:image\/png/, 'the heat map is drawn');
  console.log(`10,000 points: ${bytes} bytes, open after ${times.map(Math.round)} ms, the machine ${median(slow).toFixed(2)} times slower than alone`);
  assert.ok(median(times) < allowance(2000, median(slow)), `open after ${times} ms, slowed down ${slow}`);
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

test('the user reports: each value beside its range, in its unit', async () => {
  // Six of them as `validate reports --format json` gave them: all take half a minute to simulate.
  const validation = readJson(join(source, 'tests/pages/reports.json'));
  write('reports.json', JSON.stringify(validation));
  replisim('report', file('reports.json'));
  const all = await equalNumbers(file('reports.html'), { validation }, 60);
  for (const { path, unit } of all) {
    const given = lookup({ validation }, path.replace(/\.[a-z]+$/, '.unit'));
    assert.equal(unit, ['s', 'bytes', 'count', 'ratio'].includes(given) ? undefined : given, path);
  }
  await sound(file('reports.html'));
  validation.reports[0].checks[1].ok = validation.pass = false;
  validation.reports.push({ id: 'U99', scenario: 'none', error: 'it did not end', checks: [] });
  write('short.json', JSON.stringify(validation));
  replisim('report', file('short.json'));
  const { page } = await open(pathToFileURL(file('short.html')).href);
  assert.match(await page.locator('#answer').textContent(), /^5 of 7 reports/);
  assert.equal(await page.locator('#checks .badge.bad').count(), 2);
  assert.match(await page.locator('#checks').textContent(), /it did not end/);
  await page.close();
});

test('a calibration: intervals and correlations', async () => {
  write('fit.json', replisim('calibrate', 'calibration/specs/lab-2core-artefacts.yaml', '--format', 'json'));
  replisim('report', file('fit.json'));
  const calibration = readJson(file('fit.json'));
  await equalNumbers(file('fit.html'), { calibration }, 100);
  // Costs with a common factor are one row of the correlations.
  const costs = calibration.parameters;
  const rows = [...costs.filter((p) => p.together === 0).map((p) => p.name), ...new Set(costs.filter((p) => p.together > 0).map((p) => p.together))];
  assert.equal(calibration.correlations.length, rows.length);
  assert.ok(rows.length < costs.length, 'none of these costs has a common factor');
  for (let i = 0; i < rows.length; i++) assert.ok(Math.abs(calibration.correlations[i][i] - 1) < 1e-9);
  await sound(file('fit.html'), ['light']);
  const { page } = await open(pathToFileURL(file('fit.html')).href);
  const heads = await page.$$eval('#correlations tbody th', (all) => all.map((element) => element.textContent));
  assert.equal(heads.length, rows.length);
  assert.equal(heads[0], costs[0].name);
  assert.equal(heads.filter((head) => / and \d+ more$/.test(head)).length, new Set(costs.map((p) => p.together).filter((k) => k > 0)).size);
  await page.close();
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
