// What was added to each clock: curves, a small chart of each clock, and a table.

// What was added to each clock; of one clock with the band in which the truth lies.
function clockCurves() {
  const holder = element("div");
  // Those of the locations that stand in the other charts, too; the diagram may know more.
  const drawn = new Set(picture.lanes.shown.map((it) => it.clock)), shown = picture.clocks.filter((it) => drawn.has(it.clock));
  // Of times that were neither corrected nor bounded nothing is known.
  if (!picture.corrected && !shown.some((it) => it.band.some(([, before, after]) => before !== null && after !== null))) return [];
  const chooser = element("select", { id: "clock", change: () => draw() }, element("option", { value: "all" }, "all clocks"),
    shown.map((it) => element("option", { value: it.clock }, printable(`clock ${it.clock}: ${it.name}`))));
  const straight = element("input", { type: "checkbox", id: "straight", change: () => draw() });
  const draw = () => {
    const chosen = shown.filter((it) => chooser.value === "all" || it.clock === Number(chooser.value));
    holder.replaceChildren(curves(chosen, straight.checked), chosen.length === 1 ? steps(chosen[0]) : "");
  };
  const choose = (clock) => {
    chooser.value = String(clock);
    straight.checked = true;
    draw();
    chooser.focus();
  };
  const steps = (clock) => clock.steps.length ? element("p", {}, clock.steps.map((it) =>
    `It ${wasSet(it)} between ${moment(it.after)} and ${moment(it.until)}. `).join("")) : "";
  addEventListener("resize", draw);
  draw();
  return [element("h2", {}, picture.corrected ? "What was added to each clock" : "How sure the time of each clock is"),
    element("div", { class: "controls" }, element("label", {}, "Clock", chooser),
      picture.corrected ? element("label", {}, straight, "without each clock's straight line") : null), holder,
    ...(picture.corrected ? [element("div", { class: "pairs" }, clockTable(shown), smallMultiples(shown, choose))] : [])];
}

// How far each clock was off, how fast that changed, and how surely it is known; the hosts that read it beside.
function clockTable(shown) {
  const hosts = (clock) => [...new Set(everyLane.filter((it) => it.clock === clock).map((it) => it.node).filter((it) => it))].map(printable).join(", ");
  const row = ({ clock, name, points, band }) => {
    if (points.length === 0) return null;
    const [first, last] = [points[0], points[points.length - 1]];
    const drift = last[0] > first[0] ? (first[1] - last[1]) / (last[0] - first[0]) * 1e6 : 0;
    const known = band.filter(([, before, after]) => before !== null && after !== null);
    const most = known.length ? known.reduce((most, [, before, after]) => Math.max(most, before, after), 0) : null;
    const off = (ticks) => (Math.abs(ticks) < 0.5 ? "0 s" : `${span(Math.abs(ticks))} ${ticks < 0 ? "fast" : "slow"}`);
    return element("tr", {}, [printable(`clock ${clock}: ${name}`), hosts(clock) || "–", off(first[1]), off(last[1]), `${drift.toFixed(2)} ppm`, most === null ? "–" : "±" + span(most)]
      .map((cell, place) => element("td", { class: place < 2 ? "wide" : null }, cell)));
  };
  const heads = ["clock", "host", "at first", "at last", "drift", "known to, at worst"];
  return element("div", {}, element("p", { class: "soft" }, "How far each clock was off the common time, fast or slow, when its first and its last event were recorded."),
    scrolled("Clocks", element("table", { id: "clock-table" }, element("thead", {}, element("tr", {}, heads.map((it) => element("th", { scope: "col" }, it)))),
      element("tbody", {}, shown.map(row))), "low"));
}

// A small chart of each clock, all on one scale: what was added to it beside its straight line, and the band in
// which the truth lies. A click shows that clock above.
function smallMultiples(shown, choose) {
  const drawn = shown.map((clock) => besideItsLine(clock, true)).filter((it) => it.points.length > 0);
  if (drawn.length < 2) return null;
  const heights = drawn.flatMap((it) => [...it.points.map((point) => point[1]), ...it.bands.flat().flatMap((knot) => [knot[1], knot[2]])]);
  const times = drawn.flatMap((it) => it.points.map((point) => point[0]));
  const most = heights.reduce((most, height) => Math.max(most, Math.abs(height)), 0) || 1;
  const [width, height] = [168, 64];
  const x = scale(leastOf(times), mostOf(times), 1, width - 1), y = scale(-most, most, height - 1, 1);
  const small = ({ clock, points, bands }) => {
    const name = printable(`clock ${clock.clock}: ${clock.name}`), colour = palette[clock.clock % palette.length];
    const svg = element("svg", { viewBox: `0 0 ${width} ${height}`, width, height, "aria-hidden": "true" },
      element("line", { x1: 0, x2: width, y1: y(0), y2: y(0), stroke: "var(--line)" }),
      bands.map((band) => element("path", { d: outline(band, x, y), fill: colour, opacity: 0.25 })),
      element("path", { d: path(points, x, y), fill: "none", stroke: colour, "stroke-width": 1.5 }),
      clock.steps.map((step) => {
        const at = x((step.after + step.until) / 2);
        return element("line", { x1: at, x2: at, y1: 0, y2: height, stroke: colour, "stroke-dasharray": "3 3" });
      }));
    return element("button", { type: "button", title: name, click: () => choose(clock.clock) }, element("span", {}, name), svg);
  };
  return element("div", {}, element("p", { class: "soft" }, `What was added beside each clock's straight line, within ±${span(most)}, and the band in which the truth lies; a click shows a clock above.`),
    scrolled("Small charts of the clocks", element("div", { class: "multiples", id: "clock-multiples" }, drawn.map(small)), "low"));
}

