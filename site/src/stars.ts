import { Solver } from "../../apps/gsr/solver.js";
import type { Exhibit } from "./exhibit.js";
import { GLOWING } from "./palette.js";
import { Turnstile } from "./turnstile.js";

const GIB = 0.02;
const MOST_ITERATIONS = 2000;
/** Astrometric parameters of a star. */
const PARAMETERS = 5;
/** Decimal digits that are right where a star shines brightest. */
const DIGITS = 8;
const GOLDEN_ANGLE = Math.PI * (3 - Math.sqrt(5));
/** Radians a frame. */
const TURN = 0.004;

/** Ends a solution that nobody waits for. */
class Cancelled extends Error {}

/** The solver of the application gsr at work on a simulated system, whose exact solution is 1. */
export const stars: Exhibit = {
  id: "stars",
  title: "Stars",
  text: "The least-squares problem of the Gaia mission, small and simulated: five parameters of each star, with the attitude and the instrument of the satellite, by LSQR in f64. A star shines brighter with each digit that is right. The stars are spread evenly over the sphere; their places are not part of the system.",
  hint: "Draw sideways to turn the sphere.",
  erases: false,
  alternative: "A turning sphere of stars, dim at first. They light up, some earlier than others, as their parameters become exact.",
  sizes: [[800, 400]],
  defaultGrid: () => 0,

  async open({ locals: [{ device }] }, canvas) {
    const { width, height } = canvas;
    const context = canvas.getContext("2d")!;
    // Emulated f64 is slow to add atomically.
    const solver = await Solver.create(device, { gib: GIB, form: device.backend === "webgpu" ? "gathered" : "fused" });
    const { shape, scaling } = solver.system;
    const scale = await device.queue.read(scaling.astrometric);
    let digits = new Float32Array(shape.stars);
    let angle = 0;
    let run = begin();

    /** A new solution from 0, which waits to be let on. */
    function begin() {
      const turnstile = new Turnstile();
      const state = { turnstile, iteration: 0, residual: 1, done: false, cancelled: false, end: Promise.resolve() };
      state.end = solver
        .solve({
          iterations: MOST_ITERATIONS,
          onIteration(iteration, { rnorm, bnorm }) {
            if (state.cancelled) throw new Cancelled();
            [state.iteration, state.residual] = [iteration, rnorm / bnorm];
            return turnstile.pass();
          },
        })
        .catch((error: unknown) => {
          if (!(error instanceof Cancelled)) throw error;
        })
        .then(() => void (state.done = true));
      return state;
    }

    return {
      // The solver waits for the device in each iteration.
      ahead: 1,
      get state() {
        const exact = digits.filter((value) => value >= 6).length;
        return `${run.done ? "solved, " : ""}iteration ${run.iteration}, residual ${run.residual.toExponential(1)}, ${exact} of ${shape.stars} stars to 6 digits`;
      },
      async frame(count) {
        const { iteration, turnstile, end, done } = run;
        if (!done && count > 0) {
          await Promise.race([turnstile.admit(count), end]);
          digits = rightDigits(await solver.solution(), run.done ? undefined : scale, shape.stars);
        }
        if (count > 0) angle += TURN;
        context.fillStyle = "#0e1018";
        context.fillRect(0, 0, width, height);
        digits.forEach((value, star) => paintStar(star, value));
        return run.iteration - iteration;
      },
      draw({ from, to }) {
        angle += (to.x - from.x) / (0.45 * height);
      },
      async reset() {
        // The solution before comes to its end first, as both have one set of vectors.
        run.cancelled = true;
        void run.turnstile.admit(1);
        await run.end;
        digits.fill(0);
        run = begin();
      },
      free: () => solver.free(),
    };

    function paintStar(star: number, value: number): void {
      const y = 1 - (2 * star + 1) / shape.stars;
      const around = star * GOLDEN_ANGLE + angle;
      const ring = Math.sqrt(1 - y * y);
      const [x, depth] = [ring * Math.sin(around), ring * Math.cos(around)];
      const share = Math.min(1, Math.max(0, value / DIGITS));
      const colour = GLOWING[Math.round(60 + 195 * share)];
      context.globalAlpha = depth > 0 ? 1 : 0.25;
      context.fillStyle = `rgb(${colour & 255} ${(colour >> 8) & 255} ${(colour >> 16) & 255})`;
      context.beginPath();
      context.arc(width / 2 + 0.45 * height * x, height / 2 + 0.45 * height * y, 1.5 + 2 * share, 0, 2 * Math.PI);
      context.fill();
      context.globalAlpha = 1;
    }
  },
};

/** Right decimal digits of each star's worst parameter; `scale` undoes the scaling of columns, where that was not done yet. */
function rightDigits(solution: ArrayLike<number>, scale: ArrayLike<number> | undefined, count: number): Float32Array<ArrayBuffer> {
  return Float32Array.from({ length: count }, (_, star) => {
    let worst = 0;
    for (let n = star * PARAMETERS; n < (star + 1) * PARAMETERS; n++)
      worst = Math.max(worst, Math.abs(solution[n] * (scale?.[n] ?? 1) - 1));
    return -Math.log10(Math.max(worst, 1e-16));
  });
}
