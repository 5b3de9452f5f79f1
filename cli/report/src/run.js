// The page of one run.
import { h, name, section, empty, table, figure, legend, choice, short, visible } from './dom.js';
import { number, seconds, bytes, count, percent, tick, title, formatter } from './format.js';
import { Plot, plot, base, grid, scaleOf } from './plots.js';
import { timelines } from './timeseries.js';

const order = ['backend', 'clients', 'walwriter', 'walsender', 'network', 'consumer', 'apply_worker', 'parallel_apply_worker'];
const stages = ['commit_flush', 'waiting_to_be_read', 'decode', 'spill_and_restore', 'send_queue', 'transfer', 'receive_queue', 'apply', 'commit'];
const words = (key) => key.replaceAll('_', ' ');
const strong = (child) => h('strong', {}, child);

/** The answer in sentences. */
export function answer(result, path = 'result') {
  const m = result.metrics;
  const at = (key) => strong(number(m[key], key, `${path}.metrics.${key}`));
  const out = [];
  if (m.total_s !== undefined) {
    out.push('The subscriber has everything ', at('total_s'), ' after BEGIN');
    if (m.commit_s !== undefined) out.push('; COMMIT itself returns after ', at('commit_s'));
    out.push('. ');
    if (m.lock_hold_s > 0) out.push('The rows it applies stay locked there for ', at('lock_hold_s'), '. ');
  }
  if (m.tps !== undefined && m.tps > 0) out.push('The publisher commits ', at('tps'), ' transactions a second. ');
  if (m.lag_s_mean !== undefined) {
    out.push('A commit is applied ', at('lag_s_mean'), ' later on average');
    // Quantiles are kept to 1 %: where all are late alike, the 99th may seem to lie below the mean.
    if (m.lag_s_p99 > 1.02 * m.lag_s_mean) out.push(', one in a hundred more than ', at('lag_s_p99'));
    else if (m.lag_s_p99 !== undefined) out.push(', nearly all alike');
    out.push('. ');
  }
  if (out.length === 0) out.push('Nothing was applied on a subscriber in this run. ');
  if (result.bottleneck) {
    const busy = result.stages?.[result.bottleneck]?.busy;
    out.push(busy < 0.5 ? 'The busiest stage is ' : 'The stage that holds up the others is ', strong(name(result.bottleneck)));
    if (busy !== undefined) out.push(', at work ', strong(number(busy, percent, `${path}.stages.${result.bottleneck}.busy`)), ' of the time');
    out.push('.');
  }
  return h('p', { class: 'answer' }, out);
}

/** What changed against the pinned answer. */
function delta(value, before, key) {
  if (before === undefined || before === null || value === null) return h('span', { class: 'delta' }, 'not in the pinned answer');
  const text = before === value ? 'as pinned' : before === 0 ? 'pinned: ' : `${value > before ? '+' : '\u2212'}${Math.abs((100 * (value - before)) / before).toFixed(1)} % of `;
  return h('span', { class: 'delta' }, text, before === value ? '' : number(before, key));
}

const tileKeys = ['total_s', 'commit_s', 'tps', 'lag_s_mean', 'lag_s_p99', 'lock_hold_s', 'wal_bytes', 'sent_bytes', 'spill_bytes', 'stream_bytes', 'peak_spill_file_bytes', 'retained_wal_bytes'];
export function tiles(result, path = 'result', baseline = null) {
  const keys = tileKeys.filter((key) => result.metrics[key] !== undefined && result.metrics[key] !== null).slice(0, 10);
  return h(
    'ul',
    { class: 'tiles' },
    keys.map((key) => {
      const half = result.replications?.half_width_95?.[key];
      return h('li', {}, h('span', { class: 'label' }, title(key)), h('span', { class: 'value' }, number(result.metrics[key], key, `${path}.metrics.${key}`)), half > 0 && h('span', { class: 'note' }, '\u00b1 ', number(half, key, `${path}.replications.half_width_95.${key}`), ' (95 %)'), baseline && delta(result.metrics[key], baseline.metrics[key], key));
    }),
  );
}

