// The page of --html and of `retime view`, as a browser shows it: without errors or requests,
// with the numbers of the JSON report, and whatever can be done with it done. Pictures are left in
// tests/browser/screenshots for people to look at.

import assert from 'node:assert/strict';
import {mkdirSync, readFileSync, writeFileSync} from 'node:fs';
import {dirname, join} from 'node:path';
import {after, before, test} from 'node:test';
import {fileURLToPath, pathToFileURL} from 'node:url';

import {opened} from './opened.mjs';
import {browser, retime, scratch} from './tools.mjs';
import {viewing} from './viewing.mjs';

const SCREENSHOTS = join(dirname(fileURLToPath(import.meta.url)), 'screenshots');

let chromium;
before(async () => {
  mkdirSync(SCREENSHOTS, {recursive: true});
  chromium = await browser();
});
after(() => chromium?.close());

const open = (context, url, size) => opened(chromium, context, url, size);

// The colours of the diagram, to tell whether it has changed.
const pixels = (page) => page.$eval('#spacetime', (canvas) => canvas.toDataURL());

// How many pixels of the diagram are like what is reversed.
const red = (page) => page.$eval('#spacetime', (canvas) => {
  const {data} = canvas.getContext('2d').getImageData(0, 0, canvas.width, canvas.height);
  let count = 0;
  for (let at = 0; at < data.length; at += 4) {
    if (data[at] === 194 && data[at + 1] === 65 && data[at + 2] === 12) count++;
  }
  return count;
});

const grouped = (number) => number.toLocaleString('en-US');
const text = (page, id) => page.textContent(id);

function recording(cwd) {
  retime(['demo', '--keep', 'demo'], {cwd});
  return join('demo', 'halo');
}

function simulated(...options) {
  return (cwd) => {
    retime(['simulate', ...options, '-o', 'trace', '--no-truth', '-q'], {cwd});
    return 'trace';
  };
}

// Two processes of two threads, with calls whose names would be markup.
const HOSTILE = '</script><img src=x onerror="document.title=1">';
function hybrid(cwd) {
  const lines = [{'retime-stream': 1, locations: [0, 1, 2, 3], clocks: [0, 0, 1, 1]}];
  const add = (location, time, fields) => lines.push({location, time, ...fields});
  for (let step = 0; step < 50; step++) {
    for (let location = 0; location < 4; location++) {
      const start = step * 1000 + (location > 1 ? 4000 : 0);
      const region = location % 2 ? HOSTILE : 'exchange';
      add(location, start + 10, {kind: 'Enter', region});
      if (location === 2) add(2, start + 100, {type: 'send', to: 0});
      if (location === 0) add(0, start + 300, {type: 'receive', from: 2});
      add(location, start + 900, {kind: 'Leave', region});
    }
  }
  writeFileSync(join(cwd, 'hybrid.jsonl'), lines.map((it) => JSON.stringify(it) + '\n').join(''));
  return 'hybrid.jsonl';
}

