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

// The names of slices on the track of contradictions.
const LISTED = ['reversed message', 'reversed collective'];

// A slice with its track, which is a thread in JSON and else a track below a root; its group is the
// process or the root.
const place = (name) => `
  join track ${name}_track on ${name}_track.id = ${name}.track_id
  left join track ${name}_root on ${name}_root.id = ${name}_track.parent_id
  left join thread_track ${name}_of on ${name}_of.id = ${name}.track_id
  left join thread ${name}_thread on ${name}_thread.utid = ${name}_of.utid
  left join process ${name}_process on ${name}_process.upid = ${name}_thread.upid`;
const lane = (name) => `coalesce(${name}_thread.name, ${name}_track.name)`;
const group = (name) => `coalesce(${name}_process.name, ${name}_root.name)`;

const SLICES = `select ${lane('slice')}, ts, ts + dur, slice.name from slice ${place('slice')}`;

const quoted = (names) => names.map((it) => `'${it}'`);
const IS_CALL = `slice.name not in (${quoted([...oracle.ENDS, ...LISTED])})`;

const location = (thread) => Number(/location (\d+)\)?$/.exec(thread)[1]);

// The calls of a group of processes as the oracle has them.
async function calls(query, of = '') {
  const rows = await query(`${SLICES} where ${group('slice')} glob '${of}*' and ${IS_CALL}`);
  const found = rows.map(([thread, ...rest]) => [location(thread), ...rest]);
  return found.sort(oracle.inOrder);
}

// Where all arrows of a group lead from and where to: [[location, time], [location, time]]. Drawn
// is a line from the end of a slice to the beginning of another.
async function flows(query, of = '') {
  const rows = await query(`
    select ${lane('source')}, source.ts + source.dur, ${lane('target')}, target.ts
    from flow join slice source on source.id = flow.slice_out ${place('source')}
    join slice target on target.id = flow.slice_in ${place('target')}
    where ${group('source')} glob '${of}*' and ${group('target')} glob '${of}*'`);
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

for (const [name, make, ranks, suffixes] of [
  ['a real recording', demo, 4, ['pftrace', 'json']],
  ['a simulated trace', simulation, 12, ['pftrace', 'pftrace.gz', 'json', 'json.gz']],
]) {
  for (const suffix of suffixes) {
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
      const lanes = suffix.startsWith('json')
        ? "select name from process where pid > 0 and name glob '*Rank*'"
        : "select name from track where name glob '*Rank*' and name glob '*location*'";
      assert.equal((await query(lanes)).length, ranks);
      const listed = `select count(*) from slice where name in (${quoted(LISTED)})`;
      const before = oracle.recorded('halo', cwd, 1);
      const reversed = oracle.arrows(before, 0).filter(([cause, effect]) => cause[1] > effect[1]);
      assert.equal(await number(query, listed), reversed.length);
      await close();
    });
  }
}

test('both times side by side', async (context) => {
  const cwd = simulation(context);
  retime(['export', 'halo', '-o', 'both.pftrace', '--times', 'both', '-q'], {cwd});
  const {query, close} = await perfetto.open(join(cwd, 'both.pftrace'));
  await assertClean(query);

  const lists = [oracle.recorded('halo', cwd, 1), oracle.corrected('halo', cwd)];
  const origin = oracle.origin(lists);
  assert.deepEqual(await calls(query, 'recorded'), oracle.slices(lists[0], origin));
  assert.deepEqual(await calls(query, 'corrected'), oracle.slices(lists[1], origin));
  const recorded = oracle.arrows(lists[0], origin);
  const contradicts = recorded.filter(([cause, effect]) => cause[1] > effect[1]).length;
  assert(contradicts > 1000 && contradicts < recorded.length - 1000, `${contradicts}`);
  assert.deepEqual(sorted(await flows(query, 'recorded')), sorted(led(recorded)));
  const corrected = oracle.arrows(lists[1], origin);
  assert.deepEqual(sorted(await flows(query, 'corrected')), sorted(corrected));
  assert.equal(await number(query, 'select count(*) from flow'), 2 * recorded.length);
  // What leads from an effect to its cause is marked at both.
  const marked = `
    select sum(int_value) from slice join args using (arg_set_id) where key = 'debug.reversed'`;
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
    const curve = (name) => query(`
      select own.id from track own join track beside on beside.id = own.parent_id
      where own.name = '${name}' and beside.name glob 'MPI Rank ${location} *'`);
    const [[offset], [bound]] = [...(await curve('clock offset')), ...(await curve('error bound'))];
    assert.deepEqual(await query(`select unit from counter_track where id = ${offset}`), [['ns']]);
    const points = await query(`select ts, value from counter where track_id = ${offset} order by ts`);
    // At the first and the last event a point stands exactly.
    const ends = [events.at(0), events.at(-1)];
    const added = ends.map(({time, raw_time}) => [time - start, time - raw_time]);
    assert.deepEqual([points.at(0), points.at(-1)], added);
    const bounds = await query(`select min(value), count(*) from counter where track_id = ${bound}`);
    assert(bounds[0][0] >= 0 && bounds[0][1] > 100, `${bounds}`);

    const moved = events.filter(({kind, time, raw_time}) => kind === 'Enter' && time !== raw_time);
    const [[track]] = await query(`select id from track where name glob '*location ${location})'`);
    // Joined with the table of arguments this would take minutes.
    const annotated = await query(`
      select * from (
        select ts, extract_arg(arg_set_id, 'debug.recorded_ns') recorded from slice
        where track_id = ${track} and ${IS_CALL}
      ) where recorded is not null order by 1, 2`);
    const expected = moved.map(({time, raw_time}) => [time - start, raw_time - start]);
    assert.deepEqual(annotated, expected);
  }
  await close();
});