export function notices(result) {
  const out = [];
  if (result.outcomes?.length) out.push(h('div', { class: 'callout bad' }, h('p', {}, strong('What went wrong in the simulated cluster')), h('ul', { class: 'plain' }, result.outcomes.map((o) => h('li', {}, number(o.t_s, seconds), ': ', name(o.text))))));
  if (result.warnings?.length) out.push(h('div', { class: 'callout warn' }, h('p', {}, strong(result.warnings.length === 1 ? 'A warning' : `${result.warnings.length} warnings`)), h('ul', { class: 'plain' }, result.warnings.map((text) => h('li', {}, name(text))))));
  const alike = new Map(); // slots of which the same is to be said
  for (const [slot, entry] of Object.entries(result.subscriptions ?? {})) if (entry.verdict) alike.set(entry.verdict, [...(alike.get(entry.verdict) ?? []), slot]);
  for (const [verdict, slots] of alike) {
    const bad = /lost|falling behind/.test(result.subscriptions[slots[0]].blame?.state ?? '');
    out.push(h('div', { class: `callout${bad ? ' bad' : ''}` }, h('p', {}, strong([slots.length > 1 ? 'Slots ' : 'Slot ', slots.map((slot, i) => [i > 0 && ', ', name(slot)]), ': ']), name(verdict))));
  }
  return out;
}

const comparedKeys = ['total_s', 'commit_s', 'lag_s_mean', 'lag_s_p99', 'tps', 'lock_hold_s', 'spill_bytes', 'stream_bytes', 'sent_bytes', 'peak_sub_tmp_file_bytes'];
export function comparison(data) {
  const hint = 'The same scenario with streaming set to each of its three values, everything else equal. The mode of this run is marked.';
  const modes = data.comparison?.modes ?? [];
  if (modes.length === 0) return section('modes', 'Off, on and parallel', hint, empty(data.comparison?.reason ?? 'There is nothing to compare with.'));
  const keys = comparedKeys.filter((key) => modes.some((mode) => mode.metrics?.[key] > 0));
  const current = modes.findIndex((mode) => mode.current);
  const measure = keys.includes('total_s') ? 'total_s' : keys.includes('lag_s_mean') ? 'lag_s_mean' : keys[0];
  const shown = modes.filter((mode) => mode.metrics?.[measure] !== undefined);
  const format = formatter(measure ?? '');
  const axis = (width) => scaleOf(format, 0, Math.max(...shown.map((mode) => mode.metrics[measure])), Math.max(3, Math.floor(width / 130)));
  return section(
    'modes',
    'Off, on and parallel',
    hint,
    measure &&
      figure(
        title(measure),
        null,
        plot(`${title(measure)} by mode: ${shown.map((mode) => `${mode.streaming} ${format(mode.metrics[measure])}`).join(', ')}`, (width) =>
          base(width, {
            height: 40 + 38 * shown.length,
            marginLeft: 70,
            marginRight: 74,
            x: { label: null, ...axis(width) },
            y: { label: null, domain: shown.map((mode) => mode.streaming), padding: 0.25 },
            marks: [
              Plot.gridX({ ...grid, ticks: axis(width).ticks }),
              Plot.barX(shown, { x: (d) => d.metrics[measure], y: 'streaming', fill: (d) => (d.current ? 'var(--c0)' : 'var(--bar)'), rx: 3 }),
              Plot.text(shown, { x: (d) => d.metrics[measure], y: 'streaming', text: (d) => format(d.metrics[measure]), textAnchor: 'start', dx: 6, fill: 'var(--ink)' }),
            ],
          }),
        ),
      ),
    table({
      label: 'The three modes',
      head: ['', ...modes.map((mode) => [mode.streaming, mode.current && h('span', { class: 'badge' }, 'this run')].flatMap((x) => (x ? [x, ' '] : [])))],
      numeric: modes.map((_, i) => i + 1),
      rows: [
        ...keys.map((key) => [title(key), ...modes.map((mode, i) => number(mode.metrics?.[key], key, `comparison.modes.${i}.metrics.${key}`))]),
        ['Bottleneck', ...modes.map((mode) => (mode.error ? h('span', {}, name(mode.error)) : name(mode.bottleneck ?? '')))],
      ],
    }),
    current < 0 && h('p', { class: 'hint' }, 'The subscriptions of this run do not all stream in one and the same mode.'),
  );
}

