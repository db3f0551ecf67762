import type { Args, Device, Kernel, LaunchOptions, Params, Policy, View } from "isoform";
import { f64, range } from "isoform";
import { classUnknowns, OF_CLASS, scaledAttitude, scaledInstrument } from "./factored.js";
import type { Shape } from "./shape.js";
import { AXES, instrumentLayout } from "./shape.js";
import type { Unknowns } from "./system.js";

/** What the sweep over factors of rows reads of v and of the columns' factors. */
export interface FactoredPart {
  /** Factors of the attitude's columns, [knot][axis]. */
  readonly pAtt: View<"f64">;
  /** The instrument's part of v, scaled; and the part of each class, [class][5]. */
  readonly xSmall: View<"f64">;
  readonly xClass: View<"f64">;
  free(): void;
}

/** Classes of rows: axis, field, CCD and interval of time. */
const classesOf = ({ ccds, intervals }: Shape): number => 2 * 2 * ccds * intervals;

/** Memory for a member's part, with the factors of its columns. */
export async function factoredPart(device: Device, shape: Shape, scaling: Unknowns, options: LaunchOptions): Promise<FactoredPart> {
  const ones = device.from(f64, new Float64Array(AXES * shape.knots).fill(1)).reshape(AXES, shape.knots);
  const pAtt = device.array(f64, [shape.knots, AXES]);
  await device.run(scaledAttitude, { x: ones, p: scaling.attitude, y: pAtt }, range(shape.knots), options);
  ones.free();
  const xSmall = device.array(f64, instrumentLayout(shape).size);
  const xClass = device.array(f64, [classesOf(shape), OF_CLASS]);
  return { pAtt, xSmall, xClass, free: () => [pAtt, xSmall, xClass].forEach((array) => array.free()) };
}

/** A launch to be made: `step` of fused.ts. */
type Make<T> = <P extends Params>(kernel: Kernel<P>, args: Args<P>, policy: Policy) => T;

/** Launches that bring v to what the sweep reads. */
export function scaledVector<T>(
  make: Make<T>,
  shape: Shape,
  { xSmall, xClass }: FactoredPart,
  v: Unknowns,
  p: Unknowns,
  attitude: View<"f64">,
): T[] {
  const { largeAlong, largeAcross } = instrumentLayout(shape);
  const { ccds, intervals, knots } = shape;
  return [
    make(scaledAttitude, { x: v.attitude, p: p.attitude, y: attitude }, range(knots)),
    make(scaledInstrument, { x: v.instrument, p: p.instrument, y: xSmall }, range(xSmall.length)),
    make(
      classUnknowns,
      { ccds, intervals, largeAlong: largeAlong[0], largeAcross: largeAcross[0], x: xSmall, y: xClass },
      range(classesOf(shape)),
    ),
  ];
}
