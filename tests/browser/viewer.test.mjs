// `retime view`: every location can be reached, contradictions are gone through, and the address says where
// one is.

import assert from 'node:assert/strict';
import {mkdirSync, writeFileSync} from 'node:fs';
import {dirname, join} from 'node:path';
import {after, before, test} from 'node:test';
import {fileURLToPath, pathToFileURL} from 'node:url';

import {opened} from './opened.mjs';
import {browser, retime, scratch} from './tools.mjs';
import {begun, complete, viewing} from './viewing.mjs';

const SCREENSHOTS = join(dirname(fileURLToPath(import.meta.url)), 'screenshots');

let chromium;
before(async () => {
  mkdirSync(SCREENSHOTS, {recursive: true});
  chromium = await browser();
});
after(() => chromium?.close());

// A running viewer of a trace, and its page once something is drawn.
async function viewer(context, cwd, trace) {
  const {child, address} = await viewing(context, cwd, trace);
  const page = await opened(chromium, context, address);
  await drawn(page);
  return {child, address, page};
}

const drawn = (page) => page.waitForFunction(() => document.getElementById('spacetime').dataset.took);
const rowsOf = (page) => page.evaluate(() => diagram.rows.shown.map((row) => (row.group === undefined ? laneName(everyLane[row.lane]) : row.group)));
const place = (page) => page.evaluate(() => [diagram.from, diagram.to]);
// The lanes that have something drawn.
const filled = (page) => page.evaluate(() => [...new Set([...diagram.view.calls, ...diagram.view.bands].map(([lane]) => lane))].length);

function simulated(cwd, ...options) {
  retime(['simulate', 'halo', ...options, '-o', 'trace', '--no-truth', '-q'], {cwd});
  return 'trace';
}

test('every location can be reached, by filter and by turning over', async (context) => {
  const cwd = scratch(context);
  const {page} = await viewer(context, cwd, simulated(cwd, '--ranks', '200', '--iterations', '20'));
  assert.equal((await rowsOf(page)).length, 64);
  assert.match(await page.textContent('#rows-said'), /^64 of 200 locations/);
  await page.fill('#rows-filter', 'rank 100-163');
  await drawn(page);
  const expected = Array.from({length: 64}, (_, at) => `MPI Rank ${100 + at}`);
  assert.deepEqual(await rowsOf(page), expected);
  assert.equal(await filled(page), 64);
  await page.screenshot({path: join(SCREENSHOTS, 'viewer-rows.png'), fullPage: true});

  // All of them, some at a time.
  await page.click('#rows-all');
  const met = new Set(await rowsOf(page));
  while (await page.isEnabled('#rows-later')) {
    await page.click('#rows-later');
    await drawn(page);
    const rows = await rowsOf(page);
    assert.equal(await filled(page), rows.length);
    for (const name of rows) met.add(name);
  }
  assert.equal(met.size, 200);
  await page.fill('#rows-filter', 'nobody');
  assert.deepEqual(await rowsOf(page), []);
  await page.fill('#rows-filter', '7, rank 9');
  assert.deepEqual(await rowsOf(page), ['MPI Rank 7', 'MPI Rank 9']);
  assert.deepEqual(page.amiss, []);
});

test('contradictions are gone through in their order, and shown with both ends', async (context) => {
  const cwd = scratch(context);
  const {page} = await viewer(context, cwd, simulated(cwd, '--ranks', '100', '--iterations', '20'));
  const report = JSON.parse(retime(['check', 'trace', '--bounds', 'off', '--json', '-', '-q'], {cwd, code: 1}));
  const sum = (name) => page.evaluate((it) => picture.contradictions[it].reduce((one, other) => one + other, 0), name);
  assert.equal(await sum('recorded'), report.before.reversed);
  assert.equal(await sum('corrected'), 0);
  const stop = () => page.textContent('#stop');
  const number = async () => Number((await stop()).match(/^([\d,]+) of/)[1].replaceAll(',', ''));
  await page.keyboard.press('n');
  const first = await number();
  for (let step = 1; step < 8; step++) {
    await page.keyboard.press('n');
    assert.equal(await number(), first + step);
    await page.waitForSelector('#pinned:not([hidden])');
    const ends = await page.evaluate(() => [diagram.pinned.thing.cause, diagram.pinned.thing.effect].map((end) => [end.lane, end.time]));
    const [from, to] = await place(page);
    for (const [lane, time] of ends) {
      assert.ok(time >= from && time <= to);
      assert.ok(await page.evaluate((lane) => diagram.rows.place.has(lane), lane));
    }
    assert.ok(ends[1][1] < ends[0][1]);
  }
  await page.keyboard.press('p');
  assert.equal(await number(), first + 6);

  // The list jumps, the browser goes back.
  const before = await place(page);
  await page.click('#contradictions summary');
  await page.click('#contradictions tbody tr:nth-child(3) button');
  await drawn(page);
  assert.notDeepEqual(await place(page), before);
  await page.goBack();
  await drawn(page);
  const rounded = (all) => all.map((it) => Math.round(it));
  assert.deepEqual(rounded(await place(page)), rounded(before));
  assert.deepEqual(page.amiss, []);
});