for (const [name, make, lanes] of [
  ['recording', recording, 4],
  ['halo4', simulated('halo', '--ranks', '4', '--iterations', '100'), 4],
  ['random16', simulated('random', '--ranks', '16', '--iterations', '400'), 16],
  ['halo64', simulated('halo', '--ranks', '64', '--iterations', '40'), 64],
  ['hybrid', hybrid, 4],
]) {
  test(`${name}: the report shows what the JSON report says, and can be looked through`, async (context) => {
    const cwd = scratch(context);
    const trace = make(cwd);
    retime(['correct', trace, '-o', 'out', '--html', 'page.html', '--json', 'report.json', '-q'], {cwd});
    const report = JSON.parse(readFileSync(join(cwd, 'report.json'), 'utf8'));
    const page = await open(context, pathToFileURL(join(cwd, 'page.html')).href);
    assert.equal(await text(page, '#figure-reversed'), grouped(report.before.reversed));
    assert.equal(await text(page, '#figure-left'), '0');
    assert.equal(report.after.reversed, 0);
    const kept = report.distortion.unchanged + report.distortion.small;
    assert.equal(await text(page, '#figure-kept'), `${((100 * kept) / report.distortion.intervals).toFixed(1)} %`);
    assert.match(await text(page, '#command'), /^retime correct .* --html page.html/);
    assert.equal(await page.locator('.waits tbody tr').count(), lanes + 1);

    // The verdict leads, and the contradiction is seen at once, of few locations beside its correction.
    const verdict = await text(page, '#verdict');
    assert.ok(verdict.startsWith(`${grouped(report.before.reversed)} of `) && verdict.endsWith('none is now.'), verdict);
    assert.equal(verdict, `${report.verdict.sentence}.`);
    assert.equal(await page.getAttribute('#show-both', 'aria-pressed'), String(lanes <= 16));
    assert.ok((await red(page)) > 20);
    await page.screenshot({path: join(SCREENSHOTS, `${name}-opened.png`), fullPage: true});

    // From corrected to recorded times: something turns red, and back again.
    await page.click('#show-corrected');
    await page.waitForFunction(() => document.getElementById('share').value === '100');
    await page.waitForTimeout(50);
    await page.click('#spacetime', {position: {x: 5, y: 5}});
    const corrected = await pixels(page);
    assert.equal(await red(page), 0);
    await page.click('#show-recorded');
    await page.waitForFunction(() => document.getElementById('share').value === '0');
    await page.waitForTimeout(50);
    assert.ok((await red(page)) > 20);
    await page.screenshot({path: join(SCREENSHOTS, `${name}-recorded.png`), fullPage: true});
    await page.focus('#spacetime');
    await page.keyboard.press(' ');
    await page.waitForFunction(() => document.getElementById('share').value === '100');
    await page.waitForTimeout(50);
    assert.equal(await pixels(page), corrected);

    // Zoom and pan, by keys and by the wheel; 0 shows all again.
    for (const key of ['+', 'ArrowRight', 'ArrowLeft', '-']) {
      const before = await pixels(page);
      await page.keyboard.press(key);
      assert.notEqual(await pixels(page), before, key);
    }
    await page.keyboard.press('0');
    assert.equal(await pixels(page), corrected);
    const box = await page.locator('#spacetime').boundingBox();
    await page.mouse.move(box.x + box.width * 0.6, box.y + 40);
    await page.keyboard.down('Control');
    await page.mouse.wheel(0, -400);
    await page.keyboard.up('Control');
    await page.waitForFunction((old) => document.getElementById('spacetime').toDataURL() !== old, corrected);

    // All views can be chosen; hovering finds something in words in one of them.
    const views = await page.locator('#view option').count();
    let said = '';
    for (let view = 0; view < views; view++) {
      await page.selectOption('#view', String(view));
      for (let x = 0.2; x < 1 && !said; x += 0.01) {
        await page.mouse.move(box.x + box.width * x, box.y + 45);
        said = await text(page, '#tip');
      }
    }
    assert.match(said, /recorded/);

    // The matrix by keys: some pair is named.
    await page.focus('#matrix');
    await page.keyboard.press('ArrowRight');
    assert.match(await text(page, '#pair'), /clock \d+/);
    for (const clock of await page.locator('#clock option').evaluateAll((all) => all.slice(0, 3).map((it) => it.value))) {
      await page.selectOption('#clock', clock);
      assert.ok((await page.locator('#curves path').count()) > 0);
    }
    await page.check('#straight');

    // Nothing is cut off, narrow or wide, light or dark.
    for (const [width, scheme] of [[1280, 'light'], [3840, 'dark'], [600, 'light']]) {
      await page.setViewportSize({width, height: 1000});
      await page.emulateMedia({colorScheme: scheme});
      const beyond = await page.evaluate(() => document.documentElement.scrollWidth - document.documentElement.clientWidth);
      assert.ok(beyond <= 0, `${width}: ${beyond} pixels are cut off`);
      await page.screenshot({path: join(SCREENSHOTS, `${name}-${width}-${scheme}.png`), fullPage: true});
    }
    assert.deepEqual(page.amiss, []);
    assert.notEqual(await page.title(), '1');
  });
}

