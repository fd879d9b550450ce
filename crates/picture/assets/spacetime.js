// The space-time diagram: locations from top to bottom, time from left to right.
//
// Everything that is drawn has a recorded time and what was added to it; `share` says how
// much of that is drawn, from 0 (recorded) to 1 (corrected). Of a corrected trace both are drawn, one
// below the other on one axis, as long as they fit a screen. `painter.js` draws.
class SpaceTime {
  constructor() {
    this.share = 0;
    this.rows = new Rows(() => { this.live?.ask(); this.address?.note(); this.paint(); });
    this.both = picture.corrected && this.rows.shown.length <= 16;
    this.canvas = element("canvas", {
      tabindex: "0", role: "img", id: "spacetime", "aria-describedby": "keys",
      "aria-label": "Space-time diagram: locations from top to bottom, time from left to right.",
      wheel: (event) => this.wheel(event), pointerdown: (event) => this.grab(event),
      pointermove: (event) => this.move(event), pointerup: (event) => this.release(event),
      pointerleave: () => { if (!this.held) showTip(""); }, keydown: (event) => this.key(event),
      dblclick: () => this.fit(),
    });
    this.painter = new Painter(this);
    this.paint = () => { this.repaint(); this.overview?.paint(); };
    this.repaint = sharp(this.canvas, () => this.panels().length * this.painter.height(), (...all) => this.painter.draw(...all));
    this.pinned = new Pinned(this);
    this.overview = new Overview(this);
    this.chooser = element("select", { id: "view", change: () => { this.choose(Number(this.chooser.value)); this.address.step(); } },
      picture.views.map((view, number) => element("option", { value: number }, printable(view.title))));
    this.slider = element("input", { type: "range", id: "share", min: 0, max: 100, value: this.share * 100,
      "aria-label": "From recorded to corrected times", input: () => this.set(Number(this.slider.value) / 100) });
    this.buttons = [["recorded", 0], ["corrected", 1]].map(([name, share]) =>
      element("button", { type: "button", id: "show-" + name, click: () => this.animate(share) }, name));
    this.twice = element("button", { type: "button", id: "show-both", click: () => this.showBoth() }, "both");
    this.kinds = { messages: true, collectives: true, contradictions: false };
    this.boxes = Object.fromEntries(Object.keys(this.kinds).map((kind) =>
      [kind, element("input", { type: "checkbox", id: "only-" + kind, checked: this.kinds[kind], change: (event) => this.toggle(kind, event.target.checked) })]));
    this.note = element("p", { class: "soft", id: "view-note" });
    this.edge = element("p", { class: "soft", id: "edge", hidden: true }, "Where it is grey, this file has nothing: choose another place or the whole trace under Show; retime view has everything.");
    this.list = element("div");
    this.address = new Address(this);
    // The server of `retime view`, where there is one, knows more than the page.
    this.live = data.live ? new Live(this) : null;
    addEventListener("keydown", (event) => this.anywhere(event));
    if (!this.address.restore()) this.choose(picture.views.length > 1 ? 1 : 0);
    this.pressed();
  }

  // What is drawn one below the other.
  panels() {
    if (!this.both) return [{ share: this.share, title: null }];
    return [{ share: 0, title: "as recorded" }, { share: 1, title: "corrected" }];
  }

  section() {
    const zoom = (name, label, factor) => element("button", { type: "button", "aria-label": label, click: () => this.zoom(factor) }, name);
    return [
      element("h2", {}, "Space and time"),
      ...this.overview.section(),
      element("div", { class: "controls" },
        element("label", {}, "Show", this.chooser),
        picture.corrected ? [this.twice, this.buttons[0], this.slider, this.buttons[1]] : null,
        zoom("+", "Zoom in", 0.5), zoom("−", "Zoom out", 2),
        element("button", { type: "button", click: () => this.fit() }, "all of it"), this.toggles()),
      ...(everyLane.length > 8 || this.rows.groups ? this.rows.section() : []),
      this.canvas, this.edge, this.pinned.panel, this.note,
      element("p", { class: "soft", id: "keys" }, `In the diagram: arrow keys left and right pan, plus and minus zoom (so does Ctrl with the wheel), 0 shows all of the place${picture.corrected ? ", space switches between recorded and corrected times" : ""}; up and down go from one arrow or call to the next, Enter or a click pins it, Escape unpins; n and p go to the next contradiction and back.`),
      this.legend(), this.overview.list(), this.list,
    ];
  }

