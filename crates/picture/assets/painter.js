// Paints the diagram, and knows what is where: calls are bars, which `bars.js` paints, arrows are lines.

// From so many arrows on, those whose ends lie within NEAR pixels are drawn as one, and within twice as many as long
// as too many lines are left, up to FAR: more are neither told apart nor drawn 30 times a second.
const MANY_ARROWS = 400;
const MOST_LINES = 1000;
const [NEAR, FAR] = [6, 96];
// The height of a row that names a group.
const HEAD = 18;
const AXIS = 26;

class Painter {
  constructor(diagram) {
    this.diagram = diagram;
    this.bars = new Bars(this);
    [this.base, this.drawn, this.lines] = [0, [], []];
  }

  get label() { return Math.round(Math.min(190, Math.max(90, this.width * 0.14))); }

  // Where there is room, rows are higher than what is drawn in them, so that arrows can be told apart.
  sizes() {
    const rows = this.diagram.rows.shown.length;
    return rows <= 8 ? [64, 30] : rows <= 16 ? [36, 20] : rows <= 32 ? [20, 15] : [13, 11];
  }

  // Where each row begins below the axis, and where the last one ends.
  tops() {
    const [tall] = this.sizes(), tops = [0];
    for (const row of this.diagram.rows.shown) tops.push(tops[tops.length - 1] + (row.group === undefined ? tall : Math.max(HEAD, tall / 2)));
    return tops;
  }

  height() { return AXIS + this.tops().at(-1) + 8; }

  x(time) { return this.label + (time - this.from) / (this.to - this.from) * (this.width - this.label); }
  time(x) { return this.from + (x - this.label) / (this.width - this.label) * (this.to - this.from); }
  duration(pixels, shown) { return pixels / (this.width - this.label) * shown; }
  at(end) { return this.x(end.time + this.share * end.added); }
  y(place) { return this.base + AXIS + this.rowTops[place]; }
  middle(lane) {
    const place = this.diagram.rows.place.get(lane);
    return (this.y(place) + this.y(place + 1)) / 2;
  }
  isShown(lane) { return this.diagram.rows.place.has(lane); }

  draw(context, width) {
    const { diagram } = this;
    [this.width, this.from, this.to] = [width, diagram.from, diagram.to];
    [this.rowTops, [this.rowHeight, this.barHeight]] = [this.tops(), this.sizes()];
    [this.found, this.drawn, this.lines] = [null, [], []];
    diagram.panels().forEach((panel, number) => this.panel(context, panel, number * this.height()));
  }

  panel(context, { share, title }, base) {
    [this.share, this.base] = [share, base];
    this.drawn.push([share, base]);
    const { rows } = this.diagram, { arrows } = this.diagram.view;
    this.axis(context);
    if (title) this.title(context, title);
    rows.shown.forEach((row, place) => this.row(context, row, place));
    this.beyond(context);
    context.save();
    context.beginPath();
    context.rect(this.label, base + AXIS, this.width - this.label, this.rowTops.at(-1) + 8);
    context.clip();
    const { messages, collectives, contradictions } = this.diagram.kinds;
    const all = [...(collectives ? arrows.operations.flatMap((it) => endsOf(it, share)) : []), ...(messages ? arrows.messages : [])];
    const found = this.arrows(contradictions ? all.filter((it) => latencyOf(it, 0) < 0) : all);
    // A few lines are drawn finer by the browser, many of them faster among the bars.
    this.bars.paint(context, (lines) => { if (this.isMany) for (const it of found) this.line(lines, it); });
    if (!this.isMany) for (const it of found) this.arrow(context, it);
    context.globalAlpha = context.lineWidth = 1;
    context.setLineDash([]);
    this.mark(context, this.diagram.worst, true);
    if (this.diagram.pinned.thing) this.mark(context, this.diagram.pinned.thing, false);
    if (this.diagram.focused) this.mark(context, this.diagram.focused, false);
    context.restore();
  }

