import assert from "node:assert/strict";
import test from "node:test";
import fc from "fast-check";
import type { Binding } from "../../../src/device/launch/binding.js";
import type { CpuDevice } from "../../../src/device/cpu/cpu-device.js";
import type { CpuProgram } from "../../../src/device/cpu/launch.js";
import { open } from "../../../src/device/open.js";
import { range } from "../../../src/device/launch/policy.js";
import { analyseAccess } from "../../../src/ir/analysis/access.js";
import type { Expr, KernelIR, NumericType, Stmt } from "../../../src/ir/types.js";
import { mapExpr, mapStmts } from "../../../src/ir/walk.js";
import type { Kernel } from "../../../src/kernel/declare/kernel.js";
import { F32_EDGES, F64_EDGES, I32_EDGES, U32_EDGES, noise } from "../../../src/testing/values.js";
import { INPUTS, OUTPUTS, SCALARS, randomKernel, randomLoops } from "../../ir/random.js";

/** Enough for whole and partial vectors, chunks of a reduction, and two workers. */
const LENGTH = 2 * 256 + 45;
/** Enough for pairs of rows. */
const ROWS = [64, 19];
const SEED = Number(process.env.ISOFORM_SEED ?? 5);
const RUNS = Number(process.env.ISOFORM_RUNS ?? 60);

const EDGES = { f64: F64_EDGES, f32: F32_EDGES, i32: I32_EDGES, u32: U32_EDGES };

const sample = (type: NumericType, n: number): number => {
  const edges = EDGES[type];
  if (n % 3 === 0) return edges[Math.floor(n / 3) % edges.length];
  const x = noise(n) * 10 - 5;
  return type === "f64" || type === "f32" ? x : Math.trunc(Math.abs(x));
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
      return node.op === "load" ? { ...node, indices: placed(node.view, node.indices) } : node;
    });
  const stmt = (s: Stmt): Stmt => (s.kind === "store" ? { ...s, indices: placed(s.view, s.indices) } : s);
  const params = ir.params.map((param) => (param.kind === "view" ? { ...param, rank: 2 } : param));
  return { ...ir, params, policy: { kind: "range", rank: 2 }, body: mapStmts(ir.body, { expr, stmt }) };
}

/** What a kernel leaves in its views, and its sum; notes the launch's remarks. */
async function outputsOf(device: CpuDevice, ir: KernelIR, remarks: string[]): Promise<Record<string, ArrayLike<number>>> {
  const types = Object.fromEntries(ir.params.flatMap((p) => (p.kind === "view" ? [[p.name, p.element as NumericType]] : [])));
  const target = ir.params.find((p) => p.kind === "scatter");
  const shape = ir.policy.kind === "range" && ir.policy.rank === 2 ? ROWS : [LENGTH];
  const views = Object.fromEntries(
    Object.entries(types).map(([name, type]) => {
      const values = Array.from({ length: shape.reduce((a, b) => a * b) }, (_, n) =>
        name in INPUTS ? sample(type, n + name.charCodeAt(1)) : n % 7,
      );
      return [name, device.from({ type }, values, shape)];
    }),
  );
  if (target) views.h = device.array({ type: target.element }, 4);
  const binding: Binding = {
    kernel: { name: ir.name, params: {}, policy: "range", body: () => {}, location: ir.location } as Kernel,
    ir,
    access: analyseAccess(ir),
    policy: range(...(shape as [number])),
    precision: "strict",
    ordered: true,
    scalars: { pd: 1.5, pi: 3, pb: true },
    views,
    outputs: {},
    initial: {},
    partials: false,
    unfolded: false,
    peerStores: [],
    disjointMemory: true,
    scatter: target ? { h: "sorted" } : {},
    cost: { flops: 1e9, bytes: 1e9 },
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

for (const [what, make] of [
  ["kernels", randomKernel],
  ["kernels of four lanes", (choices: number[]) => narrowed(randomKernel(choices))],
  ["loops", randomLoops],
  ["loops of four lanes", (choices: number[]) => narrowed(randomLoops(choices))],
  ["loops of rows", (choices: number[]) => inRows(randomLoops(choices, true))],
] as const)
  test(`random ${what} have the bits of js`, async () => {
    assert.equal(Object.keys(SCALARS).length, 3);
    const remarks: string[] = [];
    const [js, wasm] = [(await open("js")) as CpuDevice, (await open("wasm")) as CpuDevice];
    try {
      await fc.assert(
        fc.asyncProperty(fc.array(fc.nat(1000), { minLength: 20, maxLength: 400 }), async (choices) => {
          const ir = make(choices);
          const [expected, actual] = [await outputsOf(js, ir, []), await outputsOf(wasm, ir, remarks)];
          for (const name of Object.keys(expected))
            for (let n = 0; n < expected[name].length; n++)
              if (!Object.is(actual[name][n], expected[name][n]))
                assert.fail(`${name}[${n}] is ${actual[name][n]} instead of ${expected[name][n]}`);
        }),
        { seed: SEED, numRuns: RUNS },
      );
      const pairs = remarks.filter((text) => text.includes("two elements at a time")).length;
      if (what.endsWith("rows")) assert.ok(pairs >= RUNS / 12, `${pairs} of ${RUNS} go in pairs`);
      const abreast = remarks.filter((text) => text.includes("side by side")).length;
      if (what.startsWith("loops")) assert.ok(abreast >= RUNS / 4, `${abreast} of ${RUNS} go side by side`);
    } finally {
      await js.close();
      await wasm.close();
    }
  });