test('tracks stand in the order of ranks, below a root for each of both times', async (context) => {
  const cwd = scratch(context);
  const lines = [{'retime-stream': 1, ticks_per_second: 1_000_000_000, locations: [0, 1, 2, 3]}];
  // The later a location, the more it does; the first is the last to be heard of.
  const ms = 1_000_000;
  for (const location of [3, 2, 1, 0]) {
    for (let call = 0; call <= location; call++) {
      const time = (5 + 2 * call - location) * ms;
      lines.push({location, time, kind: 'Enter', region: 'work'});
      lines.push({location, time: time + ms, kind: 'Leave', region: 'work'});
    }
  }
  lines.push({location: 1, time: 30 * ms, type: 'send', message: 1});
  lines.push({location: 2, time: 20 * ms, type: 'receive', message: 1});
  writeFileSync(join(cwd, 'four.jsonl'), lines.map((it) => JSON.stringify(it) + '\n').join(''));
  retime(['export', 'four.jsonl', '-o', 'four.pftrace', '--times', 'both', '-q'], {cwd});
  const {query, close} = await perfetto.open(join(cwd, 'four.pftrace'));
  await assertClean(query);
  await close();
  const page = await perfetto.show(join(cwd, 'four.pftrace'));
  const workspace = 'globalThis.app.trace.currentWorkspace ?? globalThis.app.trace.workspace';
  await page.waitForFunction(`(${workspace}).children.length > 0`);
  const shown = await page.evaluate(`(() => {
    const names = (node) => node.children.map((it) => it.name ?? it.title);
    return (${workspace}).children.map((it) => [it.name ?? it.title, names(it)]);
  })()`);
  const expected = ['contradictions as recorded', ...[0, 1, 2, 3].map((it) => `location ${it}`)];
  for (const [root, below] of shown) {
    assert(['recorded', 'corrected'].includes(root), root);
    assert.deepEqual(below.map((it) => /(contra.*|location \d)$/.exec(it)[1]), expected);
  }
  assert.equal(shown.length, 2);
  await page.context().close();
});

test('what is known of messages can be asked for', async (context) => {
  const cwd = simulation(context);
  retime(['export', 'halo', '-o', 'out.pftrace', '-q'], {cwd});
  const {query, close} = await perfetto.open(join(cwd, 'out.pftrace'));
  const of = (name) => `extract_arg(target.arg_set_id, 'debug.${name}')`;
  const received = await query(`
    select ${lane('source')}, ${of('peer')}, target.ts - source.ts, ${of('latency_ns')},
      ${of('bytes')}, extract_arg(source.arg_set_id, 'debug.bytes'), ${of('comm')}, target.category,
      call.name
    from flow join slice source on source.id = slice_out ${place('source')}
    join slice target on target.id = slice_in join slice call on call.id = target.parent_id
    where target.name = 'MpiIrecv'`);
  const before = oracle.recorded('halo', cwd, 1);
  const receives = [...before.locations.values()].flat().filter(({type}) => type === 'receive');
  assert.equal(received.length, receives.length);
  for (const [sender, peer, took, latency, bytes, sent, comm, category, call] of received) {
    assert.deepEqual([location(sender), took, sent], [peer, latency, bytes]);
    assert.deepEqual([comm, category], ['MPI_COMM_WORLD', 'MPI']);
    assert(call.startsWith('MPI_'), call);
  }
  // All that stands on the track of contradictions was recorded so.
  const listed = await query(`
    select extract_arg(arg_set_id, 'debug.latency_ns') >= 0,
      extract_arg(arg_set_id, 'debug.recorded_latency_ns') < 0, count(*)
    from slice join track on track.id = track_id
    where track.name = 'contradictions as recorded' group by 1, 2`);
  const reversed = oracle.arrows(before, 0).filter(([cause, effect]) => cause[1] > effect[1]);
  assert.deepEqual(listed, [[1, 1, reversed.length]]);
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
        select count(*) from slice join args using (arg_set_id) where key glob '*reversed'`;
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
    const {query, close} = await perfetto.open(join(cwd, `names.${suffix}`));
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
    await close();
    const page = await perfetto.show(join(cwd, `names.${suffix}`));
    assert.equal(await page.locator('img[src=x]').count(), 0);
    await page.context().close();
  }
});
