import type { Species } from "../domain/particles/index.js";
import { cellFinder, roundingOf } from "../domain/particles/share-out.js";
import { IsoformError } from "../ir/errors.js";
import type { Run, StoredArray } from "./state-file.js";

/**
 * The particles in cells that members of this process own, among stored ones in the order of their cells, as checkpoints have them. Positions are read by
 * bisection.
 * @param x the stored positions
 * @throws IsoformError for a particle that is in no active cell
 */
export async function ownParticles({ grid, name, columns }: Species, x: StoredArray): Promise<Run> {
  const { extents, partitions, set } = grid;
  const axes = extents.length;
  const count = x.length / axes;
  const planeSize = extents.slice(0, -1).reduce((a, b) => a * b, 1);
  const cellOf = cellFinder(grid, roundingOf(columns.x.type));
  const planeOf = async (particle: number): Promise<number> => {
    const at = await x.values(particle * axes, (particle + 1) * axes);
    const cell = cellOf(at, 0);
    if (cell < 0)
      throw new IsoformError(
        `species "${name}": particle ${particle} is at [${Array.from(at)}], in no active cell of the grid of [${extents}] cells`,
      );
    return Math.floor(cell / planeSize);
  };
  /** The first particle in a plane, or after it. */
  const firstIn = async (plane: number): Promise<number> => {
    let [low, high] = [0, count];
    while (low < high) {
      const middle = Math.floor((low + high) / 2);
      if ((await planeOf(middle)) < plane) low = middle + 1;
      else high = middle;
    }
    return low;
  };
  const [low, high] = [set.locals[0].index, set.locals.at(-1)!.index];
  return {
    first: low === 0 ? 0 : await firstIn(partitions[low].first),
    end: high === partitions.length - 1 ? count : await firstIn(partitions[high + 1].first),
  };
}
