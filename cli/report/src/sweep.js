// The page of a sweep. Its points come in columns: an index into the labels for each axis, float64 for metrics.
import { h, name, section, empty, table, figure, choice, short } from './dom.js';
import { number, formatter, bytes, count, tick, title } from './format.js';
import { Plot, plot, base, grid, scaleOf } from './plots.js';
import { guesses } from './run.js';

function decode(column, length) {
  if (column === undefined) return null;
  if ('constant' in column) return { at: () => column.constant, constant: true };
  const text = atob(column.f64);
  const raw = new Uint8Array(text.length);
  for (let i = 0; i < text.length; i++) raw[i] = text.charCodeAt(i);
  const values = new Float64Array(raw.buffer, 0, length);
  return { at: (i) => (Number.isNaN(values[i]) ? null : values[i]) };
}

/** "64kB" as 65536, "20 %" as 0.2: labels in the order of their sizes. */
function quantity(label) {
  const found = /^\s*(-?[\d.,_]+(?:e[+-]?\d+)?)\s*([a-zA-Z\u00b5%]*)/.exec(label);
  if (!found) return null;
  const scale = { '': 1, '%': 0.01, B: 1, kB: 1024, MB: 1024 ** 2, GB: 1024 ** 3, TB: 1024 ** 4, ns: 1e-9, us: 1e-6, ms: 1e-3, s: 1, min: 60, h: 3600, d: 86400, kbps: 1e3, Mbps: 1e6, Gbps: 1e9 }[found[2]];
  const value = Number(found[1].replaceAll(/[,_]/g, ''));
  return scale === undefined || Number.isNaN(value) ? null : value * scale;
}

function ordered(labels) {
  const values = labels.map(quantity);
  const all = values.every((value) => value !== null);
  const order = labels.map((_, i) => i);
  if (all) order.sort((a, b) => values[a] - values[b]);
  return { order, values: all ? values : null };
}

const axisTitle = (path) => {
  const at = path.lastIndexOf('.');
  return at < 0 ? path : path.slice(at + 1);
};

