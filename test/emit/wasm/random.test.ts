import assert from "node:assert/strict";
import test from "node:test";
import fc from "fast-check";
import type { View } from "../../../src/device/memory/view.js";
import type { Binding } from "../../../src/device/launch/binding.js";
import type { CpuDevice } from "../../../src/device/cpu/cpu-device.js";
import type { CpuProgram } from "../../../src/device/cpu/launch.js";
import { open } from "../../../src/device/open.js";
import { range } from "../../../src/device/launch/policy.js";
import { analyseAccess } from "../../../src/ir/analysis/access.js";
import type { Precision } from "../../../src/ir/launch.js";
import type { Expr, KernelIR, NumberType, Stmt } from "../../../src/ir/types.js";
import { mapExpr, mapStmts } from "../../../src/ir/walk.js";
import type { Kernel } from "../../../src/kernel/declare/kernel.js";
import { F32_EDGES, F64_EDGES, I32_EDGES, U32_EDGES, noiseValue } from "../../../src/testing/values.js";
import { INPUTS, OUTPUTS, SCALARS, randomFolds, randomKernel, randomLoops } from "../../ir/random.js";
import { wholeNumbers, wholeOf } from "../../ir/whole.js";

/** Enough for whole and partial vectors, chunks of a reduction, and two workers. */
const LENGTH = 2 * 256 + 45;
/** Enough for pairs of rows. */
const ROWS = [64, 19];
const SEED = Number(process.env.ISOFORM_SEED ?? 5);
const RUNS = Number(process.env.ISOFORM_RUNS ?? 60);

const EDGES = { f64: F64_EDGES, f32: F32_EDGES, i32: I32_EDGES, u32: U32_EDGES };

const sample = (type: NumberType, n: number, precision: Precision): number => {
  const edges = EDGES[type];
  const isFloat = type === "f64" || type === "f32";
  const x = n % 3 === 0 ? edges[Math.floor(n / 3) % edges.length] : noiseValue(n) * 10 - 5;
  if (isFloat) return precision === "fast" ? wholeOf(x) : x;
  return n % 3 === 0 ? x : Math.trunc(Math.abs(x));
};

/** The same kernel with all 64-bit values made 32-bit ones, so that vectors have four lanes. */
function narrowed<T>(tree: T): T {
  if (tree === "f64") return "f32" as T;
  if (Array.isArray(tree)) return tree.map(narrowed) as T;
  if (typeof tree !== "object" || tree === null) return tree;
  const node = Object.fromEntries(Object.entries(tree).map(([name, part]) => [name, narrowed(part)]));
  if (node.op === "const" && node.type === "f32") node.value = Math.fround(node.value as number);
  return node as T;
}

/** The same of two axes: elements write rows of their own, and read one row. */
function inRows(ir: KernelIR): KernelIR {
  const [row, column] = [0, 1].map((axis): Expr => ({ op: "index", type: "i32", axis }));
  const placed = (name: string, [at]: readonly Expr[]): Expr[] => [name in OUTPUTS ? row : { op: "const", type: "i32", value: 1 }, at];
  const expr = (root: Expr): Expr =>
    mapExpr(root, (node) => {
      if (node.op === "index") return column;
      if (node.op === "extent") return { ...node, axis: 1 };
      return node.op === "load" ? { ...node, indices: placed(node.view, node.indices) } : node;
    });
  const stmt = (s: Stmt): Stmt => (s.kind === "store" ? { ...s, indices: placed(s.view, s.indices) } : s);
  const params = ir.params.map((param) => (param.kind === "view" ? { ...param, rank: 2 } : param));
  return { ...ir, params, policy: { kind: "range", rank: 2 }, body: mapStmts(ir.body, { expr, stmt }) };
}