function stageBox(result, key, path, cpu) {
  const shares = result.stages[key];
  const dot = key.indexOf('.');
  const at = `${path}.stages.${key}`;
  return h(
    'div',
    { class: `stage${key === result.bottleneck ? ' hot' : ''}` },
    h('span', { class: 'name' }, name(short(key.slice(dot + 1), 60))),
    h('span', { class: 'where' }, /\.(network|consumer)$/.test(key) ? 'of slot ' : 'on ', name(short(key.slice(0, dot), 60)), key === result.bottleneck && h('span', {}, ' \u00b7 ', strong(shares.busy < 0.5 ? 'busiest' : 'bottleneck'))),
    h('div', { class: 'bar', role: 'img', 'aria-label': `busy ${percent(shares.busy)}, waiting for input ${percent(shares.starved)}, waiting for output ${percent(shares.blocked)}` }, h('span', { style: { width: `${100 * shares.busy}%`, background: 'var(--busy)' } }), h('span', { style: { width: `${100 * shares.blocked}%`, background: 'var(--blocked)' } })),
    h('dl', {}, h('dt', {}, 'busy'), h('dd', {}, number(shares.busy, percent, `${at}.busy`)), h('dt', {}, 'starved'), h('dd', {}, number(shares.starved, percent, `${at}.starved`)), h('dt', {}, 'blocked'), h('dd', {}, number(shares.blocked, percent, `${at}.blocked`)), cpu !== undefined && [h('dt', {}, 'CPU'), h('dd', {}, number(cpu, seconds, `${path}.metrics.cpu_${key}_s`))]),
  );
}

export function pipeline(result, path = 'result') {
  const keys = Object.keys(result.stages ?? {});
  const rank = (key) => {
    const found = order.indexOf(key.slice(key.indexOf('.') + 1));
    return found < 0 ? order.length : found;
  };
  keys.sort((a, b) => rank(a) - rank(b) || (a < b ? -1 : 1));
  const kind = (key) => key.slice(key.indexOf('.') + 1);
  const columns = [...new Set(keys.map(kind))].map((stage) => keys.filter((key) => kind(key) === stage));
  const box = (key) => stageBox(result, key, path, result.metrics[`cpu_${key}_s`]);
  /** Stages of one kind lie beside each other, not one behind the other; of very many the busiest are shown. */
  const column = (some) => {
    const most = 6;
    const ranked = some.length > most ? [...some].sort((a, b) => result.stages[b].busy - result.stages[a].busy) : some;
    return h('li', {}, h('div', { class: 'column' }, ranked.slice(0, most).map(box), ranked.length > most && h('details', {}, h('summary', {}, `${ranked.length - most} more`), h('div', { class: 'column' }, ranked.slice(most).map(box)))));
  };
  const hint = 'Each box is a process, or several of the same kind, in the direction of the changes; boxes one below the other work side by side. Busy: on a CPU or a disk, or waiting for its turn there. Starved: waiting for input. Blocked: waiting for output.';
  if (keys.length === 0) return section('pipeline', 'The pipeline', hint, empty('This run has no stages.'));
  const colours = legend([
    ['var(--busy)', 'busy'],
    ['var(--blocked)', 'blocked: waits for output'],
    ['var(--starved)', 'starved: waits for input'],
  ]);
  return section('pipeline', 'The pipeline', hint, colours, h('ol', { class: 'pipeline' }, columns.map(column)));
}

