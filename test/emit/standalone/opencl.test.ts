import assert from "node:assert/strict";
import { existsSync } from "node:fs";
import { join } from "node:path";
import { describe, it } from "node:test";
import koffi from "koffi";
import { BYTES } from "../../../src/ir/scalars.js";
import type { EmitRequest } from "../../../src/emit/standalone/index.js";
import { emitOpenclFiles } from "../../../src/emit/standalone/opencl.js";
import { launchArguments, type Argument } from "../../../src/emit/standalone/signature.js";
import { matchesSnapshot } from "../snapshot.js";
import { argumentValues, ATOMIC_CASES, CASES, expectedOf, memoryOf, requestOf, type Case } from "./cases.js";
import { WIDE_CASES } from "./wide-cases.js";
import { inFolder, missing, run } from "./compiled.js";

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

/** A function `on_device` that takes the arguments with arrays in host memory, and copies them to the first device and back. */
function driver(request: EmitRequest, args: readonly Argument[], lengths: Readonly<Record<string, number>>): string {
  const { stem } = request;
  const arrays = args.filter(({ slot }) => slot.kind === "view");
  const bytes = ({ slot, element }: Argument) => lengths["name" in slot ? slot.name : ""] * BYTES[element!];
  return [
    `#include "${stem}.host.c"`,
    `int on_device(const char *path, ${args.map(({ type, name }) => `${TYPES[type]} ${name}`).join(", ")}) {`,
    "  cl_int status; cl_platform_id platform; cl_device_id device;",
    "  if (clGetPlatformIDs(1, &platform, NULL) || clGetDeviceIDs(platform, CL_DEVICE_TYPE_ALL, 1, &device, NULL)) return 1;",
    "  cl_context context = clCreateContext(NULL, 1, &device, NULL, NULL, &status);",
    "  cl_command_queue queue = clCreateCommandQueue(context, device, 0, &status);",
    `  cl_program program = ${stem}_build(context, device, path, &status);`,
    "  if (!program) return status;",
    ...arrays.map(
      (a) =>
        `  cl_mem ${a.name}_device = clCreateBuffer(context, CL_MEM_READ_WRITE | CL_MEM_COPY_HOST_PTR, ${bytes(a)}, ${a.name}, &status);`,
    ),
    `  status = ${stem}_launch(${args.map((a) => (arrays.includes(a) ? `${a.name}_device` : a.name)).join(", ")}, queue, program);`,
    ...arrays.map(
      (a) => `  if (!status) status = clEnqueueReadBuffer(queue, ${a.name}_device, CL_TRUE, 0, ${bytes(a)}, ${a.name}, 0, NULL, NULL);`,
    ),
    ...arrays.map((a) => `  clReleaseMemObject(${a.name}_device);`),
    "  clReleaseProgram(program); clReleaseCommandQueue(queue); clReleaseContext(context);",
    "  return status;",
    "}",
  ].join("\n");
}

async function launched(given: Case, request: EmitRequest) {
  const memory = memoryOf(given, request);
  const args = launchArguments(request, { of: (_kind, name, wish = name) => wish });
  const lengths = Object.fromEntries(Object.entries(memory).map(([name, { length }]) => [name, length]));
  const files = [...emitOpenclFiles(request), { name: "driver.c", text: driver(request, args, lengths) }];
  await inFolder(files, (folder) => {
    run(folder, "gcc", "-O1", "-Wall", "-Werror", "-shared", "-fPIC", "-o", "driver.so", "driver.c", "-lOpenCL");
    const library = koffi.load(join(folder, "driver.so"));
    const launch = library.func("on_device", "int", ["str", ...args.map(({ type }) => TYPES[type])]) as unknown as (
      ...values: unknown[]
    ) => number;
    const values = argumentValues(given, request, memory).map(({ value }) => value);
    assert.equal(launch(join(folder, `${request.stem}.cl`), ...values), 0);
  });
  return memory;
}

const reason =
  missing("gcc") ||
  (!existsSync("/usr/include/CL/cl.h") && "OpenCL headers not installed") ||
  (!existsSync("/etc/OpenCL/vendors") && "no OpenCL driver installed");

describe("OpenCL files", { skip: reason }, () => {
  for (const given of WIDE_CASES)
    it(`give the device's bits for ${given.kernel.name}`, async () => {
      assert.deepEqual(await launched(given, requestOf(given, "strict")), await expectedOf(given));
    });
  for (const given of [...CASES, ...ATOMIC_CASES]) {
    it(`give the device's bits for ${given.kernel.name} in strict mode`, async () => {
      assert.deepEqual(await launched(given, requestOf(given, "strict")), await expectedOf(given));
    });
    it(`give nearly those for ${given.kernel.name} in fast mode`, async () => {
      const expected = await expectedOf(given);
      for (const [name, values] of Object.entries(await launched(given, requestOf(given, "fast"))))
        values.forEach((value, n) =>
          assert.ok(Math.abs(value - expected[name][n]) <= 1e-5 * Math.max(1, Math.abs(value)), `${name}[${n}] is ${value}`),
        );
    });
  }
});

it("scatters of floats are sorted in strict mode", () => {
  const [{ text: device }, { text: host }] = emitOpenclFiles(requestOf(CASES[3], "strict"));
  for (const text of [device, host]) assert.match(text, /weights_sort_count/);
  assert.doesNotMatch(emitOpenclFiles(requestOf(CASES[3], "fast"))[1].text, /sort/);
});
it("the host sets arguments by their types", () =>
  matchesSnapshot("emit/standalone/axpy.host.c", emitOpenclFiles(requestOf(CASES[0], "strict"))[1].text));
it("the host of a stencil chooses its shape", () =>
  matchesSnapshot("emit/standalone/laplace.host.c", emitOpenclFiles(requestOf(CASES[1], "fast"))[1].text));
