import { unreachable } from "../../base/unreachable.js";
import { partialCount } from "../../ir/launch.js";
import { BYTES, ELEMENTS, type FloatType } from "../../ir/scalars.js";
import { walkExprs } from "../../ir/walk.js";
import type { KernelIR, ReduceParam, ScalarParam, ViewParam, ScatterParam } from "../../ir/types.js";
import { EmitError } from "../../base/errors.js";
import { foldsJointly } from "../../ir/joint.js";
import { hasAtomicArrays } from "../../ir/atomic.js";
import { NO_PRINT, prints } from "../../ir/print-records.js";
import { Code } from "../c/code.js";
import { ARRAY } from "../js/arrays.js";
import { numberText, powiText, ROUNDED } from "../js/expr.js";
import { listing } from "../wasm/listing.js";
import { emitWasm, type WasmKernel } from "../wasm/module.js";
import { FOLD_PARTIALS, foldFunction, NO_JOINT_FOLDS } from "./js-folds.js";
import { slotText, type WasmSlot } from "../../schedule/slots.js";
import type { EmitRequest, EmittedFile } from "./request.js";
import { commentText, keyText, originText, stringText } from "../text.js";

const PAGE = 65536;
const MOST_BYTES = 2 ** 32;

/** WebAssembly text for the sizes of one launch, on one thread and in strict mode's order, and a host in JavaScript. */
export function emitWatFiles(request: EmitRequest): EmittedFile[] {
  const { ir, stem, sizes } = request;
  if (foldsJointly(ir)) throw new EmitError(ir.name, "WebAssembly", ...NO_JOINT_FOLDS);
  if (prints(ir.body)) throw new EmitError(ir.name, "WebAssembly", ...NO_PRINT);
  const scatters = ir.params.filter((p) => p.kind === "scatter");
  const kernel = emitWasm({
    ir,
    policy: sizes.policy,
    precision: "strict",
    views: Object.fromEntries(arraysOf(request).map(({ name, element }) => [name, { element, ...sizes.views[name] }])),
    scatter: Object.fromEntries(scatters.map(({ name }) => [name, "sorted"])),
    disjointMemory: true,
    relaxed: false,
    shared: false,
    wide: false,
  });
  const head = [
    `;; ${originText(ir)} as WebAssembly, for ${describeSizes(request)}.`,
    `;; wat2wasm ${hasAtomicArrays(ir) ? "--enable-threads " : ""}${stem}.wat -o ${stem}.wasm`,
    ";; $run takes the address of the argument block, the number of a worker and the number of workers:",
    ...kernel.slots.map(({ slot, offset }) => `;;   byte ${String(offset).padEnd(4)} ${commentText(slotText(slot))}`),
  ];
  return [
    { name: `${stem}.wat`, text: `${head.join("\n")}\n${listing(kernel.bytes)}` },
    { name: `${stem}.host.mjs`, text: host(request, kernel) },
  ];
}

const arraysOf = ({ ir }: EmitRequest): (ViewParam | ScatterParam)[] => ir.params.filter((p) => p.kind === "view" || p.kind === "scatter");

function describeSizes(request: EmitRequest): string {
  const { policy, views } = request.sizes;
  const range =
    policy.kind === "team"
      ? `${policy.league} teams`
      : policy.begin.map((begin, axis) => `${begin}..${begin + policy.extents[axis]}`).join(" x ");
  const arrays = arraysOf(request).map(({ name }) => `${commentText(name)} [${views[name].shape.join(", ")}]`);
  return [range, ...arrays].join(", ");
}

/** Types whose whole powers the kernel takes. */
function powersOf(ir: KernelIR): Set<FloatType> {
  const types = new Set<FloatType>();
  walkExprs(ir.body, (e) => {
    if (e.op === "call" && e.fn === "powi") types.add(e.type as FloatType);
  });
  return types;
}

/** Layout of the module's memory. */
class Layout {
  end = 64;
  reserve(bytes: number): number {
    const at = this.end;
    this.end += Math.ceil(bytes / 64) * 64;
    return at;
  }
}

