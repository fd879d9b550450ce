// The place that the diagram shows, in the address of the page: whoever opens that again, or sends it, sees the
// same. A jump is a step that the browser goes back; what is dragged is not.

// The kinds that are drawn where the address does not say otherwise.
const ALL_ARROWS = "messages,collectives";

class Address {
  constructor(diagram) {
    this.diagram = diagram;
    addEventListener("popstate", () => this.restore());
  }

  text() {
    const { number, from, to, both, share, rows } = this.diagram;
    const fields = { view: number, from: Math.round(from), to: Math.round(to), times: both ? "both" : share > 0.5 ? "corrected" : "recorded" };
    const arrows = this.arrows();
    if (arrows !== ALL_ARROWS) fields.arrows = arrows;
    if (rows.asked) fields.rows = rows.asked;
    if (rows.first) fields.first = rows.first;
    if (rows.folded.size) fields.folded = JSON.stringify([...rows.folded]);
    return "#" + new URLSearchParams(fields);
  }

  // The kinds of arrows that are drawn.
  arrows() {
    const { kinds } = this.diagram;
    return Object.keys(kinds).filter((kind) => kinds[kind]).join(",");
  }

  // The browser takes no more than some changes a second.
  note() {
    clearTimeout(this.timer);
    this.timer = setTimeout(() => { if (location.hash !== this.text()) history.replaceState(null, "", this.text()); }, 200);
  }

  step() {
    clearTimeout(this.timer);
    if (location.hash !== this.text()) history.pushState(null, "", this.text());
  }

  // Goes to where the address says; false if it says nothing.
  restore() {
    const fields = new URLSearchParams(location.hash.slice(1)), number = (name) => Number(fields.get(name) ?? NaN);
    const [view, from, to] = ["view", "from", "to"].map(number);
    if (!(from < to)) return false;
    const { diagram } = this, { rows } = diagram;
    diagram.choose(picture.views[view] ? view : 0);
    rows.asked = rows.filter.value = fields.get("rows") ?? "";
    rows.first = Number(fields.get("first")) || 0;
    try { rows.folded = new Set(JSON.parse(fields.get("folded") ?? "[]")); } catch { rows.folded = new Set(); }
    rows.arrange();
    const arrows = (fields.get("arrows") ?? ALL_ARROWS).split(",");
    for (const kind of Object.keys(diagram.kinds)) diagram.toggle(kind, arrows.includes(kind));
    const times = fields.get("times");
    if (picture.corrected && (times === "both" || times === null)) diagram.showBoth();
    else diagram.set(picture.corrected && times === "corrected" ? 1 : 0);
    diagram.show(from, to);
    return true;
  }
}
