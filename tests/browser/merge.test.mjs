// Profiles of a job, merged, read by Perfetto's own trace processor: row by row what it reads of
// each profile alone, but for what was added.

import assert from 'node:assert/strict';
import {existsSync, mkdirSync, readdirSync, writeFileSync} from 'node:fs';
import {join} from 'node:path';
import {after, before, test} from 'node:test';

import {Perfetto} from './perfetto.mjs';
import {retime, scratch} from './tools.mjs';

let perfetto;
before(async () => (perfetto = await Perfetto.start()));
after(() => perfetto?.stop());

const STEPS = 40;

// Ranks on two hosts, whose clocks are 5 ms and 40 ppm apart: calls, launches with arrows to
// kernels, which are together in collective operations, arguments of all kinds, counters and
// instants. Kernels of two streams of one thread overlap.
function job(cwd, ranks) {
  mkdirSync(join(cwd, 'run'));
  for (let rank = 0; rank < ranks; rank++) {
    const host = rank >= ranks / 2 ? 1 : 0;
    const at = (time) => Math.round(time * (1 + 4e-5 * host)) + 5_000_000 * host + 1_000_000_000;
    const micros = (time) => `${Math.floor(time / 1000)}.${String(time % 1000).padStart(3, '0')}`;
    const events = [];
    const add = (ph, begin, end, fields) => {
      const [ts, dur] = [at(begin), end && at(end) - at(begin)];
      const time = `"ts": ${micros(ts)}${end ? `, "dur": ${micros(dur)}` : ''}`;
      events.push(`{"ph": "${ph}", ${time}, ${JSON.stringify(fields).slice(1)}`);
    };
    const meta = (name, pid, tid, args) => events.push(JSON.stringify({ph: 'M', name, pid, tid, args}));
    // The same numbers on all ranks.
    meta('process_name', 77, 0, {name: 'python'});
    meta('process_labels', 77, 0, {labels: 'CPU'});
    meta('process_sort_index', 77, 0, {sort_index: 77});
    meta('process_labels', 0, 0, {labels: 'GPU 0'});
    meta('process_sort_index', 0, 0, {sort_index: 16777216});
    meta('thread_name', 0, 7, {name: 'stream 7'});
    const cpu = {pid: 77, tid: 78, cat: 'cpu_op'};
    for (let step = 0; step < STEPS; step++) {
      const start = step * 6_000_000 + ((step * 7919) % 13) * 150_000;
      const late = ((step * 31 + rank * 17) % 7) * 9_000;
      add('X', start + 20, start + 50_000, {...cpu, name: 'launch', args: {correlation: step, 'Input Dims': [[3, 4], []], text: 'a "b"'}});
      // A call that stands behind the one that it is in.
      add('X', start, start + 1_900_000, {...cpu, name: `Step#${step % 3}`, args: {ratio: 0.25, ok: true}});
      add('s', start + 20, 0, {...cpu, cat: 'ac2g', name: 'ac2g', id: step});
      const device = {pid: 0, tid: 7};
      const begin = start + 100_000 + late;
      add('f', begin, 0, {...device, cat: 'ac2g', name: 'ac2g', id: step, bp: 'e'});
      add('X', begin, start + 400_000, {
        ...device, cat: 'kernel', name: 'ncclDevKernel_AllReduce_Sum_f32_RING_LL',
        args: {'Collective name': 'allreduce', 'In msg nelems': 1024, dtype: 'Float',
          'Process Group Name': '0', 'Process Group Ranks': JSON.stringify([...Array(ranks).keys()])},
      });
      add('X', start + 400_000, start + 1_700_000, {...device, cat: 'kernel', name: 'gemm'});
      add('C', start + 10, 0, {pid: 77, name: 'memory', args: {used: step * 1000, free: 5}});
      add('i', start + 30, 0, {...cpu, name: 'mark', s: 't'});
    }
    const header = {
      distributedInfo: {rank, world_size: ranks, pg_config: [
        {pg_name: '0', pg_desc: 'default_pg', ranks: [...Array(ranks).keys()]},
        {pg_name: '1', pg_desc: 'mesh_tp', ranks: [rank - (rank % 2), rank - (rank % 2) + 1]},
      ]},
      host_name: `node${host}`,
    };
    const text = `${JSON.stringify(header).slice(0, -1)}, "traceEvents": [\n${events.join(',\n')}\n]}`;
    writeFileSync(join(cwd, 'run', `rank${rank}.json`), text);
  }
}

