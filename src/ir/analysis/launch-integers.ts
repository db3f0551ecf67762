import type { KernelIR } from "../types.js";
import { walkExprs } from "../walk.js";
import type { Interval } from "./affine.js";
import { FULL } from "./intervals.js";
import { sizesOf, type KnownIntegers } from "./integer-ranges.js";

/*
 * Launches of a kernel often differ in their range and their integers alone. Where nothing wraps in a wide range of these, nothing does in a part of
 * it: the walk through the code is made once.
 */

/** Ranges of a kernel's indices, parameters and extents, by their places in `atoms`. */
type Box = readonly (Interval | undefined)[];

interface Settled {
  readonly atoms: readonly string[];
  /** A box in which all is settled; absent where a wide one is not. */
  box?: Box;
  /** Whether a wide box was found not to be settled. */
  tried: boolean;
}

const kernels = new WeakMap<KernelIR, Settled>();

/**
 * How much is known of the integers of a launch.
 * @param known ranges of policy indices (`index:0`), parameters and extents (see `Affine`)
 */
export function integersOfLaunch(ir: KernelIR, known: (atom: string) => Interval | undefined): KnownIntegers {
  let settled = kernels.get(ir);
  if (!settled) kernels.set(ir, (settled = { atoms: atomsOf(ir), tried: false }));
  const { atoms, box } = settled;
  if (box && atoms.every((atom, n) => contains(box[n], known(atom)))) return "settled";
  if (!settled.tried) {
    const wide = atoms.map((atom) => widened(known(atom)));
    const places = new Map(atoms.map((atom, n) => [atom, wide[n]]));
    if (sizesIn(ir, (atom) => places.get(atom)) === "settled") {
      settled.box = wide;
      return "settled";
    }
    settled.tried = true;
  }
  return sizesIn(ir, known);
}

const sizesIn = (ir: KernelIR, known: (atom: string) => Interval | undefined): KnownIntegers =>
  sizesOf(ir, (leaf) => {
    if (leaf.op === "index") return known(`index:${leaf.axis}`);
    if (leaf.op === "param") return known(`param:${leaf.name}`);
    return leaf.op === "extent" ? known(`extent:${leaf.view}:${leaf.axis}`) : undefined;
  });

/** Names of all indices, parameters and extents that `sizesOf` asks for. */
function atomsOf(ir: KernelIR): string[] {
  const atoms = new Set<string>();
  walkExprs(ir.body, (e) => {
    if (e.op === "index") atoms.add(`index:${e.axis}`);
    else if (e.op === "param") atoms.add(`param:${e.name}`);
  });
  for (const param of ir.params)
    if (param.kind === "view" || param.kind === "scatter")
      for (let axis = 0; axis < param.rank; axis++) atoms.add(`extent:${param.name}:${axis}`);
  return [...atoms];
}

/** Nothing known contains nothing known alone. */
function contains(outer: Interval | undefined, inner: Interval | undefined): boolean {
  if (!outer || !inner) return outer === inner;
  return outer[0] <= inner[0] && inner[1] <= outer[1];
}

/** From 0 or minus a power of two to below another, so that few ranges are asked for. */
function widened(range: Interval | undefined): Interval | undefined {
  if (!range) return undefined;
  const beyond = (value: number): number => (value < 1 ? 0 : 2 ** Math.ceil(Math.log2(value + 1)));
  const [low, high] = range;
  return [Math.max(FULL[0], Math.min(0, low, -beyond(-low))), Math.min(FULL[1], Math.max(high, beyond(high) - 1))];
}
