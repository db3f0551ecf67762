import assert from "node:assert/strict";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, it } from "node:test";
import { f64, open, type View } from "isoform";
import { solver, sparseMatrix, type KrylovSolver, type PreconditionerName, type SolverMethod } from "isoform/patterns";
import { readMatrixMarket, writeMatrixMarket, type MarketCoordinates } from "../../../src/io/index.js";
import { noiseValue } from "../../../src/testing/values.js";
import { tested } from "../../devices.js";
import { python, pythonLacks } from "../../io/table/python.js";
import { randomNumbers } from "../../io/table/random-table.js";
import { fivePoint, rectangular, wideScales } from "./problems.js";

const folder = mkdtempSync(join(tmpdir(), "isoform-krylov-"));
after(() => rmSync(folder, { recursive: true }));
const missing = await pythonLacks("scipy");

const TOLERANCE = 1e-8;
const random = randomNumbers(7);
const FILES: Readonly<Record<string, MarketCoordinates>> = {
  poisson: fivePoint(40),
  convection: fivePoint(36, { wind: 0.4 }),
  indefinite: fivePoint(24, { shift: 0.31 }),
  rectangular: rectangular(random, 900, 300),
  scales: wideScales(random, 24),
};
const CASES: readonly (readonly [file: string, method: SolverMethod, preconditioner?: PreconditionerName])[] = [
  ["poisson", "cg"],
  ["poisson", "bicgstab"],
  ["poisson", "gmres"],
  ["poisson", "minres"],
  ["poisson", "lsqr"],
  ["convection", "bicgstab"],
  ["convection", "gmres"],
  ["convection", "lsqr"],
  ["indefinite", "minres"],
  ["rectangular", "lsqr"],
  ["scales", "cg", "jacobi"],
  ["scales", "bicgstab", "jacobi"],
];

/** Least and most iterations, the relative residual and the norm of x of each case by SciPy. */
const PROGRAM = `
import json, sys, numpy, scipy.io, scipy.sparse, scipy.sparse.linalg as linalg
folder, tolerance = sys.argv[1], float(sys.argv[3])
results = []
for file, method, preconditioner in json.loads(sys.argv[2]):
    a = scipy.sparse.csr_array(scipy.io.mmread(f"{folder}/{file}.mtx"))
    b = numpy.fromfile(f"{folder}/b.bin")[:a.shape[0]]
    M = scipy.sparse.diags_array(1 / a.diagonal()) if preconditioner else None
    count, norm = 0, numpy.linalg.norm(b)
    class Enough(Exception): pass
    def counted(x):
        global count, last
        count, last = count + 1, x
    def until(x):
        counted(x)
        if numpy.linalg.norm(b - a @ x) <= tolerance * norm: raise Enough
    if method == "lsqr":
        x, _, count = linalg.lsqr(a, b, atol=tolerance, btol=tolerance, conlim=0, iter_lim=10000)[:3]
    elif method == "minres":
        # Its own rule compares with the norm of A, too.
        try: x, _ = linalg.minres(a, b, rtol=1e-16, callback=until, maxiter=10000)
        except Enough: x = last
    elif method == "gmres":
        x, _ = linalg.gmres(a, b, rtol=tolerance, restart=20, callback=counted, callback_type="pr_norm", maxiter=1000)
    else:
        # Rounding errors of b alone change the counts of bicgstab by several per cent.
        counts = []
        for turn in range(20 if method == "bicgstab" else 1):
            count, right = 0, b * (1 + 1e-16 * turn * numpy.cos(numpy.arange(len(b))))
            x, _ = getattr(linalg, method)(a, right, rtol=tolerance, callback=counted, M=M, maxiter=10000)
            counts.append(count)
    least, most = (min(counts), max(counts)) if method == "bicgstab" else (count, count)
    results.append([least, most, float(numpy.linalg.norm(b - a @ x) / norm), float(numpy.linalg.norm(x))])
print(json.dumps(results))
`;

for (const name of ["wasm", "native"].filter(tested))
  it(`solvers on ${name} take as many iterations as SciPy's`, { skip: missing }, async (t) => {
    const device = await open(name).catch((error: Error) => error.message);
    if (typeof device === "string") return t.skip(device);
    device.precision = "strict";
    for (const [file, matrix] of Object.entries(FILES)) await writeMatrixMarket(join(folder, `${file}.mtx`), matrix);
    const rights = Float64Array.from({ length: 1600 }, (_, k) => 2 * noiseValue(k) - 1);
    writeFileSync(join(folder, "b.bin"), rights);
    const theirs = JSON.parse(
      await python(PROGRAM, folder, JSON.stringify(CASES.map(([file, method, name]) => [file, method, name ?? null])), String(TOLERANCE)),
    ) as [number, number, number, number][];
    for (const [k, [file, method, preconditioner]] of CASES.entries()) {
      const read = await readMatrixMarket(join(folder, `${file}.mtx`));
      assert.ok(read.format === "coordinate");
      const { rows, columns, values, shape } = read;
      const operator = sparseMatrix(device, { rows, columns, values, shape });
      const b: View<"f64"> = device.from(f64, rights.subarray(0, shape[0]));
      const x: View<"f64"> = device.array(f64, shape[1]);
      const krylov: KrylovSolver = solver(device, { operator, b, x, method, preconditioner, tolerance: TOLERANCE, maxIterations: 10_000 });
      const { iterations, converged, residual, history, reason } = await krylov.run();
      const [least, most, theirResidual, norm] = theirs[k];
      const shown = `${file} ${method}: ${iterations} iterations, SciPy ${least} to ${most}; residual ${residual}, SciPy ${theirResidual}; ${reason}`;
      t.diagnostic(shown);
      assert.ok(converged, shown);
      assert.equal(history.length, iterations + 1);
      assert.ok(method === "lsqr" ? Math.abs(residual - theirResidual) <= 0.05 * theirResidual : residual <= TOLERANCE, shown);
      assert.ok(iterations >= least - Math.max(1, 0.02 * least) && iterations <= most + Math.max(1, 0.02 * most), shown);
      const found = Math.hypot(...(await device.queue.read(x)));
      assert.ok(Math.abs(found - norm) <= 1e-4 * norm, `${shown}; |x| ${found}, SciPy ${norm}`);
      for (const thing of [krylov, operator, b, x]) thing.free();
    }
    await device.close();
  });
