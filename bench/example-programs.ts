import { f32, f64, i32, range, sum, teams, u32, u8, type Device, type View } from "isoform";
import { dense } from "isoform/grid";
import { scan, sortByKey } from "isoform/patterns";
import { devices } from "isoform/set";
import { skeleton, swap } from "isoform/skeleton";
import { records } from "isoform/views";
import { beside, big, Functions, noise, over, type Made, type ProgramBesideC } from "./beside-c.js";
import { kernelsOf } from "./example-kernels.js";

/* The kernels of examples/ with more data, each beside its function in baselines/examples.c. */

type Kernels = Awaited<ReturnType<typeof kernelsOf>>;

const functions = new Functions("examples");

/** An example's kernels on a device, beside a function in C of the same name. */
const example =
  (name: string, make: (device: Device, kernels: Kernels) => Made) =>
  async (where: string): Promise<ProgramBesideC> => {
    const kernels = await kernelsOf(name);
    return beside(functions, name.replaceAll("-", "_"), (device) => make(device, kernels), where);
  };

/** A graph of launches. */
const inOrder = (device: Device, launches: readonly Made["work"][]): Made["work"] => {
  const graph = device.queue.capture(() => launches.forEach((launch) => launch.submit()));
  return { submit: () => device.queue.submit(graph) };
};

/** An array with a value for each index. */
const filled = <T extends View["type"]>(
  device: Device,
  type: { readonly type: T },
  shape: number | number[],
  value: (i: number) => number,
): View<T, 1> => {
  const count = [shape].flat().reduce((a, b) => a * b, 1);
  return device.from(type as never, Float64Array.from({ length: count }, (_, i) => value(i)) as never, shape as never) as never;
};

/** The inner points of n x n. */
const between = (n: number) => range([1, n - 1], [1, n - 1]);

const diffusion = async (where: string): Promise<ProgramBesideC> => {
  const n = 48;
  const set = await devices(where);
  const grid = dense(set, [n, n, n]);
  const [u, next] = [grid.field("u", f64), grid.field("next", f64)];
  const heat = grid.scalar("heat", f64);
  await u.fill((x, y, z) => 1 + Math.sin(x + 2 * y + 3 * z));
  const step = grid.container("step", { u, next }, ({ u, next }, c) => {
    const around = u.at(c, 1, 0, 0) + u.at(c, -1, 0, 0) + u.at(c, 0, 1, 0) + u.at(c, 0, -1, 0) + u.at(c, 0, 0, 1) + u.at(c, 0, 0, -1);
    next[c] = 0.4 * u[c] + 0.1 * around;
  });
  const total = grid.container("total", { next, heat: sum(heat) }, ({ next, heat }, c) => heat.add(next[c]));
  const plan = skeleton(set, "diffusion", [step, total, swap(u, next)]);
  const byHand = (device: Device): Made => {
    const [a, b] = [noise, () => 0].map((value) => filled(device, f64, (n + 2) ** 3, value));
    return { work: { submit: () => undefined }, c: [a, b, device.array(f64, 1), ...big(n)] };
  };
  const { c, narrow, free } = await beside(functions, "diffusion", byHand, where);
  return { own: (times) => plan.run(times), c, narrow, free: async () => void (await Promise.all([set.close(), free()])) };
};

const fourier = example("fourier", (device, { stage }) => {
  const n = 4096;
  const arrays = [noise, () => 0].map((value) => filled(device, f64, [n, 2], value));
  const launches: Made["work"][] = [];
  let [z, to] = arrays;
  for (let [half, s] = [n / 2, 1]; half >= 1; [half, s] = [half / 2, 2 * s]) {
    launches.push(over(device, stage, { half, s, z, to }, n / 2));
    [z, to] = [to, z];
  }
  return { work: inOrder(device, launches), c: [...arrays, ...big(n)] };
});

const hash = example("hash", (device, { murmur }) => {
  const n = 100_000;
  const [x, y] = [filled(device, u32, n, (i) => i), device.array(u32, n)];
  return { work: over(device, murmur, { seed: 0, x, y }, n), c: [x, y, ...big(n)], output: y };
});

const histogram = example("histogram", (device, kernels) => {
  const n = 2 ** 20;
  const [x, counts] = [filled(device, u8, n, (i) => (i * i * 31 + i) & 255), device.array(i32, 256)];
  return { work: over(device, kernels.histogram, { x, counts }, n), c: [x, counts, ...big(n)] };
});

