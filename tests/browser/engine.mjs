// Perfetto's trace processor alone: what the worker of its UI answers to SQL. The UI takes seconds
// to open the smallest trace, as its plugins ask for what they draw. Pages import this file.
//
// Requests and replies are those of protos/perfetto/trace_processor/trace_processor.proto.

const REQUEST = {sequence: 1, kind: 2, data: 101, query: 103};
const KIND = {append: 1, finalize: 2, query: 3, reset: 11};
const REPLY = {fatal: 5, appended: 201, result: 203};
const APPENDED = {error: 2};
const RESULT = {name: 1, error: 2, batch: 3};
const BATCH = {kinds: 1, integers: 2, doubles: 3, blobs: 4, strings: 5, last: 6};
const CELL = {null: 1, integer: 2, double: 3, string: 4, blob: 5};

const text = (bytes) => new TextDecoder().decode(bytes);

// Base 128, low digits first, from `at.next` on; NaN where its end is missing. Integers of 64 bits
// are signed, as SQLite's are.
function varint(bytes, at) {
  let value = 0n;
  for (let shift = 0n; at.next < bytes.length; shift += 7n) {
    const byte = bytes[at.next++];
    value |= BigInt(byte & 0x7f) << shift;
    if (byte < 0x80) return Number(BigInt.asIntN(64, value));
  }
  return NaN;
}

function varints(bytes) {
  const found = [];
  for (const at = {next: 0}; at.next < bytes.length; ) found.push(varint(bytes, at));
  return found;
}

function encoded(value) {
  const bytes = [];
  for (; value >= 0x80; value = Math.floor(value / 0x80)) bytes.push((value % 0x80) | 0x80);
  return [...bytes, value];
}

// The fields of a message: number to values, which are numbers or bytes.
function fields(bytes) {
  const found = new Map();
  for (const at = {next: 0}; at.next < bytes.length; ) {
    const tag = varint(bytes, at);
    const number = Math.floor(tag / 8);
    const length = {0: 0, 1: 8, 2: 0, 5: 4}[tag % 8];
    const value = tag % 8 === 0 ? varint(bytes, at) : cut(bytes, at, length || varint(bytes, at));
    found.set(number, [...(found.get(number) ?? []), value]);
  }
  return found;
}

function cut(bytes, at, length) {
  at.next += length;
  return bytes.subarray(at.next - length, at.next);
}

const integer = (number, value) => Uint8Array.from([...encoded(number * 8), ...encoded(value)]);

function joined(head, tail) {
  const all = new Uint8Array(head.length + tail.length);
  all.set(head);
  all.set(tail, head.length);
  return all;
}

const bytes = (number, content) =>
  joined([...encoded(number * 8 + 2), ...encoded(content.length)], content);

// Adds the cells of a batch to those before; whether it is the last one.
function addBatch(batch, cells) {
  const of = (field) => batch.get(field) ?? [];
  const values = {
    [CELL.integer]: of(BATCH.integers).flatMap(varints),
    [CELL.double]: of(BATCH.doubles).flatMap((it) => [...new Float64Array(it.slice().buffer)]),
    [CELL.string]: of(BATCH.strings).flatMap((it) => text(it).split('\0')),
    [CELL.blob]: of(BATCH.blobs),
  };
  const next = {[CELL.integer]: 0, [CELL.double]: 0, [CELL.string]: 0, [CELL.blob]: 0};
  for (const kind of of(BATCH.kinds).flatMap(varints)) {
    cells.push(kind === CELL.null ? null : values[kind][next[kind]++]);
  }
  return of(BATCH.last)[0] === 1;
}

export class Engine {
  #worker;
  #port;
  #sequence = 0;
  // What came of a reply whose end is missing, and whole replies.
  #begun = new Uint8Array();
  #replies = [];
  #heard = () => {};

  // By the script of the worker.
  constructor(script) {
    this.#worker = new Worker(script);
    const {port1, port2} = new MessageChannel();
    port1.onmessage = ({data}) => this.#hear(data);
    this.#port = port1;
    this.#worker.postMessage(port2, [port2]);
  }

  close() {
    this.#worker.terminate();
  }

  // Forgets the trace, which takes a tenth of starting another worker.
  async reset() {
    this.#send(KIND.reset, new Uint8Array());
    await this.#reply();
  }

  // Reads a trace, given as bytes.
  async read(trace) {
    const PART = 1 << 20;
    for (let from = 0; from < trace.length; from += PART) {
      this.#send(KIND.append, bytes(REQUEST.data, trace.subarray(from, from + PART)));
      const {appended} = await this.#reply();
      this.#refuse(appended.get(APPENDED.error));
    }
    this.#send(KIND.finalize, new Uint8Array());
    await this.#reply();
  }

  // The rows that a statement gives, each an array of its columns.
  async query(sql) {
    this.#send(KIND.query, bytes(REQUEST.query, bytes(1, new TextEncoder().encode(sql))));
    const names = [];
    const cells = [];
    for (let last = false; !last; ) {
      const {result} = await this.#reply();
      this.#refuse(result.get(RESULT.error));
      names.push(...(result.get(RESULT.name) ?? []));
      for (const batch of result.get(RESULT.batch) ?? []) last = addBatch(fields(batch), cells);
    }
    const rows = [];
    for (let at = 0; at < cells.length; at += names.length) {
      rows.push(cells.slice(at, at + names.length));
    }
    return rows;
  }

  #send(kind, argument) {
    const head = [...integer(REQUEST.sequence, this.#sequence++), ...integer(REQUEST.kind, kind)];
    this.#port.postMessage(bytes(1, joined(head, argument)));
  }

  // Takes what comes next in the stream of replies, which is cut anywhere.
  #hear(data) {
    const stream = joined(this.#begun, data);
    const at = {next: 0};
    let end = 0;
    while (at.next < stream.length) {
      varint(stream, at);
      const length = varint(stream, at);
      if (Number.isNaN(length) || at.next + length > stream.length) break;
      this.#replies.push(cut(stream, at, length));
      end = at.next;
    }
    this.#begun = stream.subarray(end);
    this.#heard();
  }

  async #reply() {
    while (this.#replies.length === 0) await new Promise((heard) => (this.#heard = heard));
    const reply = fields(this.#replies.shift());
    this.#refuse(reply.get(REPLY.fatal));
    const [appended, result] = [REPLY.appended, REPLY.result].map((it) => reply.get(it)?.[0]);
    return {appended: fields(appended ?? []), result: fields(result ?? [])};
  }

  #refuse(error) {
    if (error?.[0].length > 0) throw new Error(text(error[0]));
  }
}
