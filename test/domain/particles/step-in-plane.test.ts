import type { Active } from "../kinds.js";
import { plainSquares, squares } from "./plasmas.js";
import { stepsLikePlainLoops } from "./steps.js";

const disc: Active = (x, y) => 2 * (x - 6) ** 2 + (y - 8) ** 2 < 60;
const square = { extents: [12, 16], make: squares, plain: plainSquares };

await stepsLikePlainLoops("particles in a plane", [
  { title: "a wide deposit of several components, without ends", ...square, periodic: [true, true] },
  {
    title: "a wide deposit of several components in a disc",
    ...square,
    periodic: [true, false],
    active: disc,
    options: { leaving: "absorb", layout: "aos" },
  },
]);
