import assert from "node:assert/strict";
import { test } from "node:test";
import { doctor, open } from "isoform";
import type { FormName, SolverOptions } from "../../../apps/gsr/solver.js";
import { scanningRows } from "../../../apps/gsr/scanning/index.js";
import { FORMS, Solver } from "../../../apps/gsr/solver.js";
import { devices } from "isoform/set";

/* Several right-hand sides in one pass over the matrix: each ends with the bits that it has by itself. */

const SYSTEM = { generator: "scanning", stars: 20, years: 1, seed: 4, precision: "strict" } as const;
/** Sides end after 10 and 11 iterations. */
const STOPPING = { iterations: 12, atol: 1e-2 };
const reports = await doctor();
/** Each form on some devices; in strict mode OpenCL on CPUs takes long for what is scattered. */
const DEVICES: Record<FormName, readonly string[]> = {
  paper: [],
  fused: ["js", "js*2", "wasm", "native", "cuda"],
  sorted: ["wasm"],
  gathered: ["native", "cuda"],
  ordered: ["js", "js*2", "wasm", "native", "opencl", "cuda"],
  factored: ["js", "wasm", "native", "opencl", "cuda"],
};
const forms = (Object.keys(FORMS) as FormName[]).filter((form) => form !== "paper");

/** Draws of five probes, and how each has ended. */
async function solve(spec: string, form: FormName, sides: SolverOptions["sides"]) {
  const set = await devices(spec);
  try {
    const solver = await Solver.create(set, { ...SYSTEM, form, sides });
    const draws: Float64Array[] = [];
    const ends: object[] = [];
    while (draws.length < 5) {
      const found = await solver.probesFrom(draws.length, 5, STOPPING);
      draws.push(...found.draws);
      ends.push(...found.solutions.map((end) => ({ ...end, secondsPerIteration: 0, steps: {} })));
    }
    return { draws, ends };
  } finally {
    await set.close();
  }
}

for (const form of forms) {
  let known: ReturnType<typeof solve> | undefined;
  for (const name of DEVICES[form]) {
    const missing = reports.find((report) => report.backend === name)?.missing;
    test(
      `probes of several sides have the bits of one at a time: ${form} on ${name}`,
      { skip: missing && `${name}: ${missing.reason}` },
      async () => {
        const one = await (known ??= solve("js", form, 1));
        const iterations = one.ends.map((end) => (end as { iterations: number }).iterations);
        assert.ok(new Set(iterations).size > 1, `all end after ${iterations[0]} iterations`);
        for (const sides of [2, 4] as const) assert.deepEqual(await solve(name, form, sides), one, `${sides} sides`);
      },
    );
  }
}

test("sides that go on do not change errors and correlations; a last probe is solved for alone", async () => {
  const device = await open("wasm");
  const [one, four] = await Promise.all(
    ([1, "most"] as const).map(async (sides) => {
      const solver = await Solver.create(device, { ...SYSTEM, form: "fused", sides });
      assert.equal(solver.sides, sides === "most" ? 4 : 1);
      assert.deepEqual(
        [0, 2, 4].map((first) => solver.sidesFrom(first, 5)),
        sides === "most" ? [4, 4, 1] : [1, 1, 1],
      );
      return solver.probes(5, STOPPING);
    }),
  );
  assert.deepEqual(four, one);
  await device.close();
});

test("sides are refused where a form or a norm has none, or memory is too small", async () => {
  const device = await open("js");
  const create = (options: SolverOptions) => Solver.create(device, { ...SYSTEM, ...options });
  await assert.rejects(
    create({ form: "paper", sides: 2 }),
    /the form paper solves for one side at a time: take --sides 1, or another form/,
  );
  await assert.rejects(
    create({ form: "fused", norm: "merged", sides: 4 }),
    /the merged norm is for one side: take --sides 1, or --norm separate/,
  );
  const plain = await create({ form: "paper" });
  assert.equal(plain.sides, 1);
  const plans: { bytes: number; more: number }[] = [];
  await create({ form: "fused", sides: 4, onPlan: (plan) => plans.push(plan) });
  const [{ bytes, more }] = plans;
  const small = (memory: number) =>
    new Proxy(device, {
      get: (target, name) =>
        name === "capabilities" ? { ...target.capabilities, memory } : (Reflect.get(target, name, target) as unknown),
    });
  const tight = small(bytes + more - 1);
  const source = await scanningRows(device, { stars: SYSTEM.stars, years: SYSTEM.years }, SYSTEM.seed);
  const of = (options: SolverOptions) => Solver.of(tight, source, { ...options, form: "fused", precision: "strict" });
  await assert.rejects(
    of({ sides: 4 }),
    /observations with 4 right-hand sides at once needs .* of memory, and js has .*: choose .*, or --sides 2/,
  );
  const stop = (plan: { sides: number }): void => {
    throw new Error(`${plan.sides} sides`);
  };
  await assert.rejects(of({ onPlan: stop }), /^Error: 2 sides$/);
  await device.close();
});
