import { SORT_BITS } from "../emit/c/gpu/sort.js";
import { isSigned } from "../ir/scalars.js";
import type { Device } from "../device/device.js";
import { range, teams, type TeamPolicy } from "../device/launch/policy.js";
import { CPU_MEMORY, View } from "../device/memory/view.js";
import { LaunchError } from "../base/errors.js";
import { requireOptions } from "../base/own.js";
import { makePattern, requireSeparate, requireView, type Pattern, type PatternOptions, type PatternSteps } from "./pattern.js";
import { planScan } from "./scan.js";
import { copyKeys, countDigits, findOffsets, lookForWideKeys, moveKeys } from "./sort-kernels.js";
import { countTile, moveTile, TILE_ARGUMENTS, TILE_BITS } from "./sort-tiles.js";

/** Arguments of `sortByKey`. */
export interface SortByKey {
  keys: View<"u32", 1> | View<"i32", 1>;
  /** Takes for each place of the sorted order the index of the key that belongs there. */
  permutation: View<"i32", 1>;
  /**
   * The keys are from 0 to 2^bits - 1, or any i32 for 32 bits without `offsets`; fewer bits need fewer passes. Other keys are a KernelError where
   * launches are checked (docs/checked.md), and elsewhere are sorted by their lowest bits alone. Default: as many as `offsets` need, or 32 without them.
   */
  bits?: number;
  /**
   * View with one element more than the keys have values: offsets[k] takes the place of the first key k or, if there is none, of the next
   * greater. A key that equals the number of values (of things that are in no cell, say) goes after all others.
   */
  offsets?: View<"i32", 1>;
  /** Takes the keys in their order; of their type and number. */
  sorted?: View<"u32", 1> | View<"i32", 1>;
}

/** Arguments that the kernels of a pass have in common, of all shapes. */
interface PassArguments {
  keys: View<"u32", 1>;
  flip: number;
  shift: number;
  count: View<"i32", 1>;
  some: boolean;
}
type CountArguments = PassArguments & { counts: View<"i32", 2> };
interface MoveArguments extends PassArguments {
  order: View<"i32", 1>;
  starts: View<"i32", 2>;
  movedKeys: View<"u32", 1>;
  movedOrder: View<"i32", 1>;
  first: boolean;
  keep: boolean;
}

/** How keys are shared out: members of a team, keys of each, bits that a pass sorts by, and its kernels. */
interface Shape {
  readonly members: number;
  readonly each: number;
  readonly bits: number;
  count(steps: PatternSteps, type: "i32" | "u32", args: CountArguments, policy: TeamPolicy): void;
  move(steps: PatternSteps, type: "i32" | "u32", args: MoveArguments, policy: TeamPolicy): void;
}

const PIECE = { members: 1, each: 8192, bits: 8 };
/** A team of a CPU is one worker, which sorts long pieces in few passes. */
const CPU_SHAPE: Shape = {
  ...PIECE,
  count: (steps, type, args, policy) => steps.launch(countDigits[type], { ...args, ...PIECE }, policy),
  move: (steps, type, args, policy) => steps.launch(moveKeys[type], { ...args, ...PIECE }, policy),
};

/** A team of a GPU has many members, and little memory. */
const GPU_SHAPE: Shape = {
  ...TILE_ARGUMENTS,
  bits: TILE_BITS,
  count: (steps, type, args, policy) => steps.launch(countTile[type], { ...args, ...TILE_ARGUMENTS }, policy),
  move: (steps, type, args, policy) => steps.launch(moveTile[type], { ...args, ...TILE_ARGUMENTS }, policy),
};

/**
 * Prepares a stable sort by key: a radix sort from the lowest digit up (a counting sort where one digit is enough). Each pass counts
 * digits by tile, scans the counts, and moves each key to its place; equal keys keep their order, so that all devices give the same
 * permutation. Throws LaunchError where lengths or bits do not fit, and where views share memory.
 */
