import assert from "node:assert/strict";
import { it, test } from "node:test";
import { assign, f64, i32, max, sum } from "../../src/index.js";
import { dense } from "../../src/domain/index.js";
import { devices, type DeviceSet } from "../../src/set/index.js";
import { DEFAULT_SETTINGS, every, OCC_LEVELS, skeleton, swap, tuned, type SkeletonOptions } from "../../src/skeleton/index.js";
import { makeGrid } from "../../src/domain/make-grid.js";
import { ELSEWHERE, tested } from "../devices.js";
import { sample } from "../random/share.js";
import { jsSet, noise, onEachBackend } from "../domain/sets.js";

const MEMBERS = [1, 2, 3, 4, 7];

/** A wave, its mean over some of the iterations, and a factor that is chosen anew in some. */
function wave(set: DeviceSet, options: SkeletonOptions = {}) {
  const grid = dense(set, [6, 5, 16]);
  const [u, v, mean, stress] = ["u", "v", "mean", "stress"].map((name) => grid.field(name, f64));
  const [largest, factor, kept] = ["largest", "factor", "kept"].map((name) => grid.scalar(name, f64));
  const samples = grid.scalar("samples", i32);
  const move = grid.container("move", { u, v, factor }, ({ u, v, factor }, c) => {
    v[c] = u[c] + factor * (u.at(c, 0, 0, 1) - 2 * u[c] + u.at(c, 0, 0, -1) + u.at(c, 1, 0, 0) - u.at(c, 0, -1, 0));
  });
  const limit = grid.container("limit", { u, largest: max(largest) }, ({ u, largest }, c) => largest.max(Math.abs(u[c])));
  const choose = grid.scalarStep("choose", { factor: assign(factor), largest }, ({ factor, largest }) => factor.set(0.2 / (1 + largest)));
  const average = grid.container("average", { u, mean }, ({ u, mean }, c) => {
    mean[c] += u[c];
  });
  const count = grid.scalarStep("count", { samples: assign(samples) }, ({ samples }) => samples.set(samples.get() + 1));
  const shear = grid.container("shear", { mean, stress, kept: sum(kept) }, ({ mean, stress, kept }, c) => {
    stress[c] = mean.at(c, 0, 0, 1) - mean.at(c, 0, 0, -2);
    kept.add(stress[c]);
  });
  const bound = grid.container("bound", { u, stress }, ({ u, stress }, c) => {
    u[c] = 0.9 * u[c] + 0.01 * stress.at(c, 0, 0, 1);
  });
  u.fill((x, y, z) => noise(x, y, z));
  for (const field of [v, mean, stress]) field.fill(0);
  const sequence = [
    every(4, [limit, choose]),
    move,
    swap(u, v),
    every(2, [average, count, every(3, [shear], { phase: 2 })], { phase: 1 }),
    every(5, [bound, swap(mean, stress)], { phase: 3 }),
  ];
  const plan = skeleton(set, "wave", sequence, { precision: "strict", ...options });
  const state = async () => [
    ...(await Promise.all([u, mean, stress].map(async (field) => [...(await field.download())]))),
    await Promise.all([largest, factor, kept, samples].map((scalar) => scalar.get())),
  ];
  /** The same, container by container. */
  const meaning = async (iterations: number): Promise<void> => {
    const run = async (...steps: (typeof move)[]) => {
      for (const step of steps) await grid.run(step, { precision: "strict" });
    };
    for (let n = 0; n < iterations; n++) {
      if (n % 4 === 0) await run(limit, choose);
      await run(move);
      u.swap(v);
      if (n % 2 === 1) await run(average, count);
      if (n % 2 === 1 && n % 3 === 2) await run(shear);
      if (n % 5 === 3) {
        await run(bound);
        mean.swap(stress);
      }
    }
  };
  return { grid, u, mean, stress, samples, plan, state, meaning };
}

const expected = await (async () => {
  const reference = wave(jsSet(1));
  await reference.meaning(17);
  return reference.state();
})();

