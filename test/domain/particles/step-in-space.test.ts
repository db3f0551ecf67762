import type { Active } from "../kinds.js";
import { cubes, plainCubes } from "./plasmas.js";
import { stepsLikePlainLoops } from "./steps.js";

const ball: Active = (x, y, z) => (x - 3.5) ** 2 + (y - 2.5) ** 2 + (z - 6.5) ** 2 < 40;
const cube = { extents: [8, 6, 14], make: cubes, plain: plainCubes };

await stepsLikePlainLoops("particles in space", [
  { title: "a box whose ends absorb", ...cube, periodic: [false, false, false], options: { leaving: "absorb" } },
  { title: "a box without ends", ...cube, periodic: [true, true, true], options: { layout: "aos" } },
  {
    title: "a ball in a box that is periodic along z",
    ...cube,
    periodic: [false, false, true],
    active: ball,
    options: { leaving: "absorb" },
  },
]);