const jacobi = example("jacobi", (device, { iterate }) => {
  const n = 257;
  const [f, u, next] = [noise, noise, () => 0].map((value) => filled(device, f64, [n, n], value));
  const work = device.prepare(iterate as never, { f, u, next } as never, between(n));
  return { work, c: [f, u, next, device.array(f64, 1), ...big(n)], output: next };
});

const kMeans = example("k-means", (device, { assign }) => {
  const [n, k] = [20_000, 4];
  const p = filled(device, f32, [n, 2], (i) => 10 * ((i & 1 ? i >> 2 : i >> 1) & 1) + Math.sin(i * 12.9));
  const centres = filled(device, f32, [k, 2], (i) => 10 * ((i >> (i & 1 ? 2 : 1)) & 1));
  // One place more, where C counts points that have moved.
  const [label, total, count] = [device.array(i32, n), device.array(f32, [k, 2]), device.array(i32, k + 1)];
  const args = { k, p, centres, label, total, count };
  return { work: over(device, assign, args, n), c: [p, centres, label, total, count, ...big(n, k)], output: label };
});

const life = example("life", (device, { generation }) => {
  const n = 512;
  const [now, next] = [filled(device, u8, [n, n], (i) => (noise(i) < 0.3 ? 1 : 0)), device.array(u8, [n, n])];
  return { work: over(device, generation, { now, next }, n, n), c: [now, next, ...big(n)], output: next };
});

const mandelbrot = example("mandelbrot", (device, kernels) => {
  const [n, limit] = [256, 200];
  const image = device.array(i32, [n, n]);
  return { work: over(device, kernels.mandelbrot, { n, limit, image }, n, n), c: [image, ...big(n, limit)], output: image };
});

const monteCarlo = example("monte-carlo", (device, kernels) => {
  const n = 200_000;
  return { work: over(device, kernels.inside, { seed: 42 }, n), c: [device.array(i32, 1), ...big(42, n)] };
});

const nBody = example("n-body", (device, { accelerate }) => {
  const n = 2048;
  const [place, velocity] = [filled(device, f32, [n, 3], (i) => Math.sin(i * 1.7)), device.array(f32, [n, 3])];
  const mass = filled(device, f32, n, () => 1 / n);
  const args = { n, softening: 1e-3, dt: 0.01, place, velocity, mass };
  return { work: over(device, accelerate, args, n), c: [place, velocity, mass, ...big(n)] };
});

const neighbours = example("neighbours", (device, { density }) => {
  const [n, m] = [4000, 20];
  const h = 1 / m;
  const cellOf = ([x, y]: readonly number[]): number => Math.floor(x / h) + m * Math.floor(y / h);
  const places = Array.from({ length: n }, (_, i) => [noise(2 * i), noise(2 * i + 1)]).sort((a, b) => cellOf(a) - cellOf(b));
  const x = filled(device, f64, [n, 2], (i) => places[i >> 1][i & 1]);
  const [offsets, rho] = [filled(device, i32, m * m + 1, (c) => places.filter((at) => cellOf(at) < c).length), device.array(f64, n)];
  return { work: over(device, density, { h, m, x, offsets, rho }, n), c: [x, offsets, rho, h, ...big(n, m)], output: rho };
});

const perceptron = example("perceptron", (device, { layer }) => {
  const [samples, inputs, outputs] = [64, 784, 128];
  const [x, weights] = [filled(device, f32, [samples, inputs], noise), filled(device, f32, [inputs, outputs], (i) => noise(i) - 0.5)];
  const [bias, y] = [filled(device, f32, outputs, noise), device.array(f32, [samples, outputs])];
  const work = over(device, layer, { hidden: true, x, weights, bias, y }, samples, outputs);
  return { work, c: [x, weights, bias, y, ...big(samples, inputs, outputs)], output: y };
});

const rayMarch = example("ray-march", (device, { render }) => {
  const [width, height] = [320, 160];
  const image = device.array(u8, [height, width, 3]);
  return { work: over(device, render, { width, height, image }, height, width), c: [image, ...big(width, height)] };
});

const push = example("records", (device, kernels) => {
  const n = 20_000;
  const { views } = records(device, n, { x: [f64, 3], v: [f64, 3], id: i32 }, { layout: "soa" });
  const [x, v] = [0, 1].map(() => device.array(f64, [3, n]));
  const [id, energy] = [device.array(i32, n), device.array(f64, 1)];
  return { work: over(device, kernels.push, { dt: 1e-9, ...views }, n), c: [x, v, id, energy, ...big(n)] };
});