await onEachBackend("steps of every n-th iteration", ({ backend, some, of }) => {
  for (const members of some(backend === "native" ? [1, 3] : MEMBERS))
    it(`on ${members}`, async () => {
      for (const occ of backend === "js" && members > 1 ? sample(OCC_LEVELS) : (["two-way"] as const))
        for (const options of [{}, { fuse: false }, { unroll: 3 }]) {
          const made = wave(of(members), { occ, ...options });
          for (const iterations of [1, 6, 10]) await made.plan.run(iterations);
          assert.equal(made.plan.iteration, 17);
          assert.deepEqual(await made.state(), expected, `${occ} ${JSON.stringify(options)}`);
          for (const held of [made.plan, made.grid]) held.free();
        }
    });
});

for (const spec of ["cuda:0", "cuda:0*3", "opencl*2", "js,wasm"].filter(tested)) {
  const opened = await devices(spec).catch((error: Error) => error.message);
  test(`on ${spec}`, { skip: typeof opened === "string" && opened }, async () => {
    const set = opened as DeviceSet;
    for (const occ of set.members.length > 1 ? sample(OCC_LEVELS) : (["none"] as const))
      for (const options of [{}, { fuse: false }, { unroll: 3 }]) {
        const made = wave(set, { occ, ...options });
        for (const iterations of [1, 6, 10]) await made.plan.run(iterations);
        assert.deepEqual(await made.state(), expected, `${occ} ${JSON.stringify(options)}`);
        for (const held of [made.plan, made.grid]) held.free();
      }
    await set.close();
  });
}

test("iterations are counted over runs and submissions, and go on from where they are set", { skip: ELSEWHERE }, async () => {
  const made = wave(jsSet(2));
  made.plan.submit(5);
  assert.equal(made.plan.iteration, 5);
  const again = skeleton(made.grid.set, "again", [
    every(10, [made.grid.scalarStep("one", { n: assign(made.samples) }, ({ n }) => n.set(n.get() + 100))]),
  ]);
  again.iteration = 18;
  await again.run(2);
  assert.equal(await made.samples.get(), 2);
  await again.run(1);
  assert.equal(again.iteration, 21);
  assert.equal(await made.samples.get(), 102);
  for (const number of [-1, 0.5, Number.NaN])
    assert.throws(() => (again.iteration = number), {
      name: "LaunchError",
      message: /skeleton "again": iteration .*; give a whole number, 0 or more/,
    });
});

test("a run in pieces is the run in one, in any order of the programs that were made", { skip: ELSEWHERE }, async () => {
  const whole = wave(jsSet(3));
  await whole.plan.run(40);
  const pieces = wave(jsSet(3));
  for (let n = 0; n < 40; n++) await pieces.plan.run(1, n === 17 ? { trace: true } : {});
  assert.deepEqual(await pieces.state(), await whole.state());
});

test("levels are measured on what most iterations run, and leave no trace", { skip: ELSEWHERE }, async () => {
  const made = wave(jsSet(2), { occ: "auto" });
  await made.plan.run(17);
  assert.deepEqual(await made.state(), expected);
  assert.deepEqual(
    made.plan.choices.map(({ of }) => of),
    ["occ"],
  );
  const best = await tuned({ ...DEFAULT_SETTINGS, grid: "auto" }, ({ grid: kind, layout }) => {
    const grid = makeGrid(jsSet(2), [8, 8, 8], { kind, layout });
    const [a, b] = ["a", "b"].map((name) => grid.field(name, f64));
    const step = grid.container("step", { a, b }, ({ a, b }, c) => {
      b[c] = a.at(c, 0, 0, 1);
    });
    a.fill(1);
    const plan = skeleton(jsSet(2), "tuned", [step, every(3, [swap(a, b)])]);
    return { skeleton: plan, free: () => [plan, grid].forEach((held) => held.free()) };
  });
  assert.deepEqual(
    best.skeleton.choices.map(({ of, seconds }) => [of, Object.keys(seconds).length]),
    [["storage", 3]],
  );
  best.free();
});

test("NaN of a step of some iterations is found", { skip: ELSEWHERE }, async () => {
  const grid = dense(jsSet(2), [4, 6]);
  const [a, b] = ["a", "b"].map((name) => grid.field(name, f64));
  a.fill(1);
  b.fill(0);
  const add = grid.container("add", { a }, ({ a }, c) => {
    a[c] += 1;
  });
  const spoil = grid.container("spoil", { a, b }, ({ a, b }, c) => {
    b[c] = Math.sqrt(2.5 - a[c]);
  });
  await assert.rejects(skeleton(grid.set, "counting", [add, every(3, [spoil])]).run(20, { nan: true, every: 1 }), {
    message: /skeleton "counting", iteration 4: field "b" became NaN, first in cell \[0,0\]/,
  });
});

