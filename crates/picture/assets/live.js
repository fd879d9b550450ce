// Asks the server for the stretch and the rows that are shown, a little more on either side, once the
// hand rests; what was asked before is forgotten. Where it does not answer, the page says so.
class Live {
  constructor(diagram) {
    this.diagram = diagram;
    this.banner = element("div", { id: "gone", class: "banner", role: "alert", hidden: true });
    document.body.prepend(this.banner);
    addEventListener("focus", () => this.ask());
    if (data.first) new Successor(this);
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
    const query = `from=${Math.floor(from - more)}&to=${Math.ceil(to + more)}&rows=${numbers(rows.drawn())}&folded=${numbers(rows.hidden())}${data.first ? "&page=first" : ""}`;
    const start = performance.now();
    try {
      const answer = await fetch("view?" + query, { signal: this.asked.signal });
      if (!answer.ok) throw new Error(await answer.text());
      const view = await answer.json();
      // Nothing is drawn for this page any more: another one is there, as it is about to say.
      if (view === null) return;
      this.diagram.put(view);
      this.banner.hidden = true;
      canvas.dataset.took = String(performance.now() - start);
    } catch (error) {
      if (error.name !== "AbortError") this.tell(error);
    }
  }

  // Asks what became of an event; the first page has nobody to ask.
  async explain(end, take) {
    if (data.first) return;
    try {
      const answer = await fetch(`explain?event=${everyLane[end.lane].id}:${end.event}`);
      if (!answer.ok) throw new Error(await answer.text());
      take(await answer.json());
    } catch (error) {
      this.tell(error);
    }
  }

  tell(error) {
    this.banner.hidden = false;
    this.banner.textContent = `Nothing more can be shown: retime does not answer (${error.message.trim()}). What is drawn stays. To go on, run the command again and open what it prints: ${printable(data.command)}`;
  }
}

// Of the first page: waits for the one that has corrected times, and goes there; but not from under the hand
// of somebody who has begun to look around.
class Successor {
  constructor(live) {
    this.live = live;
    this.isUsed = false;
    const use = () => { this.isUsed = true; };
    for (const kind of ["pointerdown", "keydown", "wheel", "input"]) addEventListener(kind, use, { capture: true, passive: true });
    this.ask();
  }

  async ask() {
    try {
      const answer = await fetch("state");
      if (!answer.ok) throw new Error(await answer.text());
      if ((await answer.json()).complete) return this.come();
      setTimeout(() => this.ask(), 250);
    } catch (error) {
      this.live.tell(error);
    }
  }

  come() {
    if (!this.isUsed) return location.replace(location.pathname);
    const said = document.getElementById("outcome");
    said.replaceChildren("The whole picture is there now. What is below is still the first look. ",
      element("button", { type: "button", id: "successor", click: () => this.go() }, "show it here"));
    said.setAttribute("role", "alert");
  }

  // To the same place, with times as they are shown first.
  go() {
    const fields = new URLSearchParams(this.live.diagram.address.text().slice(1));
    fields.delete("times");
    history.replaceState(null, "", "#" + fields);
    location.reload();
  }
}
