/*
 * Numbers by which launches on GPUs are shared out, alike for launches of devices and for launch functions of emitted files. Chunks and lanes of strict
 * reductions, which decide results, are in ir/types.ts.
 */

/** The most workgroups along each axis of WebGPU, and the most blocks along y and z of CUDA and HIP. */
export const GRID_LIMIT = 65535;
/** Partials that one block folds to the end; more are folded by a grid first. */
export const FINISH_LIMIT = 1 << 14;
/** Blocks of teams, as a multiple of what the device holds at a time: more cost more to start than a small team's work, fewer share uneven teams out badly. */
export const TEAM_WAVES = 4;
/** Workgroups of a WebGPU grid that strides over its elements and folds. */
export const FOLDING_GROUPS = 1024;
/** The share of the last-level cache that the planes which a tile of blocks works on may fill, in percent. */
export const TILE_PERCENT = 40;
/** Sorted contributions that are written and sorted at a time; WebGPU, whose buffers are smaller, has fewer. */
export const SORTED_AT_A_TIME = { gpu: 1 << 22, webgpu: 1 << 20 } as const;
