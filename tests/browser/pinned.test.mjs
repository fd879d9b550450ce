// Arrows and calls that are pinned, on the page and in `retime view`: what is said of them is what
// `otf2-print` says of their events.

import assert from 'node:assert/strict';
import {mkdirSync} from 'node:fs';
import {dirname, join} from 'node:path';
import {after, before, test} from 'node:test';
import {fileURLToPath, pathToFileURL} from 'node:url';

import {field, judged} from './judge.mjs';
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

// The rows of the details as a map from a name to what stands at both ends, and the facts below.
async function pinned(page) {
  const rows = await page.$$eval('#pinned-table tbody tr', (all) => all.map((row) => [...row.children].map((it) => it.textContent)));
  const facts = await page.$$eval('#pinned-facts li', (all) => all.map((it) => it.textContent));
  const fact = (name) => facts.find((it) => it.startsWith(`${name} `))?.slice(name.length + 1) ?? null;
  return {title: await page.textContent('#pinned h3'), rows: new Map(rows.map(([name, ...ends]) => [name, ends])), fact};
}

// Compares details with the recorded and the corrected archive; returns the kinds of both events.
function compare({rows, fact, title}, recorded, corrected) {
  const kinds = [0, 1].map((end) => {
    const location = rows.get('location')[end].match(/\((\d+)\)$/)[1], event = Number(rows.get('event')[end]);
    const [was, is] = [recorded(location, event), corrected(location, event)];
    assert.equal(rows.get('recorded stamp')[end], was.time, title);
    assert.equal(rows.get('corrected stamp')[end], is.time, title);
    assert.equal(was.kind, is.kind);
    const bytes = field(was.said, 'Length');
    if (bytes !== null) {
      assert.equal(rows.get('bytes')[end], Number(bytes).toLocaleString('en-US'));
      assert.equal(fact('tag'), field(was.said, 'Tag'));
      assert.equal(fact('communicator'), field(was.said, 'Communicator'));
    }
    if (was.kind === 'MPI_COLLECTIVE_END') {
      assert.equal(fact('communicator'), field(was.said, 'Communicator'));
      const most = Math.max(Number(field(was.said, 'Sent')), Number(field(was.said, 'Received')));
      assert.equal(rows.get('bytes')[end], most.toLocaleString('en-US'));
    }
    // A call is entered and left in the region that it is called by.
    if (['ENTER', 'LEAVE'].includes(was.kind)) assert.ok(title.startsWith(`${field(was.said, 'Region')} at `), `${title}: ${was.said}`);
    return was.kind;
  });
  return kinds.join(' ');
}

// Goes from thing to thing by keys and pins each; returns the pairs of kinds that were met.
async function pinAll(page, count, recorded, corrected) {
  const met = new Set();
  await page.focus('#spacetime');
  for (let step = 0; step < count; step++) {
    await page.keyboard.press(step % 3 === 2 ? 'ArrowUp' : 'ArrowDown');
    if (step % 3 === 2) continue;
    await page.keyboard.press('Enter');
    met.add(compare(await pinned(page), recorded, corrected));
  }
  // Calls come after arrows, so the last thing is one.
  await page.keyboard.press('Escape');
  assert.equal(await page.isVisible('#pinned'), false);
  for (let step = 0; step < 5; step++) {
    await page.keyboard.press('ArrowUp');
    await page.keyboard.press('Enter');
    met.add(compare(await pinned(page), recorded, corrected));
  }
  await page.keyboard.press('Escape');
  return met;
}

function recording(cwd) {
  retime(['demo', '--keep', 'demo'], {cwd});
  retime(['correct', 'demo/halo', '-o', 'out', '--html', 'page.html', '-q'], {cwd});
  return [judged(join(cwd, 'demo/halo/traces.otf2')), judged(join(cwd, 'out/traces.otf2'))];
}

