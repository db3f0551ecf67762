import assert from "node:assert/strict";
import { after, test } from "node:test";
import type { Device } from "isoform";
import { LaunchError, open } from "isoform";
import { devices } from "isoform/set";
import { parallelRows } from "../../../apps/gsr/generate.js";
import { constraintResiduals, observationResiduals } from "../../../apps/gsr/reference.js";
import { weighted } from "../../../apps/gsr/robust.js";
import { scanningRows } from "../../../apps/gsr/scanning/index.js";
import { scaledShape, sections, sharedUnknowns } from "../../../apps/gsr/shape.js";
import { simulatedRows, SIMULATED } from "../../../apps/gsr/simulated.js";
import { Solver, fastestForm } from "../../../apps/gsr/solver.js";
import { createSystem, footprint, requireRoom } from "../../../apps/gsr/system.js";
import { plainLsqr } from "./plain-lsqr.js";
import { distance, plainMatrix } from "./plain-system.js";

const device = await open("js");
device.precision = "strict";
after(() => device.close());

const gib = 0.002;
const shape = scaledShape(gib);
const { unknowns } = sections(shape);

for (const generator of SIMULATED)
  for (const globals of [0, 1] as const)
    test(`the ${generator} system is the one that the host makes, scaled to columns of unit norm, with ${globals} global unknowns`, async () => {
      const shape = scaledShape(gib, globals);
      const system = await createSystem(device, simulatedRows(shape, generator, 3), {});
      const plain = plainMatrix(shape, generator, 3);
      const norms = new Float64Array(sections(shape).unknowns);
      for (const row of plain) for (const { column, value } of row) norms[column] += value * value;
      const p = await device.queue.read(system.scaling.all);
      assert.ok(
        distance(
          p,
          norms.map((square) => 1 / Math.sqrt(square)),
        ) < 1e-14,
      );
      assert.ok(
        distance(
          await device.queue.read(system.knownTerms),
          plain.map((row) => row.reduce((t, { value }) => t + value, 0)),
        ) < 1e-14,
      );
      const scaled = (from: number, to: number) =>
        plain.slice(0, shape.observations).flatMap((row) => row.slice(from, to).map(({ column, value }) => value * p[column]));
      assert.ok(distance(await device.queue.read(system.astrometric), scaled(0, 5)) < 1e-14);
      assert.ok(distance(await device.queue.read(system.attitude), scaled(5, 17)) < 1e-14);
      assert.ok(distance(await device.queue.read(system.instrument), scaled(17, 23)) < 1e-14);
      assert.equal(system.global === undefined, globals === 0);
      if (system.global) assert.ok(distance(await device.queue.read(system.global), scaled(23, 24)) < 1e-14);
      system.free();
    });

test("LSQR takes the same steps as a plain one", async () => {
  const iterations = 5;
  const solver = await Solver.create(device, { gib, seed: 3 });
  const solution = await solver.solve({ iterations });
  const p = await device.queue.read(solver.system.scaling.all);
  const scaled = plainMatrix(shape, "parallel", 3).map((row) => row.map(({ column, value }) => ({ column, value: value * p[column] })));
  const b = scaled.map((row) => row.reduce((t, { column, value }) => t + value / p[column], 0));
  const { x, variance, norms } = plainLsqr(scaled, b, unknowns, iterations);

  assert.equal(solution.istop, 7);
  assert.equal(solution.iterations, iterations);
  for (const name of Object.keys(norms) as (keyof typeof norms)[])
    assert.ok(Math.abs(solution[name] / norms[name] - 1) < 1e-9, `${name}: ${solution[name]} and ${norms[name]}`);
  assert.ok(
    distance(
      await solver.solution(),
      x.map((e, j) => e * p[j]),
    ) < 1e-9,
  );
  const sigma = norms.rnorm / Math.sqrt(shape.observations - unknowns);
  assert.ok(
    distance(
      await solver.standardErrors(),
      variance.map((e, j) => sigma * Math.sqrt(e) * p[j]),
    ) < 1e-9,
  );
  solver.free();
});

test("the solution is 1, its residual the true one, and a second run repeats the first bit by bit", async () => {
  const solver = await Solver.create(device, { gib, seed: 1 });
  const early = await solver.solve({ iterations: 25, timed: true });
  const found = await solver.solution();
  const observations = observationResiduals(shape, parallelRows(shape, 1), found);
  const constraints = constraintResiduals(shape, found);
  const truth = Math.hypot(...observations, ...constraints);
  assert.ok(Math.abs(early.rnorm - truth) < 1e-12 * early.bnorm);
  const again = await solver.residual([
    [0, shape.observations],
    [shape.observations, shape.observations + constraints.length],
  ]);
  assert.ok(Math.abs(again.norm - truth) < 1e-12 * early.bnorm);
  assert.ok(distance(again.rows[0], observations) < 1e-12);
  assert.ok(distance(again.rows[1], constraints) < 1e-9);
  assert.ok(solver.steps.every(({ name }) => early.steps[name] >= 0));

  await solver.solve({ iterations: 25 });
  assert.deepEqual(await solver.solution(), found);

  const { istop } = await solver.solve({ iterations: 5000 });
  assert.equal(istop, 4);
  const { max, rms } = await solver.deviation();
  assert.ok(max < 1e-9 && rms < 1e-10, `max ${max}, rms ${rms}`);
  solver.free();
});

