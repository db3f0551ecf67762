import assert from "node:assert/strict";
import { join } from "node:path";
import { describe, it } from "node:test";
import { fileURLToPath } from "node:url";
import koffi from "koffi";
import type { EmitRequest } from "../../../src/emit/standalone/index.js";
import { launchArguments } from "../../../src/emit/standalone/signature.js";
import { emitSyclFile } from "../../../src/emit/standalone/sycl.js";
import { matchesSnapshot } from "../snapshot.js";
import { argumentValues, ATOMIC_CASES, CASES, expectedOf, memoryOf, requestOf, type Case } from "./cases.js";
import { inFolder, missing, run } from "./compiled.js";

const STUB = fileURLToPath(new URL("../../../../test/emit/standalone/sycl-stub", import.meta.url));
const TYPES = {
  f64: "double",
  f32: "float",
  i32: "int32_t",
  u32: "uint32_t",
  i64: "int64_t",
  u64: "uint64_t",
  u8: "uint8_t",
  i8: "int8_t",
  u16: "uint16_t",
  i16: "int16_t",
  f16: "uint16_t",
  bf16: "uint16_t",
  bool: "bool",
  index: "int64_t",
};

/** Compiled against the declarations of the stub, which runs work-items one after the other. */
async function launched(given: Case, request: EmitRequest) {
  const memory = memoryOf(given, request);
  const args = launchArguments(request, { of: (_kind, name, wish = name) => wish });
  const types = args.map(({ type, element }) => (type === "pointer" ? `${TYPES[element!]} *` : TYPES[type]));
  const [{ name, text }] = emitSyclFile(request);
  const parameters = args.map((arg, n) => `${types[n]} ${arg.name}`).join(", ");
  const passed = [...args.map((arg) => arg.name), "queue"].join(", ");
  const entry = `extern "C" void on_host(${parameters}) { sycl::queue queue; ${request.stem}_launch(${passed}).wait(); }\n`;
  await inFolder([{ name, text: `${text}\n${entry}` }], (folder) => {
    run(
      folder,
      "g++",
      "-std=c++17",
      "-O2",
      "-ffp-contract=off",
      "-Wall",
      "-Werror",
      `-I${STUB}`,
      "-shared",
      "-fPIC",
      "-o",
      "kernel.so",
      name,
    );
    const library = koffi.load(join(folder, "kernel.so"));
    const launch = library.func(
      "on_host",
      "void",
      types.map((type) => (type.endsWith("*") ? "void *" : type)),
    ) as unknown as (...values: unknown[]) => void;
    launch(...argumentValues(given, request, memory).map(({ value }) => value));
  });
  return memory;
}

describe("SYCL, against declarations of our own,", { skip: missing("g++") }, () => {
  for (const given of [...CASES, ...ATOMIC_CASES])
    it(`gives the device's bits for ${given.kernel.name}`, async () => {
      assert.deepEqual(await launched(given, requestOf(given, "strict")), await expectedOf(given));
      // In fast mode scatters are atomic, but this queue keeps the order.
      const fast = await launched(given, requestOf(given, "fast"));
      assert.deepEqual(Object.keys(fast), Object.keys(memoryOf(given, requestOf(given, "fast"))));
    });
});

it("a SYCL kernel has a work-item for each element", () =>
  matchesSnapshot("emit/standalone/axpy.sycl.cpp", emitSyclFile(requestOf(CASES[0], "fast"))[0].text));
it("a SYCL team is one work-item", () =>
  matchesSnapshot("emit/standalone/blocks.sycl.cpp", emitSyclFile(requestOf(CASES[6], "fast"))[0].text));
