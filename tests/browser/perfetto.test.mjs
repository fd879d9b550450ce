// What `retime export` writes, read by Perfetto's own trace processor: the same slices, arrows,
// tracks and times as `retime order` and `retime correct --merged` list, and each arrow from its
// cause to its effect.

import assert from 'node:assert/strict';
import {writeFileSync} from 'node:fs';
import {join} from 'node:path';
import {after, before, test} from 'node:test';

import * as oracle from './oracle.mjs';
import {Perfetto} from './perfetto.mjs';
import {retime, scratch} from './tools.mjs';

let perfetto;
before(async () => (perfetto = await Perfetto.start()));
after(() => perfetto?.stop());

const SLICES = `
  select thread.name, ts, ts + dur, slice.name from slice
  join thread_track on thread_track.id = slice.track_id join thread using (utid)`;

const IS_CALL = `slice.name not in (${oracle.ENDS.map((it) => `'${it}'`)})`;

const location = (thread) => Number(/location (\d+)\)?$/.exec(thread)[1]);

// The calls of a group of processes as the oracle has them.
async function calls(query, group = '') {
  const rows = await query(
    `${SLICES} join process using (upid) where process.name glob '${group}*' and ${IS_CALL}`,
  );
  const found = rows.map(([thread, ...rest]) => [location(thread), ...rest]);
  return found.sort(oracle.inOrder);
}

// Where all arrows of a group lead from and where to: [[location, time], [location, time]]. Drawn
// is a line from the end of a slice to the beginning of another.
async function flows(query, group = '') {
  const place = (name) => `
    join slice ${name} on ${name}.id = flow.slice_${name === 'source' ? 'out' : 'in'}
    join thread_track ${name}_track on ${name}_track.id = ${name}.track_id
    join thread ${name}_thread on ${name}_thread.utid = ${name}_track.utid
    join process ${name}_process on ${name}_process.upid = ${name}_thread.upid`;
  const rows = await query(`
    select source_thread.name, source.ts + source.dur, target_thread.name, target.ts
    from flow ${place('source')} ${place('target')}
    where source_process.name glob '${group}*' and target_process.name glob '${group}*'`);
  return rows.map(([from, left, to, arrived]) => [
    [location(from), left],
    [location(to), arrived],
  ]);
}

// How they have to lead: from the cause to the effect, which readers can be told only where the
// cause is not the later one.
function led(arrows) {
  return arrows.map(([cause, effect]) => (cause[1] <= effect[1] ? [cause, effect] : [effect, cause]));
}

// In one order.
const sorted = (arrows) => arrows.map((it) => it.flat().join(' ')).sort();

async function number(query, sql) {
  const [[value]] = await query(sql);
  return value;
}

// Nothing that the trace processor stumbled over.
async function assertClean(query) {
  const sql = "select name, value from stats where severity in ('error', 'data_loss') and value > 0";
  assert.deepEqual(await query(sql), []);
}

// A trace with contradictions, in a directory of its own.
function demo(context) {
  const directory = scratch(context);
  retime(['demo', '--keep', 'demo'], {cwd: directory});
  return join(directory, 'demo');
}

function simulation(context) {
  const directory = scratch(context);
  const simulated = ['simulate', 'halo', '-o', 'halo', '--no-truth', '--ranks', '12', '-q'];
  retime(simulated, {cwd: directory});
  return directory;
}

for (const [name, make, ranks] of [
  ['a real recording', demo, 4],
  ['a simulated trace', simulation, 12],
]) {
  for (const suffix of ['pftrace', 'pftrace.gz', 'json', 'json.gz']) {
    test(`${name}, corrected, as ${suffix}`, async (context) => {
      const cwd = make(context);
      retime(['export', 'halo', '-o', `out.${suffix}`, '-q'], {cwd});
      const {query, close} = await perfetto.open(join(cwd, `out.${suffix}`));
      await assertClean(query);

      const events = oracle.corrected('halo', cwd);
      const expected = oracle.slices(events, oracle.origin([events]));
      assert.deepEqual(await calls(query), expected);
      const arrows = oracle.arrows(events, oracle.origin([events]));
      assert(arrows.every(([cause, effect]) => cause[1] <= effect[1]));
      assert.deepEqual(sorted(await flows(query)), sorted(arrows));
      assert.equal(await number(query, `select count(*) from slice where dur <> 0 and not ${IS_CALL}`), 0);
      assert.equal(await number(query, 'select count(*) from process where pid > 0'), ranks);
      assert.equal(await number(query, 'select count(*) from thread where tid > 0'), ranks);
      await close();
    });
  }
}

