import { copyAxes } from "../../emit/copy-axes.js";
import { COPIED_SIZES, COPY_BLOCK, copyEntry, type CopiedSize, type CopySlot } from "../../emit/c/gpu/copy.js";
import { BYTES, stridesOf, type View } from "../memory/view.js";
import type { GpuEntry, GpuMachine } from "./machine.js";
import { blocks, fillFrom, type StreamStep } from "./steps.js";

/** The kernels of strided copies, ready on a GPU. */
export function loadCopies(gpu: GpuMachine): ReadonlyMap<string, GpuEntry> {
  return gpu.load(
    gpu.language.copies,
    false,
    "copy",
    COPIED_SIZES.map((size) => copyEntry(size).name),
  );
}

/** Elements of one shape, somewhere in device memory. */
interface StridedMemory {
  address: number;
  strides: readonly number[];
}

export const stridedMemory = (view: View): StridedMemory => ({
  address: Number(view.buffer.address) + view.offset * BYTES[view.type],
  strides: view.strides,
});

/** A dense `right` layout at `address`. */
export const denseMemory = (address: number, shape: readonly number[]): StridedMemory => ({ address, strides: stridesOf(shape, "right") });

/** The copy of a view-shaped set of elements of `size` bytes each. */
export function stridedCopy(
  gpu: GpuMachine,
  size: CopiedSize,
  shape: readonly number[],
  from: StridedMemory,
  to: StridedMemory,
): StreamStep {
  const code = copyEntry(size);
  const entry = loadCopies(gpu).get(code.name)!;
  const count = shape.reduce((a, b) => a * b, 1);
  const values = { from: from.address, to: to.address, count, ...copyAxes(shape, from.strides, to.strides) };
  return gpu.kernelStep(
    code,
    entry,
    { grid: [blocks(count, COPY_BLOCK), 1, 1], block: [COPY_BLOCK, 1, 1] },
    fillFrom<CopySlot["kind"]>(values),
  );
}
