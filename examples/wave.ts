// A drum: the wave equation in two dimensions, over the inner points of a grid, against the exact solution of the scheme.
import { f64, kernel, open, range, view } from "isoform";

const step = kernel("step", { c2: f64, before: view(f64, 2), u: view(f64, 2), next: view(f64, 2) }, ({ c2, before, u, next }, i, j) => {
  next[i][j] = 2 * u[i][j] - before[i][j] + c2 * (u[i - 1][j] + u[i + 1][j] + u[i][j - 1] + u[i][j + 1] - 4 * u[i][j]);
});

const device = await open(process.argv[2] ?? "wasm");
const [n, steps, c2] = [129, 200, 0.25];
const along = (k: number): number => Math.sin((Math.PI * k) / (n - 1));
const mode = Float64Array.from({ length: n * n }, (_, k) => along(Math.floor(k / n)) * along(k % n));
let [before, u, next] = [device.from(f64, mode, [n, n]), device.from(f64, mode, [n, n]), device.array(f64, [n, n])];

const inside = range([1, n - 1], [1, n - 1]);
for (let k = 0; k < steps; k++) {
  await device.run(step, { c2, before, u, next }, inside);
  [before, u, next] = [u, next, before];
}

// The mode swings as A cos(w t) + B sin(w t), with cos w = 1 - 4 c2 sin(pi / 2 (n - 1))^2.
const w = Math.acos(1 - 4 * c2 * Math.sin(Math.PI / 2 / (n - 1)) ** 2);
const exact = Math.cos(w * (steps + 1)) + ((1 - Math.cos(w)) / Math.sin(w)) * Math.sin(w * (steps + 1));
const centre = (await device.queue.read(u))[64 * n + 64];
console.log(`centre ${centre.toFixed(6)}, exact ${exact.toFixed(6)}`); // -> centre -0.943441, exact -0.943441
await device.close();
