import { f32, table } from "isoform";
import { dense } from "isoform/grid";
import { skeleton, swap } from "isoform/skeleton";
import { brushOf, distance2 } from "./brush.js";
import { GRIDS, defaultGrid, type Exhibit } from "./exhibit.js";
import { GLOWING } from "./palette.js";
import { pictureOf } from "./picture.js";
import { steppingShow } from "./stepping.js";

/** Parts of the plate. */
const WARM_AT_FIRST = [
  [0.25, 0.4],
  [0.5, 0.65],
  [0.72, 0.3],
] as const;

/** Heat that spreads in a plate with cold sides: explicit steps of du/dt = d2u/dx2 + d2u/dy2. */
export const heat: Exhibit = {
  id: "heat",
  title: "Heat",
  text: "A plate with cold sides. Each step replaces a cell by a mean of its neighbours.",
  hint: "Draw to heat the plate; erase to cool it.",
  erases: true,
  alternative: "Bright where the plate is hot. Warm spots spread and fade.",
  sizes: GRIDS,
  defaultGrid: defaultGrid,

  async open(set, canvas) {
    const [nx, ny] = [canvas.width, canvas.height];
    const grid = dense(set, [nx, ny]);
    const [u, next] = [grid.field("u", f32), grid.field("next", f32)];
    const brush = brushOf(grid);
    const reach2 = table(f32, [(nx / 40) ** 2]);

    const step = grid.container("step", { u, next }, ({ u, next }, c) => {
      next[c] = u[c] + 0.24 * (u.at(c, 1, 0) + u.at(c, -1, 0) + u.at(c, 0, 1) + u.at(c, 0, -1) - 4 * u[c]);
    });
    const paint = grid.container("paint", { u, ...brush, distance2, reach2 }, ({ u, ax, ay, bx, by, ink, distance2, reach2 }, c) => {
      if (distance2(c, ax, ay, bx, by) < reach2[0]) u[c] = ink;
    });
    return steppingShow({
      grid,
      step: skeleton(set, "heat", [step, swap(u, next)]),
      painting: skeleton(set, "paint", [paint]),
      brush,
      picture: await pictureOf(canvas, { grid, values: u, zero: 0, scale: 255, colours: GLOWING }),
      begin(draw) {
        u.fill(0);
        for (const [x, y] of WARM_AT_FIRST) draw({ from: { x: x * nx, y: y * ny }, to: { x: (x + 0.08) * nx, y: y * ny }, erase: false });
      },
    });
  },
};
