// Corrected profiles of a training job, and the merged export of them, read by Perfetto's own
// trace processor: as many slices and arrows as before, of the same lengths, and none dropped.

import assert from 'node:assert/strict';
import {mkdirSync, writeFileSync} from 'node:fs';
import {join} from 'node:path';
import {after, before, test} from 'node:test';

import {Perfetto} from './perfetto.mjs';
import {retime, scratch} from './tools.mjs';

let perfetto;
before(async () => (perfetto = await Perfetto.start()));
after(() => perfetto?.stop());

const STEPS = 60;

// Two ranks, whose clocks are 5 ms and 40 ppm apart, as the profiler writes them: steps with calls
// in calls that end together, kernels that follow one upon the other, and arrows to them.
function job(cwd) {
  mkdirSync(join(cwd, 'run'));
  for (const rank of [0, 1]) {
    // By its clock, in whole nanoseconds.
    const at = (time) => Math.round(time * (1 + 4e-5 * rank)) + 5_000_000 * rank + 1_000_000_000;
    const micros = (time) => `${Math.floor(time / 1000)}.${String(time % 1000).padStart(3, '0')}`;
    const events = [];
    const add = (ph, begin, end, fields) => {
      const [ts, dur] = [at(begin), end && at(end) - at(begin)];
      const time = `"ts": ${micros(ts)}${end ? `, "dur": ${micros(dur)}` : ''}`;
      events.push(`{"ph": "${ph}", ${time}, ${JSON.stringify(fields).slice(1)}`);
    };
    const cpu = {pid: 100 + rank, tid: 100 + rank, cat: 'cpu_op'};
    for (let step = 0; step < STEPS; step++) {
      // Steps do not last equally long, which tells them apart.
      const start = step * 6_000_000 + ((step * 7919) % 13) * 150_000;
      const late = ((step * 31 + rank * 17) % 7) * 9_000;
      add('X', start, start + 1_900_000, {...cpu, name: `ProfilerStep#${step}`});
      add('X', start + 10, start + 1_899_999, {...cpu, name: 'forward'});
      add('X', start + 20, start + 1_899_998, {...cpu, name: 'launch'});
      add('s', start + 30, 0, {...cpu, cat: 'ac2g', name: 'ac2g', id: step});
      const device = {pid: rank, tid: 7};
      add('f', start + 100_000 + late, 0, {...device, cat: 'ac2g', name: 'ac2g', id: step, bp: 'e'});
      add('X', start + 100_000 + late, start + 400_000, {
        ...device, cat: 'kernel', name: 'ncclDevKernel_AllReduce_Sum_f32_RING_LL',
        args: {'Collective name': 'allreduce', 'In msg nelems': 1024, dtype: 'Float',
          'Process Group Name': '0', 'Process Group Ranks': '[0, 1]'},
      });
      add('X', start + 400_000, start + 1_700_000, {...device, cat: 'kernel', name: 'gemm'});
    }
    const header = {schemaVersion: 1, distributedInfo: {rank, world_size: 2}, host_name: `node${rank}`};
    const text = `${JSON.stringify(header).slice(0, -1)}, "traceEvents": [\n${events.join(',\n')}\n]}`;
    writeFileSync(join(cwd, 'run', `rank${rank}.json`), text);
  }
}

async function seen(path) {
  const {query, close} = await perfetto.open(path);
  const trouble = "select name, value from stats where severity in ('error', 'data_loss') and value > 0";
  const found = {
    trouble: await query(trouble),
    slices: await query('select name, dur, depth, count(*) from slice group by 1, 2, 3 order by 1, 2, 3'),
    flows: await query('select count(*) from flow'),
    processes: await query('select name from process where pid > 0 order by name'),
  };
  await close();
  return found;
}

test('a corrected profile shows what the original did', async (context) => {
  const cwd = scratch(context);
  job(cwd);
  retime(['correct', 'run', '-o', 'out', '-q'], {cwd});
  for (const rank of [0, 1]) {
    const original = await seen(join(cwd, 'run', `rank${rank}.json`));
    const corrected = await seen(join(cwd, 'out', `rank${rank}.json`));
    assert.deepEqual(original.trouble, []);
    const slices = original.slices.reduce((sum, row) => sum + row[3], 0);
    assert.equal(slices, 5 * STEPS);
    assert.deepEqual(corrected, original);
  }
});

test('all ranks in one trace', async (context) => {
  const cwd = scratch(context);
  job(cwd);
  retime(['export', 'run', '-o', 'run.pftrace', '-q'], {cwd});
  const {trouble, slices, flows} = await seen(join(cwd, 'run.pftrace'));
  assert.deepEqual(trouble, []);
  const isListed = ([name]) => name.startsWith('reversed ');
  const isPoint = ([name]) => name === 'begin' || name === 'end';
  const number = (rows) => rows.reduce((sum, row) => sum + row[3], 0);
  assert.equal(number(slices.filter((row) => !isPoint(row) && !isListed(row))), 2 * 5 * STEPS);
  // The clock that is 5 ms ahead leaves each step too early for the other.
  assert.equal(number(slices.filter(isListed)), STEPS);
  // An arrow to each end from the last to begin, its own end aside; of two ranks the other.
  assert.deepEqual(flows, [[2 * STEPS]]);
  assert(slices.filter(isPoint).every(([, length]) => length === 0));
  assert.equal(number(slices.filter(isPoint)), 2 * 2 * STEPS);
  const {query, close} = await perfetto.open(join(cwd, 'run.pftrace'));
  const [[forward]] = await query(`
    select count(*) from flow
    join slice source on source.id = slice_out join slice target on target.id = slice_in
    where source.name = 'begin' and target.name = 'end' and source.track_id <> target.track_id
      and source.ts <= target.ts and source.dur = 0`);
  assert.equal(forward, 2 * STEPS);
  const ranks = await query(`
    select distinct substr(name, 1, length('rank 0 (node0)')) from track where name glob 'rank *' order by 1`);
  assert.deepEqual(ranks, [['rank 0 (node0)'], ['rank 1 (node1)']]);
  await close();
});
