// A running `retime view`.

import {spawn} from 'node:child_process';

import {RETIME} from './tools.mjs';

// A viewer of a trace, as soon as it has an address.
export async function begun(context, cwd, trace) {
  const child = spawn(RETIME, ['view', trace, '-q'], {cwd, stdio: ['ignore', 'pipe', 'inherit']});
  context.after(() => child.kill('SIGINT'));
  const address = await new Promise((found) => child.stdout.once('data', (line) => found(String(line).trim())));
  return {child, address};
}

// A viewer that serves all there is.
export async function viewing(context, cwd, trace) {
  const found = await begun(context, cwd, trace);
  await complete(found.address);
  return found;
}

// Waits until a viewer serves all there is.
export async function complete(address) {
  while (!(await (await fetch(address + 'state')).json()).complete) await new Promise((later) => setTimeout(later, 20));
}
