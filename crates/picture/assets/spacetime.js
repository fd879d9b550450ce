// What a lane is called: its process is enough where that has no other.
const perProcess = new Map();
for (const lane of picture?.lanes.shown ?? []) perProcess.set(lane.process, (perProcess.get(lane.process) ?? 0) + 1);
function laneName(lane) {
  const { process, name, id } = lane;
  if (process && (perProcess.get(process) === 1 || process === name)) return printable(process);
  return printable((process && name ? process + " · " + name : process || name) || "location " + id);
}

// Views as they lie in the file are packed: calls are flat lists, times count from the
// begin of the view.
function unpacked(view) {
  if (view.unpacked) return view;
  for (const lane of view.slices) {
    if (!lane) continue;
    const calls = [];
    for (let at = 0; at + 5 < lane.calls.length; at += 6) {
      const [begin, length, region, depth, added, more] = lane.calls.slice(at, at + 6);
      calls.push([view.from + begin, length, region, depth, added, added + more]);
    }
    lane.calls = calls;
  }
  for (const message of view.arrows.messages) for (const end of message) end[1] += view.from;
  for (const members of view.arrows.operations) for (const [, begin, end] of members) {
    if (begin) begin[0] += view.from;
    if (end) end[0] += view.from;
  }
  view.unpacked = true;
  return view;
}

// Asks the server for the stretch that is shown, a little more on either side, once the
// hand rests; what was asked before is forgotten.
class Live {
  constructor(diagram) { this.diagram = diagram; }

  ask() {
    clearTimeout(this.timer);
    this.timer = setTimeout(() => this.fetch(), 30);
  }

  async fetch() {
    this.asked?.abort();
    this.asked = new AbortController();
    const { from, to, canvas } = this.diagram, more = (to - from) / 8;
    const query = `view?from=${Math.floor(from - more)}&to=${Math.ceil(to + more)}`;
    const start = performance.now();
    try {
      const answer = await fetch(query, { signal: this.asked.signal });
      if (!answer.ok) throw new Error(await answer.text());
      this.diagram.put(await answer.json());
      canvas.dataset.took = String(performance.now() - start);
    } catch (error) {
      if (error.name !== "AbortError") this.diagram.note.textContent = "Nothing more can be shown: retime does not answer (" + error.message + ").";
    }
  }
}

// The space-time diagram: locations from top to bottom, time from left to right.
//
// Everything that is drawn has a recorded time and what was added to it; `share` says how
// much of that is drawn, from 0 (recorded) to 1 (corrected). Of a corrected trace both are drawn, one
// below the other on one axis, as long as they fit a screen.
class SpaceTime {
  constructor() {
    this.share = 0;
    this.lanes = picture.lanes.shown;
    this.both = picture.corrected && this.lanes.length <= 16;
    this.base = 0;
    // Where there is room, rows are higher than what is drawn in them, so that arrows can be told apart.
    [this.rowHeight, this.barHeight] = this.lanes.length <= 8 ? [64, 30] : this.lanes.length <= 16 ? [36, 20]
      : this.lanes.length <= 32 ? [20, 15] : [13, 11];
    this.canvas = element("canvas", {
      tabindex: "0", role: "img", id: "spacetime",
      "aria-label": "Space-time diagram. Arrow keys pan, plus and minus zoom, 0 shows all of the place, space switches between recorded and corrected times.",
      wheel: (event) => this.wheel(event), pointerdown: (event) => this.grab(event),
      pointermove: (event) => this.move(event), pointerup: () => { this.held = null; },
      pointerleave: () => { if (!this.held) showTip(""); }, keydown: (event) => this.key(event),
      dblclick: () => this.fit(),
    });
    this.paint = sharp(this.canvas, () => this.panels().length * this.panelHeight, (...all) => this.draw(...all));
    this.chooser = element("select", { id: "view", change: () => this.choose(Number(this.chooser.value)) },
      picture.views.map((view, number) => element("option", { value: number }, printable(view.title))));
    this.slider = element("input", { type: "range", id: "share", min: 0, max: 100, value: this.share * 100,
      "aria-label": "From recorded to corrected times", input: () => this.set(Number(this.slider.value) / 100) });
    this.buttons = [["recorded", 0], ["corrected", 1]].map(([name, share]) =>
      element("button", { type: "button", id: "show-" + name, click: () => this.animate(share) }, name));
    this.twice = element("button", { type: "button", id: "show-both", click: () => this.showBoth() }, "both");
    this.note = element("p", { class: "soft", id: "view-note" });
    this.list = element("div");
    // The server of `retime view`, where there is one, knows more than the page.
    this.live = data.live ? new Live(this) : null;
    this.choose(picture.views.length > 1 ? 1 : 0);
    this.pressed();
  }