  legend() {
    const most = picture.regions.slice(0, palette.length);
    const entry = (colour, text) => element("li", {}, element("span", { class: "swatch", style: "background:" + colour }), printable(text));
    const items = most.map((name, number) => entry(colourOf(number), name));
    if (picture.regions.length > most.length) items.push(element("li", { class: "soft" },
      `and ${picture.regions.length - most.length} more, in the same colours again`));
    if (report.before?.reversed || picture.contradictions.worst.length) items.push(entry("var(--bad)", "reversed: arrives before it was sent"));
    return element("ul", { class: "legend" }, items);
  }

  // Boxes that say which arrows are drawn.
  toggles() {
    const texts = { messages: "messages", collectives: "collectives", contradictions: "contradictions only" };
    return Object.entries(texts).map(([kind, text]) => element("label", {}, this.boxes[kind], text));
  }

  toggle(kind, isOn) {
    this.boxes[kind].checked = this.kinds[kind] = isOn;
    this.address.note();
    this.paint();
  }

  // From when to when there is something of the place that is shown; null if everywhere.
  stored() {
    if (this.live || this.number === 0) return null;
    const pad = this.padOfPlace();
    return [this.place.from - pad, this.place.to + pad];
  }

  // A little beyond the place is shown with it.
  padOfPlace() { return Math.max(1, (this.place.to - this.place.from) * 0.01); }

  choose(number) {
    this.number = number;
    this.place = unpacked(picture.views[number]);
    // The server says what there is to see; what is drawn stays until it does.
    if (!this.live || !this.view) this.view = this.place;
    this.chooser.value = String(number);
    this.focused = null;
    this.findWorst();
    const found = this.overview.found.find((it) => this.isOf(this.place, it));
    if (found) this.rows.reveal([found.from, found.to]);
    this.fit();
    this.tell();
  }

  // The dependency of the place that is reversed furthest, as recorded.
  findWorst() {
    const { messages, operations } = this.view.arrows;
    let worst = null;
    for (const it of [...messages, ...operations.flatMap((all) => endsOf(all, 0))]) {
      if (latencyOf(it, 0) < 0 && !(worst && latencyOf(worst, 0) <= latencyOf(it, 0))) worst = it;
    }
    this.worst = worst;
  }

  // Shows what there is to see of a stretch.
  put(view) {
    this.view = unpacked(view);
    this.findWorst();
    this.tell();
    this.paint();
    this.pinAwaited();
  }

  // To a contradiction, and pins it.
  visit(found) {
    this.pinned.pin(null);
    this.choose(found.view);
    this.rows.reveal([found.from, found.to]);
    const wide = Math.max(8, -found.latency * 3);
    this.show(Math.min(found.time, found.caused) - wide, Math.max(found.time, found.caused) + wide);
    this.awaited = found;
    this.pinAwaited();
    this.address.step();
  }

  // Pins what was gone to, once it is there.
  pinAwaited() {
    if (!this.awaited) return;
    const { from, cause, to, effect } = this.awaited, { messages, operations } = this.view.arrows;
    const is = (it) => it.cause.lane === from && it.cause.event === cause && it.effect.lane === to && it.effect.event === effect;
    const found = messages.find(is) ?? operations.flatMap((all) => endsOf(all, 0)).find(is);
    if (!found) return;
    this.awaited = null;
    this.pinned.pin(found);
  }

  // What is not drawn, in words.
  tell() {
    const { slices, arrows, strips } = this.view;
    const left = slices.reduce((sum, lane) => sum + (lane?.left_out ?? 0), 0);
    const said = data.first ? ["Calls are not drawn yet."] : [];
    if (strips.some((it) => it)) said.push("Each colour is what a location did most of the time there; choose a place to see single calls.");
    if (left) said.push(`${grouped(left)} shorter calls are not drawn.`);
    const some = (drawn, all, what) => { if (drawn < all) said.push(`${grouped(drawn)} of ${grouped(all)} ${what} are drawn, reversed ones first.`); };
    some(arrows.messages.length, arrows.all_messages, "messages");
    some(arrows.operations.length, arrows.all_operations, "collective operations");
    if (arrows.messages.length > MANY_ARROWS) said.push("Arrows that would lie on each other are drawn as one, darker the more they are.");
    this.note.textContent = said.join(" ");
    this.list.replaceChildren(this.table());
  }

