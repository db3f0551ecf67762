import assert from "node:assert/strict";
import { test } from "node:test";
import { cellsOf, type Run } from "../../src/portability/cells.js";
import { applicationMetrics, architectureMetrics, kernelEfficiencies, kernelMeans, phi } from "../../src/portability/metric.js";

type Times = Record<string, Record<string, number[]>>;

/** Runs of one problem from the iteration times of applications on platforms. */
function runs(times: Times, problem = "p"): Run[] {
  return Object.entries(times).flatMap(([application, platforms]) =>
    Object.entries(platforms).flatMap(([platform, list]) =>
      list.map((seconds, i) => ({ application, platform, problem, run: i + 1, quantity: "iteration", seconds })),
    ),
  );
}

function values(rows: Run[], platforms: string[], problem = "p"): Record<string, number> {
  const metrics = applicationMetrics(cellsOf(rows), [{ name: "set", platforms }], "set");
  return Object.fromEntries(metrics.filter((m) => m.problem === problem).map((m) => [m.application, Number(m.value.toFixed(6))]));
}

test("phi is the harmonic mean, with the error of eq. 15, and 0 where one efficiency is 0", () => {
  const { value, sigma } = phi([
    { value: 0.5, sigma: 0.01 },
    { value: 1, sigma: 0.02 },
  ]);
  assert.ok(Math.abs(value - 2 / 3) < 1e-15);
  assert.ok(Math.abs(sigma - (2 / 9) * Math.hypot(0.04, 0.02)) < 1e-15);
  assert.deepEqual(
    phi([
      { value: 0.5, sigma: 0.1 },
      { value: 0, sigma: 0 },
    ]),
    { value: 0, sigma: 0 },
  );
});

test("t_min is taken among the applications that run on every platform of the set", () => {
  const rows = runs({ vendor: { X: [1, 1] }, open: { X: [2, 2], Y: [4, 4] }, slow: { X: [4, 4], Y: [4, 4] } });
  assert.deepEqual(values(rows, ["X"]), { vendor: 1, open: 0.5, slow: 0.25 });
  assert.deepEqual(values(rows, ["X", "Y"]), { vendor: 0, open: 1, slow: 0.666667 });
});

test("beside Phi over the set stands Phi over the platforms that an application runs on", () => {
  const rows = runs({ vendor: { X: [1] }, open: { X: [2], Y: [4] }, slow: { X: [4], Y: [4] } });
  const metrics = applicationMetrics(cellsOf(rows), [{ name: "set", platforms: ["X", "Y"] }], "set");
  const of = (name: string) => metrics.find(({ application }) => application === name)!;
  assert.deepEqual([of("vendor").value, of("vendor").supported], [0, { platforms: 1, value: 1, sigma: NaN }]);
  // The vendor's program is no yardstick for the set of both.
  assert.deepEqual([of("open").value, of("open").supported.value, of("open").supported.platforms], [1, 1, 2]);
  const [, elsewhere] = applicationMetrics(cellsOf(runs({ a: { X: [1] }, b: { Y: [1] } })), [{ name: "set", platforms: ["X"] }], "set");
  assert.deepEqual(elsewhere.supported, { platforms: 0, value: 0, sigma: 0 });
});

test("yardsticks: the best of any program on a platform, or of those that run on all of the set", () => {
  /** Phi over P1, P2 (and P3) by each yardstick, and over the platforms that an application runs on. */
  const percents = (times: Times): Record<string, string> => {
    const platforms = [...new Set(Object.values(times).flatMap((of) => Object.keys(of)))];
    const of = (yardstick: "any" | "set") => applicationMetrics(cellsOf(runs(times)), [{ name: "set", platforms }], yardstick);
    const text = ({ value, supported }: { value: number; supported: { value: number; platforms: number } }) =>
      `${(100 * value).toFixed(4)} (${(100 * supported.value).toFixed(4)} on ${supported.platforms})`;
    const [any, set] = [of("any"), of("set")];
    assert.ok(any.every(({ yardstick }) => yardstick === "any") && set.every(({ yardstick }) => yardstick === "set"));
    return Object.fromEntries(any.map((one, n) => [one.application, `any ${text(one)}, set ${text(set[n])}`]));
  };
  assert.deepEqual(percents({ fast: { P1: [1], P2: [1] }, slow: { P1: [10], P2: [10], P3: [10] } }), {
    fast: "any 0.0000 (100.0000 on 2), set 0.0000 (100.0000 on 2)",
    slow: "any 14.2857 (14.2857 on 3), set 100.0000 (100.0000 on 3)",
  });
  assert.deepEqual(percents({ A: { P1: [2], P2: [4] }, B: { P1: [1], P3: [1] } }), {
    A: "any 0.0000 (66.6667 on 2), set 0.0000 (100.0000 on 2)",
    B: "any 0.0000 (100.0000 on 2), set 0.0000 (100.0000 on 2)",
  });
  assert.deepEqual(percents({ A: { P1: [8], P2: [5], P3: [9] }, B: { P1: [6], P2: [10], P3: [3] }, C: { P2: [4], P3: [12] } }), {
    A: "any 53.7313 (53.7313 on 3), set 56.2500 (56.2500 on 3)",
    B: "any 66.6667 (66.6667 on 3), set 75.0000 (75.0000 on 3)",
    C: "any 0.0000 (40.0000 on 2), set 0.0000 (40.0000 on 2)",
  });
});

