// The verdict in one sentence, and in another what that means for whoever measures in this trace.
function verdict() {
  const { gravity, sentence } = report.verdict;
  const kind = { sound: "good", unknown: "unknown", contradicted: "bad" }[gravity];
  return [element("p", { class: "verdict " + kind, id: "verdict" }, printable(sentence) + "."), element("p", { id: "meaning" }, meaning(), changed())];
}

function meaning() {
  const { before, after, bounds, trace } = report;
  const sure = bounds && bounds.events ? `within ±${span(bounds.mean)} of the truth on average` : null;
  if (after) {
    const kept = "hat was measured inside a process stays as it was.";
    return sure ? `Times between processes are ${sure}; w${kept}` : `W${kept}`;
  }
  if (report.verdict.gravity === "contradicted") {
    const worst = before.smallest_latency_ticks;
    const by = worst < 0 ? ` by up to ${span(-worst)} and more` : "";
    return `Waits, latencies and orders between processes are wrong in this recording${by}; what was measured inside a process is not concerned.`;
  }
  if (report.verdict.gravity === "unknown") return "Whether times of different processes can be compared is not known.";
  if (data.first) return "How far times are from the truth is still being computed.";
  if (!sure && picture?.clocks.length === 1 && trace.locations > 1) return "All locations are taken to read one clock, which nothing in the trace contradicts.";
  return sure ? `Times between processes are ${sure}.` : "How far times are from the truth was not bounded.";
}

// The wait that the correction changed most, if by so much that it changes what one would do.
function changed() {
  if (!picture?.corrected) return "";
  const kinds = [["late_sender", "late senders"], ["late_receiver", "late receivers"], ["barrier", "others at barriers"], ["root", "others in collectives"]];
  let most = null;
  picture.lanes.shown.forEach((lane, number) => {
    for (const [key, whom] of kinds) {
      const { recorded, corrected, certain } = picture.waits.lanes[number][key];
      const by = Math.abs(recorded - corrected);
      if (!most || by > most.by) most = { by, lane, whom, recorded, corrected, certain };
    }
  });
  if (!most || most.by * 10 < Math.max(most.recorded, most.corrected)) return "";
  const sure = picture.waits.bounded && most.corrected > 0 ? most.certain / most.corrected : 1;
  return ` ${laneName(most.lane)} seemed to wait ${span(most.recorded)} for ${most.whom}; it was ${span(most.corrected)}${sure < 0.9 ? `, of which ${percent(sure)} are certain` : ""}.`;
}

// What came out, in five numbers and in words.
function story() {
  const { before, after, distortion, bounds, trace } = report;
  const list = element("ul", { class: "story" });
  const figure = (id, value, text, kind) =>
    list.append(element("li", { class: kind || null }, element("b", { id }, value), text));
  const reversed = before.reversed;
  const total = before.messages.total + before.collectives.total;
  const short = tooFast(before);
  if (short) figure("figure-short", grouped(short), `of ${grouped(total)} dependencies contradict it as recorded (${percent(short / total)}): `
    + `${grouped(reversed)} are reversed, the others faster than the minimal delay that was given, ${givenDelay()}`, "bad");
  else if (total === 0) figure("figure-reversed", "–", "there is no dependency that could be checked");
  else figure("figure-reversed", grouped(reversed), `of ${grouped(total)} dependencies were reversed as recorded (${percent(reversed / total)})`, reversed ? "bad" : "good");
  figure("figure-worst", before.smallest_latency_ticks === null ? "–" : span(before.smallest_latency_ticks),
    "the smallest time from a cause to its effect, as recorded", before.smallest_latency_ticks < 0 ? "bad" : null);
  if (after) {
    const left = tooFast(after) || after.reversed;
    figure("figure-left", grouped(left), (short || left > after.reversed ? "reversed, or faster than that," : "reversed") + " in the corrected trace", left ? "bad" : total ? "good" : null);
  } else {
    figure("figure-order", grouped(before.out_of_order), "events stamped before their predecessor at the same place",
      before.out_of_order ? "bad" : null);
  }
  if (distortion) {
    const kept = distortion.unchanged + distortion.small;
    figure("figure-kept", distortion.intervals ? percent(kept / distortion.intervals) : "–",
      `of intervals within a location keep their length to 0.1 % or a tick; events moved by ${span(distortion.mean_displacement)} on average`);
  } else {
    figure("figure-events", grouped(trace.events), `events at ${grouped(trace.locations)} locations over ${seconds(trace.duration_seconds)}`);
  }
  figure("figure-bound", bounds && bounds.events ? "±" + span(bounds.mean) : "–", bounds && bounds.events
    ? `from the truth at most, on average over events that communicate (±${span(bounds.largest)} at any, ${overRun(bounds)}), if clocks ${notSet(bounds)}wander less than ${(bounds.drift_bound * 1e6).toLocaleString("en-US")} ppm${ifShared(bounds)}`
    : `how far times are from the truth ${data.first ? "is still being computed" : "was not bounded"}`);
  return list;
}

