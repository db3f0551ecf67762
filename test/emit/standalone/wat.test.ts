import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { describe, it } from "node:test";
import { pathToFileURL } from "node:url";
import { bool, f32, f64, i32, kernel, range, view } from "../../../src/index.js";
import { emitWatFiles } from "../../../src/emit/standalone/wat.js";
import type { Kernel } from "../../../src/kernel/declare/kernel.js";
import { matchesSnapshot } from "../snapshot.js";
import { ATOMIC_CASES, CASES, expectedOf, memoryOf, requestOf } from "./cases.js";
import { inFolder, missing, run } from "./compiled.js";

interface Loaded {
  arrays: Record<string, { set(values: unknown): void }>;
  launch(scalars: unknown): Record<string, number> | undefined;
}

describe("WebAssembly text, assembled by wabt,", { skip: missing("wat2wasm") }, () => {
  for (const given of [...CASES, ...ATOMIC_CASES])
    it(`gives the device's bits for ${given.kernel.name}`, async () => {
      const request = requestOf(given, "strict");
      const memory = memoryOf(given, request);
      const { stem } = request;
      await inFolder(emitWatFiles(request), async (folder) => {
        const [, command] = /^;; (wat2wasm .*)$/m.exec(readFileSync(join(folder, `${stem}.wat`), "utf8"))!;
        run(folder, ...(command.split(" ") as [string, ...string[]]));
        const host = (await import(pathToFileURL(join(folder, `${stem}.host.mjs`)).href)) as Record<
          string,
          (bytes: Uint8Array) => Promise<Loaded>
        >;
        const { arrays, launch } = await host[`${stem}_load`](readFileSync(join(folder, `${stem}.wasm`)));
        for (const [name, array] of Object.entries(arrays)) array.set(memory[name]);
        const results = launch(given.scalars) ?? {};
        for (const [name, array] of Object.entries(arrays)) memory[name].set(array as unknown as number[]);
        for (const [name, value] of Object.entries(results)) memory[name][0] = value;
      });
      // All teams have the one worker's row.
      const scratch = (name: string): boolean => given.scratch !== undefined && name in given.scratch;
      for (const [name, expected] of Object.entries(await expectedOf(given))) if (!scratch(name)) assert.deepEqual(memory[name], expected);
    });
});

it("the host places what a kernel works on", () =>
  matchesSnapshot("emit/standalone/dot.host.mjs.txt", emitWatFiles(requestOf(CASES[2], "strict"))[1].text));

it("the text is a module of one thread, with what its arguments are", () =>
  matchesSnapshot("emit/standalone/dot.wat.txt", emitWatFiles(requestOf(CASES[2], "strict"))[0].text));

it("arrays that take more than a memory has are refused", () => {
  const sized = (length: number) => {
    const views = Object.fromEntries(Object.entries(CASES[2].views).map(([name, view]) => [name, { ...view, shape: [length] }]));
    return emitWatFiles(requestOf({ ...CASES[2], policy: range(length), views }, "strict"));
  };
  // Two arrays of 2 GiB, less room for arguments and partials
  assert.equal(sized(2 ** 28 - 2 ** 20).length, 2);
  assert.throws(() => sized(2 ** 28), /its arrays take 4\.0 GiB, more than a WebAssembly memory holds .*give a smaller --size/s);
});

const scalars = kernel("scalars", { flag: bool, a: f64, b: f32, n: i32, x: view(f64) }, ({ flag, a, b, n, x }, i) => {
  x[i] = flag ? a + b : n;
});

it("the host writes scalars by their types, truth values as 0 and 1", () => {
  const given = { kernel: scalars as unknown as Kernel, policy: range(9), views: { x: { shape: [9], values: () => 0 } } };
  const host = emitWatFiles(requestOf(given, "strict"))[1].text;
  const written = [...host.matchAll(/block\.(set\w+)\(\d+, (.*?), true\);/g)].map(([, set, value]) => `${set} ${value}`);
  assert.deepEqual(
    written.filter((line) => line.includes("scalars")),
    ['setInt32 +scalars["flag"]', 'setFloat64 scalars["a"]', 'setFloat32 scalars["b"]', 'setInt32 scalars["n"]'],
  );
});