  get top() { return 26; }
  get panelHeight() { return this.top + this.lanes.length * this.rowHeight + 8; }

  // What is drawn one below the other.
  panels() {
    if (!this.both) return [{ share: this.share, title: null }];
    return [{ share: 0, title: "as recorded" }, { share: 1, title: "corrected" }];
  }
  get label() { return Math.min(190, Math.max(90, this.width * 0.14)); }

  section() {
    const zoom = (name, label, factor) => element("button", { type: "button", "aria-label": label, click: () => this.zoom(factor) }, name);
    return [
      element("h2", {}, "Space and time"),
      element("div", { class: "controls" },
        element("label", {}, "Show", this.chooser),
        picture.corrected ? [this.twice, this.buttons[0], this.slider, this.buttons[1]] : null,
        zoom("+", "Zoom in", 0.5), zoom("−", "Zoom out", 2),
        element("button", { type: "button", click: () => this.fit() }, "all of it")),
      this.canvas, this.note, this.legend(), this.list,
    ];
  }

  legend() {
    const most = picture.regions.slice(0, palette.length);
    const entry = (colour, text) => element("li", {}, element("span", { class: "swatch", style: "background:" + colour }), printable(text));
    const items = most.map((name, number) => entry(palette[number], name));
    if (picture.regions.length > most.length) items.push(element("li", { class: "soft" },
      `and ${picture.regions.length - most.length} more, in the same colours again`));
    items.push(entry("var(--bad)", "reversed: arrives before it was sent"));
    return element("ul", { class: "legend" }, items);
  }

  choose(number) {
    this.number = number;
    // Where it was put; what is drawn there may come later, and more of it.
    this.place = this.view = unpacked(picture.views[number]);
    this.chooser.value = String(number);
    this.findWorst();
    this.fit();
    this.tell();
  }

  // The dependency of the place that is reversed furthest, as recorded.
  findWorst() {
    let worst = null;
    const offer = (send, receive) => {
      const by = send[1] - receive[1];
      if (by > 0 && !(worst && worst.by >= by)) worst = { by, send, receive };
    };
    this.view.arrows.messages.forEach(([send, receive]) => offer(send, receive));
    for (const members of this.view.arrows.operations) {
      const begun = members.filter(([, begin]) => begin);
      if (!begun.length) continue;
      const last = begun.reduce((late, it) => (it[1][0] > late[1][0] ? it : late));
      for (const [lane, , end] of members) if (end && lane !== last[0]) offer([last[0], ...last[1]], [lane, ...end]);
    }
    this.worst = worst;
  }

  // Shows what there is to see of a stretch.
  put(view) {
    this.view = unpacked(view);
    this.findWorst();
    this.tell();
    this.paint();
  }