export function anatomy(result, path = 'result') {
  const slots = Object.entries(result.subscriptions ?? {}).filter(([, entry]) => entry.lag_anatomy);
  const hint = 'Where the time from the commit record to the applied commit goes. The bar is the mean; quantiles are of each stage by itself, kept to 1 %, and do not add up to those of the whole.';
  if (slots.length === 0) return section('lag', 'Lag anatomy', hint, empty('No transaction was applied, so there is no lag to take apart.'));
  return section(
    'lag',
    'Lag anatomy',
    hint,
    slots.map(([slot, entry]) => {
      const lag = entry.lag_anatomy;
      const at = `${path}.subscriptions.${slot}.lag_anatomy`;
      const bar = (column) => {
        const total = stages.reduce((sum, key) => sum + (lag.stages[key]?.[column] ?? 0), 0);
        const parts = stages.map((key, i) => [key, lag.stages[key]?.[column] ?? 0, `var(--c${i % 9})`]);
        return h('div', { class: 'stack', role: 'img', 'aria-label': parts.map(([key, value]) => `${words(key)} ${seconds(value)}`).join(', ') }, total > 0 && parts.map(([key, value, color]) => h('span', { style: { width: `${(100 * value) / total}%`, background: color }, title: `${words(key)}: ${seconds(value)}` })));
      };
      const columns = ['mean_s', 'p50_s', 'p95_s', 'p99_s'];
      return h(
        'div',
        { class: 'slot' },
        h('h3', {}, 'Slot ', name(slot), ' ', h('span', { class: 'meta' }, '\u00b7 ', number(lag.transactions, count, `${at}.transactions`), lag.transactions === 1 ? ' transaction' : ' transactions')),
        h('div', { class: 'meta' }, 'mean'),
        bar('mean_s'),
        h('div', { class: 'meta' }, 'tail: 99th percentile of each stage'),
        bar('p99_s'),
        table({
          label: `Lag of slot ${slot} by stage`,
          head: ['Stage', 'Mean', 'Median', '95 %', '99 %'],
          numeric: [1, 2, 3, 4],
          rows: [
            ...stages.filter((key) => lag.stages[key]).map((key) => [[h('i', { class: 'key', style: { display: 'inline-block', width: '.8em', height: '.8em', borderRadius: '3px', marginInlineEnd: '.5em', background: `var(--c${stages.indexOf(key) % 9})` } }), words(key)], ...columns.map((column) => number(lag.stages[key][column], seconds, `${at}.stages.${key}.${column}`))]),
            [strong('lag'), ...columns.map((column) => strong(number(lag.lag[column], seconds, `${at}.lag.${column}`)))],
          ],
        }),
      );
    }),
  );
}

/** Adds the lag and the WAL of a pinned answer, whose samples lie at other times and may go on for longer. */
function withPinned(times, charts, pinned) {
  if (!(pinned?.rows.length > 1)) return [times, charts];
  const at = Object.fromEntries(pinned.columns.map((column, i) => [column, i]));
  const its = pinned.rows.map((row) => row[0]);
  const later = its.filter((time) => time > times[times.length - 1]);
  const all = [...times, ...later];
  const wanted = { Lag: ['not applied', (row) => Math.max(0, row[at.wal_lsn] - row[at.replay_lsn])], 'Retained WAL': ['retained_wal_bytes', (row) => row[at.retained_wal_bytes]] };
  let before = 0;
  const value = (time, of) => {
    if (time === all[0]) before = 0;
    while (before + 2 < its.length && its[before + 1] <= time) before++;
    const [from, to] = [its[before], its[before + 1]];
    if (time > to) return null;
    return of(pinned.rows[before]) + ((of(pinned.rows[before + 1]) - of(pinned.rows[before])) * (time - from)) / (to - from || 1);
  };
  return [
    all,
    charts.map((chart) => {
      const longer = chart.series.map((series) => ({ ...series, values: [...series.values, ...later.map(() => null)] }));
      const [label, of] = wanted[chart.title] ?? [];
      return { ...chart, series: of ? [...longer, { label: `${label}, pinned`, values: all.map((time) => value(time, of)), color: '--c7' }] : longer };
    }),
  ];
}

