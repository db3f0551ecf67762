import assert from "node:assert/strict";
import { type ChildProcess, spawn, spawnSync } from "node:child_process";
import { existsSync, mkdtempSync, readFileSync, rmSync } from "node:fs";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { tmpdir } from "node:os";
import { extname, join } from "node:path";
import test from "node:test";
import { fileURLToPath } from "node:url";

/* The same build in a browser: workers, shared memory, SIMD. */

const browser = ["chromium", "chromium-browser", "google-chrome"].find((name) => spawnSync(name, ["--version"]).status === 0);
const root = fileURLToPath(new URL("../../../", import.meta.url));

const page = `<!doctype html>
<script type="importmap">{ "imports": { "acorn": "/node_modules/acorn/dist/acorn.mjs" } }</script>
<script type="module">
  const post = (value) => fetch("/result", { method: "POST", body: JSON.stringify(value) });
  try {
    const { f64, kernel, open, range, sum, view } = await import("/dist/src/index.js");
    const dot = kernel("dot", { x: view(f64), s: sum(f64) }, ({ x, s }, i) => { s.add(x[i] * 0.1); });
    const results = {};
    let threads = 0;
    for (const name of ["js", "wasm"]) {
      const device = await open(name);
      threads = device.abilities.parallelism;
      const x = device.from(f64, Float64Array.from({ length: 300000 }, (_, k) => Math.sqrt(k)));
      for (let turn = 0; turn < 50; turn++) results[name] = (await device.run(dot, { x }, range(300000), { precision: "strict" })).s;
      await device.close();
    }
    await post({ ...results, threads, cores: navigator.hardwareConcurrency });
  } catch (error) {
    await post({ error: error.stack });
  }
</script>`;

interface Report {
  js: number;
  wasm: number;
  threads: number;
  cores: number;
  error?: string;
}

/** Opens the page; `isolated` pages have shared memory. */
async function visit(isolated: boolean): Promise<Report> {
  const headers = isolated ? { "Cross-Origin-Opener-Policy": "same-origin", "Cross-Origin-Embedder-Policy": "require-corp" } : {};
  const profile = mkdtempSync(join(tmpdir(), "isoform-browser-"));
  let process: ChildProcess | undefined;
  const server = createServer();
  try {
    return await new Promise((resolve, reject) => {
      server.on("request", (request, response) => {
        const path = join(root, request.url!);
        if (request.method === "POST") {
          let body = "";
          request.on("data", (piece) => (body += piece));
          request.on("end", () => resolve(JSON.parse(body) as Report));
          response.end();
        } else if (request.url === "/") {
          response.writeHead(200, { ...headers, "Content-Type": "text/html" }).end(page);
        } else if (existsSync(path)) {
          const type = /\.m?js$/.test(extname(path)) ? "text/javascript" : "application/octet-stream";
          response.writeHead(200, { ...headers, "Content-Type": type }).end(readFileSync(path));
        } else response.writeHead(404).end();
      });
      server.listen(0, () => {
        const url = `http://localhost:${(server.address() as AddressInfo).port}/`;
        process = spawn(browser!, ["--headless", "--no-sandbox", "--disable-gpu", `--user-data-dir=${profile}`, url], {
          stdio: "ignore",
          detached: true,
        });
        process.on("error", reject);
        setTimeout(() => reject(new Error("the browser did not answer")), 60000).unref();
      });
    });
  } finally {
    const ended = process && new Promise((resolve) => process!.on("exit", resolve));
    if (process?.pid) killGroup(process.pid);
    await ended;
    server.closeAllConnections();
    server.close();
    try {
      rmSync(profile, { recursive: true, force: true, maxRetries: 10, retryDelay: 100 });
    } catch {
      // a helper of the dying browser still wrote there; it is a temporary folder
    }
  }
}

/** Ends the browser and the helpers that it started, which would go on writing. */
function killGroup(leader: number): void {
  try {
    globalThis.process.kill(-leader, "SIGKILL");
  } catch {
    // it has ended already
  }
}

const skip = browser ? false : "no Chromium found";

test("a browser page with shared memory runs kernels on all cores, with the same bits", { skip }, async () => {
  const { js, wasm, threads, cores, error } = await visit(true);
  assert.equal(error, undefined);
  assert.equal(threads, cores);
  assert.equal(wasm, js);
});

test("a page without shared memory runs them on one thread", { skip }, async () => {
  const { js, wasm, threads, error } = await visit(false);
  assert.equal(error, undefined);
  assert.equal(threads, 1);
  assert.equal(wasm, js);
});
