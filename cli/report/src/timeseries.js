// Timelines by uPlot: they zoom together, share a cursor, and follow light, dark and print.
import uPlot from 'uplot';
import 'uplot/dist/uPlot.min.css';
import { h, figure, uid } from './dom.js';
import { tick } from './format.js';

const css = (variable) => getComputedStyle(document.documentElement).getPropertyValue(variable).trim();

/**
 * Charts one under the other over the same time. `charts` have {title, hint, series: [{label, values, stepped}], format}.
 * Zoom: drag, or the buttons; a double click or "whole run" shows all again.
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
        cursor: { sync: { key: sync.key, setSeries: false }, drag: { x: true, y: false } },
        scales: { x: { time: false, min: range[0], max: range[1] }, y: { range: (_, low, high) => [Math.min(0, low ?? 0), high > 0 ? high * 1.06 : 1] } },
        axes: [
          { ...axis, values: (_, ticks) => ticks.map((at) => `${+at.toPrecision(6)} s`) },
          { ...axis, size: 78, values: (_, ticks) => ticks.map(tick(chart.format)) },
        ],
        series: [
          { label: 'time', value: (_, value) => (value === null || value === undefined ? '\u2013' : `${value.toFixed(3)} s`) },
          ...chart.series.map((series, i) => ({
            label: series.label,
            stroke: css(`--c${i % 9}`),
            width: 1.7,
            dash: i >= 9 ? [6, 3] : i % 3 === 1 ? [7, 3] : i % 3 === 2 ? [2, 3] : undefined,
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
    const place = h('div', { class: 'chart', role: 'img', 'aria-label': `${chart.title}: ${chart.series.map((series) => series.label).join(', ')} over time` });
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
  return h('div', {}, controls, figures);
}
