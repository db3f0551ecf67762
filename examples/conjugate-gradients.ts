// Conjugate gradients for a matrix from a file of the Matrix Market, and for the same operator without a matrix.
import { tmpdir } from "node:os";
import { join } from "node:path";
import { f64, kernel, open, range, view } from "isoform";
import { readMatrixMarket, writeMatrixMarket } from "isoform/io";
import { solver, sparseMatrix, type LinearFunction, type LinearSystem } from "isoform/patterns";

const device = await open(process.argv[2] ?? "wasm");
const n = 64;

// Second differences on n x n points: the file has the lower triangle.
const [rows, columns, values]: [number[], number[], number[]] = [[], [], []];
for (let i = 0; i < n * n; i++)
  for (const [j, value] of [
    [i, 4],
    [i % n > 0 ? i - 1 : -1, -1],
    [i % n < n - 1 ? i + 1 : -1, -1],
    [i - n, -1],
    [i + n < n * n ? i + n : -1, -1],
  ])
    if (j >= 0) {
      rows.push(i);
      columns.push(j);
      values.push(value);
    }
const path = join(tmpdir(), `isoform-laplacian-${process.pid}.mtx`);
await writeMatrixMarket(path, { shape: [n * n, n * n], rows, columns, values }, { symmetry: "symmetric" });

const file = await readMatrixMarket(path);
if (file.format !== "coordinate") throw new Error("the file holds an array");
const matrix = sparseMatrix(device, { rows: file.rows, columns: file.columns, values: file.values, shape: file.shape });

const laplace = kernel("laplace", { x: view(f64, 2), y: view(f64, 2) }, ({ x, y }, i, j) => {
  const [above, below] = [i > 0 ? x[i - 1][j] : 0, i + 1 < x.length ? x[i + 1][j] : 0];
  const [left, right] = [j > 0 ? x[i][j - 1] : 0, j + 1 < x[0].length ? x[i][j + 1] : 0];
  y[i][j] = 4 * x[i][j] - above - below - left - right;
});

const b = device.from(f64, new Float64Array(n * n).fill(1));
async function solve(name: string, system: Pick<LinearSystem<"f64">, "operator" | "preconditioner">): Promise<void> {
  const cg = solver(device, { ...system, b, x: device.array(f64, n * n), method: "cg", tolerance: 1e-8 });
  const { iterations, converged, reason } = await cg.run();
  console.log(`${name}: ${converged ? `${iterations} iterations` : reason}`);
  cg.free();
}
await solve("a file", { operator: matrix, preconditioner: "ilu0" }); // -> a file: 52 iterations
const apply: LinearFunction<"f64"> = (x, y) => device.prepare(laplace, { x: x.reshape(n, n), y: y.reshape(n, n) }, range(n, n));
await solve("a kernel", { operator: apply }); // -> a kernel: 119 iterations
await device.close();
