// The page and the viewer for who sees little, or uses keys alone: nothing serious is found by axe-core, and
// keys reach everything in the order in which it stands.

import assert from 'node:assert/strict';
import {readFileSync} from 'node:fs';
import {createRequire} from 'node:module';
import {join} from 'node:path';
import {after, before, test} from 'node:test';
import {pathToFileURL} from 'node:url';

import {opened} from './opened.mjs';
import {browser, retime, scratch} from './tools.mjs';
import {viewing} from './viewing.mjs';

const AXE = readFileSync(createRequire(import.meta.url).resolve('axe-core/axe.min.js'), 'utf8');

let chromium;
before(async () => { chromium = await browser(); });
after(() => chromium?.close());

// The serious findings, each with what it is about.
async function findings(page) {
  // The policy of the page lets no script in; the test's own is evaluated beside it.
  await page.evaluate(AXE);
  const {violations} = await page.evaluate(() => globalThis.axe.run());
  const serious = violations.filter((it) => ['serious', 'critical'].includes(it.impact));
  return serious.map((it) => `${it.id}: ${it.nodes.map((node) => `${node.target} ${node.failureSummary}`).join('; ')}`);
}

// Everything open, with something pinned, in both themes and narrow.
async function look(page) {
  await page.$$eval('details', (all) => all.forEach((it) => { it.open = true; }));
  await page.focus('#spacetime');
  await page.keyboard.press('ArrowDown');
  await page.keyboard.press('Enter');
  for (const colorScheme of ['light', 'dark']) {
    await page.emulateMedia({colorScheme});
    for (const width of [1280, 400]) {
      await page.setViewportSize({width, height: 900});
      assert.deepEqual(await findings(page), [], `${colorScheme} ${width}`);
    }
  }
  await page.setViewportSize({width: 1280, height: 900});
}

// Goes through the page by the Tab key; what is in focus comes in the order in which it is read.
async function tabs(page) {
  await page.evaluate(() => { document.activeElement?.blur(); scrollTo(0, 0); });
  const order = [];
  for (let step = 0; step < 400; step++) {
    await page.keyboard.press('Tab');
    const [name, position, names] = await page.evaluate(() => {
      const it = document.activeElement;
      if (it === document.body) return [null, 0, true];
      globalThis.order ??= [...document.querySelectorAll('*')];
      const named = it.getAttribute('aria-label') || it.textContent || it.labels?.[0]?.textContent || it.getAttribute('placeholder');
      return [it.id || it.tagName, [...document.querySelectorAll('*')].indexOf(it), Boolean(named)];
    });
    if (name === null) break;
    assert.ok(names, `${name} has no name`);
    order.push([name, position]);
  }
  const positions = order.map((it) => it[1]);
  assert.deepEqual(positions, [...positions].sort((one, other) => one - other));
  return order.map((it) => it[0]);
}

for (const [name, args] of [['recording', null], ['nodes', ['--ranks', '12', '--ranks-per-node', '4', '--iterations', '30']]]) {
  test(`${name}: nothing serious is found on the page, and keys reach all of it`, async (context) => {
    const cwd = scratch(context);
    if (args) retime(['simulate', 'halo', ...args, '-o', 'trace', '--no-truth', '-q'], {cwd});
    else retime(['demo', '--keep', 'demo'], {cwd});
    retime(['correct', args ? 'trace' : 'demo/halo', '-o', 'out', '--html', 'page.html', '-q'], {cwd});
    const page = await opened(chromium, context, pathToFileURL(join(cwd, 'page.html')).href);
    const reached = await tabs(page);
    const wanted = ['previous', 'next', 'view', 'show-both', 'share', 'spacetime', 'matrix', 'clock', ...(args ? ['rows-filter', 'rows-fold'] : [])];
    for (const id of wanted) assert.ok(reached.includes(id), `${id} of ${reached}`);
    await look(page);
    assert.deepEqual(page.amiss, []);
  });
}

test('nothing serious is found in the viewer', async (context) => {
  const cwd = scratch(context);
  retime(['simulate', 'halo', '--ranks', '80', '--ranks-per-node', '8', '--iterations', '20', '-o', 'trace', '--no-truth', '-q'], {cwd});
  const {child, address} = await viewing(context, cwd, 'trace');
  const page = await opened(chromium, context, address);
  await page.waitForFunction(() => document.getElementById('spacetime').dataset.took);
  await look(page);
  // Also once the server is gone.
  child.kill('SIGINT');
  await new Promise((ended) => child.once('exit', ended));
  await page.keyboard.press('n');
  await page.waitForSelector('#gone:not([hidden])');
  assert.deepEqual(await findings(page), []);
});

test('compare has nothing serious either', async (context) => {
  const cwd = scratch(context);
  retime(['demo', '--keep', 'demo'], {cwd});
  retime(['compare', 'demo/halo', '--html', 'page.html', '-q'], {cwd});
  const page = await opened(chromium, context, pathToFileURL(join(cwd, 'page.html')).href);
  assert.deepEqual(await findings(page), []);
});
