import type { Args, Device, Kernel, LaunchOptions, Params, Policy, View } from "isoform";
import { f64, i32, range } from "isoform";
import { COLOURS, OF_CLASS, classUnknowns, classesOf, ofStar, scaledAttitude, scaledInstrument, scaledStars } from "./factored.js";
import { sidesOf } from "./lists.js";
import type { Shape } from "./shape.js";
import { ASTROMETRIC, AXES, FIELDS, instrumentLayout } from "./shape.js";
import type { Factors } from "./source.js";
import type { Unknowns } from "./system.js";

/** Views of a member that the sweep over factors of rows reads, but for v: factors of columns, and places. */
export interface FactoredColumns {
  /** Sixths of the factors of the attitude's columns, [knot][axis]. */
  readonly pAtt: View<"f64">;
  /** The first unknown of each class's pixel columns. */
  readonly small: View<"i32">;
  free(): void;
}

/** Views of v that the sweep over factors of rows reads. */
export interface FactoredVector {
  /** The stars' part of v, scaled, beside their displacements by magnitude and colour, [star][`ofStar`]. */
  readonly xStar: View<"f64">;
  /** The instrument's part of v, scaled; and the part of each class, [class][5]. */
  readonly xSmall: View<"f64">;
  readonly xClass: View<"f64">;
  free(): void;
}

/** A member's factors of columns. */
export async function factoredColumns(device: Device, shape: Shape, scaling: Unknowns, options: LaunchOptions): Promise<FactoredColumns> {
  const ones = device.from(f64, new Float64Array(AXES * shape.knots).fill(1)).reshape(AXES, shape.knots, 1);
  const pAtt = device.array(f64, [shape.knots, AXES]);
  const args = { x: ones, p: scaling.attitude, y: pAtt.reshape(shape.knots, AXES, 1) };
  await device.run(scaledAttitude(1), args, range(shape.knots), options);
  ones.free();
  const small = device.from(i32, smallOfClasses(shape));
  return { pAtt, small, free: () => [pAtt, small].forEach((array) => array.free()) };
}

/** Memory for a member's v as the sweep reads it. */
export async function factoredVector(device: Device, shape: Shape, { colours }: Factors, sides: number): Promise<FactoredVector> {
  const xStar = device.array(f64, [shape.stars, ofStar(sides)]);
  for (let k = 0; k < COLOURS; k++) device.queue.copy(colours.at(1, k), xStar.at(1, ASTROMETRIC * sides + k));
  await device.queue.finish();
  const xSmall = device.array(f64, [instrumentLayout(shape).size, sides]);
  const xClass = device.array(f64, [classesOf(shape), OF_CLASS, sides]);
  return { xStar, xSmall, xClass, free: () => [xStar, xSmall, xClass].forEach((array) => array.free()) };
}

/** The unknown of the first pixel column of each class's CCD. */
function smallOfClasses(shape: Shape): Int32Array {
  const { ccds, pixels } = shape;
  const { smallAlong, smallAcross } = instrumentLayout(shape);
  return Int32Array.from({ length: classesOf(shape) }, (_, number) => {
    const across = Math.floor(number / (FIELDS * ccds)) % 2 === 1;
    return (across ? smallAcross : smallAlong) + (number % ccds) * pixels;
  });
}

/** A launch to be made: `step` of fused.ts. */
type Make<T> = <P extends Params>(kernel: Kernel<P>, args: Args<P>, policy: Policy) => T;

/** Launches that bring v to what the sweep reads. */
export function scaledVector<T>(
  make: Make<T>,
  shape: Shape,
  { xStar, xSmall, xClass }: FactoredVector,
  v: Unknowns,
  p: Unknowns,
  attitude: View<"f64">,
): T[] {
  const { largeAlong, largeAcross } = instrumentLayout(shape);
  const { ccds, intervals, knots } = shape;
  const sides = sidesOf(attitude);
  const blocks = { ccds, intervals, largeAlong: largeAlong[0], largeAcross: largeAcross[0] };
  return [
    make(scaledStars(sides), { x: v.astrometric, p: p.astrometric, y: xStar }, range(shape.stars, ASTROMETRIC)),
    make(scaledAttitude(sides), { x: v.attitude, p: p.attitude, y: attitude }, range(knots * sides)),
    make(scaledInstrument(sides), { x: v.instrument, p: p.instrument, y: xSmall }, range(xSmall.length)),
    make(classUnknowns(sides), { ...blocks, x: xSmall, y: xClass }, range(intervals, 2, FIELDS * ccds)),
  ];
}