  // Before and after the stretch of which a file has anything.
  beyond(context) {
    const stored = this.diagram.stored();
    if (!stored) return;
    const [first, last] = stored.map((it) => Math.max(this.label, Math.min(this.width, this.x(it))));
    for (const [from, to] of [[this.label, first], [last, this.width]]) {
      if (to - from < 1) continue;
      context.fillStyle = css("--idle");
      context.fillRect(from, this.base + AXIS, to - from, this.rowTops.at(-1));
      context.fillStyle = css("--soft");
      context.font = "12px system-ui, sans-serif";
      context.textBaseline = "middle";
      if (to - from > 120) context.fillText("not in this file", from + 8, this.base + AXIS + 12);
    }
  }

  title(context, text) {
    context.fillStyle = css("--ink");
    context.font = "bold 12px system-ui, sans-serif";
    context.textBaseline = "alphabetic";
    context.fillText(fitted(context, text, this.label - 8), 4, this.base + 12);
  }

  axis(context) {
    context.font = "12px system-ui, sans-serif";
    context.textBaseline = "alphabetic";
    const found = marks(this.from, this.to, (this.width - this.label) / 130);
    const step = found.length > 1 ? found[1] - found[0] : this.to - this.from;
    const [unit, size] = [["s", 1], ["ms", 1e-3], ["us", 1e-6], ["ns", 1e-9]].find(([, size]) => step / ticksPerSecond >= size * 0.9) ?? ["ns", 1e-9];
    // Long numbers are told apart by their ends: what they have in common stands before them once.
    const large = 1000 * size * ticksPerSecond, isLong = unit !== "s" && this.from >= 10 * large;
    const base = isLong ? Math.floor(this.from / large) * large : 0;
    context.fillStyle = css("--soft");
    if (isLong) context.fillText(fitted(context, `${seconds(base / ticksPerSecond, 9)} +`, this.label - 8), 4, this.base + 24);
    // Two hundredths of a unit tell all marks apart; less than none is none.
    const rounded = (value) => Math.round(value * 100) / 100 || 0;
    let free = this.label;
    for (const time of found) {
      const x = this.x(time);
      context.strokeStyle = css("--line");
      context.beginPath();
      context.moveTo(x, this.base + AXIS - 6);
      context.lineTo(x, this.base + AXIS + this.rowTops.at(-1));
      context.stroke();
      const text = rounded((time - base) / ticksPerSecond / size).toLocaleString("en-US", { maximumFractionDigits: 2 }) + " " + unit;
      const wide = context.measureText(text).width;
      if (x >= free && x + wide + 3 < this.width) {
        context.fillStyle = css("--soft");
        context.fillText(text, x + 3, this.base + 14);
        free = x + wide + 14;
      }
    }
  }

  row(context, row, place) {
    const [top, bottom] = [this.y(place), this.y(place + 1)];
    if (row.group !== undefined) {
      context.fillStyle = css("--panel");
      context.fillRect(0, top, this.width, bottom - top);
    }
    context.fillStyle = css("--ink");
    context.font = `${row.group === undefined ? "" : "bold "}${Math.min(12, this.barHeight)}px system-ui, sans-serif`;
    context.textBaseline = "middle";
    const text = row.group === undefined ? laneName(everyLane[row.lane])
      : `${row.hidden.length ? "▸" : "▾"} ${printable(row.group)} (${grouped(row.lanes.length)})`;
    context.fillText(fitted(context, text, this.label - 10), 4, (top + bottom) / 2);
    context.strokeStyle = css("--line");
    context.beginPath();
    context.moveTo(0, bottom);
    context.lineTo(this.width, bottom);
    context.stroke();
  }

  // The top of the bars of a row.
  bar(place) { return this.y(place) + (this.rowHeight - this.barHeight) / 2; }

  // The bars that are drawn, of all panels, found once somebody asks for them.
  get boxes() {
    this.found ??= this.drawn.flatMap(([share, base]) => {
      [this.share, this.base] = [share, base];
      return this.bars.boxes();
    });
    return this.found;
  }

