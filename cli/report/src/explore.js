// Entry of the explorer: settings on one side, answers of the simulator on the other.
import './style.css';
import { h, name, section, short, empty } from './dom.js';
import { answer, tiles, notices, comparison, pipeline, anatomy, timeline, metrics } from './run.js';

const start = JSON.parse(document.getElementById('data').textContent);
const token = new URLSearchParams(location.search).get('token') ?? '';
const page = crypto.getRandomValues(new Uint32Array(2)).join('-');

const chosen = new Map(); // path -> text, where it differs from the file
let baseline = null;
let last = null;
let requests = 0;
let running = null;

const status = h('p', { class: 'status', role: 'status', 'aria-live': 'polite' });
const main = h('div', { id: 'main', tabindex: '-1' }, empty('Simulating \u2026'));
const modes = h('div', {});
const fields = h('div', { class: 'fields' });

async function ask(what, body, signal) {
  const response = await fetch(`/${what}?token=${encodeURIComponent(token)}`, { method: 'POST', headers: { 'Content-Type': 'application/json' }, body: JSON.stringify(body), signal });
  const value = await response.json();
  if (!response.ok && !value.error && !value.superseded) throw new Error(`the simulator answered ${response.status}`);
  return value;
}

const overrides = () => [...chosen].map(([path, value]) => ({ path, value }));

/** Asks for an answer to the settings as they are; what was asked before is forgotten. */
async function update() {
  running?.abort();
  const controller = new AbortController();
  running = controller;
  const n = ++requests;
  const from = performance.now();
  status.textContent = 'Simulating \u2026';
  try {
    const value = await ask('answer', { page, n, set: overrides() }, controller.signal);
    if (value.superseded || n !== requests) return;
    document.documentElement.dataset.answer = String(n);
    document.documentElement.dataset.answerMs = String(performance.now() - from);
    if (value.error) return problem(value.error);
    last = value;
    show();
    status.textContent = `Answered in ${Math.round(performance.now() - from)} ms`;
    const others = await ask('modes', { page, n, set: overrides() }, controller.signal);
    if (others.superseded || n !== requests) return;
    modes.replaceChildren(comparison({ comparison: others.error ? { modes: [], reason: others.error } : others }));
  } catch (error) {
    if (error.name !== 'AbortError' && n === requests) problem(error instanceof TypeError ? 'The simulator does not answer: has `replisim explore` ended?' : String(error.message ?? error));
  }
}

function problem(text) {
  status.textContent = '';
  main.replaceChildren(h('div', { class: 'callout bad', role: 'alert' }, h('p', {}, name(text, { style: 'white-space: pre-wrap' }))));
}

function show() {
  const { result } = last;
  const data = { result, timeline: last.timeline, pinned: baseline?.timeline };
  main.replaceChildren(
    answer(result),
    tiles(result, 'result', baseline?.result),
    ...notices(result),
    pipeline(result),
    modes,
    timeline(data, ['Lag', 'Reorder buffer, spill files, files of the subscriber', 'Retained WAL', 'Locks on the subscriber', 'CPU by process']),
    anatomy(result),
    metrics(result),
  );
  unpin.disabled = baseline === null;
}

function set(path, value, original) {
  if (value === original) chosen.delete(path);
  else chosen.set(path, value);
  update();
}

const readable = (text) => name(/^\d{5,}$/.test(text) ? text.replace(/\B(?=(\d{3})+$)/g, ',') : text);

function field(knob, i) {
  const id = `knob-${i}`;
  const where = h('code', { class: 'meta' }, name(short(knob.path, 80)));
  if (knob.kind === 'choice')
    return h(
      'div',
      { class: 'field' },
      h('label', { for: id }, h('span', {}, name(short(knob.label, 80)))),
      h('select', { id, 'data-knob': knob.path, onchange: (event) => set(knob.path, event.target.value, knob.value) }, knob.values.map((value) => h('option', { value, selected: value === knob.value }, value))),
      where,
    );
  const now = h('b', {}, readable(knob.value));
  const slider = h('input', {
    id,
    type: 'range',
    min: 0,
    max: knob.values.length - 1,
    step: 1,
    value: knob.values.indexOf(knob.value),
    'data-knob': knob.path,
    'aria-valuetext': knob.value,
    oninput: (event) => {
      const value = knob.values[Number(event.target.value)];
      now.replaceChildren(readable(value));
      event.target.setAttribute('aria-valuetext', value);
      set(knob.path, value, knob.value);
    },
  });
  return h('div', { class: 'field' }, h('label', { for: id }, h('span', { class: 'now' }, h('span', {}, name(short(knob.label, 60))), now)), slider, where);
}

function drawFields() {
  fields.replaceChildren(...(start.knobs.length ? start.knobs.map(field) : [empty('This scenario has no setting that this page knows how to vary.')]));
}

const shell = (text) => (/^[\w@%+=:,./-]+$/.test(text) ? text : `'${text.replaceAll("'", "'\\''")}'`);
const command = () => ['replisim run', shell(start.file), ...[...start.fixed, ...[...chosen].map(([path, value]) => `${path}=${value}`)].map((text) => `--set ${shell(text)}`), ...(start.seed === 1 ? [] : [`--seed ${start.seed}`])].join(' ');

const copied = h('textarea', { readonly: true, rows: 8, class: 'mono', 'aria-label': 'Copied text', hidden: true, style: { width: '100%' } });
async function copy(text) {
  copied.hidden = false;
  copied.value = text;
  try {
    await navigator.clipboard.writeText(text);
    status.textContent = 'Copied.';
  } catch {
    copied.focus();
    copied.select();
    status.textContent = 'Selected: copy it with the keyboard.';
  }
}
async function copyYaml() {
  const value = await ask('yaml', { page, n: requests, set: overrides() });
  if (value.error) problem(value.error);
  else copy(value.yaml);
}

const unpin = h('button', { type: 'button', disabled: true, onclick: () => ((baseline = null), show()) }, 'Unpin');
const buttons = h(
  'div',
  { class: 'controls' },
  h('button', { type: 'button', class: 'primary', onclick: () => last && ((baseline = last), show(), (status.textContent = 'Pinned: figures now say how they differ from this answer, and charts keep its lag.')) }, 'Pin this answer'),
  unpin,
  h('button', { type: 'button', onclick: () => (chosen.clear(), drawFields(), update()) }, 'Reset'),
  h('button', { type: 'button', onclick: copyYaml }, 'Copy as YAML'),
  h('button', { type: 'button', onclick: () => copy(command()) }, 'Copy as command'),
);

drawFields();
document.body.replaceChildren(
  h('a', { class: 'skip', href: '#main' }, 'To the answer'),
  h(
    'div',
    { class: 'wrap wide' },
    h('header', { class: 'top' }, h('p', { class: 'kicker' }, 'replisim explore'), h('h1', { class: Array.from(start.scenario).length > 120 ? 'verylong' : null }, name(start.scenario)), h('p', { class: 'meta' }, name(start.file))),
    h('div', { class: 'explore' }, h('aside', { class: 'side', 'aria-label': 'Settings' }, section('settings', 'Settings', null, fields, buttons, copied, status)), h('main', {}, main)),
    h('footer', { class: 'foot' }, 'Answers come from the simulator on this computer; nothing leaves it.'),
  ),
);
update();