// That a clock was set, or seems to have been, and how far bounds know by how much.
function wasSet(step) {
  const known = step.known_to === null ? "" : `, known to ±${span(step.known_to)},`;
  return `${step.how} by ${span(step.by)}${known}`;
}

// A clock's points and bands, without the straight line from its first to its last point if asked for. Where
// nothing is known the band is interrupted.
function besideItsLine(clock, straight) {
  const [first, last] = [clock.points[0], clock.points[clock.points.length - 1]];
  const line = (time) => straight && first ? along([first, last], time) : 0;
  const bands = [[]];
  for (const [time, before, after] of clock.band) {
    const added = along(clock.points, time) - line(time);
    if (before === null || after === null) bands.push([]); else bands[bands.length - 1].push([time, added - before, added + after]);
  }
  return { clock, points: clock.points.map(([time, added]) => [time, added - line(time)]), bands: bands.filter((part) => part.length > 1) };
}

const leastOf = (all) => all.reduce((one, other) => Math.min(one, other), Infinity);
const mostOf = (all) => all.reduce((one, other) => Math.max(one, other), -Infinity);

// The area of a band.
const outline = (band, x, y) => path(band.map((knot) => [knot[0], knot[2]]).concat(band.map((knot) => [knot[0], knot[1]]).reverse()), x, y) + "Z";

function curves(chosen, straight) {
  const it = chart("curves", "Added to the clocks over recorded time", 320);
  const drawn = chosen.map((clock) => besideItsLine(clock, straight))
    .filter((it) => it.points.length > 0 && (picture.corrected || it.bands.length > 0));
  const alone = drawn.length === 1, wide = alone || straight || !picture.corrected;
  const times = drawn.flatMap((it) => it.points.map((point) => point[0]));
  const heights = drawn.flatMap((it) => it.points.map((point) => point[1]).concat(wide ? it.bands.flat().flatMap((knot) => [knot[1], knot[2]]) : []));
  if (!times.length) return element("p", { id: "curves" }, "Nothing is known of how far these clocks are from the truth.");
  let [low, high] = [leastOf(heights), mostOf(heights)];
  if (low === high) [low, high] = [low - 1, high + 1];
  const x = scale(leastOf(times), mostOf(times), it.left, it.right), y = scale(low, high, it.bottom, it.top);
  grid(it, x, y, marks(leastOf(times), mostOf(times), it.width / 160), marks(low, high, 6), span, span);
  drawn.forEach(({ clock, points, bands }) => {
    const colour = palette[clock.clock % palette.length];
    for (const band of wide ? bands : []) it.svg.append(element("path", { d: outline(band, x, y), fill: colour, opacity: alone ? 0.25 : 0.12 }));
    it.svg.append(element("path", { d: path(points, x, y), fill: "none", stroke: colour, "stroke-width": 1.8 },
      element("title", {}, printable(`clock ${clock.clock}: ${clock.name}`))));
    for (const step of clock.steps) {
      const at = x((step.after + step.until) / 2);
      it.svg.append(element("line", { x1: at, x2: at, y1: it.top, y2: it.bottom, stroke: colour, "stroke-dasharray": "3 3" },
        element("title", {}, printable(`clock ${clock.clock} ${wasSet(step)}`))));
    }
  });
  if (drawn.length <= 8) labels(it, drawn.map(({ clock, points }) => ({ text: `clock ${clock.clock}`, y: y(points[points.length - 1][1]) - 5 })));
  return it.svg;
}

// Names at the right end, each below the one before it where they would overlap, and all of
// them within the chart.
function labels(it, all) {
  const tall = 13;
  all.sort((one, other) => one.y - other.y);
  let free = it.top + 10;
  for (const label of all) {
    label.y = Math.max(label.y, free);
    free = label.y + tall;
  }
  free = it.bottom - 4;
  for (const label of all.reverse()) {
    label.y = Math.min(label.y, free);
    free = label.y - tall;
    it.svg.append(element("text", { x: it.right - 4, y: label.y, "text-anchor": "end" }, label.text));
  }
}
