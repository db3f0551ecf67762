import type { Args, Device, PrefixScan } from "../device/device.js";
import { range, teams } from "../device/launch/policy.js";
import { CPU_MEMORY, View } from "../device/memory/view.js";
import { identityOf } from "../ir/identity.js";
import { isFloat } from "../ir/scalars.js";
import type { NumberType, ScatterOp } from "../ir/types.js";
import { LaunchError } from "../base/errors.js";
import { requireOptions } from "../base/own.js";
import { kernel } from "../kernel/declare/kernel.js";
import { i32, scatter, u32, view } from "../kernel/declare/params.js";
import { makePattern, requireSeparate, requireView, type Pattern, type PatternOptions, type PatternSteps } from "./pattern.js";
import { scanTilesByTeams } from "./scan-by-teams.js";
import { scanLongTilesInOrder, scanTilesInOrder } from "./scan-in-order.js";
import { BLOCKS, TILE, TILE_SHAPE, TOKENS, type tileParams } from "./scan-shape.js";

/** Operation of a scan. */
export type ScanOp = ScatterOp;

/** Starts of segments: `flags`, one for each element, not 0 where a segment starts; or `offsets`, the segments' first elements in any order. */
export type Segments = { flags: View<"u32", 1>; offsets?: undefined } | { offsets: View<"i32", 1>; flags?: undefined };

/** Arguments of `scan`. */
export interface Scan<T extends NumberType = NumberType> {
  input: View<T, 1>;
  /** As long as the input, in memory of its own. */
  output: View<T, 1>;
  op: ScanOp;
  /** Element i takes what lies before i, without i itself; the first takes the identity: 0, or the type's greatest or least value. */
  exclusive?: boolean;
  /** Each segment is scanned on its own. */
  segments?: Segments;
  /** One element, in memory of its own: takes the fold of all elements, which an inclusive scan has last; the identity if there are none. Not with segments. */
  total?: View<T, 1>;
}

/**
 * Prepares a prefix sum (least, greatest value so far) of a view. The order of operations depends on the length alone, in fast mode, too, so
 * all devices give the same bits: tiles of 64 blocks of 15 elements; blocks in order, sums of blocks by doubling distances, sums of tiles
 * by the same rule. Where no order gives other bits, a thread of a CPU has one tile in order. The input is read twice and the output written once. Throws LaunchError where lengths or types do not fit,
 * and where the output shares memory with another view.
 */
export function scan<T extends NumberType>(device: Device, what: Scan<T>, options: PatternOptions = {}): Pattern {
  requireOptions("scan", what, ["input", "output", "op", "exclusive", "segments", "total"]);
  const { input, output, op, exclusive = false, segments, total } = what;
  if (op !== "sum" && op !== "min" && op !== "max")
    throw new LaunchError(`scan has no operation "${String(op)}"; use "sum", "min" or "max"`);
  if (input instanceof View && !Object.hasOwn(TOKENS, input.type))
    throw new LaunchError(`scan of ${input.type}; give a view of f64, f32, i32 or u32`);
  requireView("scan, for its input,", input);
  requireView("scan, for its output,", output);
  if (input.length !== output.length || input.type !== output.type)
    throw new LaunchError(`scan of ${input.length} ${input.type} into ${output.length} ${output.type}: lengths and types must be equal`);
  if (segments !== undefined) requireSegments(segments);
  if (segments?.flags && segments.flags.length !== input.length)
    throw new LaunchError(`scan of ${input.length} elements with ${segments.flags.length} flags: give one for each`);
  if (total !== undefined) requireTotal(what);
  const read = [
    ["input", input],
    ["flags", segments?.flags],
    ["offsets", segments?.offsets],
  ] as const;
  const written = [
    ["output", output],
    ["total", total],
  ] as const;
  requireSeparate("scan", written, read);
  return makePattern(device, options, (steps) => {
    const flags = segments && (segments.flags ?? flagsAt(steps, segments.offsets, input.length));
    planScan(steps, { input, output, op, exclusive, flags, total });
  });
}

function requireSegments(segments: Segments): void {
  requireOptions("scan, for segments,", segments, ["flags", "offsets"]);
  const { flags, offsets } = segments;
  if ((flags === undefined) === (offsets === undefined))
    throw new LaunchError(
      `scan is given segments with ${flags ? "flags and offsets: give one" : "neither flags nor offsets: give one"} of them`,
    );
  if (flags) requireView("scan, for flags,", flags);
  else requireView("scan, for offsets,", offsets);
}

