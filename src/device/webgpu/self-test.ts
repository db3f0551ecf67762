import { WgslHelpers } from "../../emit/wgsl/helpers.js";
import { WORKGROUP, type ShaderEntry } from "../../emit/wgsl/shader-program.js";
import { DeviceError } from "../../base/errors.js";
import type { Gpu } from "./gpu.js";
import { fillFrom } from "../gpu/steps.js";
import { blockOf, DispatchSteps } from "./steps.js";

/** Pairs that the identities are tested with. */
const PAIRS = 2048;

interface SelfTestSlot {
  readonly kind: "zero" | "one";
}

/** Writes for each pair the sum with its error, and the product with its error. */
function selfTestEntry(fma: boolean): ShaderEntry<SelfTestSlot> {
  const helpers = new WgslHelpers({ fma });
  const [sum, product] = (["exact_sum", "exact_product"] as const).map((name) => helpers.use(name));
  const source = `// The identities on which emulated f64 rests, written by isoform.
struct Launch { zero: u32, one: f32 }
@group(0) @binding(0) var<uniform> launch: Launch;
@group(0) @binding(1) var<storage, read> pairs: array<vec2<f32>>;
@group(0) @binding(2) var<storage, read_write> results: array<vec4<f32>>;
${helpers}
@compute @workgroup_size(${WORKGROUP})
fn main(@builtin(global_invocation_id) invocation: vec3<u32>) {
  let pair = pairs[invocation.x];
  results[invocation.x] = vec4<f32>(${sum}(pair.x, pair.y), ${product}(pair.x, pair.y));
}
`;
  return {
    name: "self_test",
    source,
    fields: [
      { slot: { kind: "zero" }, type: "u32" },
      { slot: { kind: "one" }, type: "f32" },
    ],
    buffers: [
      { group: 0, written: false },
      { group: 1, written: true },
    ],
    workgroup: [WORKGROUP, 1, 1],
    workgroupBytes: 0,
  };
}

/** Crafted values, and others of all magnitudes within 2^12 of each other, so that sums and products are exact in f64. */
function testPairs(): Float32Array<ArrayBuffer> {
  const crafted = [1, 2 ** -24, 1 + 2 ** -23, -1, 16777215, 0.1, -1 / 3, 1 - 2 ** -24];
  const pairs = crafted.flatMap((a) => crafted.flatMap((b) => [a, b]));
  for (let n = pairs.length, x = 1; n < 2 * PAIRS; n++) {
    x = (Math.imul(x, 1664525) + 1013904223) >>> 0;
    pairs.push((x / 2 ** 31 - 1) * 2 ** ((x >>> 3) % 12));
  }
  return new Float32Array(pairs);
}

/**
 * Finds how sums and products of f32 come with their exact errors, by an `fma` that rounds once or without, and notes it. Throws DeviceError if
 * they do not: where the driver's compiler contracts or regroups in spite of all that keeps it from doing so, emulated f64 would have the bits of f32.
 */
export async function requireExactErrors(gpu: Gpu): Promise<void> {
  if ((await wrongPair(gpu, true)) === undefined) {
    gpu.exactFma = true;
    return;
  }
  const wrong = await wrongPair(gpu, false);
  if (wrong === undefined) return;
  gpu.close();
  throw new DeviceError(
    gpu.name,
    `its compiler breaks the arithmetic on which emulated f64 rests: ${wrong}`,
    "open it without f64, update the driver, or use another backend",
  );
}

/** Describes what is wrong with the arithmetic on this device, if anything. */
async function wrongPair(gpu: Gpu, fma: boolean): Promise<string | undefined> {
  const pairs = testPairs();
  const [input, output] = [gpu.allocate(8 * PAIRS), gpu.allocate(16 * PAIRS)];
  gpu.commands.write(input.handle, 0, pairs);
  const entry = selfTestEntry(fma);
  const dispatches = new DispatchSteps(gpu, { name: "self-test", file: "isoform" }, [
    {
      entry,
      grid: [PAIRS / WORKGROUP, 1, 1],
      block: blockOf(entry.fields, fillFrom({ zero: 0, one: 1 })),
      bindings: [input, output].map(({ handle }) => ({ buffer: handle, offset: 0, size: handle.size })),
    },
  ]);
  for (const step of dispatches.steps) step.encode(gpu.commands);
  const results = new Float32Array(await gpu.read(output.handle, 0, 16 * PAIRS));
  dispatches.free();
  input.free();
  output.free();
  return firstWrong(pairs, results);
}

/** The first pair whose sum or product is not rounded, or whose error is not exact, in words. */
export function firstWrong(pairs: ArrayLike<number>, results: ArrayLike<number>): string | undefined {
  for (let n = 0; 2 * n < pairs.length; n++) {
    const [a, b] = [pairs[2 * n], pairs[2 * n + 1]];
    const exact = [a + b, a * b];
    for (const [k, sign] of ["+", "*"].entries()) {
      const [value, error] = [results[4 * n + 2 * k], results[4 * n + 2 * k + 1]];
      if (value !== Math.fround(exact[k]) || value + error !== exact[k]) return `${a} ${sign} ${b} gave ${value} with the error ${error}`;
    }
  }
  return undefined;
}
