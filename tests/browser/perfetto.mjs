// Perfetto's trace processor, alone and with its UI, in a browser, from files of this machine.

import assert from 'node:assert/strict';
import {readFile, readdir} from 'node:fs/promises';
import {createServer} from 'node:http';
import {extname, join, normalize} from 'node:path';
import {fileURLToPath} from 'node:url';

import {PERFETTO, browser} from './tools.mjs';

const TYPES = {
  '.css': 'text/css',
  '.html': 'text/html',
  '.js': 'text/javascript',
  '.mjs': 'text/javascript',
  '.json': 'application/json',
  '.wasm': 'application/wasm',
};

// Serves a directory, and other files by their paths, on a free port of this machine.
async function serve(directory, others) {
  const server = createServer(async (request, response) => {
    const path = normalize(decodeURIComponent(new URL(request.url, 'http://localhost').pathname));
    const file = others.get(path) ?? join(directory, path === '/' ? 'index.html' : path);
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

const ENGINE = fileURLToPath(new URL('engine.mjs', import.meta.url));

export class Perfetto {
  #browser;
  #server;
  #version;
  #idle = [];
  #files = new Map([['/engine.mjs', ENGINE]]);

  static async start() {
    const perfetto = new Perfetto();
    // Its index.html leads to the directory of its version.
    const found = await readdir(PERFETTO);
    assert(found.includes('index.html'), `${PERFETTO} holds no UI`);
    perfetto.#version = found.find((it) => /^v\d/.test(it));
    perfetto.#server = await serve(PERFETTO, perfetto.#files);
    perfetto.#browser = await browser();
    return perfetto;
  }

  // Opens a trace without the UI; what `query` answers to SQL, as one array for each row. Each
  // trace has an engine of its own until it is closed.
  async open(file) {
    const name = this.#add(file);
    const page = this.#idle.pop() ?? (await this.#engine());
    await page.evaluate(async (it) => {
      await globalThis.engine.read(new Uint8Array(await (await fetch(it)).arrayBuffer()));
    }, name);
    // As text, since Playwright takes seconds to hand over a large table value by value.
    const query = async (sql) =>
      JSON.parse(await page.evaluate(async (it) => JSON.stringify(await globalThis.engine.query(it)), sql));
    const close = async () => {
      await page.evaluate(() => globalThis.engine.reset());
      this.#idle.push(page);
    };
    return {query, close};
  }

  // A page of no more than an engine. Starting one takes seconds, so pages are used again.
  async #engine() {
    const page = await this.#page('/engine.mjs');
    await page.evaluate(async (script) => {
      const {Engine} = await import('/engine.mjs');
      globalThis.engine = new Engine(script);
    }, `/${this.#version}/engine_bundle.js`);
    return page;
  }

  // Opens a trace in the UI: the page once it shows it.
  async show(file) {
    const name = this.#add(file);
    const page = await this.#page('/');
    await page.waitForFunction(() => globalThis.app !== undefined);
    await page.evaluate(async (name) => {
      const buffer = await (await fetch(name)).arrayBuffer();
      await globalThis.app.openTraceFromBuffer({buffer, title: name, fileName: name});
    }, name);
    // As long as it takes a busy machine to read it.
    await page.waitForFunction(() => globalThis.app.trace?.engine !== undefined, undefined, {
      timeout: 120_000,
    });
    return page;
  }

  async stop() {
    await this.#browser.close();
    this.#server.close();
  }

  // Under which path a trace is served.
  #add(file) {
    const name = `/trace/${this.#files.size}`;
    this.#files.set(name, file);
    return name;
  }

  // A page that fetches nothing from elsewhere, be it there or not.
  async #page(path) {
    const origin = `http://127.0.0.1:${this.#server.address().port}`;
    const context = await this.#browser.newContext({serviceWorkers: 'block'});
    const page = await context.newPage();
    await page.route(
      (url) => url.origin !== origin && url.protocol.startsWith('http'),
      (route) => route.abort(),
    );
    await page.goto(origin + path);
    return page;
  }
}
