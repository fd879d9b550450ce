// Cells as they lie in the file are lists.
const pairCell = ([[from, to, dependencies, reversed], [recorded, corrected, smallest], at, view]) =>
  ({ from, to, dependencies, reversed, recorded, corrected, smallest, at, view });

// Who hears how late from whom: a row for each clock that is heard, a column for each
// that hears; chosen by pointer or by keys, Enter goes to the diagram.
class Matrix {
  constructor(diagram) {
    this.diagram = diagram;
    this.clocks = picture.pairs.clocks;
    this.cells = new Map(picture.pairs.cells.map(pairCell).map((it) => [it.from + ">" + it.to, it]));
    this.chosen = [0, 0];
    this.what = "reversed";
    this.size = Math.max(11, Math.min(40, Math.floor(640 / Math.max(1, this.clocks.length))));
    this.margin = 64;
    this.canvas = element("canvas", { class: "matrix", id: "matrix", tabindex: "0", role: "img",
      "aria-label": "Matrix of clocks. Arrow keys move, Enter shows the pair in the space-time diagram.",
      pointermove: (event) => this.hover(event), pointerleave: () => showTip(""), click: (event) => { this.hover(event); this.go(); },
      keydown: (event) => this.key(event) });
    this.canvas.style.width = this.margin + this.clocks.length * this.size + 8 + "px";
    this.paint = sharp(this.canvas, () => this.margin + this.clocks.length * this.size + 8, (...all) => this.draw(...all));
    this.legend = element("ul", { class: "legend", id: "matrix-legend" });
    this.said = element("p", { class: "soft", id: "pair", "aria-live": "polite" }, "Choose a pair to read about it.");
  }

  section() {
    if (this.clocks.length < 2 || this.cells.size === 0) return [];
    const choose = element("select", { id: "matrix-what", change: () => { this.what = choose.value; this.tellShades(); this.paint(); } },
      [["reversed", "share reversed as recorded"], ["recorded", "middle latency as recorded"]]
        .concat(picture.corrected ? [["corrected", "middle latency as corrected"]] : [])
        .map(([value, text]) => element("option", { value }, text)));
    this.tellShades();
    const worst = [...this.cells.values()].filter((it) => it.reversed).sort((one, other) => one.smallest - other.smallest).slice(0, 20);
    const name = (clock) => printable(clocks.get(clock)?.name || `clock ${clock}`);
    const table = worst.length === 0 ? "" : element("div", { class: "beside" }, element("h3", {}, "The worst pairs"),
      scrolled("Pairs", element("table", { id: "pairs-table" },
        element("thead", {}, element("tr", {}, ["from → to", "dependencies", "reversed", "worst", "middle recorded"].concat(picture.corrected ? ["corrected"] : []).map((it) => element("th", { scope: "col" }, it)))),
        element("tbody", {}, worst.map((it) => element("tr", {}, [`${name(it.from)} → ${name(it.to)}`, grouped(it.dependencies), grouped(it.reversed), span(it.smallest), span(it.recorded)]
          .concat(picture.corrected ? [span(it.corrected)] : []).map((cell, place) => element("td", { class: place ? null : "wide" }, cell)))))), "low"));
    return [element("h2", {}, "Who hears how late from whom"),
      element("div", { class: "controls" }, element("label", {}, "Colour", choose)),
      element("div", { class: "pairs" }, element("div", { class: "scroll" }, this.canvas, this.legend), table), this.said];
  }

  // What the shades mean.
  tellShades() {
    const entry = (colour, shade, text) => element("li", {}, element("span", { class: "swatch", style: `background:${colour};opacity:${shade}` }), text);
    const items = this.what === "reversed"
      ? [entry("var(--good)", 0.25, "none reversed"), entry("var(--bad)", 0.3, "few"), entry("var(--bad)", 1, "all reversed")]
      : [entry("var(--good)", 0.25, "short"), entry("var(--good)", 1, "long"), entry("var(--bad)", 1, "below zero")];
    this.legend.replaceChildren(...items, entry("var(--idle)", 0.5, "hears nothing"), element("li", { class: "soft" }, "numbers are those of clocks, below and in the list"));
  }

  cell([row, column]) { return this.cells.get(this.clocks[row] + ">" + this.clocks[column]); }