  // The same for those who cannot see it.
  table() {
    const rows = this.view.arrows.messages.slice(0, 50).map((it) => {
      const name = (end) => laneName(everyLane[end.lane]);
      const cells = [name(it.cause), name(it.effect), moment(it.cause.time), span(latencyOf(it, 0))];
      if (picture.corrected) cells.push(span(latencyOf(it, 1)));
      const pin = element("button", { type: "button", click: () => this.pinned.pin(it) }, cells[0]);
      return element("tr", {}, [pin, ...cells.slice(1)].map((cell) => element("td", {}, cell)));
    });
    if (!rows.length) return "";
    const heads = ["from (pins it)", "to", "sent, as recorded", "latency recorded"].concat(picture.corrected ? ["corrected"] : []);
    return element("details", {}, element("summary", {}, `The first ${rows.length} of these messages as a table`),
      scrolled("Messages", element("table", {}, element("thead", {}, element("tr", {}, heads.map((it) => element("th", { scope: "col" }, it)))),
        element("tbody", {}, rows))));
  }

  // The whole place; where something in it is reversed, so much around that as lets one see by how much.
  fit() {
    const pad = this.padOfPlace();
    const [begin, end] = this.extent();
    const [first, last] = [Math.max(begin, this.place.from - pad), Math.min(end, this.place.to + pad)];
    const times = this.number === 0 ? [] : this.timesOfWorst();
    if (times.length === 0) return this.show(first, last);
    const by = Math.abs(times[0] - times[1]);
    this.show(Math.max(first, Math.min(...times) - 1.5 * by), Math.min(last, Math.max(...times) + 1.5 * by));
  }

  // When the worst contradiction of the place was, both ends as recorded first; what is not drawn yet is
  // known from the list.
  timesOfWorst() {
    if (this.live) {
      const found = this.overview.found.find((it) => this.isOf(this.place, it));
      return found ? [found.caused, found.time] : [];
    }
    if (!this.worst) return [];
    const ends = [this.worst.cause, this.worst.effect];
    return [...ends.map((end) => end.time), ...ends.map((end) => end.time + end.added)];
  }

  // Whether a place was chosen for a contradiction.
  isOf({ dependency }, { from, cause, to, effect }) {
    const is = ([place, event], lane, number) => place === everyLane[lane].id && event === number;
    return dependency !== null && is(dependency[0], from, cause) && is(dependency[1], to, effect);
  }

  // All of the trace, and a little more.
  extent() {
    const whole = picture.views[0], pad = Math.max(8, (whole.to - whole.from) * 0.02);
    return [whole.from - pad, whole.to + pad];
  }

  // Shows a stretch of the trace; there is nothing before it and after it.
  show(from, to) {
    const [first, last] = this.extent();
    const length = Math.min(last - first, Math.max(8, to - from)), middle = (from + to) / 2;
    const begin = Math.max(first, Math.min(last - length, middle - length / 2));
    [this.from, this.to] = [begin, begin + length];
    const stored = this.stored();
    this.edge.hidden = !stored || (this.from >= stored[0] - 1 && this.to <= stored[1] + 1);
    this.live?.ask();
    this.address?.note();
    this.paint();
  }

  set(share) {
    this.both = false;
    this.share = share;
    this.pressed();
    this.address.note();
    this.paint();
  }

  showBoth() {
    cancelAnimationFrame(this.frame);
    this.both = true;
    this.pressed();
    this.address.note();
    this.paint();
  }

  pressed() {
    this.slider.value = String(this.share * 100);
    this.twice.setAttribute("aria-pressed", String(this.both));
    this.buttons.forEach((it, number) => it.setAttribute("aria-pressed", String(!this.both && this.share === number)));
  }

  animate(to) {
    cancelAnimationFrame(this.frame);
    if (matchMedia("(prefers-reduced-motion: reduce)").matches) return this.set(to);
    const from = this.share, start = performance.now();
    const step = (now) => {
      const done = Math.min(1, (now - start) / 700), eased = done * done * (3 - 2 * done);
      this.set(from + (to - from) * eased);
      if (done < 1) this.frame = requestAnimationFrame(step);
    };
    this.frame = requestAnimationFrame(step);
  }

  zoom(factor, around = (this.from + this.to) / 2) {
    this.show(around + (this.from - around) * factor, around + (this.to - around) * factor);
  }

  pan(share) {
    const by = (this.to - this.from) * share;
    this.show(this.from + by, this.to + by);
  }

