import { f64, open } from "isoform";
import { sparseMatrix, type SparseFormat } from "isoform/patterns";
import { besidePython } from "./beside-python.js";
import { parseArgs } from "./command-line.js";

/*
 * Products of sparse matrices and vectors beside SciPy's csr @ x, which has one thread, by turns:
 *   PYTHONPATH=... node dist/bench/sparse.js [--problem plane|space|random] [--devices native,wasm] [--threads 1,2] [--formats csr,sell] [--rounds 20] [--side 100]
 * `side` is the number of points along an axis of the first two. `plane` has 5 elements a row, `space` 27, `random` 0 to 80, about 20 on average, at random columns.
 */

const { values: options } = parseArgs({
  options: {
    problem: { type: "string", default: "plane" },
    devices: { type: "string", default: "native,wasm" },
    threads: { type: "string", default: "1,2" },
    side: { type: "string", default: "0" },
    formats: { type: "string", default: "csr" },
    rounds: { type: "string", default: "20" },
    precision: { type: "string", default: "fast" },
  },
});

/** Offsets of a stencil's neighbours, and points along an axis. */
const STENCILS: Readonly<Record<string, { readonly side: number; readonly near: readonly (readonly number[])[] }>> = {
  plane: {
    side: 1000,
    near: [
      [-1, 0],
      [0, -1],
      [0, 0],
      [0, 1],
      [1, 0],
    ],
  },
  space: {
    side: 56,
    near: Array.from({ length: 27 }, (_, k) => [Math.floor(k / 9) - 1, (Math.floor(k / 3) % 3) - 1, (k % 3) - 1]),
  },
};

const sideOf = (problem: string): number => Number(options.side) || STENCILS[problem].side;

function elements(problem: string) {
  const [offsets, columns]: [number[], number[]] = [[0], []];
  if (problem === "random") {
    let seed = 12345;
    const random = (): number => (seed = (Math.imul(seed, 1103515245) + 12345) & 0x7fffffff) / 0x80000000;
    const rows = 200_000;
    for (let row = 0; row < rows; row++) {
      const count = Math.floor(random() * random() * 80);
      for (let k = 0; k < count; k++) columns.push(Math.floor(random() * rows));
      offsets.push(columns.length);
    }
    return { offsets, columns };
  }
  const { near } = STENCILS[problem];
  const side = sideOf(problem);
  const axes = near[0].length;
  for (let row = 0; row < side ** axes; row++) {
    const point = Array.from({ length: axes }, (_, axis) => Math.floor(row / side ** (axes - 1 - axis)) % side);
    for (const offset of near) {
      const other = point.map((x, axis) => x + offset[axis]);
      if (other.every((x) => x >= 0 && x < side)) columns.push(other.reduce((at, x) => at * side + x, 0));
    }
    offsets.push(columns.length);
  }
  return { offsets, columns };
}

const { offsets, columns } = elements(options.problem);
const n = offsets.length - 1;

/** SciPy gets the same stencil, and a random matrix of as many elements. */
const SCIPY = `
import numpy, scipy.sparse
random = numpy.random.default_rng(1)
problem = "${options.problem}"
if problem == "random":
    counts = (random.random(n) * random.random(n) * 80).astype(numpy.int32)
    offsets = numpy.concatenate([[0], numpy.cumsum(counts)]).astype(numpy.int32)
    columns = random.integers(0, n, offsets[-1]).astype(numpy.int32)
    a = scipy.sparse.csr_array((numpy.sin(numpy.arange(len(columns))), columns, offsets), shape=(n, n))
else:
    side = ${options.problem === "random" ? 0 : sideOf(options.problem)}
    line = scipy.sparse.diags_array([1.0, 1.0, 1.0], offsets=[-1, 0, 1], shape=(side, side))
    if problem == "plane":
        one = scipy.sparse.eye_array(side)
        a = scipy.sparse.csr_array(scipy.sparse.kron(line, one) + scipy.sparse.kron(one, line))
    else:
        a = scipy.sparse.csr_array(scipy.sparse.kron(scipy.sparse.kron(line, line), line))
    a.indices, a.indptr = a.indices.astype(numpy.int32), a.indptr.astype(numpy.int32)
x = numpy.sin(numpy.arange(n))
run = lambda: a @ x
`;

const variants = [];
const devices = [];
for (const name of options.devices.split(","))
  for (const threads of options.threads.split(",").map(Number)) {
    const device = await open(name, { threads });
    device.precision = options.precision === "strict" ? "strict" : "fast";
    devices.push(device);
    const x = device.from(
      f64,
      Float64Array.from({ length: n }, (_, k) => Math.sin(k)),
    );
    for (const format of options.formats.split(",") as SparseFormat[]) {
      const values = Float64Array.from(columns, (_, k) => Math.sin(k));
      const pattern = sparseMatrix(device, { offsets, columns, values, shape: [n, n], format }).apply({ x, y: device.array(f64, n) });
      variants.push({ name: `${device.name}, ${threads} threads, ${format}`, run: () => pattern.run() });
    }
  }
console.log(`${options.problem}: ${columns.length} elements, ${((12 * columns.length + 20 * n) / 1e6).toFixed(0)} MB`);
await besidePython("SciPy", SCIPY, n, variants, Number(options.rounds));
await Promise.all(devices.map((device) => device.close()));
