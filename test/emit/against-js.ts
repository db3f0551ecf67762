import assert from "node:assert/strict";
import fc from "fast-check";
import type { Binding } from "../../src/device/launch/binding.js";
import type { CpuDevice } from "../../src/device/cpu/cpu-device.js";
import type { CpuProgram } from "../../src/device/cpu/launch.js";
import { open } from "../../src/device/open.js";
import { range } from "../../src/device/launch/policy.js";
import { analyseAccess } from "../../src/ir/analysis/access.js";
import type { KernelIR, NumberType } from "../../src/ir/types.js";
import type { Kernel } from "../../src/kernel/declare/kernel.js";
import { F32_EDGES, F64_EDGES, I32_EDGES, U32_EDGES, noiseValue } from "../../src/testing/values.js";
import { INPUTS, OUTPUTS, randomKernel } from "../ir/random.js";

/** Enough for whole and partial vectors, chunks of a reduction, and two workers. */
const LENGTH = 2 * 256 + 45;

const EDGES = { f64: F64_EDGES, f32: F32_EDGES, i32: I32_EDGES, u32: U32_EDGES };

/** Edge values among random ones. */
function sample(type: NumberType, n: number): number {
  const edges = EDGES[type];
  if (n % 3 === 0) return edges[Math.floor(n / 3) % edges.length];
  const x = noiseValue(n) * 10 - 5;
  return type === "f64" || type === "f32" ? x : Math.trunc(Math.abs(x));
}

/** The kernel's outputs, scatter target and reduction, by name. */
async function outputsOf(device: CpuDevice, ir: KernelIR): Promise<Record<string, ArrayLike<number>>> {
  const views = Object.fromEntries(
    ir.params
      .filter((p) => p.kind === "view")
      .map(({ name, element }) => {
        const values = Array.from({ length: LENGTH }, (_, n) =>
          name in INPUTS ? sample(element as NumberType, n + name.charCodeAt(1)) : n % 7,
        );
        return [name, device.from({ type: element }, values)];
      }),
  );
  views.h = device.array({ type: ir.params.find((p) => p.kind === "scatter")!.element }, 4);
  const binding: Binding = {
    kernel: { name: ir.name, params: {}, policy: "range", body: () => {}, location: ir.location } as Kernel,
    ir,
    access: analyseAccess(ir),
    policy: range(LENGTH),
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
    scatter: { h: "sorted" },
    cost: () => ({ flops: 1e9, bytes: 1e9 }),
    sizes: () => "any",
    tuning: { from: "default", values: {} },
    call: {} as Binding["call"],
  };
  const program = (device as unknown as { build(binding: Binding): CpuProgram }).build(binding);
  const results = program.run();
  const outputs: Record<string, ArrayLike<number>> = { s: [results.s] };
  for (const name of [...Object.keys(OUTPUTS), "h"]) outputs[name] = await device.queue.read(views[name]);
  program.free();
  for (const view of Object.values(views)) view.free();
  return outputs;
}

/** Runs random kernels on a CPU backend and on js, in strict mode, and compares all bits (one NaN is as good as another). */
export async function agreesWithJs(backend: string, seed: number, numRuns: number): Promise<void> {
  const [js, device] = [(await open("js")) as CpuDevice, (await open(backend)) as CpuDevice];
  try {
    await fc.assert(
      fc.asyncProperty(fc.array(fc.nat(1000), { minLength: 20, maxLength: 400 }), async (choices) => {
        const ir = randomKernel(choices);
        const [expected, actual] = [await outputsOf(js, ir), await outputsOf(device, ir)];
        for (const name of Object.keys(expected))
          for (let n = 0; n < expected[name].length; n++)
            if (!Object.is(actual[name][n], expected[name][n]))
              assert.fail(`${name}[${n}] is ${actual[name][n]} instead of ${expected[name][n]}`);
      }),
      { seed, numRuns },
    );
  } finally {
    await js.close();
    await device.close();
  }
}
