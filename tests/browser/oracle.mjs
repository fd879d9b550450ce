// What a viewer has to show of a trace, told from lists of its events that retime writes in
// another way: `retime order --format jsonl` and `retime correct --merged`.

import {readFileSync} from 'node:fs';
import {join} from 'node:path';

import {retime} from './tools.mjs';

// The events of a trace by location, with their times as recorded.
export function recorded(trace, cwd, code) {
  return events(retime(['order', trace, '--format', 'jsonl', '-q'], {cwd, code}));
}

// The same with corrected times, and `raw_time` as recorded.
export function corrected(trace, cwd) {
  const file = `${trace}.merged`;
  retime(['correct', trace, '--merged', '-o', file, '-q'], {cwd});
  return events(readFileSync(join(cwd, file), 'utf8'));
}

function events(text) {
  const [header, ...lines] = text.trimEnd().split('\n').map((line) => JSON.parse(line));
  const locations = new Map(header.locations.map((id) => [id, []]));
  for (const line of lines) locations.get(line.location).push(line);
  return {rate: header.ticks_per_second, locations};
}

// The earliest of times.
export function origin(lists) {
  const times = lists.flatMap(({locations}) => [...locations.values()].flat());
  return times.reduce((least, {time}) => Math.min(least, time), Infinity);
}

// The slices of all locations as [location, begin, end, name], by nanoseconds after an origin;
// of traces whose enters and leaves fit together.
export function slices({rate, locations}, origin) {
  const nanoseconds = (time) => Math.floor(((time - origin) * 1e9) / rate);
  const found = [];
  for (const [location, events] of locations) {
    const open = [];
    for (const {kind, region, time} of events) {
      if (kind === 'Enter') {
        open.push([location, nanoseconds(time), undefined, region]);
      } else if (kind === 'Leave') {
        const slice = open.pop();
        slice[2] = nanoseconds(time);
        found.push(slice);
      }
    }
    if (open.length > 0) throw new Error(`location ${location} leaves no ${open[0][3]}`);
  }
  return found.sort(inOrder);
}

// Locations, then times, then names.
export function inOrder(a, b) {
  return a[0] - b[0] || a[1] - b[1] || b[2] - a[2] || (a[3] < b[3] ? -1 : 1);
}

// What events are called at which arrows can end.
export const ENDS = ['MpiIsend', 'MpiIrecv', 'MpiCollectiveBegin', 'MpiCollectiveEnd'];

// All arrows as [cause, effect], each of these as [location, nanoseconds after an origin]: each
// message, and to each end of a collective operation the latest begin of the others.
export function arrows({rate, locations}, origin) {
  const place = ({location, time}) => [location, Math.floor(((time - origin) * 1e9) / rate)];
  const all = [...locations.values()].flat();
  const sends = new Map(all.filter(({type}) => type === 'send').map((it) => [it.message, it]));
  const received = all.filter(({type, message}) => type === 'receive' && sends.has(message));
  const found = received.map((it) => [place(sends.get(it.message)), place(it)]);
  const begins = new Map();
  for (const it of all.filter(({type}) => type === 'collective-begin')) {
    if (it.class !== 'all-to-all') throw new Error(`not known here: ${it.class}`);
    begins.set(it.collective, [...(begins.get(it.collective) ?? []), it]);
  }
  for (const it of all.filter(({type}) => type === 'collective-end')) {
    const others = begins.get(it.collective).filter(({location}) => location !== it.location);
    const latest = others.reduce((one, other) => (other.time > one.time ? other : one));
    found.push([place(latest), place(it)]);
  }
  return found;
}