export function timeline(data, only) {
  const hint = 'Drag over a chart to zoom all of them; a double click shows the whole run again. On a focused chart, arrow keys move the cursor and + and \u2212 zoom. With several slots, positions are those of the least advanced one and sizes are sums.';
  const rows = data.timeline?.rows ?? [];
  if (rows.length < 2) return section('timelines', 'Timelines', hint, empty('There is no timeline: `replisim run --out FOLDER` writes one, and the report of that folder shows it.'));
  const at = Object.fromEntries(data.timeline.columns.map((column, i) => [column, i]));
  const column = (key) => rows.map((row) => row[at[key]]);
  const has = (key) => at[key] !== undefined;
  const behind = (key) => rows.map((row) => Math.max(0, row[at.wal_lsn] - row[at[key]]));
  const series = (label, values) => ({ label, values });
  const own = (keys) => keys.filter(has).map((key) => series(key, column(key)));
  const cpu = data.timeline.columns.filter((key) => /^cpu_.*_s$/.test(key) && rows[rows.length - 1][at[key]] > 0);
  // Work is accounted for a batch at a time: over a single sample a process can seem to use more than it has.
  const window = Math.max(1, Math.ceil(rows.length / 100));
  const rate = (key) => rows.map((row, i) => (i === 0 ? null : (row[at[key]] - rows[Math.max(0, i - window)][at[key]]) / Math.max(1e-12, row[0] - rows[Math.max(0, i - window)][0])));
  const averaged = rows[Math.min(window, rows.length - 1)][0] - rows[0][0];
  const charts = [
    { title: 'Lag', hint: 'WAL inserted and not yet sent, applied, or confirmed', series: [series('not sent', behind('sent_lsn')), series('not applied', behind('replay_lsn')), series('not confirmed', behind('confirmed_flush_lsn'))], format: bytes },
    { title: 'LSN cursors', hint: 'Bytes since the start of the WAL', series: own(['wal_lsn', 'sent_lsn', 'replay_lsn', 'confirmed_flush_lsn', 'restart_lsn']), format: bytes },
    { title: 'Reorder buffer, spill files, files of the subscriber', series: own(['reorder_buffer_bytes', 'spill_file_bytes', 'sub_tmp_file_bytes']), format: bytes },
    { title: 'Retained WAL', series: own(['retained_wal_bytes']), format: bytes },
    { title: 'Locks on the subscriber', hint: 'Transactions that hold row locks, and sessions that wait for one', series: own(['sub_row_excl_locks', 'sub_lock_waits']), format: count, stepped: true },
    { title: 'CPU by process', hint: `CPUs at work, averaged over ${seconds(averaged)}. A long piece of work is counted at once and shows as a peak.`, series: cpu.map((key) => series(short(key.slice(4, -2), 50), rate(key))), format: (v) => v.toFixed(2) },
  ].filter((chart) => chart.series.length > 0 && (!only || only.includes(chart.title)));
  return section('timelines', 'Timelines', hint, timelines(...withPinned(column('t_s'), charts, data.pinned)));
}

