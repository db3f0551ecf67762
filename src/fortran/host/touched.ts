import { derive } from "../../cache/derive.js";
import { analyseAccess, takenRange, withLoops, type Access, type LoopRange } from "../../ir/analysis/access.js";
import { isConstant, rangeOf, split, type Affine, type Interval } from "../../ir/analysis/affine.js";
import { launchRanges } from "../../ir/analysis/contributions.js";
import type { Sizes } from "../../ir/analysis/cost.js";
import { fits } from "../../ir/analysis/intervals.js";
import type { KernelIR } from "../../ir/types.js";

/** Indices of one axis: from `low` to `high`, both included, a `step` apart. */
export interface Indices {
  readonly low: number;
  readonly high: number;
  readonly step: number;
}

/** Elements that one access of a kernel may touch, by the indices of each axis. */
interface TouchedPart {
  readonly view: string;
  readonly kind: Access["kind"];
  readonly axes: readonly Indices[];
  /** Each of the elements is touched, whatever the data are. */
  readonly isCertain: boolean;
}

/** Parts that statements touch one after the other. A loop is one step, as a turn may read what a later one writes. */
type TouchedStep = readonly TouchedPart[];

type Ranges = (atom: string) => Interval | undefined;

/**
 * Elements of arrays that a launch touches, in the order in which an element of the launch does: all of an axis where its index depends on data. Elements of
 * the launch do not read what others write.
 */
export function touchedSteps(ir: KernelIR, launch: Sizes): TouchedStep[] {
  const known = launchRanges(launch);
  const steps: { readonly loop?: LoopRange; readonly parts: TouchedPart[] }[] = [];
  for (const access of derive(ir, analyseAccess).accesses) {
    const [loop] = access.loops;
    const last = steps.at(-1);
    const part = touchedPart(access, launch.views[access.view].shape, known);
    if (loop && last?.loop === loop) last.parts.push(part);
    else steps.push({ loop, parts: [part] });
  }
  return steps.map(({ parts }) => parts);
}

function touchedPart(access: Access, shape: readonly number[], known: Ranges): TouchedPart {
  const { view, kind, loops } = access;
  const ranges = withLoops(loops, known);
  const certain = shape.map((extent, axis) => progression(access, axis, known, extent));
  const axes = shape.map((extent, axis) => certain[axis] ?? hull(access, axis, ranges, extent));
  return { view, kind, axes, isCertain: kind === "write" && !certain.includes(undefined) && areIndependent(access) };
}

/** Indices of an axis that an access certainly takes, each of them; undefined if that depends on data, or they have no common step. */
function progression(access: Access, axis: number, known: Ranges, extent: number): Indices | undefined {
  const taken = takenRange(access, axis, known);
  const form = access.affine[axis];
  if (!taken || !form || taken[0] < 0 || taken[1] >= extent) return undefined;
  const moving = movingAtoms(form);
  if (moving.length > 1) return undefined;
  const step = moving.length === 0 ? 1 : Math.abs(form.terms[moving[0]] * stepOf(access, moving[0]));
  return { low: taken[0], high: taken[1], step };
}

/** Range of the indices that an access may take, within the array. */
function hull({ affine, wraps }: Access, axis: number, ranges: Ranges, extent: number): Indices {
  const form = affine[axis];
  const range = form && rangeOf(form, ranges);
  if (!range || (wraps && !fits(range))) return { low: 0, high: extent - 1, step: 1 };
  return { low: Math.max(0, range[0]), high: Math.min(extent - 1, range[1]), step: 1 };
}

/** Atoms of a form that differ between elements of the launch, or between turns of loops. */
const movingAtoms = (form: Affine): string[] => {
  const [moving] = split(form, (atom) => atom.startsWith("index:") || atom.startsWith("local:"));
  return isConstant(moving) ? [] : Object.keys(moving.terms).filter((atom) => moving.terms[atom] !== 0);
};

const stepOf = ({ loops }: Access, atom: string): number => loops.findLast(({ name }) => atom === `local:${name}`)?.step ?? 1;

/** Whether axes take their indices apart from each other, so that each combination occurs. */
function areIndependent({ affine }: Access): boolean {
  const atoms = affine.flatMap((form) => (form ? movingAtoms(form) : []));
  return new Set(atoms).size === atoms.length;
}
