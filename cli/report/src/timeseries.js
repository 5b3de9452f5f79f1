// Timelines by uPlot: they zoom together, share a cursor, and follow light, dark and print.
import uPlot from 'uplot';
import 'uplot/dist/uPlot.min.css';
import { h, figure, uid, empty } from './dom.js';
import { tick, bytes, count, seconds } from './format.js';

const css = (variable) => getComputedStyle(document.documentElement).getPropertyValue(variable).trim();

/** Steps an axis may take: bytes in powers of two, counts in whole numbers. */
const steps = new Map([
  [bytes, Array.from({ length: 50 }, (_, i) => 2 ** i)],
  [count, Array.from({ length: 15 }, (_, i) => [1, 2, 5].map((digit) => digit * 10 ** i)).flat()],
]);

/**
 * Charts one under the other over the same time. `charts` have {title, hint, series: [{label, values}], format, stepped}.
 * Zoom: drag, the buttons, or + and - on a chart; a double click, "whole run" or 0 shows all again. The cursor of all
 * charts follows the pointer, or the arrow keys on a chart.
 */
export function timelines(times, charts) {
  const sync = uPlot.sync(uid('time'));
  const first = times[0];
  const last = times[times.length - 1];
  let range = [first, last];
  const plots = [];
  let moving = false;

  const show = (from, to) => {
    const width = Math.min(Math.max(to - from, (last - first) / 1000), last - first);
    const start = Math.max(first, Math.min(from, last - width));
    range = [start, start + width];
    moving = true;
    for (const entry of plots) entry.plot?.setScale('x', { min: range[0], max: range[1] });
    moving = false;
    for (const button of whole) button.disabled = range[0] === first && range[1] === last;
  };
  const zoom = (factor) => {
    const middle = (range[0] + range[1]) / 2;
    const half = ((range[1] - range[0]) / 2) * factor;
    show(middle - half, middle + half);
  };
  const pan = (part) => show(range[0] + part * (range[1] - range[0]), range[1] + part * (range[1] - range[0]));
  const whole = [h('button', { type: 'button', disabled: true, onclick: () => show(first, last) }, 'Whole run')];
  const controls = h(
    'div',
    { class: 'controls', role: 'group', 'aria-label': 'Zoom of all timelines' },
    h('button', { type: 'button', onclick: () => zoom(0.5) }, 'Zoom in'),
    h('button', { type: 'button', onclick: () => zoom(2) }, 'Zoom out'),
    h('button', { type: 'button', onclick: () => pan(-0.5), 'aria-label': 'Earlier' }, '\u2190'),
    h('button', { type: 'button', onclick: () => pan(0.5), 'aria-label': 'Later' }, '\u2192'),
    whole,
  );

  const read = h('div', { class: 'unseen', role: 'status', 'aria-live': 'polite' });
  /** Moves the cursor of all charts to a sample, which is brought into view. */
  const point = (entry, index) => {
    const at = times[index];
    if (at < range[0] || at > range[1]) show(at - (range[1] - range[0]) / 2, at + (range[1] - range[0]) / 2);
    entry.plot.setCursor({ left: entry.plot.valToPos(at, 'x'), top: 10 }, true, true);
    read.textContent = `${seconds(at)}: ${entry.chart.series.map((series) => `${series.label} ${series.values[index] === null ? 'not known' : entry.chart.format(series.values[index])}`).join(', ')}`;
  };
  const pressed = (entry, event) => {
    if (!entry.plot || event.ctrlKey || event.altKey || event.metaKey) return;
    const inView = times.filter((at) => at >= range[0] && at <= range[1]).length;
    const now = entry.plot.cursor.idx ?? times.findIndex((at) => at >= (range[0] + range[1]) / 2);
    const step = Math.max(1, Math.round(inView / (event.shiftKey ? 10 : 100)));
    const moves = { ArrowLeft: now - step, ArrowRight: now + step, Home: 0, End: times.length - 1 };
    if (event.key in moves) point(entry, Math.max(0, Math.min(times.length - 1, moves[event.key])));
    else if (event.key === '+' || event.key === '=') zoom(0.5);
    else if (event.key === '-') zoom(2);
    else if (event.key === '0') show(first, last);
    else return;
    event.preventDefault();
  };

  const draw = (entry) => {
    const { chart, place } = entry;
    const width = Math.floor(place.clientWidth);
    if (width < 50) return;
    entry.plot?.destroy();
    const axis = { stroke: css('--soft'), grid: { stroke: css('--grid'), width: 1 }, ticks: { stroke: css('--line'), width: 1 }, font: '12px system-ui, sans-serif' };
    entry.plot = new uPlot(
      {
        width,
        height: 190,
        cursor: { points: { size: 7 }, sync: { key: sync.key, setSeries: false }, drag: { x: true, y: false } },
        scales: { x: { time: false, min: range[0], max: range[1] }, y: { range: (_, low, high) => [Math.min(0, low ?? 0), high > 0 ? high * 1.06 : 1] } },
        axes: [
          { ...axis, values: (_, ticks) => ticks.map((at) => `${+at.toPrecision(6)} s`) },
          { ...axis, size: 78, incrs: steps.get(chart.format), values: (_, ticks) => ticks.map(tick(chart.format)) },
        ],
        series: [
          { label: 'time', value: (_, value) => (value === null || value === undefined ? '\u2013' : seconds(value)) },
          ...chart.series.map((series, i) => ({
            label: series.label,
            stroke: css(series.color ?? `--c${i % 9}`),
            width: 1.7,
            dash: series.color ? [10, 4] : i >= 9 ? [6, 3] : i % 3 === 1 ? [7, 3] : i % 3 === 2 ? [2, 3] : undefined,
            paths: chart.stepped ? uPlot.paths.stepped({ align: 1 }) : undefined,
            points: { show: false },
            value: (_, value) => (value === null || value === undefined ? '\u2013' : chart.format(value)),
          })),
        ],
        hooks: {
          setScale: [
            (plot, key) => {
              if (key === 'x' && !moving && plot.scales.x.min !== null && (plot.scales.x.min !== range[0] || plot.scales.x.max !== range[1])) show(plot.scales.x.min, plot.scales.x.max);
            },
          ],
        },
      },
      [times, ...chart.series.map((series) => series.values)],
      place,
    );
    entry.width = width;
  };

  const figures = charts.map((chart) => {
    const labels = chart.series.map((series) => series.label).join(', ');
    if (chart.series.every((series) => series.values.every((value) => !value))) return figure(chart.title, chart.hint, empty(`Zero throughout: ${labels}.`));
    const place = h('div', { class: 'chart', role: 'application', 'aria-roledescription': 'chart', tabindex: '0', 'aria-label': `${chart.title}: ${labels} over time. Arrow keys move the cursor, plus and minus zoom, 0 shows the whole run.`, onkeydown: (event) => pressed(entry, event) });
    const entry = { chart, place, width: 0 };
    plots.push(entry);
    new ResizeObserver(() => {
      if (Math.floor(place.clientWidth) !== entry.width) draw(entry);
    }).observe(place);
    return figure(chart.title, chart.hint, place);
  });
  const again = () => plots.forEach(draw);
  const scheme = matchMedia('(prefers-color-scheme: dark)');
  scheme.addEventListener('change', again);
  matchMedia('print').addEventListener('change', again);
  return h('div', {}, controls, read, figures);
}
