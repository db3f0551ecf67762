import { bits, choose, differs, indexOf, int, loadInt, plus, right, scalarOf, truth } from "../ir/build.js";
import type { Expr, KernelIR } from "../ir/types.js";
import { placeCells } from "./cell-code.js";
import type { Offset } from "./grid.js";
import { GROUP } from "./numbering.js";
import { StorageKernel, type ContainerPlan, type FieldPlan } from "./storage-kernel.js";

/** What a kernel over numbered cells needs beside the container's own parameters. */
export type SparseRole = "near" | "far" | "outside" | "x" | "y" | "z";

/** The roles of coordinates, by axis. */
export const COORDINATES: readonly SparseRole[] = ["x", "y", "z"];
const SHIFT = Math.log2(GROUP);
const cell = indexOf(0);
const isOwn = (offset: Offset): boolean => offset.every((d) => d === 0);

/**
 * A container over the cells of one partition of an element-sparse grid, by number. A field lies in a view of rank 1 for cardinality 1,
 * else of `[component][cell]` (soa) or `[cell][component]` (aos); neighbours are found by `near` and `far` (see Connectivity).
 * @param directions offsets in the order of the connectivity; those that the container uses are among them
 */
export function lowerSparse(
  container: KernelIR,
  plan: ContainerPlan,
  directions: readonly Offset[],
): { ir: KernelIR; roles: ReadonlyMap<SparseRole, string> } {
  const kernel = new StorageKernel<SparseRole>(container);
  const neighbours = new Map<string, Expr>();
  const numberOf = (offset: Offset): Expr => {
    const key = offset.join();
    if (isOwn(offset)) return cell;
    if (!neighbours.has(key)) {
      const direction = directions.findIndex((d) => d.join() === key);
      const entry = kernel.local(`near_${direction}`, loadInt(kernel.view("near", "i32", 2), int(direction), right(cell, SHIFT)));
      const far = loadInt(kernel.view("far", "i32", 2), right(entry, 1), bits(cell, GROUP - 1));
      neighbours.set(
        key,
        kernel.local(`neighbour_${direction}`, choose(differs(bits(entry, 1), int(0)), far, plus(cell, right(entry, 1)))),
      );
    }
    return neighbours.get(key)!;
  };

  const body = placeCells(
    container,
    { fields: plan.fields, mask: plan.mask },
    {
      element: (field, offset, component) => {
        const { cardinality, layout } = plan.fields.get(field)!;
        const number = numberOf(offset);
        return cardinality === 1 ? [number] : layout === "soa" ? [component, number] : [number, component];
      },
      active: (offset) => (isOwn(offset) ? truth(true) : differs(numberOf(offset), scalarOf(kernel.scalar("outside"), "i32"))),
      coordinate: (axis) => loadInt(kernel.view(COORDINATES[axis], "i32", 1), cell),
    },
  );
  return { ir: kernel.finish([...kernel.prologue, ...body], 1, plan, fieldRank), roles: kernel.roles };
}

const fieldRank = ({ cardinality }: FieldPlan): number => (cardinality === 1 ? 1 : 2);
