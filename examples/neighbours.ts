// Density of a cloud of particles from neighbours within a radius: sorted by cell, so that the neighbours of one cell stand side by side.
import { f64, i32, kernel, open, range, view } from "isoform";
import { permute, sortByKey } from "isoform/patterns";

const cellOf = kernel("cell of", { h: f64, m: i32, x: view(f64, 2), cell: view(i32) }, ({ h, m, x, cell }, i) => {
  const [a, b] = [Math.floor(x[i][0] / h) | 0, Math.floor(x[i][1] / h) | 0];
  cell[i] = Math.min(m - 1, a) + m * Math.min(m - 1, b);
});
const density = kernel(
  "density",
  { h: f64, m: i32, x: view(f64, 2), offsets: view(i32), rho: view(f64) },
  ({ h, m, x, offsets, rho }, i) => {
    const [a, b] = [Math.floor(x[i][0] / h) | 0, Math.floor(x[i][1] / h) | 0];
    let sum = 0;
    for (let q = Math.max(0, b - 1); q <= Math.min(m - 1, b + 1); q++)
      for (let p = Math.max(0, a - 1); p <= Math.min(m - 1, a + 1); p++) {
        const cell = p + m * q;
        for (let k = offsets[cell]; k < offsets[cell + 1]; k++) {
          const [dx, dy] = [x[k][0] - x[i][0], x[k][1] - x[i][1]];
          const near = 1 - (dx * dx + dy * dy) / (h * h);
          if (near > 0) sum += near * near * near;
        }
      }
    rho[i] = sum;
  },
);

const device = await open(process.argv[2] ?? "wasm");
const [n, m] = [4000, 20];
const h = 1 / m;
const places = Float64Array.from({ length: 2 * n }, (_, i) => Math.abs((Math.sin(i * 78.233) * 43758.5453) % 1));
const x = device.from(f64, places, [n, 2]);
const [cell, permutation, offsets, rho] = [device.array(i32, n), device.array(i32, n), device.array(i32, m * m + 1), device.array(f64, n)];
device.queue.submit(device.prepare(cellOf, { h, m, x, cell }, range(n)));
sortByKey(device, { keys: cell, permutation, offsets }).submit();
permute(device, { permutation, input: [x] }).submit();
device.queue.submit(device.prepare(density, { h, m, x, offsets, rho }, range(n)));

const [at, found] = [await device.queue.read(x), await device.queue.read(rho)];
let error = 0;
for (let i = 0; i < n; i += 97) {
  let sum = 0;
  for (let k = 0; k < n; k++) {
    const near = 1 - ((at[2 * k] - at[2 * i]) ** 2 + (at[2 * k + 1] - at[2 * i + 1]) ** 2) / (h * h);
    if (near > 0) sum += near ** 3;
  }
  error = Math.max(error, Math.abs(found[i] - sum));
}
console.log(`right: ${error < 1e-11}`); // -> right: true
await device.close();