const OTHER_FORMS = [
  { form: "fused" },
  { form: "fused", layout: "planes" },
  { form: "sorted" },
  { form: "sorted", layout: "planes" },
  { form: "gathered" },
  { form: "gathered", layout: "planes" },
  { form: "ordered" },
  { form: "ordered", layout: "planes" },
  { layout: "planes" },
] as const;

for (const variant of OTHER_FORMS)
  test(`the same system is solved with ${JSON.stringify(variant)}`, async () => {
    const paper = await Solver.create(device, { gib, seed: 5 });
    const expected = await paper.solve({ iterations: 6 });
    const other = await Solver.create(device, { gib, seed: 5, ...variant });
    const found = await other.solve({ iterations: 6 });
    for (const name of ["bnorm", "anorm", "rnorm", "arnorm", "xnorm", "dnorm"] as const)
      assert.ok(Math.abs(found[name] / expected[name] - 1) < 1e-9, `${name}: ${found[name]} and ${expected[name]}`);
    assert.ok(distance(await other.solution(), await paper.solution()) < 1e-9);
    assert.ok(distance(await other.standardErrors(), await paper.standardErrors()) < 1e-9);

    const first = await other.solution();
    const { norm } = await other.residual();
    assert.ok(Math.abs(norm - found.rnorm) < 1e-12 * found.bnorm);
    await other.solve({ iterations: 6 });
    assert.deepEqual(await other.solution(), first);
    paper.free();
    other.free();
  });

test("standard errors with the published count of unknowns", async () => {
  const solver = await Solver.create(device, { gib });
  await solver.solve({ iterations: 10 });
  const honest = await solver.standardErrors();
  await solver.solve({ iterations: 10, compatibleErrors: true });
  const ratio = Math.sqrt((shape.observations - unknowns) / (shape.observations - sharedUnknowns(shape)));
  assert.ok(
    distance(
      await solver.standardErrors(),
      Array.from(honest, (e) => e * ratio),
    ) < 1e-14,
  );
  solver.free();
});

test("x = 0 is found at once where b = 0", async () => {
  const solver = await Solver.create(device, { gib });
  device.queue.clear(solver.system.knownTerms);
  const { istop, iterations } = await solver.solve({ iterations: 10 });
  assert.deepEqual([istop, iterations], [0, 0]);
  assert.ok(((await solver.solution()) as Float64Array).every((x) => x === 0));
  solver.free();
});

test("non-finite data are refused", async () => {
  const solver = await Solver.create(device, { gib });
  device.queue.write(solver.system.knownTerms.slice([4, 5]), [Number.NaN]);
  await assert.rejects(solver.solve({ iterations: 10 }), /are not finite/);
  device.queue.write(solver.system.knownTerms.slice([4, 5]), [Infinity]);
  await assert.rejects(solver.solve({ iterations: 10 }), /are not finite/);
  solver.free();
});

test("a system larger than the device is refused before anything is allocated", async () => {
  const source = simulatedRows(shape, "parallel", 0);
  const untouched = new Proxy(
    {
      name: "tiny",
      precision: "fast",
      memory: { name: "tiny" },
      capabilities: { memory: footprint(source), maxAllocation: 2 ** 30 },
      // Looked for, and not called.
      prepare: () => assert.fail("a launch is prepared"),
      then: undefined,
      onHost: false,
      queue: {},
      createQueue: () => ({}),
    },
    {
      get(target, key) {
        if (key in target) return target[key as keyof typeof target];
        throw new Error(`touched ${String(key)}`);
      },
    },
  ) as unknown as Device;
  await assert.rejects(
    Solver.create(untouched, { gib: 60 }),
    (error) => error instanceof LaunchError && /needs \d+ GiB of memory, and tiny has/.test(error.message),
  );
  await assert.rejects(
    Solver.create(untouched, { gib, form: "fused" }),
    (error) => error instanceof LaunchError && error.message.endsWith("choose a smaller --gib, or 2 devices of this size"),
  );
  requireRoom(untouched, source);
  const narrow = { name: "narrow", capabilities: { memory: 2 ** 40, maxAllocation: 2 ** 16 } } as Device;
  assert.throws(() => requireRoom(narrow, source), /in one array/);
});