test('both times side by side', async (context) => {
  const cwd = demo(context);
  retime(['export', 'halo', '-o', 'both.pftrace', '--times', 'both', '-q'], {cwd});
  const {query, close} = await perfetto.open(join(cwd, 'both.pftrace'));
  await assertClean(query);

  const lists = [oracle.recorded('halo', cwd, 1), oracle.corrected('halo', cwd)];
  const origin = oracle.origin(lists);
  assert.deepEqual(await calls(query, 'recorded: '), oracle.slices(lists[0], origin));
  assert.deepEqual(await calls(query, 'corrected: '), oracle.slices(lists[1], origin));
  const recorded = oracle.arrows(lists[0], origin);
  const contradicts = recorded.filter(([cause, effect]) => cause[1] > effect[1]).length;
  assert(contradicts > 1000 && contradicts < recorded.length - 1000, `${contradicts}`);
  assert.deepEqual(sorted(await flows(query, 'recorded: ')), sorted(led(recorded)));
  const corrected = oracle.arrows(lists[1], origin);
  assert.deepEqual(sorted(await flows(query, 'corrected: ')), sorted(corrected));
  assert.equal(await number(query, 'select count(*) from flow'), 2 * recorded.length);
  // What leads from an effect to its cause is marked at both.
  const marked = `
    select sum(int_value) from slice join args using (arg_set_id) where key = 'debug.reversed_arrows'`;
  assert.equal(await number(query, marked), 2 * contradicts);
  await close();
});

test('what was added to clocks, and the recorded times', async (context) => {
  const cwd = demo(context);
  retime(['export', 'halo', '-o', 'out.pftrace', '-q'], {cwd});
  const {query, close} = await perfetto.open(join(cwd, 'out.pftrace'));
  const {locations} = oracle.corrected('halo', cwd);
  const start = Math.min(...[...locations.values()].map((events) => events[0].time));

  for (const [location, events] of locations) {
    const points = await query(`
      select ts, value from counter join process_counter_track track on track.id = track_id
      join process using (upid)
      where track.name = 'clock offset' and process.name glob 'MPI Rank ${location} *' order by ts`);
    // At the first and the last event a point stands exactly.
    const ends = [events.at(0), events.at(-1)];
    const added = ends.map(({time, raw_time}) => [time - start, (time - raw_time) / 1000]);
    assert.deepEqual([points.at(0), points.at(-1)], added);
    const bounds = await query(`
      select min(value), count(*) from counter
      join process_counter_track track on track.id = track_id join process using (upid)
      where track.name = 'error bound' and process.name glob 'MPI Rank ${location} *'`);
    assert(bounds[0][0] >= 0 && bounds[0][1] > 100, `${bounds}`);

    const moved = events.filter(({kind, time, raw_time}) => kind === 'Enter' && time !== raw_time);
    const annotated = await query(`
      select ts, args.int_value from slice join args using (arg_set_id)
      join thread_track on thread_track.id = slice.track_id join thread using (utid)
      where key = 'debug.recorded_ns' and thread.name glob '*location ${location})' and ${IS_CALL}
      order by ts, args.int_value`);
    const expected = moved.map(({time, raw_time}) => [time - start, raw_time - start]);
    assert.deepEqual(annotated, expected);
  }
  await close();
});