test('what is pinned on the page is what otf2-print says', async (context) => {
  const cwd = scratch(context);
  const [recorded, corrected] = recording(cwd);
  const page = await opened(chromium, context, pathToFileURL(join(cwd, 'page.html')).href);
  const met = new Set();
  for (const view of [1, 2, 3]) {
    await page.selectOption('#view', String(view));
    for (const kinds of await pinAll(page, 30, recorded, corrected)) met.add(kinds);
  }

  // The worst contradiction, by the way to it, and pinned by a click on its middle.
  await page.click('#contradictions summary');
  await page.click('#contradictions tbody button');
  met.add(compare(await pinned(page), recorded, corrected));
  for (const kinds of ['MPI_ISEND MPI_IRECV', 'MPI_COLLECTIVE_BEGIN MPI_COLLECTIVE_END', 'ENTER LEAVE']) assert.ok(met.has(kinds), [...met].join());
  assert.equal((await pinned(page)).fact('latency'), 'recorded -228 us, so the effect is stamped before its cause');
  assert.match((await pinned(page)).fact('minimal'), /^delay 31 ns$/);
  await page.screenshot({path: join(SCREENSHOTS, 'pinned.png'), fullPage: true});

  // The other end comes to the middle, and back.
  const hash = () => page.evaluate(() => location.hash);
  await page.waitForTimeout(300);
  const [before, , other] = [await hash(), await page.click('#other-end'), await page.waitForTimeout(300).then(hash)];
  assert.notEqual(before, other);
  await page.click('#other-end');
  await page.waitForTimeout(300);
  assert.notEqual(await hash(), other);

  // As text it has the same stamps.
  await page.context().grantPermissions(['clipboard-read', 'clipboard-write']);
  await page.click('#copy');
  const {rows} = await pinned(page);
  const copied = await page.evaluate(async () => String(getSelection()) || (await navigator.clipboard.readText()));
  for (const stamp of rows.get('recorded stamp')) assert.ok(copied.includes(stamp), copied);
  await page.keyboard.press('Escape');
  assert.equal(await page.isVisible('#pinned'), false);

  // A click pins what is under the pointer, a drag does not.
  await page.evaluate(() => document.getElementById('spacetime').scrollIntoView());
  const box = await page.locator('#spacetime').boundingBox();
  const [x, y] = [box.x + box.width / 2, box.y + 90];
  await page.mouse.move(x, y);
  await page.mouse.down();
  await page.mouse.move(x + 60, y, {steps: 4});
  await page.mouse.up();
  assert.equal(await page.isVisible('#pinned'), false);
  for (let at = 0.2; at < 1 && !(await page.isVisible('#pinned')); at += 0.02) await page.mouse.click(box.x + box.width * at, y);
  compare(await pinned(page), recorded, corrected);
  assert.deepEqual(page.amiss, []);
});

test('what is pinned in the viewer is what otf2-print says', async (context) => {
  const cwd = scratch(context);
  const [recorded, corrected] = recording(cwd);
  const {address} = await viewing(context, cwd, 'demo/halo');
  const page = await opened(chromium, context, address);
  await page.waitForFunction(() => document.getElementById('spacetime').dataset.took);
  const met = await pinAll(page, 40, recorded, corrected);
  assert.ok(met.has('MPI_ISEND MPI_IRECV') && met.has('ENTER LEAVE'), [...met].join());
  // Each contradiction that n goes to is pinned once it is drawn.
  for (let step = 0; step < 5; step++) {
    await page.keyboard.press('n');
    await page.waitForSelector('#pinned:not([hidden])');
    const found = await pinned(page);
    compare(found, recorded, corrected);
    assert.match(found.fact('latency'), /stamped before its cause$/);
    await page.keyboard.press('Escape');
  }
  assert.deepEqual(page.amiss, []);
});

// By which rule both ends of an arrow were found, and as what its effect is recorded, in the words of `retime explain`.
test('what is pinned has the rule that retime explain names, on the page and in the viewer', async (context) => {
  const cwd = scratch(context);
  recording(cwd);
  const {address} = await viewing(context, cwd, 'demo/halo');
  for (const url of [pathToFileURL(join(cwd, 'page.html')).href, address]) {
    const page = await opened(chromium, context, url);
    if (url === address) await page.waitForFunction(() => document.getElementById('spacetime').dataset.took);
    const compareRule = async () => {
      await page.waitForSelector('#pinned-facts .explained');
      const name = await page.evaluate(() => [everyLane[diagram.pinned.thing.effect.lane].id, diagram.pinned.thing.effect.event].join(':'));
      const {rule, recorded_as: recorded} = JSON.parse(retime(['explain', 'demo/halo', name, '--json', '-', '-q'], {cwd}));
      const said = await page.locator('#pinned-facts .explained').allTextContents();
      assert.deepEqual(said, [...recorded.map((it) => `recorded as: ${it}`), `rule: ${rule}`]);
      return rule;
    };
    const rules = new Set();
    await page.focus('#spacetime');
    for (let step = 0; step < 4; step++) {
      await page.keyboard.press('ArrowDown');
      await page.keyboard.press('Enter');
      rules.add(await compareRule());
    }
    await page.evaluate(() => diagram.pinned.pin(diagram.view.arrows.operations.flatMap((it) => endsOf(it, 0))[0]));
    rules.add(await compareRule());
    assert.equal(rules.size, 2, `of messages and of collectives: ${[...rules]}`);
    assert.deepEqual(page.amiss, []);
  }
});
