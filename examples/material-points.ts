// A falling block of jelly by the material point method: particles add to a grid and read from it again. The four kernels of a step are captured as one
// graph, which is submitted 200 times.
import { f32, kernel, mat2f, open, range, scatter, vec2f, view } from "isoform";

const [CELLS, DT, STIFFNESS, GRAVITY] = [128, 2e-4, 400, 9.8];
const [DX, VOLUME] = [1 / CELLS, (0.5 / CELLS) ** 2];

/** Quadratic B-splines at the three grid points around a particle at the distance `at` from the first. */
const weight = (at: number, k: number): number =>
  k === 0 ? 0.5 * (1.5 - at) * (1.5 - at) : k === 1 ? 0.75 - (at - 1) * (at - 1) : 0.5 * (at - 0.5) * (at - 0.5);
const captures = () => [vec2f, mat2f, weight, DX, DT, STIFFNESS, GRAVITY, VOLUME, CELLS];

const clear = kernel(
  "clear",
  { momentum: view(vec2f, 2), mass: view(f32, 2) },
  ({ momentum, mass }, i, j) => {
    momentum[i][j] = vec2f(0, 0);
    mass[i][j] = 0;
  },
  captures,
);

const toGrid = kernel(
  "to grid",
  { x: view(vec2f), v: view(vec2f), affine: view(mat2f), size: view(f32), momentum: scatter(vec2f, 2), mass: scatter(f32, 2) },
  ({ x, v, affine, size, momentum, mass }, p) => {
    const at = x[p].scale(1 / DX);
    const [bx, by] = [Math.trunc(at.x - 0.5) | 0, Math.trunc(at.y - 0.5) | 0];
    const [fx, fy] = [at.x - Math.fround(bx), at.y - Math.fround(by)];
    const stress = ((-DT * 4 * STIFFNESS * VOLUME) / (DX * DX)) * (size[p] - 1);
    for (let i = 0; i < 3; i++)
      for (let j = 0; j < 3; j++) {
        const d = vec2f((Math.fround(i) - fx) * DX, (Math.fround(j) - fy) * DX);
        const w = weight(fx, i) * weight(fy, j);
        momentum.add(
          bx + i,
          by + j,
          v[p]
            .add(affine[p].mul(d))
            .scale(w * VOLUME)
            .add(d.scale(w * stress)),
        );
        mass.add(bx + i, by + j, w * VOLUME);
      }
  },
  captures,
);

const onGrid = kernel(
  "on grid",
  { velocity: view(vec2f, 2), mass: view(f32, 2) },
  ({ velocity, mass }, i, j) => {
    if (mass[i][j] > 0) {
      const v = velocity[i][j].scale(1 / mass[i][j]).sub(vec2f(0, DT * GRAVITY));
      const [low, high] = [vec2f(i < 3 ? 0 : -1e9, j < 3 ? 0 : -1e9), vec2f(i > CELLS - 3 ? 0 : 1e9, j > CELLS - 3 ? 0 : 1e9)];
      velocity[i][j] = v.max(low).min(high);
    }
  },
  captures,
);

const toParticles = kernel(
  "to particles",
  { x: view(vec2f), v: view(vec2f), affine: view(mat2f), size: view(f32), velocity: view(vec2f, 2) },
  ({ x, v, affine, size, velocity }, p) => {
    const at = x[p].scale(1 / DX);
    const [bx, by] = [Math.trunc(at.x - 0.5) | 0, Math.trunc(at.y - 0.5) | 0];
    const [fx, fy] = [at.x - Math.fround(bx), at.y - Math.fround(by)];
    let [own, c] = [vec2f(0, 0), mat2f(0, 0, 0, 0)];
    for (let i = 0; i < 3; i++)
      for (let j = 0; j < 3; j++) {
        const part = velocity[bx + i][by + j].scale(weight(fx, i) * weight(fy, j));
        own = own.add(part);
        c = c.add(
          mat2f(part.scale(Math.fround(i) - fx), part.scale(Math.fround(j) - fy))
            .transpose()
            .scale(4 / DX),
        );
      }
    v[p] = own;
    x[p] = x[p].add(own.scale(DT));
    affine[p] = c;
    size[p] *= 1 + DT * c.trace();
  },
  captures,
);

const device = await open(process.argv[2] ?? "wasm");
const n = 8192;
const x = device.from(
  vec2f,
  Float32Array.from({ length: 2 * n }, (_, i) => 0.2 + 0.4 * ((i * 0.7548776662 * (1 + (i & 1) * 0.5)) % 1)),
);
const v = device.from(
  vec2f,
  Array.from({ length: n }, () => vec2f(0, -1)),
);
const [affine, size] = [device.array(mat2f, n), device.from(f32, new Float32Array(n).fill(1))];
const [momentum, mass] = [device.array(vec2f, [CELLS, CELLS]), device.array(f32, [CELLS, CELLS])];

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
