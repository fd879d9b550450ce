// Makes the pictures of the documents anew: `make pictures`.

import {spawnSync} from 'node:child_process';
import {mkdtempSync, rmSync} from 'node:fs';
import {tmpdir} from 'node:os';
import {join} from 'node:path';
import {pathToFileURL} from 'node:url';

import {browser, retime} from './tools.mjs';

const DOCS = join(import.meta.dirname, '../../docs');
const cwd = mkdtempSync(join(tmpdir(), 'retime-pictures-'));
const chromium = await browser();
try {
  retime(['demo', '--keep', 'demo'], {cwd});
  spawnSync('mv', ['demo/halo', 'scorep-run'], {cwd});
  retime(['correct', 'scorep-run', '-o', 'corrected', '--html', 'page.html', '-q'], {cwd});
  const page = await chromium.newPage({viewport: {width: 1280, height: 1240}});
  await page.goto(pathToFileURL(join(cwd, 'page.html')).href);
  await page.waitForSelector('html[data-ready]');
  await page.waitForTimeout(200);
  await page.screenshot({path: join(DOCS, 'report.png')});
} finally {
  await chromium.close();
  rmSync(cwd, {recursive: true});
}
