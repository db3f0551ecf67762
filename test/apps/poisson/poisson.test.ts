import assert from "node:assert/strict";
import { after, describe, test } from "node:test";
import { LaunchError, open } from "isoform";
import { devices } from "isoform/set";
import { application } from "../../../apps/poisson/application.js";
import { DEFAULTS, Poisson, type PoissonSettings } from "../../../apps/poisson/poisson.js";
import { isoform } from "../../cli/isoform.js";
import { jsSet } from "../../domain/sets.js";
import { solved } from "./solved.js";

const wasm = await open("wasm");
const one = await devices(wasm);
after(() => wasm.close());

test("a NaN stops the solver, and is reported with the place and the scalar", async () => {
  const poisson = new Poisson(one, { ...DEFAULTS, size: 8 });
  Object.assign(poisson.problem, { rightSide: (x: number, y: number, z: number) => (x + y + z === 3 ? NaN : 1) });
  await assert.rejects(poisson.solve(), /^IsoformError: poisson, right-hand side: scalar "rz" is NaN/);
  poisson.free();
});

describe("with multigrid", () => {
  const sizes = [16, 32, 64];
  const runs = Promise.all(sizes.map((size) => solved(one, { size, preconditioner: "multigrid" })));

  test("the error falls with the square of the cell size", async () => {
    const [, { errors: before }, { errors: after }] = await runs;
    for (const of of ["greatest", "mean"] as const) {
      const slope = Math.log(before[of] / after[of]) / Math.log((sizes[2] + 1) / (sizes[1] + 1));
      assert.ok(slope > 1.95 && slope < 2.05, `${of}: slope ${slope}`);
    }
  });

  test("the number of iterations is independent of the size", async () => {
    const counts = (await runs).map((run) => run.iterations);
    assert.ok(Math.max(...counts) - Math.min(...counts) <= 2, `${counts}`);
  });
});

describe("preconditioners", () => {
  const kinds = { none: {}, jacobi: { sweeps: 3 }, multigrid: { sweeps: 1 } } as const;
  const runs = Object.entries(kinds).map(([preconditioner, settings]) =>
    solved(one, { size: 24, preconditioner: preconditioner as PoissonSettings["preconditioner"], ...settings }),
  );

  test("lead to one solution, whose residual is what the iteration says", async () => {
    const [plain, ...others] = await Promise.all(runs);
    for (const run of [plain, ...others]) {
      assert.ok(run.converged && run.residual <= 1e-10 && run.drift < 1e-11, `${run.residual}, ${run.drift}`);
      assert.ok(run.values.every((value, n) => Math.abs(value - plain.values[n]) < 1e-9));
    }
  });

  test("need fewer iterations the more they do", async () => {
    const [plain, sweeps, cycles] = (await Promise.all(runs)).map((run) => run.iterations);
    assert.ok(sweeps < 0.6 * plain && cycles < 0.25 * plain, `${plain}, ${sweeps}, ${cycles}`);
  });

  test("of one sweep are a factor, which changes nothing", async () => {
    const [plain] = await Promise.all(runs);
    const { iterations } = await solved(one, { size: 24, preconditioner: "jacobi", sweeps: 1 });
    assert.ok(Math.abs(iterations - plain.iterations) <= 1);
  });
});

test("the planner leaves 8 words a cell to conjugate gradients", async () => {
  const poisson = new Poisson(one, { ...DEFAULTS, size: 16 });
  await poisson.reset();
  const text = await poisson.skeleton.explain();
  assert.match(text, /64 instead of 112 bytes a cell/);
  const { bytes } = await poisson.skeleton.work();
  assert.ok(bytes > 64 * 16 ** 3 && bytes < 90 * 16 ** 3, `${bytes / 16 ** 3} bytes a cell`);
  poisson.free();
});

test("what makes no sense is refused", async () => {
  assert.throws(() => new Poisson(one, { ...DEFAULTS, size: 1 }), LaunchError);
  assert.throws(
    () => new Poisson(one, { ...DEFAULTS, preconditioner: "multigrid", grid: "bricks" }),
    /multigrid takes a grid that is dense or sparse/,
  );
  assert.throws(
    () => new Poisson(jsSet(7), { ...DEFAULTS, size: 16, preconditioner: "multigrid" }),
    /2 coarser levels leaves 4 planes to 7 devices: ask for fewer levels/,
  );
  assert.throws(() => application.footprint({ gib: 1e-9 }), /from 4 to 1290 cells/);
});

test("as an application", async () => {
  const prepared = await application.prepare(one, { gib: 5e-4, iterations: 8 });
  const [iteration, kernel] = await prepared.run();
  assert.deepEqual([iteration.quantity, kernel.quantity], ["iteration", "conjugate gradients"]);
  assert.ok(iteration.seconds > 0 && iteration.bytes! > 64 * 23 ** 3);
  const verdict = await prepared.validate();
  assert.ok(verdict.ok, `${verdict.maxError}`);
  prepared.free();
});

test("as a command", () => {
  const { status, stdout, stderr } = isoform([
    "poisson",
    "--size",
    "12",
    "--devices",
    "js*2",
    "--preconditioner",
    "multigrid",
    "--levels",
    "1",
  ]);
  assert.equal(status, 0, stderr);
  assert.match(stdout, /^js\*2: .*\ndense grid of 12 x 12 x 12, .*preconditioner multigrid\nconverged in \d+ iterations/);
});