test("rows as factors give the solution of their coefficients, with weights and unknowns that have left", async () => {
  const rows = await scanningRows(device, { stars: 40, years: 2, known: "truth" }, 7);
  const set = await devices(device);
  const weights = Float64Array.from({ length: rows.shape.observations }, (_, i) => 1 - 0.5 * ((i * 7) % 3));
  for (const source of [rows, weighted(rows, weights)]) {
    const [plain, factored] = await Promise.all(
      (["fused", "factored"] as const).map((form) => Solver.of(set, source, { form, precision: "strict" })),
    );
    // Later iterations of LSQR lose digits.
    const [a, b] = [await plain.solve({ iterations: 5 }), await factored.solve({ iterations: 5 })];
    assert.ok(Math.abs(a.rnorm / b.rnorm - 1) < 1e-13);
    assert.ok(distance(await factored.solution(), await plain.solution()) < 1e-12);
    assert.ok((await plain.scaling()).includes(0));
    plain.free();
    factored.free();
  }
  await assert.rejects(
    Solver.create(device, { gib, form: "factored" }),
    /rows of this system are not made of factors: take the form ordered/,
  );
});

test("the fastest form: rows in the order of knots on GPUs where knots have many, without copies where there is no room, and on CPUs", () => {
  const source = simulatedRows(shape, "parallel", 0);
  const withRows = (observations: number) => ({ ...source, shape: { ...shape, observations } });
  const gpu = (memory: number): Device =>
    new Proxy(device, {
      get(target, property) {
        if (property === "memory") return { name: "gpu" };
        if (property === "capabilities") return { ...target.capabilities, memory };
        const value = Reflect.get(target, property, target) as unknown;
        return typeof value === "function" ? value.bind(target) : value;
      },
    });
  const [few, many] = [withRows(63 * shape.knots), withRows(64 * shape.knots)];
  assert.equal(fastestForm(gpu(2 ** 40), few), "gathered");
  assert.equal(fastestForm(gpu(2 ** 40), many), "ordered");
  assert.equal(fastestForm(gpu(2 ** 40), { ...many, hasFactors: true }), "factored");
  assert.equal(fastestForm(gpu(1.1 * footprint(many)), many), "fused");
  assert.equal(fastestForm(device, many), "fused");
});

for (const form of ["ordered", "factored"] as const)
  test(`known terms, residuals, probes and states come in the order of the source in the form ${form}`, async () => {
    const [plain, other] = await Promise.all(
      (["fused", form] as const).map((form) =>
        Solver.create(device, { generator: "scanning", stars: 20, years: 1, known: "truth", seed: 4, form }),
      ),
    );
    const rows = plain.shape.observations;
    const order = (await device.queue.read(other.system.rowOrder!.rowAt)) as Int32Array;
    assert.ok(order.some((row, place) => row !== place));
    assert.deepEqual(await other.knownTerms(), await plain.knownTerms());
    const close = (a: ArrayLike<number>, b: ArrayLike<number>) => assert.ok(distance(a, b) < 1e-9, `${distance(a, b)}`);
    for (const solver of [plain, other]) await solver.solve({ iterations: 10 });
    const u = async (solver: Solver) => (await solver.state()).find(({ name }) => name === "u")!;
    const read = async (solver: Solver) => (await (await u(solver)).read()) as Float64Array;
    close(await read(other), await read(plain));
    const residuals = await Promise.all([other, plain].map(async (solver) => (await solver.residual([[0, rows]])).rows[0]));
    close(residuals[0], residuals[1]);
    // The state of one goes on in the other.
    await (await u(other)).write(await read(plain));
    assert.deepEqual(await read(other), await read(plain));
    const draws = await Promise.all([other, plain].map(async (solver) => (await solver.probesFrom(3, 9, { iterations: 10 })).draws));
    draws[0].forEach((draw, side) => close(draw, draws[1][side]));
    plain.free();
    other.free();
  });

test("strict sums that a GPU would scatter for too long are refused by name", async () => {
  const set = { locals: [{ device: { name: "cuda:0", memory: { name: "NVIDIA" }, precision: "strict" } }], members: [{}] } as never;
  const source = (observations: number) => ({ shape: { observations } }) as never;
  for (const form of ["fused", "sorted"] as const)
    await assert.rejects(
      Solver.of(set, source(2 ** 20), { form }),
      new RegExp(
        `the form ${form} in strict mode adds to shared unknowns in the order of the rows, which takes cuda:0 .*: take the form gathered or ordered`,
      ),
    );
  for (const options of [{ form: "fused", precision: "fast" }, { form: "gathered" }] as const)
    await assert.rejects(Solver.of(set, source(2 ** 20), options), (error: Error) => !/in strict mode adds/.test(error.message));
  await assert.rejects(
    Solver.of(set, source(2 ** 20 - 1), { form: "fused" }),
    (error: Error) => !/in strict mode adds/.test(error.message),
  );
});
