// The calls of all rows, or what locations did most of the time, as bars.
//
// Browsers without a graphics card draw some thousand rectangles in a frame, where there are a hundred thousand
// bars. So bars are written into the pixels of one picture: a line of them for each depth of a row, which stands
// as often below itself as the bars are high.

// Calls that are deeper look like these.
const DEPTHS = 5;

class Bars {
  constructor(painter) {
    this.painter = painter;
    this.canvas = document.createElement("canvas");
  }

  // Bars, then what `onTop` draws among the pixels, then names.
  paint(context, onTop) {
    const { painter } = this, { label, width, base } = painter, ratio = context.getTransform().a;
    const wide = Math.ceil((width - label) * ratio), tall = Math.ceil(painter.height() * ratio);
    if (wide < 1) return;
    const pixels = this.pixels(wide, tall), names = new Names(this);
    const lines = Array.from({ length: DEPTHS }, () => new Uint32Array(wide)), used = new Array(DEPTHS).fill(false);
    const gap = Math.max(1, Math.round(ratio / 2)), paper = pixelOf(css("--paper")), colours = [];
    const finish = (place) => {
      this.stack(pixels, lines, used, (depth) => Math.round((this.top(place, depth) - base) * ratio), Math.round((this.top(place, 0) - base + this.tall(0)) * ratio));
      used.fill(false);
    };
    this.each((place, depth, region, left, right, call) => {
      const first = Math.round((left - label) * ratio), last = Math.min(wide, Math.max(first + 1, Math.round((right - label) * ratio)));
      const line = lines[depth], colour = colours[region] ??= pixelOf(colourOf(region));
      if (!used[depth]) line.fill(0);
      used[depth] = true;
      // Most are of a pixel or two.
      for (let at = first; at < last; at++) line[at] = colour;
      if (!call) return;
      // Half a pixel of paper tells a call from the next one.
      if (right - left > 3) line.fill(ratio < 2 ? mixed(colour, paper) : paper, last - gap, last);
      names.add(place, depth, region, left, right);
    }, finish);
    onTop(new Lines(pixels, wide, ratio));
    this.canvas.getContext("2d").putImageData(this.image, 0, 0);
    context.drawImage(this.canvas, label, base, wide / ratio, tall / ratio);
    names.paint(context);
  }

  // Puts the lines of a row into the picture: from where each depth begins, what is deeper on what is less deep.
  stack(pixels, lines, used, top, bottom) {
    const wide = this.image.width;
    let seen = null;
    for (let depth = 0; depth < DEPTHS; depth++) {
      if (used[depth]) {
        if (seen) lines[depth].forEach((pixel, at, line) => { if (pixel === 0) line[at] = seen[at]; });
        seen = lines[depth];
      }
      if (!seen) continue;
      const end = depth + 1 < DEPTHS ? top(depth + 1) : bottom;
      for (let y = top(depth); y < end; y++) pixels.set(seen, y * wide);
    }
  }

  inset(depth) { return depth * Math.max(1, this.painter.barHeight / 8); }
  top(place, depth) { return this.painter.bar(place) + this.inset(depth); }
  tall(depth) { return this.painter.barHeight - this.inset(depth); }

  // Transparent ones, so many in each of so many lines.
  pixels(wide, lines) {
    if (this.image?.width !== wide || this.image.height !== lines) {
      [this.canvas.width, this.canvas.height] = [wide, lines];
      this.image = new ImageData(wide, lines);
    }
    return new Uint32Array(this.image.data.buffer).fill(0);
  }

  // The bars that can be pointed at, in the order in which they lie on each other.
  boxes() {
    const found = [], { share, diagram } = this.painter;
    this.each((place, depth, region, left, right, call, run) => {
      const { lane } = diagram.rows.shown[place], top = this.top(place, depth);
      const box = [left, right, top, top + this.tall(depth)];
      if (call) found.push({ box, thing: call, share });
      // A run is no call, and so nothing that could be pinned.
      else if (right - left > 2) found.push({ box, thing: { kind: "call", lane, region, begin: run(0), end: run(1) }, share, coarse: true });
    });
    return found;
  }