function requireTotal<T extends NumberType>({ input, segments, total }: Scan<T>): void {
  requireView("scan, for its total,", total);
  if (segments)
    throw new LaunchError("scan with segments has no total: each segment has its own, in its last element of an inclusive scan");
  if (total!.length !== 1 || total!.type !== input.type)
    throw new LaunchError(`scan of ${input.type} with ${total!.length} ${total!.type} for its total: give a view of one ${input.type}`);
}

/** Sets the flag of each segment's first element; segments that begin past the end have none. */
const flagOffsets = kernel(
  "flagOffsets",
  { offsets: view(i32), flags: scatter(u32, 1, "max"), count: i32 },
  ({ offsets, flags, count }, k) => {
    if (offsets[k] < count) flags.max(offsets[k], 1);
  },
);

const clearFlags = kernel("clearFlags", { flags: view(u32) }, ({ flags }, i) => {
  flags[i] = 0;
});

function flagsAt(steps: PatternSteps, offsets: View<"i32", 1>, count: number): View<"u32", 1> {
  const flags = steps.array("u32", count);
  steps.launch(clearFlags, { flags }, range(count));
  if (count > 0) steps.launch(flagOffsets, { offsets, flags, count }, range(offsets.length), { given: true });
  return flags;
}

const fill = (type: NumberType) =>
  kernel("fill", { target: view(TOKENS[type]), value: TOKENS[type] }, ({ target, value }, i) => {
    target[i] = value;
  });
const fills = { f64: fill("f64"), f32: fill("f32"), i32: fill("i32"), u32: fill("u32") };

interface Plan<T extends NumberType> extends Omit<Scan<T>, "segments"> {
  flags?: View<"u32", 1>;
}

/** Adds the device's own scan of whole numbers; false where it has none, or not for such views. */
function planByDevice<T extends NumberType>(steps: PatternSteps, { input, output, op, exclusive = false, flags, total }: Plan<T>): boolean {
  const { prefixScan } = steps.device;
  const inRows = input.strides[0] === 1 && output.strides[0] === 1;
  const whole = input.type === "i32" || input.type === "u32";
  if (!prefixScan || flags || input.length <= TILE || !inRows || !whole) return false;
  const scan = { input, output, op, exclusive, total } as PrefixScan;
  steps.add(prefixScan(scan, scanTilesByTeams(input.type, op)));
  return true;
}

/** Adds the launches of a scan: sums of tiles, their scan, and the tiles. */
export function planScan<T extends NumberType>(steps: PatternSteps, plan: Plan<T>): void {
  if (planByDevice(steps, plan)) return;
  const { input, output, op, exclusive = false, flags, total } = plan;
  const { type } = input;
  if (total && input.length === 0) steps.launch(fills[type], { target: total, value: identityOf(op, type) }, range(1));
  const inOrder = steps.device.memory === CPU_MEMORY;
  // A tile for each thread has the same bits where the order does not matter.
  const long = inOrder && (op !== "sum" || !isFloat(type));
  const shape = long ? { BLOCK: Math.max(TILE, Math.ceil(input.length / steps.device.capabilities.parallelism)), BLOCKS: 1 } : TILE_SHAPE;
  const tiles = Math.ceil(input.length / (shape.BLOCK * shape.BLOCKS));
  const none = steps.array(type, 1);
  const noFlags = steps.array("u32", 1);
  const common = { input, flags: flags ?? noFlags, identity: identityOf(op, type), segmented: flags !== undefined, ...shape };
  const launchTiles = (mode: Omit<Args<ReturnType<typeof tileParams>>, keyof typeof common>) =>
    inOrder
      ? steps.launch((long ? scanLongTilesInOrder : scanTilesInOrder)(type, op), { ...common, ...mode }, range(tiles), { ordered: true })
      : steps.launch(scanTilesByTeams(type, op), { ...common, ...mode }, teams(tiles, { size: BLOCKS }));
  let carries = none;
  if (tiles > 1) {
    const totals = steps.array(type, tiles);
    const totalFlags = flags ? steps.array("u32", tiles) : undefined;
    carries = steps.array(type, tiles);
    launchTiles({
      carries: none,
      output: none,
      totals,
      totalFlags: totalFlags ?? noFlags,
      onlyTotals: true,
      carried: false,
      exclusive: false,
      keepsTotal: false,
    });
    planScan(steps, { input: totals, output: carries, op, flags: totalFlags });
  }
  const tail = { totals: total ?? none, totalFlags: noFlags, keepsTotal: total !== undefined };
  launchTiles({ carries, output, ...tail, onlyTotals: false, carried: tiles > 1, exclusive });
}
