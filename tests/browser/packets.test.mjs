// A corrected trace of Perfetto, read by its own trace processor: row by row as before but for
// times, arguments, arrows and counters included, and without an error in its statistics.

import assert from 'node:assert/strict';
import {writeFileSync} from 'node:fs';
import {join} from 'node:path';
import {after, before, test} from 'node:test';

import {Perfetto} from './perfetto.mjs';
import {retime, scratch} from './tools.mjs';

let perfetto;
before(async () => (perfetto = await Perfetto.start()));
after(() => perfetto?.stop());

const CALLS = 20;

// Fields of messages, by the numbers of protos/perfetto/trace in github.com/google/perfetto.
function varint(value) {
  let rest = BigInt.asUintN(64, BigInt(value));
  const bytes = [];
  for (; rest >= 0x80n; rest >>= 7n) bytes.push(Number(rest & 0x7fn) | 0x80);
  return [...bytes, Number(rest)];
}
const number = (field, value) => [...varint(field << 3), ...varint(value)];
const bytes = (field, value) => {
  const content = typeof value === 'string' ? [...Buffer.from(value)] : value.flat(9);
  return [...varint((field << 3) | 2), ...varint(content.length), ...content];
};
const fixed = (field, value) => {
  const content = Buffer.alloc(8);
  content.writeBigUInt64LE(BigInt(value));
  return [...varint((field << 3) | 1), ...content];
};
const packet = (...fields) => bytes(1, fields);
const annotation = (name, value) =>
  bytes(4, [bytes(10, name), typeof value === 'string' ? bytes(6, value) : number(4, value)]);

// Calls of a client on a server whose clock is 300 us behind: each is served before it is made. The
// client has an incremental clock, the server that of the wall, and there are stages of a GPU.
function calls() {
  const out = [];
  const process = (uuid, pid, name) => bytes(60, [number(1, uuid), bytes(3, [number(1, pid), bytes(6, name)])]);
  const thread = (uuid, pid) => bytes(60, [number(1, uuid), bytes(4, [number(1, pid), number(2, pid + 1)])]);
  out.push(packet(process(1, 10, 'client')), packet(thread(2, 10)));
  out.push(packet(process(3, 20, 'server')), packet(thread(4, 20)));
  out.push(packet(bytes(60, [number(1, 5), number(5, 3), bytes(2, 'load'), bytes(8, [])])));
  const start = 1_000_000_000;
  const wall = 1_790_000_000_000_000_000n;
  const reading = (id, shows, more = []) => bytes(1, [number(1, id), number(2, shows), more]);
  const readings = (more) => [reading(6, start), reading(1, wall + BigInt(start)), more];
  out.push(packet(bytes(6, readings([])), number(10, 1)));
  out.push(packet(
    bytes(6, readings(reading(64, start, number(3, 1)))), number(10, 7), number(13, 1),
    bytes(59, [number(58, 64), bytes(11, number(11, 2))]),
    bytes(12, [bytes(1, [number(1, 1), bytes(2, 'rpc')]), bytes(3, [number(1, 1), bytes(2, 'size')])]),
  ));
  out.push(packet(number(10, 9), number(13, 1), bytes(12, [
    bytes(24, [number(1, 1), bytes(2, 'queue')]), bytes(24, [number(1, 2), bytes(2, 'kernel')]),
    bytes(23, [number(1, 1), number(2, 20), number(3, 4)]),
  ])));
  out.push(packet(number(10, 8), number(13, 1)));
  let last = start;
  const client = (time, ...event) => {
    out.push(packet(number(8, time - last), number(10, 7), number(13, 2), bytes(11, event)));
    last = time;
  };
  const server = (time, ...event) => {
    const stamp = wall + BigInt(time - 300_000);
    out.push(packet(number(8, stamp), number(58, 1), number(10, 8), bytes(11, event), bytes(777, 'unknown')));
  };
  for (let call = 0; call < CALLS; call++) {
    const at = start + 1_000_000 * (call + 1) + ((call * 7919) % 13) * 10_000;
    client(at, number(9, 1), number(3, 1), bytes(23, `call ${call}`), fixed(47, 100 + call),
      bytes(4, [number(1, 1), number(4, call)]), annotation('text', `of ${call}`));
    client(at + 20_000, number(9, 3), bytes(23, `sent ${call}`));
    server(at + 30_000, number(9, 1), number(11, 4), bytes(23, `serve ${call}`), fixed(48, 100 + call));
    server(at + 40_000, number(9, 4), number(11, 5), number(30, call));
    server(at + 50_000, number(9, 2), number(11, 4));
    server(at + 60_000, number(9, 1), number(11, 4), bytes(23, `answer ${call}`), fixed(47, 200 + call));
    server(at + 70_000, number(9, 2), number(11, 4));
    out.push(packet(number(8, at - 260_000), number(10, 9), number(13, 2), bytes(53, [
      number(1, call + 1), number(2, 5_000 + call), number(13, 1), number(14, 2), number(5, 1),
      bytes(17, `kernel ${call}`), bytes(6, [bytes(1, 'stream'), bytes(2, '7')]),
    ])));
    client(at + 80_000, number(9, 2));
    client(at + 90_000, number(9, 1), bytes(23, `got ${call}`), fixed(48, 200 + call));
    client(at + 95_000, number(9, 2));
  }
  return Buffer.from(out.flat(9));
}

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
