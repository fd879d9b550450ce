// What the tests run, by the environment that `make test-browser` sets. What is missing is an
// error, never a reason to skip.

import assert from 'node:assert/strict';
import {spawnSync} from 'node:child_process';
import {existsSync, mkdtempSync, rmSync} from 'node:fs';
import {tmpdir} from 'node:os';
import {join} from 'node:path';
import {chromium} from 'playwright-core';

function required(name) {
  const path = process.env[name];
  assert(path && existsSync(path), `${name} names nothing: run make test-browser`);
  return path;
}

export const RETIME = required('RETIME');

// The files of Perfetto's UI and of its trace processor.
export const PERFETTO = required('PERFETTO');

// An empty directory that goes when the tests are over.
export function scratch(context) {
  const directory = mkdtempSync(join(tmpdir(), 'retime-browser-'));
  context.after(() => rmSync(directory, {recursive: true}));
  return directory;
}

// What the command prints; its exit code has to be as given.
export function retime(args, {cwd, code = 0}) {
  const options = {cwd, encoding: 'utf8', maxBuffer: 1 << 30};
  const {status, stdout, stderr} = spawnSync(RETIME, args, options);
  assert.equal(status, code, `retime ${args.join(' ')}: ${stderr}`);
  return stdout;
}

// A browser without a window, as the system has it.
export function browser() {
  const executablePath = required('CHROMIUM');
  // In a container, and as root, there is no sandbox to be had.
  return chromium.launch({executablePath, args: ['--no-sandbox']});
}