const TROUBLE = "select name, value from stats where severity in ('error', 'data_loss') and value > 0";
const IS_ADDED = "ifnull(category, '') = 'retime'";
// Slices with all of their arguments, which packets and JSON keep below other words; of keys of
// packets the trace processor replaces points by underscores.
const SLICES = `
  select s.name, s.category, s.dur, (
    select group_concat(line, ';') from (
      select replace(substr(a.key, instr(a.key, '.') + 1), '.', '_') || '='
        || coalesce(a.string_value, a.int_value, a.real_value) as line
      from args a where a.arg_set_id = s.arg_set_id
        and (a.key like 'args.%' or a.key like 'debug.%') order by 1))
  from slice s where not ${IS_ADDED}`;
const COUNTERS = `select t.name, c.value, count(*) from counter c join counter_track t on t.id = c.track_id
  group by 1, 2 order by 1, 2`;
// What joins slices of a profile, by their names.
const FLOWS = `select a.name, b.name, count(*) from flow f join slice a on a.id = f.slice_out
  join slice b on b.id = f.slice_in where not (${IS_ADDED.replace('category', 'a.category')})
  group by 1, 2 order by 1, 2`;

async function rows(file) {
  const {query, close} = await perfetto.open(file);
  const found = {
    trouble: await query(TROUBLE),
    slices: (await query(SLICES)).map((row) => JSON.stringify(row)).sort(),
    counters: await query(COUNTERS),
    flows: await query(FLOWS),
  };
  return {...found, query, close};
}

// The rows of several files together.
async function together(files) {
  const all = {slices: [], counters: new Map(), flows: new Map()};
  for (const file of files) {
    const {slices, counters, flows, trouble, close} = await rows(file);
    assert.deepEqual(trouble, []);
    all.slices.push(...slices);
    for (const [kind, found] of [['counters', counters], ['flows', flows]]) {
      for (const [a, b, count] of found) {
        const key = JSON.stringify([a, b]);
        all[kind].set(key, (all[kind].get(key) ?? 0) + count);
      }
    }
    await close();
  }
  const counted = (map) => [...map].map(([key, count]) => [...JSON.parse(key), count]);
  all.slices.sort();
  return {slices: all.slices, counters: counted(all.counters), flows: counted(all.flows)};
}

const sum = (counted) => counted.reduce((all, row) => all + row.at(-1), 0);

const sorted = (found) => found.map((row) => JSON.stringify(row)).sort();

async function compare(context, cwd, run, ranks, expectations) {
  retime(['correct', run, '-o', 'corrected', '-q'], {cwd, code: expectations.code ?? 0});
  const files = readdirSync(join(cwd, 'corrected')).filter((it) => it.endsWith('.json'));
  const expected = await together(files.map((it) => join(cwd, 'corrected', it)));
  for (const name of ['job.pftrace', 'job.json', 'job.pftrace.gz', 'job.json.gz']) {
    retime(['merge', run, '-o', name, '-q'], {cwd, code: expectations.code ?? 0});
    const found = await rows(join(cwd, name));
    assert.deepEqual(found.trouble, [], name);
    assert.deepEqual(found.slices, expected.slices, name);
    assert.deepEqual(sorted(found.counters), sorted(expected.counters), name);
    assert.deepEqual(sorted(found.flows), sorted(expected.flows), name);
    // Ranks in order: their numbers rise.
    const processes = (await found.query('select name from process where pid > 0 order by pid')).flat();
    const owners = processes.map((it) => Number(it.match(/^rank (\d+):/)?.[1]));
    assert.deepEqual(owners, [...owners].sort((a, b) => a - b), name);
    assert.equal(new Set(owners).size, ranks);
    // Arrows between ranks lead forwards, from one slice without length to another.
    const between = await found.query(`
      select a.name, b.name, a.ts <= b.ts, a.dur + b.dur, count(*) from flow f
      join slice a on a.id = f.slice_out join slice b on b.id = f.slice_in
      where ${IS_ADDED.replace('category', 'a.category')} group by 1, 2, 3, 4`);
    if (expectations.arrows !== undefined) {
      assert.deepEqual(between, [['cause', 'effect', 1, 0, expectations.arrows]], name);
    } else {
      assert(between.every(([from, to, forward, dur]) => from === 'cause' && to === 'effect' && forward && !dur), name);
    }
    await expectations.also?.(found, name, processes);
    await found.close();
  }
}

