import { WGSL_SORT_BITS, WGSL_SORT_TILE } from "../../emit/wgsl/sorted-scatter.js";
import { WORKGROUP, type ShaderEntry } from "../../emit/wgsl/shader-program.js";
import { REDUCTION_LANES } from "../../ir/types.js";
import { FOLDING_GROUPS, SORTED_AT_A_TIME } from "../../schedule/constants.js";
import { groupLimit } from "../gpu/group-limit.js";
import { sizeOf, type PlanRules } from "../gpu/plan.js";
import { rangeBatches } from "../gpu/sorted-contributions.js";
import type { RangePolicy } from "../launch/policy.js";
import type { LaunchProgram } from "./program.js";
import { groupsFor, linearGrid, type Grid } from "./steps.js";

/** Chunks that one workgroup folds in a step. */
const CHUNKS_PER_GROUP = WORKGROUP / REDUCTION_LANES;

/** How the plan of a launch becomes grids of workgroups. */
export function gridRules({ program, buffers, caches }: LaunchProgram): PlanRules<Grid> {
  const { traversal, main } = program;
  const segment = caches?.segment ?? 0;
  const overChunks = (chunks: number) => linearGrid(groupsFor(chunks, CHUNKS_PER_GROUP));
  return {
    blocks: "workgroups",
    sortBits: WGSL_SORT_BITS,
    sortTile: WGSL_SORT_TILE,
    // Counts positions from 1 on in keys; unused slots have the key 0.
    keyBits: (size) => Math.floor(Math.log2(size + 1)) + 1,
    sortedAtATime: SORTED_AT_A_TIME.webgpu,
    // Pieces of the range whose memory a shader sees, or whose contributions fit the memory for them; chunks stay whole.
    batches: (policy, slots) =>
      slots === 0
        ? buffers.pieces.map((of, piece) => ({ policy: of.policy as RangePolicy, piece }))
        : rangeBatches(policy, slots, SORTED_AT_A_TIME.webgpu).map((batch) => ({ policy: batch, piece: 0 })),
    overElements: (policy, whole) => {
      const most = whole && traversal === "strided" ? FOLDING_GROUPS : Infinity;
      const grid = traversal === "segments" ? linearGrid(groupsFor(sizeOf(policy), segment)) : gridOf(policy, most, main.workgroup);
      return { grid, blocks: grid[0] * grid[1] * grid[2], numbers: { elements: sizeOf(policy), segment } };
    },
    overChunks,
    overPartials: overChunks,
    overTeams: (teams, rows) => [Math.min(teams, rows, groupLimit()), 1, 1],
    overItems: (count) => linearGrid(groupsFor(count, WORKGROUP)),
    last: [1, 1, 1],
    serial: [1, 1, 1],
  };
}

/** Workgroups along x, y and z for a range, at most `most` of them; they stride where they are fewer than its elements need. */
function gridOf({ extents }: RangePolicy, most: number, [width, height]: ShaderEntry["workgroup"]): [number, number, number] {
  const rank = extents.length;
  const counts = [
    groupsFor(extents[rank - 1], width),
    rank > 1 ? groupsFor(extents[rank - 2], height) : 1,
    extents.slice(0, Math.max(0, rank - 2)).reduce((a, b) => a * b, 1),
  ];
  let left = most;
  const [x, y, z] = counts.map((count) => {
    const taken = Math.max(1, Math.min(count, left, groupLimit()));
    left = Math.floor(left / taken);
    return taken;
  });
  return [x, y, z];
}