const lanes = { backend: 'var(--c7)', walsender: 'var(--c1)', leader: 'var(--c2)', worker: 'var(--c0)', lock: 'var(--c4)' };
/** Bars of one transaction: who worked on it from when to when. */
function spans(t, label) {
  const out = [{ row: label, lane: 'backend', from: t.begin_s, to: t.commit_s, what: 'backend: BEGIN to COMMIT' }];
  const several = Object.keys(t.deliveries ?? {}).length > 1;
  for (const [slot, d] of Object.entries(t.deliveries ?? {})) {
    const suffix = several ? ` ${visible(slot)}` : '';
    const lag = t.lag_anatomy?.[slot];
    const worker = d.parallel_worker !== null && d.parallel_worker !== undefined;
    const end = d.applied_s ?? d.sent_to_s ?? d.read_s;
    if (d.read_s !== null) out.push({ row: label, lane: `walsender${suffix}`, from: d.read_s, to: d.sent_to_s ?? end, what: 'walsender: first change read to last row sent' });
    if (d.received_s !== null) out.push({ row: label, lane: `leader${suffix}`, from: d.received_s, to: worker ? Math.min(d.sent_to_s ?? end, end) : end, what: worker ? 'leader: passes rows on' : 'leader: first row received to applied' });
    if (worker && d.first_lock_s !== null) out.push({ row: label, lane: `worker ${d.parallel_worker + 1}${suffix}`, from: d.first_lock_s, to: end, what: 'parallel apply worker: applies' });
    if (d.first_lock_s !== null && d.applied_s !== null) out.push({ row: label, lane: `row locks${suffix}`, from: d.first_lock_s, to: d.applied_s, what: 'row locks held on the subscriber' });
    if (lag === undefined && d.read_s === null) continue;
  }
  return out.filter((span) => span.to >= span.from);
}
const laneColor = (lane) => lanes[lane.startsWith('row') ? 'lock' : lane.split(' ')[0]] ?? 'var(--c7)';

export function gantt(data) {
  const all = data.result.transactions ?? [];
  const hint = 'When backend, walsender, leader and parallel apply workers had a transaction in hand, and how long the subscriber held its row locks.';
  if (all.length === 0) return section('transactions', 'Transactions', hint, empty('The load of this run is simulated in bulk, so there are no single transactions to draw. Its figures are in the tables below.'));
  const size = 12;
  const place = h('div', {});
  let first = 0;
  const label = (t, i) => `${i + 1}. ${short(t.name, 26)}`;
  const show = () => {
    const page = all.slice(first, first + size);
    const bars = page.flatMap((t, i) => spans(t, label(t, first + i)));
    const laneNames = [...new Set(bars.map((bar) => bar.lane))];
    laneNames.sort((a, b) => Object.keys(lanes).indexOf(a.startsWith('row') ? 'lock' : a.split(' ')[0]) - Object.keys(lanes).indexOf(b.startsWith('row') ? 'lock' : b.split(' ')[0]) || (a < b ? -1 : 1));
    const rows = page.flatMap((t, i) => laneNames.filter((lane) => bars.some((bar) => bar.row === label(t, first + i) && bar.lane === lane)).map((lane) => `${label(t, first + i)}\u0000${lane}`));
    place.replaceChildren(
      all.length > size
        ? h(
            'div',
            { class: 'controls' },
            h('button', { type: 'button', disabled: first === 0, onclick: () => ((first = Math.max(0, first - size)), show()) }, 'Earlier ones'),
            h('button', { type: 'button', disabled: first + size >= all.length, onclick: () => ((first += size), show()) }, 'Later ones'),
            h('span', { class: 'meta' }, `${first + 1} to ${Math.min(first + size, all.length)} of ${all.length}`),
          )
        : '',
      legend([
        [lanes.backend, 'backend'],
        [lanes.walsender, 'walsender'],
        [lanes.leader, 'leader apply worker'],
        [lanes.worker, 'parallel apply worker'],
        [lanes.lock, 'row locks held'],
      ]),
      plot(`Transactions over time: ${page.map((t, i) => `${label(t, first + i)} from ${seconds(t.begin_s)} to ${seconds(t.applied_s || t.commit_s)}`).join('; ')}`, (width) =>
        base(width, {
          height: 44 + 17 * rows.length,
          marginLeft: Math.min(210, width * 0.42),
          marginRight: 20,
          x: { label: null, tickFormat: tick(seconds), ticks: Math.max(2, Math.floor(width / 140)) },
          y: {
            label: null,
            domain: rows,
            padding: 0.22,
            tickSize: 0,
            tickFormat: (row) => {
              const [which, lane] = row.split('\u0000');
              const head = rows.findIndex((other) => other.startsWith(`${which}\u0000`));
              return rows[head] === row ? short(`${which} \u00b7 ${lane}`, width < 500 ? 24 : 38) : short(lane, 24);
            },
          },
          marks: [
            Plot.gridX({ ...grid, ticks: Math.max(2, Math.floor(width / 140)) }),
            Plot.barX(bars, { x1: 'from', x2: 'to', y: (d) => `${d.row}\u0000${d.lane}`, fill: (d) => laneColor(d.lane), rx: 2, title: (d) => `${d.what}\n${seconds(d.from)} to ${seconds(d.to)} (${seconds(d.to - d.from)})`, tip: width > 500 }),
          ],
        }),
      ),
      table({
        label: 'Transactions',
        head: ['Transaction', 'Rows', 'Applied', 'BEGIN', 'COMMIT', 'Applied at', 'Locks held'],
        numeric: [1, 2, 3, 4, 5, 6],
        rows: page.map((t, i) => {
          const at = `result.transactions.${first + i}`;
          return [[`${first + i + 1}. `, name(t.name), h('span', { class: 'meta' }, ` xid ${t.xid}`)], ...['rows', 'rows_applied'].map((key) => number(t[key], count, `${at}.${key}`)), ...['begin_s', 'commit_s', 'applied_s', 'lock_hold_s'].map((key) => number(t[key] < 0 ? null : t[key], seconds, `${at}.${key}`))];
        }),
      }),
    );
  };
  show();
  return section('transactions', 'Transactions', hint, place);
}