/** A pattern of the library, beside a function in C of that name. */
const pattern =
  (name: string, make: (device: Device, n: number) => Made) =>
  (where: string): Promise<ProgramBesideC> =>
    beside(functions, name, (device) => make(device, 100_003), where);

const prefix = pattern("scan", (device, n) => {
  const [input, output] = [filled(device, i32, n, (i) => i % 7), device.array(i32, n)];
  return { work: scan(device, { input, output, op: "sum" }), c: [input, output, ...big(n)], output };
});

const sort = pattern("sort", (device, n) => {
  const keys = filled(device, u32, n, (i) => Math.imul(i, 2654435761) >>> 0);
  const [sorted, b, permutation, other] = [device.array(u32, n), device.array(u32, n), device.array(i32, n), device.array(i32, n)];
  return { work: sortByKey(device, { keys, permutation }), c: [keys, sorted, permutation, b, other, ...big(n)], output: permutation };
});

const sparseProduct = example("sparse-product", (device, { multiply }) => {
  const n = 10_000;
  const rows = Array.from({ length: n }, (_, row) => [row - 1, row, row + 1].filter((at) => at >= 0 && at < n));
  const columns = rows.flat();
  const starts = [0];
  for (const row of rows) starts.push(starts.at(-1)! + row.length);
  const [start, column] = [filled(device, i32, n + 1, (i) => starts[i]), filled(device, i32, columns.length, (i) => columns[i])];
  const [a, x, y] = [filled(device, f64, columns.length, noise), filled(device, f64, n, noise), device.array(f64, n)];
  return { work: over(device, multiply, { start, column, a, x, y }, n), c: [start, column, a, x, y, ...big(n)], output: y };
});

const wave = example("wave", (device, { step }) => {
  const n = 129;
  const [before, u, next] = [noise, noise, () => 0].map((value) => filled(device, f64, [n, n], value));
  const work = device.prepare(step as never, { c2: 0.25, before, u, next } as never, between(n));
  return { work, c: [before, u, next, ...big(n)], output: next };
});

const matrixProduct = example("matrix-product", (device, { productOfRows: product }) => {
  const n = 512;
  const [a, b] = [0, n * n].map((first) => filled(device, f64, [n, n], (i) => noise(first + i)));
  const c = device.array(f64, [n, n]);
  const work = device.prepare(product as never, { n, a, b, c } as never, teams((n / 32) ** 2) as never);
  return { work, c: [a, b, c, ...big(n)], output: c };
});

const materialPoints = example("material-points", (device, { clear, toGrid, onGrid, toParticles }) => {
  const [n, cells] = [8192, 128];
  const make = () => {
    const x = filled(device, f32, [n, 2], (i) => 0.2 + 0.4 * ((i * 0.7548776662 * (1 + (i & 1) * 0.5)) % 1));
    const [v, affine] = [filled(device, f32, [n, 2], (i) => -(i & 1)), device.array(f32, [n, 2, 2])];
    const size = filled(device, f32, n, () => 1);
    return { x, v, affine, size, momentum: device.array(f32, [cells, cells, 2]), mass: device.array(f32, [cells, cells]) };
  };
  const [{ x, v, affine, size, momentum, mass }, hand] = [make(), make()];
  const work = inOrder(device, [
    over(device, clear, { momentum, mass }, cells, cells),
    over(device, toGrid, { x, v, affine, size, momentum, mass }, n),
    over(device, onGrid, { velocity: momentum, mass }, cells, cells),
    over(device, toParticles, { x, v, affine, size, velocity: momentum }, n),
  ]);
  return { work, c: [hand.x, hand.v, hand.affine, hand.size, hand.momentum, hand.mass, ...big(n)] };
});

/** The programs, by the names of their examples; each is made for a device. */
export const EXAMPLES: Record<string, (where: string) => Promise<ProgramBesideC>> = {
  diffusion,
  fourier,
  hash,
  histogram,
  jacobi,
  "k-means": kMeans,
  life,
  mandelbrot,
  "material-points": materialPoints,
  "matrix-product": matrixProduct,
  "monte-carlo": monteCarlo,
  "n-body": nBody,
  neighbours,
  perceptron,
  "ray-march": rayMarch,
  records: push,
  scan: prefix,
  sort,
  "sparse-product": sparseProduct,
  wave,
};