  // Acts for each bar: with its row, its depth, its region, from where to where it is seen, and its call; or where
  // it is a run of buckets, with what tells its two ends. After those of a row, `finish` is told which it was.
  each(act, finish = () => {}) {
    const { rows, view } = this.painter.diagram;
    rows.shown.forEach(({ group, lane }, place) => {
      if (group !== undefined) return;
      const calls = view.calls.get(lane), band = view.bands.get(lane);
      if (calls) this.eachCall(calls, place, act);
      else if (band) this.eachRun(lane, band, place, act);
      finish(place);
    });
  }

  // Up to where calls of each depth are drawn: those below a pixel share it.
  eachCall(calls, place, act) {
    const { label, width, from, to, share } = this.painter, scale = (width - label) / (to - from), drawn = [];
    for (const call of calls) {
      const { begin, end, depth, region } = call;
      const right = label + (end.time - from + share * end.added) * scale;
      if (right < label || right - (drawn[depth] ?? -Infinity) < 0.5) continue;
      const left = Math.max(label, label + (begin.time - from + share * begin.added) * scale);
      if (left > width) continue;
      drawn[depth] = right;
      act(place, Math.min(depth, DEPTHS - 1), region, left, Math.max(left + 1, Math.min(right, width)), call);
    }
  }

  // Runs of buckets; those below a pixel share it, the last one drawn is seen.
  eachRun(lane, band, place, act) {
    const { label, width, from, to, share } = this.painter, scale = (width - label) / (to - from);
    const points = clocks.get(everyLane[lane].clock)?.points ?? [], addedTo = alongRising(points);
    const step = (band.to - band.from) / band.buckets, x = (time) => label + (time - from + share * addedTo(time)) * scale;
    let bucket = 0, drawn = -Infinity, left = x(band.from);
    for (let run = 0; run < band.runs.length; run += 2) {
      const [count, region] = [band.runs[run], band.runs[run + 1]], first = bucket;
      bucket += count;
      const begin = left, right = left = x(band.from + bucket * step);
      if (right < label || right - drawn < 0.5) continue;
      if (begin > width) break;
      drawn = right;
      if (region < 0) continue;
      const seen = Math.max(begin, label), end = (ofRun) => {
        const time = band.from + (first + ofRun * count) * step;
        return { lane, time, added: along(points, time) };
      };
      act(place, 0, region, seen, Math.max(seen + 1, Math.min(right, width)), null, end);
    }
  }
}

// The names of calls that are wide enough, each as far as nothing that is called within covers it.
class Names {
  constructor(bars) {
    this.bars = bars;
    this.all = [];
    this.latest = [];
  }

  // A bar, of one row after the other, by the time of its begin.
  add(place, depth, region, left, right) {
    for (const name of this.latest) if (name && name.place === place && name.depth < depth) name.right = Math.min(name.right, Math.max(name.left, left));
    if (right - left <= 40 || this.bars.tall(depth) <= 11) return;
    this.latest[depth] = { place, depth, region, left, right };
    this.all.push(this.latest[depth]);
  }

  paint(context) {
    context.fillStyle = "#10151a";
    context.font = "11px system-ui, sans-serif";
    context.textBaseline = "middle";
    for (const { place, depth, region, left, right } of this.all) {
      const text = fitted(context, printable(picture.regions[region] ?? ""), right - left - 6);
      context.fillText(text, left + 3, this.bars.top(place, depth) + this.bars.tall(depth) / 2);
    }
  }
}

// A colour, written #rrggbb, as a pixel: red first in memory, as on every machine that browsers run on.
const opaque = new Map();
function pixelOf(colour) {
  if (!opaque.has(colour)) {
    const [red, green, blue] = [1, 3, 5].map((at) => parseInt(colour.slice(at, at + 2), 16));
    opaque.set(colour, (255 << 24 | blue << 16 | green << 8 | red) >>> 0);
  }
  return opaque.get(colour);
}

// Half of each of two pixels, which are opaque.
const mixed = (one, other) => (((one & 0xfefefe) >>> 1) + ((other & 0xfefefe) >>> 1) | 255 << 24) >>> 0;