/** Places everything that the module works on, and tells the sizes that it was compiled for. */
function host(request: EmitRequest, kernel: WasmKernel): string {
  const { ir, stem, sizes } = request;
  const layout = new Layout();
  const scalars = ir.params.filter((p): p is ScalarParam => p.kind === "scalar");
  const reductions = ir.params.filter((p): p is ReduceParam => p.kind === "reduce");
  const args = layout.reserve(8 * kernel.slots.length);
  const [scratch, tables] = [layout.reserve(kernel.scratchBytes), layout.reserve(kernel.tableBytes.length)];
  const units = partialCount(sizes.policy);
  const partials = new Map(reductions.map(({ name, type }) => [name, layout.reserve(units * BYTES[type])]));
  const views = new Map<string, number>();
  const arrays = arraysOf(request).map(({ name, element }) => {
    const { shape, strides } = sizes.views[name];
    const length = shape.includes(0) ? 0 : shape.reduce((sum, extent, axis) => sum + (extent - 1) * strides[axis], 1);
    const address = layout.reserve(length * BYTES[element]);
    views.set(name, address);
    return `${keyText(name)}: new ${ARRAY[element]}(memory.buffer, ${address}, ${length}),`;
  });
  if (layout.end >= MOST_BYTES)
    throw new EmitError(
      ir.name,
      "wat",
      `its arrays take ${(layout.end / 2 ** 30).toFixed(1)} GiB, more than a WebAssembly memory holds`,
      "give a smaller --size",
    );
  const code = new Code();
  code.line(`// Loads kernel "${commentText(ir.name)}", assembled from ${stem}.wat, for ${describeSizes(request)}.`);
  if (reductions.length > 0) code.line().text(FOLD_PARTIALS);
  code.line();
  code.line("/*");
  code.line(
    ` * Instantiates the bytes of ${stem}.wasm. Gives { arrays, launch }: the typed arrays in its memory, by name, and the function that runs it`,
  );
  code.line(
    ` * on them${scalars.length > 0 ? `, with { ${scalars.map(({ name }) => commentText(name)).join(", ")} }` : ""}${reductions.length > 0 ? `, and returns { ${reductions.map(({ name }) => commentText(name)).join(", ")} }` : ""}.`,
  );
  code.line(" */");
  code.block(`export async function ${stem}_load(wasm)`, () => {
    code.line(`const memory = new WebAssembly.Memory({ initial: ${Math.ceil(layout.end / PAGE)}, maximum: 65536 });`);
    code.line("const math = { fmod: (a, b) => a % b, exp2: (a) => 2 ** a };");
    for (const type of powersOf(ir)) code.text(`math.powi_${type} = ${powiText(ROUNDED[type])};`);
    code.line("const { instance } = await WebAssembly.instantiate(wasm, { env: { memory }, Math, math });");
    code.line(`const block = new DataView(memory.buffer, ${args});`);
    for (const { slot, offset } of [...kernel.slots].sort((a, b) => ORDER[a.slot.kind] - ORDER[b.slot.kind])) {
      const filled = filledBefore(slot, { scratch, scratchStride: kernel.scratchBytes, tables, partials, views });
      if (filled) code.line(`block.setUint32(${offset}, ${filled.value}, true);  // ${commentText(filled.note)}`);
    }
    if (kernel.tableBytes.length > 0) code.line(`new Uint8Array(memory.buffer, ${tables}).set([${kernel.tableBytes.join(", ")}]);`);
    code.block("const arrays =", () => arrays.forEach((line) => code.line(line)), ";");
    code.block(
      `const launch = (${scalars.length > 0 ? "scalars" : ""}) =>`,
      () => {
        for (const { name, type } of scalars)
          code.line(
            `block.${type === "bool" ? "setInt32" : ELEMENTS[type].set}(${kernel.slots.find(({ slot }) => slot.kind === "scalar" && slot.name === name)!.offset}, ${type === "bool" ? "+" : ""}scalars[${stringText(name)}], true);`,
          );
        code.line(`instance.exports.run(${args}, 0, 1);`);
        const results = reductions.map((r) => {
          const array = `new ${ARRAY[r.type]}(memory.buffer, ${partials.get(r.name)}, ${units})`;
          return `${keyText(r.name)}: $foldPartials(${array}, ${foldFunction(r)}, ${numberText(r.identity)})`;
        });
        if (results.length > 0) code.line(`return { ${results.join(", ")} };`);
      },
      ";",
    );
    code.line("return { arrays, launch };");
  });
  return code.toString();
}

/** The order in which the host fills the argument block. */
const ORDER: Record<WasmSlot["kind"], number> = {
  scratch: 0,
  tables: 1,
  partials: 2,
  view: 3,
  scratchStride: 4,
  copies: 5,
  copyStride: 5,
  caches: 5,
  scalar: 5,
  begin: 5,
  count: 5,
  units: 5,
  batch: 5,
};

/** Value of an entry of the argument block before a launch, and a note for the reader; undefined if each launch fills it. */
function filledBefore(
  slot: WasmSlot,
  memory: Readonly<Record<"scratch" | "scratchStride" | "tables", number> & Record<"partials" | "views", ReadonlyMap<string, number>>>,
): { value: number; note: string } | undefined {
  switch (slot.kind) {
    case "scratch":
    case "tables":
      return { value: memory[slot.kind], note: slotText(slot) };
    case "scratchStride":
      return { value: memory.scratchStride, note: "bytes of a worker's scratch memory" };
    case "partials":
      return { value: memory.partials.get(slot.name)!, note: slotText(slot) };
    case "view":
      return { value: memory.views.get(slot.name)!, note: slotText(slot) };
    case "scalar":
      return undefined;
    case "copies":
    case "copyStride":
    case "caches":
      throw new Error(`one thread has no ${slotText(slot)}`);
    case "begin":
    case "count":
    case "units":
    case "batch":
      throw new Error(`a module for one range has no ${slotText(slot)}`);
    default:
      return unreachable(slot);
  }
}
