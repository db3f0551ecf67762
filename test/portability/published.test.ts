import assert from "node:assert/strict";
import { join } from "node:path";
import { test } from "node:test";
import { fileURLToPath } from "node:url";
import { assess, published } from "../../src/portability/assessment.js";
import { readCsv } from "../../src/portability/csv.js";
import type { Assessment } from "../../src/portability/schema.js";

/** Their source is named in test/data/README.md. */
const data = fileURLToPath(new URL("../../../test/data/", import.meta.url));
const sets = [
  { name: "NVIDIA", platforms: ["H100", "A100", "V100", "T4"] },
  { name: "NVIDIA+AMD", platforms: ["H100", "A100", "V100", "T4", "MI250X"] },
];

async function records(file: string): Promise<Record<string, string>[]> {
  const table = await readCsv(join(data, file));
  const text = (row: (typeof table.rows)[number], name: string) => row[table.column(name, "optional")]?.text ?? "";
  const names = ["metric", "set", "application", "from_timings_pct", "from_timings_err_pct", "kernel", "from_timings"];
  return table.rows.map((row) => Object.fromEntries(names.map((name) => [name, text(row, name)])));
}

let assessment: Promise<Assessment> | undefined;
function gaia(): Promise<Assessment> {
  assessment ??= published(join(data, "gaia-timings-10gb.csv"), join(data, "gaia-bandwidth.csv")).then((e) => assess(e, sets));
  return assessment;
}

/** As the paper prints errors, with two digits. */
function printed(sigma: number): string {
  if (sigma >= 0.995) return sigma.toFixed(sigma < 9.95 ? 1 : 0);
  return sigma === 0 ? "0.0e-0" : sigma.toExponential(1);
}

test("the published timings give every Phi of Table IV at 10 GB, with its error, to the printed digits", async () => {
  const { metrics } = await gaia();
  const cells = await records("gaia-table4-10gb.csv");
  assert.equal(cells.length, 40);
  for (const cell of cells) {
    const found = metrics.find(
      (m) =>
        m.metric === cell.metric.toLowerCase() && m.yardstick !== "any" && m.setName === cell.set && m.application === cell.application,
    );
    assert.ok(found, `${cell.metric} ${cell.set} ${cell.application}`);
    assert.equal((100 * found.value).toFixed(4), cell.from_timings_pct, `${cell.metric} ${cell.set} ${cell.application}`);
    assert.equal(printed(100 * found.sigma!), cell.from_timings_err_pct, `error of ${cell.metric} ${cell.set} ${cell.application}`);
  }
});

test("against any program on a platform, not those of the whole set, AMD's device changes the yardstick", async () => {
  const { metrics } = await gaia();
  const phiOf = (setName: string, application: string) =>
    metrics.find((m) => m.yardstick === "any" && m.setName === setName && m.application === application)!.value * 100;
  const expected = {
    NVIDIA: { CUDA: 100, HIP: 99.13, "SYCL+A": 93.85, OpenACC: 82, KOKKOS: 53.07 },
    "NVIDIA+AMD": { HIP: 99.16, "SYCL+A": 95.02, "OMP+V": 77.81, "PSTL+V": 45.84, CUDA: 0 },
  };
  for (const [setName, values] of Object.entries(expected))
    for (const [application, value] of Object.entries(values))
      assert.ok(Math.abs(phiOf(setName, application) - value) < 0.01, `${setName} ${application}: ${phiOf(setName, application)}`);
});

test("the published timings give every kernel efficiency of Table V to the printed digits", async () => {
  const { kernelMeans } = await gaia();
  const cells = await records("gaia-table5-10gb.csv");
  assert.equal(cells.length, 120);
  for (const cell of cells) {
    const found = kernelMeans.find((k) => k.setName === cell.set && k.quantity === cell.kernel && k.application === cell.application);
    assert.equal(found?.efficiency.toFixed(5) ?? "", cell.from_timings, `${cell.set} ${cell.kernel} ${cell.application}`);
  }
});
