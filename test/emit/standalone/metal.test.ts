import assert from "node:assert/strict";
import { existsSync } from "node:fs";
import { join } from "node:path";
import { describe, it } from "node:test";
import { fileURLToPath } from "node:url";
import koffi from "koffi";
import { f32, kernel, range, view } from "../../../src/index.js";
import type { Kernel } from "../../../src/kernel/declare/kernel.js";
import { EmitError } from "../../../src/base/errors.js";
import type { TypedArray } from "../../../src/device/memory/view.js";
import { emitMetalFiles } from "../../../src/emit/standalone/metal.js";
import { contiguousRows, cubicSizes, type EmitRequest } from "../../../src/emit/standalone/index.js";
import { launchArguments, type Argument } from "../../../src/emit/standalone/signature.js";
import { firstF64 } from "../../../src/ir/analysis/types-used.js";
import { singlePrecision } from "../../../src/ir/passes/single.js";
import { BYTES } from "../../../src/ir/scalars.js";
import { applicationKernels } from "../../device/gpu-sources.js";
import { argumentValues, CASES, expectedOf, memoryOf, requestOf, type Case } from "./cases.js";
import { inFolder, missing, run } from "./compiled.js";

const STUB = fileURLToPath(new URL("../../../../test/emit/standalone/metal-stub", import.meta.url));
const SINGLE = CASES.filter((given) => !firstF64(requestOf(given, "strict").ir));
/** Debian's package of HIP brings clang 15. */
const CLANG = ["/usr/lib/llvm-15/bin/clang++", "/usr/lib/llvm-19/bin/clang++"].find((path) => existsSync(path)) ?? "clang++";
const FLAGS = [
  "-std=c++20",
  "-ffp-contract=off",
  "-Wall",
  "-Werror",
  "-Wno-unknown-attributes",
  "-Wno-unused-function",
  "-Wno-unused-variable",
];

/** Functions that Metal lacks, at ordinary values and at edges. */
const functions = kernel("functions", { x: view(f32), y: view(f32, 2) }, ({ x, y }, i) => {
  y[i][0] = Math.expm1(x[i]);
  y[i][1] = Math.log1p(x[i]);
  y[i][2] = Math.cbrt(x[i]);
  y[i][3] = Math.hypot(x[i], x[63 - i]);
});
const EDGES = [0, -0, NaN, Infinity, -Infinity, 1e-45, -1e-40, 3.4028234663852886e38, -1, 1e-8, -1e-4, 1e30, 88, -104, 0.5, -0.5];
const LACKED: Case = {
  kernel: functions as unknown as Kernel,
  policy: range(64),
  views: {
    x: { shape: [64], values: (n) => EDGES[n] ?? (n - 40) / 7 },
    y: { shape: [64, 4], values: () => 0 },
  },
};

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

