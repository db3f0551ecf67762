import { valueType } from "../../ir/scalars.js";
import { range } from "../../device/launch/policy.js";
import { View } from "../../device/memory/view.js";
import type { NumberElement, NumberType } from "../../ir/types.js";
import { kernel, type Kernel } from "../../kernel/declare/kernel.js";
import { elementToken, view, type Params, type ScalarToken } from "../../kernel/declare/params.js";
import { u8 } from "../../kernel/declare/storage.js";
import type { LocalMember } from "../../set/index.js";

/** The kernels that fill views of one element type, all elements or those with a mask. */
function fillKernels(type: NumberElement): { all: Kernel; masked: Kernel } {
  const value: ScalarToken<NumberType> = { kind: "scalar", type: valueType(type) };
  const element = elementToken(type);
  const all = kernel("fill", { value, target: view(element, 4) }, ({ value, target }, k, z, y, x) => {
    target[k][z][y][x] = value;
  });
  const masked = kernel("fill active", { value, target: view(element, 4), mask: view(u8, 3) }, ({ value, target, mask }, k, z, y, x) => {
    if (mask[z][y][x] !== 0) target[k][z][y][x] = value;
  });
  return { all, masked };
}
const kernels = new Map<NumberElement, { all: Kernel; masked: Kernel }>();

/**
 * Enqueues the filling of a view, of rank 4 or less, in stream 0 of the member that has it.
 * @param mask of the shape of `target` less its first axis: only elements where it is not 0 are set; `target` must have rank 4
 */
export function fillView(member: LocalMember, target: View, value: number, mask?: View): void {
  if (target.size === 0) return;
  const missing = 4 - target.rank;
  const shape = [...Array<number>(missing).fill(1), ...target.shape];
  const strides = [...Array<number>(missing).fill(0), ...target.strides];
  const all = new View(target.buffer, target.type, shape, strides, target.offset);
  const type = target.type as NumberElement;
  const known = kernels.get(type) ?? fillKernels(type);
  kernels.set(type, known);
  const args: Record<string, unknown> = mask ? { value, target: all, mask } : { value, target: all };
  const launch = member.device.prepare<Params>(mask ? known.masked : known.all, args, range(...shape));
  member.queue(0).submit(launch);
  launch.free();
}
