import { COPY_AXES, COPY_AXIS_SLOTS, copyAxes, INNER_COPY_AXES, type CopyAxisSlot } from "../../emit/copy-axes.js";
import { WORKGROUP, type ShaderEntry } from "../../emit/wgsl/shader-program.js";
import { BYTES, stridesOf, type View } from "../memory/view.js";
import { bufferOf, GpuBuffer, type Gpu } from "./gpu.js";
import { fillFrom } from "../gpu/steps.js";
import { linearGrid } from "./grids.js";
import { blockOf, groupsFor, DispatchSteps, type EncodedStep } from "./steps.js";

/** Parameters of a copy: elements, in all and along the inner axes, and on both sides the first element and the strides. */
interface CopySlot {
  readonly kind: "count" | "fromAt" | "toAt" | CopyAxisSlot;
}

const FIELDS: readonly CopySlot["kind"][] = ["count", "fromAt", "toAt", ...COPY_AXIS_SLOTS];

/** Moves an element that shares its word with others, which may be written meanwhile. */
const narrow =
  (bytes: 1 | 2) =>
  (load: (at: string) => string): string => {
    const [word, part, mask] = [bytes === 1 ? "2u" : "1u", 4 / bytes - 1, `${2 ** (8 * bytes) - 1}u`];
    return `let element = (${load(`old >> ${word}`)} >> (u32(old & ${part}) * ${8 * bytes}u)) & ${mask};
  let shift = u32(place & ${part}) * ${8 * bytes}u;
  atomicAnd(&written[place >> ${word}], ~(${mask} << shift));
  atomicOr(&written[place >> ${word}], element << shift);`;
  };

/** Code that copies an element of the given number of bytes. */
const MOVES: Record<number, (load: (at: string) => string) => string> = {
  1: narrow(1),
  2: narrow(2),
  4: (load) => `written[place] = ${load("old")};`,
  8: (load) => `written[2 * place] = ${load("2 * old")};
  written[2 * place + 1] = ${load("2 * old + 1")};`,
};

/** Copies between strided views of up to 7 axes, of elements of `size` bytes; inside one buffer the shader sees it once. */
function copyEntry(size: number, inside: boolean): ShaderEntry<CopySlot> {
  const atomic = size < 4;
  const load = (at: string) => (!inside ? `origin[${at}]` : atomic ? `atomicLoad(&written[${at}])` : `written[${at}]`);
  const offset = (side: string) => `launch.${side}At + ${COPY_AXES.map((a) => `i${a} * launch.${side}${a}`).join(" + ")}`;
  const peeled = INNER_COPY_AXES.toReversed().map((a) => `  let i${a} = i0 % launch.extent${a};\n  i0 /= launch.extent${a};`);
  const source = `// A copy of elements of ${size} bytes, written by isoform.
struct Launch { ${FIELDS.map((name) => `${name}: i32,`).join(" ")} }
@group(0) @binding(0) var<uniform> launch: Launch;
@group(0) @binding(1) var<storage, read_write> written: array<${atomic ? "atomic<u32>" : "u32"}>;
${inside ? "" : "@group(0) @binding(2) var<storage, read> origin: array<u32>;"}
@compute @workgroup_size(${WORKGROUP})
fn main(@builtin(local_invocation_index) thread: u32, @builtin(workgroup_id) workgroup: vec3<u32>, @builtin(num_workgroups) workgroups: vec3<u32>) {
  let n = i32((workgroup.y * workgroups.x + workgroup.x) * ${WORKGROUP}u + thread);
  if n >= launch.count { return; }
  var i0 = n;
${peeled.join("\n")}
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
): { step: EncodedStep; dispatches: DispatchSteps } {
  const count = shape.reduce((a, b) => a * b, 1);
  const axes = copyAxes(shape, from.strides, to.strides);
  const fill = fillFrom<CopySlot["kind"]>({ count, fromAt: from.offset, toAt: to.offset, ...axes });
  const inside = from.buffer === to.buffer;
  const entry = copyEntry(size, inside);
  const whole = ({ buffer: { handle } }: StridedBuffer) => ({ buffer: handle, offset: 0, size: handle.size });
  const dispatches = new DispatchSteps(gpu, { name: "copy", file: "isoform" }, [
    {
      entry,
      grid: linearGrid(groupsFor(count, WORKGROUP)),
      block: blockOf(entry.fields, fill),
      bindings: inside ? [whole(to)] : [whole(to), whole(from)],
    },
  ]);
  return { step: dispatches.steps[0], dispatches };
}

/** Byte offset and length of a view whose elements fill one range of whole words, or undefined. */
export function contiguousBytes({ type, offset, size, contiguous }: View): { begin: number; bytes: number } | undefined {
  const [begin, bytes] = [offset * BYTES[type], size * BYTES[type]];
  return contiguous && begin % 4 === 0 && bytes % 4 === 0 ? { begin, bytes } : undefined;
}