function slots(result) {
  const all = Object.entries(result.subscriptions ?? {});
  if (all.length === 0) return null;
  const keys = [...new Set(all.flatMap(([, entry]) => Object.keys(entry.metrics)))].sort();
  return section('slots', 'Slots', 'Under the names of pg_stat_replication_slots, pg_replication_slots, pg_stat_replication and pg_stat_subscription_stats where those have them.', table({ label: 'Figures of each slot', head: ['Figure', ...all.map(([slot]) => name(slot))], numeric: all.map((_, i) => i + 1), rows: keys.map((key) => [h('code', {}, name(key)), ...all.map(([slot, entry]) => number(entry.metrics[key], key, `result.subscriptions.${slot}.metrics.${key}`))]) }));
}

function clients(result) {
  if (!result.clients?.length) return null;
  return section(
    'clients',
    'Clients',
    'Each line is a load; where the time of a transaction goes, from the beginning of one to that of the next.',
    result.clients.map((load, i) => {
      const at = `result.clients.${i}`;
      const parts = Object.entries(load.budget_s);
      const total = parts.reduce((sum, [, value]) => sum + value, 0);
      return h(
        'div',
        {},
        h('h3', {}, name(load.name), h('span', { class: 'meta' }, ` \u00b7 ${load.clients} clients`)),
        h('p', {}, strong(number(load.tps, count, `${at}.tps`)), ' transactions a second; latency ', Object.entries(load.latency_s).map(([key, value], j) => [j > 0 && ', ', `${key} `, number(value, seconds, `${at}.latency_s.${key}`)])),
        h('div', { class: 'stack', role: 'img', 'aria-label': parts.map(([key, value]) => `${words(key)} ${seconds(value)}`).join(', ') }, total > 0 && parts.map(([key, value], j) => h('span', { style: { width: `${(100 * value) / total}%`, background: `var(--c${j % 9})` }, title: `${words(key)}: ${seconds(value)}` }))),
        legend(parts.map(([key, value], j) => [`var(--c${j % 9})`, [words(key), ' ', number(value, seconds, `${at}.budget_s.${key}`)]])),
      );
    }),
  );
}

