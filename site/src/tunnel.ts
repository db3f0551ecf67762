import { f32, i32, table } from "isoform";
import { dense } from "isoform/grid";
import { skeleton, swap } from "isoform/skeleton";
import { D2Q9 } from "../../apps/lbm/lattice.js";
import { brushOf, distance2, take } from "./brush.js";
import { sizeFor, type Exhibit, type Stroke } from "./exhibit.js";
import { DIVERGING, OBSTACLE } from "./palette.js";

/** Of the stream, in cells a step. */
const SPEED = 0.12;
const VISCOSITY = 0.004;

/** Rates of relaxation of the even and the odd parts (Ginzburg's two relaxation times, with the product of their distances from 1/2 at 1/4). */
const EVEN = 1 / (3 * VISCOSITY + 0.5);
const ODD = 1 / (0.25 / (3 * VISCOSITY) + 0.5);

const { directions, weights } = D2Q9;

/** Deviations from the fluid at rest of the populations of the undisturbed stream. */
const STREAM = directions.map(([ex], q) => weights[q] * (3 * ex * SPEED + 4.5 * (ex * SPEED) ** 2 - 1.5 * SPEED ** 2));

/**
 * A stream past obstacles by the lattice Boltzmann method: Qian, d'Humieres and Lallemand, Europhys. Lett. 17 (1992). Populations are kept
 * as deviations from those of the fluid at rest, which leaves f32 the digits that count.
 */
export const tunnel: Exhibit = {
  id: "tunnel",
  title: "Wind tunnel",
  text: "Air from the left, by the lattice Boltzmann method: nine populations a cell that stream and collide. Orange turns one way, blue the other.",
  hint: "Draw obstacles; erase them again.",
  alternative: "A stream from left to right. Behind obstacles, vortices of both senses of rotation are shed by turns.",
  extents: (set) => sizeFor(set, { gpu: [1024, 512], threads: [512, 256], thread: [256, 128] }),

  async open(set, extents) {
    const [nx, ny] = extents;
    const grid = dense(set, extents);
    const f = grid.field("f", f32, { cardinality: 9 });
    const g = grid.field("g", f32, { cardinality: 9 });
    const wall = grid.field("wall", i32);
    const velocity = grid.field("velocity", f32, { cardinality: 2 });
    const picture = grid.field("picture", i32);
    const brush = brushOf(grid);
    const lattice = {
      e: table(i32, directions),
      w: table(f32, weights),
      last: table(i32, [nx - 1, ny - 1]),
      stream: table(f32, STREAM),
      opposite: table(
        i32,
        weights.map((_, q) => (q === 0 ? 0 : q % 2 === 1 ? q + 1 : q - 1)),
      ),
    };

    const step = grid.container(
      "stream and collide",
      { f, g, wall, ...lattice, rate: table(f32, [EVEN, ODD]) },
      ({ f, g, wall, e, w, stream, opposite, rate, last }, c) => {
        const own = new Float32Array(9);
        if (c.x === 0 || c.y === 0 || c.y === last[1]) {
          for (let q = 0; q < 9; q++) own[q] = stream[q];
        } else if (c.x === last[0]) {
          for (let q = 0; q < 9; q++) own[q] = f.at(c, -1, 0)[q];
        } else if (wall[c] === 0) {
          for (let q = 0; q < 9; q++) own[q] = wall.at(c, -e[q][0], -e[q][1]) !== 0 ? f[c][opposite[q]] : f.at(c, -e[q][0], -e[q][1])[q];
          let [density, u, v] = [0, 0, 0];
          for (let q = 0; q < 9; q++) {
            density += own[q];
            u += e[q][0] * own[q];
            v += e[q][1] * own[q];
          }
          u /= 1 + density;
          v /= 1 + density;
          const square = 1.5 * (u * u + v * v);
          own[0] -= rate[0] * (own[0] - w[0] * (density - (1 + density) * square));
          for (let q = 1; q < 9; q += 2) {
            const along = e[q][0] * u + e[q][1] * v;
            const half = rate[0] * (0.5 * (own[q] + own[q + 1]) - w[q] * (density + (1 + density) * (4.5 * along * along - square)));
            const rest = rate[1] * (0.5 * (own[q] - own[q + 1]) - w[q] * (1 + density) * 3 * along);
            own[q] -= half + rest;
            own[q + 1] -= half - rest;
          }
        }
        for (let q = 0; q < 9; q++) g[c][q] = own[q];
      },
    );
    const begin = grid.container("begin", { f, wall, stream: lattice.stream }, ({ f, wall, stream }, c) => {
      wall[c] = 0;
      for (let q = 0; q < 9; q++) f[c][q] = stream[q];
    });
    const paint = grid.container(
      "paint",
      { f, wall, ...brush, distance2, reach2: table(f32, [(nx / 64) ** 2]) },
      ({ f, wall, ax, ay, bx, by, ink, distance2, reach2 }, c) => {
        if (distance2(c, ax, ay, bx, by) < reach2[0]) {
          wall[c] = ink | 0;
          for (let q = 0; q < 9; q++) f[c][q] = 0;
        }
      },
    );
    const measure = grid.container("measure", { f, velocity, e: lattice.e }, ({ f, velocity, e }, c) => {
      let [u, v] = [0, 0];
      for (let q = 1; q < 9; q++) {
        u += e[q][0] * f[c][q];
        v += e[q][1] * f[c][q];
      }
      velocity[c][0] = u;
      velocity[c][1] = v;
    });
    const colour = grid.container(
      "colour",
      {
        wall,
        velocity,
        picture,
        palette: table(i32, DIVERGING),
        last: lattice.last,
        obstacle: table(i32, [OBSTACLE]),
        scale: table(f32, [(nx * 0.25) / SPEED]),
      },
      ({ wall, velocity, picture, palette, last, obstacle, scale }, c) => {
        const rim = c.x === 0 || c.y === 0 || c.x === last[0] || c.y === last[1];
        const curl = velocity.at(c, 1, 0)[1] - velocity.at(c, -1, 0)[1] - velocity.at(c, 0, 1)[0] + velocity.at(c, 0, -1)[0];
        picture[c] = wall[c] !== 0 ? obstacle[0] : palette[Math.min(255, Math.max(0, (128 + (rim ? 0 : curl) * scale[0]) | 0))];
      },
    );
    const plan = skeleton(set, "wind tunnel", [step, swap(f, g)]);
    let steps = 0;

    const draw = async (stroke: Stroke): Promise<void> => {
      take(brush, stroke, stroke.erase ? 0 : 1);
      await grid.run(paint);
    };
    const reset = async (): Promise<void> => {
      steps = 0;
      await grid.run(begin);
      const x = nx / 5;
      await draw({ from: { x, y: ny * 0.44 }, to: { x, y: ny * 0.54 }, erase: false });
    };
    await reset();
    return {
      picture,
      draw,
      reset,
      async frame(count) {
        await plan.run(count);
        steps += count;
        await grid.run(measure);
        await grid.run(colour);
        return `step ${steps}`;
      },
      free() {
        plan.free();
        grid.free();
      },
    };
  },
};
