// A matrix product for GPUs and CPUs. A team computes a tile of 32 x 32 elements; each member has a row of it, its lanes the row's elements, which are
// vectors on CPUs and threads on GPUs.
import { f64, i32, open, teamKernel, teams, view } from "isoform";

const TILE = 32;
const product = teamKernel(
  "product",
  { n: i32, a: view(f64, 2), b: view(f64, 2), c: view(f64, 2, { disjoint: true }) },
  ({ n, a, b, c }, team) => {
    const tiles = (n / 32) | 0;
    const [row, column] = [((team.index / tiles) | 0) * 32, (team.index % tiles) * 32];
    const sums = team.scratch("f64", 32 * 32);
    team.range(32, (i, lanes) => {
      lanes.range(32, (j) => {
        sums[i * 32 + j] = 0;
      });
      for (let k = 0; k < n; k++) {
        const factor = a[row + i][k];
        lanes.range(32, (j) => {
          sums[i * 32 + j] += factor * b[k][column + j];
        });
      }
      lanes.range(32, (j) => {
        c[row + i][column + j] = sums[i * 32 + j];
      });
    });
  },
);

const device = await open(process.argv[2] ?? "wasm");
const n = 128;
const [left, right] = [Math.sin, Math.cos].map((of) => Float64Array.from({ length: n * n }, (_, k) => of(k)));
const [a, b] = [left, right].map((values) => device.from(f64, values, [n, n]));
const c = device.array(f64, [n, n]);
await device.run(product, { n, a, b, c }, teams((n / TILE) ** 2));

const found = await device.queue.read(c);
let error = 0;
for (let i = 0; i < n; i++)
  for (let j = 0; j < n; j++) {
    let sum = 0;
    for (let k = 0; k < n; k++) sum += left[i * n + k] * right[k * n + j];
    error = Math.max(error, Math.abs(found[i * n + j] - sum));
  }
console.log(`right: ${error < 1e-11}`); // -> right: true
await device.close();