test('what is on a dark screen is printed on white paper, tables whole, without what one presses', async (context) => {
  const cwd = scratch(context);
  retime(['correct', recording(cwd), '-o', 'out', '--html', 'page.html', '-q'], {cwd});
  const page = await open(context, pathToFileURL(join(cwd, 'page.html')).href);
  await page.emulateMedia({colorScheme: 'dark'});
  await page.emulateMedia({media: 'print', colorScheme: 'dark'});
  assert.equal(await page.evaluate(() => getComputedStyle(document.body).backgroundColor), 'rgb(255, 255, 255)');
  // The diagram is painted anew, in the red that belongs on white.
  await page.waitForTimeout(100);
  assert.ok((await red(page)) > 0);
  // The small charts of clocks are buttons, too, but pictures on paper.
  const seen = await page.locator('button:not(#clock-multiples button), input, select').evaluateAll((all) => all.filter((it) => it.offsetHeight > 0).length);
  assert.equal(seen, 0);
  const cut = await page.locator('.low, .scroll').evaluateAll((all) =>
    all.filter((it) => getComputedStyle(it).overflowY !== 'visible' || getComputedStyle(it).maxHeight !== 'none').length);
  assert.equal(cut, 0);
  // A sheet is some 700 pixels wide: tables are no wider, and no number in them is broken.
  await page.setViewportSize({width: 700, height: 900});
  const tables = await page.locator('table').evaluateAll((all) => all.map((it) => it.getBoundingClientRect().right));
  assert.ok(tables.length > 2 && tables.every((right) => right <= 700), tables.join());
  const broken = await page.locator('td:not(.wide):not(:first-child)').evaluateAll((all) => all.filter((it) => {
    const text = document.createRange();
    text.selectNodeContents(it);
    const tops = [...text.getClientRects()].filter((box) => box.width > 0).map((box) => Math.round(box.top));
    return it.querySelector('svg, canvas') === null && new Set(tops).size > 1;
  }).map((it) => it.textContent));
  assert.deepEqual(broken, []);
  assert.deepEqual(page.amiss, []);
});

test('an empty trace and a sound one have a page, too', async (context) => {
  const cwd = scratch(context);
  writeFileSync(join(cwd, 'empty.jsonl'), '{"retime-stream":1}\n');
  retime(['check', 'empty.jsonl', '--html', 'empty.html', '-q'], {cwd});
  retime(['simulate', 'halo', '-o', 'trace', '--ranks', '4', '--iterations', '20', '-q'], {cwd});
  retime(['check', 'trace-truth', '--html', 'sound.html', '-q'], {cwd});
  const calls = Array.from({length: 40}, (_, at) => ({location: at % 2, time: 10 * at, kind: at % 4 < 2 ? 'Enter' : 'Leave', region: 'work'}));
  writeFileSync(join(cwd, 'silent.jsonl'), [{'retime-stream': 1, locations: [0, 1]}, ...calls].map((it) => JSON.stringify(it) + '\n').join(''));
  retime(['check', 'silent.jsonl', '--html', 'silent.html', '-q'], {cwd});
  for (const name of ['empty', 'silent', 'sound']) {
    const page = await open(context, pathToFileURL(join(cwd, `${name}.html`)).href);
    // Where nothing could be checked there is no reassuring number.
    assert.equal(await text(page, '#figure-reversed'), name === 'sound' ? '0' : '–');
    if (name !== 'empty') assert.equal(await text(page, '#stop'), name === 'sound' ? 'no contradiction was found' : 'too little could be checked to find a contradiction');
    assert.doesNotMatch(await text(page, '#page'), /on 0 nodes|reversed: arrives/);
    // The verdict is said once.
    const verdict = await text(page, '#verdict');
    assert.equal((await page.innerText('#page')).split(verdict).length, 2, verdict);
    await page.screenshot({path: join(SCREENSHOTS, `${name}.png`), fullPage: true});
    assert.deepEqual(page.amiss, []);
  }
});

