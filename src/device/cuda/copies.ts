import type { Entry as EntryCode } from "../../emit/c/cuda/program.js";
import { BYTES, stridesOf, type View } from "../view.js";
import type { Handle } from "./driver.js";
import type { Entry, Gpu } from "./gpu.js";
import { blocks, KernelStep, type Step } from "./steps.js";

const TYPES = { 1: "unsigned char", 4: "unsigned int", 8: "unsigned long long" };
const BLOCK = 256;

const signature = ["count", "extent1", "extent2", "extent3"].map((key) => `const long long ${key}`).join(", ");
const strides = (of: string) => [0, 1, 2, 3].map((axis) => `const long long ${of}${axis}`).join(", ");
const offset = (of: string) => [0, 1, 2, 3].map((axis) => `i${axis} * ${of}${axis}`).join(" + ");

/** Copies between strided views of up to 4 axes, by element size. */
export const COPY_SOURCE = Object.entries(TYPES)
  .map(
    ([size, type]) => `
extern "C" __global__ void __launch_bounds__(${BLOCK}) copy_${size}(
  const ${type} *from, ${type} *to, ${signature},
  ${strides("from")},
  ${strides("to")})
{
  const long long n = (long long)blockIdx.x * blockDim.x + threadIdx.x;
  if (n >= count) return;
  const long long i3 = n % extent3, outer = n / extent3;
  const long long i2 = outer % extent2, i1 = outer / extent2 % extent1, i0 = outer / extent2 / extent1;
  to[${offset("to")}] = from[${offset("from")}];
}
`,
  )
  .join("");

function entryOf(size: number): EntryCode {
  const wide = (key: string) => ({ key, type: "i64" as const });
  const axes = [0, 1, 2, 3];
  return {
    name: `copy_${size}`,
    params: [
      { key: "from", type: "pointer" },
      { key: "to", type: "pointer" },
      ...["count", "extent1", "extent2", "extent3", ...axes.map((axis) => `from${axis}`), ...axes.map((axis) => `to${axis}`)].map(wide),
    ],
  };
}

/** The kernels of strided copies, ready on a GPU. */
export function loadCopies(gpu: Gpu): Map<string, Entry> {
  return gpu.load(
    COPY_SOURCE,
    false,
    "copy",
    Object.keys(TYPES).map((size) => entryOf(Number(size)).name),
  );
}

/** Elements of one shape, somewhere in device memory. */
export interface Place {
  address: Handle;
  strides: readonly number[];
}

export const placeOf = (view: View): Place => ({
  address: Number(view.buffer.address) + view.offset * BYTES[view.type],
  strides: view.strides,
});

/** A dense `right` layout at `address`. */
export const densePlace = (address: Handle, shape: readonly number[]): Place => ({ address, strides: stridesOf(shape, "right") });

/** The copy of a view-shaped set of elements of `size` bytes each. */
export function stridedCopy(gpu: Gpu, size: 1 | 4 | 8, shape: readonly number[], from: Place, to: Place): Step {
  const code = entryOf(size);
  const entry = loadCopies(gpu).get(code.name)!;
  const missing = Array<number>(4 - shape.length).fill(0);
  const [, extent1, extent2, extent3] = [...missing.map(() => 1), ...shape];
  const count = shape.reduce((a, b) => a * b, 1);
  const values: Record<string, number> = { from: from.address, to: to.address, count, extent1, extent2, extent3 };
  for (const [name, place] of [
    ["from", from],
    ["to", to],
  ] as const)
    [...missing, ...place.strides].forEach((stride, axis) => (values[`${name}${axis}`] = stride));
  return new KernelStep(gpu.driver, code, entry, { grid: [blocks(count, BLOCK), 1, 1], block: [BLOCK, 1, 1] }, values);
}
