import assert from "node:assert/strict";
import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, test } from "node:test";
import { compareSolutions, comparisonPlot, comparisonText } from "../../../apps/gsr/compare.js";
import { scaledShape, sections } from "../../../apps/gsr/shape.js";
import type { SolutionFile } from "../../../apps/gsr/solution-file.js";
import { solutionText } from "../../../apps/gsr/solution-file.js";
import { readSolution } from "../../../apps/gsr/files/solutions.js";

const folder = await mkdtemp(join(tmpdir(), "isoform-gsr-compare-"));
after(() => rm(folder, { recursive: true }));

const shape = scaledShape(0.001);
const { unknowns } = sections(shape);
const solution: SolutionFile = {
  system: { generator: "scanning", seed: 1, shape, options: { years: 5, frame: true } },
  precision: "strict",
  probes: 50,
  x: Array.from({ length: unknowns }, (_, j) => Math.sin(j)),
  standardErrors: Array.from({ length: unknowns }, (_, j) => (j === 3 ? 0 : 2 + Math.cos(j))),
};

test("a solution equals itself, bit by bit, also after a file", async () => {
  const path = join(folder, "a.json");
  await writeFile(path, solutionText(solution));
  const read = await readSolution(path);
  assert.deepEqual(read, solution);
  const same = compareSolutions(solution, { ...read, x: read.x.map((value, j) => (j === 3 ? solution.x[3] : value)) });
  assert.deepEqual([same.ok, same.worst, same.withinOne, same.sameBits, same.unknowns], [true, 0, 1, true, unknowns - 1]);
  assert.match(comparisonText(same), /bits equal\n.*passes: at most 0\.01\n.*passes: at most 0\.001\n[^]*the solutions agree\n$/);
  assert.match(comparisonPlot(solution, read, ["a", "b"]), /^<svg/);
});

test("bars decide: unknowns to 0.01 standard errors, errors of the same probes to 0.001", () => {
  const moved = (by: number): SolutionFile => ({
    ...solution,
    x: solution.x.map((e, j) => (j === 7 ? e + by * solution.standardErrors[j] : e)),
  });
  assert.ok(compareSolutions(solution, moved(0.009)).ok);
  const far = compareSolutions(solution, moved(0.011));
  assert.ok(!far.ok && !far.sameBits);
  assert.match(comparisonText(far), /1\.10e-2 standard errors; fails: at most 0\.01\n[^]*do not agree/);
  const scaled = (by: number): SolutionFile => ({ ...solution, standardErrors: solution.standardErrors.map((e) => e * by) });
  assert.ok(compareSolutions(solution, scaled(1.0009)).ok);
  assert.ok(!compareSolutions(solution, scaled(1.002)).ok);
  // Estimates of LSQR, and of other numbers of probes, decide nothing.
  assert.ok(compareSolutions(solution, { ...scaled(1.2), probes: undefined }).ok);
  assert.ok(compareSolutions(solution, { ...scaled(1.2), probes: 40 }).ok);
});

test("an unknown that only one of them determines fails", () => {
  const other = { ...solution, standardErrors: solution.standardErrors.map((e, j) => (j === 5 ? 0 : e)) };
  assert.equal(compareSolutions(solution, other).ok, false);
});

test("different systems, free frames and other files are refused", async () => {
  const of = (system: Partial<SolutionFile["system"]>): SolutionFile => ({ ...solution, system: { ...solution.system, ...system } });
  assert.throws(() => compareSolutions(solution, of({ seed: 2 })), /different systems: seed is 1 and 2; solve one system twice/);
  assert.throws(() => compareSolutions(solution, of({ options: { years: 4, frame: true } })), /years is 5 and 4/);
  const free = of({ options: { years: 5, frame: false } });
  assert.throws(() => compareSolutions(free, free), /the frame of these solutions is free.*solve without --no-frame/);
  const write = async (text: string) => {
    await writeFile(join(folder, "bad.json"), text);
    return readSolution(join(folder, "bad.json"));
  };
  await assert.rejects(readSolution(join(folder, "none.json")), /cannot read .*none\.json/);
  await assert.rejects(write("{"), /bad\.json is not a solution of isoform gsr: write one with isoform gsr --out/);
  await assert.rejects(
    write(solutionText(solution).replace('"version":1', '"version":9')),
    /has version 9, and this program reads version 1/,
  );
  await assert.rejects(write(solutionText({ ...solution, x: solution.x.slice(1) })), /bad\.json is damaged: .* each of the \d+ unknowns/);
});
