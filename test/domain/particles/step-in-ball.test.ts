import type { Active } from "../kinds.js";
import { cubes, plainCubes } from "./plasmas.js";
import { stepsLikePlainLoops } from "./steps.js";

const ball: Active = (x, y, z) => (x - 3.5) ** 2 + (y - 2.5) ** 2 + (z - 6.5) ** 2 < 40;

await stepsLikePlainLoops("particles in a ball", [
  {
    title: "a ball in a box that is periodic along z",
    extents: [8, 6, 14],
    make: cubes,
    plain: plainCubes,
    periodic: [false, false, true],
    active: ball,
    options: { leaving: "absorb" },
  },
]);
