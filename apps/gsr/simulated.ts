import type { Device, LaunchOptions } from "isoform";
import { range } from "isoform";
import type { Progress } from "isoform/portability";
import { constraintRows } from "./constraints.js";
import { FIRST_BLOCK, generateCoefficients, generateIndices, starOfRow } from "./generate.js";
import { publishedRows } from "./published.js";
import type { Shape } from "./shape.js";
import { ASTROMETRIC, ATTITUDE, INSTRUMENT, KNOTS, attitudePass, instrumentLayout, sections, starRows } from "./shape.js";
import type { Observations, RowSource } from "./source.js";
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
    async write(device, rows, options, progress) {
      const { stars, observations } = shape;
      const sizes = { each: Math.floor(observations / stars), longer: observations % stars };
      await device.run(starOfRow, { ...sizes, star: rows.star }, range(observations), options);
      if (generator === "published") await copyPublishedRows(device, shape, rows, progress);
      else await generateRows(device, shape, rows, seed, options);
    },
  };
}

/** Makes the published rows on the host and copies them piece by piece. */
async function copyPublishedRows({ queue }: Device, shape: Shape, to: Observations, progress?: Progress): Promise<void> {
  for (const { first, count, ...rows } of publishedRows(shape)) {
    const window = [first, first + count] as const;
    queue.write(to.astrometric.slice(window), rows.astrometric.subarray(0, count * ASTROMETRIC));
    queue.write(to.attitude.slice(window), rows.attitude.subarray(0, count * ATTITUDE));
    queue.write(to.instrument.slice(window), rows.instrument.subarray(0, count * INSTRUMENT));
    queue.write(to.knot.slice(window), rows.knot.subarray(0, count));
    queue.write(to.column.slice(window), rows.column.subarray(0, count * INSTRUMENT));
    progress?.(first + count, shape.observations, "rows");
    // Lets the bar be drawn and an interrupt be seen.
    await turn();
  }
}

async function generateRows(device: Device, shape: Shape, rows: Observations, seed: number, options: LaunchOptions): Promise<void> {
  const policy = range(shape.observations);
  const indices = {
    seed,
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
  ];
  for (const section of sectionsOfRow) await device.run(generateCoefficients, { seed, ...section }, policy, options);
}
