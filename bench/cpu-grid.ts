import { mkdirSync, writeFileSync } from "node:fs";
import { cpus } from "node:os";
import { dirname } from "node:path";
import type { Precision } from "isoform";
import { bricks, dense, sparse, type Field, type Grid } from "isoform/grid";
import { devices } from "isoform/set";
import { skeleton } from "isoform/skeleton";
import { Baselines, FLAGS } from "./baselines.js";
import { commandLine, parseArgs } from "./command-line.js";
import { GRID_CASES, type GridCase, type HandWrittenCase } from "./cpu-grid-cases.js";
import { interleave, type InterleavedTime, type Variant } from "./interleave.js";

/*
 * Containers on grids, run by a skeleton on the CPU backends, against hand-written C/OpenMP on a dense box:
 *   node dist/bench/cpu-grid.js [--only laplace,lbm,elasticity] [--where cache,memory] [--devices native,wasm] [--grids dense,sparse,bricks]
 *     [--precisions fast,strict] [--threads 2] [--rounds 25] [--json F]
 */

const { values: options } = parseArgs({
  options: {
    only: { type: "string" },
    where: { type: "string", default: "cache,memory" },
    devices: { type: "string", default: "native,wasm" },
    grids: { type: "string", default: "dense,sparse,bricks" },
    precisions: { type: "string", default: "fast,strict" },
    threads: { type: "string", default: String(cpus().length) },
    rounds: { type: "string", default: "25" },
    json: { type: "string" },
  },
});

/** Of the largest value. */
const TOLERANCE = 1e-11;

interface Row extends InterleavedTime {
  device: string;
  grid: string;
  precision: Precision;
  /** Cells of a second, in millions. */
  mcells: number;
  /** Median seconds of the hand-written function in the same rounds. */
  handWritten: number;
  maxError: number;
}

const list = (text: string) => text.split(",");
process.env.ISOFORM_THREADS = process.env.OMP_NUM_THREADS = options.threads;
const compiler = process.env.CC ?? "gcc";
const baselines = new Baselines(compiler);
const results = [];
for (const c of GRID_CASES) {
  if (!list(options.where).includes(c.where) || (options.only && !list(options.only).includes(c.name))) continue;
  const rows: Row[] = [];
  for (const device of list(options.devices)) for (const kind of list(options.grids)) rows.push(...(await measure(c, device, kind)));
  results.push({ kernel: c.name, where: c.where, extents: c.extents, bytes: c.bytes, rows });
}
if (options.json) {
  const host = { processor: cpus()[0].model, threads: Number(options.threads), node: process.version, compiler, flags: FLAGS.join(" ") };
  mkdirSync(dirname(options.json), { recursive: true });
  writeFileSync(options.json, JSON.stringify({ command: commandLine("dist/bench/cpu-grid.js"), host, results }, undefined, 1) + "\n");
}

async function measure(c: GridCase, device: string, kind: string): Promise<Row[]> {
  const byHand = c.handWritten(baselines);
  const set = await devices(device);
  try {
    const precisions = list(options.precisions) as Precision[];
    const grid = makeGrid(kind);
    const { steps, result } = await c.containers(grid);
    const prepared = [];
    for (const precision of precisions) {
      const plan = skeleton(set, c.name, steps, { precision, unroll: steps.length });
      await plan.run(1);
      byHand.run(1);
      const maxError = await difference(byHand, result, c.extents);
      if (!(maxError <= TOLERANCE))
        throw new Error(`${c.name} on ${device}, ${kind} (${precision}) differs from the hand-written function by ${maxError}`);
      prepared.push({ precision, maxError, plan });
    }
    const variants: Variant[] = [
      { name: "handwritten", run: byHand.run },
      ...prepared.map(({ precision, plan }) => ({ name: precision, run: (times: number) => plan.run(times) })),
    ];
    const [hand, ...measured] = await interleave(variants, {
      rounds: Number(options.rounds),
      sample: 0.002,
      warmUp: device === "wasm" ? 4 : 0.15,
    });
    const cells = c.extents.reduce((a, b) => a * b, 1);
    for (const { plan } of prepared) plan.free();
    grid.free();
    return prepared.map(({ precision, maxError }, n): Row => {
      const own = measured[n];
      console.log(
        `${c.name.padEnd(10)} ${c.where.padEnd(6)} ${device} ${kind.padEnd(6)} ${precision.padEnd(6)} ${(cells / own.seconds / 1e6).toFixed(1).padStart(7)} Mcells/s  ` +
          `ratio ${own.ratio.toFixed(2)} (best decile ${own.bestDecile.toFixed(2)})${own.undisturbed ? "" : "  disturbed"}`,
      );
      return { device, grid: kind, precision, ...own, mcells: cells / own.seconds / 1e6, handWritten: hand.seconds, maxError };
    });
  } finally {
    await set.close();
  }

  function makeGrid(of: string): Grid<3> {
    const all = (): boolean => true;
    return of === "dense" ? dense(set, c.extents) : of === "sparse" ? sparse(set, c.extents, all) : bricks(set, c.extents, all);
  }
}

/** The largest difference between the two results, in units of the largest value. */
async function difference(expected: HandWrittenCase, found: Field, [nx, ny, nz]: GridCase["extents"]): Promise<number> {
  const values = await found.download();
  let [worst, scale, n] = [0, 0, 0];
  for (let z = 0; z < nz; z++)
    for (let y = 0; y < ny; y++)
      for (let x = 0; x < nx; x++)
        for (let k = 0; k < found.cardinality; k++, n++) {
          const value = expected.result(x, y, z, k);
          worst = Math.max(worst, Math.abs(value - values[n]));
          scale = Math.max(scale, Math.abs(value));
        }
  return Number.isNaN(worst) ? Infinity : worst / scale;
}