/** What a kernel leaves in its views, and its sum; notes the launch's remarks. */
async function outputsOf(
  device: CpuDevice,
  ir: KernelIR,
  precision: Precision,
  remarks: string[],
): Promise<Record<string, ArrayLike<number>>> {
  const types = Object.fromEntries(ir.params.flatMap((p) => (p.kind === "view" ? [[p.name, p.element as NumberType]] : [])));
  const target = ir.params.find((p) => p.kind === "scatter");
  const shape = ir.policy.kind === "range" && ir.policy.rank === 2 ? ROWS : [LENGTH];
  const views: Record<string, View> = Object.fromEntries(
    Object.entries(types).map(([name, type]) => {
      const values = Array.from({ length: shape.reduce((a, b) => a * b) }, (_, n) =>
        name in INPUTS ? sample(type, n + name.charCodeAt(1), precision) : n % 7,
      );
      return [name, device.from({ type: type as NumberType }, values, shape)];
    }),
  );
  if (target) views.h = device.array({ type: target.element }, 4);
  const binding: Binding = {
    kernel: { name: ir.name, params: {}, policy: "range", body: () => {}, location: ir.location } as Kernel,
    ir,
    access: analyseAccess(ir),
    policy: range(...(shape as [number])),
    precision,
    ordered: precision === "strict",
    scalars: { pd: precision === "fast" ? 2 : 1.5, pi: 3, pb: true },
    views,
    outputs: {},
    initial: {},
    partials: false,
    unfolded: false,
    peerStores: [],
    disjointMemory: true,
    scatter: target ? { h: "sorted" } : {},
    cost: () => ({ flops: 1e9, bytes: 1e9 }),
    sizes: () => "any",
    tuning: { from: "default", values: {} },
    call: {} as Binding["call"],
  };
  const program = (device as unknown as { build(binding: Binding): CpuProgram }).build(binding);
  remarks.push(program.remarks.join("\n"));
  const results = program.run();
  const outputs: Record<string, ArrayLike<number>> = { s: [results.s] };
  for (const name of [...Object.keys(OUTPUTS), ...(target ? ["h"] : [])]) outputs[name] = await device.queue.read(views[name]);
  program.free();
  for (const view of Object.values(views)) view.free();
  return outputs;
}

const KERNELS = [
  ["kernels", randomKernel],
  ["kernels of four lanes", (choices: number[]) => narrowed(randomKernel(choices))],
  ["loops", randomLoops],
  ["loops of four lanes", (choices: number[]) => narrowed(randomLoops(choices))],
  ["loops of rows", (choices: number[]) => inRows(randomLoops(choices, true))],
  ["folds", randomFolds],
  ["folds of four lanes", (choices: number[]) => narrowed(randomFolds(choices))],
] as const;

/** The same number; in fast mode zeros of both signs are the same. */
const same = (a: number, b: number, precision: Precision): boolean => Object.is(a, b) || (precision === "fast" && a === b);

/** Launches, of the runs, that must come by the code in question. */
function requireReached(what: string, precision: Precision, remarks: readonly string[]): void {
  const count = (text: string | RegExp): number => remarks.filter((remark) => remark.search(text) >= 0).length;
  if (what.endsWith("rows")) assert.ok(count("two elements at a time") >= RUNS / 12, "few go in pairs");
  if (what.startsWith("loops")) assert.ok(count("side by side") >= RUNS / 4, "few go side by side");
  if (what.startsWith("folds"))
    assert.ok(count(/turns of .* lanes of/) >= RUNS / (precision === "fast" ? 3 : 12), "few turns go in vectors");
}

for (const precision of ["strict", "fast"] as const)
  for (const [what, make] of KERNELS)
    test(`random ${what} in ${precision} mode have the bits of js`, async () => {
      assert.equal(Object.keys(SCALARS).length, 3);
      const remarks: string[] = [];
      const [js, wasm] = [(await open("js")) as CpuDevice, (await open("wasm")) as CpuDevice];
      try {
        await fc.assert(
          fc.asyncProperty(fc.array(fc.nat(1000), { minLength: 20, maxLength: 400 }), async (choices) => {
            const ir = precision === "fast" ? wholeNumbers(make(choices)) : make(choices);
            const [expected, actual] = [await outputsOf(js, ir, precision, []), await outputsOf(wasm, ir, precision, remarks)];
            for (const name of Object.keys(expected))
              for (let n = 0; n < expected[name].length; n++)
                if (!same(actual[name][n], expected[name][n], precision))
                  assert.fail(`${name}[${n}] is ${actual[name][n]} instead of ${expected[name][n]}`);
          }),
          { seed: SEED, numRuns: RUNS },
        );
        requireReached(what, precision, remarks);
      } finally {
        await js.close();
        await wasm.close();
      }
    });
