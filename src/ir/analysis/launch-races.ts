import { isIndex } from "../scalars.js";
import { analyseAccess, withLoops, type Access, type AccessAnalysis } from "./access.js";
import { coefficient, equal, atomParts, rangeOf, split, without, type Affine, type Interval } from "./affine.js";
import { conflictOf, policyPin } from "./races.js";
import { indexNames } from "../kernel-text.js";
import type { Expr, KernelIR } from "../types.js";
import { mapExpr, mapStmts } from "../walk.js";

/*
 * The store y[i * n + j] is free of races where the range has at most n indices along j: the code alone does not tell, the launch does.
 * There scalar parameters and extents are numbers, and each index is a linear form of policy indices and loop variables. The elements lie
 * apart if a step of each index goes beyond all that the indices with smaller steps, and the loops, reach together: a mixed radix.
 */

/** Numbers known of a launch over a range. */
interface RangeNumbers {
  readonly begin: readonly number[];
  readonly extents: readonly number[];
  /** The value of an i32 parameter (`param:n`) or of an extent (`extent:x:0`). */
  value(atom: string): number | undefined;
}

/** Why elements of a range may touch one location. */
interface Overlap {
  readonly access: Access;
  /** In words: what the launch would need. */
  readonly reason: string;
}

/** Views of a kernel over a range whose elements are not apart by the code alone, but are in some launches: each launch must prove it. */
export function viewsToProve(ir: KernelIR, access: AccessAnalysis): string[] {
  if (ir.policy.kind !== "range") return [];
  const { rank } = ir.policy;
  const axes = Array.from({ length: rank }, (_, axis) => axis);
  return ir.params.flatMap((param) => {
    if (param.kind !== "view" || param.disjoint || param.teamLength) return [];
    const touched = access.accesses.filter((a) => a.view === param.name);
    if (!touched.some((a) => a.kind === "write") || !axes.some((axis) => conflictOf(touched, policyPin(axis)))) return [];
    const begin = axes.map(() => 0);
    const extents = axes.map(() => 2);
    return ([1, -1] as const).some((step) => !overlapIn(ir, param.name, { begin, extents, value: largeNumbers(step) })) ? [param.name] : [];
  });
}

/** Parameters and extents as numbers that are large and differ, each `step` more than the one before. */
function largeNumbers(step: 1 | -1): (atom: string) => number {
  const given = new Map<string, number>();
  return (atom) => {
    const value = given.get(atom) ?? 1000 + step * given.size;
    given.set(atom, value);
    return value;
  };
}

/** Finds elements of a written view that two elements of this launch may both touch; undefined if all lie apart. */
export function overlapIn(ir: KernelIR, view: string, numbers: RangeNumbers): Overlap | undefined {
  if (numbers.extents.includes(0)) return undefined;
  const touched = analyseAccess(withNumbers(ir, numbers)).accesses.filter((a) => a.view === view);
  const axes = numbers.extents.flatMap((extent, axis) => (extent > 1 ? [axis] : []));
  const open = axes.filter((axis) => conflictOf(touched, policyPin(axis)));
  if (open.length === 0) return undefined;
  let problem: Problem | undefined;
  for (let place = 0; place < touched[0]!.indices.length; place++) {
    const found = mixedRadix(ir, touched, place, open, numbers);
    if (!found) return undefined;
    if (!problem || found.reason) problem = found;
  }
  const { access, reason } = problem!;
  // As it stands in the code, with names for numbers.
  const written = analyseAccess(ir).accesses.filter((a) => a.view === view)[touched.indexOf(access)]!;
  return { access: written, reason: reason ?? "its index does not depend on the range's indices in the same way everywhere" };
}

interface Problem {
  access: Access;
  reason?: string;
}

function mixedRadix(
  ir: KernelIR,
  touched: readonly Access[],
  place: number,
  open: readonly number[],
  numbers: RangeNumbers,
): Problem | undefined {
  const indexRange = (atom: string): Interval | undefined => {
    const [kind, name] = atomParts(atom);
    const axis = Number(name);
    return kind === "index" ? [numbers.begin[axis]!, numbers.begin[axis]! + numbers.extents[axis]! - 1] : undefined;
  };
  const first = touched[0]!.affine[place];
  let shared: Affine | undefined;
  let [low, high] = [Infinity, -Infinity];
  for (const access of touched) {
    const form = access.affine[place];
    if (!form || open.some((axis) => stepOf(form, axis) === 0 || stepOf(form, axis) !== stepOf(first!, axis))) return { access };
    const others = open.reduce((rest, axis) => without(rest, `index:${axis}`), form);
    // Elements that differ in another index of the range are apart by that.
    const [same, rest] = split(others, (atom) => atom.startsWith("index:"));
    const range = rangeOf(rest, withLoops(access.loops, indexRange));
    if (!range || (shared && !equal(same, shared))) return { access };
    [low, high] = [Math.min(low, range[0]), Math.max(high, range[1])];
    shared = same;
  }
  const names = indexNames(ir);
  const steps = open.map((axis) => ({ axis, step: Math.abs(stepOf(first!, axis)) })).sort((a, b) => a.step - b.step);
  let reach = high - low;
  const passed: string[] = [];
  for (const { axis, step } of steps) {
    if (step <= reach) {
      const others = passed.length > 0 ? passed.join(" and ") : "the elements around it";
      return {
        access: touched.find((a) => a.kind === "write")!,
        reason: `a step of ${names[axis]} moves the index by ${step}, but ${others} ${passed.length === 1 ? "reaches" : "reach"} over ${reach + 1}`,
      };
    }
    reach += step * (numbers.extents[axis]! - 1);
    passed.push(names[axis]!);
  }
  // Indices count modulo 2^32.
  return reach < 2 ** 32
    ? undefined
    : { access: touched[0]!, reason: `the indices reach over ${reach + 1} places, more than 32 bits can count` };
}

const stepOf = (form: Affine, axis: number): number => coefficient(form, `index:${axis}`);

/** The kernel with numbers for its integer parameters and extents. */
function withNumbers(ir: KernelIR, { value }: RangeNumbers): KernelIR {
  const expr = (root: Expr): Expr =>
    mapExpr(root, (node) => {
      if (!isIndex(node.type) || (node.op !== "param" && node.op !== "extent")) return node;
      const known = value(node.op === "param" ? `param:${node.name}` : `extent:${node.view}:${node.axis}`);
      return known === undefined ? node : { op: "const", type: "i32", value: known };
    });
  return { ...ir, body: mapStmts(ir.body, { expr }) };
}
