import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { parseArgs } from "node:util";
import { Worker } from "node:worker_threads";
import { Records, RECORDS, type SoakRecord } from "./record.js";
import { soak } from "./soak.js";

/*
 * Trials of everything, for as long as there is time:
 *   npm run soak -- --minutes 30 [--seed 7] [--only kernels,files] [--trials 100] [--json FILE]
 * Ctrl-C ends it as the end of its time does. A trial that takes minutes ends the process with its seed; the record is then that of half a minute before.
 */
const { values } = parseArgs({
  options: {
    minutes: { type: "string", default: "10" },
    seed: { type: "string" },
    only: { type: "string" },
    trials: { type: "string", default: "Infinity" },
    json: { type: "string", default: RECORDS },
  },
});
const LIMIT_SECONDS = 300;
const KEEP_MS = 30_000;

const seed = values.seed === undefined ? Math.floor(Math.random() * 1e9) : Number(values.seed);
const minutes = Number(values.minutes);
const trials = Number(values.trials);
const names = values.only?.split(",");

// Compiled kernels of random programs are of no use to anybody else.
const folder = mkdtempSync(join(tmpdir(), "isoform-soak-"));
process.env.XDG_CACHE_HOME = folder;
process.once("exit", () => rmSync(folder, { recursive: true, force: true }));

const { SUBJECTS } = await import("./subjects.js");
const known = SUBJECTS.map(({ name }) => name);
const unknown = names?.find((name) => !known.includes(name));
const wrong =
  unknown !== undefined
    ? `--only ${unknown}: the subjects are ${known.join(", ")}`
    : !(minutes > 0)
      ? `--minutes ${values.minutes}: it takes a number above 0`
      : !Number.isSafeInteger(seed)
        ? `--seed ${values.seed}: it takes a whole number`
        : !(trials > 0)
          ? `--trials ${values.trials}: it takes a number above 0`
          : undefined;
if (wrong !== undefined) {
  console.error(`soak: ${wrong}`);
  process.exit(2);
}

let stopping = false;
for (const signal of ["SIGINT", "SIGTERM"] as const)
  process.on(signal, () => {
    if (stopping) process.exit(1);
    stopping = true;
    console.log(`${signal}: it ends after this trial`);
  });

const subjects = SUBJECTS.filter(({ name, onlyWhenNamed }) => names?.includes(name) ?? !onlyWhenNamed);
const limit = Math.max(LIMIT_SECONDS, ...subjects.map(({ limitSeconds = 0 }) => limitSeconds));
const watch = new Worker(new URL("../random/watch.js", import.meta.url), { workerData: limit });
watch.unref();
const records = new Records(values.json);
const show = ({ seconds, counts, defects }: SoakRecord): string =>
  `${String(seconds).padStart(6)} s  ${Object.entries(counts)
    .map(([kind, count]) => `${kind} ${count}`)
    .join(", ")}; defects ${defects.length}`;

// The first trial is told of at once.
let kept = -Infinity;
console.log(`seed ${seed}`);
const record = await soak({
  subjects,
  seed,
  seconds: 60 * minutes,
  trials,
  begins: (task) => watch.postMessage(task),
  found: (subject, own, error) =>
    console.log(`DEFECT in ${subject}: npm run soak -- --only ${subject} --seed ${own} --trials 1\n${error.message}\n${error.stack}\n`),
  goes: (soFar) => {
    if (performance.now() - kept < KEEP_MS) return;
    kept = performance.now();
    records.write(soFar);
    console.log(show(soFar));
  },
  stopped: () => stopping,
});
records.write(record);
console.log(show(record));
for (const [name, reason] of Object.entries(record.missing)) console.log(`no ${name}: ${reason}`);
process.exit(record.defects.length > 0 ? 1 : 0);