  // What is not drawn, in words.
  tell() {
    const { slices, arrows, strips } = this.view;
    const left = slices.reduce((sum, lane) => sum + (lane?.left_out ?? 0), 0);
    const said = [];
    if (picture.lanes.left_out) said.push(`${grouped(picture.lanes.left_out)} further locations are not shown.`);
    if (strips.some((it) => it)) said.push("Each colour is what a location did most of the time there; choose a place to see single calls.");
    if (left) said.push(`${grouped(left)} shorter calls are not drawn.`);
    const some = (drawn, all, what) => { if (drawn < all) said.push(`${grouped(drawn)} of ${grouped(all)} ${what} are drawn, reversed ones first.`); };
    some(arrows.messages.length, arrows.all_messages, "messages");
    some(arrows.operations.length, arrows.all_operations, "collective operations");
    this.note.textContent = said.join(" ");
    this.list.replaceChildren(this.table());
  }

  // The same for those who cannot see it.
  table() {
    const rows = this.view.arrows.messages.slice(0, 50).map(([send, receive]) => {
      const name = (end) => laneName(this.lanes[end[0]]);
      const corrected = (end) => end[1] + end[2];
      const cells = [name(send), name(receive), moment(send[1]), span(receive[1] - send[1])];
      if (picture.corrected) cells.push(span(corrected(receive) - corrected(send)));
      return element("tr", {}, cells.map((it) => element("td", {}, it)));
    });
    if (!rows.length) return "";
    const heads = ["from", "to", "sent, as recorded", "latency recorded"].concat(picture.corrected ? ["corrected"] : []);
    return element("details", {}, element("summary", {}, `The first ${rows.length} of these messages as a table`),
      element("div", { class: "scroll" }, element("table", {}, element("thead", {}, element("tr", {}, heads.map((it) => element("th", { scope: "col" }, it)))),
        element("tbody", {}, rows))));
  }

  // The whole place; where something in it is reversed, so much around that as lets one see by how much.
  fit() {
    const pad = Math.max(1, (this.place.to - this.place.from) * 0.01);
    if (!this.worst || this.number === 0) return this.show(this.place.from - pad, this.place.to + pad);
    const { by, send, receive } = this.worst, times = [send, receive].flatMap(([, time, added]) => [time, time + added]);
    this.show(Math.max(this.place.from - pad, Math.min(...times) - 1.5 * by), Math.min(this.place.to + pad, Math.max(...times) + 1.5 * by));
  }

  show(from, to) {
    const least = 8, whole = picture.views[0];
    const most = Math.max((whole.to - whole.from) * 2, this.place.to - this.place.from, least * 4);
    const length = Math.min(most, Math.max(least, to - from)), middle = (from + to) / 2;
    [this.from, this.to] = [middle - length / 2, middle + length / 2];
    this.live?.ask();
    this.paint();
  }

  set(share) {
    this.both = false;
    this.share = share;
    this.pressed();
    this.paint();
  }

  showBoth() {
    cancelAnimationFrame(this.frame);
    this.both = true;
    this.pressed();
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

  x(time) { return this.label + (time - this.from) / (this.to - this.from) * (this.width - this.label); }
  time(x) { return this.from + (x - this.label) / (this.width - this.label) * (this.to - this.from); }
  y(lane) { return this.base + this.top + lane * this.rowHeight; }
  bar(lane) { return this.y(lane) + (this.rowHeight - this.barHeight) / 2; }
  at(recorded, added) { return this.x(recorded + this.drawn * added); }

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
    this.zoom(Math.exp(Math.max(-1, Math.min(1, event.deltaY / 300))), this.time(event.offsetX));
  }

  grab(event) {
    this.held = { x: event.offsetX, from: this.from, to: this.to };
    this.canvas.setPointerCapture(event.pointerId);
  }

  move(event) {
    if (this.held) {
      const by = (event.offsetX - this.held.x) / (this.width - this.label) * (this.held.to - this.held.from);
      this.show(this.held.from - by, this.held.to - by);
    } else showTip(this.describe(event.offsetX, event.offsetY), event.clientX, event.clientY);
  }

