// Builds elements. Text goes in as text and never as markup: names in a scenario may be anything.
const SVG = 'http://www.w3.org/2000/svg';

function fill(element, attributes, children) {
  for (const [name, value] of Object.entries(attributes ?? {})) {
    if (value === undefined || value === null || value === false) continue;
    if (name.startsWith('on')) element.addEventListener(name.slice(2), value);
    else if (name === 'style' && typeof value === 'object') Object.assign(element.style, value);
    else element.setAttribute(name, value === true ? '' : String(value));
  }
  element.append(...children.flat(Infinity).filter((child) => child !== null && child !== undefined && child !== false));
  return element;
}

export const h = (tag, attributes, ...children) => fill(document.createElement(tag), attributes, children);
export const s = (tag, attributes, ...children) => fill(document.createElementNS(SVG, tag), attributes, children);

/** A name that somebody else chose: of any length, in any direction of writing. Lines break after its _, . and / first. */
export const name = (text, attributes) => h('bdi', { dir: 'auto', ...attributes }, visible(text).slice(0, mostBreaks).split(/(?<=[_./](?=\w))/).flatMap((part, i) => (i > 0 ? [h('wbr'), part] : part)), visible(text).slice(mostBreaks));
const mostBreaks = 400;

/** Control characters, and those that turn the direction of what follows, as visible marks. */
export function visible(text) {
  return String(text).replace(/[\u0000-\u0008\u000b-\u001f\u007f\u200e\u200f\u202a-\u202e\u2066-\u2069]/g, '\ufffd');
}

/** As much of a name as a label has room for. */
export function short(text, most = 40) {
  const all = Array.from(visible(text));
  return all.length > most ? `${all.slice(0, most - 1).join('')}\u2026` : all.join('');
}

/** The same with beginning and end kept: what sets names apart may be at either. */
export function middle(text, most) {
  const all = Array.from(visible(text));
  const end = Math.floor((most - 1) * 0.55);
  return all.length > most ? `${all.slice(0, most - 1 - end).join('')}\u2026${all.slice(all.length - end).join('')}` : all.join('');
}

let ids = 0;
export const uid = (prefix) => `${prefix}-${++ids}`;

export function section(id, title, hint, ...children) {
  return h('section', { class: 'card', id, 'aria-labelledby': `${id}-title` }, h('h2', { id: `${id}-title` }, title), hint && h('p', { class: 'hint' }, hint), children);
}

export const empty = (text) => h('p', { class: 'empty' }, text);

/** A column of text is never narrower than its longest text, or than so many characters: below that the table scrolls. */
const narrowest = 15;

/** A table; cells are nodes or text, `numeric` the columns that hold numbers. The first cell of a row is its head. */
export function table({ caption, head, rows, numeric = [], current = -1, label }) {
  const align = (i) => (numeric.includes(i) ? 'num' : null);
  const body = rows.map((row, r) =>
    h('tr', { class: r === current ? 'current' : null }, row.map((cell, i) => (i === 0 ? h('th', { scope: 'row', class: align(i) }, cell) : h('td', { class: align(i) }, cell)))),
  );
  const width = (i) => {
    if (numeric.includes(i)) return undefined;
    const longest = body.reduce((most, row) => Math.max(most, row.children[i]?.textContent.length ?? 0), typeof head[i] === 'string' ? head[i].length : head[i]?.textContent?.length ?? 0);
    return { minWidth: `calc(${Math.min(longest, narrowest)}ch + 1.2rem)` };
  };
  return h(
    'div',
    { class: 'scroll', tabindex: '0', role: 'region', 'aria-label': label ?? caption ?? 'table' },
    h(
      'table',
      {},
      caption && h('caption', {}, caption),
      h('thead', {}, h('tr', {}, head.map((cell, i) => h('th', { scope: 'col', class: align(i), style: width(i) }, cell)))),
      h('tbody', {}, body),
    ),
  );
}

export const legend = (entries) => h('ul', { class: 'legend' }, entries.map(([color, text]) => h('li', {}, h('i', { style: { background: color } }), text)));

export function figure(caption, hint, ...children) {
  return h('figure', {}, h('figcaption', {}, caption, hint && h('div', { class: 'hint' }, hint)), children);
}

export function choice(label, options, value, changed) {
  const select = h('select', { onchange: (event) => changed(event.target.value) }, options.map(([key, text]) => h('option', { value: key, selected: key === value }, short(text, 70))));
  return h('label', {}, label, select);
}
