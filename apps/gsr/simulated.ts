import type { Device, LaunchOptions } from "isoform";
import { range } from "isoform";
import type { Progress } from "isoform/portability";
import { constraintRows } from "./constraints.js";
import { FIRST_BLOCK, generateCoefficients, generateIndices, starOfRow } from "./generate.js";
import { publishedRows } from "./published.js";
import type { Shape } from "./shape.js";
import { ASTROMETRIC, ATTITUDE, INSTRUMENT, KNOTS, attitudePass, instrumentLayout, sections, starRows } from "./shape.js";
import type { Observations, RowSource, Window } from "./source.js";
import { turn } from "./turn.js";

/** Generators of the published program's simulated system, whose coefficients are random numbers. */
export const SIMULATED = ["parallel", "published"] as const;
/** `parallel`: made on the device; `published`: the numbers of the published program's simulator, made on the host. */
export type SimulatedName = (typeof SIMULATED)[number];

/** Remedy where a device has too little memory. */
export const SMALLER = "a smaller --gib";

/** Rows of the simulated system of this shape. `seed` is the parallel generator's, a u32. */
export function simulatedRows(shape: Shape, generator: SimulatedName, seed: number): RowSource {
  return {
    shape,
    smaller: SMALLER,
    starRow: starRows(shape),
    constraints: () => ({ ...constraintRows(shape), first: sections(shape).instrument }),
    async write(device, rows, window, options, progress) {
      const { stars, observations } = shape;
      const { each, longer } = { each: Math.floor(observations / stars), longer: observations % stars };
      const first = { first: window.rows[0], firstStar: window.stars[0] };
      await device.run(starOfRow, { ...first, each, longer, star: rows.star }, range(rows.star.length), options);
      if (generator === "published") await copyPublishedRows(device, shape, rows, window, progress);
      else await generateRows(device, shape, rows, window, seed, options);
    },
  };
}

/** Makes the published rows on the host, one after the other from the first on, and copies a window's piece by piece. */
async function copyPublishedRows(
  { queue }: Device,
  shape: Shape,
  to: Observations,
  { rows: [begin, end] }: Window,
  progress?: Progress,
): Promise<void> {
  for (const { first, count, ...rows } of publishedRows(shape)) {
    const [from, upTo] = [Math.max(begin, first), Math.min(end, first + count)];
    if (first >= end) break;
    if (from < upTo) {
      const into = [from - begin, upTo - begin] as const;
      const part = <A extends Float64Array | Int32Array>(values: A, width: number): A =>
        values.subarray((from - first) * width, (upTo - first) * width) as A;
      queue.write(to.astrometric.slice(into), part(rows.astrometric, ASTROMETRIC));
      queue.write(to.attitude.slice(into), part(rows.attitude, ATTITUDE));
      queue.write(to.instrument.slice(into), part(rows.instrument, INSTRUMENT));
      queue.write(to.knot.slice(into), part(rows.knot, 1));
      queue.write(to.column.slice(into), part(rows.column, INSTRUMENT));
      if (to.global) queue.write(to.global.slice(into), part(rows.global!, 1));
    }
    progress?.(first + count, shape.observations, "rows");
    // Lets the bar be drawn and an interrupt be seen.
    await turn();
  }
}

async function generateRows(
  device: Device,
  shape: Shape,
  rows: Observations,
  { rows: [first, end] }: Window,
  seed: number,
  options: LaunchOptions,
): Promise<void> {
  const policy = range(end - first);
  const indices = {
    seed,
    first,
    pass: attitudePass(shape),
    lastKnot: shape.knots - KNOTS,
    lastColumn: instrumentLayout(shape).size - 1,
    knot: rows.knot,
    column: rows.column,
  };
  await device.run(generateIndices, indices, policy, options);
  const sectionsOfRow = [
    { firstBlock: FIRST_BLOCK.astrometric, width: ASTROMETRIC, a: rows.astrometric },
    { firstBlock: FIRST_BLOCK.attitude, width: ATTITUDE, a: rows.attitude },
    { firstBlock: FIRST_BLOCK.instrument, width: INSTRUMENT, a: rows.instrument },
    ...(rows.global ? [{ firstBlock: FIRST_BLOCK.global, width: 1, a: rows.global.reshape(rows.global.length, 1) }] : []),
  ];
  for (const section of sectionsOfRow) await device.run(generateCoefficients, { seed, first, ...section }, policy, options);
}
