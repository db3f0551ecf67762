import { f32, sum, table } from "isoform";
import { dense } from "isoform/grid";
import { skeleton, swap } from "isoform/skeleton";
import { brushOf, distance2, take } from "./brush.js";
import { AHEAD, GRIDS, defaultGrid, type Exhibit, type Stroke } from "./exhibit.js";
import { DIVERGING } from "./palette.js";
import { pictureOf } from "./picture.js";

/** Tolerance of the residual's norm, relative to the charges' norm: f32 gives no more. */
const TOLERANCE = 1e-4;

/** Places in parts of the box, and whether they are negative. */
const CHARGES = [
  [0.3, 0.4, false],
  [0.65, 0.6, true],
  [0.75, 0.25, false],
] as const;

/** -d2x/dx2 - d2x/dy2 = b with x = 0 on the sides, by conjugate gradients (Hestenes and Stiefel, J. Res. NBS 49, 1952), drawn on the way. */
export const poisson: Exhibit = {
  id: "poisson",
  title: "Poisson",
  text: "The potential of charges in a grounded box, by conjugate gradients. Each frame shows how far the solution has come.",
  hint: "Draw to place positive charges; erase to place negative ones.",
  erases: true,
  alternative: "Orange around positive charges, blue around negative ones; the colours reach farther with every iteration.",
  sizes: GRIDS,
  // An iteration takes several steps of the device.
  defaultGrid: (set) => Math.max(2, defaultGrid(set)),

  async open(set, canvas) {
    const [nx, ny] = [canvas.width, canvas.height];
    const grid = dense(set, [nx, ny]);
    const [x, r, p, s, b] = ["x", "r", "p", "s", "b"].map((name) => grid.field(name, f32));
    const [rr, before, ps, bb] = ["rr", "before", "ps", "bb"].map((name) => grid.scalar(name, f32));
    const brush = brushOf(grid);
    const radius = nx / 50;
    const reach2 = table(f32, [radius ** 2]);

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
    const plan = skeleton(set, "conjugate gradients", [apply, advance, turn, swap(rr, before)]);
    const [starting, painting] = [start, paint].map((container) => skeleton(set, container.name, [container]));
    // A charge's potential at its own place grows with its area.
    const picture = await pictureOf(canvas, { grid, values: x, zero: 128, scale: 60 / radius ** 2, colours: DIVERGING });
    let [iterations, norm, residual] = [0, 1, 1];
    /** Counts the problems that were posed: what is reported of earlier ones comes too late. */
    let problem = 0;
    let asking = false;

    const begin = (): void => {
      starting.submit(1);
      [iterations, residual, problem] = [0, 1, problem + 1];
      const own = problem;
      void bb.get().then((square) => {
        if (own === problem) norm = Math.sqrt(square) || 1;
      }, ignore);
    };
    /** Asks the device how far it is, unless it has yet to answer. */
    const ask = (): void => {
      if (asking) return;
      const own = problem;
      asking = true;
      void before.get().then((square) => {
        asking = false;
        if (own === problem) residual = Math.sqrt(square) / norm;
      }, ignore);
    };
    const place = (stroke: Stroke): void => {
      take(brush, stroke, stroke.erase ? -1 : 1);
      painting.submit(1);
    };
    const reset = (): void => {
      for (const field of [x, b]) field.fill(0);
      for (const [x, y, erase] of CHARGES) {
        const at = { x: x * nx, y: y * ny };
        place({ from: at, to: at, erase });
      }
      begin();
    };
    const solved = (): boolean => residual <= TOLERANCE;
    reset();
    return {
      cells: grid.cells,
      ahead: AHEAD,
      get state() {
        return `${solved() ? "solved, " : ""}iteration ${iterations}, residual ${residual.toExponential(1)}`;
      },
      reset,
      draw(stroke) {
        place(stroke);
        begin();
      },
      async frame(count) {
        const steps = solved() ? 0 : count;
        plan.submit(steps);
        iterations += steps;
        const painted = picture.paint();
        if (steps > 0) ask();
        await painted;
        return steps;
      },
      free() {
        for (const each of [plan, starting, painting, picture, grid]) each.free();
      },
    };
  },
};

/** Ignores the device's answers, for which nobody waits; errors are reported by the frame. */
const ignore = (): void => {};