// The condition that no clock was set, unless it is known of some.
function notSet({ if_set: known, contradicted }) {
  return known?.length || contradicted?.length ? "" : "were not set and ";
}

// How many dependencies are reversed or faster than a minimal delay that was given, if any are faster
// that are not reversed: a learned one is a guess.
function tooFast({ short, reversed, reversed_within_clock: within }) {
  return report.parameters?.min_delay?.is_condition && short + within > reversed ? short + within : 0;
}

function givenDelay() {
  const { smallest_ticks: least, largest_ticks: most } = report.parameters.min_delay;
  return least === most ? span(least) : `${span(least)} to ${span(most)}`;
}

// The condition that processes share the clock of their node, where they are taken to.
function ifShared({ if_shared: shared }) {
  if (!shared) return "";
  // A long list ends with words instead of a clock.
  const names = [...new Set(shared.flatMap((it) => it.node ?? []))].map(printable);
  return `, and if processes of one node read one clock: on ${names.slice(0, 3).join(", ")}${names.length > 3 ? " and others" : ""}`;
}

// The bound of the whole run, events that do not communicate too.
function overRun(bounds) {
  const largest = bounds.largest_over_run;
  return largest === undefined || largest === null ? "not bounded over the whole run"
    : `±${span(largest)} over the whole run`;
}

// What was found odd, with the places where it was seen first.
function oddities() {
  const warnings = (report.warnings ?? []).map((it) => element("div", { class: "warning" }, printable(it)));
  const defects = (report.matching?.oddities ?? []).map((it) => {
    const places = it.first.map((place) => `event ${grouped(place.event)} of location ${place.location}`);
    return element("div", { class: "warning" }, printable(it.text), places.length
      ? element("div", { class: "soft" }, "first: " + places.join(", ")) : null);
  });
  const all = [...warnings, ...defects];
  return all.length === 0 ? [] : [element("h2", {}, "What to know before trusting it"), ...all];
}

// By what command, with what parameters.
function provenance() {
  const rows = [];
  const add = (value, path) => {
    if (value !== null && typeof value === "object") {
      for (const [key, inner] of Object.entries(value)) add(inner, path ? path + "." + key : key);
    } else rows.push([path, String(value)]);
  };
  add(report.parameters ?? { min_delay: report.min_delay, drift_bound: report.drift_bound }, "");
  if (report.method) add(report.method, "method");
  return [
    element("h2", {}, "How it was made"),
    element("p", {}, element("code", { id: "command" }, printable(data.command))),
    element("p", { class: "soft" }, `retime ${data.version}`),
    element("details", {}, element("summary", {}, "Parameters"),
      scrolled("Parameters", element("table", {}, element("tbody", {}, rows.map(([key, value]) =>
        element("tr", {}, element("td", {}, key), element("td", { class: "wide" }, printable(value)))))))),
  ];
}
