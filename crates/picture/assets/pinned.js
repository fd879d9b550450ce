// What is known of a thing that is pinned: both its ends, with what the files say of them.
class Pinned {
  constructor(diagram) {
    this.diagram = diagram;
    this.thing = null;
    this.panel = element("section", { id: "pinned", class: "pinned", "aria-label": "Pinned details", hidden: true });
  }

  pin(thing) {
    this.thing = thing;
    showTip("");
    this.panel.hidden = !thing;
    this.panel.replaceChildren(...(thing ? this.details(thing) : []));
    this.diagram.paint();
    if (thing && thing.kind !== "call") this.ask(thing);
  }

  // The server knows what became of an effect, or else the file does.
  ask(thing) {
    const { live } = this.diagram;
    if (live) return live.explain(thing.effect, (it) => { if (this.thing === thing) this.explained(it); });
    const said = explanationOf(thing.effect);
    if (said) this.explained(said);
  }

  // What `retime explain` says of the effect: as what it is recorded, and by which rule its cause was found.
  explained({ recorded_as: recorded, rule }) {
    const facts = [...recorded.map((it) => `recorded as: ${it}`), ...(rule ? [`rule: ${rule}`] : [])];
    this.thing.explained = facts.map(printable);
    document.getElementById("pinned-facts").append(...this.thing.explained.map((it) => element("li", { class: "explained" }, it)));
  }

  isPinned(thing) { return this.thing !== null && isSame(this.thing, thing); }

  details(thing) {
    const ends = endsIn(thing);
    const rows = [["", ...ends.map(([name]) => name)], ...tableOf(thing)];
    const cell = (text, place, head) => element(head || place === 0 ? "th" : "td", { scope: head ? "col" : place === 0 ? "row" : null, class: "wide" }, text);
    const button = (id, name, act) => element("button", { type: "button", id, click: act }, name);
    const copied = element("span", { class: "soft", role: "status" });
    return [
      element("h3", {}, titleOf(thing)),
      scrolled("Both ends", element("table", { id: "pinned-table" },
        element("thead", {}, element("tr", {}, rows[0].map((it, place) => cell(it, place, true)))),
        element("tbody", {}, rows.slice(1).map((row) => element("tr", {}, row.map((it, place) => cell(it, place, false))))))),
      element("ul", { id: "pinned-facts" }, factsOf(thing).map((it) => element("li", {}, it))),
      element("div", { class: "controls" },
        button("other-end", "other end", () => this.otherEnd()),
        button("copy", "copy as text", () => this.copy(copied)), copied,
        button("unpin", "unpin (Escape)", () => { this.pin(null); this.diagram.canvas.focus({ preventScroll: true }); })),
    ];
  }

  // Puts the end that is further from the middle there.
  otherEnd() {
    const { from, to, share } = this.diagram, middle = (from + to) / 2;
    const times = endsIn(this.thing).map(([, end]) => end.time + share * end.added);
    const far = Math.abs(times[0] - middle) > Math.abs(times[1] - middle) ? 0 : 1;
    const half = (to - from) / 2;
    this.diagram.rows.reveal(endsIn(this.thing).map(([, end]) => end.lane));
    this.diagram.show(times[far] - half, times[far] + half);
  }

  async copy(said) {
    const rows = tableOf(this.thing).map((row) => row.join("\t"));
    const text = [titleOf(this.thing), "\t" + endsIn(this.thing).map(([name]) => name).join("\t"), ...rows, ...factsOf(this.thing), ...(this.thing.explained ?? [])].join("\n");
    try {
      await navigator.clipboard.writeText(text);
      said.textContent = "copied";
    } catch {
      // A page of a file may not; what is marked can be copied by hand.
      getSelection().selectAllChildren(this.panel);
      said.textContent = "marked: copy it by hand";
    }
  }
}

