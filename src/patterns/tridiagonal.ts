import type { Device } from "../device/device.js";
import { range } from "../device/launch/policy.js";
import { CPU_MEMORY, View } from "../device/memory/view.js";
import { LaunchError } from "../base/errors.js";
import { requireOptions, requireThing } from "../base/own.js";
import { makePattern, requireSeparate, requireView, type Pattern, type PatternOptions, type PatternSteps } from "./pattern.js";
import {
  closeCycle,
  copyUnknowns,
  lookForZeroPivots,
  openCycle,
  packRows,
  reduceRows,
  solveRows,
  type SystemType,
} from "./tridiagonal-kernels.js";

/** Arguments of `tridiagonal`: row i of a system is a_i x_(i-1) + b_i x_i + c_i x_(i+1) = d_i. */
export interface Tridiagonal<T extends SystemType = SystemType> {
  /** Lower coefficients; the first of a system is not read. Of the right sides' shape, or of rank 1 for all systems. */
  a: View<T>;
  /** Middle coefficients; the same. */
  b: View<T>;
  /** Upper coefficients; the same, and the last of a system counts for nothing. */
  c: View<T>;
  /** Right sides, of rank 1 to 3. */
  d: View<T>;
  /** Takes the unknowns; of the same shape, in memory of its own. Default: d takes them */
  x?: View<T>;
  /** The axis along which a system lies; the others are batches. Default: the last one */
  axis?: number;
  /** The first coefficient of a goes to the last unknown, and the last one of c to the first: three unknowns at least. */
  periodic?: boolean;
  /** `elimination`: a system an element. `reduction`: a few long systems become many short ones first. Default: by the sizes, and in fast mode by the device */
  method?: "elimination" | "reduction";
}

/** Systems that keep a GPU busy. */
const MANY = 4096;
/** Rows of a system that is not divided, and of the parts of one that is. */
const SHORT = 64;
const SHORTEST_PART = 4;

type Systems = View<SystemType, 3>;
interface Rows {
  readonly a: Systems;
  readonly b: Systems;
  readonly c: Systems;
  readonly d: Systems;
  readonly x: Systems;
}

/**
 * Prepares the solution of tridiagonal systems of f64 or f32, without exchange of rows: by elimination (Thomas), one system an element, or for less than 4096 systems
 * of more than 64 rows by steps of parallel cyclic reduction first, until there are as many parts. In strict mode the sizes alone decide, so all
 * devices give the same bits; in fast mode CPUs eliminate. A pivot of 0 leaves Infinity or NaN in its system, and is a KernelError where launches
 * are checked (docs/checked.md), as in strict mode. Throws LaunchError where shapes or types do not fit, and where a view that is written shares memory with
 * another one.
 */
export function tridiagonal<T extends SystemType>(device: Device, what: Tridiagonal<T>, options: PatternOptions = {}): Pattern {
  requireOptions("tridiagonal", what, ["a", "b", "c", "d", "x", "axis", "periodic", "method"]);
  const { d, x = d, periodic = false, method } = what;
  const axis = axisOf(what);
  const inPlace = x === d;
  requireThing("tridiagonal, for periodic,", periodic, typeof periodic === "boolean", "give true or false");
  if (method !== undefined && method !== "elimination" && method !== "reduction")
    throw new LaunchError(`tridiagonal has no method "${String(method)}"; use "elimination" or "reduction"`);
  const coefficients = { a: what.a, b: what.b, c: what.c };
  for (const [name, view] of Object.entries({ ...coefficients, x })) requireFitting(name, view, d, axis);
  if (x.rank !== d.rank) throw new LaunchError(`tridiagonal: x has the shape [${x.shape}] and d [${d.shape}]: give the same`);
  requireSeparate("tridiagonal", [[inPlace ? "d" : "x", x]], Object.entries({ ...coefficients, ...(!inPlace && { d }) }));
  if (periodic && d.shape[axis] < 3)
    throw new LaunchError(`tridiagonal: a periodic system of ${d.shape[axis]} unknowns: give 3 at least, or solve it by hand`);
  return makePattern(device, options, (steps) => {
    if (d.size === 0) return;
    const [a, b, c, right, unknowns] = [what.a, what.b, what.c, d, x].map((view) => systemsOf(view, d, axis));
    const rows = { a, b, c, d: right, x: unknowns };
    const parts = method === "elimination" ? 1 : partsOf(steps, rows.x, method === "reduction");
    if (periodic) planPeriodic(steps, rows, parts);
    else planSystems(steps, rows, parts, inPlace);
    if (steps.checked) planCheck(steps, parts > 1 ? unknowns : unknowns.slice(undefined, undefined, [0, 1]));
  });
}

/** Throws LaunchError for right sides and an axis that do not fit. */
function axisOf({ d, axis = d?.rank - 1 }: Tridiagonal): number {
  requireView("tridiagonal, for d,", d);
  if (d.rank > 3 || (d.type !== "f64" && d.type !== "f32"))
    throw new LaunchError(`tridiagonal: d is ${d.type} of rank ${d.rank}: give f64 or f32 of rank 1 to 3`);
  if (!Number.isInteger(axis) || axis < 0 || axis >= d.rank)
    throw new LaunchError(`tridiagonal along axis ${axis} of rank ${d.rank}: give 0 to ${d.rank - 1}`);
  return axis;
}

