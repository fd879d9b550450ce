// A corrected trace of Perfetto, read by its own trace processor: row by row as before but for
// times, arguments, arrows and counters included, and without an error in its statistics. Merged
// into JSON, packets show what they show as packets.

import assert from 'node:assert/strict';
import {writeFileSync} from 'node:fs';
import {join} from 'node:path';
import {after, before, test} from 'node:test';

import {CALLS, calls} from './calls.mjs';
import {Perfetto} from './perfetto.mjs';
import {retime, scratch} from './tools.mjs';

let perfetto;
before(async () => (perfetto = await Perfetto.start()));
after(() => perfetto?.stop());

async function seen(path) {
  const {query, close} = await perfetto.open(path);
  const trouble = "select name, value from stats where severity in ('error', 'data_loss') and value > 0";
  const found = {
    trouble: await query(trouble),
    slices: await query(`
      select slice.name, category, depth, track.name, iif(slice.name like 'kernel%', dur, dur >= 0),
        thread.tid, process.name
      from slice join track on track.id = slice.track_id
      left join thread_track on thread_track.id = slice.track_id
      left join thread using (utid) left join process using (upid) order by slice.name`),
    args: await query(`
      select slice.name, flat_key, display_value from slice join args using (arg_set_id)
      where flat_key not like '%upid%' order by 1, 2, 3`),
    flows: await query(`
      select source.name, target.name from flow
      join slice source on source.id = slice_out join slice target on target.id = slice_in
      order by 1, 2`),
    counters: await query('select value from counter order by value'),
  };
  const times = await query("select name, ts from slice where name like 'call%' or name like 'serve%'");
  await close();
  return {found, times: new Map(times)};
}

test('a corrected trace shows what the original did', async (context) => {
  const cwd = scratch(context);
  writeFileSync(join(cwd, 'job.pftrace'), calls());
  retime(['correct', 'job.pftrace', '-o', 'out.pftrace', '-q'], {cwd});
  const original = await seen(join(cwd, 'job.pftrace'));
  const corrected = await seen(join(cwd, 'out.pftrace'));
  assert.deepEqual(original.found.trouble, []);
  assert.equal(original.found.slices.length, 6 * CALLS);
  assert.equal(original.found.counters.length, CALLS);
  assert(original.found.args.length >= 3 * CALLS);
  const early = (times) =>
    [...Array(CALLS).keys()].filter((call) => times.get(`serve ${call}`) < times.get(`call ${call}`));
  assert.equal(early(original.times).length, CALLS);
  assert.equal(early(corrected.times).length, 0);
  const {flows: before, ...rest} = original.found;
  const {flows: behind, ...others} = corrected.found;
  assert.deepEqual(others, rest);
  // An arrow that ends before it begins is not drawn: now all are, and those that were still are.
  assert.equal(before.length, CALLS);
  assert.equal(behind.length, 2 * CALLS);
  const drawn = new Set(behind.map((it) => it.join()));
  assert(before.every((it) => drawn.has(it.join())));
});

// Slices with their times and arguments, counters and arrows of a merged file. Kinds of files put
// arguments below other words, and say of a counter which of its values it is.
async function merged(path) {
  const {query, close} = await perfetto.open(path);
  const rows = async (sql) => (await query(sql)).map((row) => JSON.stringify(row)).sort();
  const found = {
    trouble: await query("select name, value from stats where severity in ('error', 'data_loss') and value > 0"),
    slices: await rows(`
      select slice.name, ifnull(category, ''), slice.ts, slice.dur, depth, process.name
      from slice left join thread_track on thread_track.id = slice.track_id
      left join thread using (utid) left join process using (upid)
      where ifnull(category, '') != 'retime' and slice.name not like 'kernel%'`),
    // Perfetto (v52) calls stages by their kind, not by their own names.
    stages: await rows("select ts, dur from slice where name like 'kernel%'"),
    args: await rows(`
      select slice.name, substr(flat_key, instr(flat_key, '.') + 1), display_value
      from slice join args using (arg_set_id)
      where flat_key like 'args.%' or flat_key like 'debug.%'`),
    flows: await rows(`
      select source.name, target.name, source.ts, target.ts from flow
      join slice source on source.id = slice_out join slice target on target.id = slice_in`),
    counters: await rows(`
      select replace(counter_track.name, ' value', ''), ts, value from counter
      join counter_track on counter_track.id = counter.track_id`),
  };
  await close();
  return found;
}

test('packets merged into JSON show what they show as packets', async (context) => {
  const cwd = scratch(context);
  for (const file of [0, 1]) writeFileSync(join(cwd, `job${file}.pftrace`), calls(file));
  const runs = ['job0.pftrace', 'job1.pftrace'];
  // Nothing relates the two files to each other.
  retime(['merge', ...runs, '-o', 'all.pftrace', '-q'], {cwd, code: 3});
  const told = retime(['merge', ...runs, '-o', 'all.json.gz'], {cwd, code: 3});
  // Packets that no field of Chrome's format holds.
  assert.match(told, /JSON has no place for \d+ clock readings, \d+ other packets of the packets/);
  const expected = await merged(join(cwd, 'all.pftrace'));
  const found = await merged(join(cwd, 'all.json.gz'));
  assert.deepEqual(found.trouble, []);
  assert.equal(expected.slices.length, 2 * 5 * CALLS);
  assert.equal(expected.counters.length, 2 * CALLS);
  assert(expected.flows.length >= 4 * CALLS);
  for (const rows of ['slices', 'stages', 'flows', 'counters']) assert.deepEqual(found[rows], expected[rows], rows);
  const lost = expected.args.filter((it) => !found.args.includes(it));
  assert.deepEqual(lost, []);
});
