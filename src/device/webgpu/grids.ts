import { WGSL_SORT_BITS, WGSL_SORT_TILE } from "../../emit/wgsl/sorted-scatter.js";
import { WORKGROUP } from "../../emit/wgsl/shader-program.js";
import { REDUCTION_LANES } from "../../ir/types.js";
import { SORTED_AT_A_TIME } from "../../schedule/constants.js";
import { groupsOverRange, linearGroups } from "../../schedule/plan/grids.js";
import type { PlanRules } from "../../schedule/plan/launch.js";
import { PLAIN_NUMBERS } from "../../schedule/plan/numbers.js";
import { groupLimit } from "../gpu/group-limit.js";
import { batchesOf, type Batch, type SortRules } from "../gpu/launch-plan.js";
import { rangeBatches, teamBatches } from "../gpu/sorted-contributions.js";
import type { Policy, RangePolicy } from "../launch/policy.js";
import type { LaunchProgram } from "./program.js";
import { groupsFor, type WorkgroupGrid } from "./steps.js";

/** Chunks that one workgroup folds in a step. */
const CHUNKS_PER_GROUP = WORKGROUP / REDUCTION_LANES;

/** Counts positions from 1 on in keys; unused slots have the key 0. */
export const WGSL_SORT_RULES: SortRules = { digitBits: WGSL_SORT_BITS, keyBits: (size) => Math.floor(Math.log2(size + 1)) + 1 };

/** How the plan of a launch becomes grids of workgroups. */
export function gridRules(policy: Policy, { program, buffers, caches }: LaunchProgram): PlanRules<number, WorkgroupGrid, Batch> {
  const { traversal, main, elements } = program;
  const segment = caches?.segment ?? 0;
  const whole = policy as RangePolicy;
  const [width, height] = main.workgroup;
  const invocations = [width * elements, height];
  const overItems = (size: number) => (count: number) => linearGrid(groupsFor(count, size));
  return {
    sortTile: WGSL_SORT_TILE,
    sortDigits: 2 ** WGSL_SORT_BITS,
    // Pieces of the range whose memory a shader sees, or whose contributions fit the memory for them; chunks stay whole.
    batches: (slots) =>
      slots === 0
        ? batchesOf(
            whole,
            buffers.pieces.map((of) => of.policy as RangePolicy),
            true,
          )
        : batchesOf(whole, rangeBatches(whole, slots, SORTED_AT_A_TIME.webgpu)),
    teamBatches: (slots) => teamBatches(policy.kind === "team" ? policy.league : 0, slots, SORTED_AT_A_TIME.webgpu),
    overElements: (batch) => {
      const { extents } = batch?.policy ?? whole;
      const elements = PLAIN_NUMBERS.product(...extents);
      const folding = batch === undefined && traversal === "strided";
      const grid =
        traversal === "segments"
          ? linearGrid(groupsFor(elements, segment))
          : groupsOverRange(PLAIN_NUMBERS, { folding, limit: groupLimit(), workgroup: invocations }, extents);
      return { grid, blocks: grid[0] * grid[1] * grid[2], numbers: { elements, segment } };
    },
    overChunks: overItems(CHUNKS_PER_GROUP),
    overPartials: overItems(CHUNKS_PER_GROUP),
    overTeams: (teams, rows) => [Math.min(teams, rows, groupLimit()), 1, 1],
    overItems: overItems(WORKGROUP),
    last: [1, 1, 1],
    serial: [1, 1, 1],
  };
}

/** `count` workgroups in two dimensions, for shaders that number them linearly. */
export const linearGrid = (count: number): WorkgroupGrid => linearGroups(PLAIN_NUMBERS, count, groupLimit());
