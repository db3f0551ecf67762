import { spawn } from "node:child_process";
import { existsSync, readdirSync } from "node:fs";
import { availableParallelism } from "node:os";
import { dirname, join } from "node:path";
import { performance } from "node:perf_hooks";
import { fileURLToPath } from "node:url";
import { NODE_DEVICES } from "./devices.js";
import { ALONE, covers, ENGINE, EVERYWHERE, FIRST, nameOf, tierOf, TIERS, within, type Tier } from "./tiers.js";

/*
 * Runs compiled test files, each in a process of its own, as many at once as there are cores: those of the default tier, those of the tier
 * that --tier names, or those whose path contains one of the arguments. A file of the default tier that goes over devices is run on those
 * that need nothing but Node, and for the tier "backends" on the others. Other flags go to node, as does --test-name-pattern=....
 */
const root = dirname(fileURLToPath(import.meta.url));
const source = join(root, "../../test");
const PICKED: readonly string[] = ["all", "engine", ...TIERS];

/** No file takes so long; one that does hangs. */
const LIMIT = 15 * 60_000;

/** A file, and what it runs for. */
interface Job {
  readonly name: string;
  readonly tier: Tier;
  /** What ISOFORM_TEST_DEVICES is set to, unless the caller has set it. */
  readonly devices?: string;
}

interface Outcome extends Job {
  readonly seconds: number;
  readonly failed: boolean;
  readonly output: string;
  /** What node's reporter counted. */
  readonly counts: Readonly<Record<"tests" | "pass" | "fail" | "cancelled" | "skipped" | "todo", number>>;
}

const words = process.argv.slice(2);
const option = (name: string) => words.find((word) => word.startsWith(`--${name}=`))?.slice(name.length + 3);
const parts = words.filter((word) => !word.startsWith("-"));
const flags = words.filter((word) => word.startsWith("-") && !/^--(tier|jobs)=/.test(word));
const picked = option("tier") ?? (parts.length ? "all" : "default");
const width = Number(option("jobs") ?? availableParallelism());
/** Where somebody waits, fewer random kernels do. */
const isQuick = picked === "default" || picked === "engine";
if (!PICKED.includes(picked) || !(width >= 1)) {
  console.error(`--tier is one of ${PICKED.join(", ")}, --jobs a number from 1`);
  process.exit(2);
}

const jobs = readdirSync(root, { recursive: true, encoding: "utf8" })
  .filter((file) => file.endsWith(".test.js"))
  .map(nameOf)
  // What an earlier compilation left of a file that is gone or has moved is no test.
  .filter((name) => existsSync(join(source, `${name}.test.ts`)))
  .filter((name) => !parts.length || parts.some((part) => `${name}.test.js`.includes(part)))
  .sort()
  .flatMap(jobsOf);
if (!jobs.length) {
  console.error(`no test file matches ${parts.join(", ")} in tier ${picked}`);
  process.exit(2);
}

/** What the picked tier runs of a file. */
function jobsOf(name: string): Job[] {
  const tier = tierOf(name);
  const everywhere = within(name, EVERYWHERE);
  const all: Job[] = [{ name, tier, devices: tier === "default" ? NODE_DEVICES.join(",") : undefined }];
  if (everywhere) all.push({ name, tier: "backends", devices: "others" });
  if (picked === "all") return all;
  if (picked === "engine") return within(name, ENGINE) ? all.slice(0, 1) : [];
  return all.filter((job) => job.tier === picked);
}

/** Runs one file to its end. */
function run(job: Job): Promise<Outcome> {
  const { name, devices } = job;
  const env = {
    ...(devices !== undefined && { ISOFORM_TEST_DEVICES: devices }),
    ...(isQuick && { ISOFORM_RANDOM_RUNS: "100" }),
    ...process.env,
  };
  const start = performance.now();
  const child = spawn(process.execPath, [...flags, "--test-reporter=spec", join(root, `${name}.test.js`)], {
    env,
    stdio: ["ignore", "pipe", "pipe"],
    timeout: LIMIT,
    killSignal: "SIGKILL",
  });
  let output = "";
  for (const stream of [child.stdout, child.stderr]) stream.setEncoding("utf8").on("data", (text: string) => (output += text));
  return new Promise((resolve) =>
    child.on("close", (code, signal) => {
      const seconds = (performance.now() - start) / 1000;
      if (signal) output += `\nended by ${signal} after ${seconds.toFixed(0)} s\n`;
      const summary = output.slice(output.lastIndexOf("ℹ tests "));
      const count = (what: string) => Number(summary.match(new RegExp(`^ℹ ${what} (\\d+)$`, "m"))?.[1] ?? 0);
      const counts = {
        tests: count("tests"),
        pass: count("pass"),
        fail: count("fail"),
        cancelled: count("cancelled"),
        skipped: count("skipped"),
        todo: count("todo"),
      };
      // A process may also end badly without a test that says so.
      const failed = code !== 0 || counts.fail + counts.cancelled > 0;
      if (failed && counts.fail + counts.cancelled === 0) counts.fail = 1;
      resolve({ ...job, seconds, failed, output, counts });
    }),
  );
}

