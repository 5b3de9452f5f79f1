// Entry of the report: reads what is embedded in the page and draws what it is.
import './style.css';
import { h, name } from './dom.js';
import { runPage } from './run.js';
import { sweepPage } from './sweep.js';
import { validationPage, calibrationPage } from './validation.js';

const pages = { run: runPage, sweep: sweepPage, validation: validationPage, calibration: calibrationPage };

const data = JSON.parse(document.getElementById('data').textContent);
const page = pages[data.kind](data);
const sections = page.sections.flat(Infinity).filter(Boolean);

// What is folded on the screen is open on paper.
const folded = [];
addEventListener('beforeprint', () => {
  folded.splice(0, folded.length, ...document.querySelectorAll('details:not([open])'));
  for (const element of folded) element.open = true;
});
addEventListener('afterprint', () => folded.forEach((element) => (element.open = false)));

document.body.replaceChildren(
  h('a', { class: 'skip', href: '#main' }, 'To the content'),
  h(
    'div',
    { class: 'wrap' },
    h('header', { class: 'top' }, h('p', { class: 'kicker' }, page.kicker), h('h1', { class: Array.from(String(page.heading)).length > 120 ? 'verylong' : null }, name(page.heading)), h('p', { class: 'meta' }, page.meta.filter(Boolean).map((text, i) => [i > 0 && ' \u00b7 ', name(text)]))),
    h('nav', { class: 'toc', 'aria-label': 'Sections' }, h('ul', {}, sections.map((section) => h('li', {}, h('a', { href: `#${section.id}` }, section.querySelector('h2').textContent.replace(/ \(\d+\)$/, '')))))),
    h('main', { id: 'main', tabindex: '-1' }, h('div', { id: 'answer' }, page.lead), sections),
    h('footer', { class: 'foot' }, 'Made by replisim. This page is one file: it loads nothing and sends nothing.'),
  ),
);