export function sortByKey(device: Device, what: SortByKey, options: PatternOptions = {}): Pattern {
  requireOptions("sortByKey", what, ["keys", "permutation", "bits", "offsets", "sorted"]);
  const { keys, permutation, offsets, sorted } = what;
  requireView("sortByKey, for its keys,", keys);
  requireView("sortByKey, for its permutation,", permutation);
  if (offsets !== undefined) requireView("sortByKey, for its offsets,", offsets);
  if (sorted !== undefined) requireView("sortByKey, for its sorted keys,", sorted);
  const bits = what.bits ?? (offsets ? Math.max(1, Math.ceil(Math.log2(offsets.length))) : 32);
  if (permutation.length !== keys.length)
    throw new LaunchError(`sort of ${keys.length} keys with a permutation of ${permutation.length}: give a view of ${keys.length} i32`);
  if (sorted && (sorted.length !== keys.length || sorted.type !== keys.type))
    throw new LaunchError(
      `sort of ${keys.length} ${keys.type} into ${sorted.length} ${sorted.type}: give a view of ${keys.length} ${keys.type} for the sorted keys`,
    );
  if (!Number.isInteger(bits) || bits < 1 || bits > 32) throw new LaunchError(`sort by ${bits} bits of the keys: give 1 to 32`);
  if (offsets && (offsets.length < 1 || offsets.length > 2 ** bits))
    throw new LaunchError(`sort by ${bits} bits of the keys with ${offsets.length} offsets: ${bits} bits have 1 to ${2 ** bits}`);
  requireSeparate(
    "sortByKey",
    [
      ["permutation", permutation],
      ["offsets", offsets],
      ["sorted", sorted],
    ],
    [["keys", keys]],
  );
  return makePattern(device, options, (steps) => {
    if (steps.checked) planCheck(steps, keys, offsets && isSigned(keys.type) ? Math.min(bits, 31) : bits);
    const sort = { keys, permutation, offsets, bits };
    const flip = flipOf(sort);
    const target = sorted && (flip === 0 ? asU32(sorted) : steps.array("u32", keys.length));
    planSort(steps, { ...sort, sorted: target });
    if (sorted && flip !== 0) steps.launch(copyKeys.u32, { keys: target!, copied: asU32(sorted), flip }, range(keys.length));
  });
}

/** The same memory as unsigned numbers. */
export const asU32 = ({ buffer, shape, strides, offset }: View<"u32" | "i32", 1>): View<"u32", 1> =>
  new View(buffer, "u32", shape, strides, offset) as View<"u32", 1>;

/** Adds a launch that fails where a key has more bits, which no pass would see. */
function planCheck(steps: PatternSteps, keys: SortByKey["keys"], bits: number): void {
  if (bits === 32) return;
  const shift = Math.max(0, bits - MOST_COMPARED);
  const { buffer, type } = steps.array("i32", 1);
  const keysOfBits = new View(buffer, type, [2 ** (bits - shift)], [0]);
  const args = { keys: keys as View<"u32", 1>, keysOfBits, shift };
  steps.launch(lookForWideKeys[keys.type], args, range(keys.length), { given: true });
}

/** Options of a sort inside other patterns. */
interface PlannedSort extends Omit<SortByKey, "sorted"> {
  bits: number;
  /** One element: how many keys there are, from the first on. */
  count?: View<"i32", 1>;
  /** Takes the keys in their order. */
  sorted?: View<"u32", 1>;
}

/** Leading bits of a key that the check of its size compares. */
const MOST_COMPARED = 24;

/** Adds the launches of a sort. */
export function planSort(steps: PatternSteps, sort: PlannedSort): void {
  const { offsets, count } = sort;
  const sorted = planByDevice(steps, sort) ?? planByKernels(steps, sort);
  const counted = { count: count ?? steps.array("i32", 1), some: count !== undefined };
  if (offsets) steps.launch(findOffsets, { sorted, offsets, ...counted }, range(offsets.length));
}

/** Bit of the sign in the keys of a sort that tells signed ones apart. */
const flipOf = ({ keys, bits, offsets }: Omit<PlannedSort, "sorted">): number =>
  isSigned(keys.type) && bits === 32 && !offsets ? 0x80000000 : 0;

