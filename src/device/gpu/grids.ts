import type { GpuProgram } from "../../schedule/program.js";
import { BLOCK } from "../../schedule/entry.js";
import { SORT_BITS, SORT_TILE } from "../../emit/c/gpu/sort.js";
import { REDUCTION_LANES } from "../../ir/types.js";
import type { Binding } from "../launch/binding.js";
import type { RangePolicy } from "../launch/policy.js";
import { BYTES } from "../memory/view.js";
import { SORTED_AT_A_TIME, TILE_PERCENT } from "../../schedule/constants.js";
import { groupLimit } from "./group-limit.js";
import type { GpuEntry, GpuMachine } from "./machine.js";
import { sizeOf, type Gridded, type PlanRules } from "./plan.js";
import { alignedBegin, type LaunchProgram } from "./program.js";
import { rangeBatches } from "./sorted-contributions.js";
import { blocks, type Shape } from "./steps.js";

/** Chunks that one block folds in a step. */
const CHUNKS_PER_BLOCK = BLOCK / REDUCTION_LANES;
/** Blocks of teams, as a multiple of what the device holds at a time: more cost more to start than a small team's work, fewer share uneven teams out badly. */
const TEAM_WAVES = 4;

/** How the plan of a launch becomes grids of blocks on a GPU. `shared` are the bytes of copies in the block's memory. */
export function gridRules(gpu: GpuMachine, binding: Binding, code: LaunchProgram, main: GpuEntry, shared: number): PlanRules<Shape> {
  const { program } = code;
  let resident: number | undefined;
  const flat = (grid: number): Shape => ({ grid: [grid, 1, 1], block: [BLOCK, 1, 1] });
  return {
    blocks: "blocks",
    sortBits: SORT_BITS,
    sortTile: SORT_TILE,
    // Sets all bits of unused slots: they are sorted after every target, as a bit pattern of the sorted bits is left for them.
    keyBits: (size) => Math.floor(Math.log2(Math.max(1, size))) + 1,
    sortedAtATime: SORTED_AT_A_TIME.gpu,
    batches: (policy, slots) => rangeBatches(policy, slots, SORTED_AT_A_TIME.gpu).map((batch) => ({ policy: batch, piece: 0 })),
    overElements: (policy) =>
      program.traversal === "segments"
        ? gridOfSegments(policy, code.caches!.segment, program.threads, shared)
        : gridOver(gpu, binding, code, main, policy, shared),
    overChunks: (chunks) => ({ ...flat(blocks(chunks, CHUNKS_PER_BLOCK)), shared }),
    overPartials: (chunks) => flat(blocks(chunks, CHUNKS_PER_BLOCK)),
    overTeams: (teams, rows) => {
      resident ??= main.residentBlocks(program.threads, program.scratchBytes);
      const most = Math.max(1, TEAM_WAVES * resident * gpu.facts.multiprocessors);
      return { grid: [Math.min(teams, rows, most, groupLimit()), 1, 1], block: [program.threads, 1, 1], shared: program.scratchBytes };
    },
    overItems: (count) => flat(blocks(count, BLOCK)),
    last: { grid: [1, 1, 1], block: [gpu.language.finishThreads, 1, 1] },
    serial: { grid: [1, 1, 1], block: [1, 1, 1] },
  };
}

const gridded = (shape: Shape, numbers: Gridded<Shape>["numbers"] = {}): Gridded<Shape> => ({
  grid: shape,
  blocks: shape.grid.reduce((a, b) => a * b, 1),
  numbers,
});

/** threadIdx.x along the last axis. A strided grid fills the device once, but in three dimensions each block has a few planes. */
function gridOver(
  gpu: GpuMachine,
  binding: Binding,
  code: LaunchProgram,
  main: GpuEntry,
  policy: RangePolicy,
  shared: number,
): Gridded<Shape> {
  const { begin, extents } = policy;
  const rank = extents.length;
  const { threads, row, elements, planes, traversal } = code.program;
  const strided = traversal === "strided";
  const x = rank === 1 ? threads : Math.min(row, 2 ** Math.ceil(Math.log2(Math.max(1, extents[rank - 1]))));
  const block: Shape["block"] = [x, threads / x, 1];
  const before = strided ? 0 : begin[rank - 1] - alignedBegin(policy, binding.views);
  const counts = [
    extents[rank - 1] + before,
    rank > 1 ? extents[rank - 2] : 1,
    extents.slice(0, Math.max(0, rank - 2)).reduce((a, b) => a * b, 1),
  ];
  const grid = counts.map((count, d) => Math.max(1, blocks(count, (d === rank - 1 ? elements : 1) * block[d])));
  if (planes > 0) return gridOverBox(gpu, binding, code, extents, block, grid);
  if (!strided) return gridded({ grid: [grid[0], Math.min(grid[1], groupLimit()), Math.min(grid[2], groupLimit())], block, shared });
  let left = main.residentBlocks(threads, shared) * gpu.facts.multiprocessors;
  const fitted = grid.map((blocks) => {
    const taken = Math.max(1, Math.min(blocks, left, groupLimit()));
    left = Math.floor(left / taken);
    return taken;
  });
  return gridded({ grid: [fitted[0], fitted[1], fitted[2]], block, shared });
}

/** A block for each segment of elements. */
function gridOfSegments(policy: RangePolicy, segment: number, threads: number, shared: number): Gridded<Shape> {
  const elements = sizeOf(policy);
  return gridded({ grid: [Math.max(1, blocks(elements, segment)), 1, 1], block: [threads, 1, 1], shared }, { elements, segment });
}

/** Blocks in tiles of rows whose planes fit the cache together. */
function gridOverBox(
  gpu: GpuMachine,
  binding: Binding,
  { program, tuning }: { program: GpuProgram; tuning: LaunchProgram["tuning"] },
  [depth, rows, columns]: readonly number[],
  block: Shape["block"],
  [rowBlocks, columnBlocks]: readonly number[],
): Gridded<Shape> {
  const planes = Math.max(program.planes, blocks(depth, groupLimit()));
  const slabs = blocks(depth, planes);
  const boxes = Object.values(binding.views).filter(({ size }) => size >= depth * rows * columns);
  const rowBytes = boxes.reduce((sum, { size, type }) => sum + (size / (depth * rows)) * BYTES[type], 0);
  const fitting = Math.max(
    1,
    Math.floor(((tuning.values.cacheShare ?? TILE_PERCENT / 100) * gpu.facts.l2Bytes) / (planes * rowBytes * block[1])),
  );
  // Planes that are looked at once may come in any order.
  const tiles = program.planes > 1 ? Math.min(groupLimit(), blocks(columnBlocks, fitting)) : 1;
  const tile = blocks(columnBlocks, tiles);
  return gridded({ grid: [rowBlocks * tile, Math.max(1, slabs), tiles], block }, { rowBlocks, tile, planes });
}