// What the file says of an event: texts, between whose parts stand its numbers.
function explanationOf({ lane, event }) {
  const { texts, events } = picture.explained ?? { events: {} }, found = events[`${lane}:${event}`];
  if (!found) return null;
  const sentence = (words) => {
    const [text, ...numbers] = words.split(" ");
    return texts[text].map((part, place) => part + (numbers[place] ?? "")).join("");
  };
  return { recorded_as: found[0].map(sentence), rule: found[1] === null ? null : sentence(found[1]) };
}

const endsIn = (thing) => thing.kind === "call" ? [["entered", thing.begin], ["left", thing.end]]
  : thing.kind === "message" ? [["sent", thing.cause], ["received", thing.effect]] : [["last begin", thing.cause], ["end", thing.effect]];

function titleOf(thing) {
  const [[, one], [, other]] = endsIn(thing), name = (end) => laneName(everyLane[end.lane]);
  if (thing.kind === "call") return `${printable(picture.regions[thing.region] ?? "no region")} at ${name(one)}`;
  return `${thing.kind === "message" ? "message" : "collective operation"}: ${name(one)} to ${name(other)}`;
}

// A stamp as the file has it, to the tick.
const stamp = (ticks) => (BigInt(picture.base) + BigInt(Math.round(ticks))).toString();

// Rows of the table: a name, and a text for each end.
function tableOf(thing) {
  const ends = endsIn(thing).map(([, end]) => end);
  const rows = [["location", ...ends.map((end) => `${laneName(everyLane[end.lane])} (${everyLane[end.lane].id})`)],
    ["event", ...ends.map((end) => String(end.event))],
    ["recorded", ...ends.map((end) => moment(end.time))], ["recorded stamp", ...ends.map((end) => stamp(end.time))]];
  if (picture.corrected) rows.push(["corrected", ...ends.map((end) => moment(end.time + end.added))],
    ["corrected stamp", ...ends.map((end) => stamp(end.time + end.added))], ["moved by", ...ends.map((end) => span(end.added))]);
  const bounds = ends.map((end) => bound(everyLane[end.lane].clock, end.time));
  if (bounds.some((it) => it)) rows.push(["truth at most", ...bounds.map((it) => it ? `${span(it[0])} before, ${span(it[1])} after` : "not bounded")]);
  if (thing.kind === "call") return rows;
  // Files are read for that later.
  if (data.first) return rows;
  rows.push(["in call", ...ends.map((end) => printable(end.call ?? "–"))]);
  if (ends.some((end) => (end.bytes ?? null) !== null)) rows.push(["bytes", ...ends.map((end) => (end.bytes ?? null) === null ? "–" : grouped(end.bytes))]);
  return rows;
}

// What is said of both ends together.
function factsOf(thing) {
  const spanOf = (share) => thing.kind === "call" ? thing.end.time - thing.begin.time + share * (thing.end.added - thing.begin.added) : latencyOf(thing, share);
  const what = thing.kind === "call" ? "length" : "latency";
  const said = [`${what} recorded ${span(spanOf(0))}${spanOf(0) < 0 ? ", so the effect is stamped before its cause" : ""}`];
  if (picture.corrected) said.push(`${what} corrected ${span(spanOf(1))}`);
  if (thing.kind !== "call") {
    if (thing.least !== null && thing.least !== undefined) said.push(`minimal delay ${span(thing.least)}`);
    said.push(...betweenBounds(thing));
    if (thing.communicator) said.push(`communicator ${printable(thing.communicator)}`);
    if ((thing.tag ?? null) !== null) said.push(`tag ${thing.tag}`);
    const { lane, event } = thing.effect;
    said.push(`more: retime explain TRACE ${everyLane[lane].id}:${event}`);
  }
  return said;
}

// Between what the true latency of a dependency lies.
function betweenBounds({ cause, effect }) {
  const [one, other] = [cause, effect].map((end) => bound(everyLane[end.lane].clock, end.time));
  const latency = latencyOf({ cause, effect }, 1);
  return one && other ? [`its latency is between ${span(Math.max(0, latency - other[0] - one[1]))} and ${span(latency + other[1] + one[0])}`] : [];
}
