import { f32, i32, sum, table } from "isoform";
import { dense } from "isoform/grid";
import { skeleton, swap } from "isoform/skeleton";
import { brushOf, distance2, take } from "./brush.js";
import { sizeFor, type Exhibit, type Stroke } from "./exhibit.js";
import { DIVERGING } from "./palette.js";
import { paintPicture } from "./picture.js";

/** Of the residual's norm, relative to that of the charges: f32 gives no more. */
const TOLERANCE = 1e-4;

/** -d2x/dx2 - d2x/dy2 = b with x = 0 on the sides, by conjugate gradients (Hestenes and Stiefel, J. Res. NBS 49, 1952), drawn on the way. */
export const poisson: Exhibit = {
  id: "poisson",
  title: "Poisson",
  text: "The potential of charges in a grounded box, by conjugate gradients. Each frame shows how far the solution has come.",
  hint: "Draw to place positive charges; erase to place negative ones.",
  erases: true,
  alternative: "Orange around positive charges, blue around negative ones; the colours reach farther with every iteration.",
  extents: (set) => sizeFor(set, { gpu: [512, 256], threads: [256, 128], thread: [256, 128] }),

  async open(set, extents) {
    const grid = dense(set, extents);
    const [x, r, p, s, b] = ["x", "r", "p", "s", "b"].map((name) => grid.field(name, f32));
    const picture = grid.field("picture", i32);
    const [rr, before, ps, bb] = ["rr", "before", "ps", "bb"].map((name) => grid.scalar(name, f32));
    const brush = brushOf(grid);
    const radius = extents[0] / 50;
    const reach2 = table(f32, [radius ** 2]);
    // A charge's potential at its own place grows with its area.
    const scale = table(f32, [60 / radius ** 2]);

    const apply = grid.container("apply", { p, s, ps: sum(ps) }, ({ p, s, ps }, c) => {
      s[c] = 4 * p[c] - p.at(c, 1, 0) - p.at(c, -1, 0) - p.at(c, 0, 1) - p.at(c, 0, -1);
      ps.add(p[c] * s[c]);
    });
    const advance = grid.container("advance", { x, r, p, s, before, ps, rr: sum(rr) }, ({ x, r, p, s, before, ps, rr }, c) => {
      const length = ps > 0 ? before / ps : 0;
      x[c] += length * p[c];
      r[c] -= length * s[c];
      rr.add(r[c] * r[c]);
    });
    const turn = grid.container("turn", { p, r, rr, before }, ({ p, r, rr, before }, c) => {
      p[c] = r[c] + (before > 0 ? rr / before : 0) * p[c];
    });
    const start = grid.container("start", { x, r, p, b, before: sum(before), bb: sum(bb) }, ({ x, r, p, b, before, bb }, c) => {
      r[c] = b[c] - (4 * x[c] - x.at(c, 1, 0) - x.at(c, -1, 0) - x.at(c, 0, 1) - x.at(c, 0, -1));
      p[c] = r[c];
      before.add(r[c] * r[c]);
      bb.add(b[c] * b[c]);
    });
    const paint = grid.container("paint", { b, ...brush, distance2, reach2 }, ({ b, ax, ay, bx, by, ink, distance2, reach2 }, c) => {
      if (distance2(c, ax, ay, bx, by) < reach2[0]) b[c] = ink;
    });
    const colour = grid.container("colour", { x, picture, scale, palette: table(i32, DIVERGING) }, ({ x, picture, scale, palette }, c) => {
      picture[c] = palette[Math.min(255, Math.max(0, (128 + x[c] * scale[0]) | 0))];
    });
    const plan = skeleton(set, "conjugate gradients", [apply, advance, turn, swap(rr, before)]);
    let [iterations, norm, residual] = [0, 1, 1];

    const begin = async (): Promise<void> => {
      await grid.run(start);
      iterations = 0;
      norm = Math.sqrt(await bb.get()) || 1;
      residual = Math.sqrt(await before.get()) / norm;
    };
    const place = async (stroke: Stroke): Promise<void> => {
      take(brush, stroke, stroke.erase ? -1 : 1);
      await grid.run(paint);
    };
    const reset = async (): Promise<void> => {
      for (const field of [x, b]) field.fill(0);
      const [nx, ny] = extents;
      const at = (x: number, y: number, erase: boolean): Stroke => ({
        from: { x: x * nx, y: y * ny },
        to: { x: x * nx, y: y * ny },
        erase,
      });
      for (const charge of [at(0.3, 0.4, false), at(0.65, 0.6, true), at(0.75, 0.25, false)]) await place(charge);
      await begin();
    };
    await reset();
    return {
      cells: grid.cells,
      paint: (context) => paintPicture(picture, context),
      reset,
      async draw(stroke) {
        await place(stroke);
        await begin();
      },
      async frame(count) {
        const solved = residual <= TOLERANCE;
        if (!solved) {
          iterations += (await plan.run(count)).iterations;
          residual = Math.sqrt(await before.get()) / norm;
        }
        await grid.run(colour);
        return {
          steps: solved ? 0 : count,
          state: `${solved ? "solved, " : ""}iteration ${iterations}, residual ${residual.toExponential(1)}`,
        };
      },
      free() {
        plan.free();
        grid.free();
      },
    };
  },
};
