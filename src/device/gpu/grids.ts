import { SORT_BITS } from "../../emit/c/gpu/sort.js";
import { REDUCTION_LANES } from "../../ir/types.js";
import { SORTED_AT_A_TIME, TILE_PERCENT } from "../../schedule/constants.js";
import { BLOCK } from "../../schedule/entry.js";
import { blocksOfTeams, gridOverRange, type Axes, type GridFacts } from "../../schedule/plan/grids.js";
import type { PlanRules } from "../../schedule/plan/launch.js";
import { PLAIN_NUMBERS } from "../../schedule/plan/numbers.js";
import type { Binding } from "../launch/binding.js";
import type { RangePolicy } from "../launch/policy.js";
import { BYTES } from "../memory/view.js";
import { groupLimit } from "./group-limit.js";
import { batchesOf, type Batch, type SortRules } from "./launch-plan.js";
import type { GpuEntry, GpuMachine } from "./machine.js";
import { alignedBegin, type LaunchProgram } from "./program.js";
import { rangeBatches, teamBatches } from "./sorted-contributions.js";
import { blocks, type GridShape } from "./steps.js";

/** Chunks that one block folds in a step. */
const CHUNKS_PER_BLOCK = BLOCK / REDUCTION_LANES;

/** Sets all bits of unused slots: they are sorted after every target, as a bit pattern of the sorted bits is left for them. */
export const SORT_RULES: SortRules = { digitBits: SORT_BITS, keyBits: (size) => Math.floor(Math.log2(Math.max(1, size))) + 1 };

/** How the plan of a launch becomes grids of blocks on a GPU. `shared` are the bytes of copies in the block's memory. */
export function gridRules(
  gpu: GpuMachine,
  binding: Binding,
  code: LaunchProgram,
  main: GpuEntry,
  shared: number,
): PlanRules<number, GridShape, Batch> {
  const { program } = code;
  const { policy } = binding;
  const resident = (bytes: number): number => main.residentBlocks(program.threads, bytes) * gpu.facts.multiprocessors;
  const flat = (grid: number): GridShape => ({ grid: [grid, 1, 1], block: [BLOCK, 1, 1] });
  const facts: GridFacts<number> = {
    limit: groupLimit(),
    resident: () => resident(shared),
    cacheShare: () => (code.tuning.values.cacheShare ?? TILE_PERCENT / 100) * gpu.facts.l2Bytes,
    rowBytes: (depth, rows, columns) => rowBytes(binding, depth * rows, columns),
  };
  const whole = policy as RangePolicy;
  return {
    sortTile: gpu.language.sortShape.tile,
    sortDigits: 2 ** SORT_BITS,
    batches: (slots) => batchesOf(whole, rangeBatches(whole, slots, SORTED_AT_A_TIME.gpu)),
    teamBatches: (slots) => teamBatches(policy.kind === "team" ? policy.league : 0, slots, SORTED_AT_A_TIME.gpu),
    overElements: (batch) => {
      const range = batch?.policy ?? whole;
      if (program.traversal === "segments") return gridOfSegments(range, code.caches!.segment, program.threads, shared);
      const before = program.traversal === "strided" ? 0 : range.begin.at(-1)! - alignedBegin(range, binding.views);
      const { grid, block, numbers } = gridOverRange(PLAIN_NUMBERS, program, range.extents, before, facts);
      return { ...gridded(program.planes > 0 ? { grid, block } : { grid, block, shared }), numbers };
    },
    overChunks: (chunks) => ({ ...flat(blocks(chunks, CHUNKS_PER_BLOCK)), shared }),
    overPartials: (chunks) => flat(blocks(chunks, CHUNKS_PER_BLOCK)),
    overTeams: (teams, rows) => {
      const bytes = program.scratchBytes;
      const grid = blocksOfTeams(PLAIN_NUMBERS, { blocks: teams, rows, resident: resident(bytes), limit: groupLimit() });
      return { grid, block: [program.threads, 1, 1], shared: bytes };
    },
    overItems: (count) => flat(blocks(count, BLOCK)),
    last: { grid: [1, 1, 1], block: [gpu.language.finishThreads, 1, 1] },
    serial: { grid: [1, 1, 1], block: [1, 1, 1] },
  };
}

const all = ([x, y, z]: Axes<number>): number => x * y * z;
const gridded = (shape: GridShape): { grid: GridShape; blocks: number } => ({ grid: shape, blocks: all(shape.grid) });

/** A block for each segment of elements. */
function gridOfSegments({ extents }: RangePolicy, segment: number, threads: number, shared: number) {
  const elements = PLAIN_NUMBERS.product(...extents);
  const shape: GridShape = { grid: [Math.max(1, blocks(elements, segment)), 1, 1], block: [threads, 1, 1], shared };
  return { ...gridded(shape), numbers: { elements, segment } };
}

/** Bytes of a row of a box of `rows` rows in all arrays that are as large as it. */
const rowBytes = ({ views }: Binding, rows: number, columns: number): number =>
  Object.values(views)
    .filter(({ size }) => size >= rows * columns)
    .reduce((sum, { size, type }) => sum + (size / rows) * BYTES[type], 0);
