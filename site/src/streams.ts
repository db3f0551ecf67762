import { f32, i32, kernel, range, view, type Kernel, type Launch, type View } from "isoform";
import { fortran } from "isoform/fortran";
import { dense } from "isoform/grid";
import solver from "../../examples/euler.f90?raw";
import { AHEAD, GRIDS, type Exhibit, type Stroke } from "./exhibit.js";
import { gasGrid } from "./gas.js";
import { GLOWING } from "./palette.js";
import { pictureOf } from "./picture.js";

/** dt/dx: waves of the flow cross at most three quarters of a cell in a step. */
const RATIO = 0.25;
/** Gas at rest where it is drawn. */
const BLAST = { rho: 2, energy: 10 } as const;

/** Flips rows: row 0 of the picture is the top, row 0 of the solver the bottom. */
const density = kernel("density", { w: view(f32, 3), shown: view(f32, 2), last: i32 }, ({ w, shown, last }, j, i) => {
  shown[j][i] = w[0][last - j + 2][i + 2];
});

/** `stroke` has the ends of a line, x and y of each, and the square of how far it reaches. */
const blast = kernel("blast", { w: view(f32, 3), stroke: view(f32), rho: f32, energy: f32 }, ({ w, stroke, rho, energy }, j, i) => {
  const [dx, dy] = [stroke[2] - stroke[0], stroke[3] - stroke[1]];
  const [px, py] = [Math.fround(i) - stroke[0], Math.fround(j) - stroke[1]];
  const share = Math.min(1, Math.max(0, (px * dx + py * dy) / Math.max(1e-6, dx * dx + dy * dy)));
  const [ox, oy] = [px - share * dx, py - share * dy];
  if (ox * ox + oy * oy < stroke[4]) {
    w[0][j + 2][i + 2] = rho;
    w[1][j + 2][i + 2] = 0;
    w[2][j + 2][i + 2] = 0;
    w[3][j + 2][i + 2] = energy;
  }
});

/** The example euler.f90 at work in f32, with a fixed step. */
export const streams: Exhibit = {
  id: "streams",
  title: "Four streams",
  text: "Four streams of gas meet in a point, and a jet of dense gas runs down the diagonal between their shocks. Bright is dense. The solver is written in Fortran (MUSCL-Hancock and HLLC), and this page turns its loops into kernels. The picture is one high; in one unit of time, sound in the gas at the upper right crosses 1.2 of it.",
  hint: "Draw blasts.",
  erases: false,
  alternative: "Bright gas at the upper right, dark gas at the lower left; between them curved shocks, and a jet that rolls up at its tip.",
  sizes: GRIDS,
  defaultGrid: gasGrid,

  async open(set, canvas) {
    const [{ device }] = set.locals;
    const [nx, ny] = [canvas.width, canvas.height];
    const code = fortran(solver, { file: "euler.f90", kinds: { rkind: "f32" } });
    const [w, f] = ["w", "f"].map((name) => code.array(device, "fluxes", name, { nx, ny }) as View<"f32", 3>);
    const { queue } = device;
    const launchOf = (name: string, given: Readonly<Record<string, number>> = {}): Launch => {
      const loops = code.kernels.get(name)!;
      const all: Record<string, unknown> = { nx, ny, ratio: RATIO, w, f, ...given };
      const args = Object.fromEntries(Object.keys(loops.params).map((param) => [param, all[param]]));
      return device.prepare(loops as Kernel, args, loops.range(all));
    };
    const [begin, ghosts] = [launchOf("start"), launchOf("fill_ghosts")];
    const sweeps = [
      { di: 1, dj: 0 },
      { di: 0, dj: 1 },
    ].map((along) => [ghosts, launchOf("fluxes", along), launchOf("update", along)]);
    const grid = dense(set, [nx, ny]);
    const shown = grid.field("shown", f32);
    // The grid does not know that kernels write it.
    shown.fill(0);
    const cells = range(ny, nx);
    const showing = device.prepare(density, { w, shown: grid.window(shown), last: ny - 1 }, cells);
    const stroked = device.array(f32, 5);
    const drawing = device.prepare(blast, { w, stroke: stroked, ...BLAST }, cells);
    const picture = await pictureOf(canvas, { grid, values: shown, zero: 0, scale: 145, colours: GLOWING });
    let steps = 0;
    const reset = (): void => {
      steps = 0;
      queue.submit(begin);
    };
    reset();
    return {
      cells: grid.cells,
      ahead: AHEAD,
      most: Math.max(1, Math.round(nx / 128)),
      get state() {
        return `step ${steps}, time ${((steps * RATIO) / ny).toFixed(2)}`;
      },
      reset,
      draw({ from, to }: Stroke) {
        queue.write(stroked, [from.x, ny - 1 - from.y, to.x, ny - 1 - to.y, (nx / 50) ** 2]);
        queue.submit(drawing);
      },
      async frame(count) {
        for (let n = 0; n < count; n++, steps++) {
          const [first, second] = steps % 2 === 0 ? sweeps : sweeps.toReversed();
          for (const launch of [...first, ...second]) queue.submit(launch);
        }
        queue.submit(showing);
        await picture.paint();
        return count;
      },
      free() {
        for (const each of [begin, ...new Set(sweeps.flat()), showing, drawing, stroked, w, f, picture, grid]) each.free();
      },
    };
  },
};