test('a trace of which no correction was found has a page that says why', async (context) => {
  const cwd = scratch(context);
  const trace = recording(cwd);
  retime(['correct', trace, '-o', 'out', '--method', 'interpolation', '--html', 'page.html', '-q'], {cwd, code: 1});
  const page = await open(context, pathToFileURL(join(cwd, 'page.html')).href);
  assert.match(await text(page, '#verdict'), /are reversed/);
  assert.match(await text(page, '#outcome'), /^Not corrected: .*finds no correction.*--offsets FILE\.$/);
  assert.equal(await page.locator('#figure-left').count(), 0);
  await page.screenshot({path: join(SCREENSHOTS, 'refused.png')});
  assert.deepEqual(page.amiss, []);
});

test('what is faster than a minimal delay that was given is counted', async (context) => {
  const cwd = scratch(context);
  retime(['simulate', 'halo', '-o', 'trace', '--ranks', '4', '--iterations', '50', '-q'], {cwd});
  for (const [args, code] of [[['check'], 1], [['correct', '-o', 'out'], 0]]) {
    retime([...args, 'trace-truth', '--clocks', 'process', '--min-delay', '250ns', '--html', 'page.html', '--json', 'report.json', '-q'], {cwd, code});
    const {before, after} = JSON.parse(readFileSync(join(cwd, 'report.json'), 'utf8'));
    assert.ok(before.short > before.reversed);
    const page = await open(context, pathToFileURL(join(cwd, 'page.html')).href);
    assert.equal(await page.locator('.story li').count(), 5);
    assert.equal(await text(page, '#figure-short'), grouped(before.short + before.reversed_within_clock));
    assert.match(await text(page, '.story'), /faster than the minimal delay that was given, 250 ns/);
    if (after) assert.equal(await text(page, '#figure-left'), grouped(after.short + after.reversed_within_clock));
    // Clocks are shown with or without a correction; a part that is not there is no text.
    assert.doesNotMatch(await text(page, '#page'), /null|undefined/);
    assert.deepEqual(page.amiss, []);
  }
});