/** The text with block arrays as static ones, and a table of its entries. */
function onHost(source: string): string {
  const text = source.replace(/^(\s*)threadgroup (\w+ \w+\[\d+\];)/gm, "$1static $2");
  const entries = [...text.matchAll(/kernel void (\w+)\(\n([^{]*)\n\) \{/g)].map(([, name, params]) => {
    const values = params.split(/,\s+/).map((param) => {
      const array = /^(.*?\*) ?\w+ \[\[buffer\((\d+)\)\]\]$/.exec(param.trim());
      if (array) return `(${array[1]})call.arrays[${array[2]}]->contents()`;
      const struct = /^constant (\w+) &launch/.exec(param.trim());
      if (struct) return `*(const ${struct[1]} *)call.numbers.data()`;
      const memory = /^(.*?\*) ?\w+ \[\[threadgroup\(0\)\]\]$/.exec(param.trim());
      if (memory) return `(${memory[1]})call.shared.data()`;
      return { thread_at: "thread", block_at: "block", block_size: "threads", grid_size: "blocks" }[/^uint3 (\w+)/.exec(param.trim())![1]]!;
    });
    return `MTL::entries["${name}"] = [](MTL::Call &call, uint3 thread, uint3 block, uint3 threads, uint3 blocks) { ${name}(${values.join(", ")}); };`;
  });
  return `${text}\nvoid list_entries() {\n${entries.map((line) => `  ${line}`).join("\n")}\n}\n`;
}

/** A function `on_device` that takes the arguments with arrays in host memory, and copies them to buffers and back. */
function driver(request: EmitRequest, args: readonly Argument[], lengths: Readonly<Record<string, number>>): string {
  const { stem } = request;
  const arrays = args.filter(({ slot }) => slot.kind === "view");
  const bytes = ({ slot, element }: Argument) => lengths["name" in slot ? slot.name : ""] * BYTES[element!];
  return [
    `#include "${stem}.host.cpp"`,
    "void list_entries();",
    `extern "C" int on_device(${args.map(({ type, name }) => `${TYPES[type]} ${name}`).join(", ")}) {`,
    "  list_entries();",
    "  MTL::CommandQueue queue;",
    "  MTL::Library library;",
    ...arrays.flatMap((a) => [
      `  MTL::Buffer *${a.name}_device = queue.device()->newBuffer(${bytes(a)}, 0);`,
      `  memcpy(${a.name}_device->contents(), ${a.name}, ${bytes(a)});`,
    ]),
    `  const int status = ${stem}_launch(${args.map((a) => (arrays.includes(a) ? `${a.name}_device` : a.type === "pointer" ? `(${a.element === "i32" ? "int32_t" : "float"} *)${a.name}` : a.name)).join(", ")}, &queue, &library);`,
    ...arrays.map((a) => `  memcpy(${a.name}, ${a.name}_device->contents(), ${bytes(a)});`),
    "  return status;",
    "}",
  ].join("\n");
}

async function launched(given: Case, request: EmitRequest): Promise<Record<string, TypedArray>> {
  const memory = memoryOf(given, request);
  const args = launchArguments(request, { of: (_kind, name, wish = name) => wish });
  const lengths = Object.fromEntries(Object.entries(memory).map(([name, { length }]) => [name, length]));
  const [device, host] = emitMetalFiles(request);
  const files = [host, { name: "device.cpp", text: onHost(device.text) }, { name: "driver.cpp", text: driver(request, args, lengths) }];
  await inFolder(files, (folder) => {
    const flags = [...FLAGS, "-O1", `-I${STUB}`, "-shared", "-fPIC", "-pthread"];
    run(folder, CLANG, ...flags, "-include", "Metal/Metal.hpp", "-o", "driver.so", "device.cpp", "driver.cpp");
    const library = koffi.load(join(folder, "driver.so"));
    const launch = library.func(
      "on_device",
      "int",
      args.map(({ type }) => TYPES[type]),
    ) as unknown as (...values: unknown[]) => number;
    assert.equal(launch(...argumentValues(given, request, memory).map(({ value }) => value)), 0);
  });
  return memory;
}

describe("Metal files with a stub of its language", { skip: missing(CLANG) }, () => {
  for (const given of SINGLE) {
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

  it("have the functions that Metal lacks", async () => {
    const [found, expected] = [await launched(LACKED, requestOf(LACKED, "strict")), await expectedOf(LACKED)];
    found.y.forEach((value, n) => {
      const wanted = expected.y[n];
      // Each is a few operations with an error of half a unit, on a library whose own is one.
      const near = Math.abs(value - wanted) <= 8 * Math.max(2 ** -149, Math.abs(wanted) * 2 ** -24);
      assert.ok(near || Object.is(value, wanted), `function ${n % 4} of ${found.x[n >> 2]} is ${value}, not ${wanted}`);
    });
  });

  it("compile for all applications in f32", async () => {
    const texts = applicationKernels().flatMap(({ ir, access }) =>
      (["strict", "fast"] as const).map((precision) => {
        const single = singlePrecision(ir);
        const unitStrides = contiguousRows(single);
        return emitMetalFiles({ ir: single, access, precision, stem: "kernel", unitStrides, sizes: cubicSizes(single, 8) })[0].text;
      }),
    );
    // Each in a namespace of its own: a compiler's start takes longer than a kernel.
    const all = texts.map((text, n) => `namespace k${n} {\n${text.replace("#include <metal_stdlib>\n", "")}\n}`).join("\n");
    await inFolder(
      [{ name: "all.cpp", text: `#include <metal_stdlib>\n${all.replaceAll(/^(\s*)threadgroup (\w+ \w+\[\d+\];)/gm, "$1static $2")}` }],
      (folder) => run(folder, CLANG, ...FLAGS, `-I${STUB}`, "-fsyntax-only", "all.cpp"),
    );
    assert.ok(texts.length > 100, String(texts.length));
  });
});

it("f64 is refused by name", () => {
  assert.throws(
    () => emitMetalFiles(requestOf(CASES[2], "strict")),
    (error: Error) => {
      assert.ok(error instanceof EmitError);
      assert.match(
        error.message,
        /kernel "dot" cannot be written for metal: .* is f64, which Metal lacks \(declare it f32, or use isoform emit --float f32/,
      );
      return true;
    },
  );
});
