// What an analysis would have said of waiting, from recorded and from corrected times.
const MOST_WAITS = 10;

function waits() {
  const kinds = [["late_sender", "late sender"], ["late_receiver", "late receiver"], ["barrier", "wait at barrier"], ["root", "wait at other collectives"]];
  const { all, lanes, bounded } = picture.waits;
  const some = kinds.filter(([key]) => all[key].recorded > 0 || all[key].corrected > 0);
  if (some.length === 0) return [];
  const most = Math.max(1, ...lanes.flatMap((lane) => some.flatMap(([key]) => [lane[key].recorded, lane[key].corrected])));
  const bar = (wait) => {
    const wide = (ticks) => Math.max(0, 120 * ticks / most);
    const certain = bounded ? element("rect", { x: 0, y: 9, width: wide(wait.certain), height: 7, fill: "var(--good)" }) : null;
    return element("svg", { viewBox: "0 0 122 17", width: 122, height: 17, "aria-hidden": "true" },
      element("rect", { x: 0, y: 0, width: wide(wait.recorded), height: 7, fill: "var(--bad)", opacity: 0.75 }),
      picture.corrected || bounded ? element("rect", { x: 0, y: 9, width: wide(wait.corrected), height: 7, fill: "var(--good)", opacity: 0.4 }) : null, certain);
  };
  const cells = (wait) => [element("td", {}, bar(wait)), element("td", {}, span(wait.recorded))]
    .concat(picture.corrected ? [element("td", {}, span(wait.corrected))] : [],
      bounded ? [element("td", {}, wait.corrected > 0 ? percent(wait.certain / wait.corrected) : "–")] : []);
  const width = 2 + (picture.corrected ? 1 : 0) + (bounded ? 1 : 0);
  const heads = element("tr", {}, element("th", { scope: "col" }, "location"), some.map(([, name]) => element("th", { colspan: width, scope: "colgroup" }, name)));
  const second = element("tr", {}, element("th", {}, ""), some.flatMap(() => ["", "recorded"].concat(picture.corrected ? ["corrected"] : [], bounded ? ["certain"] : []).map((it) => element("th", {}, it))));
  const row = (name, lane) => element("tr", {}, element("td", {}, name), some.flatMap(([key]) => cells(lane[key])));
  const change = (lane) => some.reduce((sum, [key]) => sum + Math.abs(lane[key].corrected - lane[key].recorded), 0);
  const weight = (lane) => (picture.corrected ? change(lane) : some.reduce((sum, [key]) => sum + lane[key].recorded, 0));
  const sorted = picture.lanes.shown.map((lane, number) => ({ name: laneName(lane), waits: lanes[number] }))
    .sort((one, other) => weight(other.waits) - weight(one.waits));
  const table = (id, rows) => scrolled("Waits", element("table", { id, class: "waits" },
    element("thead", {}, heads.cloneNode(true), second.cloneNode(true)), element("tbody", {}, rows)));
  const [first, rest] = [sorted.slice(0, MOST_WAITS), sorted.slice(MOST_WAITS)].map((part) => part.map((it) => row(it.name, it.waits)));
  const which = rest.length ? ` First those ${picture.corrected ? "whose waits changed" : "that waited"} most.` : "";
  return [element("h2", {}, "What an analysis would have said"),
    element("p", { class: "soft" }, "Time spent waiting for others, by the wait states of Scalasca. "
      + (bounded ? "Certain is what is left when both ends of a wait are moved towards each other as far as the error bounds allow: the rest lies within them." : "") + which),
    table("waits", [row("all locations", all), ...first]),
    rest.length ? element("details", {}, element("summary", {}, `The other ${counted(rest.length, "location")}`), table("waits-rest", rest)) : null].filter((it) => it);
}