test('arrows that would lie on each other are drawn as one', async (context) => {
  const cwd = scratch(context);
  retime(['simulate', 'halo', '-o', 'trace', '--ranks', '8', '--iterations', '3000', '--no-truth', '-q'], {cwd});
  retime(['correct', 'trace', '-o', 'out', '--html', 'page.html', '-q'], {cwd});
  const page = await open(context, pathToFileURL(join(cwd, 'page.html')).href);
  await page.selectOption('#view', '0');
  await page.click('#show-recorded');
  await page.waitForFunction(() => diagram.share === 0 && !diagram.both);
  const [drawn, stand, all] = await page.evaluate(() => {
    const {lines} = diagram.painter, {messages, operations} = diagram.view.arrows;
    return [lines.length, lines.reduce((sum, it) => sum + it.more, 0), messages.length + operations.flatMap((it) => endsOf(it, 0)).length];
  });
  assert.ok(all > 400 && drawn < all, `${drawn} of ${all}`);
  assert.equal(stand, all);
  assert.match(await text(page, '#view-note'), /darker the more they are/);

  // Each of these lines is seen: of the pixels next to its middle one at least is another without it.
  for (const scale of [1, 2]) {
    const unseen = await page.evaluate((scale) => {
      const {painter, view} = diagram, {width} = painter, canvas = new OffscreenCanvas(Math.ceil(width) * scale, painter.height() * scale);
      const context = canvas.getContext('2d', {willReadFrequently: true});
      const pictureOf = () => {
        context.setTransform(1, 0, 0, 1, 0, 0);
        context.clearRect(0, 0, canvas.width, canvas.height);
        context.setTransform(scale, 0, 0, scale, 0, 0);
        painter.draw(context, width);
        return context.getImageData(0, 0, canvas.width, canvas.height).data;
      };
      const all = view.arrows, known = diagram.worst, withLines = pictureOf(), {lines} = painter;
      [view.arrows, diagram.worst] = [{messages: [], operations: []}, null];
      const without = pictureOf();
      [view.arrows, diagram.worst] = [all, known];
      diagram.repaint();
      const differs = (x, y) => [0, 1, 2].some((at) => withLines[4 * (y * canvas.width + x) + at] !== without[4 * (y * canvas.width + x) + at]);
      const isSeen = ({line: [x1, y1, x2, y2]}) => {
        const [x, y] = [(x1 + x2) / 2 * scale, (y1 + y2) / 2 * scale].map(Math.floor), near = [];
        // Dashes leave out three of nine pixels.
        for (let dx = -4 * scale; dx <= 4 * scale; dx++) for (let dy = -4 * scale; dy <= 4 * scale; dy++) near.push([x + dx, y + dy]);
        return near.some(([x, y]) => differs(x, y));
      };
      const inside = lines.filter(({line: [x1, , x2]}) => Math.min(x1, x2) > painter.label + 8 && Math.max(x1, x2) < width - 8);
      return {lines: inside.length, unseen: inside.filter((it) => !isSeen(it)).length};
    }, scale);
    assert.ok(unseen.lines > 200, JSON.stringify(unseen));
    assert.equal(unseen.unseen, 0, JSON.stringify(unseen));
  }
});

// The texts that a diagram has written since it was painted anew.
const written = (page) => page.evaluate(() => {
  const {prototype} = CanvasRenderingContext2D, {fillText} = prototype, found = [];
  prototype.fillText = function (text, ...place) { found.push(text); return fillText.call(this, text, ...place); };
  diagram.repaint();
  prototype.fillText = fillText;
  return found;
});

test('the axis is read at a glance, and what a file has nothing of is grey', async (context) => {
  const cwd = scratch(context);
  const trace = recording(cwd);
  retime(['correct', trace, '-o', 'out', '--html', 'page.html', '-q'], {cwd});
  const page = await open(context, pathToFileURL(join(cwd, 'page.html')).href);
  const near = await written(page);
  assert.ok(near.some((it) => /^\d+ ms \+$/.test(it)), near.join());
  assert.ok(near.filter((it) => / us$/.test(it) && !it.startsWith('-')).every((it) => it.length < 10), near.join());
  assert.equal(await page.isVisible('#edge'), false);
  await page.focus('#spacetime');
  for (let step = 0; step < 6; step++) await page.keyboard.press('-');
  assert.ok(await page.isVisible('#edge'));
  assert.ok((await written(page)).includes('not in this file'));
  await page.selectOption('#view', '0');
  const whole = await written(page);
  assert.equal(await page.isVisible('#edge'), false);
  assert.ok(whole.every((it) => !/^-0 /.test(it)), whole.join());
});

