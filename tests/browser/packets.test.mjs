// A corrected trace of Perfetto, read by its own trace processor: row by row as before but for
// times, arguments, arrows and counters included, and without an error in its statistics.

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
