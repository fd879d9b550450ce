// Views as they lie in the file are packed: calls are flat lists, times count from the
// begin of the view. Unpacked, everything that can be pointed at is a thing with its ends:
//
//   call       { lane, region, depth, begin, end }
//   message    { cause, effect, communicator, tag, least }
//   collective { members: [{ lane, begin, end, bytes }], call, communicator }
//
// and an end is { lane, time, added, event, bytes, call }.
function unpacked(view) {
  if (view.unpacked) return view;
  const { names, messages, operations } = view.arrows;
  const named = (number) => (number === null ? null : names[number]);
  const at = (lane, [time, added, event], more) => ({ lane, time: view.from + time, added, event, ...more });
  view.calls = new Map();
  view.bands = new Map();
  view.rows.forEach((lane, place) => {
    const slices = view.slices[place];
    if (slices) view.calls.set(lane, callsOf(lane, slices.calls, view.from));
    else if (view.strips[place]) view.bands.set(lane, view.strips[place]);
  });
  view.arrows.messages = messages.map(([send, receive, [tag, communicator, least]]) => {
    const end = ([lane, time, added, event, bytes, call]) => at(lane, [time, added, event], { bytes, call: named(call) });
    return { kind: "message", cause: end(send), effect: end(receive), tag, communicator: named(communicator), least };
  });
  view.arrows.operations = operations.map(([members, call, communicator]) => ({
    call: named(call), communicator: named(communicator),
    members: members.map(([lane, begin, end, bytes]) => ({
      lane, begin: begin && at(lane, begin, { bytes, call: named(call) }), end: end && at(lane, end, { bytes, call: named(call) }),
    })),
  }));
  view.unpacked = true;
  return view;
}

function callsOf(lane, flat, from) {
  const calls = [];
  for (let place = 0; place + 7 < flat.length; place += 8) {
    const [time, length, region, depth, added, more, first, events] = flat.slice(place, place + 8);
    const begin = { lane, time: from + time, added, event: first };
    const end = { lane, time: from + time + length, added: added + more, event: first + events };
    calls.push({ kind: "call", lane, region, depth, begin, end });
  }
  return calls;
}

// The dependencies of an operation: from the last begin, when so much of what was added counts, to every
// end of another that follows it.
function endsOf(operation, share) {
  const time = (end) => end.time + share * end.added;
  let cause = null;
  for (const { begin } of operation.members) if (begin && (!cause || time(begin) > time(cause))) cause = begin;
  if (!cause) return [];
  const others = operation.members.filter(({ lane, end }) => end && lane !== cause.lane);
  return others.map(({ end }) => ({ kind: "collective", cause, effect: end, communicator: operation.communicator, least: picture.least }));
}

const latencyOf = (it, share) => it.effect.time - it.cause.time + share * (it.effect.added - it.cause.added);

// Tells a thing again after what is drawn was asked for anew.
const isSame = (one, other) => one.kind === other.kind && [["cause", "effect"], ["begin", "end"]].some(([from, to]) =>
  one[from] && one[from].lane === other[from].lane && one[from].event === other[from].event
  && one[to].lane === other[to].lane && one[to].event === other[to].event);
