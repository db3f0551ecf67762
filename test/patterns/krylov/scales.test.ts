import assert from "node:assert/strict";
import { test } from "node:test";
import { f32, f64, kernel, LaunchError, open, range, view } from "isoform";
import { solver, sparseMatrix, type LinearSystem, type SolverMethod, type SparseMatrix } from "isoform/patterns";
import type { Device } from "../../../src/device/device.js";

const A = [
  [4, 1, 0],
  [1, 3, 1],
  [0, 1, 2],
];
const X = [2 / 9, 1 / 9, 13 / 9];
const LINE = [
  [1, 1],
  [1, 2],
  [1, 3],
  [1, 4],
  [1, 5],
];
const METHODS: readonly SolverMethod[] = ["cg", "bicgstab", "gmres", "minres", "lsqr"];

function matrixOf(device: Device, rows: readonly (readonly number[])[], type: typeof f64 = f64): SparseMatrix {
  const at = rows.flatMap((row, r) => row.map((value, c) => [r, c, value]));
  const [row, column, values] = [0, 1, 2].map((part) => at.map((element) => element[part]));
  return sparseMatrix(device, { rows: row, columns: column, values, shape: [rows.length, rows[0].length], type });
}

/** Solves s A x = t b, with x times s / t. */
async function scaled(method: SolverMethod, [s, t]: readonly [number, number], real: typeof f64, rest: Partial<LinearSystem> = {}) {
  const device = await open("wasm");
  device.precision = "strict";
  const operator = matrixOf(
    device,
    A.map((row) => row.map((value) => value * s)),
    real,
  );
  const b = device.from(
    real,
    [1, 2, 3].map((value) => value * t),
  );
  const x = device.array(real, 3);
  const result = await solver(device, { operator, b, x, method, ...rest }).run();
  const found = Array.from(await device.queue.read(x), (value) => (value * s) / t);
  await device.close();
  return { ...result, right: found.every((value, k) => Math.abs(value - X[k]) < 1e-3), found };
}

const single = f32 as unknown as typeof f64;

/** Factors of A and b: all methods solve these. */
const SOLVED: readonly (readonly [typeof f64, number, number])[] = [
  [f64, 1e-12, 1e-12],
  [f64, 1, 1e-24],
  [f64, 1e-15, 1e-8],
  [f64, 1e100, 1],
  [single, 1e-6, 1e-6],
  [single, 1e-8, 1],
  [single, 1e12, 1],
];
/** Squares of A or of x leave the range of the type: some methods solve these. */
const BEYOND: typeof SOLVED = [
  [f64, 1e-160, 1],
  [f64, 1e-170, 1],
  [f64, 1e-100, 1e100],
  [f64, 1e160, 1],
  [single, 1e-11, 1e-15],
  [single, 1e-20, 1],
  [single, 1e-23, 1],
  [single, 1e-10, 1e10],
  [single, 1e20, 1],
];

test("systems of small and of large numbers are solved, or the reason is told", async () => {
  for (const method of METHODS)
    for (const system of [...SOLVED, ...BEYOND]) {
      const [real, s, t] = system;
      const { converged, right, reason, found } = await scaled(method, [s, t], real);
      const what = `${method}, ${real.type}, ${s} A, ${t} b: ${converged}, ${found.join()}, ${reason}`;
      if (SOLVED.includes(system)) assert.ok(converged && right, what);
      else assert.ok(converged ? right : /underflow|overflow/.test(reason), what);
    }
});

test("squares that overflow are told as such", async () => {
  for (const method of ["bicgstab", "gmres", "minres", "lsqr"] as const) {
    const { converged, reason } = await scaled(method, [1e160, 1], f64);
    assert.ok(!converged && reason.includes("squares overflow"), `${method}: ${reason}`);
  }
  // Products of directions overflow, residuals do not.
  const { converged, reason } = await scaled("cg", [1e300, 1e10], f64);
  assert.ok(!converged && reason.includes("squares overflow"), reason);
});

