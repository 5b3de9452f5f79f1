// The pages of a validation (a suite, the user reports, a cross-validation) and of a calibration.
import { h, name, section, empty, table, figure, short, middle } from './dom.js';
import { number, count, seconds, bytes, tick } from './format.js';
import { Plot, plot, base, grid, scaleOf, fitting } from './plots.js';

const badge = (ok) => h('span', { class: `badge ${ok ? 'good' : 'bad'}` }, ok ? 'pass' : 'short of its bar');
const pct = (value) => `${value.toFixed(2)} %`;
const signed = (value) => `${value > 0 ? '+' : ''}${value.toFixed(2)} %`;
const own = new Map([['s', seconds], ['bytes', bytes], ['%', pct], ['percent', pct], ['count', count], ['ratio', count], ['', count], [undefined, count]]);
const called = { '1e9 bytes': '\u00d710\u2079 B' };
const byUnit = (unit) => own.get(unit) ?? ((value) => `${count(value)} ${called[unit] ?? unit}`);
/** The unit a number is shown with as it is; nothing where the page chooses one of its own. */
const asIs = (unit) => (own.has(unit) ? undefined : unit);
const kinds = { s: ', times', bytes: ', sizes', count: ', counts', '%': ', shares', percent: ', shares', ratio: ', ratios', '': '' };

/** Round numbers for a logarithmic axis: 1, 2 and 5 of each decade, or fewer where those are too many. */
function decades([low, high], most) {
  const all = (digits, every) => {
    const out = [];
    for (let exponent = Math.floor(Math.log10(low)); exponent <= Math.log10(high); exponent++) if (exponent % every === 0) for (const digit of digits) out.push(digit * 10 ** exponent);
    return out.filter((value) => value >= low && value <= high);
  };
  return [all([1, 2, 5], 1), all([1, 3], 1), all([1], 1), all([1], 2), all([1], 3)].find((ticks) => ticks.length <= 2 * most && ticks.length > 1) ?? [low, high];
}

/** Predicted against measured, one panel a unit, with the line of equality. */
function scatter(cells) {
  const units = [...new Set(cells.map((cell) => cell.unit ?? ''))];
  return units.map((unit) => {
    const some = cells.filter((cell) => (cell.unit ?? '') === unit && cell.measured !== null && cell.predicted !== null);
    const values = some.flatMap((cell) => [cell.measured, cell.predicted]);
    if (some.length === 0) return null;
    const positive = values.every((value) => value > 0);
    const low = Math.min(...values);
    const high = Math.max(...values);
    const log = positive && high / low > 30;
    // Logarithms are taken here: a logarithmic axis labels only the ticks it likes.
    const place = log ? Math.log10 : (value) => value;
    const domain = log ? [place(low / 1.2), place(high * 1.2)] : [Math.min(0, low), high * 1.05 || 1];
    const format = byUnit(unit);
    const axis = (most) => (log ? { tickFormat: (at) => tick(format)(10 ** at), ticks: decades([low / 1.2, high * 1.2], most).map(place) } : scaleOf(format, domain[0], domain[1], most));
    return figure(
      `Predicted against measured${kinds[unit] ?? `, ${unit}`}`,
      'On the line a prediction is exact; above it, it is too high.',
      plot(`Predicted against measured for ${some.length} figures`, (width) =>
        base(width, {
          height: Math.min(430, Math.max(260, width * 0.62)),
          marginLeft: 82,
          marginBottom: 44,
          marginRight: 24,
          x: { label: 'measured', domain, ...axis(Math.max(2, Math.floor(width / 150))) },
          y: { label: 'predicted', domain, ...axis(5) },
          marks: [
            Plot.gridX({ ...grid, ticks: axis(Math.max(2, Math.floor(width / 150))).ticks }),
            Plot.gridY({ ...grid, ticks: axis(5).ticks }),
            Plot.line([[domain[0], domain[0]], [domain[1], domain[1]]], { stroke: 'var(--soft)', strokeDasharray: '4 4' }),
            some.some((cell) => cell.low !== undefined && cell.low !== null) && Plot.ruleX(some.filter((cell) => cell.low !== undefined && cell.low !== null), { x: (d) => place(d.measured), y1: (d) => place(d.low), y2: (d) => place(d.high), stroke: 'var(--c0)', strokeOpacity: 0.5 }),
            Plot.dot(some, { x: (d) => place(d.measured), y: (d) => place(d.predicted), r: 4, fill: 'var(--c0)', fillOpacity: 0.75, title: (d) => `${short(d.id, 80)}\nmeasured ${format(d.measured)}\npredicted ${format(d.predicted)}`, tip: true }),
          ],
        }),
      ),
    );
  });
}