  key(event) {
    const act = { ArrowLeft: () => this.pan(-0.15), ArrowRight: () => this.pan(0.15), "+": () => this.zoom(0.6), "=": () => this.zoom(0.6),
      "-": () => this.zoom(1 / 0.6), 0: () => this.fit(), " ": () => picture.corrected && this.animate(this.share > 0.5 ? 0 : 1) }[event.key];
    if (!act || event.ctrlKey || event.metaKey || event.altKey) return;
    event.preventDefault();
    act();
  }

  draw(context, width) {
    this.width = width;
    this.boxes = [];
    this.lines = [];
    this.panels().forEach((panel, number) => this.panel(context, panel, number * this.panelHeight));
  }

  panel(context, { share, title }, base) {
    [this.drawn, this.base] = [share, base];
    this.axis(context);
    if (title) this.title(context, title);
    this.lanes.forEach((lane, number) => this.lane(context, lane, number));
    context.save();
    context.beginPath();
    context.rect(this.label, base + this.top, this.width - this.label, this.lanes.length * this.rowHeight + 8);
    context.clip();
    this.lanes.forEach((lane, number) => this.calls(context, lane, number));
    this.view.arrows.operations.forEach((it) => this.operation(context, it));
    this.view.arrows.messages.forEach((it) => this.message(context, it));
    this.mark(context);
    context.restore();
  }

  title(context, text) {
    context.fillStyle = css("--ink");
    context.font = "bold 12px system-ui, sans-serif";
    context.textBaseline = "alphabetic";
    context.fillText(fitted(context, text, this.label - 8), 4, this.base + 14);
  }

  // The worst contradiction, which everything else steps back for: bold, both ends ringed, by how much.
  mark(context) {
    if (!this.worst) return;
    const { send, receive } = this.worst;
    const ends = [send, receive].map(([lane, time, added]) => [this.at(time, added), this.y(lane) + this.rowHeight / 2]);
    const reversed = ends[1][0] < ends[0][0];
    const colour = css(reversed ? "--bad" : "--ink");
    context.strokeStyle = colour;
    context.lineWidth = reversed ? 3 : 2;
    context.beginPath();
    context.moveTo(...ends[0]);
    context.lineTo(...ends[1]);
    context.stroke();
    context.lineWidth = 2;
    for (const [x, y] of ends) {
      context.beginPath();
      context.arc(x, y, 6, 0, 2 * Math.PI);
      context.stroke();
    }
    const latency = receive[1] - send[1] + this.drawn * (receive[2] - send[2]);
    const text = span(latency), wide = context.measureText(text).width;
    const x = Math.max(this.label + 4, Math.min(this.width - wide - 8, (ends[0][0] + ends[1][0]) / 2 + 8));
    const y = (ends[0][1] + ends[1][1]) / 2;
    context.font = "bold 13px system-ui, sans-serif";
    context.textBaseline = "middle";
    context.lineWidth = 4;
    context.strokeStyle = css("--paper");
    context.strokeText(text, x, y);
    context.fillStyle = colour;
    context.fillText(text, x, y);
    context.lineWidth = 1;
  }

  axis(context) {
    context.font = "12px system-ui, sans-serif";
    context.textBaseline = "alphabetic";
    const found = marks(this.from, this.to, (this.width - this.label) / 130);
    const step = found.length > 1 ? found[1] - found[0] : this.to - this.from;
    const [unit, size] = [["s", 1], ["ms", 1e-3], ["us", 1e-6], ["ns", 1e-9]].find(([, size]) => step / ticksPerSecond >= size * 0.9) ?? ["ns", 1e-9];
    let free = this.label;
    for (const time of found) {
      const x = this.x(time);
      context.strokeStyle = css("--line");
      context.beginPath();
      context.moveTo(x, this.base + this.top - 6);
      context.lineTo(x, this.base + this.top + this.lanes.length * this.rowHeight);
      context.stroke();
      const value = time / ticksPerSecond / size;
      const text = value.toLocaleString("en-US", { maximumFractionDigits: 2 }) + " " + unit;
      const wide = context.measureText(text).width;
      if (x >= free && x + wide + 3 < this.width) {
        context.fillStyle = css("--soft");
        context.fillText(text, x + 3, this.base + 14);
        free = x + wide + 14;
      }
    }
  }

