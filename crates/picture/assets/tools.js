// What all parts of the page use: elements, numbers, times, colours.
const data = JSON.parse(document.getElementById("data").textContent);
const report = data.report, picture = data.picture;
const ticksPerSecond = (picture && picture.ticks_per_second)
  || (report.trace && report.trace.ticks_per_second) || 1e9;

// An element with attributes, listeners (functions) and children; strings become text,
// so that no name can become markup.
function element(name, attributes = {}, ...children) {
  const svg = ["svg", "g", "path", "rect", "line", "circle", "text", "title"].includes(name);
  const it = svg ? document.createElementNS("http://www.w3.org/2000/svg", name)
    : document.createElement(name);
  for (const [key, value] of Object.entries(attributes)) {
    if (value === null || value === undefined || value === false) continue;
    if (typeof value === "function") it.addEventListener(key, value);
    else it.setAttribute(key, value === true ? "" : value);
  }
  it.append(...children.flat().filter((child) => child !== null && child !== undefined));
  return it;
}

// What may be wider than the screen, in a frame that scrolls, by keys too.
const scrolled = (name, child, more = "") =>
  element("div", { class: "scroll " + more, tabindex: "0", role: "region", "aria-label": name }, child);

// Characters that would reorder or hide what stands around them are shown as such.
function printable(text) {
  return String(text).replace(/[\u0000-\u001f\u007f-\u009f\u200b-\u200f\u2028-\u202e\u2060-\u2069\ufeff]/g,
    (c) => "\\u" + c.charCodeAt(0).toString(16).padStart(4, "0"));
}

const grouped = (number) => Math.round(number).toLocaleString("en-US");

const counted = (number, one, many = one + "s") => grouped(number) + " " + (number === 1 ? one : many);

// Three digits and a unit, as the command prints spans.
function seconds(value, most = 3) {
  // What is rounded to a thousand of a unit is one of the next: 999.9 ms are "1 s".
  const size = Math.abs(value) / (most > 3 ? 1 : 0.9995);
  if (size === 0) return "0 s";
  const [unit, scale] = size < 1e-6 ? ["ns", 1e9] : size < 1e-3 ? ["us", 1e6]
    : size < 1 ? ["ms", 1e3] : ["s", 1];
  const scaled = value * scale, digits = Math.abs(scaled);
  const text = digits >= 1000 ? grouped(scaled)
    : most > 3 ? scaled.toFixed(most)
    : scaled.toFixed(digits >= 100 ? 0 : digits >= 10 ? 1 : 2);
  return text.replace(/\.0+$|(\.\d*?)0+$/, "$1") + " " + unit;
}
const span = (ticks) => seconds(ticks / ticksPerSecond);
const percent = (share) => (100 * share).toFixed(share > 0 && share < 0.001 ? 3 : 1) + " %";

// A point in time, exact to the last tick, since the smallest recorded stamp.
function moment(ticks) {
  const digits = Math.max(0, Math.min(9, Math.ceil(Math.log10(ticksPerSecond))));
  return (ticks / ticksPerSecond).toFixed(digits) + " s";
}

// Where a scale has its marks: about so many, at round numbers.
function marks(from, to, about) {
  const raw = (to - from) / Math.max(1, about);
  if (!(raw > 0)) return [];
  const power = 10 ** Math.floor(Math.log10(raw));
  const step = [1, 2, 5, 10].map((it) => it * power).find((it) => it >= raw);
  const found = [];
  for (let at = Math.ceil(from / step); at * step <= to && found.length < 200; at++) found.push(at * step);
  return found;
}

// Calls back whenever the colours of the page change: with the theme, and on paper.
function whenColoursChange(act) {
  for (const media of ["(prefers-color-scheme: dark)", "print"]) matchMedia(media).addEventListener("change", act);
}

// Colours of the page, which are asked for thousands of times in a picture: kept until they change.
const colours = new Map();
whenColoursChange(() => colours.clear());
function css(name) {
  if (!colours.has(name)) colours.set(name, getComputedStyle(document.documentElement).getPropertyValue(name).trim());
  return colours.get(name);
}

// Okabe and Ito without red, which means reversed; then the same, lighter.
const palette = ["#0072b2", "#e69f00", "#009e73", "#cc79a7", "#56b4e9", "#8c6d31", "#7b6bb5", "#b3b300",
  "#6aa9d0", "#f0c66b", "#6bc4a9", "#e3b3cf", "#a6d5f2", "#bfa878", "#b3a8d6", "#d6d66b"];