const mostBars = 60;

function residuals(cells) {
  const all = cells.filter((cell) => cell.error_pct !== null && cell.error_pct !== undefined);
  if (all.length === 0) return empty('No figure has an error that could be drawn.');
  const size = (cell) => Math.abs(cell.error_pct);
  const limit = all.map(size).sort((a, b) => b - a)[mostBars] ?? -1;
  const some = all.length > mostBars ? all.filter((cell) => size(cell) > limit).slice(0, mostBars) : all;
  const most = Math.max(...some.map(size), 0.1);
  const margin = (width) => Math.min(290, width * 0.45);
  return figure(
    'Residuals',
    [
      'Predicted minus measured, in percent of the measured value.',
      all.length > some.length && [` The ${some.length} largest of ${all.length}: the others are off by `, number(limit, pct), ' at most.'],
    ],
    plot(`Residuals of ${some.length} figures, the largest ${pct(most)}`, (width) =>
      base(width, {
        height: 46 + 15 * some.length,
        marginLeft: margin(width),
        marginRight: 20,
        x: { label: null, domain: [-most * 1.08, most * 1.08], tickFormat: (v) => `${+v.toPrecision(3)} %`, ticks: Math.max(2, Math.floor(width / 130)) },
        y: { label: null, domain: some.map((_, i) => i), tickFormat: (i) => middle(some[i].id, fitting(margin(width))), tickSize: 0, padding: 0.25 },
        marks: [Plot.gridX({ ...grid, ticks: Math.max(2, Math.floor(width / 130)) }), Plot.barX(some, { title: (d) => `${short(d.id, 80)}\n${signed(d.error_pct)}`, tip: true, x: 'error_pct', y: (_, i) => i, fill: (d) => (d.error_pct < 0 ? 'var(--c0)' : 'var(--c1)'), rx: 2 }), Plot.ruleX([0], { stroke: 'var(--soft)' })],
      }),
    ),
  );
}

function cellTable(cells, at) {
  const all = table({
    label: 'Cells',
    head: ['Figure', 'Measured', 'Predicted', 'Error'],
    numeric: [1, 2, 3],
    rows: cells.map((cell, i) => [name(cell.id), ...['measured', 'predicted'].map((key) => number(cell[key], byUnit(cell.unit), `${at}.${i}.${key}`, asIs(cell.unit))), number(cell.error_pct, signed, `${at}.${i}.error_pct`)]),
  });
  return cells.length > mostBars ? h('details', {}, h('summary', {}, `${cells.length} figures`), all) : all;
}

const barTitles = { mape_pct: 'Mean error', max_error_pct: 'Largest error', improvement_points: 'Largest error of an improvement, in points', fitted_parameters: 'Fitted parameters' };
/** What a bar compares: a value with its limit, or how many figures keep to a rule. */
function barRow([key, bar]) {
  const at = `validation.bars.${key}`;
  const format = /_pct$|_points$/.test(key) ? pct : count;
  const ok = bar.ok ?? bar.pass;
  const value = typeof bar.value === 'number' ? number(bar.value, format, `${at}.value`) : typeof bar.kept === 'number' ? number(bar.kept, count, `${at}.kept`) : '';
  const limit = typeof bar.limit === 'number' ? ['at most ', number(bar.limit, format, `${at}.limit`)] : typeof bar.cells === 'number' ? ['of ', number(bar.cells, count, `${at}.cells`)] : '';
  return [name(bar.rule ?? bar.sentence ?? barTitles[key] ?? key.replaceAll('_', ' ')), value, limit, ok === undefined ? '' : badge(ok)];
}

