// A falling block of jelly by the material point method: particles add to a grid and read from it again. The four kernels of a step are captured as one
// graph, which is submitted 200 times.
import { f32, kernel, open, range, scatter, view } from "isoform";

const [CELLS, DT, STIFFNESS, GRAVITY] = [128, 2e-4, 400, 9.8];
const [DX, VOLUME] = [1 / CELLS, (0.5 / CELLS) ** 2];

/** Quadratic B-splines at the three grid points around a particle. */
const weights = (w: Float32Array, at: number): void => {
  w[0] = 0.5 * (1.5 - at) * (1.5 - at);
  w[1] = 0.75 - (at - 1) * (at - 1);
  w[2] = 0.5 * (at - 0.5) * (at - 0.5);
};
const captures = () => [weights, DX, DT, STIFFNESS, GRAVITY, VOLUME, CELLS];

const clear = kernel("clear", { momentum: view(f32, 3), mass: view(f32, 2) }, ({ momentum, mass }, i, j) => {
  momentum[i][j][0] = 0;
  momentum[i][j][1] = 0;
  mass[i][j] = 0;
});

const toGrid = kernel(
  "to grid",
  { x: view(f32, 2), v: view(f32, 2), affine: view(f32, 3), size: view(f32), momentum: scatter(f32, 3), mass: scatter(f32, 2) },
  ({ x, v, affine, size, momentum, mass }, p) => {
    const [bx, by] = [Math.trunc(x[p][0] / DX - 0.5) | 0, Math.trunc(x[p][1] / DX - 0.5) | 0];
    const [fx, fy] = [x[p][0] / DX - bx, x[p][1] / DX - by];
    const [wx, wy] = [new Float32Array(3), new Float32Array(3)];
    weights(wx, fx);
    weights(wy, fy);
    const stress = (-DT * 4 * STIFFNESS * VOLUME * (size[p] - 1)) / (DX * DX);
    for (let i = 0; i < 3; i++)
      for (let j = 0; j < 3; j++) {
        const [dx, dy] = [(i - fx) * DX, (j - fy) * DX];
        const w = wx[i] * wy[j];
        for (let d = 0; d < 2; d++) {
          const moved = VOLUME * (v[p][d] + affine[p][d][0] * dx + affine[p][d][1] * dy) + stress * (d === 0 ? dx : dy);
          momentum.add(bx + i, by + j, d, Math.fround(w * moved));
        }
        mass.add(bx + i, by + j, Math.fround(w * VOLUME));
      }
  },
  captures,
);

const onGrid = kernel(
  "on grid",
  { velocity: view(f32, 3), mass: view(f32, 2) },
  ({ velocity, mass }, i, j) => {
    if (mass[i][j] > 0) {
      let [vx, vy] = [velocity[i][j][0] / mass[i][j], velocity[i][j][1] / mass[i][j] - DT * GRAVITY];
      if ((i < 3 && vx < 0) || (i > CELLS - 3 && vx > 0)) vx = 0;
      if ((j < 3 && vy < 0) || (j > CELLS - 3 && vy > 0)) vy = 0;
      velocity[i][j][0] = Math.fround(vx);
      velocity[i][j][1] = Math.fround(vy);
    }
  },
  captures,
);

const toParticles = kernel(
  "to particles",
  { x: view(f32, 2), v: view(f32, 2), affine: view(f32, 3), size: view(f32), velocity: view(f32, 3) },
  ({ x, v, affine, size, velocity }, p) => {
    const [bx, by] = [Math.trunc(x[p][0] / DX - 0.5) | 0, Math.trunc(x[p][1] / DX - 0.5) | 0];
    const [fx, fy] = [x[p][0] / DX - bx, x[p][1] / DX - by];
    const [wx, wy] = [new Float32Array(3), new Float32Array(3)];
    weights(wx, fx);
    weights(wy, fy);
    const [own, c] = [new Float32Array(2), new Float32Array(4)];
    for (let i = 0; i < 3; i++)
      for (let j = 0; j < 3; j++) {
        const w = wx[i] * wy[j];
        for (let d = 0; d < 2; d++) {
          const speed = velocity[bx + i][by + j][d];
          own[d] += w * speed;
          c[2 * d] += ((4 * w * speed) / DX) * (i - fx);
          c[2 * d + 1] += ((4 * w * speed) / DX) * (j - fy);
        }
      }
    for (let d = 0; d < 2; d++) {
      v[p][d] = own[d];
      x[p][d] += Math.fround(DT * own[d]);
      affine[p][d][0] = c[2 * d];
      affine[p][d][1] = c[2 * d + 1];
    }
    size[p] *= Math.fround(1 + DT * (c[0] + c[3]));
  },
  captures,
);

const device = await open(process.argv[2] ?? "wasm");
const n = 8192;
const x = device.from(
  f32,
  Float32Array.from({ length: 2 * n }, (_, i) => 0.2 + 0.4 * ((i * 0.7548776662 * (1 + (i & 1) * 0.5)) % 1)),
  [n, 2],
);
const v = device.from(
  f32,
  Float32Array.from({ length: 2 * n }, (_, i) => (i & 1 ? -1 : 0)),
  [n, 2],
);
const [affine, size] = [device.array(f32, [n, 2, 2]), device.from(f32, new Float32Array(n).fill(1))];
const [momentum, mass] = [device.array(f32, [CELLS, CELLS, 2]), device.array(f32, [CELLS, CELLS])];

const launches = [
  device.prepare(clear, { momentum, mass }, range(CELLS, CELLS)),
  device.prepare(toGrid, { x, v, affine, size, momentum, mass }, range(n)),
  device.prepare(onGrid, { velocity: momentum, mass }, range(CELLS, CELLS)),
  device.prepare(toParticles, { x, v, affine, size, velocity: momentum }, range(n)),
];
const step = device.queue.capture(() => {
  for (const launch of launches) device.queue.submit(launch);
});
for (let k = 0; k < 200; k++) device.queue.submit(step);

const heights = (await device.queue.read(x)).filter((_, k) => k % 2 === 1);
const mean = heights.reduce((a, b) => a + b) / n;
// Free fall from 0.4 at speed 1 for 0.04 s.
console.log(`mean height ${mean.toFixed(3)}`); // -> mean height 0.352
await device.close();
