/*
 * Tables that others published, without a licence, so that no excerpt is here: ISOFORM_PUBLISHED_TABLES names a folder with checkouts of
 * UoB-HPC/performance-portability and schuhmaj/performance-portability-benchmark, under these names.
 */
import assert from "node:assert/strict";
import { existsSync, mkdtempSync, readdirSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, describe, it } from "node:test";
import { assess, published } from "../../src/portability/assessment.js";
import type { Direction } from "../../src/portability/cells.js";
import { readCsv } from "../../src/portability/csv.js";
import { p3, phisOf, withoutP3 } from "./p3.js";

const checkouts = process.env.ISOFORM_PUBLISHED_TABLES ?? "";
const data = join(checkouts, "performance-portability/metrics/data");
const results = join(checkouts, "performance-portability-benchmark/results");
const lacks = (folder: string, repository: string) =>
  checkouts !== "" && existsSync(folder) ? false : `ISOFORM_PUBLISHED_TABLES names no folder with a checkout of ${repository}`;
const folder = mkdtempSync(join(tmpdir(), "isoform-published-"));
after(() => rmSync(folder, { recursive: true }));

/** Phi in percent over platforms that ran something, by yardstick; "there" is over the platforms that the application runs on. */
interface Expected {
  readonly better: Direction;
  readonly platforms: number;
  readonly any: Readonly<Record<string, number>>;
  readonly set: Readonly<Record<string, number>>;
  readonly there: Readonly<Record<string, readonly [percent: number, platforms: number]>>;
}

const TABLES: Readonly<Record<string, Expected>> = {
  babelstream_2020: {
    better: "higher",
    platforms: 15,
    any: { OpenMP: 89.69, Kokkos: 0 },
    set: { OpenMP: 100 },
    there: { Kokkos: [90.91, 14] },
  },
  minifmm: { better: "lower", platforms: 10, any: { OpenMP: 74.98, Kokkos: 64.5 }, set: { OpenMP: 90.3, Kokkos: 73.12 }, there: {} },
  tealeaf: { better: "lower", platforms: 11, any: { OpenMP: 45.92, Kokkos: 0 }, set: { OpenMP: 100 }, there: { Kokkos: [58.1, 10] } },
  cloverleaf: {
    better: "lower",
    platforms: 12,
    any: { OpenMP: 0, Kokkos: 0, CUDA: 0, OpenACC: 0, OpenCL: 0 },
    set: {},
    there: { Kokkos: [66.18, 10], OpenMP: [35, 9] },
  },
};

describe("UoB-HPC/performance-portability", { skip: lacks(data, "UoB-HPC/performance-portability") }, () => {
  for (const [name, expected] of Object.entries(TABLES))
    it(name, async () => {
      const { metrics } = assess(await published(join(data, `${name}.csv`), undefined, { fom: expected.better }));
      const find = (application: string, yardstick: "any" | "set") => {
        const found = metrics.find((m) => m.application === application && m.yardstick === yardstick);
        assert.equal(found?.set.length, expected.platforms, `${application} ${yardstick}`);
        return found;
      };
      const near = (value: number, percent: number, words: string) =>
        assert.ok(Math.abs(100 * value - percent) <= 0.01, `${words}: ${100 * value}, not ${percent}`);
      for (const yardstick of ["any", "set"] as const)
        for (const [application, percent] of Object.entries(expected[yardstick]))
          near(find(application, yardstick).value, percent, `${application} ${yardstick}`);
      for (const [application, [percent, platforms]] of Object.entries(expected.there)) {
        const { supported } = find(application, "any");
        near(supported!.value, percent, `${application} there`);
        assert.equal(supported!.platforms, platforms);
      }
    });
});

/** A long table of kernel times of all programs, problems and platforms. */
async function kernelTimes(): Promise<string> {
  const files = readdirSync(results).filter((name) => /^Results_.*\.csv$/.test(name));
  const rows = await Promise.all(
    files.map(async (name) => {
      const table = await readCsv(join(results, name));
      const at = (column: string) => table.column(column);
      return table.rows.flatMap((row) => {
        const [benchmark, paradigm, variant] = ["Benchmark Problem", "Paradigm", "Description"].map((column) => row[at(column)].text);
        const [size, hardware, time] = ["Problem Size", "Hardware", "Kernel Time"].map((column) => row[at(column)].text);
        // Shapes are problems; everything else is a way to write a program.
        const isShape = benchmark === "Polyhedral";
        const problem = `${benchmark} ${size}${isShape ? ` ${variant}` : ""}`;
        const application = [paradigm, isShape ? "" : variant].filter(Boolean).join(" ");
        return Number(time) > 0 ? [`${problem},${hardware},${application},${time}`] : [];
      });
    }),
  );
  const path = join(folder, "kernels.csv");
  writeFileSync(path, ["problem,platform,application,fom", ...rows.flat()].join("\n"));
  return path;
}

describe("schuhmaj/performance-portability-benchmark", { skip: lacks(results, "schuhmaj/performance-portability-benchmark") }, () => {
  it("the product of matrices of 4096: a program that does nothing is the yardstick of any, and not of the set", async () => {
    const { metrics } = assess(await published(await kernelTimes(), undefined, { fom: "lower" }));
    const percent = (yardstick: string) =>
      (
        100 *
        metrics.find((m) => m.problem === "MatrixMultiplication 4096.0" && m.application === "Kokkos" && m.yardstick === yardstick)!.value
      ).toFixed(2);
    assert.deepEqual([percent("any"), percent("set")], ["0.05", "99.88"]);
  });

  it("any is what p3-analysis-library gives", { skip: withoutP3 }, async () => {
    const file = await kernelTimes();
    const ours = phisOf(assess(await published(file, undefined, { fom: "lower" })));
    const [theirs] = p3(folder, [[file, "lower"]]);
    assert.ok(Object.keys(ours).length > 200);
    for (const [name, value] of Object.entries(ours))
      assert.ok(Math.abs(value - theirs[name]) < 1e-12, `${name}: ${value}, ${theirs[name]}`);
  });
});
