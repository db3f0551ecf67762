import assert from "node:assert/strict";
import { mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import test, { after, before } from "node:test";
import { brotliCompressSync, gzipSync } from "node:zlib";
import type { Rolldown } from "vite";
import { choose, frames, root, Site, skip } from "./page.js";

let site: Site;
before(async () => {
  if (!skip) site = await Site.open();
});
after(() => site?.close());

/** A script and all that it imports, by path: at once, or with `later` whenever; what `cut` fits is not followed. */
function scriptsBehind(path: string, later = false, cut?: RegExp, found = new Set<string>()): ReadonlySet<string> {
  if (found.has(path) || cut?.test(path)) return found;
  found.add(path);
  const pattern = later ? /["'`](\.\/[\w.-]+\.js)["'`]/g : /(?:\bfrom|\bimport) ?["'`](\.[^"'`]+\.js)["'`]/g;
  for (const [, name] of readFileSync(path, "utf8").matchAll(pattern)) scriptsBehind(join(dirname(path), name), later, cut, found);
  return found;
}

test("the page has less than 1.48 MB of script without the playground", { skip }, () => {
  const entry = /src="\.\/assets\/([^"]+)"/.exec(readFileSync(join(site.assets, "../index.html"), "utf8"))![1];
  // Of what Fortran can do, the gallery does not write files.
  const scripts = [...scriptsBehind(join(site.assets, entry), true, /\/(editor|emitted)-/)];
  const total = scripts.reduce((sum, path) => sum + readFileSync(path).length, 0);
  assert.ok(scripts.some((path) => path.includes("/tunnel-")) && total > 200e3 && total < 1.48e6, `${total} bytes`);
  console.log(`${total} bytes of script without the playground`);
});

test("the editor comes with the playground, and each language with the first text in it", { skip }, async () => {
  const [page, errors] = await site.visit();
  const loaded = (): Promise<string[]> =>
    page.evaluate(() =>
      performance
        .getEntriesByType("resource")
        .map(({ name }) => new URL(name).pathname.split("/").pop()!)
        .filter((name) => name.startsWith("editor-")),
    );
  const bytesOf = (names: readonly string[]): number =>
    names.reduce((sum, name) => sum + gzipSync(readFileSync(join(site.assets, name))).length, 0);
  await frames(page, "Wind tunnel", 1);
  assert.deepEqual(await loaded(), []);
  await choose(page, "Playground");
  await page.waitForSelector("#text-wgsl .code-meta");
  const first = await loaded();
  assert.ok(bytesOf(first) > 100_000 && bytesOf(first) < 175_000, `${bytesOf(first)} bytes for ${first.join(", ")}`);
  console.log(`${bytesOf(first)} bytes for the editor, by gzip`);
  await page.selectOption("#language", "fortran");
  await page.waitForSelector("#text-fortran-openmp .code-meta");
  const more = (await loaded()).filter((name) => !first.includes(name));
  assert.ok(bytesOf(more) > 1000 && bytesOf(more) < 3000, `${bytesOf(more)} bytes for ${more.join(", ")}`);
  assert.deepEqual(errors, []);
});

/** The one script in a folder whose name fits. */
function chunk(folder: string, pattern: RegExp): string {
  const names = readdirSync(folder).filter((name) => pattern.test(name));
  assert.equal(names.length, 1, `${pattern}: ${names.join(", ")}`);
  return join(folder, names[0]);
}

test("what reads the types of modules takes less than 70 kB, by gzip", { skip }, () => {
  const workers = join(site.assets, "workers");
  const bytes = gzipSync(readFileSync(chunk(workers, /^types-/))).length;
  assert.ok(bytes > 20_000 && bytes < 70_000, `${bytes} bytes`);
  console.log(`${bytes} bytes for the types of modules, by gzip`);
});

test("the Fortran front end comes when it is asked for, in parts", { skip }, () => {
  const workers = join(site.assets, "workers");
  // What the playground has for TypeScript already; each part comes behind those before.
  const loaded = new Set(scriptsBehind(chunk(site.assets, /^worker-/)));
  assert.ok(loaded.size > 3, `${loaded.size} scripts`);
  for (const [what, pattern, most] of [
    ["reading Fortran", /^fortran-(?!ports)/, 57_500],
    ["making kernels of it", /^code-(?!from-text)/, 45_500],
    ["writing ports", /^fortran-ports-/, 15_400],
    ["running routines", /^run-/, 7_500],
  ] as const) {
    const more = [...scriptsBehind(chunk(workers, pattern))].filter((path) => !loaded.has(path));
    more.forEach((path) => loaded.add(path));
    const bytes = more.reduce((sum, path) => sum + gzipSync(readFileSync(path)).length, 0);
    assert.ok(bytes > most / 2 && bytes < most, `${what} takes ${bytes} bytes`);
    console.log(`${bytes} bytes for ${what}, by gzip`);
  }
});

