// What charts are made of, the histogram of latencies, and methods side by side, as SVG.
const chartWidth = () => Math.max(480, Math.min(1600, document.getElementById("page").clientWidth - 40));

// An empty chart with scales: x and y map values to pixels.
function chart(id, label, height, [left, right, top, bottom] = [84, 16, 12, 34]) {
  const width = chartWidth();
  const svg = element("svg", { id, viewBox: `0 0 ${width} ${height}`, width, height, role: "img", "aria-label": label });
  return { svg, width, height, left, right: width - right, top, bottom: height - bottom };
}

const scale = (from, to, start, end) => (value) => start + (to > from ? (value - from) / (to - from) : 0.5) * (end - start);

function grid(it, x, y, xs, ys, xText, yText) {
  const line = (x1, y1, x2, y2) => element("line", { x1, y1, x2, y2, stroke: "var(--line)" });
  for (const value of ys) {
    it.svg.append(line(it.left, y(value), it.right, y(value)),
      element("text", { x: it.left - 8, y: y(value) + 4, "text-anchor": "end" }, yText(value)));
  }
  let free = -Infinity;
  for (const value of xs) {
    const text = xText(value), wide = text.length * 7;
    it.svg.append(line(x(value), it.top, x(value), it.bottom));
    const at = Math.max(it.left, Math.min(it.right, x(value)));
    if (at - wide / 2 < free) continue;
    free = at + wide / 2 + 8;
    it.svg.append(element("text", { x: at, y: it.bottom + 18, "text-anchor": "middle" }, text));
  }
}

const path = (points, x, y) => points.map(([time, value], number) => (number ? "L" : "M") + x(time).toFixed(1) + " " + y(value).toFixed(1)).join("");

// Who held up others longest, where the report says so.
function heldUp() {
  const all = (report.stragglers?.processes ?? []).filter((it) => typeof it === "object" && it.held_up_ticks > 0).slice(0, 10);
  if (all.length === 0) return [];
  const row = (it) => [printable(it.name), span(it.held_up_ticks), span(it.certainly_held_up_ticks), `${grouped(it.last)} of ${grouped(it.operations)}`, grouped(it.certainly_last)];
  const heads = ["process", "held up others by", "certainly", "came last in operations", "certainly"];
  const unseen = all.some((it) => !it.work || !it.waits_are_seen) ? " What was waited elsewhere, as for messages, is not seen here: who came last may have waited until then." : "";
  return [element("h2", {}, "Who held up others"), element("p", { class: "soft" }, `What all others waited in collective operations because a process worked, summed over them; certain is what no error bound leaves open.${unseen}`),
    scrolled("Who held up others", element("table", { id: "held-up" }, element("thead", {}, element("tr", {}, heads.map((it) => element("th", { scope: "col" }, it)))),
      element("tbody", {}, all.map((it) => element("tr", {}, row(it).map((cell) => element("td", {}, cell)))))))];
}

// How long messages took, above as recorded, below as corrected.
function latencies() {
  const { bins, what, median_recorded, median_corrected } = picture.latencies;
  if (!bins.length) return [];
  const holder = element("div");
  const draw = () => holder.replaceChildren(histogram(bins));
  addEventListener("resize", draw);
  draw();
  const middle = picture.corrected ? `; in the middle ${span(median_recorded)} as recorded, ${span(median_corrected)} as corrected` : `; in the middle ${span(median_recorded)}`;
  return [element("h2", {}, "How long messages took"),
    element("p", { class: "soft" }, `How many ${what} took how long${middle}. Bins grow with the latency; left of zero they arrived before they were sent.`), holder];
}

