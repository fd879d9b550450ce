// What `otf2-print` says of the events of an archive.

import {spawnSync} from 'node:child_process';

// The events of each location in their order: their times and what is said of them.
export function judged(anchor) {
  const {stdout} = spawnSync('otf2-print', [anchor], {encoding: 'utf8', maxBuffer: 1 << 30});
  const events = new Map();
  for (const line of stdout.split('\n')) {
    const found = line.match(/^([A-Z][A-Z0-9_]+) +(\d+) +(\d+) *(.*)$/);
    if (!found) continue;
    const [, kind, location, time, said] = found;
    if (!events.has(location)) events.set(location, []);
    events.get(location).push({kind, time, said});
  }
  return (location, event) => events.get(String(location))[event];
}

// A field of what is said, such as `Tag: 3`.
export const field = (said, name) => said.match(new RegExp(`${name}: "?([^",]*)"?`))?.[1] ?? null;
