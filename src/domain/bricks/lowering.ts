import { loadInt } from "../../ir/by-name.js";
import type { Expr, KernelIR } from "../../ir/types.js";
import { substituteCells } from "../container/cell-code.js";
import type { Offset } from "../grid/parts.js";
import { StorageKernel, type ContainerPlan, type FieldPlan } from "../container/storage-kernel.js";
import { add, binary, index, int, mul, ne, sub, truth } from "../../ir/expressions.js";

/** Parameters that a kernel over bricks needs in addition to the container's own. */
export type BrickRole = "bricks" | "active" | "origins";

/** Bits of a word of the activity masks. */
const WORD = 32;
const AXES = ["x", "y", "z"];
const brick = index(0);
const cell = index(1);

/** Properties of a brick grid that are compiled into its kernels. */
interface BrickShape {
  /** Binary logarithms of a brick's extents along x, y (and z). */
  readonly logs: readonly number[];
  /** Every cell of every brick is active. */
  readonly full: boolean;
}

/**
 * A container over (brick, cell of the brick), the cells in (z, y, x) order. A field lies in a view of `[brick][cell]` for cardinality 1,
 * else of `[component][brick][cell]` (soa) or `[brick][component][cell]` (aos). `bricks[brick][code]` is the brick's neighbour, with code
 * sum of 3^axis (1 + step); `active[brick][word]` holds a bit for each cell, `origins[brick][axis]` coordinates of the first one.
 * @throws Error for an offset that is longer than a brick
 */
export function lowerBricks(
  container: KernelIR,
  plan: ContainerPlan,
  { logs, full }: BrickShape,
): { ir: KernelIR; roles: ReadonlyMap<BrickRole, string> } {
  const kernel = new StorageKernel<BrickRole>(container);
  /** The shift of each axis in a cell's index. */
  const shifts = logs.map((_, axis) => logs.slice(0, axis).reduce((a, b) => a + b, 0));
  const known = new Map<string, Expr>();
  const once = (wish: string, make: () => Expr): Expr => {
    if (!known.has(wish)) known.set(wish, kernel.local(wish, make()));
    return known.get(wish)!;
  };

  /** The own cell's coordinate in its brick. */
  const inner = (axis: number): Expr =>
    once(`inner_${AXES[axis]}`, () => binary("and", binary("shr", cell, shifts[axis]), 2 ** logs[axis] - 1));
  /** -1, 0 or 1: the brick in which the cell at distance `d` along the axis lies. */
  const step = (axis: number, d: number): Expr =>
    once(named("step", [d], AXES[axis]), () => binary("shr", add(inner(axis), d), logs[axis]));

  const brickAndCell = (offset: Offset): { brick: Expr; cell: Expr } => {
    const axes = [...offset.keys()].filter((axis) => offset[axis] !== 0);
    if (axes.some((axis) => Math.abs(offset[axis]) > 2 ** logs[axis]))
      throw new Error(`container "${container.name}" reaches ${offset}, beyond the neighbouring bricks`);
    if (axes.length === 0) return { brick, cell };
    const own = int(logs.reduce((sum, _, axis) => sum + 3 ** axis, 0));
    const code = axes.reduce((sum, axis) => add(sum, mul(step(axis, offset[axis]), 3 ** axis)), own);
    const shift = offset.reduce((sum, d, axis) => sum + d * 2 ** shifts[axis], 0);
    const back = axes.reduce((sum, axis) => sub(sum, binary("shl", step(axis, offset[axis]), shifts[axis] + logs[axis])), add(cell, shift));
    return {
      brick: once(named("brick", offset), () => loadInt(kernel.view("bricks", "i32", 2), brick, code)),
      cell: once(named("cell", offset), () => back),
    };
  };

  const activeAt = (at: { brick: Expr; cell: Expr }): Expr => {
    const word = loadInt(kernel.view("active", "i32", 2), at.brick, binary("shr", at.cell, Math.log2(WORD)));
    return ne(binary("and", binary("shr", word, binary("and", at.cell, WORD - 1)), 1), int(0));
  };

  const body = substituteCells(
    container,
    { fields: plan.fields, mask: plan.mask },
    {
      element: (field, offset, component) => {
        const { cardinality, layout } = plan.fields.get(field)!;
        const at = brickAndCell(offset);
        if (cardinality === 1) return [at.brick, at.cell];
        return layout === "soa" ? [component, at.brick, at.cell] : [at.brick, component, at.cell];
      },
      active: (offset) => (offset.every((d) => d === 0) ? truth(true) : activeAt(brickAndCell(offset))),
      coordinate: (axis) => add(loadInt(kernel.view("origins", "i32", 2), brick, int(axis)), inner(axis)),
    },
  );
  const all = [...kernel.prologue, ...body];
  const { location } = container;
  const guarded = full ? all : [{ kind: "if" as const, cond: activeAt({ brick, cell }), then: all, else: [], location }];
  const fieldRank = ({ cardinality }: FieldPlan): number => (cardinality === 1 ? 2 : 3);
  return { ir: kernel.finish(guarded, plan, { policy: { kind: "range", rank: 2 }, fieldRank, cell: [brick, cell] }), roles: kernel.roles };
}

/** A name such as `brick_x1_ym2`. */
const named = (what: string, offset: Offset, axis?: string): string =>
  [what, ...offset.flatMap((d, a) => (d === 0 ? [] : [`${axis ?? AXES[a]}${d < 0 ? "m" : ""}${Math.abs(d)}`]))].join("_");