test("lsqr follows the values of its matrix", async () => {
  const device = await open("js");
  device.precision = "strict";
  const b = device.from(f64, [1, 3, 2, 5, 4]);
  const solve = async (first: readonly number[][], then?: readonly number[][]) => {
    const operator = matrixOf(device, first);
    const x = device.array(f64, 2);
    const krylov = solver(device, { operator, b, x, method: "lsqr" });
    if (then) {
      await krylov.run();
      operator.update(then.flat());
      device.queue.write(x, [0, 0]);
    }
    const { converged } = await krylov.run();
    assert.ok(converged);
    return Array.from(await device.queue.read(x));
  };
  for (const change of [(v: number) => 2 * v, (v: number) => (v === 5 ? 5.001 : v), (v: number) => (v === 1 ? 1 : 3 * v)]) {
    const other = LINE.map((row) => row.map(change));
    assert.deepEqual(await solve(LINE, other), await solve(other));
  }
  await device.close();
});

test("a transposed that does not fit is told, where rounding errors are not", async () => {
  const device = await open("js");
  device.precision = "strict";
  const flipped = (last: number) => [LINE.map(([one]) => one), LINE.map(([, two]) => (two === 5 ? last : two))];
  for (const rights of [
    [1, 3, 2, 5, 4],
    [1, 0, 0, 0, 0],
  ])
    for (const [last, fits] of [
      [5, true],
      [5.1, false],
      [5 + 1e-10, false],
    ] as const) {
      const [a, t] = [matrixOf(device, LINE), matrixOf(device, flipped(last))];
      const [b, x] = [device.from(f64, rights), device.array(f64, 2)];
      const { converged, reason } = await solver(device, {
        operator: (from, to) => a.apply({ x: from, y: to }),
        transposed: (from, to) => t.apply({ x: from, y: to }),
        b,
        x,
        method: "lsqr",
      }).run();
      assert.equal(converged, fits, `${rights.join()} ${last}: ${reason}`);
      if (!fits) assert.match(reason, /transposed is not the transpose of the operator/);
    }
  await device.close();
});

test("a run that ended in NaN leaves nothing to the next one", async () => {
  const device = await open("js");
  const times = kernel("times", { d: view(f64), from: view(f64), to: view(f64) }, ({ d, from, to }, i) => {
    to[i] = d[i] * from[i];
  });
  const good = [1, 2, 4];
  for (const method of METHODS)
    for (const conditioned of method === "lsqr" ? [false] : [false, true]) {
      const [a, m, b, x] = [good, [1, 1, 1], [1, 1, 1], [0, 0, 0]].map((values) => device.from(f64, values));
      const by = (d: typeof a) => (from: unknown, to: unknown) => device.prepare(times, { d, from, to } as never, range(3));
      const krylov = solver(device, {
        operator: by(a),
        ...(method === "lsqr" ? { transposed: by(a) } : {}),
        ...(conditioned ? { preconditioner: by(m) } : {}),
        b,
        x,
        method,
      });
      for (const bad of conditioned ? [m] : [a]) {
        device.queue.write(bad, [1, NaN, 1]);
        assert.equal((await krylov.run()).converged, false);
        device.queue.write(bad, bad === a ? good : [1, 1, 1]);
      }
      device.queue.write(x, [0, 0, 0]);
      const { converged, reason } = await krylov.run();
      assert.ok(converged, `${method} ${conditioned}: ${reason}`);
    }
  await device.close();
});

test("tolerances that the type does not hold are refused", async () => {
  for (const [real, what, message] of [
    [single, { tolerance: 1e-50 }, /tolerance 1e-50 is below the least number of f32, 1\.2e-38: give a greater one, or 0/],
    [single, { absolute: 1e-46 }, /absolute 1e-46 is below the least number of f32/],
    [f64, { tolerance: 5e-324 }, /tolerance 5e-324 is below the least number of f64, 2\.2e-308/],
  ] as const)
    await assert.rejects(
      scaled("cg", [1, 1], real, what),
      (error) => error instanceof LaunchError && message.test(error.message),
      String(message),
    );
});
