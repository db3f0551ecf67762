import { WORKGROUP, type Entry } from "../../emit/wgsl/program.js";
import { BYTES, stridesOf, type View } from "../memory/view.js";
import { bufferOf, GpuBuffer, type Gpu } from "./gpu.js";
import { fillFrom } from "../gpu/steps.js";
import { blockOf, groupsFor, linearGrid, planDispatches, type Step } from "./steps.js";

const AXES = [0, 1, 2, 3] as const;

/** What a copy is given: elements, in all and along axes 1 to 3, and on both sides where the first is and the strides. */
interface CopySlot {
  readonly kind: "count" | `extent${1 | 2 | 3}` | `${"from" | "to"}${"At" | 0 | 1 | 2 | 3}`;
}

const FIELDS: readonly CopySlot["kind"][] = [
  "count",
  "extent1",
  "extent2",
  "extent3",
  ...(["from", "to"] as const).flatMap((side) => [`${side}At` as const, ...AXES.map((a) => `${side}${a}` as const)]),
];

/** How an element of so many bytes is copied; a byte shares its word with three that others may write. */
const MOVES: Record<number, (load: (at: string) => string) => string> = {
  1: (load) => `let byte = (${load("old >> 2u")} >> (u32(old & 3) * 8u)) & 255u;
  let shift = u32(place & 3) * 8u;
  atomicAnd(&written[place >> 2u], ~(255u << shift));
  atomicOr(&written[place >> 2u], byte << shift);`,
  4: (load) => `written[place] = ${load("old")};`,
  8: (load) => `written[2 * place] = ${load("2 * old")};
  written[2 * place + 1] = ${load("2 * old + 1")};`,
};

/** Copies between strided views of up to 4 axes, of elements of `size` bytes; inside one buffer the shader sees it once. */
function copyEntry(size: number, inside: boolean): Entry<CopySlot> {
  const atomic = size === 1;
  const load = (at: string) => (!inside ? `origin[${at}]` : atomic ? `atomicLoad(&written[${at}])` : `written[${at}]`);
  const offset = (side: string) => `launch.${side}At + ${AXES.map((a) => `i${a} * launch.${side}${a}`).join(" + ")}`;
  const source = `// A copy of elements of ${size} bytes, written by isoform.
struct Launch { ${FIELDS.map((name) => `${name}: i32,`).join(" ")} }
@group(0) @binding(0) var<uniform> launch: Launch;
@group(0) @binding(1) var<storage, read_write> written: array<${atomic ? "atomic<u32>" : "u32"}>;
${inside ? "" : "@group(0) @binding(2) var<storage, read> origin: array<u32>;"}
@compute @workgroup_size(${WORKGROUP})
fn main(@builtin(local_invocation_index) thread: u32, @builtin(workgroup_id) workgroup: vec3<u32>, @builtin(num_workgroups) workgroups: vec3<u32>) {
  let n = i32((workgroup.y * workgroups.x + workgroup.x) * ${WORKGROUP}u + thread);
  if n >= launch.count { return; }
  let i3 = n % launch.extent3;
  let i2 = (n / launch.extent3) % launch.extent2;
  let i1 = (n / launch.extent3 / launch.extent2) % launch.extent1;
  let i0 = n / launch.extent3 / launch.extent2 / launch.extent1;
  let old = ${offset("from")};
  let place = ${offset("to")};
  ${MOVES[size](load)}
}
`;
  return {
    name: "copy",
    source,
    fields: FIELDS.map((kind) => ({ slot: { kind }, type: "i32" })),
    buffers: [{ group: 0, written: true }, ...(inside ? [] : [{ group: 1, written: false }])],
    workgroup: [WORKGROUP, 1, 1],
    workgroupBytes: 0,
  };
}

/** Elements of one shape, somewhere in a buffer of the device; `offset` and strides count elements. */
export interface StridedBuffer {
  readonly buffer: GpuBuffer;
  readonly offset: number;
  readonly strides: readonly number[];
}

export const stridedBuffer = (gpu: Gpu, view: View): StridedBuffer => ({
  buffer: bufferOf(gpu, view.buffer),
  offset: view.offset,
  strides: view.strides,
});

/** A dense `right` layout that fills a buffer. */
export const denseBuffer = (buffer: GpuBuffer, shape: readonly number[]): StridedBuffer => ({
  buffer,
  offset: 0,
  strides: stridesOf(shape, "right"),
});

/** The copy of a shape of elements of `size` bytes each, and what it holds until it has run. */
export function stridedCopy(
  gpu: Gpu,
  size: number,
  shape: readonly number[],
  from: StridedBuffer,
  to: StridedBuffer,
): { step: Step; uniforms: GPUBuffer } {
  const missing = Array<number>(4 - shape.length).fill(0);
  const [, extent1, extent2, extent3] = [...missing.map(() => 1), ...shape];
  const count = shape.reduce((a, b) => a * b, 1);
  const [from0, from1, from2, from3] = [...missing, ...from.strides];
  const [to0, to1, to2, to3] = [...missing, ...to.strides];
  const at = { fromAt: from.offset, toAt: to.offset };
  const fill = fillFrom<CopySlot["kind"]>({ count, extent1, extent2, extent3, from0, from1, from2, from3, to0, to1, to2, to3, ...at });
  const inside = from.buffer === to.buffer;
  const entry = copyEntry(size, inside);
  const whole = ({ buffer: { handle } }: StridedBuffer) => ({ buffer: handle, offset: 0, size: handle.size });
  const { steps, uniforms } = planDispatches(gpu, { name: "copy", file: "isoform" }, [
    {
      entry,
      grid: linearGrid(groupsFor(count, WORKGROUP)),
      block: blockOf(entry.fields, fill),
      bindings: inside ? [whole(to)] : [whole(to), whole(from)],
    },
  ]);
  return { step: steps[0], uniforms };
}

/** Byte offset and length of a view whose elements fill one range of whole words, or undefined. */
export function contiguousBytes({ type, offset, size, contiguous }: View): { begin: number; bytes: number } | undefined {
  const [begin, bytes] = [offset * BYTES[type], size * BYTES[type]];
  return contiguous && begin % 4 === 0 && bytes % 4 === 0 ? { begin, bytes } : undefined;
}
