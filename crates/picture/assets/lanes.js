// The locations that can be drawn, by number, and what they are called.
const everyLane = picture?.rows?.all ?? picture?.lanes.shown ?? [];

// The process is enough where it has no other location.
const perProcess = new Map();
for (const lane of everyLane) perProcess.set(lane.process, (perProcess.get(lane.process) ?? 0) + 1);
function laneName(lane) {
  const name = shortName(lane);
  // A number alone says nothing of what it counts.
  return /^\d+$/.test(name) ? "location " + name : name;
}

function shortName({ process, name, id }) {
  if (process && (perProcess.get(process) === 1 || process === name)) return printable(process);
  return printable((process && name ? process + " · " + name : process || name) || "location " + id);
}

// The number by which people call a location: that in the name of its process, or else its id.
function laneNumber(lane) {
  const found = (lane.process || lane.name).match(/(\d+)(?!.*\d)/);
  return found ? Number(found[1]) : lane.id;
}

// The numbers of the lanes that a text asks for: "rank 100-163, node7"; none if it asks for nothing.
function lanesBy(text) {
  const parts = text.split(",").map((it) => it.trim()).filter((it) => it);
  if (parts.length === 0) return null;
  const asks = parts.map((part) => {
    const range = part.match(/^(?:ranks?|locations?|rows?)?\s*(\d+)(?:\s*[-–]\s*(\d+))?$/i);
    if (range) return (lane) => laneNumber(lane) >= Number(range[1]) && laneNumber(lane) <= Number(range[2] ?? range[1]);
    const wanted = part.toLowerCase();
    if (wanted === "all") return () => true;
    return (lane) => [lane.process, lane.name, lane.node ?? ""].some((name) => name.toLowerCase().includes(wanted));
  });
  return [...everyLane.keys()].filter((number) => asks.some((is) => is(everyLane[number])));
}