function suitePage(data) {
  const suite = data.validation;
  const bars = Object.entries(suite.bars ?? {});
  return {
    kicker: 'replisim report \u00b7 a validation',
    heading: suite.suite,
    meta: [`${suite.cells.length} figures`, suite.profile && `profile ${suite.profile}`, suite.fitted_parameters !== null && `${suite.fitted_parameters} fitted parameters`],
    lead: [
      h('p', { class: 'answer' }, suite.mape_pct !== null ? ['Predictions are off by ', h('strong', {}, number(suite.mape_pct, pct, 'validation.mape_pct')), ' on average and by ', h('strong', {}, number(suite.max_error_pct, pct, 'validation.max_error_pct')), ' at most. '] : 'This suite has no mean error. ', suite.pass === null || suite.pass === undefined ? 'It has no bar to pass.' : badge(suite.pass)),
      (suite.notes ?? []).map((note) => h('div', { class: 'callout' }, h('p', {}, name(note)))),
    ],
    sections: [
      suite.cells.length > 0 && section('predicted', 'Predicted against measured', null, scatter(suite.cells), residuals(suite.cells)),
      suite.figures && section('figures', 'Findings', null, table({ label: 'Findings', head: ['Finding', 'Value', ''], numeric: [1], rows: Object.entries(suite.figures).map(([key, f]) => [name(key), number(f.value, byUnit(f.unit), `validation.figures.${key}.value`, asIs(f.unit)), name(f.sentence)]) })),
      bars.length > 0 && section('bars', 'Bars', 'What the suite demands.', table({ label: 'Bars', head: ['Bar', 'Value', 'Limit', ''], numeric: [1, 2], rows: bars.map(barRow) })),
      suite.metrics && section('noise', 'Errors beside the noise of the measurement', null, table({ label: 'Noise', head: ['Metric', 'Mean error', 'Noise'], numeric: [1, 2], rows: suite.metrics.map((m, i) => [name(m.metric), number(m.mape_pct, pct, `validation.metrics.${i}.mape_pct`), number(m.noise_floor_pct, pct, `validation.metrics.${i}.noise_floor_pct`)]) })),
      suite.derived?.length > 0 && section('derived', 'Derived figures', null, table({ label: 'Derived figures', head: ['Figure', 'Measured', 'Predicted'], numeric: [1, 2], rows: suite.derived.map((d, i) => [name(d.id), ...['measured', 'predicted'].map((key) => number(d[key], byUnit(d.unit), `validation.derived.${i}.${key}`, asIs(d.unit)))]) })),
      suite.cells.length > 0 && section('cells', 'Every figure', null, cellTable(suite.cells, 'validation.cells')),
    ],
  };
}

function reportsPage(data) {
  const { reports, pass } = data.validation;
  const good = reports.filter((report) => !report.error && report.checks.every((check) => check.ok)).length;
  return {
    kicker: 'replisim report \u00b7 a validation',
    heading: 'Troubles that users reported',
    meta: [`${reports.length} reports`],
    lead: [h('p', { class: 'answer' }, h('strong', {}, `${good} of ${reports.length}`), ' reports get the answer a true model gives. ', badge(pass))],
    sections: [
      section(
        'checks',
        'Checks',
        'Each value beside the range it has to lie in.',
        table({
          label: 'Checks',
          head: ['Report', 'Quantity', 'Value', 'From', 'To', ''],
          numeric: [2, 3, 4],
          rows: reports.flatMap((report, r) => (report.error ? [[name(report.id), name(report.error), '', '', '', badge(false)]] : report.checks.map((check, c) => [c === 0 ? name(report.id) : '', name(check.quantity), ...['value', 'low', 'high'].map((key) => number(check[key], byUnit(check.unit), `validation.reports.${r}.checks.${c}.${key}`, asIs(check.unit))), badge(check.ok)]))),
        }),
      ),
    ],
  };
}

