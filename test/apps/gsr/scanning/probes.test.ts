import assert from "node:assert/strict";
import { after, test } from "node:test";
import { open } from "isoform";
import { judge } from "../../../../apps/gsr/judgement.js";
import { STAR_CORRELATIONS, starCorrelations } from "../../../../apps/gsr/probes.js";
import { sections } from "../../../../apps/gsr/shape.js";
import { Solver } from "../../../../apps/gsr/solver.js";
import type { Entry } from "../dense-system.js";
import { readRows } from "../dense-system.js";

/* Solution and errors of a small system against dense algebra. */

const device = await open("wasm");
after(() => device.close());

const PROBES = 40;
const options = { stars: 20, years: 1, seed: 6, known: "truth", plane: { rows: 2, strips: 3, shortRow: 2 }, form: "fused" } as const;
const solver = await Solver.create(device, { generator: "scanning", ...options });
const { system } = solver;
const { shape } = system;
const { unknowns } = sections(shape);
const stopping = { iterations: 10_000, atol: 1e-8 };
const { istop } = await solver.solve(stopping);
const x = await solver.solution();
const before = await solver.standardErrors();
const probes = await solver.probes(PROBES, stopping);
const p = await device.queue.read(system.scaling.all);
const b = await device.queue.read(system.knownTerms);

/** A^T A of some rows, over the unknowns that occur. */
function normalOf(rows: readonly Entry[][], kept: readonly number[]): Float64Array[] {
  const place = new Map(kept.map((j, at) => [j, at]));
  const matrix = kept.map(() => new Float64Array(kept.length));
  for (const row of rows)
    for (const [j, v] of row) if (v !== 0) for (const [k, w] of row) if (w !== 0) matrix[place.get(j)!][place.get(k)!] += v * w;
  return matrix;
}

/** The inverse of a positive definite matrix, by Gauss and Jordan. */
function inverse(matrix: readonly Float64Array[]): Float64Array[] {
  const n = matrix.length;
  const a = matrix.map((row, i) => Float64Array.from({ length: 2 * n }, (_, j) => (j < n ? row[j] : j - n === i ? 1 : 0)));
  for (let k = 0; k < n; k++) {
    const pivot = a[k][k];
    for (let j = k; j < 2 * n; j++) a[k][j] /= pivot;
    for (let i = 0; i < n; i++) {
      const factor = a[i][k];
      if (i === k || factor === 0) continue;
      for (let j = k; j < 2 * n; j++) a[i][j] -= factor * a[k][j];
    }
  }
  return a.map((row) => row.slice(n));
}

const times = (a: readonly Float64Array[], c: readonly Float64Array[]): Float64Array[] =>
  a.map((row) => {
    const sum = new Float64Array(c[0].length);
    for (const [k, value] of row.entries()) for (let j = 0; j < sum.length; j++) sum[j] += value * c[k][j];
    return sum;
  });

const rows = await readRows(solver);
const kept = [...p.keys()].filter((j) => p[j] > 0);
const inverted = inverse(normalOf(rows, kept));
/** Covariance of the scaled solution for noise of 1 on observations and none on constraints. */
const covariance = times(times(inverted, normalOf(rows.slice(0, shape.observations), kept)), inverted);
const errors = new Float64Array(unknowns);
kept.forEach((j, at) => (errors[j] = p[j] * Math.sqrt(covariance[at][at])));

test("the solution is that of the normal equations to a thousandth of a standard error", () => {
  assert.equal(istop, 2);
  const place = new Map(kept.map((j, at) => [j, at]));
  const right = new Float64Array(kept.length);
  rows.forEach((row, i) => row.forEach(([j, v]) => v !== 0 && (right[place.get(j)!] += v * b[i])));
  for (const [at, j] of kept.entries()) {
    const exact = p[j] * inverted[at].reduce((sum, v, k) => sum + v * right[k], 0);
    assert.ok(Math.abs(x[j] - exact) < 1e-3 * errors[j], `unknown ${j}: ${x[j]} and ${exact}, error ${errors[j]}`);
  }
});

test("probes give standard errors as good as their number says, and leave the solution as it was", async () => {
  const ratios = kept.map((j) => probes.errors[j] / errors[j] - 1);
  const rms = Math.sqrt(ratios.reduce((sum, r) => sum + r * r, 0) / ratios.length);
  assert.equal(probes.accuracy, 1 / Math.sqrt(2 * PROBES));
  assert.ok(rms > 0.7 * probes.accuracy && rms < 1.4 * probes.accuracy, `rms ${rms} for ${probes.accuracy}`);
  assert.ok([...p.keys()].every((j) => p[j] > 0 || probes.errors[j] === 0));
  assert.deepEqual(await solver.solution(), x);
  assert.deepEqual(await solver.standardErrors(), before);
});

