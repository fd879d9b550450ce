// The page from top to bottom.
const page = document.getElementById("page");
const trace = report.trace;
page.replaceChildren(
  element("h1", {}, printable(trace.path)),
  element("p", { class: "soft" }, `${trace.format}; ${counted(trace.events, "event")} at ${counted(trace.locations, "location")} in ${counted(trace.processes, "process", "processes")}${trace.nodes ? ` on ${counted(trace.nodes, "node")}` : ""}, over ${seconds(trace.duration_seconds)}${trace.began_at ? ` from ${trace.began_at.replace("T", " ")}` : ""}`),
  ...(report.before ? verdict() : []),
  // What the verdict says is not said again.
  element("p", { class: report.before ? "outcome" : "verdict", id: "outcome", hidden: data.outcome === `${report.verdict?.sentence}.` }, printable(data.outcome)));
if (report.before) page.append(story());
page.append(...oddities());
if (report.methods) page.append(...methods());
const diagram = picture ? new SpaceTime() : null;
if (picture) {
  if (picture.lanes.shown.length > 0) page.append(...diagram.section());
  page.append(...new Matrix(diagram).section(), ...latencies(), ...clockCurves(), ...waits());
}
page.append(...heldUp(), ...provenance());
document.documentElement.dataset.ready = "true";