  // The wheel alone scrolls the page; with Ctrl, as which browsers report pinching too, it zooms.
  wheel(event) {
    const sideways = event.shiftKey || Math.abs(event.deltaX) > Math.abs(event.deltaY);
    if (!sideways && !event.ctrlKey && !event.metaKey) return;
    event.preventDefault();
    if (sideways) return this.pan((event.deltaX || event.deltaY) / 1000);
    this.zoom(Math.exp(Math.max(-1, Math.min(1, event.deltaY / 300))), this.painter.time(event.offsetX));
  }

  grab(event) {
    this.held = { x: event.offsetX, from: this.from, to: this.to, moved: false };
    this.canvas.setPointerCapture(event.pointerId);
  }

  move(event) {
    if (!this.held) return showTip(this.describe(this.painter.thingAt(event.offsetX, event.offsetY)), event.clientX, event.clientY);
    if (Math.abs(event.offsetX - this.held.x) > 3) this.held.moved = true;
    if (!this.held.moved) return;
    const by = this.painter.duration(event.offsetX - this.held.x, this.held.to - this.held.from);
    this.show(this.held.from - by, this.held.to - by);
  }

  // A click, which is no drag, pins what is there, or folds a group by its name.
  release(event) {
    const held = this.held;
    this.held = null;
    if (!held || held.moved) return;
    const group = this.painter.groupAt(event.offsetY);
    if (group !== null) return this.rows.fold(group);
    const found = this.painter.thingAt(event.offsetX, event.offsetY);
    if (found) this.pinned.pin(found.thing);
  }

  key(event) {
    const act = { ArrowLeft: () => this.pan(-0.15), ArrowRight: () => this.pan(0.15), "+": () => this.zoom(0.6), "=": () => this.zoom(0.6),
      "-": () => this.zoom(1 / 0.6), 0: () => this.fit(), " ": () => picture.corrected && this.animate(this.share > 0.5 ? 0 : 1),
      ArrowUp: () => this.focus(-1), ArrowDown: () => this.focus(1), Enter: () => this.focused && this.pinned.pin(this.focused) }[event.key];
    if (!act || event.ctrlKey || event.metaKey || event.altKey) return;
    event.preventDefault();
    act();
  }

  // Keys that work wherever nothing is typed.
  anywhere(event) {
    if (event.ctrlKey || event.metaKey || event.altKey || ["INPUT", "SELECT", "TEXTAREA"].includes(event.target.tagName)) return;
    if (event.key === "Escape") { this.pinned.pin(null); this.focused = null; showTip(""); this.paint(); }
    if (event.key === "n") this.overview.step(1);
    if (event.key === "p") this.overview.step(-1);
  }

  // To the next or the last thing that is drawn, in the order of time: arrows, and then calls.
  focus(by) {
    const things = this.painter.things();
    if (things.length === 0) return;
    const place = this.focused ? things.findIndex((it) => isSame(it.thing, this.focused)) : -1;
    const next = place < 0 ? (by > 0 ? 0 : things.length - 1) : (place + by + things.length) % things.length;
    this.focused = things[next].thing;
    const { left, top } = this.canvas.getBoundingClientRect(), [x, y] = things[next].point;
    showTip(this.describe(things[next]), left + x, top + y);
    this.paint();
  }

  describe(found) {
    if (!found) return "";
    const { thing, share, more } = found;
    const lines = thing.kind === "call" ? this.describeCall(thing, share) : this.describeDependency(thing);
    if (more > 1) lines.push(`and ${grouped(more - 1)} more that lie on it`);
    return lines.join("\n");
  }

  describeCall({ lane, region, begin, end }, share) {
    const lines = [printable(picture.regions[region] ?? "no region") + " for " + span(end.time - begin.time + share * (end.added - begin.added)),
      "recorded " + moment(begin.time)];
    if (picture.corrected) lines.push("corrected " + moment(begin.time + begin.added));
    const known = bound(everyLane[lane].clock, begin.time);
    return known ? [...lines, `the truth is at most ${span(known[0])} before and ${span(known[1])} after`] : lines;
  }

  describeDependency(thing) {
    const { kind, cause, effect } = thing, name = (end) => laneName(everyLane[end.lane]);
    const lines = [kind === "message" ? `message from ${name(cause)} to ${name(effect)}` : `last begin at ${name(cause)}, end at ${name(effect)}`];
    lines.push(`recorded: ${moment(cause.time)} to ${moment(effect.time)}, ${span(latencyOf(thing, 0))}`);
    if (picture.corrected) lines.push(`corrected: ${moment(cause.time + cause.added)} to ${moment(effect.time + effect.added)}, ${span(latencyOf(thing, 1))}`);
    return lines.concat(betweenBounds(thing));
  }
}