test("the first frame waits for less than 400 kB of scripts, by gzip, none of them the playground's", { skip }, async () => {
  const [page] = await site.visit();
  await frames(page, "Wind tunnel", 1);
  const [before, milliseconds] = await page.evaluate(() => {
    const { startTime } = performance.getEntriesByName("first frame")[0];
    const entries = performance.getEntriesByType("resource").filter((entry) => entry.startTime < startTime);
    return [entries.map(({ name }) => new URL(name).pathname), startTime] as const;
  });
  const scripts = before.filter((path) => path.endsWith(".js"));
  const bytes = scripts.reduce((sum, path) => sum + gzipSync(readFileSync(join(site.assets, "..", path))).length, 0);
  assert.ok(bytes > 50_000 && bytes < 400_000, `${bytes} bytes for ${scripts.join(", ")}`);
  assert.deepEqual(
    scripts.filter((path) => /\/(editor|emitted|fortran|types|run|worker|playground)-/.test(path)),
    [],
  );
  console.log(
    `${bytes} bytes of ${scripts.length} scripts before the first frame, by gzip, which came after ${milliseconds.toFixed(0)} ms`,
  );
});

/** What a page with dense grids takes from `isoform/grid`; bundlers leave out the other kinds, which nothing of it needs. */
const DENSE = ["dense", "AxisArray", "Field", "collect", "axpy", "copy", "dot", "fill", "norm1", "norm2", "normMax", "scale"];

/** Scripts that a page loads before it runs on a device: what it takes from the library, and what the device's backend needs. */
async function libraryWith(taken: readonly string[], backend: string): Promise<readonly Rolldown.OutputChunk[]> {
  const { build } = await import("vite");
  const folder = mkdtempSync(join(tmpdir(), "isoform-library-"));
  try {
    const entry = join(folder, "library.js");
    const from = (name: string) => JSON.stringify(join(root, "dist/src", name));
    writeFileSync(entry, taken.map((what) => what.replace(/ from (.*)/, (_, name: string) => ` from ${from(name)};`)).join("\n"));
    const built = await build({
      configFile: false,
      root,
      logLevel: "error",
      worker: { format: "es" },
      // As of a page, whose own chunk may share more with the others than it exports.
      build: {
        write: false,
        minify: true,
        target: "es2023",
        rolldownOptions: { input: entry, preserveEntrySignatures: "allow-extension" },
      },
    });
    const chunks = (built as Rolldown.RolldownOutput).output.filter((file) => file.type === "chunk");
    const needed = new Set<Rolldown.OutputChunk>();
    const need = (chunk: Rolldown.OutputChunk): void => {
      if (needed.has(chunk)) return;
      needed.add(chunk);
      for (const name of chunk.imports) need(chunks.find(({ fileName }) => fileName === name)!);
    };
    chunks.filter(({ isEntry, facadeModuleId }) => isEntry || facadeModuleId?.endsWith(backend)).forEach(need);
    return [...needed];
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

const WHOLE = ["export * as all from index.js", "export * as set from set/index.js", "export * as skeleton from skeleton/index.js"];

for (const [kinds, grids, most] of [
  ["dense grids", `export { ${DENSE.join(", ")} } from domain/index.js`, 212e3],
  ["all kinds of grids", "export * as grids from domain/index.js", 223e3],
] as const)
  for (const backend of ["device/wasm/wasm.js", "device/webgpu/backend.js"])
    test(
      `the library with ${kinds}, skeletons and ${backend} takes less than ${most / 1000} kB in a page, compressed`,
      { skip },
      async () => {
        const scripts = await libraryWith([...WHOLE, grids], backend);
        const bytes = scripts.reduce((sum, { code }) => sum + brotliCompressSync(code).length, 0);
        assert.ok(bytes > 50_000 && bytes < most, `${bytes} bytes`);
        console.log(`${bytes} bytes with ${kinds} and ${backend}`);
        // Who has no particles needs nothing of them; spectra of fields have their transform.
        assert.deepEqual(
          scripts.flatMap(({ moduleIds }) => moduleIds).filter((id) => /\/dist\/src\/(domain\/particles|patterns)\/(?!fourier)/.test(id)),
          [],
        );
      },
    );
