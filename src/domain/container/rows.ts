import type { Container } from "../grid/grid.js";
import type { Partition, Span } from "../grid/parts.js";

/** Box that determines the number of partials: a container runs over it, and it is cut as its grid is. */
export interface PartialRows {
  readonly extents: readonly number[];
  readonly partitions: readonly Pick<Partition, "first" | "planes" | "rows">[];
}

/** The cells of a container by rows: cells of its grid, or of its box. */
export function partialRows({ grid, box }: Pick<Container, "grid" | "box">): PartialRows {
  if (!box) return grid;
  const within = (axis: number, first: number, end: number): Span => {
    const [from, to] = box.bounds[axis];
    // Ghosts belong to the first and the last member.
    const low = Math.max(from, first === 0 ? from : first);
    return [low, Math.max(low, Math.min(to, end === grid.extents[axis] ? to : end))];
  };
  const partitions = grid.partitions.map(({ first: begin, planes, rows }) => {
    const [first, end] = within(grid.dimension - 1, begin, begin + planes);
    return { first, planes: end - first, ...(rows && { rows: within(1, ...rows) }) };
  });
  return { extents: box.bounds.map(([first, end]) => end - first), partitions };
}

/** Members have some of the rows of their planes. */
export const hasRows = ({ partitions }: PartialRows): boolean => partitions[0].rows !== undefined;