function crossPage(data) {
  const cross = data.validation;
  const cells = cross.folds.flatMap((fold) => fold.cells);
  return {
    kicker: 'replisim report \u00b7 a cross-validation',
    heading: cross.suite,
    meta: [`${cross.folds.length} parts left out in turn`, `profile ${cross.profile}`],
    lead: [h('p', { class: 'answer' }, 'Of the figures left out of the fit, ', h('strong', {}, number(cross.coverage_pct, pct, 'validation.coverage_pct')), ' lie in their predicted intervals. ', cross.pass === null ? '' : badge(cross.pass))],
    sections: [
      section('predicted', 'Predicted against measured', 'Each figure is predicted by a fit that has not seen it; the bars are predicted intervals.', scatter(cells), residuals(cells)),
      section('folds', 'By part', null, table({ label: 'Parts', head: ['Left out', 'Mean error', 'Largest', 'Mean error of the fit'], numeric: [1, 2, 3], rows: cross.folds.map((fold, i) => [name(fold.name), number(fold.mape_pct, pct, `validation.folds.${i}.mape_pct`), number(fold.max_error_pct, pct, `validation.folds.${i}.max_error_pct`), number(fold.in_sample_mape_pct, pct, `validation.folds.${i}.in_sample_mape_pct`)]) })),
      cross.bars.length > 0 && section('bars', 'Bars', null, table({ label: 'Bars', head: ['Bar', 'Value', 'Limit', ''], numeric: [1, 2], rows: cross.bars.map((bar, i) => [name(bar.rule), number(bar.value, count, `validation.bars.${i}.value`), number(bar.limit, count, `validation.bars.${i}.limit`), badge(bar.ok)]) })),
    ],
  };
}

export function validationPage(data) {
  if (data.validation.reports) return reportsPage(data);
  return data.validation.folds ? crossPage(data) : suitePage(data);
}

/** Ticks that a logarithmic axis around 1 has room for. */
function ratios(known, width) {
  const low = Math.min(...known.map((p) => p.low / p.value));
  const high = Math.max(...known.map((p) => p.high / p.value));
  const all = high / low < 1.3 ? [0.9, 0.95, 1, 1.05, 1.1] : high / low < 5 ? [0.5, 0.67, 0.8, 1, 1.25, 1.5, 2] : [1e-3, 0.01, 0.1, 0.3, 1, 3, 10, 100, 1000];
  const fitting = all.filter((value) => value >= low && value <= high);
  return width < 500 ? fitting.filter((value) => value === 1 || value === fitting[0] || value === fitting.at(-1)) : fitting;
}

/** What the rows of the correlations are: costs by themselves, and those fitted by a common factor as one. */
function factors(parameters) {
  const groups = new Map();
  for (const p of parameters) {
    const key = p.together > 0 ? `together ${p.together}` : p.name;
    groups.set(key, [...(groups.get(key) ?? []), p.name]);
  }
  return [...groups.values()].map((some) => (some.length > 1 ? `${some[0]} and ${some.length - 1} more` : some[0]));
}

