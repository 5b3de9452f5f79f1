// Numbers as people read them. What is shown is rounded; the exact value stands in the element.
import { h } from './dom.js';

const group = (text) => text.replace(/\B(?=(\d{3})+(?!\d))/g, ',');

function digits(value, most) {
  const size = Math.abs(value);
  const places = size >= 1000 || Number.isInteger(value) ? 0 : size >= 100 ? Math.min(most, 1) : size >= 10 ? Math.min(most, 2) : most;
  const [whole, rest] = value.toFixed(places).split('.');
  return group(whole) + (rest ? `.${rest}` : '');
}

export function seconds(value) {
  const size = Math.abs(value);
  if (size === 0) return '0 s';
  if (size < 1e-6) return `${(value * 1e9).toFixed(0)} ns`;
  if (size < 1e-3) return `${digits(value * 1e6, 2)} \u00b5s`;
  if (size < 1) return `${digits(value * 1e3, 2)} ms`;
  if (size < 7200) return `${digits(value, 3)} s`;
  if (size < 2 * 86400) return `${digits(value / 3600, 2)} h`;
  return `${digits(value / 86400, 2)} d`;
}

export function bytes(value) {
  let size = Math.abs(value);
  if (size === 1) return `${value} byte`;
  for (const unit of ['bytes', 'kB', 'MB', 'GB', 'TB']) {
    if (size < 1024 || unit === 'TB') return `${value < 0 ? '-' : ''}${unit === 'bytes' ? group(size.toFixed(0)) : digits(size, 1)} ${unit}`;
    size /= 1024;
  }
  return '';
}

/** Round numbers of bytes for an axis from `low` to `high`: multiples of a power of two. */
export function byteTicks(low, high, most = 6) {
  const step = 2 ** Math.max(0, Math.ceil(Math.log2((high - low) / most)));
  const out = [];
  for (let at = Math.ceil(low / step) * step; at <= high; at += step) out.push(at);
  return out;
}

/** Without zeros that say nothing, for axes. */
export const tick = (format) => (value) => format(value).replace(/(\.\d*?)0+(?= |$)/, '$1').replace(/\.(?= |$)/, '');

export const count = (value) => (Number.isInteger(value) ? group(String(value)) : Math.abs(value) >= 1e15 || (value !== 0 && Math.abs(value) < 1e-3) ? value.toPrecision(4) : digits(value, 3));
export const percent = (value) => `${(100 * value).toFixed(1)} %`;

/** How a metric is shown, by the unit its name ends with. */
export function formatter(metric) {
  if (/_ns$/.test(metric)) return (value) => seconds(value / 1e9);
  if (/(^|_)s$|_s_(mean|p\d+|max|min|total)$|(^|\.)(mean|p50|p95|p99)_s$/.test(metric)) return seconds;
  if (/bytes/.test(metric)) return bytes;
  if (/(_share|utilisation|utilization)$/.test(metric)) return percent;
  return count;
}

/** A number on the page: rounded for the eye, exact in `value`, and where in the JSON it comes from (in `unit`). */
export function number(value, metric, path, unit) {
  if (value === null || value === undefined || Number.isNaN(value)) return h('span', { class: 'num', 'aria-label': 'not known' }, '\u2013');
  const text = (typeof metric === 'function' ? metric : formatter(metric))(value);
  return h('data', { class: 'num', value: String(value), 'data-path': path ?? null, 'data-unit': unit ?? null, title: String(value) }, text);
}

const titles = {
  total_s: 'All applied after',
  commit_s: 'COMMIT returned after',
  statement_s: 'Last statement ended after',
  lock_hold_s: 'Rows locked on the subscriber',
  lag_s_mean: 'Lag, mean',
  lag_s_p95: 'Lag, 95th percentile',
  lag_s_p99: 'Lag, 99th percentile',
  lag_s_max: 'Lag, longest',
  tps: 'Transactions a second',
  retained_wal_bytes: 'WAL retained at the end',
  peak_spill_file_bytes: 'Largest spill files',
  peak_sub_tmp_file_bytes: 'Largest files of streamed changes',
  spill_bytes: 'Spilled',
  stream_bytes: 'Streamed',
  sent_bytes: 'Sent',
  wal_bytes: 'WAL written',
};
export const title = (metric) => titles[metric] ?? metric;