/** A file's name, and its devices where it also runs on others. */
const titleOf = ({ name, devices }: Job): string => (within(name, EVERYWHERE) ? `${name} (${devices})` : name);

function report(outcome: Outcome): void {
  const { seconds, failed, output, counts } = outcome;
  const skipped = counts.skipped ? `, ${counts.skipped} skipped` : "";
  console.log(`${failed ? "FAIL" : "ok  "} ${seconds.toFixed(1).padStart(6)} s  ${titleOf(outcome)}  ${counts.pass} passed${skipped}`);
  if (failed || jobs.length === 1) console.log(`${output.trimEnd()}\n`);
}

/** Takes jobs from the front of the queue, `width` at a time. */
async function drain(queue: Job[], width: number): Promise<Outcome[]> {
  const outcomes: Outcome[] = [];
  const work = async (): Promise<void> => {
    for (let job = queue.shift(); job !== undefined; job = queue.shift()) {
      const outcome = await run(job);
      report(outcome);
      outcomes.push(outcome);
    }
  };
  await Promise.all(Array.from({ length: width }, work));
  return outcomes;
}

/** What was skipped, by its reason. */
function skips(outcomes: readonly Outcome[]): [string, number][] {
  const reasons = new Map<string, number>();
  for (const { output } of outcomes)
    for (const [, reason] of output.matchAll(/^\s*﹣ .* \([\d.]+ms\) # (.*)$/gm)) reasons.set(reason, (reasons.get(reason) ?? 0) + 1);
  return [...reasons].sort(([, a], [, b]) => b - a);
}

/** Where a name's turn comes: after FIRST in its order, all others. */
function rank(name: string): number {
  const found = FIRST.findIndex((path) => covers(path, name));
  return found < 0 ? FIRST.length : found;
}
const isAlone = ({ name }: Job): boolean => within(name, ALONE);
const start = performance.now();
const together = jobs.filter((job) => !isAlone(job)).sort((a, b) => rank(a.name) - rank(b.name));
const outcomes = [...(await drain(together, width)), ...(await drain(jobs.filter(isAlone), 1))];
const wall = (performance.now() - start) / 1000;

const total = (of: keyof Outcome["counts"]): number => outcomes.reduce((sum, { counts }) => sum + counts[of], 0);
const line = (seconds: number, text: string): void => console.log(`${seconds.toFixed(1).padStart(9)} s  ${text}`);

console.log("\nseconds of each tier's files, added up");
for (const of of TIERS) {
  const files = outcomes.filter((outcome) => outcome.tier === of);
  if (files.length)
    line(
      files.reduce((sum, { seconds }) => sum + seconds, 0),
      `${of}, ${files.length} files`,
    );
}
console.log("\nslowest files");
for (const outcome of outcomes.toSorted((a, b) => b.seconds - a.seconds).slice(0, 10)) line(outcome.seconds, titleOf(outcome));
const skipped = skips(outcomes);
if (skipped.length) console.log("\nskipped");
for (const [reason, count] of skipped) console.log(`${String(count).padStart(9)}    ${reason}`);
const bad = outcomes.filter(({ failed }) => failed);
if (bad.length) console.log("\nfailed (their output is above)");
for (const outcome of bad) console.log(`             ${titleOf(outcome)}`);

for (const what of ["tests", "pass", "fail", "cancelled", "skipped", "todo"] as const) console.log(`# ${what} ${total(what)}`);
console.log(
  `${total("pass")} passed, ${total("fail") + total("cancelled")} failed, ${total("skipped")} skipped in ${wall.toFixed(0)} s, ${width} at once`,
);
process.exit(bad.length ? 1 : 0);