export function calibrationPage(data) {
  const c = data.calibration;
  const cost = (value) => seconds(value);
  const unit = (p) => (p.name === 'cpu_speed' || /speed|factor|share/.test(p.name) ? count : cost);
  const known = c.parameters.filter((p) => p.value > 0 && p.low > 0 && p.high > 0);
  const names = factors(c.parameters);
  const matrix = c.correlations ?? [];
  const pairs = matrix.flatMap((row, i) => row.map((value, j) => ({ i, j, value }))).filter((pair) => pair.value !== null);
  return {
    kicker: 'replisim report \u00b7 a calibration',
    heading: c.profile,
    meta: [`${c.parameters.length} parameters`, `${c.cells.length} figures`, `${c.iterations} iterations`],
    lead: [
      h('p', { class: 'answer' }, 'The fit is off by ', h('strong', {}, number(c.mape_pct, pct, 'calibration.mape_pct')), ' on average and by ', h('strong', {}, number(c.max_error_pct, pct, 'calibration.max_error_pct')), ' at most over the figures it was fitted to. '),
      h('div', { class: `callout${c.converged ? '' : ' warn'}` }, h('p', {}, c.converged ? 'It came to rest: ' : 'It did not come to rest: ', name(c.stopped))),
      c.confusions.map((confusion) => h('div', { class: 'callout warn' }, h('p', {}, name(confusion.sentence), ' ', name(confusion.measurement)))),
    ],
    sections: [
      section(
        'parameters',
        'Parameters',
        'Intervals are 95 % as the data and what was known before leave them, drawn as multiples of the value.',
        known.length > 0 &&
          plot(`Intervals of ${known.length} parameters in relation to their values`, (width) =>
            base(width, {
              height: 46 + 24 * known.length,
              marginLeft: Math.min(240, width * 0.45),
              marginRight: 24,
              x: { label: null, tickFormat: (v) => `\u00d7${+(10 ** v).toPrecision(3)}`, ticks: ratios(known, width).map(Math.log10) },
              y: { label: null, domain: known.map((_, i) => i), tickFormat: (i) => middle(known[i].name, fitting(Math.min(240, width * 0.45))), tickSize: 0 },
              marks: [Plot.gridX({ ...grid, ticks: ratios(known, width).map(Math.log10) }), Plot.ruleX([0], { stroke: 'var(--soft)', strokeDasharray: '4 4' }), Plot.ruleY(known, { y: (_, i) => i, x1: (d) => Math.log10(d.low / d.value), x2: (d) => Math.log10(d.high / d.value), stroke: 'var(--c0)', strokeWidth: 3 }), Plot.dot(known, { y: (_, i) => i, x: 0, r: 4.5, fill: 'var(--c0)' })],
            }),
          ),
        table({ label: 'Parameters', head: ['Parameter', 'Value', 'From', 'To', 'Start', 'Known'], numeric: [1, 2, 3, 4], rows: c.parameters.map((p, i) => [h('code', {}, name(p.name)), ...['value', 'low', 'high', 'start'].map((key) => number(p[key], unit(p), `calibration.parameters.${i}.${key}`)), name(p.determined)]) }),
      ),
      section(
        'correlations',
        'Correlations',
        'How far an error in one parameter can hide in another: near 1 or -1 the figures fix only the two together. Costs with a common factor are one row.',
        pairs.length === 0
          ? empty('This calibration was written by a version that kept no correlations.')
          : [
              plot(`Correlations of ${names.length} parameters`, (width) =>
                base(width, {
                  height: 130 + 26 * names.length,
                  marginLeft: Math.min(240, width * 0.42),
                  marginBottom: width < 500 ? 84 : 110,
                  x: { label: null, domain: names.map((_, i) => i), tickFormat: (i) => middle(names[i], width < 500 ? 14 : 22), tickRotate: -35, tickSize: 0, padding: 0.05 },
                  y: { label: null, domain: names.map((_, i) => i), tickFormat: (i) => middle(names[i], fitting(Math.min(240, width * 0.42))), tickSize: 0, padding: 0.05 },
                  color: { scheme: 'RdBu', domain: [-1, 1], legend: true, label: 'correlation' },
                  marks: [Plot.cell(pairs, { x: 'j', y: 'i', fill: 'value', title: (d) => `${names[d.i]}, ${names[d.j]}: ${d.value.toFixed(2)}`, tip: true }), width / names.length > 48 && Plot.text(pairs, { x: 'j', y: 'i', text: (d) => d.value.toFixed(2), fill: (d) => (Math.abs(d.value) > 0.6 ? 'white' : '#222') })],
                }),
              ),
              table({ label: 'Correlations', head: ['', ...names.map((key) => name(short(key, 30)))], numeric: names.map((_, i) => i + 1), rows: matrix.map((row, i) => [name(names[i]), ...row.map((value, j) => number(value, (v) => v.toFixed(2), `calibration.correlations.${i}.${j}`))]) }),
            ],
      ),
      section('predicted', 'Fitted against measured', null, scatter(c.cells.map((cell) => ({ unit: 's', ...cell }))), residuals(c.cells)),
      section('cells', 'Every figure', null, cellTable(c.cells.map((cell) => ({ unit: 's', ...cell })), 'calibration.cells')),
      c.ratios?.length > 0 && section('ratios', 'Ratios', 'Second figure of an improvement over the first.', cellTable(c.ratios.map((cell) => ({ unit: '', ...cell })), 'calibration.ratios')),
    ],
  };
}