  // The arrows from causes to effects that are seen; where they are many, one for those that would lie on each other.
  arrows(all) {
    const seen = [];
    for (const it of all) {
      if (!this.isShown(it.cause.lane) || !this.isShown(it.effect.lane)) continue;
      const [from, to] = [this.at(it.cause), this.at(it.effect)];
      if (Math.max(from, to) < this.label || Math.min(from, to) > this.width) continue;
      const [top, bottom] = [this.middle(it.cause.lane), this.middle(it.effect.lane)];
      seen.push({ it, line: [from, top, to, bottom], ends: this.cut(from, top, to, bottom), more: 1 });
    }
    this.isMany = seen.length > MANY_ARROWS;
    let bundles = seen;
    for (let near = NEAR; this.isMany && near <= FAR && (near === NEAR || bundles.length > MOST_LINES); near *= 2) bundles = this.bundles(seen, near);
    const most = Math.log2(1 + Math.max(1, ...bundles.map(({ more }) => more)));
    return bundles.map((it) => this.styled(it, Math.ceil(4 * Math.log2(1 + it.more) / most) / 4));
  }

  // One for those whose ends, as far as they are seen, are so many pixels from each other at most.
  bundles(seen, near) {
    const bundles = new Map();
    // Four numbers of 13 bits and one more make a whole number that is exact.
    const step = (at) => Math.max(0, Math.min(8191, Math.round(at / near)));
    for (const one of seen) {
      const { line: [from, , to], ends: [[x1, y1], [x2, y2]] } = one;
      const begin = step(x1) * 8192 + step(y1 - this.base);
      const key = ((begin * 8192 + step(x2)) * 8192 + step(y2 - this.base)) * 2 + (to < from);
      const bundle = bundles.get(key);
      if (bundle) bundle.more++; else bundles.set(key, { ...one });
    }
    return [...bundles.values()];
  }

  // An arrow as it is drawn: as dark as many share it, and with a head where that is seen.
  styled({ it: thing, line, ends, more }, shade) {
    const [from, top, to, bottom] = line, reversed = to < from;
    this.lines.push({ line, thing, share: this.share, more });
    // Everything steps back for the worst one; of few, what is reversed still stands out.
    const back = reversed ? (this.isMany ? 0.35 : 0.8) : 0.25;
    const alpha = shade * (this.diagram.worst ? back : reversed ? 1 : 0.55);
    const isHeaded = thing.kind === "message" && to > this.label - 8 && to < this.width + 8;
    return { ends, tip: isHeaded ? [to, bottom] : null, angle: Math.atan2(bottom - top, to - from), colour: css(reversed ? "--bad" : "--ink"), reversed, alpha, shade };
  }

  arrow(context, { ends: [[x1, y1], [x2, y2]], tip, angle, colour, reversed, alpha, shade }) {
    context.strokeStyle = context.fillStyle = colour;
    context.globalAlpha = alpha;
    context.lineWidth = reversed ? 1.5 : 1;
    context.setLineDash(reversed ? [6, 3] : []);
    context.beginPath();
    context.moveTo(x1, y1);
    context.lineTo(x2, y2);
    if (reversed) this.halo(context, 3.5);
    context.stroke();
    if (tip) this.head(context, tip, angle, shade);
  }

  // As `arrow`, into a picture that begins below the label.
  line(lines, { ends, tip, colour, reversed, alpha }) {
    const inside = ([x, y]) => [x - this.label, y - this.base];
    lines.arrow(inside(ends[0]), inside(ends[1]), { colour: pixelOf(colour), alpha, dashed: reversed, head: tip ? 7 : 0 });
  }

  // Paper below the path, so that it stands out from whatever colour it crosses.
  halo(context, wide) {
    context.save();
    [context.strokeStyle, context.lineWidth] = [css("--paper"), wide];
    context.setLineDash([]);
    context.stroke();
    context.restore();
  }

  head(context, [x, y], angle, shade) {
    context.globalAlpha = shade;
    context.beginPath();
    context.moveTo(x, y);
    for (const turn of [2.7, -2.7]) context.lineTo(x + 7 * Math.cos(angle + turn), y + 7 * Math.sin(angle + turn));
    context.closePath();
    context.fill();
  }

