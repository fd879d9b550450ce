// Which locations are drawn: those that are asked for, in groups by node that fold, so many at a time as
// a screen shows.
const MOST_ROWS = 64;

class Rows {
  constructor(changed) {
    this.changed = changed;
    this.folded = new Set();
    this.asked = "";
    this.first = 0;
    this.groups = groupOf();
    this.preferred = picture.rows?.first ?? [...everyLane.keys()];
    this.filter = element("input", { type: "search", id: "rows-filter", placeholder: "rank 100-163, node7", "aria-label": "Show locations by number or name",
      input: () => this.ask(this.filter.value) });
    this.pages = ["earlier", "later"].map((name, place) => element("button", { type: "button", id: "rows-" + name,
      click: () => this.page(place ? 1 : -1) }, place ? "later rows" : "earlier rows"));
    this.said = element("span", { class: "soft", id: "rows-said", "aria-live": "polite" });
    this.nodes = element("div", { class: "controls", id: "rows-nodes" });
    this.arrange();
  }

  section() {
    const all = element("button", { type: "button", id: "rows-all", click: () => this.ask("all") }, "all");
    const fold = (name, fold) => element("button", { type: "button", id: "rows-" + name, click: () => this.foldAll(fold) }, name + " all");
    const controls = element("div", { class: "controls" }, element("label", {}, "Rows", this.filter),
      picture.rows ? all : null, this.groups ? [fold("fold", true), fold("unfold", false)] : null, this.pages, this.said);
    return [controls, this.nodes];
  }

  // The lanes that are asked for: those that contradict each other most, if nothing else is.
  wanted() {
    return lanesBy(this.asked) ?? this.preferred;
  }

  // Puts the lanes into rows: a row for each, and one for each group.
  arrange() {
    const wanted = this.wanted();
    this.lines = this.groups ? this.grouped(wanted) : wanted.map((lane) => ({ lane }));
    this.first = Math.max(0, Math.min(this.first, this.lines.length - 1));
    this.shown = this.lines.slice(this.first, this.first + MOST_ROWS);
    this.place = new Map();
    this.shown.forEach((row, place) => { for (const lane of row.hidden ?? [row.lane]) this.place.set(lane, place); });
    this.tell(wanted);
  }

  grouped(wanted) {
    const groups = new Map();
    for (const lane of wanted) {
      const name = this.groups(everyLane[lane]);
      groups.set(name, [...(groups.get(name) ?? []), lane]);
    }
    return [...groups].flatMap(([group, lanes]) => {
      const folded = this.folded.has(group);
      return [{ group, lanes, hidden: folded ? lanes : [] }, ...(folded ? [] : lanes.map((lane) => ({ lane })))];
    });
  }

  // How many are shown, and what of them is not, in words; and a button for each group.
  tell(wanted) {
    const { empty, left_out } = picture.lanes;
    const last = this.first + this.shown.length, parts = [`${grouped(wanted.length)} of ${counted(everyLane.length, "location")}`];
    if (this.lines.length > this.shown.length) parts.push(`rows ${grouped(this.first + 1)} to ${grouped(last)} of ${grouped(this.lines.length)}`);
    if (!picture.rows && left_out) parts.push(`${grouped(left_out)} more are not in this file (retime view has all)`);
    if (empty) parts.push(`${grouped(empty)} without events`);
    this.said.textContent = parts.join("; ");
    this.pages.forEach((it, place) => {
      it.hidden = this.lines.length <= MOST_ROWS;
      it.disabled = place ? last >= this.lines.length : this.first === 0;
    });
    const heads = this.shown.filter((row) => row.group !== undefined);
    this.nodes.replaceChildren(...heads.map(({ group, lanes }) => element("button", { type: "button", "aria-expanded": String(!this.folded.has(group)),
      click: () => this.fold(group) }, `${printable(group)} (${grouped(lanes.length)})`)));
  }

  change() {
    const focused = this.nodes.contains(document.activeElement) ? [...this.nodes.children].indexOf(document.activeElement) : -1;
    this.arrange();
    // The buttons are new ones.
    this.nodes.children[focused]?.focus();
    this.changed();
  }

  ask(text) {
    this.asked = text;
    if (this.filter.value !== text) this.filter.value = text;
    this.first = 0;
    this.change();
  }

  page(by) { this.first += by * MOST_ROWS; this.change(); }
  fold(group) { if (!this.folded.delete(group)) this.folded.add(group); this.change(); }

  foldAll(fold) {
    this.folded = new Set(fold ? this.lines.filter((row) => row.group !== undefined).map((row) => row.group) : []);
    this.first = 0;
    this.change();
  }

  // Sees to it that lanes are shown: they are unfolded, turned to, or else asked for with some of the others.
  reveal(lanes) {
    const areShown = () => lanes.every((lane) => this.shown.some((row) => row.lane === lane));
    if (areShown()) return;
    if (this.groups) for (const lane of lanes) this.folded.delete(this.groups(everyLane[lane]));
    this.arrange();
    if (!areShown()) this.turnTo(lanes[0]);
    if (!areShown()) this.askFor(lanes);
    this.changed();
  }

  turnTo(lane) {
    const place = Math.max(0, this.lines.findIndex((row) => row.lane === lane));
    this.first = place - (place % MOST_ROWS);
    this.arrange();
  }

  askFor(lanes) {
    const others = this.preferred.filter((lane) => !lanes.includes(lane)).slice(0, MOST_ROWS / 2 - lanes.length);
    const numbers = new Set([...lanes, ...others].map((lane) => laneNumber(everyLane[lane])));
    const text = stretches([...numbers].sort((one, other) => one - other));
    // Where numbers tell no locations apart, all are there, some rows at a time.
    const few = lanesBy(text).length <= MOST_ROWS;
    [this.asked, this.filter.value, this.first] = [few ? text : "all", few ? text : "all", 0];
    this.arrange();
    this.turnTo(lanes[0]);
  }

  // The lanes whose calls are drawn, and those whose group is folded.
  drawn() { return this.shown.filter((row) => row.group === undefined).map((row) => row.lane); }
  hidden() { return this.shown.flatMap((row) => row.hidden ?? []); }
}

// By what locations are put together: their nodes, if there are several, or where rows are many
// their processes, if these have several; null if by nothing.
function groupOf() {
  const nodes = new Set(everyLane.map((it) => it.node ?? ""));
  if (nodes.size > 1) return (lane) => lane.node || "node unknown";
  const several = everyLane.length > 8 && perProcess.size > 1 && perProcess.size < everyLane.length;
  return several ? (lane) => lane.process || "process unknown" : null;
}

// Numbers that rise, as stretches: 0-63,70.
function stretches(numbers) {
  const parts = [];
  for (const number of numbers) {
    const last = parts[parts.length - 1];
    if (last && last[1] + 1 === number) last[1] = number; else parts.push([number, number]);
  }
  return parts.map(([from, to]) => (from === to ? String(from) : `${from}-${to}`)).join(",");
}