  lane(context, lane, number) {
    const y = this.y(number);
    context.fillStyle = css("--ink");
    context.font = `${Math.min(12, this.barHeight)}px system-ui, sans-serif`;
    context.textBaseline = "middle";
    context.fillText(fitted(context, laneName(lane), this.label - 10), 4, y + this.rowHeight / 2);
    context.strokeStyle = css("--line");
    context.beginPath();
    context.moveTo(0, y + this.rowHeight);
    context.lineTo(this.width, y + this.rowHeight);
    context.stroke();
  }

  calls(context, lane, number) {
    const slices = this.view.slices[number];
    if (!slices) return this.strip(context, lane, number);
    context.textBaseline = "middle";
    for (const call of slices.calls) {
      const [begin, length, region, depth, first, last] = call;
      const left = this.at(begin, first), right = this.at(begin + length, last);
      if (right < this.label || left > this.width) continue;
      const inset = Math.min(depth, 4) * Math.max(1, this.barHeight / 8);
      const [y, tall] = [this.bar(number) + inset, this.barHeight - inset];
      const from = Math.max(left, this.label), wide = Math.max(1, Math.min(right, this.width) - from);
      context.fillStyle = colourOf(region);
      context.fillRect(from, y, wide, tall);
      if (wide > 3) {
        context.fillStyle = css("--paper");
        context.fillRect(from + wide - 0.5, y, 0.5, tall);
      }
      if (wide > 40 && tall > 11) {
        context.fillStyle = "#10151a";
        context.font = "11px system-ui, sans-serif";
        context.fillText(fitted(context, printable(picture.regions[region] ?? ""), wide - 6), from + 3, y + tall / 2);
      }
      this.boxes.push([from, from + wide, y, y + tall, lane, call, this.drawn]);
    }
  }

  // Runs of buckets; those below a pixel share it, the last one drawn is seen.
  strip(context, lane, number) {
    const strip = this.view.strips[number];
    if (!strip) return;
    const points = clocks.get(lane.clock)?.points ?? [];
    const step = (strip.to - strip.from) / strip.buckets, y = this.bar(number), tall = this.barHeight;
    let bucket = 0, drawn = -Infinity;
    for (let at = 0; at < strip.runs.length; at += 2) {
      const [count, region] = [strip.runs[at], strip.runs[at + 1]];
      const [begin, end] = [strip.from + bucket * step, strip.from + (bucket + count) * step];
      bucket += count;
      const right = this.at(end, along(points, end));
      if (right < this.label || right - drawn < 0.5) continue;
      const left = this.at(begin, along(points, begin));
      if (left > this.width) break;
      drawn = right;
      if (region < 0) continue;
      context.fillStyle = colourOf(region);
      const from = Math.max(left, this.label), wide = Math.max(1, Math.min(right, this.width) - from);
      context.fillRect(from, y, wide, tall);
      if (wide > 2) this.boxes.push([from, from + wide, y, y + tall, lane, [begin, end - begin, region, 0, along(points, begin), along(points, end)], this.drawn]);
    }
  }

  stroke(context, points, reversed, what) {
    context.strokeStyle = reversed ? css("--bad") : css("--ink");
    context.globalAlpha = this.worst ? (reversed ? 0.35 : 0.25) : reversed ? 1 : 0.55;
    context.lineWidth = reversed ? 1.5 : 1;
    context.setLineDash(reversed ? [6, 3] : []);
    context.beginPath();
    points.forEach(([x, y], number) => number % 2 ? context.lineTo(x, y) : context.moveTo(x, y));
    context.stroke();
    context.setLineDash([]);
    for (let number = 0; number + 1 < points.length; number += 2) this.lines.push([points[number], points[number + 1], what]);
    context.globalAlpha = 1;
  }

