import assert from "node:assert/strict";
import { test } from "node:test";
import { assess, type Evidence } from "../../src/portability/assessment.js";
import type { TimedRun } from "../../src/portability/cells.js";
import { report } from "../../src/portability/report.js";

type Times = Readonly<Record<string, Readonly<Record<string, readonly number[]>>>>;

/** Runs from the iteration times of applications on platforms. */
const runs = (times: Times): TimedRun[] =>
  Object.entries(times).flatMap(([application, platforms]) =>
    Object.entries(platforms).flatMap(([platform, list]) =>
      list.map((seconds, run) => ({ application, platform, problem: "q", run, quantity: "iteration", seconds })),
    ),
  );
const evidence = (all: TimedRun[]): Evidence => ({ host: [], devices: [], validation: [], runs: all });
const figure = (html: string, caption: string): string =>
  /<svg.*?<\/svg>/.exec(html.slice(html.indexOf(`<figcaption>${caption}</figcaption>`)))![0];
/** Bars by their words: the left edge, the height and the classes. */
const barsOf = (svg: string): Record<string, { left: number; height: number; kind: string }> =>
  Object.fromEntries(
    [...svg.matchAll(/<rect x="([\d.]+)" y="[\d.]+" width="[\d.]+" height="([\d.]+)" class="(bar[^"]*)"><title>([^<]*)</g)].map(
      ([, left, height, kind, words]) => [words, { left: Number(left), height: Number(height), kind }],
    ),
  );

test("iteration times and efficiencies are bars by platform, in the unit that suits, with a cross where a program does not run", () => {
  const html = report(assess(evidence(runs({ a: { X: [0.01], Y: [0.04] }, b: { X: [0.02, 0.02], Z: [0.01] } }))));
  const times = figure(html, "Iteration times by platform");
  assert.match(times, />time of an iteration, ms; × not measured</);
  const bars = barsOf(times);
  assert.deepEqual(Object.keys(bars), ["a on X: 10.00 ms", "b on X: 20.00 ± 0.00 ms", "a on Y: 40.00 ms", "b on Z: 10.00 ms"]);
  // From 0 to 40 ms on 170 pixels.
  assert.deepEqual(
    Object.values(bars).map(({ height }) => height),
    [42.5, 85, 170, 42.5],
  );
  assert.equal(times.match(/>×</g)?.length, 2);
  assert.match(times, /aria-label="b on Y: not measured"/);
  const lefts = Object.values(bars).map(({ left }) => left);
  assert.deepEqual(
    lefts,
    lefts.toSorted((x, y) => x - y),
  );
  const shares = figure(html, "Application efficiencies by platform");
  assert.match(shares, />application efficiency \(yardstick any\), %/);
  assert.deepEqual(
    Object.values(barsOf(shares)).map(({ height }) => height),
    [170, 85, 170, 170],
  );
});

test("far values have a logarithmic axis, and says so", () => {
  const html = report(assess(evidence(runs({ a: { X: [1e-6], Y: [1] } }))));
  const times = figure(html, "Iteration times by platform");
  assert.match(times, />time of an iteration, s, logarithmic</);
  const [low, high] = Object.values(barsOf(times));
  assert.ok(low.height > 1 && low.height < 10 && high.height === 170, `${low.height} ${high.height}`);
});

test("many platforms and programs go on in further rows, and bars keep their place", () => {
  const names = Array.from({ length: 12 }, (_, n) => `a${n}`);
  const platforms = Object.fromEntries(Array.from({ length: 30 }, (_, n) => [`P${n}`, [1 + n]]));
  const html = report(assess(evidence(runs(Object.fromEntries(names.map((name) => [name, platforms]))))));
  const times = figure(html, "Iteration times by platform");
  const bars = barsOf(times);
  assert.equal(Object.keys(bars).length, 360);
  assert.equal(times.match(/<g transform="translate\(0,\d+\)">/g)?.length, 3);
  assert.ok(Object.values(bars).every(({ left }) => left >= 62 && left < 920));
  // Two programs of one colour differ in its strength.
  assert.deepEqual([bars["a0 on P0: 1.000 s"].kind, bars["a10 on P0: 1.000 s"].kind], ["bar s0", "bar s0 pale"]);
});

test("one platform has no bars by platform", () => {
  assert.ok(!report(assess(evidence(runs({ a: { X: [1] }, b: { X: [2] } })))).includes("by platform"));
});

const kernels = (names: readonly string[]): Evidence => ({
  ...evidence([
    ...runs({ a: { X: [1] } }),
    ...names.map((quantity): TimedRun => ({ application: "a", platform: "X", problem: "q", run: 1, quantity, seconds: 1, bytes: 1e9 })),
  ]),
  devices: [{ name: "X", platform: "X", backend: "published", label: "X", peakBandwidth: 1e10, peakFlops: null, source: "published" }],
});

test("kernels of the published solver stand at its intensities where no operations are counted, others show shares of the bandwidth", () => {
  const own = report(assess(kernels(["a1Att", "a2Instr"])));
  assert.ok(own.includes("Roofline of X, q"));
  assert.match(own, /a1Att, a: 0\.208 GFLOP\/s at 0\.208 FLOP\/byte, 1\.00 GB\/s/);
  assert.match(own, /a2Instr, a: 0\.0750 GFLOP\/s at 0\.0750 FLOP\/byte/);
  assert.match(own, /kernels without them stand at the arithmetic intensities of the published solver/);
  const others = report(assess(kernels(["a1Att", "copy"])));
  assert.ok(!others.includes("Roofline of X"));
  assert.ok(others.includes("Share of the bandwidth of X, q"));
  assert.match(others, /not all kernels are the published solver's \(a1Astro, .*\): figures show shares of the bandwidth/);
});
