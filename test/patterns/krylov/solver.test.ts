import assert from "node:assert/strict";
import { it, test } from "node:test";
import { f32, f64, kernel, LaunchError, open, range, view } from "isoform";
import { solver, sparseMatrix, type PreconditionerName, type SolverMethod, type LinearFunction, type LinearSystem } from "isoform/patterns";
import type { Device } from "../../../src/device/device.js";
import { noiseValue } from "../../../src/testing/values.js";
import { randomNumbers } from "../../io/table/random-table.js";
import { eachDevice } from "../devices.js";
import { fivePoint, rectangular } from "./problems.js";

const CASES: readonly (readonly [name: string, method: SolverMethod, preconditioner?: PreconditionerName])[] = [
  ["poisson", "cg"],
  ["poisson", "cg", "jacobi"],
  ["poisson", "cg", "ssor"],
  ["poisson", "minres", "ilu0"],
  ["indefinite", "minres"],
  ["convection", "bicgstab"],
  ["convection", "bicgstab", "ilu0"],
  ["convection", "gmres"],
  ["convection", "gmres", "jacobi"],
  ["rectangular", "lsqr"],
];

const N = 8;
const PROBLEMS = {
  poisson: fivePoint(N),
  convection: fivePoint(N, { wind: 0.4 }),
  indefinite: fivePoint(N, { shift: 0.61 }),
  rectangular: rectangular(randomNumbers(9), 70, 30),
};

/** Solves a case; everything that is the same on all devices. */
async function solved(device: Device, [name, method, preconditioner]: (typeof CASES)[number], real: typeof f64) {
  const { shape, rows, columns, values } = PROBLEMS[name as keyof typeof PROBLEMS];
  const operator = sparseMatrix(device, { shape, rows, columns, values, type: real });
  const b = device.from(
    real,
    Float64Array.from({ length: shape[0] }, (_, k) => Math.fround(noiseValue(k) - 0.5)),
  );
  const x = device.array(real, shape[1]);
  const tolerance = real.type === "f64" ? 1e-9 : 2 ** -14;
  const krylov = solver(device, { operator, b, x, method, preconditioner, tolerance, every: 4, restart: 6 });
  const result = await krylov.run();
  const again = await krylov.run();
  const found = { ...result, history: Array.from(result.history), x: Array.from(await device.queue.read(x)) };
  for (const thing of [krylov, operator, b, x]) thing.free();
  return { found, again };
}

await eachDevice("solvers", (device) => {
  const real = device.capabilities.f64 ? f64 : (f32 as unknown as typeof f64);
  for (const which of CASES)
    it(`${which.join(", ")}: the same bits as on js`, async () => {
      const { found, again } = await solved(device, which, real);
      assert.ok(found.converged, found.reason);
      assert.ok(found.iterations > 3);
      assert.equal(found.history.length, found.iterations + 1);
      // The second run begins with the solution.
      assert.ok(again.converged && again.iterations <= 2, `${again.iterations}`);
      const plain = await open("js");
      plain.precision = "strict";
      assert.deepEqual(found, (await solved(plain, which, real)).found);
      await plain.close();
    });

  it("take functions: second differences without a matrix, and a preconditioner", async () => {
    const n = 50;
    const differences = kernel("differences", { x: view(real), y: view(real) }, ({ x, y }, i) => {
      y[i] = 2.5 * x[i] - (i > 0 ? x[i - 1] : 0) - (i + 1 < x.length ? x[i + 1] : 0);
    });
    const halve = kernel("halve", { r: view(real), z: view(real) }, ({ r, z }, i) => {
      z[i] = 0.4 * r[i];
    });
    const [b, x] = [device.from(real, new Float64Array(n).fill(1)), device.array(real, n)];
    for (const method of ["cg", "bicgstab", "gmres", "minres", "lsqr"] as const) {
      const apply: LinearSystem["operator"] = (from, to) => device.prepare(differences, { x: from, y: to } as never, range(n));
      const krylov = solver(device, {
        operator: apply,
        ...(method === "lsqr" ? { transposed: apply } : { preconditioner: (r, z) => [device.prepare(halve, { r, z } as never, range(n))] }),
        b,
        x,
        method,
      });
      device.queue.write(x, new Float64Array(n));
      const { converged, reason, residual } = await krylov.run();
      assert.ok(converged && (method === "lsqr" || residual < 1e-4), `${method}: ${reason}`);
      krylov.free();
    }
  });
});