export function sweepPage(data) {
  const { sweep } = data;
  const n = data.points;
  const metricNames = Object.keys(data.metrics);
  const cache = new Map();
  const metric = (key) => {
    if (!cache.has(key)) cache.set(key, decode(data.metrics[key], n));
    return cache.get(key);
  };
  const halves = new Map();
  const half = (key) => {
    if (!halves.has(key)) halves.set(key, data.half_width?.[key] && decode(data.half_width[key], n));
    return halves.get(key);
  };
  const axes = data.columns.map((path, c) => ({ path, labels: data.labels[c], index: data.index[c], ...ordered(data.labels[c]) })).filter((axis) => axis.labels.length > 1);
  const varying = metricNames.filter((key) => !metric(key).constant);
  const preferred = ['total_s', 'lag_s_mean', 'tps', 'lock_hold_s', 'retained_wal_bytes', 'spill_bytes'].filter((key) => varying.includes(key));
  const state = { metric: preferred[0] ?? varying[0] ?? metricNames[0], x: 0, y: 1, line: -1 };
  const failed = Object.keys(data.errors).length;

  const best = () => {
    const m = metric(state.metric);
    let low = -1;
    let high = -1;
    if (!m) return [low, high];
    for (let i = 0; i < n; i++) {
      const value = m.at(i);
      if (value === null) continue;
      if (low < 0 || value < m.at(low)) low = i;
      if (high < 0 || value > m.at(high)) high = i;
    }
    return [low, high];
  };
  const where = (i) => data.columns.map((path, c) => [c > 0 && ', ', h('code', {}, name(short(axisTitle(path), 60))), ' = ', name(data.labels[c][data.index[c][i]])]);

  const words = h('div', {});
  const charts = h('div', {});
  const points = h('div', {});
  let page = 0;
  let sortBy = '';

  function say() {
    const [low, high] = best();
    if (low < 0) return words.replaceChildren(h('p', { class: 'answer' }, 'No point gave a result.'));
    const at = (i) => `points.${i}.metrics.${state.metric}`;
    const m = metric(state.metric);
    words.replaceChildren(
      h('p', { class: 'answer' }, `Over ${count(n - failed)} points, `, h('strong', {}, title(state.metric)), ' goes from ', h('strong', {}, number(m.at(low), state.metric, at(low))), ' (', where(low), ') to ', h('strong', {}, number(m.at(high), state.metric, at(high))), ' (', where(high), ').'),
      failed > 0 ? h('div', { class: 'callout bad' }, h('p', {}, `${count(failed)} points failed; they are listed below.`)) : '',
    );
  }

  /** Mean (and mean half width) of the metric by x label and one more axis; the others are averaged over. */
  function grouped(x, other) {
    const m = metric(state.metric);
    const hw = half(state.metric);
    const sums = new Map();
    for (let i = 0; i < n; i++) {
      const value = m?.at(i);
      if (value === null || value === undefined) continue;
      const key = axes[x].index[i] + (other >= 0 ? axes[other].index[i] : 0) * axes[x].labels.length;
      const entry = sums.get(key) ?? { x: axes[x].index[i], other: other >= 0 ? axes[other].index[i] : 0, sum: 0, low: Infinity, high: -Infinity, half: 0, count: 0 };
      entry.sum += value;
      entry.low = Math.min(entry.low, value);
      entry.high = Math.max(entry.high, value);
      entry.half += hw?.at(i) ?? 0;
      entry.count += 1;
      sums.set(key, entry);
    }
    return [...sums.values()].map((e) => ({ ...e, mean: e.sum / e.count, half: e.half / e.count }));
  }

  /** How far apart the means of the labels of an axis lie. */
  function effect(x) {
    const means = grouped(x, -1).map((row) => row.mean);
    return means.length > 1 ? Math.max(...means) - Math.min(...means) : 0;
  }

  /** At first the axes are drawn that do the most: across, if there is one, numbers. */
  function choose() {
    if (axes.length === 0) return;
    const effects = axes.map((_, i) => effect(i));
    const strongest = (some) => some.reduce((best, i) => (best < 0 || effects[i] > effects[best] ? i : best), -1);
    const all = axes.map((_, i) => i);
    const numbers = all.filter((i) => axes[i].values && axes[i].labels.length > 2);
    state.x = strongest(numbers.length ? numbers : all);
    state.y = strongest(all.filter((i) => i !== state.x));
  }

  function lines() {
    const { x } = state;
    const other = state.y;
    const axis = axes[x];
    const few = other >= 0 && axes[other].labels.length <= 9 ? other : -1;
    const rows = grouped(x, few);
    // Logarithms are taken here: a logarithmic axis labels only the ticks it likes.
    const positive = axis.values && axis.values.every((v) => v > 0) && Math.max(...axis.values) / Math.min(...axis.values) > 50;
    const places = axis.values?.map((value) => (positive ? Math.log10(value) : value));
    const position = (row) => (places ? places[row.x] : axis.order.indexOf(row.x));
    const room = Math.max(1, Math.ceil(axis.labels.length / 9));
    const ticks = axis.order.filter((_, i) => i % room === 0);
    rows.sort((a, b) => position(a) - position(b));
    const averaged = rows.some((row) => row.count > 1);
    const interval = rows.some((row) => row.half > 0);
    const color = (row) => `var(--c${row.other % 9})`;
    const format = formatter(state.metric);
    const label = axes[few]?.labels;
    const top = Math.max(0, ...rows.map((row) => Math.max(row.high, row.mean + row.half)));
    const lowest = Math.min(...rows.map((row) => Math.min(row.low, row.mean - row.half)));
    const band = averaged ? (row) => [row.low, row.high] : (row) => [row.mean - row.half, row.mean + row.half];
    return figure(
      `${title(state.metric)} over ${short(axisTitle(axis.path), 50)}`,
      [averaged ? 'Lines are means over the axes that are not shown, the bands reach from the smallest to the largest value. ' : interval ? 'Bars are 95 % intervals over the replications. ' : '', few >= 0 ? `One line for each ${short(axisTitle(axes[few].path), 50)}.` : ''],
      few >= 0 && h('ul', { class: 'legend' }, axes[few].order.map((i) => h('li', {}, h('i', { style: { background: `var(--c${i % 9})` } }), name(short(label[i], 50))))),
      plot(`${title(state.metric)} over ${axis.path}`, (width) =>
        base(width, {
          height: 320,
          marginLeft: 78,
          marginBottom: 44,
          x: { label: short(axisTitle(axis.path), 60), type: places ? 'linear' : 'point', domain: places ? undefined : axis.order, ticks: places ? ticks.filter((_, k) => k % Math.ceil((ticks.length * 70) / width) === 0).map((i) => places[i]) : undefined, tickFormat: places ? (v) => short(axis.labels[places.indexOf(v)], 14) : (i) => short(axis.labels[i], 14) },
          y: { label: null, ...scaleOf(format, 0, top), zero: true, nice: format !== bytes, domain: format === bytes && lowest >= 0 ? [0, top * 1.04 || 1] : undefined },
          marks: [
            Plot.gridY({ ...grid, ticks: scaleOf(format, 0, top).ticks }),
            averaged && Plot.areaY(rows, { x: places ? position : 'x', y1: (d) => d.low, y2: (d) => d.high, z: 'other', fill: color, fillOpacity: 0.15 }),
            interval && !averaged && Plot.ruleX(rows, { x: places ? position : 'x', y1: (d) => band(d)[0], y2: (d) => band(d)[1], stroke: color, strokeWidth: 2 }),
            Plot.lineY(rows, { x: places ? position : 'x', y: 'mean', z: 'other', stroke: color, strokeWidth: 2 }),
            rows.length <= 400 && Plot.dot(rows, { x: places ? position : 'x', y: 'mean', r: 3, fill: color, title: (d) => `${short(axis.labels[d.x], 60)}${few >= 0 ? `, ${short(label[d.other], 60)}` : ''}\n${format(d.mean)}`, tip: true }),
          ],
        }),
      ),
    );
  }

  function heat() {
    if (state.y < 0 || axes.length < 2) return null;
    const ax = axes[state.x];
    const ay = axes[state.y];
    const rows = grouped(state.x, state.y);
    const format = formatter(state.metric);
    const most = 120;
    if (ax.labels.length > most || ay.labels.length > most) {
      const m = metric(state.metric);
      const all = [];
      for (let i = 0; i < n; i++) if (m.at(i) !== null) all.push(i);
      if (!ax.values || !ay.values) return null;
      const log = (axis) => (axis.values.every((v) => v > 0) && Math.max(...axis.values) / Math.min(...axis.values) > 50 ? 'log' : 'linear');
      return figure(
        `${title(state.metric)} by ${short(axisTitle(ax.path), 40)} and ${short(axisTitle(ay.path), 40)}`,
        'A dot for each point.',
        plot(`${title(state.metric)} by ${ax.path} and ${ay.path}`, (width) =>
          base(width, {
            height: 380,
            marginLeft: 78,
            x: { ticks: Math.max(2, Math.floor(width / 110)), label: short(axisTitle(ax.path), 50), type: log(ax), tickFormat: tick(count) },
            y: { label: short(axisTitle(ay.path), 50), type: log(ay), tickFormat: tick(count) },
            color: { scheme: 'viridis', legend: true, label: title(state.metric), tickFormat: tick(format) },
            marks: [Plot.dot(all, { x: (i) => ax.values[ax.index[i]], y: (i) => ay.values[ay.index[i]], fill: (i) => m.at(i), r: all.length > 2000 ? 2 : 3.5 })],
          }),
        ),
      );
    }
    if (rows.length > 2500) return raster(ax, ay, rows, format);
    const cell = ay.labels.length > 40 ? 7 : 26;
    // As many labels under the map as there is room for, and numbers in its cells that can be read on any colour.
    const longest = Math.max(...ax.labels.map((text) => Math.min(10, text.length)));
    const every = (width) => Math.ceil(((longest * 7 + 10) * ax.labels.length) / (width - Math.min(150, width * 0.28) - 20));
    const low = Math.min(...rows.map((row) => row.mean));
    const high = Math.max(...rows.map((row) => row.mean));
    const light = (row) => (row.mean - low) / (high - low || 1) > 0.55;
    return figure(
      `${title(state.metric)} by ${short(axisTitle(ax.path), 40)} and ${short(axisTitle(ay.path), 40)}`,
      rows.some((row) => row.count > 1) ? 'Each cell is the mean over the other axes.' : null,
      plot(`Heat map of ${title(state.metric)} by ${ax.path} and ${ay.path}`, (width) =>
        base(width, {
          height: 96 + cell * ay.labels.length,
          marginLeft: Math.min(150, width * 0.28),
          marginBottom: 52,
          x: { label: short(axisTitle(ax.path), 50), domain: ax.order, ticks: undefined, tickFormat: (i) => (ax.order.indexOf(i) % every(width) !== 0 ? '' : short(ax.labels[i], 10)), tickSize: 0, padding: ax.labels.length > 40 ? 0 : 0.06 },
          y: { label: short(axisTitle(ay.path), width < 500 ? 24 : 50), labelAnchor: 'top', domain: ay.order, tickFormat: (i) => (ay.labels.length > 40 && ay.order.indexOf(i) % Math.ceil(ay.labels.length / 20) !== 0 ? '' : short(ay.labels[i], 20)), tickSize: 0, padding: ay.labels.length > 40 ? 0 : 0.06 },
          color: { scheme: 'viridis', legend: true, label: title(state.metric), ...scaleOf(format, low, high, 4) },
          marks: [
            Plot.cell(rows, { x: 'x', y: 'other', fill: 'mean', title: (d) => `${short(ax.labels[d.x], 60)}, ${short(ay.labels[d.other], 60)}\n${format(d.mean)}`, tip: rows.length < 3000 }),
            rows.length <= 60 && width / ax.labels.length > 75 && Plot.text(rows, { x: 'x', y: 'other', text: (d) => format(d.mean), fill: (d) => (light(d) ? '#111' : 'white') }),
          ],
        }),
      ),
    );
  }

  /** The heat map as one image: thousands of elements take their time. */
  function raster(ax, ay, rows, format) {
    const nx = ax.labels.length;
    const ny = ay.labels.length;
    const px = new Map(ax.order.map((label, i) => [label, i]));
    const py = new Map(ay.order.map((label, i) => [label, i]));
    const values = new Float64Array(nx * ny).fill(NaN);
    for (const row of rows) values[py.get(row.other) * nx + px.get(row.x)] = row.mean;
    const some = (axis, most) => axis.order.map((_, i) => i).filter((i) => i % Math.ceil(axis.order.length / most) === 0);
    return figure(
      `${title(state.metric)} by ${short(axisTitle(ax.path), 40)} and ${short(axisTitle(ay.path), 40)}`,
      rows.some((row) => row.count > 1) ? 'Each cell is the mean over the other axes.' : 'A cell for each point; the table below has their values.',
      plot(`Heat map of ${title(state.metric)} by ${ax.path} and ${ay.path}`, (width) =>
        base(width, {
          height: Math.min(520, 96 + 7 * ny),
          marginLeft: Math.min(150, width * 0.28),
          marginBottom: 52,
          x: { label: short(axisTitle(ax.path), 50), domain: [0, nx], ticks: some(ax, Math.max(2, Math.floor(width / 110))).map((i) => i + 0.5), tickFormat: (at) => short(ax.labels[ax.order[Math.floor(at)]], 10) },
          y: { label: short(axisTitle(ay.path), 50), domain: [0, ny], ticks: some(ay, 12).map((i) => i + 0.5), tickFormat: (at) => short(ay.labels[ay.order[Math.floor(at)]], 20) },
          color: { scheme: 'viridis', legend: true, label: title(state.metric), ...scaleOf(format, Math.min(...rows.map((row) => row.mean)), Math.max(...rows.map((row) => row.mean)), 4) },
          marks: [Plot.raster(values, { width: nx, height: ny, x1: 0, y1: 0, x2: nx, y2: ny, imageRendering: 'pixelated' })],
        }),
      ),
    );
  }

  function drawCharts() {
    if (axes.length === 0 || !state.metric) return charts.replaceChildren(empty('Nothing varies in this sweep.'));
    charts.replaceChildren(...[lines(), heat()].filter(Boolean));
  }

  /** Half the width of a point's 95 % interval, where there were replications. */
  function interval(key, i) {
    const width = half(key)?.at(i);
    return width > 0 && h('span', { class: 'meta' }, ' \u00b1 ', number(width, key, `points.${i}.half_width_95.${key}`));
  }

  function drawPoints() {
    const size = 50;
    const keys = [state.metric, ...preferred.filter((key) => key !== state.metric)].filter(Boolean).slice(0, 4);
    let order = [...Array(n).keys()];
    if (sortBy) {
      const m = metric(state.metric);
      const value = (i) => m.at(i) ?? Infinity;
      order.sort((a, b) => (sortBy === 'up' ? value(a) - value(b) : value(b) - value(a)) || a - b);
    }
    const pages = Math.max(1, Math.ceil(n / size));
    page = Math.min(page, pages - 1);
    const shown = order.slice(page * size, (page + 1) * size);
    points.replaceChildren(
      h(
        'div',
        { class: 'controls' },
        choice('Order', [['', 'as swept'], ['up', `smallest ${title(state.metric)} first`], ['down', `largest ${title(state.metric)} first`]], sortBy, (value) => ((sortBy = value), (page = 0), drawPoints())),
        h('button', { type: 'button', disabled: page === 0, onclick: () => (page--, drawPoints()) }, 'Previous points'),
        h('button', { type: 'button', disabled: page + 1 >= pages, onclick: () => (page++, drawPoints()) }, 'Next points'),
        h('span', { class: 'meta' }, `${count(page * size + 1)} to ${count(page * size + shown.length)} of ${count(n)}`),
      ),
      table({
        label: 'Points',
        head: [...data.columns.map((path) => name(short(axisTitle(path), 40))), ...keys.map((key) => title(key)), 'Bottleneck'],
        numeric: keys.map((_, i) => data.columns.length + i),
        rows: shown.map((i) => [...data.columns.map((_, c) => name(short(data.labels[c][data.index[c][i]], 80))), ...keys.map((key) => [number(metric(key).at(i), key, `points.${i}.metrics.${key}`), interval(key, i)]), data.errors[i] !== undefined ? h('span', { class: 'badge bad' }, 'failed') : name(data.bottlenecks[data.bottleneck[i]] ?? '')]),
      }),
    );
  }

  choose();
  const changed = () => {
    say();
    drawCharts();
    drawPoints();
  };
  const axisOptions = (none) => [...(none ? [['-1', 'none']] : []), ...axes.map((axis, i) => [String(i), axis.path])];
  const controls = h(
    'div',
    { class: 'controls' },
    choice('Figure', (varying.length ? varying : metricNames).map((key) => [key, title(key) === key ? key : `${title(key)} (${key})`]), state.metric, (value) => ((state.metric = value), changed())),
    axes.length > 0 && choice('Across', axisOptions(false), String(state.x), (value) => ((state.x = Number(value)), drawCharts())),
    axes.length > 1 && choice('Against', axisOptions(true), String(state.y), (value) => ((state.y = Number(value)), drawCharts())),
  );
  changed();

  const questions = sweep.break_even ?? [];
  const errors = Object.entries(data.errors);
  return {
    kicker: 'replisim report \u00b7 a sweep',
    heading: sweep.scenario,
    meta: [`${count(n)} points`, sweep.replications > 1 && `${sweep.replications} replications`, `seed ${sweep.seed}`, `replisim ${sweep.version}`],
    lead: [words, sweep.interrupted && h('div', { class: 'callout warn' }, h('p', {}, 'The sweep was interrupted; the points there are, are complete.')), (sweep.notes ?? []).map((note) => h('div', { class: 'callout' }, h('p', {}, name(note))))],
    sections: [
      section('charts', 'What the settings do', null, controls, charts),
      questions.length > 0 && section('break-even', 'Where two settings break even', null, table({ label: 'Break-even answers', head: ['Question', 'At', 'Answer'], rows: questions.map((q) => [[h('code', {}, name(short(axisTitle(q.path), 40))), ` = `, name(q.first), ' or ', name(q.second), ', over ', h('code', {}, name(short(axisTitle(q.over), 40)))], Object.entries(q.axes).map(([path, label], i) => [i > 0 && ', ', name(short(axisTitle(path), 40)), ' = ', name(label)]), name(q.error ?? q.verdict ?? '')]) })),
      section('points', 'Points', sweep.replications > 1 && !data.left_out?.length ? 'After \u00b1 half the width of the 95 % interval over the replications.' : data.left_out?.length ? `To keep this page small, ${data.left_out.length} figures are left out of it: ${data.left_out.join(', ')}.` : null, points),
      errors.length > 0 && section('failures', `Failures (${errors.length})`, null, table({ label: 'Failures', head: ['Point', 'Why'], rows: errors.slice(0, 200).map(([i, text]) => [where(Number(i)), name(text)]) })),
      guesses(sweep.guesses),
    ],
  };
}
