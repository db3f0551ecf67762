// A matrix product, with a kernel for CPUs and one for GPUs. On a CPU a team computes a tile of 32 x 32 elements, and each member has a row of it, whose
// elements its lanes take as vectors. On a GPU 64 members have a tile of 64 x 64: each has 8 x 8 sums, which stay in its registers, and pieces of both
// matrices go through the team's memory.
import { f64, i32, open, teamKernel, teams, view } from "isoform";

const productOfRows = teamKernel(
  "productOfRows",
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

/** Place of a member's row or column u of 8, in two fours half a tile apart: so that neighbours read neighbours. */
const place = (u: number): number => (u >> 2) * 32 + (u & 3);

const productOfSquares = teamKernel(
  "productOfSquares",
  { n: i32, a: view(f64, 2), b: view(f64, 2), c: view(f64, 2, { disjoint: true }) },
  ({ n, a, b, c }, team) => {
    const tiles = (n / 64) | 0;
    const [row, column] = [((team.index / tiles) | 0) * 64, (team.index % tiles) * 64];
    const left = team.scratch("f64", 8 * 64, { disjoint: true });
    const right = team.scratch("f64", 8 * 64);
    const sums = team.scratch("f64", 64 * 64);
    team.range(64, (m) => {
      for (let q = 0; q < 64; q++) sums[64 * m + q] = 0;
    });
    for (let first = 0; first < n; first += 8) {
      team.range(64, (m) => {
        for (let q = 0; q < 8; q++) {
          left[(m & 7) * 64 + 8 * q + (m >> 3)] = a[row + 8 * q + (m >> 3)][first + (m & 7)];
          right[64 * q + m] = b[first + q][column + m];
        }
      });
      team.range(64, (m) => {
        const [y, x] = [(m >> 3) * 4, (m & 7) * 4];
        for (let k = 0; k < 8; k++)
          for (let u = 0; u < 8; u++) {
            const factor = left[64 * k + place(u) + y];
            for (let v = 0; v < 8; v++) sums[64 * m + 8 * u + v] += factor * right[64 * k + place(v) + x];
          }
      });
    }
    team.range(64, (m) => {
      const [y, x] = [(m >> 3) * 4, (m & 7) * 4];
      for (let u = 0; u < 8; u++) for (let v = 0; v < 8; v++) c[row + place(u) + y][column + place(v) + x] = sums[64 * m + 8 * u + v];
    });
  },
  () => [place],
);

const device = await open(process.argv[2] ?? "wasm");
const n = 128;
const [left, right] = [Math.sin, Math.cos].map((of) => Float64Array.from({ length: n * n }, (_, k) => of(k)));
const [a, b] = [left, right].map((values) => device.from(f64, values, [n, n]));
const c = device.array(f64, [n, n]);
const onGpu = ["cuda", "hip", "opencl"].includes(device.backend);
if (onGpu) await device.run(productOfSquares, { n, a, b, c }, teams((n / 64) ** 2, { size: 64 }));
else await device.run(productOfRows, { n, a, b, c }, teams((n / 32) ** 2));

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