test("probes give a star's correlations", () => {
  assert.deepEqual([STAR_CORRELATIONS.length, STAR_CORRELATIONS[0], STAR_CORRELATIONS[9]], [10, "ra_dec_corr", "pmra_pmdec_corr"]);
  const found = starCorrelations(probes, shape.stars);
  const place = new Map(kept.map((j, at) => [j, at]));
  let [squares, count] = [0, 0];
  for (let s = 0; s < shape.stars; s++) {
    let n = 0;
    for (let i = 0; i < 5; i++)
      for (let j = i + 1; j < 5; j++, n++) {
        const [at, other] = [place.get(5 * s + i)!, place.get(5 * s + j)!];
        squares += (found[10 * s + n] - covariance[at][other] / Math.sqrt(covariance[at][at] * covariance[other][other])) ** 2;
        count++;
      }
  }
  const rms = Math.sqrt(squares / count);
  assert.ok(rms < 1.2 / Math.sqrt(PROBES), `rms ${rms}`);
});

test("a good solution lies about the truth as its errors say", () => {
  const truth = system.exact!;
  const good = judge(shape, x, truth, probes);
  assert.deepEqual(
    good.map(({ section, ok }) => [section, ok]),
    [
      ["stars", true],
      ["attitude", true],
      ["instrument", true],
      ["gamma", true],
    ],
  );
  assert.equal(
    good.reduce((sum, { unknowns: n, undetermined }) => sum + n + undetermined, 0),
    unknowns,
  );
});

/**
 * With 20 stars in a year, the errors of stars are so much alike that their rms has the spread of four independent numbers, and a factor of 2 may lie within
 * four deviations; 40 stars in two years leave it none.
 */
test("errors half as large as they should be are caught in every section of several unknowns", async () => {
  const other = await Solver.create(device, { generator: "scanning", ...options, stars: 40, years: 2 });
  await other.solve(stopping);
  const found = await other.solution();
  const { draws, errors: known } = await other.probes(PROBES, stopping);
  const verdicts = (factor: number) => {
    const scaled = { draws: draws.map((y) => y.map((e) => factor * e)), errors: known.map((e) => factor * e) };
    return judge(other.shape, found, other.exact!, { ...probes, ...scaled }).filter(({ unknowns: n }) => n > 1);
  };
  const [good, bad] = [verdicts(1), verdicts(0.5)];
  assert.deepEqual([good.length, bad.length], [3, 3]);
  for (const { ok } of good) assert.ok(ok, JSON.stringify(good));
  for (const { section, ok } of bad) assert.equal(ok, false, `${section}: ${JSON.stringify(bad)}`);
  other.free();
});

test("a section whose unknowns have all left the system has no verdict", () => {
  const { instrument, global } = sections(shape);
  const left = probes.errors.map((error, j) => (j >= instrument && j < global ? 0 : error));
  const verdicts = judge(shape, x, system.exact!, { ...probes, errors: left });
  assert.deepEqual(
    verdicts.map(({ section, ok }) => [section, ok]),
    [
      ["stars", true],
      ["attitude", true],
      ["gamma", true],
    ],
  );
});

test("the truth obeys the constraints", () => {
  for (const row of rows.slice(shape.observations)) {
    const size = Math.max(...row.map(([j, v]) => Math.abs((v * system.exact![j]) / p[j])));
    const sum = row.reduce((t, [j, v]) => t + (v * system.exact![j]) / p[j], 0);
    assert.ok(Math.abs(sum) < 1e-9 * size, `${sum} of ${size}`);
  }
});

test("probes are refused where they give no errors", async () => {
  await assert.rejects(solver.probes(1, stopping), /1 probes give no errors: probes need 2 or more/);
  const free = await Solver.create(device, { generator: "scanning", ...options, frame: false });
  await assert.rejects(free.probes(50, stopping), /the frame is free: errors of six directions are infinite; leave --frame on/);
  free.free();
});

test("LSQR's sums after 100 iterations are far below the standard errors", async () => {
  await solver.solve({ iterations: 100 });
  const sums = await solver.standardErrors();
  const ratios = kept.map((j) => sums[j] / errors[j]).sort((r, s) => r - s);
  assert.ok(ratios[Math.floor(ratios.length / 2)] < 0.8, `median ${ratios[Math.floor(ratios.length / 2)]}`);
});