test('a job of two hosts', async (context) => {
  const cwd = scratch(context);
  job(cwd, 4);
  await compare(context, cwd, 'run', 4, {
    arrows: 4 * STEPS,
    also: async ({query}, name, processes) => {
      assert.equal(processes[2], 'rank 1: python 77 CPU (node0; tp 1)');
      assert.equal(processes[3], 'rank 1: GPU 0 (node0; tp 1)');
      // A call that stands behind one that it holds is around it all the same.
      const [[held]] = await query("select count(*) from slice where name = 'launch' and depth = 1");
      assert.equal(held, 4 * STEPS, name);
    },
  });
});

test('traces of other formats beside profiles', async (context) => {
  const cwd = scratch(context);
  job(cwd, 2);
  const simulated = ['simulate', 'halo', '-o', 'halo', '--no-truth', '--ranks', '4', '--events', '4000'];
  retime([...simulated, '--offset', '1ms', '-q'], {cwd});
  retime(['correct', 'halo', '--merged', '-o', 'lines.jsonl', '-q'], {cwd});
  retime(['merge', 'run', '-o', 'run.pftrace', '-q'], {cwd});
  const slices = (root) => `
    select track.name, slice.name, ts, dur, category from slice
    join track on track.id = slice.track_id join track root on root.id = track.parent_id
    where root.name = '${root}' and track.name glob '*location*' order by 1, 3, 4 desc, 2`;
  const alone = {};
  for (const name of ['halo', 'lines.jsonl']) {
    retime(['export', name, '-o', `${name}.pftrace`, '-q'], {cwd});
    const found = await rows(join(cwd, `${name}.pftrace`));
    const [[root]] = await found.query('select name from track where parent_id is null');
    alone[name] = {times: root, slices: await found.query(slices(root)), flows: sum(found.flows)};
    assert(alone[name].slices.length > 1000 && alone[name].flows > 100);
    await found.close();
  }
  const profiles = await rows(join(cwd, 'run.pftrace'));
  await profiles.close();
  retime(['merge', 'run', 'halo', 'lines.jsonl', '-o', 'job.pftrace', '-q'], {cwd});
  const found = await rows(join(cwd, 'job.pftrace'));
  assert.deepEqual(found.trouble, []);
  for (const [name, {times, slices: expected}] of Object.entries(alone)) {
    assert.deepEqual(await found.query(slices(`${name} (${times})`)), expected, name);
  }
  const flows = Object.values(alone).reduce((all, it) => all + it.flows, sum(profiles.flows));
  assert.equal(sum(found.flows), flows);
  const [[processes]] = await found.query("select count(*) from process where name glob 'rank *'");
  assert.equal(processes, 4);
  await found.close();
});

// Real profiles, where they are there. Those of gloo_pp4 have events that overlap without nesting;
// Perfetto drops these from JSON, so there is nothing to compare with.
const TRACES = join(import.meta.dirname, '../../../shared/traces/gpu');
for (const [archive, run, ranks] of [
  ['param_dlrm8', 'param_dlrm8/dlrm_kineto', 8],
  ['gloo_ddp4_sh', 'ddp4_sh', 4],
]) {
  const file = join(TRACES, `${archive}.tar.zst`);
  test(`${archive}, merged`, {skip: !existsSync(file) && `there is no ${file}`}, async (context) => {
    const cwd = scratch(context);
    const {spawnSync} = await import('node:child_process');
    assert.equal(spawnSync('tar', ['--zstd', '-xf', file], {cwd}).status, 0);
    await compare(context, cwd, run, ranks, {});
  });
}
