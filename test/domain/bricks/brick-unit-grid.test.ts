import { BrickUnitGrid } from "../../../src/domain/bricks/brick-unit-grid.js";
import { likeDense, storesCells, type Make } from "../kinds.js";

/** As on GPUs. */
const inBricks: Make = (set, extents, active, options) =>
  new BrickUnitGrid(set, extents, { ...options, active, brick: [4, 2, 2].slice(0, extents.length) });

await likeDense("bricks, brick by brick,", inBricks);
storesCells("bricks, brick by brick,", inBricks);