test('the address says where one is, which stays within the trace', async (context) => {
  const cwd = scratch(context);
  const {page} = await viewer(context, cwd, simulated(cwd, '--ranks', '80', '--iterations', '20'));
  await page.fill('#rows-filter', 'rank 70-79');
  await page.focus('#spacetime');
  for (const key of ['+', '+', 'ArrowRight', '+']) await page.keyboard.press(key);
  await page.click('#show-corrected');
  await page.waitForFunction(() => document.getElementById('share').value === '100');
  await page.waitForTimeout(400);
  const [there, rows] = [await place(page), await rowsOf(page)];
  await page.reload();
  await page.waitForSelector('html[data-ready]');
  await drawn(page);
  assert.deepEqual((await place(page)).map(Math.round), there.map(Math.round));
  assert.deepEqual(await rowsOf(page), rows);
  assert.equal(await page.getAttribute('#show-corrected', 'aria-pressed'), 'true');

  // Neither keys nor the strip lead out of it.
  await page.focus('#spacetime');
  const [from, to] = await page.evaluate(() => [picture.views[0].from, picture.views[0].to]);
  const within = async () => {
    const [left, right] = await place(page), pad = (to - from) * 0.03 + 16;
    assert.ok(left >= from - pad && right <= to + pad && left < right, `${left} ${right}`);
  };
  for (const key of [...Array(12).fill('ArrowLeft'), ...Array(30).fill('-'), ...Array(12).fill('ArrowRight'), ...Array(40).fill('+'), ...Array(12).fill('ArrowRight')]) {
    await page.keyboard.press(key);
    await within();
  }
  // The strip takes the diagram along.
  await page.evaluate(() => document.getElementById('overview').scrollIntoView());
  const box = await page.locator('#overview').boundingBox();
  await page.mouse.click(box.x + box.width * 0.25, box.y + 20);
  const [left, right] = await place(page);
  assert.ok(Math.abs((left + right) / 2 - (from + 0.25 * (to - from))) < (to - from) * 0.02);
  // An address that makes no sense shows what the page opens with.
  await page.goto(page.url().replace(/#.*/, '#from=x&to=7&rows=&view=99'));
  await page.reload();
  await page.waitForSelector('html[data-ready]');
  await within();
  assert.deepEqual(page.amiss, []);
});

test('a banner says when the server is gone', async (context) => {
  const cwd = scratch(context);
  const {page, child} = await viewer(context, cwd, simulated(cwd, '--ranks', '4', '--iterations', '20'));
  assert.equal(await page.isVisible('#gone'), false);
  child.kill('SIGINT');
  await new Promise((ended) => child.once('exit', ended));
  await page.focus('#spacetime');
  await page.keyboard.press('+');
  await page.waitForSelector('#gone:not([hidden])');
  assert.match(await page.textContent('#gone'), /does not answer.*retime view trace -q/);
  await page.screenshot({path: join(SCREENSHOTS, 'viewer-gone.png')});
});

test('locations of a node fold, on the page and in the viewer', async (context) => {
  const cwd = scratch(context);
  const trace = simulated(cwd, '--ranks', '12', '--ranks-per-node', '4', '--iterations', '20');
  retime(['correct', trace, '-o', 'out', '--html', 'page.html', '-q'], {cwd});
  const file = await opened(chromium, context, pathToFileURL(join(cwd, 'page.html')).href);
  const {page} = await viewer(context, cwd, trace);
  for (const one of [file, page]) {
    const rows = await rowsOf(one);
    assert.equal(rows.length, 15);
    const nodes = rows.filter((name) => !name.startsWith('MPI Rank'));
    assert.equal(new Set(nodes).size, 3);
    const lines = () => one.evaluate(() => diagram.painter.lines.length);
    // A node that is folded is one row, to which the arrows of its locations lead.
    const button = one.locator('#rows-nodes button').first();
    await button.click();
    assert.equal(await button.getAttribute('aria-expanded'), 'false');
    assert.deepEqual(await rowsOf(one), rows.filter((name, at) => at === 0 || at > 4));
    if (one === page) await drawn(page);
    assert.ok((await one.evaluate(() => diagram.view.arrows.messages.filter((it) => diagram.rows.place.get(it.cause.lane) === 0).length)) > 0);
    assert.ok((await lines()) > 0);
    await one.click('#rows-fold');
    assert.deepEqual(await rowsOf(one), nodes);
    if (one === page) await drawn(page);
    await one.screenshot({path: join(SCREENSHOTS, `folded-${one === page ? 'viewer' : 'page'}.png`), fullPage: true});
    // By its name in the diagram it unfolds.
    await one.evaluate(() => document.getElementById('spacetime').scrollIntoView());
    const box = await one.locator('#spacetime').boundingBox();
    await one.mouse.click(box.x + 30, box.y + 26 + 8);
    assert.equal((await rowsOf(one)).length, 7);
    await one.click('#rows-unfold');
    assert.deepEqual(await rowsOf(one), rows);
    // What a contradiction needs is unfolded.
    await one.click('#rows-fold');
    await one.click('#next');
    if (one === page) await drawn(page);
    await one.waitForSelector('#pinned:not([hidden])');
    assert.ok((await rowsOf(one)).length > 3);
    assert.deepEqual(one.amiss, []);
  }
});

test('locations without events are counted', async (context) => {
  const cwd = scratch(context);
  const lines = [{'retime-stream': 1, locations: Array.from({length: 12}, (_, at) => at)}];
  for (let location = 0; location < 10; location++) lines.push({location, time: 10 * location}, {location, time: 10 * location + 5});
  writeFileSync(join(cwd, 'quiet.jsonl'), lines.map((it) => JSON.stringify(it) + '\n').join(''));
  retime(['check', 'quiet.jsonl', '--html', 'page.html', '-q'], {cwd});
  const page = await opened(chromium, context, pathToFileURL(join(cwd, 'page.html')).href);
  assert.match(await page.textContent('#rows-said'), /^10 of 10 locations; 2 without events$/);
  assert.equal(await page.textContent('#stop'), 'too little could be checked to find a contradiction');
  assert.deepEqual(page.amiss, []);
});

// The first page shows recorded times while the rest is computed, says what it lacks, and goes to the other page
// by itself; but not from under the hand of somebody who looks around.
test('the first page is of recorded times, and says so', async (context) => {
  const cwd = scratch(context);
  const {address} = await begun(context, cwd, simulated(cwd, '--ranks', '8', '--events', '1500000'));
  const first = await (await fetch(address)).text();
  const {views} = JSON.parse(first.match(/id="data">(.*?)<\/script>/s)[1]).picture;
  const {from, to} = views[1], query = `view?from=${from}&to=${to}&rows=0-7&page=first`;
  const arrows = await (await fetch(address + query)).text();
  const isEarly = !(await (await fetch(address + 'state')).json()).complete;
  assert.ok(isEarly, 'all was there at once: the trace is too small to see anything of the first page');
  await complete(address);

  for (const isUsed of [false, true]) {
    const page = await chromium.newPage({viewport: {width: 1280, height: 900}});
    context.after(() => page.close());
    const amiss = [];
    page.on('console', (message) => ['error', 'warning'].includes(message.type()) && amiss.push(message.text()));
    page.on('pageerror', (error) => amiss.push(String(error)));
    // As it was, for as long as the test wants.
    let isHeld = true;
    await page.route(address, (route) => (isHeld ? route.fulfill({contentType: 'text/html; charset=utf-8', body: first}) : route.continue()));
    await page.route(address + 'state', (route) => (isHeld ? route.fulfill({json: {complete: false}}) : route.continue()));
    await page.route(address + 'view?*', (route) => (isHeld ? route.fulfill({contentType: 'application/json', body: arrows}) : route.continue()));
    await page.goto(address);
    await drawn(page);
    assert.match(await page.textContent('#outcome'), /First look at recorded times.*still being computed/);
    assert.match(await page.textContent('#verdict'), /are reversed/);
    assert.match(await page.textContent('.story'), /how far times are from the truth is still being computed/);
    assert.match(await page.textContent('#view-note'), /Calls are not drawn yet/);
    // Nothing is shown of what is not known: neither corrected times nor waits.
    for (const id of ['#show-corrected', '#show-both', '#waits']) assert.equal(await page.locator(id).count(), 0, id);
    assert.ok((await page.evaluate(() => diagram.view.arrows.messages.length)) > 0);
    await page.click('#next');
    await page.waitForSelector('#pinned-table');
    assert.doesNotMatch(await page.textContent('#pinned-table'), /in call|corrected/);
    await page.screenshot({path: join(SCREENSHOTS, 'viewer-first.png')});
    // That was a hand at work; a page that nobody has touched is as if it were opened anew.
    if (!isUsed) {
      await page.goto('about:blank');
      await page.goto(address);
      await drawn(page);
    }
    isHeld = false;
    if (isUsed) {
      await page.waitForSelector('#successor');
      assert.match(await page.textContent('#outcome'), /whole picture is there now.*below is still the first look/);
      const [place] = [await page.evaluate(() => [diagram.from, diagram.to])];
      await page.click('#successor');
      await page.waitForSelector('#show-both');
      const now = await page.evaluate(() => [diagram.from, diagram.to]);
      place.forEach((it, at) => assert.ok(Math.abs(it - now[at]) <= 1, `${place} ${now}`));
    } else {
      await page.waitForSelector('#show-both');
    }
    await drawn(page);
    assert.match(await page.textContent('#outcome'), /^Corrected times are shown/);
    assert.match(await page.textContent('#verdict'), /none is now/);
    assert.equal(await page.evaluate(() => diagram.both), true);
    assert.ok((await filled(page)) > 0);
    assert.deepEqual(amiss, []);
  }
});