// A receive in the first location, which stands first in the file, and the send in the second.
for (const [what, sent, received, ticks, leads] of [
  ['a message that takes no time', 50, 50, 1_000_000, [1, 0]],
  ['one that takes less than a nanosecond', 50_000_001, 50_000_002, 3_000_000_000, [1, 0]],
  ['one that is reversed', 60, 50, 1_000_000, [0, 1]],
]) {
  test(`the direction of ${what}`, async (context) => {
    const cwd = scratch(context);
    const lines = [
      {'retime-stream': 1, ticks_per_second: ticks, locations: [0, 1]},
      {location: 0, time: 0, kind: 'Enter', region: 'receiver'},
      {location: 1, time: 1, kind: 'Enter', region: 'sender'},
      {location: 1, time: sent, type: 'send', message: 1},
      {location: 0, time: received, type: 'receive', message: 1},
      {location: 0, time: 2 * sent, kind: 'Leave', region: 'receiver'},
      {location: 1, time: 2 * sent, kind: 'Leave', region: 'sender'},
    ];
    writeFileSync(join(cwd, 'two.jsonl'), lines.map((it) => JSON.stringify(it) + '\n').join(''));
    const code = received < sent ? 1 : 0;
    for (const suffix of ['pftrace', 'json']) {
      const only = ['--times', 'recorded', '-q'];
      retime(['export', 'two.jsonl', '-o', `two.${suffix}`, ...only], {cwd, code});
      const {query, close} = await perfetto.open(join(cwd, `two.${suffix}`));
      await assertClean(query);
      const found = await flows(query);
      assert.deepEqual(found.map(([from, to]) => [from[0], to[0]]), [leads]);
      assert(found[0][0][1] <= found[0][1][1]);
      const marked = `
        select count(*) from slice join args using (arg_set_id) where key glob '*reversed_arrows'`;
      assert.equal(await number(query, marked), code === 1 ? 2 : 0);
      await close();
    }
  });
}

test('a stretch of some locations', async (context) => {
  const cwd = demo(context);
  const only = ['--from', '400ms', '--to', '410ms', '--locations', '1,3', '--times', 'recorded'];
  retime(['export', 'halo', '-o', 'some.pftrace', ...only, '-q'], {cwd, code: 1});
  const {query, close} = await perfetto.open(join(cwd, 'some.pftrace'));
  await assertClean(query);

  const [from, to] = [400e6, 410e6];
  const events = oracle.recorded('halo', cwd, 1);
  const all = oracle.slices(events, oracle.origin([events]));
  const some = all.filter(([location, begin, end]) => location % 2 === 1 && begin <= to && end >= from);
  const clipped = some.map(([location, begin, end, name]) => [
    location,
    Math.max(begin, from),
    Math.min(end, to),
    name,
  ]);
  assert.deepEqual(await calls(query), clipped.sort(oracle.inOrder));
  await close();
});

test('names are data, and events without a region are shown', async (context) => {
  const cwd = scratch(context);
  const names = ['</script><img src=x onerror=alert(1)>', '\u001b[31m"quoted"', 'ends\\', 'é\u0000ü'];
  const lines = [{'retime-stream': 1, ticks_per_second: 1_000_000_000, locations: [0, 1]}];
  // The UI does not open what takes some hundred nanoseconds.
  const ms = 1_000_000;
  names.forEach((region, at) => {
    lines.push({location: 0, time: (1 + at) * ms, kind: 'Enter', region});
  });
  lines.push({location: 0, time: 10 * ms, type: 'send', message: 1});
  lines.push({location: 1, time: 20 * ms, type: 'receive', message: 1});
  names.toReversed().forEach((region, at) => {
    lines.push({location: 0, time: (30 + at) * ms, kind: 'Leave', region});
  });
  writeFileSync(join(cwd, 'names.jsonl'), lines.map((it) => JSON.stringify(it) + '\n').join(''));
  for (const suffix of ['pftrace', 'json']) {
    retime(['export', 'names.jsonl', '-o', `names.${suffix}`, '-q'], {cwd});
    const {query, page, close} = await perfetto.open(join(cwd, `names.${suffix}`));
    const found = await query('select name from slice where dur > 0 order by ts');
    // A name ends at a zero, as strings of C do. Of JSON, a name with numbers of characters
    // is left as it is written unless something else in it is escaped, too.
    const expected =
      suffix === 'pftrace'
        ? [...names.slice(0, 3), 'é']
        : [names[0], names[1], 'ends\\u005c', 'é\\u0000ü'];
    assert.deepEqual(found.flat(), expected);
    assert.equal(await number(query, 'select count(*) from flow'), 1);
    assert.deepEqual(await query("select name, dur from slice where name = 'receive'"), [['receive', 0]]);
    assert.equal(await page.locator('img[src=x]').count(), 0);
    await close();
  }
});