test("the plan of each kind of iteration is told, with the halos that the others leave", { skip: ELSEWHERE }, async () => {
  const { plan } = wave(jsSet(2));
  const text = await plan.explain();
  assert.match(text, /one iteration per plan, such as iteration 0: \d+ of 60 plans/);
  assert.match(text, /such as iteration 5: /);
  const plans = text.split("\n\n\n");
  assert.ok(plans.length >= 6 && plans.every((each) => each.startsWith('skeleton "wave" on ')));
  const shown = (name: string) => plans.filter((each) => new RegExp(`^ {2}${name} `, "m").test(each)).length;
  assert.equal(shown("move"), plans.length);
  assert.ok(shown("shear") > 0 && shown("shear") < shown("average"));
  await plan.run(1);
  assert.match(await plan.explain("svg"), /move/);
  assert.doesNotMatch(await plan.explain("dot"), /choose/);
  assert.match(await plan.timeline(), /move/);
  assert.ok((await plan.work()).bytes > 0);
});

test("iterations that run nothing", { skip: ELSEWHERE }, async () => {
  const grid = dense(jsSet(2), [4, 8]);
  const a = grid.field("a", f64);
  const add = grid.container("add", { a }, ({ a }, c) => {
    a[c] += 1;
  });
  a.fill(0);
  for (const occ of ["auto", "standard"] as const) {
    const seldom = skeleton(grid.set, "seldom", [every(4, [add], { phase: 2 })], { occ });
    await seldom.run(4, { trace: true });
    await seldom.run(4);
    assert.match(await seldom.explain(), /iteration 8: 3 of 4 plans/);
    assert.equal(typeof (await seldom.timeline()), "string");
  }
  assert.equal(await a.get([1, 1]), 4);
});

test("second buffers are shared by the plans", { skip: ELSEWHERE }, async () => {
  const grid = dense(jsSet(1), [8, 8]);
  const [u, v] = ["u", "v"].map((name) => grid.field(name, f64));
  const made: string[] = [];
  const { field } = grid;
  grid.field = ((name: string, ...rest: never[]) => (made.push(name), (field as Function).call(grid, name, ...rest))) as never;
  const read = grid.container("read", { u, v }, ({ u, v }, c) => {
    v[c] = u.at(c, 1, 0) + u.at(c, 0, 1);
  });
  const write = grid.container("write", { u, v }, ({ u, v }, c) => {
    u[c] = 0.25 * v[c] + 1;
  });
  const more = grid.container("more", { v }, ({ v }, c) => {
    v[c] *= 2;
  });
  u.fill(1);
  v.fill(0);
  const plan = skeleton(grid.set, "buffers", [read, write, every(2, [more])], { unroll: 2 });
  await plan.run(7);
  assert.ok(made.length > 0, "no second buffer was made");
  assert.deepEqual([...new Set(made)], made);
});

test("what is no number of iterations, and temporaries that some iterations lack, are refused", { skip: ELSEWHERE }, async () => {
  for (const n of [0, -1, 1.5, Number.NaN])
    assert.throws(() => every(n, []), { name: "LaunchError", message: /every\(.*every\.test\.[jt]s:\d+\): give a whole number/ });
  for (const phase of [-1, 3, 0.5]) assert.throws(() => every(3, [], { phase }), /its phase is .*; give a whole number from 0 to 2/);
  assert.throws(() => every(3, [], { offset: 1 } as never), /it has no option "offset"; it has phase/);
  const grid = dense(jsSet(1), [4, 4]);
  const [a, b] = ["a", "b"].map((name) => grid.field(name, f64));
  const first = grid.container("first", { a, b }, ({ a, b }, c) => {
    b[c] = a[c];
  });
  const second = grid.container("second", { a, b }, ({ a, b }, c) => {
    a[c] = b[c];
  });
  a.fill(1);
  await assert.rejects(
    skeleton(grid.set, "s", [every(2, [first]), second], { temporary: [b] }).run(1),
    /needs the value of field "b" from before the sequence/,
  );
});
