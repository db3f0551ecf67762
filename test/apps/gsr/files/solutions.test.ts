import assert from "node:assert/strict";
import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, test } from "node:test";
import { columnOf, hdf5Missing, readTable, writeTables } from "isoform/io";
import { covariancesOf, starPairs } from "../../../../apps/gsr/covariances.js";
import { readPairs } from "../../../../apps/gsr/files/inputs.js";
import { readSolution, requireSolutionFormat, writeSolution } from "../../../../apps/gsr/files/solutions.js";
import { probeErrors, starCorrelations, STAR_CORRELATIONS } from "../../../../apps/gsr/probes.js";
import { randomStars } from "../../../../apps/gsr/scanning/stars.js";
import { scaledShape, sections } from "../../../../apps/gsr/shape.js";
import type { SolutionFile } from "../../../../apps/gsr/solution-file.js";

const folder = await mkdtemp(join(tmpdir(), "isoform-gsr-files-"));
after(() => rm(folder, { recursive: true }));
const at = (name: string): string => join(folder, name);
const missing = await hdf5Missing();

const shape = scaledShape(0.001);
const { unknowns } = sections(shape);
const draws = Array.from({ length: 8 }, (_, k) =>
  Float64Array.from({ length: unknowns }, (_e, j) => (j < 5 ? 0 : Math.sin(1 + j * (k + 1)))),
);
const probes = probeErrors(draws);
const stars = randomStars(shape.stars, 3);
const solution: SolutionFile = {
  system: { generator: "scanning", seed: 1, shape, options: { years: 5, frame: true, known: "it's" } },
  precision: "strict",
  probes: draws.length,
  x: Array.from({ length: unknowns }, (_, j) => (j < 5 ? 0 : 1000 * Math.sin(j) + 1e-9)),
  standardErrors: Array.from(probes.errors),
};

for (const name of ["a.json", "a.fits", "a.vot", "a.h5"])
  test(`a solution in ${name} has the same bits`, { skip: name.endsWith("h5") && missing?.reason }, async () => {
    await writeSolution(at(name), solution, stars, writeFile);
    assert.deepEqual(await readSolution(at(name)), solution);
    // The errors of LSQR have no probes.
    const { probes: _, ...plain } = solution;
    await writeSolution(at(name), plain, undefined, writeFile);
    assert.deepEqual(await readSolution(at(name)), plain);
  });

test("the table of stars has places, parameters and correlations as the archive names them, and says what its errors are", async () => {
  const covariances = covariancesOf(probes, "stars", starPairs(shape.stars));
  for (const name of ["s.ecsv", "s.fits"]) {
    await writeSolution(at(name), { ...solution, covariances }, stars, writeFile);
    const table = await readTable(at(name));
    const numbers = (column: string) => columnOf(table, column, name).values as Float64Array;
    const expected = starCorrelations(probes, shape.stars);
    for (const [n, column] of STAR_CORRELATIONS.entries())
      for (let s = 1; s < shape.stars; s++)
        assert.ok(Math.abs(numbers(column)[s] - expected[10 * s + n]) < 1e-12, `${column} of star ${s}`);
    assert.deepEqual([numbers("parallax")[1], numbers("pmdec_error")[1]], [solution.x[7] / 1000, solution.standardErrors[9] / 1000]);
    // The first star has left the system.
    assert.deepEqual([numbers("parallax")[0], numbers("ra_error")[0], numbers("ra_dec_corr")[0]], [NaN, NaN, NaN]);
    assert.deepEqual([columnOf(table, "ra", name).unit, columnOf(table, "pmra", name).unit], ["deg", "mas/yr"]);
    assert.deepEqual(
      [table.metadata!.ERRORS, table.metadata!.CORREL],
      ["standard errors, 8 probes, good to 25 %", "from 8 probes: correlations are good to 0.35"],
    );
    const delta = Math.asin(stars.rows[11 + 2]);
    assert.ok(Math.abs(numbers("dec")[1] - ((delta * 180) / Math.PI + solution.x[6] / 3.6e9)) < 1e-12);
  }
  const { probes: _, ...plain } = solution;
  await writeSolution(at("s.ecsv"), plain, stars, writeFile);
  assert.equal((await readTable(at("s.ecsv"))).metadata!.ERRORS, "LSQR's estimate, not converged: neither errors nor bounds of errors");
});

test("covariances of pairs from a file have a table of their own", async () => {
  await writeFile(at("pairs.csv"), `i,j\n5,6\n${unknowns - 1},7\n`);
  const { pairs, requireIn } = await readPairs(at("pairs.csv"));
  requireIn(shape);
  const covariances = covariancesOf(probes, "pairs", pairs);
  const mean = draws.reduce((sum, y) => sum + y[unknowns - 1] * y[7], 0) / draws.length;
  assert.ok(Math.abs(covariances.values[1] - mean) < 1e-15);
  await writeSolution(at("p.fits"), { ...solution, covariances }, stars, writeFile);
  const table = await readTable(at("p.fits"), { table: "COVARIANCES" });
  assert.deepEqual([...(columnOf(table, "i", "p").values as Int32Array)], [5, unknowns - 1]);
  assert.equal((columnOf(table, "covariance", "p").values as Float64Array)[1], covariances.values[1]);
  await writeFile(at("pairs.csv"), `i,j\n5,6\n${unknowns},7\n`);
  const beyond = await readPairs(at("pairs.csv"));
  assert.throws(
    () => beyond.requireIn(shape),
    new RegExp(`pairs\\.csv:3: i is ${unknowns}, and the system has the unknowns 0 to ${unknowns - 1}`),
  );
  await writeFile(at("pairs.csv"), "i,j\n5,1.5\n");
  await assert.rejects(readPairs(at("pairs.csv")), /pairs\.csv:2: j is not a whole number/);
  await writeFile(at("pairs.csv"), "i,j\n");
  await assert.rejects(readPairs(at("pairs.csv")), /has no pairs: give a row each, i and j/);
});

test("names and files without a solution are refused", async () => {
  await assert.rejects(requireSolutionFormat("x.txt", true), /--out x\.txt: its name does not tell a format: end it in \.json, \.fits/);
  await assert.rejects(requireSolutionFormat("x.fits.gz", true), /does not tell a format/);
  await assert.rejects(requireSolutionFormat("x.ecsv", false), /ECSV has the table of stars, and this system has none/);
  await writeSolution(at("s.ecsv"), solution, stars, writeFile);
  await assert.rejects(readSolution(at("s.ecsv")), /has the table of stars alone: compare solutions in \.json, \.fits, \.vot or \.h5/);
  const column = { name: "x", type: "f64", values: Float64Array.of(1) } as const;
  await writeTables(at("o.fits"), [{ name: "OTHER", columns: [column] }]);
  await assert.rejects(readSolution(at("o.fits")), /does not have a binary table "UNKNOWNS": it has OTHER/);
  await writeTables(at("o.fits"), [{ name: "UNKNOWNS", columns: [column, { ...column, name: "standard_error" }] }]);
  await assert.rejects(readSolution(at("o.fits")), /o\.fits is not a solution of isoform gsr/);
});
