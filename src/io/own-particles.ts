import type { TypedArray, NumberArrayOf } from "../device/memory/view.js";
import { inOneArray } from "../domain/grid/pieces.js";
import { cutsRows } from "../domain/grid/split.js";
import type { Species } from "../domain/particles/index.js";
import { cellFinder, roundingOf } from "../domain/particles/share-out.js";
import { IsoformError } from "../base/errors.js";
import type { Run, StoredArray } from "./state-file.js";

/**
 * The particles in the planes in which members of this process own cells, among stored ones in the order of their cells, as checkpoints have them. Positions
 * are read by bisection.
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
    if (cell < 0) refuse({ name, grid }, particle, at);
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
  const own = set.locals.map(({ index }) => partitions[index]);
  const first = Math.min(...own.map((partition) => partition.first));
  const end = Math.max(...own.map((partition) => partition.first + partition.planes));
  return {
    first: first === 0 ? 0 : await firstIn(first),
    end: end === extents.at(-1)! ? count : await firstIn(end),
  };
}

function refuse({ name, grid: { extents } }: Pick<Species, "name" | "grid">, particle: number, at: ArrayLike<number>): never {
  throw new IsoformError(
    `species "${name}": particle ${particle} is at [${Array.from(at)}], in no active cell of the grid of [${extents}] cells`,
  );
}

/** Columns by name. */
type Stored = ReadonlyMap<string, StoredArray>;

/** Particles that are read at once. */
const AT_ONCE = 2 ** 18;

/**
 * The columns of the particles in cells that members of this process own. Where these have some of the rows of planes, particles of the planes are read some
 * at a time, and the others dropped.
 * @param run the particles in planes of these members, by `ownParticles`
 */
export async function readOwnParticles(species: Species, stored: Stored, run: Run): Promise<{ x: TypedArray }> {
  if (!cutsRows(species.grid)) return columnsIn(species, stored, run);
  const parts: Record<string, TypedArray>[] = [];
  for (let first = run.first; first < run.end; first += AT_ONCE) {
    const all = await columnsIn(species, stored, { first, end: Math.min(run.end, first + AT_ONCE) });
    const own = ownIn(species, all.x, first);
    parts.push(
      Object.fromEntries(
        Object.entries(all).map(([column, values]) => {
          const { components } = (species.columns as Record<string, { components: number }>)[column];
          return [column, picked(values, own, components)];
        }),
      ),
    );
  }
  const columns = Object.entries(species.columns).map(([column, { type }]) => [
    column,
    inOneArray(
      type,
      parts.map((part) => part[column] as NumberArrayOf<typeof type>),
    ),
  ]);
  return Object.fromEntries(columns) as { x: TypedArray };
}

/** The columns of particles one after the other. */
export async function columnsIn({ columns }: Species, stored: Stored, { first, end }: Run): Promise<{ x: TypedArray }> {
  const values: Record<string, TypedArray> = {};
  for (const [column, { components }] of Object.entries(columns))
    values[column] = await stored.get(column)!.values(first * components, end * components);
  return values as { x: TypedArray };
}

/**
 * The places in `x` of the particles that lie in cells of members of this process.
 * @param first number of the first particle, for errors
 * @throws IsoformError for a particle that is in no active cell
 */
function ownIn(species: Species, x: TypedArray, first: number): number[] {
  const { grid, columns } = species;
  const { extents, partitions, set } = grid;
  const axes = extents.length;
  const [nx, ny] = extents;
  const cellOf = cellFinder(grid, roundingOf(columns.x.type));
  const boxes = set.locals.map(({ index }) => partitions[index]);
  return Array.from({ length: x.length / axes }, (_, n) => n).filter((n) => {
    const cell = cellOf(x, n * axes);
    if (cell < 0) refuse(species, first + n, x.subarray(n * axes, (n + 1) * axes));
    const row = Math.floor(cell / nx);
    const [plane, inPlane] = [Math.floor(row / ny), row % ny];
    return boxes.some(
      ({ first: begin, planes, rows = [0, ny] }) => plane >= begin && plane < begin + planes && inPlane >= rows[0] && inPlane < rows[1],
    );
  });
}

/** Values of some particles of a column. */
function picked(values: TypedArray, particles: readonly number[], components: number): TypedArray {
  const some = values.slice(0, particles.length * components);
  for (const [n, particle] of particles.entries())
    for (let k = 0; k < components; k++) some[n * components + k] = values[particle * components + k];
  return some;
}
