// Traces of Perfetto that are merged: their packets are carried over, and Perfetto's own trace
// processor finds what it finds in each of the corrected files alone, row by row, but for what is
// added, in files that use the same numbers for everything.

import assert from 'node:assert/strict';
import {mkdirSync, readdirSync, writeFileSync} from 'node:fs';
import {join} from 'node:path';
import {after, before, test} from 'node:test';

import {CALLS, calls} from './calls.mjs';
import {Perfetto} from './perfetto.mjs';
import {retime, scratch} from './tools.mjs';

let perfetto;
before(async () => (perfetto = await Perfetto.start()));
after(() => perfetto?.stop());

const FILES = 3;

function write(cwd) {
  mkdirSync(join(cwd, 'run'));
  for (let file = 0; file < FILES; file++) {
    writeFileSync(join(cwd, 'run', `part${file}.pftrace`), calls(file));
  }
}

const TROUBLE = "select name, value from stats where severity in ('error', 'data_loss') and value > 0";
const OWN = "ifnull(slice.category, '') != 'retime'";

// All that is said of slices, counters and arrows, with times from that of the first slice on; names
// of processes and of tracks of their own as they were before a file was named in front of them.
// Queues of GPUs have other numbers, and clocks of sequences are told without these.
async function seen(path) {
  const {query, close} = await perfetto.open(path);
  const [[first]] = await query(`select min(ts) from slice where ${OWN}`);
  const plain = (name) => name?.replace(/^part\d: /, '').replace(/ \d+$/, '');
  const slices = await query(`
    select slice.id, slice.name, category, depth, slice.ts - ${first}, dur, track.name, thread.tid != process.pid,
      process.name, slice.arg_set_id, process.pid, track.id
    from slice join track on track.id = slice.track_id
    left join thread_track on thread_track.id = slice.track_id
    left join thread using (utid) left join process using (upid) where ${OWN}`);
  const args = new Map();
  for (const [set, key, value] of await query(`
    select arg_set_id, flat_key, display_value from args where flat_key not like '%upid%' and flat_key != 'hw_queue_id' order by 1, 2, 3`)) {
    args.set(set, [...(args.get(set) ?? []), [key, value]]);
  }
  const found = {
    trouble: await query(TROUBLE),
    slices: slices.map(([, ...row]) =>
      JSON.stringify([...row.slice(0, 5), plain(row[5]), row[6], plain(row[7]), args.get(row[8]) ?? []])),
    flows: (await query(`
      select source.name, source.ts - ${first}, target.name, target.ts - ${first} from flow
      join slice source on source.id = slice_out join slice target on target.id = slice_in
      where ifnull(source.category, '') != 'retime'`)).map((it) => JSON.stringify(it)),
    counters: (await query(`select track.name, counter.ts - ${first}, value from counter join track on track.id = track_id`))
      .map((it) => JSON.stringify(it)),
    snapshots: (await query('select clock_id & 4294967295, clock_name, clock_value from clock_snapshot')).map((it) => JSON.stringify(it)),
    processes: (await query('select pid, name from process where pid > 0 order by pid')),
    tracks: new Set(slices.map((it) => it[11])),
    added: await query(`
      select source.name, target.name, count(*) from flow
      join slice source on source.id = slice_out join slice target on target.id = slice_in
      where source.category = 'retime' group by 1, 2`),
  };
  await close();
  return found;
}

test('packets are carried over', async (context) => {
  const cwd = scratch(context);
  write(cwd);
  // Nothing relates the two files to each other.
  retime(['correct', 'run', '-o', 'corrected', '-q'], {cwd, code: 3});
  const alone = [];
  const names = readdirSync(join(cwd, 'corrected')).filter((it) => it.endsWith('.pftrace'));
  for (const name of names.sort()) alone.push(await seen(join(cwd, 'corrected', name)));
  assert.equal(alone.length, FILES);
  for (const name of ['job.pftrace', 'job.pftrace.gz']) {
    retime(['merge', 'run', '-o', name, '-q'], {cwd, code: 3});
    const merged = await seen(join(cwd, name));
    assert.deepEqual(merged.trouble, []);
    for (const kind of ['slices', 'flows', 'counters', 'snapshots']) {
      const expected = alone.flatMap((it) => it[kind]).sort();
      assert.deepEqual(merged[kind].sort(), expected, kind);
      assert(expected.length >= FILES * 4, kind);
    }
    assert.equal(merged.tracks.size, alone.reduce((all, it) => all + it.tracks.size, 0));
    assert.deepEqual(merged.processes.map((it) => it[1].split(' ')[0]),
      names.flatMap((it) => Array(2).fill(`${it.replace('.pftrace', '')}:`)));
    // All dependencies have arrows of their own.
    assert.deepEqual(merged.added, []);
    assert.equal(merged.flows.length, 2 * CALLS * FILES);
  }
});
