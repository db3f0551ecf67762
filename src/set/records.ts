import { BlockedView } from "../device/memory/blocked-view.js";
import type { Device, ElementToken } from "../device/device.js";
import { CPU_MEMORY, View } from "../device/memory/view.js";
import type { ElementType } from "../ir/types.js";
import { describe } from "../base/describe.js";
import { LaunchError } from "../base/errors.js";
import { requireThing } from "../base/own.js";

/** A component of a record: one number, or a vector of several. */
export type Component = ElementToken<ElementType> | readonly [type: ElementToken<ElementType>, count: number];
/** The components of a record, by name. */
export type Components = Readonly<Record<string, Component>>;

/** Blocks of a number of records, component after component in each: see `aosoa`. */
export interface BlockLayout {
  readonly block: number;
}
/**
 * `soa`: each component has an array of its own; `aos`: the components of a record lie side by side; `auto`: as the device prefers; or
 * blocks.
 */
export type RecordLayout = "soa" | "aos" | "auto" | BlockLayout;

/** Arrays of structures of arrays: blocks of `block` records, a power of two, each with one component after the other. */
export const aosoa = (block: number): BlockLayout => ({ block });

type Windows<T extends ElementType, R extends 1 | 2, L> = L extends BlockLayout ? BlockedView<T, R> : View<T, R>;
/** Views of records for kernels: of rank 1, of rank 2 ([record][component]) for vectors. */
export type RecordViews<C extends Components, L extends RecordLayout> = {
  readonly [K in keyof C]: C[K] extends readonly [ElementToken<infer T>, number]
    ? Windows<T, 2, L>
    : C[K] extends ElementToken<infer T>
      ? Windows<T, 1, L>
      : never;
};

/** Records on one device. */
export interface Records<C extends Components = Components, L extends RecordLayout = RecordLayout> {
  readonly length: number;
  /** Layout that was chosen, for `auto` too. */
  readonly layout: Exclude<RecordLayout, "auto">;
  readonly views: RecordViews<C, L>;
  free(): void;
}

/** Records at whose multiples planes of SoA begin, so that planes of any type begin at cache lines. */
const ALIGNED = 64;

/**
 * New zeroed records, one buffer for each element type that they have. Kernels are the same for all layouts.
 *
 * `soa` has an array for each component; `aos` one record after the other; `aosoa(n)` blocks of n records. `auto` is `soa`, which neighbouring
 * threads of a GPU and SIMD registers load in one piece, and `aos` on CPU devices without SIMD: there a record is contiguous in memory.
 *
 * @param length number of records
 * @param components `{ x: f64, v: [f64, 3] }`
 * @throws LaunchError for invalid components, length or layout; DeviceError if they do not fit
 */
export function records<const C extends Components, const L extends RecordLayout = "auto">(
  device: Device,
  length: number,
  components: C,
  options: { layout?: L } = {},
): Records<C, L> {
  if (!Number.isInteger(length) || length < 0)
    throw new LaunchError(`${typeof length === "number" ? length : describe(length)} records: give a whole number, 0 or more`);
  requireThing("records", device, typeof (device as Partial<Device> | undefined)?.array === "function", "give the device first");
  requireThing(
    "records",
    components,
    typeof components === "object" && components !== null,
    "give components after the length, such as { x: f64, v: [f64, 3] }",
  );
  const layout = chosen(device, options.layout ?? "auto");
  const fields = Object.entries(components).map(([name, component]) => fieldOf(name, component));
  const block = layout === "aos" ? 1 : layout === "soa" ? Math.max(1, Math.ceil(length / ALIGNED)) * ALIGNED : layout.block;
  const storages: View[] = [];
  const views: Record<string, View | BlockedView> = {};
  for (const type of new Set(fields.map((field) => field.type))) {
    const own = fields.filter((field) => field.type === type);
    const count = own.reduce((sum, field) => sum + (field.count ?? 1), 0);
    const storage = device.array({ type }, [Math.ceil(length / block), count, block]);
    storages.push(storage);
    let first = 0;
    for (const { name, count = 1, count: vector } of own) {
      const planes = storage.slice(undefined, [first, first + count]);
      first += count;
      const window = vector === undefined ? planes.at(1, 0) : planes;
      views[name] = typeof layout === "object" ? new BlockedView(window, length) : plain(window, length);
    }
  }
  return { length, layout, views: views as RecordViews<C, L>, free: () => storages.forEach((storage) => storage.free()) };
}

/** The records of storage [blocks][block] or [blocks][components][block] whose blocks are one in number, or of one record each. */
function plain({ buffer, type, shape, strides, offset, rank }: View, length: number): View {
  const vector = rank === 3;
  const stride = shape[rank - 1] === 1 ? strides[0] : strides[rank - 1];
  return new View(buffer, type, vector ? [length, shape[1]] : [length], vector ? [stride, strides[1]] : [stride], offset);
}

function chosen(device: Device, layout: RecordLayout): Exclude<RecordLayout, "auto"> {
  if (layout === "auto") return device.memory === CPU_MEMORY && device.capabilities.simdBytes === 0 ? "aos" : "soa";
  if (layout === "soa" || layout === "aos") return layout;
  if (typeof layout !== "object") throw new LaunchError(`records have no layout ${String(layout)}: use soa, aos, auto or aosoa(n)`);
  const { block } = layout;
  if (!Number.isInteger(block) || block < 2 || block > 1 << 20 || (block & (block - 1)) !== 0)
    throw new LaunchError(`records in blocks of ${block}: give aosoa a power of two from 2 to ${1 << 20}`);
  return layout;
}

interface Field {
  readonly name: string;
  readonly type: ElementType;
  /** Number of components of a vector. */
  readonly count?: number;
}

function fieldOf(name: string, component: Component): Field {
  if ("type" in component) return { name, type: component.type };
  const [{ type }, count] = component;
  if (!Number.isInteger(count) || count < 1) throw new LaunchError(`component "${name}" of records has ${count} numbers: give 1 or more`);
  return { name, type, count };
}