  // A line as far as it is seen: dashes far outside would be drawn, too.
  cut(x1, y1, x2, y2) {
    const inside = (x) => Math.max(this.label - 20, Math.min(this.width + 20, x));
    const at = (x) => [x, x1 === x2 ? y1 : y1 + (x - x1) / (x2 - x1) * (y2 - y1)];
    return x1 === x2 ? [[x1, y1], [x2, y2]] : [at(inside(x1)), at(inside(x2))];
  }

  // The worst contradiction, which everything else steps back for: bold, both ends ringed, by how much. What is
  // pinned, or in focus, likewise, in another colour.
  mark(context, thing, isWorst) {
    if (!thing) return;
    const ends = endsIn(thing).map(([, end]) => end);
    if (!ends.every((end) => this.isShown(end.lane))) return;
    const points = ends.map((end) => [this.at(end), this.middle(end.lane)]);
    const [first, last] = [Math.min(points[0][0], points[1][0]), Math.max(points[0][0], points[1][0])];
    if (last < this.label || first > this.width) return;
    const reversed = points[1][0] < points[0][0];
    const colour = css(isWorst ? (reversed ? "--bad" : "--ink") : "--accent");
    context.strokeStyle = colour;
    context.lineWidth = reversed ? 3 : 2;
    context.beginPath();
    if (thing.kind === "call") context.rect(points[0][0], points[0][1] - this.barHeight / 2 - 1, Math.max(2, points[1][0] - points[0][0]), this.barHeight + 2);
    else points.forEach(([x, y], number) => (number ? context.lineTo(x, y) : context.moveTo(x, y)));
    this.halo(context, context.lineWidth + 3);
    context.stroke();
    context.lineWidth = 2;
    if (thing.kind !== "call") for (const [x, y] of points) {
      context.beginPath();
      context.arc(x, y, isWorst ? 6 : 8, 0, 2 * Math.PI);
      this.halo(context, 5);
      context.stroke();
    }
    if (isWorst) this.say(context, span(latencyOf(thing, this.share)), points, colour);
    context.lineWidth = 1;
  }

  say(context, text, [[x1, y1], [x2, y2]], colour) {
    context.font = "bold 13px system-ui, sans-serif";
    context.textBaseline = "middle";
    const wide = context.measureText(text).width;
    const x = Math.max(this.label + 4, Math.min(this.width - wide - 8, (x1 + x2) / 2 + 8)), y = (y1 + y2) / 2;
    context.lineWidth = 4;
    context.strokeStyle = css("--paper");
    context.strokeText(text, x, y);
    context.fillStyle = colour;
    context.fillText(text, x, y);
  }

  // The thing at a place: the nearest arrow, or else the innermost call.
  thingAt(x, y) {
    let nearest = null, least = 5;
    for (const found of this.lines) {
      const [x1, y1, x2, y2] = found.line, [dx, dy] = [x2 - x1, y2 - y1];
      const share = Math.max(0, Math.min(1, ((x - x1) * dx + (y - y1) * dy) / (dx * dx + dy * dy || 1)));
      const far = Math.hypot(x - x1 - share * dx, y - y1 - share * dy);
      if (far < least) [nearest, least] = [found, far];
    }
    if (nearest) return nearest;
    return this.boxes.findLast(({ box: [left, right, top, bottom] }) => x >= left && x <= right && y >= top && y <= bottom) ?? null;
  }

  // The group whose name is at a height, or null.
  groupAt(y) {
    const inside = y % this.height() - AXIS;
    const place = this.rowTops.findIndex((top, number) => inside >= top && inside < (this.rowTops[number + 1] ?? -1));
    return this.diagram.rows.shown[place]?.group ?? null;
  }

  // All that is drawn and can be pinned, of one panel: arrows and then calls, each by time.
  things() {
    const share = this.diagram.panels()[0].share;
    const first = ({ thing }) => endsIn(thing)[0][1].time;
    const inTime = (all) => all.filter((it) => it.share === share && !it.coarse).sort((one, other) => first(one) - first(other));
    const lines = inTime(this.lines).map((it) => ({ ...it, point: [(it.line[0] + it.line[2]) / 2, (it.line[1] + it.line[3]) / 2] }));
    return [...lines, ...inTime(this.boxes).map((it) => ({ ...it, point: [it.box[0], it.box[2]] }))];
  }
}
