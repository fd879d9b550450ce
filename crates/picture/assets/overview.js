// The whole trace in a strip: how often effects are stamped before their causes in each stretch of
// time, as recorded above and as corrected below; where the diagram is; and the way from one
// contradiction to the next.
class Overview {
  constructor(diagram) {
    this.diagram = diagram;
    const { recorded, corrected, worst } = picture.contradictions;
    const found = worst.map(([time, latency, [from, cause, to, effect], caused]) => ({ time, latency, from, cause, to, effect, caused }));
    // The server draws all of them, a file those that lie in it.
    this.found = data.live ? found.map((it) => ({ ...it, view: 0 })) : drawnOf(found);
    const sum = (all) => all.reduce((one, other) => one + other, 0);
    this.sums = [sum(recorded), corrected ? sum(corrected) : null];
    this.canvas = element("canvas", { id: "overview", class: "overview", role: "img",
      "aria-label": `Contradictions over the whole trace: ${counted(this.sums[0], "contradiction")} as recorded${corrected ? ", " + grouped(this.sums[1]) + " as corrected" : ""}.`,
      pointerdown: (event) => { this.held = true; this.canvas.setPointerCapture(event.pointerId); this.move(event); },
      pointermove: (event) => (this.held ? this.move(event) : this.hover(event)),
      pointerup: () => { this.held = false; }, pointerleave: () => showTip("") });
    this.paint = sharp(this.canvas, () => 44, (...all) => this.draw(...all));
  }

  section() {
    const button = (id, text, keys, by) => element("button", { type: "button", id, "aria-keyshortcuts": keys, disabled: this.found.length === 0, click: () => this.step(by) }, text);
    return [this.canvas, element("div", { class: "controls" },
      button("previous", "previous contradiction (p)", "p", -1), button("next", "next contradiction (n)", "n", 1),
      element("span", { class: "soft", id: "stop", role: "status" }, this.words()))];
  }

  words() {
    if (this.sums[0] === 0) return report.verdict?.gravity === "unknown" ? "too little could be checked to find a contradiction" : "no contradiction was found";
    if (this.found.length === this.sums[0]) return `all ${counted(this.sums[0], "contradiction")}, in the order of time`;
    return `${grouped(this.found.length)} of ${counted(this.sums[0], "contradiction")}: ${data.live ? "the worst" : "those of the worst that this file draws"}`;
  }

  // The worst ones, each a way there.
  list() {
    const worst = [...this.found].sort((one, other) => one.latency - other.latency).slice(0, 200);
    if (worst.length === 0) return "";
    const name = (lane) => laneName(everyLane[lane]);
    const row = (it) => element("tr", {}, element("td", {}, element("button", { type: "button", click: () => this.go(it) }, span(it.latency))),
      element("td", {}, name(it.from)), element("td", {}, name(it.to)), element("td", {}, moment(it.time)));
    return element("details", { id: "contradictions" }, element("summary", {}, `The ${counted(worst.length, "worst contradiction")} as a list`),
      scrolled("The worst contradictions", element("table", {}, element("thead", {}, element("tr", {},
        ["latency", "from", "to", "effect recorded"].map((it) => element("th", { scope: "col" }, it)))), element("tbody", {}, worst.map(row))), "low"));
  }

  // To the next, or the one before, of where the diagram is.
  step(by) {
    if (this.found.length === 0) return;
    const { from, to } = this.diagram;
    const isHere = this.at && this.at.time >= from && this.at.time <= to;
    let place;
    if (isHere) place = this.found.indexOf(this.at) + by;
    else {
      const after = this.found.findIndex((it) => it.time > (from + to) / 2);
      place = by > 0 ? after : (after < 0 ? this.found.length : after) - 1;
    }
    if (place < 0 || place >= this.found.length) {
      this.say(by > 0 ? "no contradiction follows" : "no contradiction comes before");
      return;
    }
    this.go(this.found[place]);
  }

  go(found) {
    this.at = found;
    this.diagram.visit(found);
    this.say(`${grouped(this.found.indexOf(found) + 1)} of ${grouped(this.found.length)}: ${span(found.latency)}, ${laneName(everyLane[found.from])} to ${laneName(everyLane[found.to])}`);
  }

  say(text) {
    const said = document.getElementById("stop");
    if (said) said.textContent = text;
  }

  x(time) {
    const { from, to } = picture.contradictions;
    return (time - from) / Math.max(1, to - from) * this.width;
  }

  time(x) {
    const { from, to } = picture.contradictions;
    return from + x / this.width * (to - from);
  }

  draw(context, width, height) {
    this.width = width;
    const { recorded, corrected } = picture.contradictions, middle = corrected ? height / 2 : height;
    const most = Math.log1p(Math.max(1, ...recorded, ...(corrected ?? [])));
    const bars = (counts, colour, up) => counts.forEach((count, number) => {
      if (!count) return;
      const tall = Math.max(2, (middle - 2) * Math.log1p(count) / most), wide = Math.max(1, width / counts.length);
      context.fillStyle = colour;
      context.fillRect(number * width / counts.length, up ? middle - tall : middle, wide, tall);
    });
    context.fillStyle = css("--line");
    context.fillRect(0, middle - 0.5, width, 1);
    bars(recorded, css("--bad"), true);
    if (corrected) bars(corrected, css("--accent"), false);
    context.strokeStyle = css("--ink");
    context.lineWidth = 1.5;
    const [left, right] = [this.x(this.diagram.from), this.x(this.diagram.to)];
    context.strokeRect(Math.max(0.5, left), 0.75, Math.max(3, Math.min(width - 0.5, right) - Math.max(0.5, left)), height - 1.5);
  }

  // Takes the diagram along, as wide as it is.
  move(event) {
    const middle = this.time(event.offsetX), half = (this.diagram.to - this.diagram.from) / 2;
    this.diagram.show(middle - half, middle + half);
  }

  hover(event) {
    const { recorded, corrected } = picture.contradictions;
    const number = Math.max(0, Math.min(recorded.length - 1, Math.floor(event.offsetX / this.width * recorded.length)));
    showTip(`${moment(this.time(event.offsetX))}\n${counted(recorded[number], "contradiction")} as recorded${corrected ? `\n${grouped(corrected[number])} as corrected` : ""}`, event.clientX, event.clientY);
  }
}

// Those contradictions that are drawn in a view, with its number: a place, or else the whole trace.
function drawnOf(found) {
  const key = (from, cause, to, effect) => [from, cause, to, effect].join();
  const views = new Map();
  picture.views.forEach((view, number) => {
    const { messages, operations } = unpacked(view).arrows;
    for (const { cause, effect } of [...messages, ...operations.flatMap((it) => endsOf(it, 0))]) {
      const name = key(cause.lane, cause.event, effect.lane, effect.event);
      if (!views.get(name)) views.set(name, number);
    }
  });
  const withView = found.map((it) => ({ ...it, view: views.get(key(it.from, it.cause, it.to, it.effect)) }));
  return withView.filter((it) => it.view !== undefined);
}
