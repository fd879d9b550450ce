// A client that calls a server, in packets of Perfetto, as bytes: fields by the numbers of
// protos/perfetto/trace in github.com/google/perfetto.

export const CALLS = 20;

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
// client has an incremental clock, the server that of the wall, and there are stages of a GPU. Files
// of other numbers have the same, but for arrows and names of calls.
export function calls(file = 0) {
  const out = [];
  const [of, arrow] = [file ? ` of ${file}` : '', 1000 * file];
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
    client(at, number(9, 1), number(3, 1), bytes(23, `call ${call}${of}`), fixed(47, arrow + 100 + call),
      bytes(4, [number(1, 1), number(4, call)]), annotation('text', `of ${call}`));
    client(at + 20_000, number(9, 3), bytes(23, `sent ${call}`));
    server(at + 30_000, number(9, 1), number(11, 4), bytes(23, `serve ${call}`), fixed(48, arrow + 100 + call));
    server(at + 40_000, number(9, 4), number(11, 5), number(30, call));
    server(at + 50_000, number(9, 2), number(11, 4));
    server(at + 60_000, number(9, 1), number(11, 4), bytes(23, `answer ${call}`), fixed(47, arrow + 200 + call));
    server(at + 70_000, number(9, 2), number(11, 4));
    out.push(packet(number(8, at - 260_000), number(10, 9), number(13, 2), bytes(53, [
      number(1, call + 1), number(2, 5_000 + call), number(13, 1), number(14, 2), number(5, 1),
      bytes(17, `kernel ${call}`), bytes(6, [bytes(1, 'stream'), bytes(2, '7')]),
    ])));
    client(at + 80_000, number(9, 2));
    client(at + 90_000, number(9, 1), bytes(23, `got ${call}`), fixed(48, arrow + 200 + call));
    client(at + 95_000, number(9, 2));
  }
  return Buffer.from(out.flat(9));
}
