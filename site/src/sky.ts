import { f32, kernel, range, view } from "isoform";
import { dense } from "isoform/grid";
import { scanningLaw, SPIN, STEP, YEAR } from "../../apps/gsr/scanning/law.js";
import { AHEAD, defaultGrid, GRIDS, type Exhibit, type Stroke } from "./exhibit.js";
import { GLOWING, SKY_MARKS } from "./palette.js";
import { pictureOf } from "./picture.js";
import { AXES_OF_STEP, axesOfSteps, countTransits, directionsOf, marksAt } from "./sky-counts.js";

/** Years of the law that are shown. */
const YEARS = 2;
const DAY = 86_400;
/** Steps of 600 s of a frame, at most: half a turn of the satellite. */
const MOST = 18;
/** Transits at which the brightest colour is reached. */
const BRIGHTEST = 128;
/** Colours a doubling of the transits, from one on. */
const DOUBLING = 255 / Math.log2(1 + BRIGHTEST);
const [SUN, AXIS, OUTSIDE] = [256, 257, 258];
/** Cosine of the radius of the discs of the Sun and of the spin axis; sine of half the width of the line that the fields sweep. */
const [DISC, LINE] = [Math.cos((2.5 * Math.PI) / 180), Math.sin((0.8 * Math.PI) / 180)];

/** Colours of counts, with the Sun, the spin axis and the circle that the fields sweep now. `marks` are directions: Sun, axis. */
const colourSky = kernel(
  "colourSky",
  { direction: view(f32, 3), count: view(f32, 2), marks: view(f32, 2), shown: view(f32, 2) },
  ({ direction, count, marks, shown }, j, i) => {
    const x = direction[j][i][0];
    const y = direction[j][i][1];
    const z = direction[j][i][2];
    const sun = marks[0][0] * x + marks[0][1] * y + marks[0][2] * z;
    const axis = marks[1][0] * x + marks[1][1] * y + marks[1][2] * z;
    const colour = Math.min(255, DOUBLING * Math.log2(1 + count[j][i]));
    const swept = Math.abs(axis) < LINE ? colour + 0.35 * (255 - colour) : colour;
    const marked = sun > DISC ? SUN : axis > DISC ? AXIS : swept;
    shown[j][i] = x * x + y * y + z * z > 0 ? marked : OUTSIDE;
  },
  () => [DOUBLING, DISC, LINE, SUN, AXIS, OUTSIDE],
);

/** Takes counts away along a line: `stroke` has the ends, x and y of each, and the square of how far it reaches. */
const wipe = kernel("wipe", { count: view(f32, 2), stroke: view(f32) }, ({ count, stroke }, j, i) => {
  const [dx, dy] = [stroke[2] - stroke[0], stroke[3] - stroke[1]];
  const [px, py] = [Math.fround(i) - stroke[0], Math.fround(j) - stroke[1]];
  const share = Math.min(1, Math.max(0, (px * dx + py * dy) / Math.max(1e-6, dx * dx + dy * dy)));
  const [ox, oy] = [px - share * dx, py - share * dy];
  if (ox * ox + oy * oy < stroke[4]) count[j][i] = 0;
});

/** The scanning law of the application gsr at work. */
export const sky: Exhibit = {
  id: "sky",
  title: "Scanning law",
  text: "How the Gaia mission sees the sky: a map in ecliptic coordinates that keeps areas, ecliptic in the middle. Two fields of view, 106.5 degrees apart, sweep a great circle in six hours; the spin axis (white) goes round the Sun (yellow) at 45 degrees in 63 days. Colours count how often each place was seen, a step of colour for each doubling: 17.6 times a year on average, most often 45 degrees from the ecliptic.",
  hint: "Draw to forget what was seen there.",
  erases: false,
  alternative:
    "An oval map of the sky, dark at first. Bright great circles fill it; a white disc circles a yellow one that moves along the middle. Two bands are brightest.",
  sizes: GRIDS,
  defaultGrid,

  async open(set, canvas) {
    const [{ device }] = set.locals;
    const { queue } = device;
    const [nx, ny] = [canvas.width, canvas.height];
    const law = scanningLaw(YEARS * YEAR);
    const last = Math.floor(law.duration / STEP);
    const direction = device.from(f32, directionsOf(nx, ny)).reshape(ny, nx, 3);
    const [count, axes, marks] = [device.array(f32, [ny, nx]), device.array(f32, [MOST, AXES_OF_STEP]), device.array(f32, [2, 3])];
    const stroked = device.array(f32, 5);
    const grid = dense(set, [nx, ny]);
    const shown = grid.field("shown", f32);
    // The grid does not know that kernels write it.
    shown.fill(0);
    const pixels = range(ny, nx);
    const counting = device.prepare(countTransits, { direction, axes, steps: MOST, count }, pixels);
    const showing = device.prepare(colourSky, { direction, count, marks, shown: grid.window(shown) }, pixels);
    const wiping = device.prepare(wipe, { count, stroke: stroked }, pixels);
    const picture = await pictureOf(canvas, { grid, values: shown, zero: 0, scale: 1, colours: [...GLOWING, ...SKY_MARKS] });
    let step = 0;
    return {
      cells: grid.cells,
      ahead: AHEAD,
      most: MOST,
      get state() {
        const seconds = step * STEP;
        return `${step === last ? "done, " : ""}day ${(seconds / DAY).toFixed(1)}, turn ${Math.floor((seconds * SPIN) / (2 * Math.PI))} of the satellite`;
      },
      reset() {
        step = 0;
        queue.clear(count);
      },
      draw({ from, to }: Stroke) {
        queue.write(stroked, [from.x, from.y, to.x, to.y, (nx / 40) ** 2]);
        queue.submit(wiping);
      },
      async frame(wanted) {
        const steps = Math.min(wanted, last - step);
        if (steps > 0) {
          queue.write(axes.slice([0, steps]), axesOfSteps(law, step, steps));
          counting.submit({ steps });
          step += steps;
        }
        queue.write(marks, marksAt(law, step));
        queue.submit(showing);
        await picture.paint();
        return steps;
      },
      free() {
        for (const each of [counting, showing, wiping, direction, count, axes, marks, stroked, picture, grid]) each.free();
      },
    };
  },
};
