// Charts that stand still, drawn by Observable Plot as SVG: they take the page's colours and print well.
import * as Plot from '@observablehq/plot';
import { h, short } from './dom.js';

export { Plot };

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

export const shortTick = (most) => (text) => short(text, most);
export const grid = { stroke: 'var(--grid)', strokeOpacity: 1 };