function histogram(bins) {
  const rows = picture.corrected ? ["recorded", "corrected"] : ["recorded"];
  const it = chart("latencies", "Histogram of latencies", rows.length * 150 + 40);
  const sizes = bins.flatMap((bin) => [Math.abs(bin.from), Math.abs(bin.to)]).filter((size) => size > 0);
  const unit = Math.min(...sizes, 1e18);
  const place = (value) => value === 0 ? 0 : Math.sign(value) * (Math.log2(Math.abs(value) / unit) + 2);
  const [low, high] = [Math.min(0, place(bins[0].from)), Math.max(0, place(bins[bins.length - 1].to))];
  const x = scale(low - 0.2, high + 0.2, it.left, it.right);
  const ticks = [0];
  for (let power = 0; power < 19; power++) for (const sign of [-1, 1]) {
    const value = sign * 10 ** power;
    if (10 ** power >= unit && place(value) >= low && place(value) <= high) ticks.push(value);
  }
  ticks.sort((one, other) => one - other);
  rows.forEach((row, number) => {
    const most = bins.reduce((sum, bin) => Math.max(sum, bin[row]), 1);
    const [top, bottom] = [it.top + number * 150 + 18, it.top + number * 150 + 140];
    const y = scale(0, most, bottom, top);
    grid({ ...it, top, bottom: number === rows.length - 1 ? bottom : bottom, svg: it.svg }, (value) => x(place(value)), y,
      number === rows.length - 1 ? ticks : [], [0, most], span, grouped);
    it.svg.append(element("text", { x: it.left, y: top - 6 }, row));
    for (const bin of bins) {
      if (!bin[row]) continue;
      const [left, right] = bin.from === 0 && bin.to === 0 ? [x(0) - 3, x(0) + 3] : [x(place(bin.from)), x(place(bin.to))];
      it.svg.append(element("rect", { x: left, width: Math.max(1, right - left - 0.5), y: y(bin[row]), height: Math.max(1, bottom - y(bin[row])),
        fill: bin.to <= 0 && bin.from < 0 ? "var(--bad)" : "var(--good)" },
        element("title", {}, `${grouped(bin[row])} between ${span(bin.from)} and ${span(bin.to)}`)));
    }
  });
  return it.svg;
}

// The methods of `compare`: each with its bound, or its error if the truth is known.
function methods() {
  const rate = ticksPerSecond, known = report.methods.filter((it) => it.result);
  const truth = report.methods.some((it) => it.result?.accuracy);
  const value = (it) => truth ? [it.result.accuracy?.relative_ticks.mean_abs, it.result.accuracy?.relative_ticks.max]
    : [it.result.bound?.mean_ticks, it.result.bound?.largest_ticks];
  const rows = known.map((it) => ({ it, mean: value(it)[0] / rate, most: value(it)[1] / rate })).filter((it) => it.mean >= 0);
  const holder = element("div");
  const draw = () => {
    const it = chart("methods", "Methods side by side", rows.length * 24 + 60, [210, 24, 10, 36]);
    const positive = rows.flatMap((row) => [row.mean, row.most]).filter((size) => size > 0);
    const [low, high] = [Math.floor(Math.log10(Math.min(...positive, 1))), Math.ceil(Math.log10(Math.max(...positive, 1e-9)))];
    const x = scale(low, high, it.left, it.right), place = (size) => x(size > 0 ? Math.log10(size) : low);
    const decades = Array.from({ length: high - low + 1 }, (_, number) => low + number);
    grid(it, x, () => 0, decades, [], (power) => seconds(10 ** power), String);
    rows.forEach(({ it: method, mean, most }, number) => {
      const y = it.top + 14 + number * 24, bad = method.refused || method.result.reversed > 0;
      const colour = bad ? "var(--bad)" : "var(--good)";
      it.svg.append(element("text", { x: it.left - 10, y: y + 4, "text-anchor": "end" }, printable(method.name)),
        element("line", { x1: place(mean), x2: place(most), y1: y, y2: y, stroke: colour, "stroke-width": 2 }),
        element("circle", { cx: place(mean), cy: y, r: 5, fill: bad ? "none" : colour, stroke: colour, "stroke-width": 2 },
          element("title", {}, printable(`${method.name}: ${seconds(mean)} on average, ${seconds(most)} at most`))));
    });
    holder.replaceChildren(it.svg);
  };
  addEventListener("resize", draw);
  if (rows.length) draw();
  const said = truth ? "Error of relative times against the truth: a dot for the mean, a line to the largest."
    : "How far times can be from the truth: a dot for the mean bound, a line to the largest.";
  return [element("h2", {}, "Methods side by side"),
    element("p", { class: "soft" }, said + " Hollow and red: effects are left before their causes, or the result was refused."), holder, methodTable(truth)];
}

function methodTable(truth) {
  const heads = ["method", "reversed", "intervals changed by", "at most", "bound"].concat(truth ? ["error"] : [], ["time", ""]);
  const row = (it) => {
    const result = it.result;
    const cells = [printable(it.name)].concat(result ? [grouped(result.reversed), percent(result.interval_change_mean), percent(result.interval_change_largest),
      result.bound ? "±" + span(result.bound.mean_ticks) : "–"].concat(truth ? [result.accuracy ? span(result.accuracy.relative_ticks.mean_abs) : "–"] : [],
      [result.seconds === null ? "–" : seconds(result.seconds)]) : heads.slice(2).map(() => "–"));
    return element("tr", {}, cells.map((cell) => element("td", {}, cell)), element("td", { class: "wide" }, printable(it.reason ?? it.refused ?? "")));
  };
  return scrolled("Methods", element("table", { id: "method-table" },
    element("thead", {}, element("tr", {}, heads.map((it) => element("th", { scope: "col" }, it)))),
    element("tbody", {}, report.methods.map(row))));
}
