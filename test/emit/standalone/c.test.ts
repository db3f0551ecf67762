import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { join } from "node:path";
import koffi from "koffi";
import { emitC } from "../../../src/emit/standalone/c.js";
import type { EmittedFile, EmitRequest } from "../../../src/emit/standalone/index.js";
import { emitOmpTarget } from "../../../src/emit/standalone/omp-target.js";
import { launchArguments } from "../../../src/emit/standalone/signature.js";
import { matchesSnapshot } from "../snapshot.js";
import { argumentValues, ATOMIC_CASES, CASES, expectedOf, memoryOf, requestOf, type Case } from "./cases.js";
import { WIDE_CASES } from "./wide-cases.js";
import { buildFlags, inFolder, missing, run } from "./compiled.js";

const TYPES = {
  f64: "double",
  f32: "float",
  i32: "int32_t",
  u32: "uint32_t",
  i64: "int64_t",
  u64: "uint64_t",
  bool: "bool",
  index: "int64_t",
  pointer: "void *",
};

/** Compiles the file to a library, as its first lines say, calls its launch function on the case's data and gives what it leaves. */
async function launched(given: Case, request: EmitRequest, files: readonly EmittedFile[], compiler: string) {
  const memory = memoryOf(given, request);
  await inFolder(files, (folder) => {
    const [{ name, text }] = files;
    const flags = buildFlags(text, "gcc").filter((flag) => compiler === "gcc" || !/^-f(no-tree-slp|offload)/.test(flag));
    run(folder, compiler, ...flags, "-Wall", "-Werror", "-Wno-pass-failed", "-shared", "-fPIC", "-o", "kernel.so", name, "-lm");
    const library = koffi.load(join(folder, "kernel.so"));
    const types = launchArguments(request, { of: (_kind, wish) => wish }).map(({ type }) => TYPES[type]);
    const launch = library.func(`${request.stem}_launch`, "int", types) as unknown as (...args: unknown[]) => number;
    assert.equal(launch(...argumentValues(given, request, memory).map(({ value }) => value)), 0);
  });
  return memory;
}

for (const [target, emit, compilers] of [
  ["C with OpenMP", emitC, ["gcc", "clang"]],
  ["OpenMP offloading, on the host,", emitOmpTarget, ["gcc"]],
] as const)
  for (const compiler of compilers)
    describe(`${target} by ${compiler}`, { skip: missing(compiler) }, () => {
      for (const given of emit === emitC ? WIDE_CASES : [])
        for (const precision of ["strict", "fast"] as const)
          it(`gives the device's bits for ${given.kernel.name} in ${precision} mode`, async () => {
            const request = requestOf(given, precision);
            assert.deepEqual(await launched(given, request, emit(request), compiler), await expectedOf(given));
          });
      for (const given of [...CASES, ...ATOMIC_CASES]) {
        it(`gives the device's bits for ${given.kernel.name} in strict mode`, async () => {
          const request = requestOf(given, "strict");
          assert.deepEqual(await launched(given, request, emit(request), compiler), await expectedOf(given));
        });
        it(`gives nearly those for ${given.kernel.name} in fast mode`, async () => {
          const request = requestOf(given, "fast");
          const expected = await expectedOf(given);
          for (const [name, values] of Object.entries(await launched(given, request, emit(request), compiler)))
            values.forEach((value, n) =>
              assert.ok(Math.abs(value - expected[name][n]) <= 1e-5 * Math.max(1, Math.abs(value)), `${name}[${n}] is ${value}`),
            );
        });
      }
    });

it("C keeps the loops of a stencil", () => matchesSnapshot("emit/standalone/laplace.c", emitC(requestOf(CASES[1], "strict"))[0].text));
it("C folds chunks in strict mode", () => matchesSnapshot("emit/standalone/dot.c", emitC(requestOf(CASES[2], "strict"))[0].text));
it("C adds up by OpenMP's clause in fast mode", () =>
  matchesSnapshot("emit/standalone/dot-fast.c", emitC(requestOf(CASES[2], "fast"))[0].text));
it("offloading maps the arrays", () =>
  matchesSnapshot("emit/standalone/laplace.target.c", emitOmpTarget(requestOf(CASES[1], "strict"))[0].text));
it("offloading of a team", () => matchesSnapshot("emit/standalone/blocks.target.c", emitOmpTarget(requestOf(CASES[6], "strict"))[0].text));