  message(context, [send, receive]) {
    const [from, to] = [this.at(send[1], send[2]), this.at(receive[1], receive[2])];
    if (Math.max(from, to) < this.label || Math.min(from, to) > this.width) return;
    const middle = (lane) => this.y(lane) + this.rowHeight / 2;
    const reversed = to < from;
    this.stroke(context, [[from, middle(send[0])], [to, middle(receive[0])]], reversed, { send, receive });
    const angle = Math.atan2(middle(receive[0]) - middle(send[0]), to - from);
    context.fillStyle = reversed ? css("--bad") : css("--ink");
    context.beginPath();
    context.moveTo(to, middle(receive[0]));
    for (const turn of [2.7, -2.7]) context.lineTo(to + 7 * Math.cos(angle + turn), middle(receive[0]) + 7 * Math.sin(angle + turn));
    context.fill();
  }

  // From the last begin to every end that follows it.
  operation(context, members) {
    let last = null;
    for (const [lane, begin] of members) {
      if (!begin) continue;
      const x = this.at(begin[0], begin[1]);
      if (!last || x > last.x) last = { x, lane, begin };
    }
    if (!last) return;
    for (const [lane, , end] of members) {
      if (!end || lane === last.lane) continue;
      const x = this.at(end[0], end[1]);
      if (Math.max(x, last.x) < this.label || Math.min(x, last.x) > this.width) continue;
      const middle = (number) => this.y(number) + this.rowHeight / 2;
      this.stroke(context, [[last.x, middle(last.lane)], [x, middle(lane)]], x < last.x,
        { collective: true, send: [last.lane, ...last.begin], receive: [lane, ...end] });
    }
  }

  // What is under the pointer, in words.
  describe(x, y) {
    const near = this.lines?.find(([[x1, y1], [x2, y2]]) => {
      const [dx, dy] = [x2 - x1, y2 - y1], square = dx * dx + dy * dy || 1;
      const share = Math.max(0, Math.min(1, ((x - x1) * dx + (y - y1) * dy) / square));
      return Math.hypot(x - x1 - share * dx, y - y1 - share * dy) < 5;
    });
    if (near) return this.describeDependency(near[2]);
    for (let number = this.boxes.length - 1; number >= 0; number--) {
      const [left, right, top, bottom, lane, call, share] = this.boxes[number];
      if (x >= left && x <= right && y >= top && y <= bottom) return this.describeCall(lane, call, share);
    }
    return "";
  }

  describeCall(lane, [begin, length, region, , first, last], share) {
    const lines = [printable(picture.regions[region] ?? "no region") + " for " + span(length + share * (last - first)),
      "recorded " + moment(begin)];
    if (picture.corrected) lines.push("corrected " + moment(begin + first));
    return lines.concat(this.sure(lane.clock, begin)).join("\n");
  }

  describeDependency({ send, receive, collective }) {
    const name = (end) => laneName(this.lanes[end[0]]);
    const lines = [collective ? `last begin at ${name(send)}, end at ${name(receive)}` : `message from ${name(send)} to ${name(receive)}`];
    lines.push(`recorded: ${moment(send[1])} to ${moment(receive[1])}, ${span(receive[1] - send[1])}`);
    const latency = receive[1] + receive[2] - send[1] - send[2];
    if (picture.corrected) lines.push(`corrected: ${moment(send[1] + send[2])} to ${moment(receive[1] + receive[2])}, ${span(latency)}`);
    const [one, other] = [send, receive].map((end) => bound(this.lanes[end[0]].clock, end[1]));
    if (one && other) lines.push(`its latency is between ${span(Math.max(0, latency - other[0] - one[1]))} and ${span(latency + other[1] + one[0])}`);
    return lines.join("\n");
  }

  sure(clock, recorded) {
    const known = bound(clock, recorded);
    return known ? [`the truth is at most ${span(known[0])} before and ${span(known[1])} after`] : [];
  }
}
