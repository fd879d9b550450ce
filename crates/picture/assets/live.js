// Asks the server for the stretch and the rows that are shown, a little more on either side, once the
// hand rests; what was asked before is forgotten. Where it does not answer, the page says so.
class Live {
  constructor(diagram) {
    this.diagram = diagram;
    this.banner = element("div", { id: "gone", class: "banner", role: "alert", hidden: true });
    document.body.prepend(this.banner);
    addEventListener("focus", () => this.ask());
  }

  ask() {
    clearTimeout(this.timer);
    delete this.diagram.canvas.dataset.took;
    this.timer = setTimeout(() => this.fetch(), 30);
  }

  async fetch() {
    this.asked?.abort();
    this.asked = new AbortController();
    const { from, to, canvas, rows } = this.diagram, more = (to - from) / 8;
    const numbers = (all) => stretches([...all].sort((one, other) => one - other));
    const query = `from=${Math.floor(from - more)}&to=${Math.ceil(to + more)}&rows=${numbers(rows.drawn())}&folded=${numbers(rows.hidden())}`;
    const start = performance.now();
    try {
      const answer = await fetch("view?" + query, { signal: this.asked.signal });
      if (!answer.ok) throw new Error(await answer.text());
      this.diagram.put(await answer.json());
      this.banner.hidden = true;
      canvas.dataset.took = String(performance.now() - start);
    } catch (error) {
      if (error.name !== "AbortError") this.tell(error);
    }
  }

  tell(error) {
    this.banner.hidden = false;
    this.banner.textContent = `Nothing more can be shown: retime does not answer (${error.message.trim()}). What is drawn stays. To go on, run the command again and open what it prints: ${printable(data.command)}`;
  }
}
