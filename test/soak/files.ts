import { createHash } from "node:crypto";
import { mkdtemp, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { open } from "isoform";
import { dense } from "isoform/grid";
import { f64, f32 } from "isoform";
import { readImage, readRaw, readState, readUnstructured, writeImage, writeRaw, writeState, writeUnstructured } from "isoform/io";
import { devices } from "isoform/set";
import { CASES } from "../../apps/pic/simulation/cases.js";
import { writeCheckpoint, type SavedOptions } from "../../apps/pic/results/checkpoint.js";
import { readRun } from "../apps/pic/read-run.js";
import { LAYOUTS } from "../../apps/pic/push/push.js";
import { follow, type Row } from "../../apps/pic/simulation/run.js";
import { Simulation } from "../../apps/pic/simulation/simulation.js";
import { parseTuning } from "../../src/cli/tuning.js";
import { published, readAssessment, assess } from "../../src/portability/assessment.js";
import { accepted } from "./expected.js";
import { mutatedBytes, mutatedJson, mutatedText, type Pick, picks } from "./mutate.js";
import type { Subject } from "./subject.js";

const MUTANTS = 5;

interface Kind {
  readonly name: string;
  readonly whole: Buffer;
  mutate(whole: Buffer, pick: Pick): Uint8Array;
  read(path: string): unknown;
}

const bytes = (whole: Buffer, pick: Pick): Uint8Array => mutatedBytes(whole, pick);
const text = (whole: Buffer, pick: Pick): Uint8Array =>
  pick(4) === 0 ? bytes(whole, pick) : Buffer.from(mutatedText(whole.toString(), pick));
const json = (whole: Buffer, pick: Pick): Uint8Array =>
  pick(4) === 0 ? text(whole, pick) : Buffer.from(JSON.stringify(mutatedJson(JSON.parse(whole.toString()), pick)));

/** A file of `writeState`: of most mutants the checksum is right. */
function state(whole: Buffer, pick: Pick): Uint8Array {
  if (pick(5) === 0) return bytes(whole, pick);
  const line = whole.indexOf("\n") + 1;
  const begin = whole.subarray(0, line).toString();
  const length = Number(/ (\d+)\n$/.exec(begin)![1]);
  const values = whole.subarray(line + length, -32);
  const head = Buffer.from(JSON.stringify(mutatedJson(JSON.parse(whole.subarray(line, line + length).toString()), pick)));
  const first = begin.replace(/\d+\n$/, (number) => `${String(head.length).padStart(number.length - 1, "0")}\n`);
  const made = Buffer.concat([Buffer.from(first), head, pick(4) === 0 ? bytes(values, pick) : values]);
  return Buffer.concat([made, createHash("sha256").update(made).digest()]);
}

const OPTIONS: SavedOptions = {
  case: "weibel",
  cells: 8,
  degree: 2,
  amplitude: 1e-3,
  k: 1.25,
  mode: 1,
  fractions: [1],
  drifts: [0],
  temperatures: [0.0002, 0.0024],
  particles: 16,
  dt: 0.02,
  every: 1,
  sort: 0,
  composition: "strang",
  loading: "sobol",
  layout: "soa",
  precision: "strict",
};

const TUNING = '[native.axpy]\nworkers = 2\nblock = 256\n["cuda:0"."A p + p.s"]\nscatter = "atomic"\n[wasm.dot]\nworkers = 1\n';
const TIMINGS =
  "application,platform,problem,run,quantity,seconds,bytes,flops\n" +
  ["A", "B"]
    .flatMap((app) => ["X", "Y"].flatMap((on) => [1, 2].map((run) => `${app},${on},10,${run},iteration,${0.1 * run},1000,10`)))
    .join("\n") +
  "\n";
const ROOFS = "platform,bandwidth,peak\nX,100,10\nY,200,20\n";

/** Files as the library writes them, in `folder`. */
async function makeKinds(folder: string): Promise<readonly Kind[]> {
  const at = (name: string): string => join(folder, name);
  const set = await devices("js");
  const grid = dense(set, [4, 3, 2]);
  const [u, v] = [grid.field("u", f64), grid.field("v", f32, { cardinality: 2 })];
  u.fill((x, y, z) => x + y / 4 + z);
  v.fill((x, _y, _z, k) => x - k);
  await writeImage(at("appended.vti"), [u, v]);
  await writeImage(at("inline.vti"), [u], { encoding: "inline" });
  await writeUnstructured(at("grid.vtu"), [u, v]);
  await writeRaw(at("raw"), u);
  await writeState(at("state"), "isoform soak 1", {
    head: { steps: 3, about: { a: "b" } },
    arrays: [new Float64Array(5), new Float64Array(7)],
  });
  const device = await open("js");
  const weibel = CASES.find(({ name }) => name === "weibel")!;
  const settings = { ...OPTIONS, count: OPTIONS.particles, layout: LAYOUTS[OPTIONS.layout] };
  const simulation = await Simulation.create(device, weibel.problem({ ...OPTIONS, distribution: undefined }), settings);
  const rows: Row[] = [];
  await follow(simulation, weibel.watched, { time: 0.06, every: 1 }, rows);
  await writeCheckpoint(at("checkpoint"), { options: OPTIONS, rows, state: await simulation.state() });
  simulation.free();
  await device.close();
  await writeFile(at("timings.csv"), TIMINGS);
  await writeFile(at("roofs.csv"), ROOFS);
  await writeFile(at("assessment.json"), JSON.stringify(assess(await published(at("timings.csv")))));
  const kind = async (name: string, mutate: Kind["mutate"], read: Kind["read"]): Promise<Kind> => ({
    name,
    whole: await readFile(at(name)),
    mutate,
    read,
  });
  const tuning: Kind = {
    name: "tuning",
    whole: Buffer.from(TUNING),
    mutate: text,
    read: async (path) => parseTuning(await readFile(path, "utf8"), "tuning.toml"),
  };
  return [
    tuning,
    await kind("checkpoint", state, readRun),
    await kind("state", state, (path) => readState(path, "isoform soak 1")),
    await kind("appended.vti", bytes, readImage),
    await kind("inline.vti", text, readImage),
    await kind("grid.vtu", bytes, readUnstructured),
    await kind("raw", bytes, (path) => readRaw(path, u)),
    await kind("timings.csv", text, async (path) => assess(await published(path))),
    await kind("roofs.csv", text, (path) => published(at("timings.csv"), path)),
    await kind("assessment.json", json, readAssessment),
  ];
}

/** Files whose bytes, text or meaning were mutated: they are read, or refused in the library's words. */
export const files: Subject = {
  name: "files",
  weight: 6,
  async open() {
    const folder = await mkdtemp(join(tmpdir(), "isoform-soak-"));
    const kinds = await makeKinds(folder);
    const path = join(folder, "mutant");
    return {
      async trial(seed) {
        const pick = picks(seed);
        const counts = { files: 0, read: 0 };
        for (const { name, whole, mutate, read } of kinds)
          for (let n = 0; n < MUTANTS; n++) {
            const mutant = mutate(whole, pick);
            await writeFile(path, mutant);
            counts.files++;
            const what = (): string => `a ${name} of ${mutant.length} bytes:\n${Buffer.from(mutant.subarray(0, 3000)).toString("latin1")}`;
            if (await accepted(what, () => read(path))) counts.read++;
          }
        return counts;
      },
      close: () => rm(folder, { recursive: true }),
    };
  },
};