async function run(device: Device, what: Partial<LinearSystem> & { values: number[][]; rights: number[]; guess?: number[] }) {
  const { values, rights, guess, ...rest } = what;
  const elements = values.flatMap((row, r) => row.map((value, c) => [r, c, value]));
  const [rows, columns, numbers] = [0, 1, 2].map((part) => elements.map((element) => element[part]));
  const operator = sparseMatrix(device, { rows, columns, values: numbers });
  const b = device.from(f64, rights);
  const x = guess ? device.from(f64, guess) : device.array(f64, values[0].length);
  const krylov = solver(device, { method: "cg", operator, b, x, ...rest });
  const result = await krylov.run();
  return { ...result, x: Array.from(await device.queue.read(x)) };
}

test("ends without a solution are told", async () => {
  const device = await open("wasm");
  device.precision = "strict";
  const definite = [
    [2, 1],
    [1, 3],
  ];
  const swapped = [
    [0, 1],
    [1, 0],
  ];
  const cases: readonly (readonly [Parameters<typeof run>[1], boolean, RegExp])[] = [
    [{ values: definite, rights: [1, 2] }, true, /within the tolerance/],
    [{ values: definite, rights: [0, 0], guess: [1, 1] }, true, /b is 0, and so is x/],
    [{ values: definite, rights: [1, 2], guess: [0.2, 0.6] }, true, /within the tolerance/],
    [
      {
        values: [
          [1, 0],
          [0, -1],
        ],
        rights: [1, 2],
      },
      false,
      /negative curvature, p . A p < 0: cg needs a positive definite one; take minres/,
    ],
    [{ values: swapped, rights: [1, 0] }, false, /broke down, as a divisor is 0/],
    [{ values: definite, rights: [NaN, 1] }, false, /a number is not finite: b, x/],
    [{ values: definite, rights: [Infinity, 1] }, false, /a number is not finite: b, x/],
    [{ values: definite, rights: [1e200, 1] }, false, /squares overflow: scale the system/],
    [{ values: definite, rights: [1e-200, 0] }, false, /squares of residuals underflow/],
    [{ values: definite, rights: [1e-150, 0] }, false, /squares of residuals underflow/],
    [{ values: definite, rights: [1e-140, 0] }, true, /within the tolerance/],
    [{ values: definite, rights: [1, 2], guess: [Infinity, 0] }, false, /a number is not finite/],
    [{ values: definite, rights: [1, 2], maxIterations: 1 }, false, /maxIterations is reached/],
    [{ values: definite, rights: [1, 2], tolerance: 0 }, false, /below the rounding errors|broke down|maxIterations/],
    [
      {
        values: [
          [1, 0],
          [0, 0],
        ],
        rights: [1, 1],
        method: "gmres",
      },
      false,
      /broke down/,
    ],
    [{ values: swapped, rights: [1, 0], method: "bicgstab" }, false, /broke down/],
    [{ values: swapped, rights: [1, 0], method: "gmres" }, true, /within the tolerance/],
    [{ values: swapped, rights: [1, 0], method: "minres" }, true, /within the tolerance/],
    [{ values: [[1], [1]], rights: [1, -1], method: "lsqr" }, true, /least-squares solution/],
    [
      {
        values: [
          [-1, 0],
          [0, -2],
        ],
        rights: [1, 2],
        preconditioner: "jacobi",
      },
      false,
      /r \. M\^-1 r is not positive/,
    ],
  ];
  for (const [what, converged, reason] of cases) {
    const result = await run(device, what);
    assert.match(result.reason, reason, `${JSON.stringify(what)} ${result.converged} ${result.residual}`);
    assert.equal(result.converged, converged, JSON.stringify(what));
    assert.equal(result.history.length, result.iterations + 1);
  }
  const { x, iterations } = await run(device, { values: definite, rights: [1, 2], tolerance: 1e-12 });
  assert.ok(Math.abs(x[0] - 0.2) < 1e-12 && Math.abs(x[1] - 0.6) < 1e-12 && iterations === 2);
  await device.close();
});

test("systems without unknowns, and with one", async () => {
  const device = await open("wasm");
  for (const method of ["cg", "bicgstab", "gmres", "minres", "lsqr"] as const)
    for (const n of [0, 1]) {
      const operator = sparseMatrix(device, { rows: n ? [0] : [], columns: n ? [0] : [], values: n ? [4] : [], shape: [n, n] });
      const [b, x] = [device.from(f64, n ? [2] : []), device.array(f64, n)];
      const { converged, iterations, reason } = await solver(device, { operator, b, x, method }).run();
      assert.ok(converged && iterations === n, `${method} ${n}: ${reason} ${iterations}`);
      assert.deepEqual(Array.from(await device.queue.read(x)), n ? [0.5] : []);
    }
  await device.close();
});

