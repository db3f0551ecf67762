import { f32, i32, table } from "isoform";
import { dense } from "isoform/grid";
import { skeleton, swap } from "isoform/skeleton";
import { D2Q9 } from "../../apps/lbm/lattice.js";
import { brushOf, distance2 } from "./brush.js";
import { GRIDS, defaultGrid, type Exhibit } from "./exhibit.js";
import { DIVERGING, OBSTACLE } from "./palette.js";
import { pictureOf } from "./picture.js";
import { steppingShow } from "./stepping.js";

/** Speed of the stream, in cells a step. */
const SPEED = 0.08;
const VISCOSITY = 0.004;

const RELAXATION = 3 * VISCOSITY + 0.5;
/** 18 sqrt(2) times the square of Smagorinsky's constant. */
const EDDIES = 18 * Math.SQRT2 * 0.18 ** 2;

const { directions, weights } = D2Q9;

/** Deviations from the fluid at rest of the populations of the undisturbed stream. */
const STREAM = directions.map(([ex], q) => weights[q] * (3 * ex * SPEED + 4.5 * (ex * SPEED) ** 2 - 1.5 * SPEED ** 2));

/**
 * A stream past obstacles by the lattice Boltzmann method: Qian, d'Humieres and Lallemand, Europhys. Lett. 17 (1992). So that it stays
 * stable whatever is drawn, only stresses outlive a collision (Latt and Chopard, Math. Comput. Simul. 72, 2006), and eddies smaller than a
 * cell add to the viscosity (Hou, Sterling, Chen and Doolen, Fields Inst. Commun. 6, 1996). Populations are kept as deviations from the
 * fluid at rest, which leaves f32 the digits that count.
 */
export const tunnel: Exhibit = {
  id: "tunnel",
  title: "Wind tunnel",
  text: "Air from the left, by the lattice Boltzmann method: nine populations a cell that stream and collide. Orange spins one way, blue the other.",
  hint: "Draw obstacles, or erase them.",
  erases: true,
  alternative: "A stream from left to right. Obstacles shed vortices of both senses of rotation by turns.",
  sizes: GRIDS,
  defaultGrid: defaultGrid,

  async open(set, canvas) {
    const [nx, ny] = [canvas.width, canvas.height];
    const grid = dense(set, [nx, ny]);
    const f = grid.field("f", f32, { cardinality: 9 });
    const g = grid.field("g", f32, { cardinality: 9 });
    const wall = grid.field("wall", i32);
    const velocity = grid.field("velocity", f32, { cardinality: 2 });
    const shown = grid.field("shown", f32);
    const brush = brushOf(grid);
    const e = table(i32, directions);
    const w = table(f32, weights);
    const last = table(i32, [nx - 1, ny - 1]);
    const stream = table(f32, STREAM);
    const opposite = table(
      i32,
      weights.map((_, q) => (q === 0 ? 0 : q % 2 === 1 ? q + 1 : q - 1)),
    );
    const relaxation = table(f32, [RELAXATION]);
    const eddies = table(f32, [EDDIES]);

    const step = grid.container(
      "stream and collide",
      { f, g, wall },
      ({ f, g, wall }, c) => {
        const own = new Float32Array(9);
        const inlet = c.x === 0 || c.y === 0 || c.y === last[1];
        const outlet = c.x === last[0];
        if (wall[c] === 0) {
          for (let q = 0; q < 9; q++) {
            const back = wall.at(c, -e[q][0], -e[q][1]) !== 0;
            const streamed = back ? f[c][opposite[q]] : f.at(c, -e[q][0], -e[q][1])[q];
            own[q] = inlet ? stream[q] : outlet ? f.at(c, -1, 0)[q] : streamed;
          }
          let [density, u, v] = [0, 0, 0];
          for (let q = 0; q < 9; q++) {
            density += own[q];
            u += e[q][0] * own[q];
            v += e[q][1] * own[q];
          }
          u /= 1 + density;
          v /= 1 + density;
          // Jets between obstacles are held below half the speed of sound, beyond which the method fails.
          const brake = 0.28 / Math.max(0.28, Math.abs(u), Math.abs(v));
          u *= brake;
          v *= brake;
          // Lets fluid leave at the density of the stream.
          if (outlet) density = 0;
          // Computes the stresses beyond the equilibrium.
          let [xx, xy, yy] = [-density / 3 - (1 + density) * u * u, -(1 + density) * u * v, -density / 3 - (1 + density) * v * v];
          for (let q = 1; q < 9; q++) {
            xx += e[q][0] * e[q][0] * own[q];
            xy += e[q][0] * e[q][1] * own[q];
            yy += e[q][1] * e[q][1] * own[q];
          }
          const stress = Math.sqrt(xx * xx + 2 * xy * xy + yy * yy);
          const time = 0.5 * (relaxation[0] + Math.sqrt(relaxation[0] * relaxation[0] + eddies[0] * stress));
          const kept = outlet ? 0 : 4.5 * (1 - 1 / time);
          const square = 1.5 * (u * u + v * v);
          for (let q = 0; q < 9; q++) {
            const along = e[q][0] * u + e[q][1] * v;
            const equilibrium = density + (1 + density) * (3 * along + 4.5 * along * along - square);
            const rest = e[q][0] * e[q][0] * xx + 2 * e[q][0] * e[q][1] * xy + e[q][1] * e[q][1] * yy - (xx + yy) / 3;
            own[q] = w[q] * (equilibrium + kept * rest);
          }
        }
        for (let q = 0; q < 9; q++) g[c][q] = own[q];
      },
      () => [e, w, last, stream, opposite, relaxation, eddies],
    );
    const begin = grid.container("begin", { f, wall, stream }, ({ f, wall, stream }, c) => {
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
    const measure = grid.container("measure", { f, velocity, e }, ({ f, velocity, e }, c) => {
      let [u, v] = [0, 0];
      for (let q = 1; q < 9; q++) {
        u += e[q][0] * f[c][q];
        v += e[q][1] * f[c][q];
      }
      velocity[c][0] = u;
      velocity[c][1] = v;
    });
    const curl = grid.container(
      "curl",
      { wall, velocity, shown, last, scale: table(f32, [(nx * 0.25) / SPEED]) },
      ({ wall, velocity, shown, last, scale }, c) => {
        const isBorder = c.x === 0 || c.y === 0 || c.x === last[0] || c.y === last[1];
        const curl = velocity.at(c, 1, 0)[1] - velocity.at(c, -1, 0)[1] - velocity.at(c, 0, 1)[0] + velocity.at(c, 0, -1)[0];
        const colour = Math.min(255, Math.max(0, 128 + (isBorder ? 0 : curl) * scale[0]));
        // Takes the colour after the stream's colours for obstacles.
        shown[c] = wall[c] !== 0 ? 256 : colour;
      },
    );
    const [beginning, painting, showing] = [
      skeleton(set, "begin", [begin]),
      skeleton(set, "paint", [paint]),
      skeleton(set, "curl", [measure, curl]),
    ];
    const picture = await pictureOf(canvas, { grid, values: shown, zero: 0, scale: 1, colours: [...DIVERGING, OBSTACLE] });
    return steppingShow({
      grid,
      step: skeleton(set, "wind tunnel", [step, swap(f, g)]),
      painting,
      brush,
      showing,
      picture,
      begin(draw) {
        beginning.submit(1);
        const x = nx / 5;
        draw({ from: { x, y: ny * 0.44 }, to: { x, y: ny * 0.54 }, erase: false });
      },
      others: [beginning],
    });
  },
};
