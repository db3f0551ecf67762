import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { describe, it } from "node:test";
import { pathToFileURL } from "node:url";
import { emitWatFiles } from "../../../src/emit/standalone/wat.js";
import { matchesSnapshot } from "../snapshot.js";
import { CASES, expectedOf, memoryOf, requestOf } from "./cases.js";
import { inFolder, missing, run } from "./compiled.js";

interface Loaded {
  arrays: Record<string, { set(values: unknown): void }>;
  launch(scalars: unknown): Record<string, number> | undefined;
}

describe("WebAssembly text, assembled by wabt,", { skip: missing("wat2wasm") }, () => {
  for (const given of CASES)
    it(`gives the device's bits for ${given.kernel.name}`, async () => {
      const request = requestOf(given, "strict");
      const memory = memoryOf(given, request);
      const { stem } = request;
      await inFolder(emitWatFiles(request), async (folder) => {
        run(folder, "wat2wasm", `${stem}.wat`, "-o", `${stem}.wasm`);
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
