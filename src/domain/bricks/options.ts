import type { Dimension } from "../../kernel/declare/cells.js";
import { ContainerError, LaunchError } from "../../base/errors.js";
import type { Container } from "../grid/grid.js";
import type { GridOptions } from "../grid/options.js";
import type { Offset } from "../grid/parts.js";
import { periodicAxes } from "../grid/partition.js";

/* Options of brick grids and their checks, for all layouts of cells in memory. */

/** Options of `bricks`. */
export interface BrickOptions extends GridOptions {
  /** Cells of a brick along x, y (and z), powers of two. Default: [4, 4, 4] or [8, 8]. */
  brick?: readonly number[];
}

/** Cells along each axis of a brick whose extents are not given. */
const DEFAULT_BRICK = { 2: [8, 8], 3: [4, 4, 4] } as const;

/**
 * Cells of a brick along each axis.
 * @throws LaunchError if they are not powers of two, or a periodic axis does not hold a whole number of them
 */
export function brickOf(
  extents: readonly number[],
  { brick = DEFAULT_BRICK[extents.length as Dimension], periodic }: BrickOptions,
): readonly number[] {
  if (brick && (brick.length !== extents.length || brick.some((n) => !(n >= 1 && n <= 64 && Number.isInteger(Math.log2(n))))))
    throw new LaunchError(`bricks of [${brick}] cells for a grid of [${extents}]: give powers of two up to 64, one for each axis`);
  const cut = periodicAxes(extents, periodic).findIndex((ends, axis) => ends && extents[axis] % (brick?.[axis] ?? 1) !== 0);
  if (cut >= 0)
    throw new LaunchError(
      `bricks of [${brick}] cells for a grid of [${extents}] that is periodic along ${"xyz"[cut]}: the last brick would have cells beyond the end; ` +
        `give periodic axes a multiple of the brick's cells`,
    );
  return brick ?? [];
}

/** Throws LaunchError for a stencil that reaches beyond the neighbouring bricks. */
export function requireStencil(brick: readonly number[], offsets: readonly Offset[]): void {
  requireNear(brick, offsets, (problem, remedy) => {
    throw new LaunchError(`a stencil reads ${problem}; ${remedy}`);
  });
}

/** Throws ContainerError for a container that reaches beyond the neighbouring bricks. */
export function requireContainer(brick: readonly number[], made: Container): void {
  const refuse = (what: string) => (problem: string, remedy: string) => {
    throw new ContainerError(made.name, made.location, `${what} ${problem}`, remedy);
  };
  for (const { field, level, offsets } of made.uses)
    if (level === "own") requireNear(brick, offsets, refuse(`reads the field "${field.name}"`));
  if (made.mask) requireNear(brick, made.mask.offsets, refuse("asks isActive"));
}

function requireNear(brick: readonly number[], offsets: readonly Offset[], refuse: (problem: string, remedy: string) => never): void {
  for (const offset of offsets) {
    const axis = offset.findIndex((d, a) => Math.abs(d) > brick[a]);
    if (axis >= 0)
      refuse(
        `at offset [${offset}], and a brick has ${brick[axis]} cells along ${"xyz"[axis]}`,
        "use larger bricks: { brick: [...] }, or another kind of grid",
      );
  }
}

export const notCoarsened = (): LaunchError => new LaunchError("a brick grid cannot be coarsened: make a dense or an element-sparse one");
