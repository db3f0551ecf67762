import type { Device } from "../device/device.js";
import { range, teams } from "../device/policy.js";
import type { View } from "../device/view.js";
import { identityOf } from "../ir/identity.js";
import type { NumericType } from "../ir/types.js";
import { LaunchError } from "../kernel/errors.js";
import { patternOf, type Pattern, type PatternOptions, type Steps } from "./pattern.js";
import { BLOCKS, flagOffsets, scanTiles, TILE, TILE_SHAPE, type ScanOp } from "./scan-kernels.js";

/** Where segments begin: `flags`, one for each element, not 0 where a segment starts; or `offsets`, the segments' first elements in any order. */
export type Segments = { flags: View<"u32", 1>; offsets?: undefined } | { offsets: View<"i32", 1>; flags?: undefined };

export interface Scan<T extends NumericType = NumericType> {
  input: View<T, 1>;
  /** As long as the input, in memory of its own. */
  output: View<T, 1>;
  op: ScanOp;
  /** Element i takes what lies before i, without i itself; the first takes the identity: 0, or the type's greatest or least value. */
  exclusive?: boolean;
  /** Each segment is scanned on its own. */
  segments?: Segments;
}

/**
 * Prepares a prefix sum (least, greatest value so far) of a view. The order of operations depends on the length alone, in fast mode, too, so
 * all devices give the same bits: tiles of 64 blocks of 15 elements; blocks in order, sums of blocks by doubling distances, sums of tiles
 * by the same rule. The input is read twice and the output written once. Throws LaunchError where lengths or types do not fit.
 */
export function scan<T extends NumericType>(device: Device, what: Scan<T>, options: PatternOptions = {}): Pattern {
  const { input, output, op, exclusive = false, segments } = what;
  if (input.length !== output.length || input.type !== output.type)
    throw new LaunchError(`scan of ${input.length} ${input.type} into ${output.length} ${output.type}: lengths and types must be equal`);
  if (segments?.flags && segments.flags.length !== input.length)
    throw new LaunchError(`scan of ${input.length} elements with ${segments.flags.length} flags: give one for each`);
  return patternOf(device, options, (steps) => {
    const flags = segments && (segments.flags ?? flagsAt(steps, segments.offsets, input.length));
    planScan(steps, { input, output, op, exclusive, flags });
  });
}

function flagsAt(steps: Steps, offsets: View<"i32", 1>, count: number): View<"u32", 1> {
  const flags = steps.array("u32", count);
  steps.clear(flags);
  if (count > 0) steps.launch(flagOffsets, { offsets, flags, count }, range(offsets.length));
  return flags;
}

interface Plan<T extends NumericType> extends Omit<Scan<T>, "segments"> {
  flags?: View<"u32", 1>;
}

/** Adds the launches of a scan: sums of tiles, their scan, and the tiles. */
export function planScan<T extends NumericType>(steps: Steps, { input, output, op, exclusive = false, flags }: Plan<T>): void {
  const { type } = input;
  const count = Math.ceil(input.length / TILE);
  const kernel = scanTiles(type, op);
  const policy = teams(count, { size: BLOCKS });
  const noFlags = flags ?? steps.array("u32", 1);
  const none = steps.array(type, 1);
  const common = { input, flags: noFlags, identity: identityOf(op, type), segmented: flags !== undefined, ...TILE_SHAPE };
  let carries = none;
  if (count > 1) {
    const totals = steps.array(type, count);
    const totalFlags = steps.array("u32", flags ? count : 1);
    carries = steps.array(type, count);
    steps.launch(
      kernel,
      { ...common, carries: none, output: none, totals, totalFlags, onlyTotals: true, carried: false, exclusive: false },
      policy,
    );
    planScan(steps, { input: totals, output: carries, op, flags: flags && totalFlags });
  }
  steps.launch(
    kernel,
    { ...common, carries, output, totals: none, totalFlags: noFlags, onlyTotals: false, carried: count > 1, exclusive },
    policy,
  );
}
