// Perfetto's UI with its trace processor, in a browser, from files of this machine.

import assert from 'node:assert/strict';
import {readFile, readdir} from 'node:fs/promises';
import {createServer} from 'node:http';
import {extname, join, normalize} from 'node:path';

import {PERFETTO, browser} from './tools.mjs';

const TYPES = {
  '.css': 'text/css',
  '.html': 'text/html',
  '.js': 'text/javascript',
  '.json': 'application/json',
  '.wasm': 'application/wasm',
};

// Serves a directory, and the traces that were added, on a free port of this machine.
async function serve(directory, traces) {
  const server = createServer(async (request, response) => {
    const path = normalize(decodeURIComponent(new URL(request.url, 'http://localhost').pathname));
    const file = traces.get(path) ?? join(directory, path === '/' ? 'index.html' : path);
    try {
      const body = await readFile(file);
      const type = TYPES[extname(file)] ?? 'application/octet-stream';
      response.writeHead(200, {'content-type': type}).end(body);
    } catch {
      response.writeHead(404).end();
    }
  });
  await new Promise((listening) => server.listen(0, '127.0.0.1', listening));
  return server;
}

export class Perfetto {
  #browser;
  #server;
  #traces = new Map();

  static async start() {
    const perfetto = new Perfetto();
    // Its index.html leads to the directory of its version.
    assert((await readdir(PERFETTO)).includes('index.html'), `${PERFETTO} holds no UI`);
    perfetto.#server = await serve(PERFETTO, perfetto.#traces);
    perfetto.#browser = await browser();
    return perfetto;
  }

  // Opens a trace; what `query` answers to SQL, as one array for each row.
  async open(file) {
    const origin = `http://127.0.0.1:${this.#server.address().port}`;
    const name = `/trace/${this.#traces.size}`;
    this.#traces.set(name, file);
    const context = await this.#browser.newContext({serviceWorkers: 'block'});
    const page = await context.newPage();
    // Nothing is fetched from elsewhere, be it there or not.
    await page.route(
      (url) => url.origin !== origin && url.protocol.startsWith('http'),
      (route) => route.abort(),
    );
    await page.goto(origin);
    await page.waitForFunction(() => globalThis.app !== undefined);
    await page.evaluate(async (name) => {
      const buffer = await (await fetch(name)).arrayBuffer();
      await globalThis.app.openTraceFromBuffer({buffer, title: name, fileName: name});
    }, name);
    // As long as it takes a busy machine to read it.
    await page.waitForFunction(() => globalThis.app.trace?.engine !== undefined, undefined, {
      timeout: 120_000,
    });
    const query = (sql) =>
      page.evaluate(async (sql) => {
        const result = await globalThis.app.trace.engine.query(sql);
        const columns = result.columns();
        const rows = [];
        for (const row = result.iter({}); row.valid(); row.next()) {
          rows.push(columns.map((column) => row.get(column)));
        }
        // What leaves the page is plain: stamps fit into a double.
        return rows.map((row) => row.map((it) => (typeof it === 'bigint' ? Number(it) : it)));
      }, sql);
    return {query, page, close: () => context.close()};
  }

  async stop() {
    await this.#browser.close();
    this.#server.close();
  }
}