  shade(cell) {
    if (this.what === "reversed") {
      const share = cell.reversed / cell.dependencies;
      return share === 0 ? [css("--good"), 0.25] : [css("--bad"), 0.25 + 0.75 * share];
    }
    const size = Math.abs(cell[this.what]);
    this.most ??= Math.max(1, ...[...this.cells.values()].flatMap((it) => [Math.abs(it.recorded), Math.abs(it.corrected ?? 0)]));
    return [cell[this.what] < 0 ? css("--bad") : css("--good"), 0.15 + 0.85 * Math.log1p(size) / Math.log1p(this.most)];
  }

  draw(context) {
    const { size, margin } = this;
    context.font = `${Math.min(12, size)}px system-ui, sans-serif`;
    context.textBaseline = "middle";
    const every = Math.ceil(24 / size);
    this.clocks.forEach((clock, number) => {
      const middle = margin + (number + 0.5) * size;
      if (number % every) return;
      context.fillStyle = css("--soft");
      context.textAlign = "right";
      context.fillText(String(clock), margin - 6, middle);
      context.textAlign = "center";
      context.fillText(String(clock), middle, margin - 10);
    });
    context.textAlign = "left";
    context.fillText("hears →", margin, 10);
    context.save();
    context.translate(12, margin);
    context.rotate(-Math.PI / 2);
    context.textAlign = "right";
    context.fillText("← is heard", 0, 0);
    context.restore();
    for (let row = 0; row < this.clocks.length; row++) for (let column = 0; column < this.clocks.length; column++) {
      const cell = this.cell([row, column]);
      [context.fillStyle, context.globalAlpha] = cell ? this.shade(cell) : [css("--idle"), 0.5];
      context.fillRect(margin + column * size + 0.5, margin + row * size + 0.5, size - 1, size - 1);
    }
    context.globalAlpha = 1;
    context.strokeStyle = css("--accent");
    context.lineWidth = 2;
    context.strokeRect(margin + this.chosen[1] * size, margin + this.chosen[0] * size, size, size);
  }

  text() {
    const cell = this.cell(this.chosen), [from, to] = this.chosen.map((it) => this.clocks[it]);
    const name = (clock) => printable(`clock ${clock} (${clocks.get(clock)?.name ?? ""})`);
    if (!cell) return `${name(to)} hears nothing from ${name(from)}.`;
    const corrected = cell.corrected === null ? "" : `, corrected ${span(cell.corrected)}`;
    return `${name(to)} hears from ${name(from)}: ${grouped(cell.reversed)} of ${grouped(cell.dependencies)} reversed, ${cell.reversed ? "the worst by " + span(-cell.smallest) : "the smallest latency " + span(cell.smallest)}; middle latency recorded ${span(cell.recorded)}${corrected}.`
      + (cell.view === null ? "" : " Click or Enter shows the worst in the diagram.");
  }

  say() { this.said.textContent = this.text(); this.paint(); }

  hover(event) {
    const place = (offset) => Math.floor((offset - this.margin) / this.size);
    const at = [place(event.offsetY), place(event.offsetX)];
    if (at.some((it) => it < 0 || it >= this.clocks.length)) return showTip("");
    this.chosen = at;
    this.say();
    showTip(this.text(), event.clientX, event.clientY);
  }

  key(event) {
    const by = { ArrowUp: [-1, 0], ArrowDown: [1, 0], ArrowLeft: [0, -1], ArrowRight: [0, 1] }[event.key];
    if (event.key === "Enter") this.go();
    else if (by) this.chosen = this.chosen.map((it, axis) => Math.max(0, Math.min(this.clocks.length - 1, it + by[axis])));
    else return;
    event.preventDefault();
    this.say();
  }

  // To the pair in the diagram: its worst dependency, or when that was.
  go() {
    const cell = this.cell(this.chosen);
    if (!cell) return;
    this.diagram.choose(cell.view ?? 0);
    if (cell.view === null) {
      const around = Math.max(16, Math.abs(cell.smallest) * 20);
      this.diagram.show(cell.at - around, cell.at + around);
    }
    this.diagram.address.step();
    this.diagram.canvas.scrollIntoView({ block: "center" });
    this.diagram.canvas.focus({ preventScroll: true });
  }
}
