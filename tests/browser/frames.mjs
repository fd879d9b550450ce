// How fluent `retime view` is: frames per second while times go from recorded to corrected, and while one
// zooms in and out, of a simulated trace of 1e7 events or of the one that is given, in a browser that draws
// without a graphics card. `make frames` runs it; it is no test, since it depends on the machine.

import {mkdtempSync, readFileSync, rmSync} from 'node:fs';
import {tmpdir} from 'node:os';
import {join, resolve} from 'node:path';

import {browser, retime} from './tools.mjs';
import {viewing} from './viewing.mjs';

const cwd = mkdtempSync(join(tmpdir(), 'retime-frames-'));
const ended = [];
const chromium = await browser();
const given = process.argv[2];

// Runs in the page: `frames(act)` resolves to how long each frame took in which something was drawn, and how
// much of that was drawing, in ms.
function prepare() {
  const {painter} = diagram, draw = painter.draw.bind(painter);
  let drawing = 0;
  painter.draw = (...all) => {
    const start = performance.now();
    draw(...all);
    drawing += performance.now() - start;
  };
  globalThis.frames = async (act) => {
    const next = () => new Promise(requestAnimationFrame);
    const found = [];
    let last = await next();
    for (let isOver = false; !isOver; ) {
      drawing = 0;
      isOver = await act();
      const now = await next();
      if (drawing > 0) found.push([now - last, drawing]);
      last = now;
    }
    return found;
  };
  globalThis.wheel = (deltaY) => {
    const {left, top, width} = diagram.canvas.getBoundingClientRect();
    diagram.canvas.dispatchEvent(new WheelEvent('wheel', {ctrlKey: true, deltaY, cancelable: true, clientX: left + width * 0.6, clientY: top + 60}));
  };
}

// The middle and the 95th percentile of numbers.
function percentiles(all) {
  const sorted = [...all].sort((one, other) => one - other);
  return [0.5, 0.95].map((share) => sorted[Math.min(sorted.length - 1, Math.floor(share * sorted.length))] ?? NaN);
}

function print(name, frames) {
  const [[middle, high], [drawn, drawnHigh]] = [0, 1].map((part) => percentiles(frames.map((it) => it[part])));
  const perSecond = 1000 * frames.length / frames.reduce((sum, it) => sum + it[0], 0);
  const ms = (value) => value.toFixed(1).padStart(6);
  console.log(`${name.padEnd(44)}${perSecond.toFixed(0).padStart(4)} /s  frame ${ms(middle)} ms (95 %: ${ms(high)})  drawing ${ms(drawn)} ms (95 %: ${ms(drawnHigh)})`);
}

try {
  const trace = given ? resolve(given) : 'trace';
  if (!given) retime(['simulate', 'halo', '--ranks', '64', '--events', '10000000', '-o', trace, '--no-truth', '-q'], {cwd});
  const {child, address} = await viewing({after: (end) => ended.push(end)}, cwd, trace);
  const page = await chromium.newPage({viewport: {width: 1920, height: 1080}});
  await page.goto(address);
  const answered = () => page.waitForFunction(() => document.getElementById('spacetime').dataset.took);
  await answered();
  await page.evaluate(prepare);
  const rows = await page.evaluate(() => `${grouped(report.trace.events)} events, ${counted(diagram.rows.shown.length, 'row')}`);
  console.log(rows);
  const both = await page.evaluate(() => diagram.both);
  for (const [name, number] of [['whole trace', 0], ['worst contradiction', 1]]) {
    await page.selectOption('#view', String(number));
    await answered();
    const toggled = await page.evaluate(async () => {
      const found = [];
      for (const share of [1, 0, 1, 0]) {
        diagram.animate(share);
        found.push(...(await frames(() => diagram.share === share)));
      }
      return found;
    });
    print(`recorded to corrected and back, ${name}`, toggled);
  }
  // Without a rest: nothing new is asked for until the hand stops. With one, answers come in between.
  for (const [how, pause] of [['', 0], [', answers between', 120]]) {
    for (const isBoth of both ? [false, true] : [false]) {
      await page.selectOption('#view', '0');
      await page.evaluate((isBoth) => (isBoth ? diagram.showBoth() : diagram.set(0)), isBoth);
      await answered();
      const zoomed = await page.evaluate(async (pause) => {
        let step = 0, since = 0;
        return frames(() => {
          const now = performance.now();
          if (now - since >= pause) { wheel(step++ < 50 ? -60 : 60); since = now; }
          return step > 100;
        });
      }, pause);
      print(`50 steps in and out${how}${isBoth ? ', both times' : ''}`, zoomed);
    }
  }
  // How long the server takes for stretches from all of it to a hundred-thousandth.
  const took = [];
  for (let step = 0; step < 12; step++) {
    await page.selectOption('#view', '0');
    await page.evaluate((share) => { const {from, to} = diagram.place, middle = from + 0.6 * (to - from), half = (to - from) * share / 2; diagram.show(middle - half, middle + half); }, 0.4 ** step);
    await answered();
    took.push(await page.evaluate(() => Number(document.getElementById('spacetime').dataset.took)));
  }
  const [middle, most] = [percentiles(took)[0], Math.max(...took)];
  console.log(`answer of the server, from the whole trace to ${(0.4 ** 11).toExponential(0)} of it: ${middle.toFixed(0)} ms in the middle, ${most.toFixed(0)} ms at most`);
  await explained(child, address);
} finally {
  for (const end of ended) end();
  await chromium.close();
  rmSync(cwd, {recursive: true});
}

// What the first question after an event costs, and the next ones, for which the records are there.
async function explained(child, address) {
  const memory = () => Number(readFileSync(`/proc/${child.pid}/status`, 'utf8').match(/VmRSS:\s+(\d+)/)[1]) / 1024;
  const ask = async () => {
    const start = performance.now();
    await (await fetch(`${address}explain?event=1:1000`)).text();
    return performance.now() - start;
  };
  const before = memory(), first = await ask(), after = memory(), next = await ask();
  console.log(`explain: ${first.toFixed(0)} ms the first time, then ${next.toFixed(0)} ms; memory of retime ${before.toFixed(0)} MiB before, ${after.toFixed(0)} MiB after`);
}
