// The product of a sparse matrix in compressed rows and a vector: indices that are data.
import { f64, i32, kernel, open, range, view } from "isoform";

const multiply = kernel(
  "multiply",
  { start: view(i32), column: view(i32), a: view(f64), x: view(f64), y: view(f64) },
  ({ start, column, a, x, y }, row) => {
    let sum = 0;
    for (let k = start[row]; k < start[row + 1]; k++) sum += a[k] * x[column[k]];
    y[row] = sum;
  },
);

const device = await open(process.argv[2] ?? "wasm");
const n = 10_000;
// Second differences: -1, 2, -1.
const [start, columns, elements]: [number[], number[], number[]] = [[0], [], []];
for (let row = 0; row < n; row++) {
  for (const column of [row - 1, row, row + 1].filter((at) => at >= 0 && at < n)) {
    columns.push(column);
    elements.push(column === row ? 2 : -1);
  }
  start.push(columns.length);
}

const y = device.array(f64, n);
const matrix = { start: device.from(i32, start), column: device.from(i32, columns), a: device.from(f64, elements) };
const x = device.from(
  f64,
  Float64Array.from({ length: n }, (_, i) => i * i),
);
await device.run(multiply, { ...matrix, x, y }, range(n));
console.log((await device.queue.read(y)).slice(0, 4).join(" ")); // -> -1 -2 -2 -2
await device.close();