// MPI is blue and green, OpenMP violet, GPUs and what they exchange olive, the program itself sand and rose: in
// each trace alike, whichever takes most time.
const families = [
  [/^p?mpi_/i, ["#0072b2", "#009e73", "#56b4e9", "#6bc4a9", "#6aa9d0", "#a6d5f2"]],
  [/^!\$omp|^omp[_ ]|^__kmp|^gomp/i, ["#7b6bb5", "#b3a8d6"]],
  [/nccl|rccl|gloo|c10d|^cuda|^cu[A-Z]|^hip|kernel|memcpy|memset|gemm/i, ["#b3b300", "#d6d66b"]],
  [/^/, ["#d8c7a3", "#cc79a7", "#e69f00", "#8c6d31", "#f0c66b", "#e3b3cf"]],
];
const regionColours = (() => {
  const used = families.map(() => 0);
  return (picture?.regions ?? []).map((name) => {
    const number = families.findIndex(([names]) => names.test(name)), [, colours] = families[number];
    return colours[used[number]++ % colours.length];
  });
})();
const colourOf = (number) => number < 0 ? css("--idle") : regionColours[number];

const tip = document.getElementById("tip");
function showTip(text, x, y) {
  tip.hidden = !text;
  if (!text) return;
  tip.textContent = text;
  const { width, height } = tip.getBoundingClientRect();
  const left = x + 16 + width > innerWidth ? x - width - 12 : x + 16;
  const top = y + 16 + height > innerHeight ? y - height - 12 : y + 16;
  tip.style.left = Math.max(4, left) + "px";
  tip.style.top = Math.max(4, top) + "px";
}
addEventListener("scroll", () => showTip(""), { passive: true });

// A canvas as sharp as the screen; `draw` gets its context and its size, whenever that or
// the colours change.
function sharp(canvas, height, draw) {
  const paint = () => {
    const width = canvas.clientWidth || 800, tall = height();
    const ratio = Math.min(devicePixelRatio || 1, 3);
    canvas.style.height = tall + "px";
    if (canvas.width !== Math.round(width * ratio) || canvas.height !== Math.round(tall * ratio)) {
      canvas.width = Math.round(width * ratio);
      canvas.height = Math.round(tall * ratio);
    }
    const context = canvas.getContext("2d");
    context.setTransform(ratio, 0, 0, ratio, 0, 0);
    context.clearRect(0, 0, width, tall);
    draw(context, width, tall);
  };
  new ResizeObserver(paint).observe(canvas);
  whenColoursChange(paint);
  return paint;
}

// Text that fits, with an ellipsis if need be.
function fitted(context, text, width) {
  if (context.measureText(text).width <= width) return text;
  let low = 0, high = text.length;
  while (low < high) {
    const middle = (low + high + 1) >> 1;
    if (context.measureText(text.slice(0, middle) + "…").width <= width) low = middle;
    else high = middle - 1;
  }
  return low > 0 ? text.slice(0, low) + "…" : "";
}

// The value of a piecewise linear curve of points [time, value].
function along(points, time) {
  if (points.length === 0) return 0;
  let low = 0, high = points.length;
  while (low < high) {
    const middle = (low + high) >> 1;
    if (points[middle][0] <= time) low = middle + 1; else high = middle;
  }
  return beforeNext(points, low, time);
}

// Tells the values at times that rise, without a search for each.
function alongRising(points) {
  let next = 0;
  return (time) => {
    if (points.length === 0) return 0;
    while (next < points.length && points[next][0] <= time) next++;
    return beforeNext(points, next, time);
  };
}

// The value at a time between a point and the next one; before all it is that of the first, after them of the last.
function beforeNext(points, next, time) {
  if (next === 0) return points[0][1];
  if (next === points.length) return points[next - 1][1];
  const [from, to] = [points[next - 1], points[next]];
  return from[1] + (to[1] - from[1]) * (time - from[0]) / (to[0] - from[0]);
}

const clocks = new Map(picture ? picture.clocks.map((it) => [it.clock, it]) : []);

// By how much the truth may lie before and after an event of a clock, in ticks.
function bound(clock, recorded) {
  const band = clocks.get(clock)?.band ?? [];
  if (band.length === 0 || band.some((it) => it[1] === null || it[2] === null)) return null;
  return [along(band.map((it) => [it[0], it[1]]), recorded), along(band.map((it) => [it[0], it[2]]), recorded)];
}
