import { FOLDING_GROUPS, TEAM_WAVES } from "../constants.js";
import type { Traversal } from "../program.js";
import type { Numbers } from "./numbers.js";

/** Blocks along x, y and z, and threads of a block. */
export type Axes<N> = readonly [N, N, N];

/** A grid over elements, and what the main entry knows of it. */
interface Gridded<N> {
  readonly grid: Axes<N>;
  readonly block: Axes<N>;
  readonly numbers: GridNumbers<N>;
}

/** Numbers of the slots of these names. */
export type GridNumbers<N> = Readonly<Partial<Record<"elements" | "segment" | "rowBlocks" | "tile" | "planes", N>>>;

/** A grid over a range as its program wants it. */
interface RangeCode {
  readonly traversal: Traversal;
  readonly threads: number;
  readonly row: number;
  readonly elements: number;
  readonly planes: number;
}

/** The GPU, and the arrays of a launch, as far as a grid depends on them. Each is asked for where it is needed. */
export interface GridFacts<N> {
  /** The most blocks along y and z. */
  readonly limit: number;
  /** Blocks of the main entry that the device holds at a time. */
  resident(): N;
  /** Bytes of the last-level cache that the planes which a tile works on may fill. */
  cacheShare(): N;
  /** Bytes that a row of a box, of `rows` rows and `depth` planes in all, takes in all arrays that have one. */
  rowBytes(depth: N, rows: N, columns: N): N;
}

/**
 * A grid over the elements of a range with `extents`; `before` are threads in front of the last axis. threadIdx.x goes along the last axis. A strided
 * grid fills the device once, but in three dimensions each block has a few planes.
 */
export function gridOverRange<N>(on: Numbers<N>, code: RangeCode, extents: readonly N[], before: N, facts: GridFacts<N>): Gridded<N> {
  const { threads, row, elements, planes, traversal } = code;
  const rank = extents.length;
  const last = on.sum(extents[rank - 1]!, before);
  const one = on.of(1);
  const x = rank === 1 ? on.of(threads) : on.powerUpTo("block_x", extents[rank - 1]!, row);
  const block: Axes<N> = [x, rank === 1 ? one : on.keep("block_y", on.floor(on.of(threads), x)), one];
  const covered = (axis: number): N => on.product(on.of(axis === rank - 1 ? elements : 1), block[axis]!);
  const blocks: Axes<N> = [
    on.keep("blocks_x", on.greatest(one, on.ceil(last, covered(0)))),
    rank > 1 ? on.keep("blocks_y", on.greatest(one, on.ceil(extents[rank - 2]!, covered(1)))) : one,
    rank > 2 ? on.keep("blocks_z", on.greatest(one, on.product(...extents.slice(0, rank - 2)))) : one,
  ];
  if (planes > 0) return gridOverBox(on, planes, extents, { block, blocks }, facts);
  const limit = on.of(facts.limit);
  if (traversal !== "strided") return { grid: [blocks[0], on.least(blocks[1], limit), on.least(blocks[2], limit)], block, numbers: {} };
  return { grid: fitted(on, blocks.slice(0, Math.min(rank, 3)), on.keep("left", facts.resident()), limit), block, numbers: {} };
}

/** As many blocks as there is place `left`, along one axis after the other. */
function fitted<N>(on: Numbers<N>, blocks: readonly N[], left: N, limit: N): Axes<N> {
  const one = on.of(1);
  const names = ["grid_x", "grid_y", "grid_z"];
  const taken: N[] = [];
  blocks.forEach((wanted, axis) => {
    const some = on.keep(names[axis]!, on.greatest(one, on.least(on.least(wanted, left), limit)));
    taken.push(some);
    if (axis < blocks.length - 1) left = on.keep("left", on.floor(left, some));
  });
  return [taken[0]!, taken[1] ?? one, taken[2] ?? one];
}

/** Blocks in tiles of rows whose planes fit the cache together. */
function gridOverBox<N>(
  on: Numbers<N>,
  most: number,
  extents: readonly N[],
  { block, blocks }: { readonly block: Axes<N>; readonly blocks: Axes<N> },
  facts: GridFacts<N>,
): Gridded<N> {
  const [depth, rows, columns] = extents as Axes<N>;
  const limit = on.of(facts.limit);
  const one = on.of(1);
  const planes = on.keep("planes", on.greatest(on.of(most), on.ceil(depth, limit)));
  const slabs = on.greatest(one, on.ceil(depth, planes));
  // Planes that are looked at once may come in any order.
  const tiles = most > 1 ? on.keep("tiles", on.least(limit, on.ceil(blocks[1], fitting()))) : one;
  const tile = on.keep("tile", on.ceil(blocks[1], tiles));
  const rowBlocks = blocks[0];
  return { grid: [on.product(rowBlocks, tile), slabs, tiles], block, numbers: { rowBlocks, tile, planes } };

  function fitting(): N {
    const bytes = on.product(planes, facts.rowBytes(depth, rows, columns), block[1]);
    return on.keep("fitting", on.greatest(one, on.floor(facts.cacheShare(), bytes)));
  }
}

/** Blocks of teams: as many as there are, or there is scratch for; `resident` run at a time. */
export function blocksOfTeams<N>(
  on: Numbers<N>,
  of: { readonly blocks: N; readonly rows: N; readonly resident: N; readonly limit: number },
): Axes<N> {
  const most = on.greatest(on.of(1), on.product(on.of(TEAM_WAVES), of.resident));
  return [on.least(on.least(of.blocks, of.rows), on.least(most, on.of(of.limit))), on.of(1), on.of(1)];
}

/** Workgroups of WebGPU over a range, `width` by `height` threads each: at most `FOLDING_GROUPS` where they fold; they stride where they are fewer than elements need. */
export function groupsOverRange<N>(
  on: Numbers<N>,
  {
    folding,
    limit,
    workgroup: [width, height],
  }: { readonly folding: boolean; readonly limit: number; readonly workgroup: readonly number[] },
  extents: readonly N[],
): Axes<N> {
  const rank = extents.length;
  const one = on.of(1);
  const needed = [
    on.ceil(extents[rank - 1]!, on.of(width!)),
    ...(rank > 1 ? [on.ceil(extents[rank - 2]!, on.of(height!))] : []),
    ...(rank > 2 ? [on.product(...extents.slice(0, rank - 2))] : []),
  ];
  if (folding) return fitted(on, needed, on.of(FOLDING_GROUPS), on.of(limit));
  const [x, y = one, z = one] = needed.map((count) => on.greatest(one, on.least(count, on.of(limit))));
  return [x!, y, z];
}

/** `count` workgroups in two dimensions, for shaders that number them in one. */
export function linearGroups<N>(on: Numbers<N>, count: N, limit: number): Axes<N> {
  const all = on.keep("groups", count);
  const x = on.keep("groups_x", on.greatest(on.of(1), on.least(all, on.of(limit))));
  return [x, on.greatest(on.of(1), on.ceil(all, x)), on.of(1)];
}
