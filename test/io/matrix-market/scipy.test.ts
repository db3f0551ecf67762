import assert from "node:assert/strict";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, it } from "node:test";
import { readMatrixMarket, readNpz, writeMatrixMarket, writeNpz, type MarketSymmetry } from "../../../src/io/index.js";
import { python, pythonLacks } from "../table/python.js";
import { randomNumbers } from "../table/random-table.js";
import { denseOf, randomCoordinates } from "./random-matrix.js";

const folder = mkdtempSync(join(tmpdir(), "isoform-mtx-"));
after(() => rmSync(folder, { recursive: true }));
const missing = await pythonLacks("scipy");

/** Reads our files, compares them with the arrays that they should hold, and writes both forms of each with SciPy. */
const PROGRAM = `
import sys, json, numpy, scipy.io, scipy.sparse
folder = sys.argv[1]
for n, symmetry, field in json.loads(sys.argv[2]):
    dense = numpy.load(f"{folder}/{n}.npz")
    expected = dense["re"] + 1j * dense["im"] if "im" in dense else dense["re"]
    if "im" in dense:
        expected.real, expected.imag = dense["re"], dense["im"]
    for kind in ("coordinate", "array"):
        found = scipy.io.mmread(f"{folder}/{n}-{kind}.mtx")
        found = found.toarray() if scipy.sparse.issparse(found) else found
        assert found.shape == expected.shape, (found.shape, expected.shape)
        # Zeros lose their sign where toarray adds elements to zeros, and in complex conjugates.
        exact = kind == "array" and symmetry == "general"
        same = found.tobytes() == expected.astype(found.dtype).tobytes() if exact else numpy.array_equal(found, expected)
        assert same, (n, kind, symmetry, found, expected)
    sparse = scipy.sparse.coo_array(expected)
    scipy.io.mmwrite(f"{folder}/{n}-s.mtx", sparse, field=field, symmetry=symmetry, precision=17)
    scipy.io.mmwrite(f"{folder}/{n}-d.mtx", expected, field=field, symmetry=symmetry, precision=17)
`;

it("files have the same bits for SciPy, both ways", { skip: missing }, async () => {
  const random = randomNumbers(11);
  const cases = Array.from({ length: 24 }, (_, n) => {
    const symmetry = (["general", "symmetric", "skew-symmetric", "hermitian"] as MarketSymmetry[])[n % 4];
    const isComplex = symmetry === "hermitian" || n % 3 === 0;
    const size = 1 + Math.floor(random() * 9);
    const shape = [size, symmetry === "general" ? 1 + Math.floor(random() * 9) : size] as const;
    const matrix = randomCoordinates(random, shape, symmetry, isComplex);
    return { n, symmetry, field: isComplex ? "complex" : "real", matrix, dense: denseOf(matrix) };
  });
  const file = (name: string): string => join(folder, name);
  for (const { n, symmetry, matrix, dense } of cases) {
    await writeMatrixMarket(file(`${n}-coordinate.mtx`), matrix, { symmetry });
    await writeMatrixMarket(file(`${n}-array.mtx`), dense, { symmetry });
    const part = (data: ArrayLike<number>) => ({ shape: dense.shape, data: Float64Array.from(data) });
    await writeNpz(file(`${n}.npz`), { re: part(dense.values), ...(dense.imaginary && { im: part(dense.imaginary) }) });
  }
  await python(PROGRAM, folder, JSON.stringify(cases.map(({ n, symmetry, field }) => [n, symmetry, field])));
  for (const { n, symmetry, dense } of cases) {
    const { re } = await readNpz(file(`${n}.npz`));
    const sparse = await readMatrixMarket(file(`${n}-s.mtx`));
    assert.ok(sparse.format === "coordinate");
    const found = denseOf(sparse);
    const zero = (data: ArrayLike<number> = new Float64Array(dense.values.length)) => Array.from(data, (value) => value + 0);
    assert.deepEqual(zero(found.values), zero(re.data as Float64Array), `${n}`);
    assert.deepEqual(zero(found.imaginary), zero(dense.imaginary), `${n}`);
    const array = await readMatrixMarket(file(`${n}-d.mtx`));
    const exact = (data?: ArrayLike<number>) => (symmetry === "general" ? data : zero(data));
    assert.deepEqual([array.values, array.imaginary].map(exact), [dense.values, dense.imaginary].map(exact), `${n}`);
  }
});