test('messages, collectives and all but contradictions can be left out', async (context) => {
  const cwd = scratch(context);
  retime(['correct', recording(cwd), '-o', 'out', '--html', 'page.html', '-q'], {cwd});
  const page = await open(context, pathToFileURL(join(cwd, 'page.html')).href);
  await page.click('#show-recorded');
  await page.waitForFunction(() => diagram.share === 0 && !diagram.both);
  const drawn = () => page.evaluate(() => diagram.painter.lines.map(({thing, more}) => [thing.kind, more, latencyOf(thing, 0) < 0]));
  const all = await drawn();
  await page.uncheck('#only-messages');
  assert.deepEqual(new Set((await drawn()).map((it) => it[0])), new Set(['collective']));
  await page.check('#only-messages');
  await page.uncheck('#only-collectives');
  assert.deepEqual(new Set((await drawn()).map((it) => it[0])), new Set(['message']));
  await page.check('#only-collectives');
  await page.check('#only-contradictions');
  const left = await drawn();
  assert.ok(left.length > 0 && left.every((it) => it[2]));
  const count = (lines) => lines.filter((it) => it[2]).reduce((sum, it) => sum + it[1], 0);
  assert.equal(count(left), count(all));
  // Whoever opens the address again sees the same arrows.
  await page.uncheck('#only-collectives');
  await page.waitForFunction(() => new URLSearchParams(location.hash.slice(1)).get('arrows') === 'messages,contradictions');
  const few = await drawn();
  await page.reload();
  await page.waitForFunction(() => document.documentElement.dataset.ready);
  assert.deepEqual(await page.evaluate(() => diagram.kinds), {messages: true, collectives: false, contradictions: true});
  assert.deepEqual(await Promise.all(['messages', 'collectives', 'contradictions'].map((it) => page.isChecked('#only-' + it))), [true, false, true]);
  assert.equal((await drawn()).length, few.length);
});

test('calls of MPI have the colours of MPI in each trace, and the waits that changed most come first', async (context) => {
  const cwd = scratch(context);
  simulated('halo', '--ranks', '64', '--iterations', '40')(cwd);
  retime(['correct', 'trace', '-o', 'out', '--html', 'page.html', '-q'], {cwd});
  const page = await open(context, pathToFileURL(join(cwd, 'page.html')).href);
  const [mpi, others] = await page.evaluate(() => {
    const of = (isMpi) => picture.regions.flatMap((name, number) => (name.startsWith('MPI_') === isMpi ? [colourOf(number)] : []));
    return [of(true), of(false)];
  });
  assert.ok(mpi.length > 3 && others.length > 0 && mpi.every((it) => !others.includes(it)), `${mpi} ${others}`);
  assert.equal(await page.locator('#waits tbody tr').count(), 11);
  const changes = await page.evaluate(() => picture.lanes.shown.map((lane, number) =>
    [laneName(lane), ['late_sender', 'late_receiver', 'barrier', 'root'].reduce((sum, kind) => sum + Math.abs(picture.waits.lanes[number][kind].corrected - picture.waits.lanes[number][kind].recorded), 0)]));
  const first = await page.locator('#waits tbody tr td:first-child').allTextContents();
  const most = new Set(changes.sort((one, other) => other[1] - one[1]).slice(0, 10).map((it) => it[0]));
  assert.deepEqual(new Set(first.slice(1)), most);
  // How far each clock was off stands in words, and the worst pairs beside their matrix, by name.
  assert.equal(await page.locator('#clock-table tbody tr').count(), 64);
  assert.match(await text(page, '#clock-table'), /MPI Rank 1.*(fast|slow).*ppm.*±/);
  // Beside it is a small chart of each clock, all on one scale; a click shows that clock.
  assert.equal(await page.locator('#clock-multiples button').count(), 64);
  await page.locator('#clock-multiples button').nth(3).click();
  assert.equal(await page.inputValue('#clock'), await page.evaluate(() => String(picture.clocks[3].clock)));
  assert.equal(await page.isChecked('#straight'), true);
  const heights = await page.evaluate(() => picture.clocks.flatMap((it) => besideItsLine(it, true).bands.flat().map(([, before, after]) => Math.max(Math.abs(before), Math.abs(after)))));
  const scale = await page.locator('#clock-multiples').evaluate((it) => it.closest('.scroll').previousElementSibling.textContent);
  assert.ok(scale.includes(`±${await page.evaluate((most) => span(most), heights.reduce((one, other) => Math.max(one, other)))}`), scale);
  assert.match(await text(page, '#pairs-table'), /MPI Rank \d+.* → MPI Rank \d+/);
  assert.equal(await page.isVisible('#pairs-table'), true);
});

