import { affineOf, coefficient, definitionsOf, isConstant, without } from "../../ir/analysis/affine.js";
import { FreshNames } from "../../ir/passes/copy.js";
import type { Expr, KernelIR, Location, ScatterParam, Stmt } from "../../ir/types.js";
import { mapStmts, walkStmts } from "../../ir/walk.js";
import { KernelError } from "../../base/errors.js";
import { index, int } from "../../ir/expressions.js";

/** A value that the particles of a cell add to: component `k` of the cell at an offset [dx, dy, dz]. */
export interface Slot {
  readonly offset: readonly number[];
  readonly k: number;
}

interface CellSums {
  /** Adds nothing to other cells: what it did add is summed up by cell, and stored there, a component for each slot. */
  readonly ir: KernelIR;
  /** By parameter that was added to, in the order of the components that hold the sums. */
  readonly slots: ReadonlyMap<string, readonly Slot[]>;
}

/**
 * Particles of one cell add to the same few values of the cells around it. Here they do so in private sums, in the order of the particles;
 * what neighbouring cells have for each other is added up by a stencil afterwards. So no two cells write one value, and bits depend neither
 * on how many workers there are nor on where partitions are cut.
 *
 * @param ir unrolled, so that the offsets are constant
 * @throws KernelError if an offset or a component is not
 */
export function sumByCell(ir: KernelIR): CellSums {
  const targets = ir.params.filter((param): param is ScatterParam => param.kind === "scatter");
  const slots = new Map<string, Slot[]>(targets.map(({ name }) => [name, slotsOf(ir, name)]));
  const names = new FreshNames(ir);
  const arrays = new Map(targets.map(({ name }) => [name, names.fresh(`${name}_here`)]));
  const axes = ir.policy.kind === "range" ? ir.policy.rank : 0;
  const { location } = ir;

  const slotOf = slotsIn(ir);
  const stmt = (s: Stmt): Stmt => {
    if (s.kind !== "scatter") return s;
    const array = arrays.get(s.target)!;
    const n = slots.get(s.target)!.findIndex((slot) => keyOf(slot) === keyOf(slotOf(s.target, s.indices, s.location)));
    const index = int(n);
    const before: Expr = { op: "element", type: s.value.type as "f64", array, index };
    return {
      kind: "setElement",
      array,
      index,
      value: { op: "binary", type: s.value.type, fn: "add", a: before, b: s.value },
      location: s.location,
    };
  };
  const declared = targets.map(({ name, element: type }): Stmt => ({
    kind: "array",
    name: arrays.get(name)!,
    type,
    length: slots.get(name)!.length,
    space: "private",
    location,
  }));
  const here = Array.from({ length: axes }, (_, axis) => index(axis));
  const stored = targets.flatMap(({ name, element: type }) =>
    slots.get(name)!.map((_, n): Stmt => {
      const value: Expr = { op: "element", type, array: arrays.get(name)!, index: int(n) };
      return { kind: "store", view: name, indices: [...here, int(n)], value, location };
    }),
  );
  const params = ir.params.map((param) =>
    param.kind === "scatter"
      ? ({ kind: "view", name: param.name, element: param.element, rank: axes + 1, disjoint: false } as const)
      : param,
  );
  return { ir: { ...ir, params, body: [...declared, ...mapStmts(ir.body, { stmt }), ...stored] }, slots };
}

/** Distinct places that are added to, cell by cell. */
function slotsOf(ir: KernelIR, target: string): Slot[] {
  const found = new Map<string, Slot>();
  const slotOf = slotsIn(ir);
  walkStmts(ir.body, (stmt) => {
    if (stmt.kind !== "scatter" || stmt.target !== target) return;
    const slot = slotOf(target, stmt.indices, stmt.location);
    found.set(keyOf(slot), slot);
  });
  return [...found.values()].sort((a, b) => a.offset.reduceRight((order, d, axis) => order || d - b.offset[axis], 0) || a.k - b.k);
}

const keyOf = ({ offset, k }: Slot): string => [...offset, k].join();

/** Reads the place off the indices [z + dz][y + dy][x + dx][k]. */
function slotsIn(ir: KernelIR): (target: string, indices: readonly Expr[], location: Location) => Slot {
  const definitions = definitionsOf(ir.body);
  return (target, indices, location) => {
    const constantOf = (index: Expr, axis?: number): number => {
      const form = affineOf(index, definitions);
      const own = form && axis !== undefined && coefficient(form, `index:${axis}`) === 1;
      const rest = own ? without(form, `index:${axis}`) : form;
      if (rest && isConstant(rest)) return rest.constant;
      throw new KernelError(
        ir.name,
        location,
        `the ${axis === undefined ? "component" : "offset"} at which particles add to ${target} is not constant`,
        "write numbers, or count in a loop with constant bounds; where it depends on the particle, add 0 to the places that it does not reach",
      );
    };
    const offset = indices.slice(0, -1).map((index, axis) => constantOf(index, axis));
    return { offset: offset.reverse(), k: constantOf(indices.at(-1)!) };
  };
}
