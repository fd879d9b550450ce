// Makes the pictures of the documents anew: `make pictures`.

import {spawnSync} from 'node:child_process';
import {mkdtempSync, rmSync} from 'node:fs';
import {tmpdir} from 'node:os';
import {join} from 'node:path';
import {pathToFileURL} from 'node:url';

import {Perfetto} from './perfetto.mjs';
import {browser, retime} from './tools.mjs';

const DOCS = join(import.meta.dirname, '../../docs');
const cwd = mkdtempSync(join(tmpdir(), 'retime-pictures-'));

// The page of --html.
async function report() {
  const chromium = await browser();
  try {
    retime(['correct', 'scorep-run', '-o', 'corrected', '--html', 'page.html', '-q'], {cwd});
    const page = await chromium.newPage({viewport: {width: 1280, height: 1240}});
    await page.goto(pathToFileURL(join(cwd, 'page.html')).href);
    await page.waitForSelector('html[data-ready]');
    await page.waitForTimeout(200);
    await page.screenshot({path: join(DOCS, 'report.png')});
  } finally {
    await chromium.close();
  }
}

// The place of the worst contradiction in Perfetto's UI, at both times, with the arrows of what is selected.
async function exported() {
  retime(['export', 'scorep-run', '-o', 'both.pftrace', '--times', 'both', '--from', '379.9ms', '--to', '380.2ms', '-q'], {cwd});
  const perfetto = await Perfetto.start();
  try {
    const page = await perfetto.show(join(cwd, 'both.pftrace'));
    await page.setViewportSize({width: 1280, height: 1160});
    const workspace = 'globalThis.app.trace.currentWorkspace ?? globalThis.app.trace.workspace';
    await page.waitForFunction(`(${workspace}).children.length > 0`);
    // It says that it cannot ask the internet for more.
    const dialog = page.locator('.pf-modal-dialog, .modal-dialog').first();
    await dialog.waitFor({timeout: 5000}).then(() => page.keyboard.press('Escape'), () => {});
    await page.evaluate(`(${workspace}).children.forEach((it) => it.expand())`);
    await page.waitForTimeout(1000);
    // The worst one: from it the arrow leads to the other end.
    const [[id]] = await page.evaluate(async () => {
      const result = await globalThis.app.trace.engine.query(`select slice.id as id from slice
        where extract_arg(arg_set_id, 'debug.latency_ns') < -227000 and slice.name not glob 'reversed *' order by extract_arg(arg_set_id, 'debug.latency_ns') limit 1`);
      const row = result.firstRow({id: 0});
      return [[row.id]];
    });
    await page.evaluate((id) => globalThis.app.trace.selection.selectSqlEvent('slice', id, {scrollToSelection: false, switchToCurrentSelectionTab: true}), id);
    await page.waitForTimeout(4000);
    await page.screenshot({path: join(DOCS, 'export.png')});
  } finally {
    await perfetto.stop();
  }
}

try {
  retime(['demo', '--keep', 'demo'], {cwd});
  spawnSync('mv', ['demo/halo', 'scorep-run'], {cwd});
  await report();
  await exported();
} finally {
  rmSync(cwd, {recursive: true});
}