test('compare shows every method', async (context) => {
  const cwd = scratch(context);
  const trace = recording(cwd);
  retime(['compare', trace, '--html', 'page.html', '--json', 'report.json', '-q'], {cwd});
  const report = JSON.parse(readFileSync(join(cwd, 'report.json'), 'utf8'));
  const page = await open(context, pathToFileURL(join(cwd, 'page.html')).href);
  const names = await page.locator('#method-table tbody tr td:first-child').allTextContents();
  assert.deepEqual(names, report.methods.map((it) => it.name));
  const dots = report.methods.filter((it) => it.result?.bound).length;
  assert.equal(await page.locator('#methods circle').count(), dots);
  assert.ok(!(await page.textContent('#page')).includes('NaN'));
  assert.match(await text(page, '#outcome'), /^Recommended: auto/);
  // It draws the recording, of whose clocks it knows no more.
  assert.equal(await page.locator('#curves').count(), 0);
  await page.screenshot({path: join(SCREENSHOTS, 'compare.png'), fullPage: true});
  assert.deepEqual(page.amiss, []);
});

test('view shows single calls wherever one zooms in', async (context) => {
  const cwd = scratch(context);
  const trace = simulated('halo', '--ranks', '8', '--iterations', '20000')(cwd);
  const {child, address} = await viewing(context, cwd, trace);
  const page = await open(context, address);
  const loaded = () => page.waitForFunction(() => document.getElementById('spacetime').dataset.took);
  await page.selectOption('#view', '0');
  await loaded();
  assert.match(await text(page, '#view-note'), /most of the time/);
  await page.focus('#spacetime');
  for (let step = 0; step < 14; step++) {
    await page.evaluate(() => delete document.getElementById('spacetime').dataset.took);
    await page.keyboard.press('+');
    await loaded();
  }
  assert.doesNotMatch(await text(page, '#view-note'), /most of the time/);
  await page.screenshot({path: join(SCREENSHOTS, 'view.png'), fullPage: true});
  assert.deepEqual(page.amiss, []);
  const code = new Promise((ended) => child.once('exit', ended));
  child.kill('SIGINT');
  assert.equal(await code, 130);
  // What is shown stays, and the page says that there is no more.
  await page.keyboard.press('+');
  await page.waitForSelector('#gone:not([hidden])');
});

test('bounds that rest on clocks of nodes say so in their sentence', async (context) => {
  const cwd = scratch(context);
  for (const [clocks, condition] of [['node', ', and if processes of one node read one clock: on node0, node1'], ['process', '']]) {
    retime(['simulate', 'halo', '--ranks', '4', '--ranks-per-node', '2', '--iterations', '200', '--clocks', clocks, '-o', clocks, '--no-truth', '-q'], {cwd});
    retime(['correct', clocks, '-o', `out-${clocks}`, '--html', `${clocks}.html`, '-q'], {cwd});
    const page = await open(context, pathToFileURL(join(cwd, `${clocks}.html`)).href);
    assert.ok((await text(page, '.story')).includes(`if clocks were not set and wander less than 100 ppm${condition}`), await text(page, '.story'));
    assert.equal((await text(page, '.story')).includes('read one clock'), condition !== '');
  }
});

test('how a clock was set is told with how far that is known', async (context) => {
  const cwd = scratch(context);
  retime(['correct', recording(cwd), '-o', 'out', '--html', 'page.html', '-q'], {cwd});
  const page = await open(context, pathToFileURL(join(cwd, 'page.html')).href);
  const said = await page.evaluate(() => [null, 20000].map((known_to) => wasSet({by: -50000, how: 'was set or slewed', known_to})));
  assert.match(said[0], /^was set or slewed by [^,]*50 us$/);
  assert.match(said[1], /^was set or slewed by .*, known to ±20/);
});