/** Throws LaunchError. */
function requireFitting(name: string, view: View, d: View, axis: number): void {
  requireView(`tridiagonal, for ${name},`, view);
  const forAll = view.rank === 1 && view.length === d.shape[axis];
  if (view.type !== d.type || !(forAll || String(view.shape) === String(d.shape)))
    throw new LaunchError(
      `tridiagonal: ${name} is ${view.type} [${view.shape}], and d ${d.type} [${d.shape}] with systems along axis ${axis}: give ${d.type} [${d.shape}], or [${d.shape[axis]}] for all systems`,
    );
}

/** The view as [batches, batches, rows]; batches whose right sides lie side by side vary fastest. */
function systemsOf(view: View<SystemType>, d: View, axis: number): Systems {
  const batches = d.shape.map((_, k) => k).filter((k) => k !== axis);
  batches.sort((k, l) => Math.abs(d.strides[l]) - Math.abs(d.strides[k]));
  const forAll = view.rank === 1 && d.rank > 1;
  const shape = [...batches.map((k) => d.shape[k]), d.shape[axis]];
  const strides = forAll ? [...batches.map(() => 0), view.strides[0]] : [...batches.map((k) => view.strides[k]), view.strides[axis]];
  const missing = Array<number>(3 - d.rank);
  return new View(view.buffer, view.type, [...missing.fill(1), ...shape], [...missing.fill(0), ...strides], view.offset) as Systems;
}

/** Parts into which each system is divided: a power of two. */
function partsOf(steps: PatternSteps, { shape: [outer, inner, n] }: Systems, asked: boolean): number {
  if (!asked && (n <= SHORT || (steps.precision !== "strict" && steps.device.memory === CPU_MEMORY))) return 1;
  let parts = 1;
  while (outer * inner * parts < MANY && n >= 2 * parts * SHORTEST_PART) parts *= 2;
  return parts;
}

/** Temporary memory for the rows of all systems, where neighbouring systems lie side by side. */
function temporary(steps: PatternSteps, { shape: [outer, inner, n], type }: Systems): Systems {
  const { buffer, offset } = steps.array(type, outer * inner * n);
  return new View(buffer, type, [outer, inner, n], [inner * n, 1, inner], offset) as Systems;
}

/** Adds the launches that solve systems, with the right sides in x if `inPlace`. */
function planSystems(steps: PatternSteps, rows: Rows, parts: number, inPlace: boolean): void {
  if (parts > 1) return planReduction(steps, rows, parts);
  const { x } = rows;
  const [outer, inner] = x.shape;
  const none = new View(rows.b.buffer, x.type, [1, 1, 1], [0, 0, 0], rows.b.offset) as Systems;
  const args = { ...rows, d: inPlace ? none : rows.d, ratio: temporary(steps, x), inPlace };
  steps.launch(solveRows[x.type], args as never, range(outer, inner));
}

function planReduction(steps: PatternSteps, { x, ...given }: Rows, parts: number): void {
  const { type } = x;
  const [outer, inner, n] = x.shape;
  const padded = Math.ceil(n / parts) * parts;
  const size = outer * inner * padded;
  const spaces = [0, 1].map(() => steps.array(type, 4 * size).reshape(4, outer, inner, padded) as View<SystemType, 4>);
  const all = range(outer, inner, padded);
  steps.launch(packRows[type], { ...given, rows: spaces[0], n } as never, all);
  let at = 0;
  for (let distance = 1; distance < parts; distance *= 2, at = 1 - at)
    steps.launch(reduceRows[type], { rows: spaces[at], next: spaces[1 - at], distance } as never, all);
  // Each part has the rows at equal distances: as batches, parts vary fastest.
  const part = (whole: Systems): Systems =>
    new View(whole.buffer, type, [outer * inner, parts, padded / parts], [padded, 1, parts], whole.offset) as Systems;
  const [a, b, c, d] = [0, 1, 2, 3].map((k) => part(spaces[at].at(0, k) as Systems));
  const found = steps.array(type, size).reshape(outer, inner, padded) as Systems;
  planSystems(steps, { a, b, c, d, x: part(found) }, 1, false);
  steps.launch(copyUnknowns[type], { from: found.slice(undefined, undefined, [0, n]), x } as never, range(outer, inner, n));
}

function planPeriodic(steps: PatternSteps, rows: Rows, parts: number): void {
  const { a, b, c, d, x } = rows;
  const [middle, u, y, q] = [0, 1, 2, 3].map(() => temporary(steps, x));
  const all = range(x.shape[0], x.shape[1], x.shape[2]);
  steps.launch(openCycle[x.type], { a, b, c, middle, u } as never, all);
  planSystems(steps, { a, b: middle, c, d, x: y }, parts, false);
  planSystems(steps, { a, b: middle, c, d: u, x: q }, parts, false);
  steps.launch(closeCycle[x.type], { a, b, y, q, x } as never, all);
}

/** Adds a launch that fails where a pivot was 0: elimination then leaves no finite first unknown, and reduction some unknown that is not finite. */
function planCheck(steps: PatternSteps, x: Systems): void {
  const [outer, inner, n] = x.shape;
  const found = steps.array("i32", x.size).reshape(outer, inner, n) as View<"i32", 3>;
  steps.launch(lookForZeroPivots[x.type], { x, systemsWithoutZeroPivot: steps.array("i32", 1), found } as never, range(outer, inner, n), {
    given: true,
  });
}
