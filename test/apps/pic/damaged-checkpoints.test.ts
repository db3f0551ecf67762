import assert from "node:assert/strict";
import { createHash } from "node:crypto";
import { mkdtemp, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, test } from "node:test";
import { IsoformError, open } from "isoform";
import { CASES } from "../../../apps/pic/simulation/cases.js";
import { writeCheckpoint, type SavedOptions } from "../../../apps/pic/results/checkpoint.js";
import { readRun } from "./read-run.js";
import { LAYOUTS } from "../../../apps/pic/push/push.js";
import { follow, type Row } from "../../../apps/pic/simulation/run.js";
import { Simulation } from "../../../apps/pic/simulation/simulation.js";

const MUTANTS = 1000;
const SEED = Number(process.env.ISOFORM_RANDOM_SEED ?? 1);
const ODD = [0, -1, 0.5, 1e300, 2 ** 53 + 2, null, true, "", "x", "__proto__", [], {}, [1, 2], "9".repeat(1000)];

const folder = await mkdtemp(join(tmpdir(), "isoform-damaged-"));
after(() => rm(folder, { recursive: true }));
const path = join(folder, "state");

const each = CASES.find(({ name }) => name === "weibel")!;
const OPTIONS: SavedOptions = {
  case: "weibel",
  cells: 16,
  degree: 2,
  amplitude: 1e-3,
  k: 1.25,
  mode: 1,
  fractions: [1],
  drifts: [0],
  temperatures: [0.0002, 0.0024],
  particles: 64,
  dt: 0.02,
  every: 1,
  sort: 0,
  composition: "strang",
  loading: "sobol",
  layout: "soa",
  precision: "strict",
};

let seed = SEED;
/** The next of the generator's numbers, below `limit`. */
function below(limit: number): number {
  seed = (Math.imul(seed, 1664525) + 1013904223) >>> 0;
  return Math.floor((seed / 2 ** 32) * limit);
}

/** Something of a JSON value, however deep, is replaced or gone. */
function mutated(value: unknown): unknown {
  if (typeof value !== "object" || value === null || below(6) === 0) return ODD[below(ODD.length)];
  const keys = Object.keys(value);
  if (keys.length === 0) return ODD[below(ODD.length)];
  const key = keys[below(keys.length)];
  const copy = (Array.isArray(value) ? [...value] : { ...value }) as Record<string, unknown>;
  switch (below(8)) {
    case 0:
      delete copy[key];
      break;
    case 1:
      copy[`${key}x`] = copy[key];
      break;
    default:
      copy[key] = mutated(copy[key]);
  }
  return copy;
}

/** The file's line, head and values; some of it wrong, and the checksum right. */
function damaged(whole: Buffer): Buffer {
  const line = whole.indexOf("\n") + 1;
  const length = Number(whole.subarray(14, line));
  let [first, head, values] = [whole.subarray(0, line), whole.subarray(line, line + length), whole.subarray(line + length, -32)];
  switch (below(5)) {
    case 0:
    case 1: {
      head = Buffer.from(JSON.stringify(mutated(JSON.parse(head.toString()))));
      first = Buffer.from(`${first.subarray(0, 14).toString()}${String(head.length).padStart(12, "0")}\n`);
      break;
    }
    case 2: {
      values = Buffer.from(values);
      values.writeDoubleLE([NaN, Infinity, -1, 1e300, 1e9, 7][below(6)], 8 * below(values.length / 8));
      break;
    }
    case 3:
      values = values.subarray(0, below(values.length));
      break;
    default: {
      const all = Buffer.concat([first, head]);
      for (let n = below(4); n >= 0; n--) all[below(all.length)] = below(256);
      [first, head] = [all, Buffer.alloc(0)];
    }
  }
  const bytes = Buffer.concat([first, head, values]);
  return Buffer.concat([bytes, createHash("sha256").update(bytes).digest()]);
}

test(
  "whatever is wrong in a checkpoint whose checksum is right, it is refused in one line or the run goes on",
  { timeout: 300_000 },
  async (t) => {
    const device = await open("js");
    const settings = { ...OPTIONS, count: OPTIONS.particles, layout: LAYOUTS[OPTIONS.layout] };
    const make = () => Simulation.create(device, each.problem({ ...OPTIONS, distribution: undefined }), settings);
    const simulation = await make();
    const rows: Row[] = [];
    await follow(simulation, each.watched, { time: 0.06, every: 1 }, rows);
    await writeCheckpoint(path, { options: OPTIONS, rows, state: await simulation.state() });
    const whole = await readFile(path);
    const counts = { read: 0, restored: 0, run: 0 };
    for (let n = 0; n < MUTANTS; n++) {
      await writeFile(path, damaged(whole));
      try {
        const { options, rows, state } = await readRun(path);
        counts.read++;
        simulation.restore(state);
        await simulation.requireSound("in the file");
        counts.restored++;
        const time = (state.steps + 1) * OPTIONS.dt;
        await follow(simulation, each.watched, { time, every: options.every }, [...rows]);
        counts.run++;
      } catch (error) {
        assert.ok(error instanceof IsoformError, `mutant ${n} of seed ${SEED}: ${(error as Error).stack}`);
        assert.match(error.message, /^[^\n]{1,2000}$/, `mutant ${n} of seed ${SEED}`);
      }
    }
    t.diagnostic(`seed ${SEED}: of ${MUTANTS} files ${counts.read} were read, ${counts.restored} restored, ${counts.run} went on`);
    assert.ok(counts.read < MUTANTS / 2 && counts.read > 0);
    simulation.free();
    await device.close();
  },
);