test("where higher is better an efficiency is the mean over the best mean, by both yardsticks", () => {
  const rows: Run[] = Object.entries({ A: { P1: [90, 110], P2: [50] }, B: { P1: [80], P2: [200] } }).flatMap(([application, platforms]) =>
    Object.entries(platforms).flatMap(([platform, values]) =>
      values.map((fom, run): Run => ({ application, platform, problem: "p", run, quantity: "iteration", fom, better: "higher" })),
    ),
  );
  for (const yardstick of ["any", "set"] as const) {
    const metrics = applicationMetrics(cellsOf(rows), [{ name: "set", platforms: ["P1", "P2"] }], yardstick);
    assert.deepEqual(
      metrics.map(({ application, value }) => `${application} ${(100 * value).toFixed(4)}`),
      ["A 40.0000", "B 88.8889"],
    );
    assert.deepEqual(
      metrics[0].efficiencies.map(({ value }) => value),
      [1, 0.25],
    );
  }
});

test("the best application's error counts twice", () => {
  const [metric] = applicationMetrics(cellsOf(runs({ a: { X: [1, 3] } })), [{ name: "set", platforms: ["X"] }], "set");
  assert.equal(metric.value, 1);
  assert.ok(Math.abs(metric.sigma! - Math.SQRT2 * (Math.SQRT2 / 2)) < 1e-12);
});

test("a platform on which nobody ran a problem leaves the set for that problem, and only for that", () => {
  const rows = [
    ...runs({ a: { X: [1], Y: [1], small: [1] }, b: { X: [2], Y: [2] } }, "10 GB"),
    ...runs({ a: { X: [1], Y: [1] }, b: { X: [2] } }, "30 GB"),
  ];
  const set = ["X", "Y", "small", "never"];
  assert.deepEqual(values(rows, set, "10 GB"), { a: 1, b: 0 });
  assert.deepEqual(values(rows, set, "30 GB"), { a: 1, b: 0 });
  const metrics = applicationMetrics(cellsOf(rows), [{ name: "set", platforms: set }], "set");
  assert.deepEqual(
    metrics.map((m) => [m.problem, m.set.join()]),
    [
      ["10 GB", "X,Y,small"],
      ["10 GB", "X,Y,small"],
      ["30 GB", "X,Y"],
      ["30 GB", "X,Y"],
    ],
  );
});

test("an application that ran only elsewhere scores 0, and a set that nobody ran gives nothing", () => {
  const rows = runs({ a: { X: [1] }, b: { Y: [1] } });
  assert.deepEqual(values(rows, ["X"]), { a: 1, b: 0 });
  assert.deepEqual(values(rows, ["Z"]), {});
});

test("where nobody runs everywhere every Phi is 0", () => {
  assert.deepEqual(values(runs({ a: { X: [1] }, b: { Y: [1] } }), ["X", "Y"]), { a: 0, b: 0 });
});

const kernel = (platform: string, quantity: string, seconds: number, bytes?: number, flops?: number): Run => ({
  application: "a",
  platform,
  problem: "p",
  run: 1,
  quantity,
  seconds,
  bytes,
  flops,
});

test("architectural efficiency is the time that the roofs allow over the time taken", () => {
  const cells = cellsOf([kernel("X", "k1", 2, 100), kernel("X", "k2", 3, 50), kernel("X", "iteration", 9, 1000)]);
  const roofs = new Map([["X", { bandwidth: 100 }]]);
  assert.equal(architectureMetrics(cells, [{ name: "set", platforms: ["X"] }], roofs)[0].value, 1.5 / 5);
  assert.deepEqual(
    kernelEfficiencies(cells, roofs).map((k) => [k.quantity, k.efficiency]),
    [
      ["k1", 0.5],
      ["k2", 0.5 / 3],
    ],
  );
});

test("a compute-bound kernel is held against the peak of operations", () => {
  const cells = cellsOf([kernel("X", "k", 2, 100, 1000)]);
  assert.equal(kernelEfficiencies(cells, new Map([["X", { bandwidth: 100, flops: 1000 }]]))[0].efficiency, 0.5);
});

test("kernel means need every platform of the set that ran the problem", () => {
  const rows = [kernel("X", "k", 1, 50), kernel("Y", "k", 2, 50), kernel("X", "only X", 1, 50)];
  const kernels = kernelEfficiencies(
    cellsOf(rows),
    new Map([
      ["X", { bandwidth: 100 }],
      ["Y", { bandwidth: 100 }],
    ]),
  );
  const means = kernelMeans(kernels, [{ name: "set", platforms: ["X", "Y", "never"] }]);
  assert.deepEqual(
    means.map((m) => [m.quantity, m.efficiency, m.set.join()]),
    [["k", 0.375, "X,Y"]],
  );
});

test("an application that ran without being counted has no architectural metric rather than 0", () => {
  const cells = cellsOf([kernel("X", "k", 1, 50), { ...kernel("X", "iteration", 1), application: "uncounted" }]);
  const metrics = architectureMetrics(cells, [{ name: "set", platforms: ["X"] }], new Map([["X", { bandwidth: 100 }]]));
  assert.deepEqual(
    metrics.map((m) => m.application),
    ["a"],
  );
});
