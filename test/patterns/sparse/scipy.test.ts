import assert from "node:assert/strict";
import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, it } from "node:test";
import { f64, open } from "isoform";
import { sparseMatrix } from "isoform/patterns";
import { writeNpz } from "../../../src/io/index.js";
import { tested } from "../../devices.js";
import { python, pythonLacks } from "../../io/table/python.js";
import { randomNumbers } from "../../io/table/random-table.js";
import { randomElements } from "./random-elements.js";

const folder = mkdtempSync(join(tmpdir(), "isoform-sparse-"));
after(() => rmSync(folder, { recursive: true }));
const missing = await pythonLacks("scipy");

/** Products, and solves with both triangles of a + 10 I, one after the other. */
const PROGRAM = `
import sys, numpy, scipy.io, scipy.sparse, scipy.sparse.linalg as linalg
folder = sys.argv[1]
# Elements of one place are added up in their order by add.at.
given = numpy.load(f"{folder}/given.npz")
m, n = given["shape"]
keys = given["rows"].astype(numpy.int64) * n + given["columns"]
places, first = numpy.unique(keys, return_inverse=True)
sums = numpy.zeros(len(places))
numpy.add.at(sums, first, given["values"])
a = scipy.sparse.csr_array((sums, (places // n, places % n)), shape=(m, n))
x = given["x"]
square = scipy.sparse.csr_array(a[:n, :n] + 10 * scipy.sparse.eye_array(n))
parts = [a @ x, a.T @ given["y"]]
for lower in (True, False):
    triangle = scipy.sparse.csr_array(scipy.sparse.tril(square) if lower else scipy.sparse.triu(square))
    parts.append(linalg.spsolve_triangular(triangle, x, lower=lower))
numpy.concatenate(parts).tofile(f"{folder}/out.bin")
`;

for (const name of ["wasm", "native"].filter(tested))
  it(`products and solves on ${name} are SciPy's`, { skip: missing }, async (t) => {
    const device = await open(name).catch((error: Error) => error.message);
    if (typeof device === "string") return t.skip(device);
    device.precision = "strict";
    const random = randomNumbers(4);
    const [m, n] = [700, 400];
    const { rows, columns, values } = randomElements(random, [m, n], (value) => value);
    const [xs, ys] = [n, m].map((length) => Float64Array.from({ length }, () => 2 * random() - 1));
    await writeNpz(join(folder, "given.npz"), {
      shape: Int32Array.of(m, n),
      rows: Int32Array.from(rows),
      columns: Int32Array.from(columns),
      values: Float64Array.from(values),
      x: xs,
      y: ys,
    });
    await python(PROGRAM, folder);
    const bytes = readFileSync(join(folder, "out.bin"));
    const expected = new Float64Array(bytes.buffer.slice(bytes.byteOffset, bytes.byteOffset + bytes.length));
    const [x, y] = [device.from(f64, xs), device.from(f64, ys)];
    const product = device.array(f64, m);
    const close = (found: ArrayLike<number>, from: number): void => {
      for (let k = 0; k < found.length; k++) {
        const other = expected[from + k];
        assert.ok(Math.abs(found[k] - other) <= 1e-12 * Math.max(1, Math.abs(other)), `${from + k}: ${found[k]}, SciPy ${other}`);
      }
    };
    await sparseMatrix(device, { rows, columns, values, shape: [m, n], format: "sell" })
      .apply({ x, y: product })
      .run();
    assert.deepEqual(Array.from(await device.queue.read(product)), Array.from(expected.subarray(0, m)));
    const matrix = sparseMatrix(device, { rows, columns, values, shape: [m, n] });
    await matrix.apply({ x, y: product }).run();
    close(await device.queue.read(product), 0);
    const back = device.array(f64, n);
    await matrix.transpose().apply({ x: y, y: back }).run();
    close(await device.queue.read(back), m);
    const inside = rows.map((row) => row < n);
    const kept = (list: readonly number[]) => list.filter((_, k) => inside[k]);
    const diagonal = Array.from({ length: n }, (_, k) => k);
    const square = sparseMatrix(device, {
      rows: [...kept(rows), ...diagonal],
      columns: [...kept(columns), ...diagonal],
      values: [...kept(values), ...diagonal.map(() => 10)],
      shape: [n, n],
    });
    for (const [at, triangle] of (["lower", "upper"] as const).entries()) {
      await square.solve({ triangle, b: x, x: back }).run();
      close(await device.queue.read(back), m + n + at * n);
    }
    await device.close();
  });