export function metrics(result, path = 'result') {
  const keys = Object.keys(result.metrics).sort();
  const half = result.replications?.half_width_95;
  const rows = () => keys.map((key) => [h('code', {}, name(key)), number(result.metrics[key], key, `${path}.metrics.${key}`), ...(half ? [number(half[key], key, `${path}.replications.half_width_95.${key}`)] : [])]);
  return section('metrics', 'All figures', null, h('details', {}, h('summary', {}, `${keys.length} metrics`), table({ label: 'All metrics', head: ['Metric', 'Value', ...(half ? ['\u00b1 95 %'] : [])], numeric: [1, 2], rows: rows() })));
}

export function guesses(list) {
  const hint = 'What nobody has measured or stated. An answer is as good as these.';
  if (!list?.length) return section('guesses', 'Guesses', hint, empty('No guesses: every input was measured or stated.'));
  return section('guesses', `Guesses (${list.length})`, hint, h('details', { open: list.length < 12 }, h('summary', {}, `${list.length} inputs`), table({ label: 'Guesses', head: ['Input', 'Value', 'Why'], rows: list.map((g) => [h('code', {}, name(g.path)), name(g.value), name(g.reason)]) })));
}

const manifestTitle = (key) => ({ simulated_s: 'simulated time', wall_s: 'took', simulated_s_per_wall_s: 'simulated seconds a second' })[key] ?? words(key);

export function settings(data) {
  const list = data.settings ?? [];
  const manifest = data.manifest;
  const out = [];
  out.push(section('settings', 'Settings', 'The scenario as it was run, with what it extends and what the command line changed.', list.length ? h('details', {}, h('summary', {}, `${list.length} fields`), table({ label: 'Settings', head: ['Field', 'Value'], rows: list.map(([path, value]) => [h('code', {}, name(path)), name(value)]) })) : empty(data.settings_reason ?? 'The scenario file is not at hand.')));
  if (!manifest) out.push(section('manifest', 'Manifest', 'How this came about.', empty('There is no manifest: `replisim run --out FOLDER` writes one.')));
  else {
    const shown = (key, value) => (/_per_wall_s$/.test(key) ? count(value) : formatter(key)(value));
    const text = (key, value) => (typeof value === 'number' ? shown(key, value) : Array.isArray(value) ? (value.every((v) => typeof v !== 'object') ? value.map((v, i) => [i > 0 && ' ', h('code', {}, name(v))]) : `${value.length}`) : value !== null && typeof value === 'object' ? Object.entries(value).map(([k, v], i) => [i > 0 && ', ', h('code', {}, name(k)), ' = ', name(v)]) : name(value === null ? '\u2013' : value));
    out.push(section('manifest', 'Manifest', 'How this came about.', h('dl', { class: 'pairs' }, Object.entries(manifest).map(([key, value]) => [h('dt', {}, manifestTitle(key)), h('dd', {}, text(key, value))]))));
  }
  return out;
}

function sessions(result) {
  const all = Object.entries(result.sessions ?? {});
  if (all.length === 0) return null;
  const keys = [...new Set(all.flatMap(([, entry]) => Object.keys(entry)))].sort();
  return section('sessions', 'Sessions of subscribers', 'What clients of the subscriber met.', table({ label: 'Sessions', head: ['Figure', ...all.map(([key]) => name(key))], numeric: all.map((_, i) => i + 1), rows: keys.map((key) => [h('code', {}, name(key)), ...all.map(([session, entry]) => number(entry[key], key, `result.sessions.${session}.${key}`))]) }));
}

export function runPage(data) {
  const { result } = data;
  return {
    kicker: 'replisim report \u00b7 a run',
    heading: result.scenario,
    meta: [`seed ${result.seed}`, result.replications && `${result.replications.count} replications`, `replisim ${result.version}`, `fingerprint ${result.fingerprint}`],
    lead: [answer(result), tiles(result), notices(result)],
    sections: [comparison(data), pipeline(result), anatomy(result), timeline(data), gantt(data), clients(result), sessions(result), slots(result), metrics(result), guesses(result.guesses), settings(data)],
  };
}