/** Places for the passes, which write to two in turn, the last one to the permutation. Gives the place of a pass. */
function places(steps: PatternSteps, { keys, permutation, offsets, sorted }: PlannedSort, passes: number) {
  const count = keys.length;
  const spare = passes > 1 ? { order: steps.array("i32", count), moved: steps.array("u32", count) } : undefined;
  const keeps = passes > 2 || offsets !== undefined;
  const final = { order: permutation, moved: sorted ?? (keeps ? steps.array("u32", count) : steps.array("u32", 1)) };
  return (pass: number) => ((passes - pass) % 2 === 1 ? final : spare!);
}

/** Whether the keys in their order are wanted. */
const keepsKeys = ({ offsets, sorted }: PlannedSort): boolean => offsets !== undefined || sorted !== undefined;

/** The sort by passes of the device's own; gives the sorted keys, and undefined if the device has none, or not for such views. */
function planByDevice(steps: PatternSteps, sort: PlannedSort): View<"u32", 1> | undefined {
  const { device } = steps;
  const { keys, permutation, bits, count, sorted } = sort;
  if (!device.digitSort || count || keys.length === 0 || permutation.strides[0] !== 1 || (sorted?.strides[0] ?? 1) !== 1) return undefined;
  const passes = Math.ceil(bits / SORT_BITS);
  const placeOf = places(steps, sort, passes);
  const flip = flipOf(sort);
  const asTheyAre = flip === 0 && keys.strides[0] === 1;
  const moved = asTheyAre ? asU32(keys) : steps.array("u32", keys.length);
  if (!asTheyAre) steps.launch(copyKeys[keys.type], { keys: keys as View<"u32", 1>, copied: moved, flip }, range(keys.length));
  let from: { order?: View<"i32", 1>; moved: View<"u32", 1> } = { moved };
  for (let pass = 0; pass < passes; pass++) {
    const to = placeOf(pass);
    const sortedKeys = pass < passes - 1 || keepsKeys(sort) ? to.moved : undefined;
    const digit = { keys: from.moved, order: from.order, shift: pass * SORT_BITS, sortedKeys, sortedOrder: to.order };
    steps.add(device.digitSort(digit, moveTile.u32));
    from = to;
  }
  return from.moved;
}

/** The sort by kernels, which run on every device; gives the sorted keys. */
function planByKernels(steps: PatternSteps, sort: PlannedSort): View<"u32", 1> {
  const { keys, bits, count: some } = sort;
  const shape = steps.device.memory === CPU_MEMORY ? CPU_SHAPE : GPU_SHAPE;
  const tiles = Math.ceil(keys.length / (shape.members * shape.each));
  const passes = Math.ceil(bits / shape.bits);
  const digits = 1 << shape.bits;
  const [counts, starts] = [steps.array("i32", tiles * digits), steps.array("i32", tiles * digits)];
  const placeOf = places(steps, sort, passes);
  const counted = { count: some ?? steps.array("i32", 1), some: some !== undefined };
  // Nothing reads the order before the first pass.
  let from = { order: steps.array("i32", 1), moved: keys as View<"u32", 1> };
  for (let pass = 0; pass < passes; pass++) {
    const first = pass === 0;
    const to = placeOf(pass);
    const type = first ? keys.type : "u32";
    const common = { keys: from.moved, flip: first ? flipOf(sort) : 0, shift: pass * shape.bits, ...counted };
    const policy = teams(tiles, { size: shape.members });
    shape.count(steps, type, { ...common, counts: counts.reshape(digits, tiles) }, policy);
    planScan(steps, { input: counts, output: starts, op: "sum", exclusive: true });
    const keep = pass < passes - 1 || keepsKeys(sort);
    const moves = { order: from.order, starts: starts.reshape(digits, tiles), movedKeys: to.moved, movedOrder: to.order, first, keep };
    shape.move(steps, type, { ...common, ...moves }, policy);
    from = to;
  }
  return from.moved;
}
