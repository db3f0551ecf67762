import { f32, i32, table } from "isoform";
import { dense } from "isoform/grid";
import { skeleton, swap } from "isoform/skeleton";
import { brushOf, distance2, take } from "./brush.js";
import { sizeFor, type Exhibit } from "./exhibit.js";
import { GLOWING } from "./palette.js";
import { paintPicture } from "./picture.js";

/** Heat that spreads in a plate with cold sides: explicit steps of du/dt = d2u/dx2 + d2u/dy2. */
export const heat: Exhibit = {
  id: "heat",
  title: "Heat",
  text: "A plate with cold sides. Each step replaces a cell by a mean of its neighbours.",
  hint: "Draw to heat the plate; erase to cool it.",
  erases: true,
  alternative: "Bright where the plate is hot. Warm spots spread and fade.",
  extents: (set) => sizeFor(set, { gpu: [1024, 512], threads: [512, 256], thread: [256, 128] }),

  async open(set, extents) {
    const grid = dense(set, extents);
    const [u, next] = [grid.field("u", f32), grid.field("next", f32)];
    const picture = grid.field("picture", i32);
    const brush = brushOf(grid);
    const reach2 = table(f32, [(extents[0] / 40) ** 2]);

    const step = grid.container("step", { u, next }, ({ u, next }, c) => {
      next[c] = u[c] + 0.24 * (u.at(c, 1, 0) + u.at(c, -1, 0) + u.at(c, 0, 1) + u.at(c, 0, -1) - 4 * u[c]);
    });
    const paint = grid.container("paint", { u, ...brush, distance2, reach2 }, ({ u, ax, ay, bx, by, ink, distance2, reach2 }, c) => {
      if (distance2(c, ax, ay, bx, by) < reach2[0]) u[c] = ink;
    });
    const colour = grid.container("colour", { u, picture, palette: table(i32, GLOWING) }, ({ u, picture, palette }, c) => {
      picture[c] = palette[Math.min(255, Math.max(0, (u[c] * 255) | 0))];
    });
    const plan = skeleton(set, "heat", [step, swap(u, next)]);
    let steps = 0;

    const draw = async ({ from, to, erase }: Parameters<typeof take>[1]): Promise<void> => {
      take(brush, { from, to, erase }, erase ? 0 : 1);
      await grid.run(paint);
    };
    const reset = async (): Promise<void> => {
      steps = 0;
      u.fill(0);
      const [nx, ny] = extents;
      for (const [x, y] of [
        [0.25, 0.4],
        [0.5, 0.65],
        [0.72, 0.3],
      ])
        await draw({ from: { x: x * nx, y: y * ny }, to: { x: (x + 0.08) * nx, y: y * ny }, erase: false });
    };
    await reset();
    return {
      cells: grid.cells,
      paint: (context) => paintPicture(picture, context),
      draw,
      reset,
      async frame(count) {
        await plan.run(count);
        steps += count;
        await grid.run(colour);
        return { steps: count, state: `step ${steps}` };
      },
      free() {
        plan.free();
        grid.free();
      },
    };
  },
};
