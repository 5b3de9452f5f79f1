// Charts that stand still, drawn by Observable Plot as SVG: they take the page's colours and print well.
import * as Plot from '@observablehq/plot';
import { h } from './dom.js';
import { bytes, byteTicks, count, tick } from './format.js';

export { Plot };

/** How many letters of a label fit into a margin. */
export const fitting = (margin) => Math.max(6, Math.floor((margin - 12) / 6.6));

/** A place for a chart that is drawn again when its width changes. `draw(width)` gives an element or null. */
export function plot(label, draw) {
  const place = h('div', { class: 'plot', role: 'img', 'aria-label': label });
  let drawn = 0;
  const render = () => {
    const width = Math.floor(place.clientWidth);
    if (width < 50 || width === drawn) return;
    drawn = width;
    const svg = draw(width);
    place.replaceChildren(...(svg ? [svg] : []));
    for (const element of place.querySelectorAll('svg')) element.setAttribute('aria-hidden', 'true');
  };
  new ResizeObserver(render).observe(place);
  place.redraw = () => {
    drawn = 0;
    render();
  };
  return place;
}

export const base = (width, options) =>
  Plot.plot({
    width,
    marginLeft: Math.min(150, width * 0.3),
    style: { background: 'none', color: 'var(--ink)', fontSize: '12px', fontFamily: 'inherit' },
    ...options,
    marks: options.marks.filter(Boolean),
  });

/** The options of an axis of a metric whose values reach from `low` to `high`. Bytes go up in powers of two. */
export function scaleOf(format, low, high, most = 6) {
  const ticks = format === bytes ? byteTicks(low, high, most) : format === count && high - low <= most && high - low >= 1 ? Array.from({ length: Math.floor(high) - Math.ceil(low) + 1 }, (_, i) => Math.ceil(low) + i) : most;
  return { tickFormat: tick(format), ticks };
}

export const grid = { stroke: 'var(--grid)', strokeOpacity: 1 };