test("operators that do not fit the method are not believed", async () => {
  const device = await open("wasm");
  const upwind = kernel("upwind", { x: view(f64), y: view(f64) }, ({ x, y }, i) => {
    y[i] = 2 * x[i] - (i > 0 ? 1.9 * x[i - 1] : 0) + (i + 1 < x.length ? 0.4 * x[i + 1] : 0);
  });
  const n = 60;
  const b = device.from(
    f64,
    Float64Array.from({ length: n }, (_, i) => Math.sin(i)),
  );
  const operator: LinearFunction<"f64"> = (x, y) => device.prepare(upwind, { x, y }, range(n));
  for (const method of ["cg", "minres", "lsqr"] as const) {
    const transposed = method === "lsqr" ? operator : undefined;
    const { converged, residual, reason } = await solver(device, { operator, transposed, b, x: device.array(f64, n), method }).run();
    assert.ok(!converged && residual > 1e-6, `${method}: ${residual}, ${reason}`);
  }
  await device.close();
});

test("an absolute tolerance ends earlier", async () => {
  const device = await open("js");
  const { shape, rows, columns, values } = fivePoint(9);
  const operator = sparseMatrix(device, { shape, rows, columns, values });
  const [b, x] = [device.from(f64, new Float64Array(81).fill(1)), device.array(f64, 81)];
  const { residual, history, converged } = await solver(device, { operator, b, x, method: "cg", tolerance: 1e-12, absolute: 0.9 }).run();
  assert.ok(converged && residual * 9 <= 0.9 && history.at(-2)! * 9 > 0.9, `${residual}`);
  await device.close();
});

test("arguments that do not fit are refused", async () => {
  const device = await open("js");
  const operator = sparseMatrix(device, { rows: [0, 1], columns: [0, 1], values: [1, 2] });
  const [b, x] = [device.array(f64, 2), device.array(f64, 2)];
  const good = { operator, b, x, method: "cg" } as const;
  const cases: readonly (readonly [object, RegExp])[] = [
    [{ ...good, method: "cgs" }, /for method, is given .*; give cg, bicgstab, gmres, minres, lsqr/],
    [{ ...good, operator: undefined }, /for operator, is given nothing; give a sparse matrix, or a function/],
    [{ ...good, x: b }, /x and b share memory/],
    [{ ...good, x: device.array(f32, 2) }, /x is of f32 and b of f64/],
    [{ ...good, x: device.array(f64, 3) }, /the operator is 2 x 2, b has 2 elements and x 3/],
    [{ ...good, operator: () => [], x: device.array(f64, 3) }, /cg needs a square operator, and b has 2 elements, x 3: take lsqr/],
    [{ ...good, preconditioner: "ilu" }, /for preconditioner, is given .*; give jacobi, ssor, ilu0, or a function/],
    [{ ...good, operator: () => [], preconditioner: "jacobi" }, /is made of a sparse matrix, and the operator is a function/],
    [{ ...good, operator: () => 1 }, /for operator, its function returns .*1: return a pattern or a launch/],
    [{ ...good, method: "lsqr", preconditioner: "jacobi" }, /lsqr takes no preconditioner/],
    [{ ...good, method: "lsqr", operator: () => [] }, /lsqr needs the function of A\^T/],
    [{ ...good, tolerance: NaN }, /for tolerance, is given NaN; give a number that is not negative/],
    [{ ...good, maxIterations: 0 }, /for maxIterations, is given 0; give a whole number from 1/],
    [{ ...good, tol: 1 }, /solver has no option "tol"/],
  ];
  for (const [what, message] of cases)
    assert.throws(
      () => solver(device, what as typeof good),
      (error) => error instanceof LaunchError && message.test(error.message),
      String(message),
    );
  const hollow = sparseMatrix(device, { rows: [0, 1], columns: [1, 0], values: [1, 2] });
  assert.throws(
    () => solver(device, { ...good, operator: hollow, preconditioner: "ilu0" }),
    /ilu0 divides by the diagonal, and row 0 has 0 there/,
  );
  const singular = sparseMatrix(device, { rows: [0, 0, 1, 1], columns: [0, 1, 0, 1], values: [1, 1, 1, 1] });
  assert.throws(() => solver(device, { ...good, operator: singular, preconditioner: "ilu0" }), /ilu0 meets a pivot of 0 in row 1/);
  const twice = solver(device, good);
  const first = twice.run();
  await assert.rejects(twice.run(), /the last run is under way/);
  await first;
  await assert.rejects(async () => await (twice as unknown as Promise<void>), /a solver was awaited before it ran/);
  await device.close();
});
