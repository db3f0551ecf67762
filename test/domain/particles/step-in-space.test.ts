import { cubes, plainCubes } from "./plasmas.js";
import { stepsLikePlainLoops } from "./steps.js";

const cube = { extents: [8, 6, 14], make: cubes, plain: plainCubes };

await stepsLikePlainLoops("particles in space", [
  { title: "a box whose ends absorb", ...cube, periodic: [false, false, false], options: { leaving: "absorb" } },
  { title: "a box without ends", ...cube, periodic: [true, true, true], options: { layout: "aos" } },
]);
