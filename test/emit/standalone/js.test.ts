import assert from "node:assert/strict";
import test from "node:test";
import { emitJsFile } from "../../../src/emit/standalone/js.js";
import { matchesSnapshot } from "../snapshot.js";
import { argumentValues, ATOMIC_CASES, CASES, expectedOf, memoryOf, requestOf } from "./cases.js";
import { WIDE_CASES } from "./wide-cases.js";

for (const given of [...CASES, ...ATOMIC_CASES, ...WIDE_CASES])
  test(`the module of ${given.kernel.name} gives the device's bits`, async () => {
    const request = requestOf(given, "strict");
    const [{ text }] = emitJsFile(request);
    const module = (await import(`data:text/javascript,${encodeURIComponent(text)}`)) as Record<
      string,
      (args: unknown) => Record<string, number> | undefined
    >;
    const memory = memoryOf(given, request);
    const args = argumentValues(given, request, memory).map(({ name, value }) => [name, value]);
    const results = module[`${given.kernel.name}_launch`](Object.fromEntries(args)) ?? {};
    for (const [name, value] of Object.entries(results)) memory[name][0] = value;
    assert.deepEqual(memory, await expectedOf(given));
  });

test("the module of a stencil keeps its loops", () =>
  matchesSnapshot("emit/standalone/laplace.mjs.txt", emitJsFile(requestOf(CASES[1], "strict"))[0].text));
test("the module of a reduction", () => matchesSnapshot("emit/standalone/dot.mjs.txt", emitJsFile(requestOf(CASES[2], "strict"))[0].text));
