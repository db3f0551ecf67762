import { spawn, type ChildProcess } from "node:child_process";
import { availableParallelism } from "node:os";
import { dirname, join } from "node:path";
import { performance } from "node:perf_hooks";
import { fileURLToPath } from "node:url";
import { GreenRuns, type Recording } from "./changed/green.js";
import { compiledTests, jobsOf, variablesOf, type Job } from "./jobs.js";
import { ALONE, ENGINE, EVERYWHERE, FIRST, TIERS, within } from "./tiers.js";
import { jobsAt, keyOf, SECONDS, turnFrom } from "./turns.js";

/*
 * Runs compiled test files, each in a process of its own, as many at once as there are cores: those of the default tier, those of the tier
 * that --tier names, or those whose path contains one of the arguments. A file of the default tier that goes over devices is run on those
 * that need nothing but Node, and for the tier "backends" on the others. Other flags go to node, as does --test-name-pattern=....
 * --bail starts no more files after one has failed; --limit=SECONDS ends a file that takes longer, and all that it has started.
 * --again runs what has failed once more, alone, at the end. A file that passes then is called unsteady, and fails the run only where more
 * than MOST_UNSTEADY files have failed; the output of its first run is printed whole.
 * --changed leaves out files whose last run was green, if nothing that they read then has changed (see changed/green.ts).
 * --turn=K/N takes each N-th of the long files and cases (see turns.ts).
 */
const root = dirname(fileURLToPath(import.meta.url));
const PICKED: readonly string[] = ["all", "engine", ...TIERS];

/** Seconds that no file takes; one that does hangs. */
const LIMIT = 900;

/** Milliseconds in which what a file has written is read to its end, once its process has ended. */
const LEFT_OPEN = 20_000;

/** Files that --again runs once more; where more have failed, time was not the reason. */
const MOST_UNSTEADY = 3;

interface Outcome extends Job {
  readonly seconds: number;
  readonly failed: boolean;
  /** It was left out, and its counts are those of its last run. */
  readonly unchanged?: boolean;
  /** It failed the first time, and these are the results of the second. */
  readonly unsteady?: boolean;
  readonly output: string;
  /** What node's reporter counted. */
  readonly counts: Readonly<Record<"tests" | "pass" | "fail" | "cancelled" | "skipped" | "todo", number>>;
}

const words = process.argv.slice(2);
const option = (name: string) => words.find((word) => word.startsWith(`--${name}=`))?.slice(name.length + 3);
const parts = words.filter((word) => !word.startsWith("-"));
const flags = words.filter((word) => word.startsWith("-") && !/^--(tier|jobs|limit|turn)=|^--(again|changed|bail)$/.test(word));
const picked = option("tier") ?? (parts.length ? "all" : "default");
const width = Number(option("jobs") ?? availableParallelism());
const limit = Number(option("limit") ?? LIMIT);
const bail = words.includes("--bail");
const again = words.includes("--again");
const turn = turnFrom(option("turn"));
if (turn) process.env.ISOFORM_TEST_TURN = option("turn");
/** Where somebody waits, fewer random kernels do. */
const isQuick = picked === "default" || picked === "engine";
if (!PICKED.includes(picked) || !(width >= 1) || !(limit > 0)) {
  console.error(`--tier is one of ${PICKED.join(", ")}, --jobs a number from 1, --limit seconds above 0`);
  process.exit(2);
}

const all = compiledTests(join(root, "../.."))
  .filter((name) => !parts.length || parts.some((part) => `${name}.test.js`.includes(part)))
  .flatMap(pickedJobs);
const jobs = turn ? jobsAt(all, turn) : all;
if (!jobs.length) {
  console.error(`no test file matches ${parts.join(", ")} in tier ${picked}`);
  process.exit(2);
}

/** What the picked tier runs of a file. */
function pickedJobs(name: string): Job[] {
  const all = jobsOf(name);
  if (picked === "all") return all;
  if (picked === "engine") return within(name, ENGINE) ? all.slice(0, 1) : [];
  return all.filter((job) => job.tier === picked);
}

/** Variables that tests ask for. */
const ownVariables = Object.entries(process.env).filter(([name]) => /^(ISOFORM|VK|DISPLAY|NODE|OMP|CI$|PATH$)/.test(name));
const green = words.includes("--changed")
  ? new GreenRuns(join(root, "../.."), [isQuick ? "quick" : "all", ...flags, ...ownVariables.flat().map(String)])
  : undefined;

/** Runs one file to its end, unless nothing that it reads has changed. */
async function run(job: Job): Promise<Outcome> {
  const passed = green?.unchanged(job.name, job.devices ?? "");
  if (passed !== undefined) {
    const counts = { tests: passed, pass: passed, fail: 0, cancelled: 0, skipped: 0, todo: 0 };
    return { ...job, seconds: 0, failed: false, unchanged: true, output: "", counts };
  }
  const recording = green?.record(job.name, job.devices ?? "");
  const outcome = await start(job, recording);
  recording?.end(!outcome.failed, outcome.counts.pass);
  return outcome;
}

/** Files that run now. */
const running = new Set<ChildProcess>();

/** Ends a file's process, and what it has started that still runs. */
function endGroup({ pid }: ChildProcess): void {
  try {
    process.kill(-pid!, "SIGKILL");
  } catch {
    // All have ended
  }
}

for (const signal of ["SIGINT", "SIGTERM"] as const)
  process.once(signal, () => {
    for (const child of running) endGroup(child);
    process.kill(process.pid, signal);
  });

function start(job: Job, recording: Recording | undefined): Promise<Outcome> {
  const { name } = job;
  const quick = variablesOf(job, isQuick);
  const env = { ...quick, ...process.env, ...recording?.env };
  env.NODE_OPTIONS = [quick.NODE_OPTIONS, (recording?.env ?? process.env).NODE_OPTIONS].filter(Boolean).join(" ");
  const begin = performance.now();
  const child = spawn(process.execPath, [...flags, "--test-reporter=spec", join(root, `${name}.test.js`)], {
    env,
    stdio: ["ignore", "pipe", "pipe"],
    // A group of its own, which ends with all that the file has started
    detached: true,
  });
  running.add(child);
  const late = setTimeout(() => endGroup(child), 1000 * limit);
  let output = "";
  for (const stream of [child.stdout, child.stderr]) stream.setEncoding("utf8").on("data", (text: string) => (output += text));
  // What the file has started and left running may hold its output open for ever.
  child.on("exit", () => {
    clearTimeout(late);
    setTimeout(() => [child.stdout, child.stderr].forEach((stream) => stream.destroy()), LEFT_OPEN).unref();
  });
  return new Promise((resolve) =>
    child.on("close", (code, signal) => {
      endGroup(child);
      running.delete(child);
      const seconds = (performance.now() - begin) / 1000;
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
  const { seconds, failed, output, counts, unchanged } = outcome;
  if (unchanged) return;
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
      if (bail && outcome.failed) queue.length = 0;
    }
  };
  await Promise.all(Array.from({ length: width }, work));
  return outcomes;
}

/** Outcomes in which second runs have taken the place of failed ones. The second run is not recorded: the next one with --changed runs the file, too. */
async function runAgain(outcomes: readonly Outcome[]): Promise<Outcome[]> {
  const count = outcomes.filter(({ failed }) => failed).length;
  if (count > MOST_UNSTEADY) {
    console.log(`\n${count} files failed: none runs again, as more than ${MOST_UNSTEADY} are not left to chance`);
    return [...outcomes];
  }
  if (count > 0) console.log("\nwhat failed, again, alone");
  const result: Outcome[] = [];
  for (const outcome of outcomes) {
    if (!outcome.failed) {
      result.push(outcome);
      continue;
    }
    const second = await start(outcome, undefined);
    report(second);
    result.push({ ...second, unsteady: !second.failed });
  }
  return result;
}

/** What was skipped, by its reason. */
function skips(outcomes: readonly Outcome[]): [string, number][] {
  const reasons = new Map<string, number>();
  for (const { output } of outcomes)
    for (const [, reason] of output.matchAll(/^\s*﹣ .* \([\d.]+ms\) # (.*)$/gm)) reasons.set(reason, (reasons.get(reason) ?? 0) + 1);
  return [...reasons].sort(([, a], [, b]) => b - a);
}

/** Seconds by which jobs are put in order: FIRST, then the long ones, then all others. */
const secondsOf = (job: Job): number => (within(job.name, FIRST) ? 1e6 : (SECONDS[keyOf(job)] ?? 0));
const isAlone = ({ name }: Job): boolean => within(name, ALONE);
const begin = performance.now();
const together = jobs.filter((job) => !isAlone(job)).sort((a, b) => secondsOf(b) - secondsOf(a));
const firsts = await drain(together, width);
if (!bail || firsts.every(({ failed }) => !failed)) firsts.push(...(await drain(jobs.filter(isAlone), 1)));
const outcomes = again ? await runAgain(firsts) : firsts;
const wall = (performance.now() - begin) / 1000;

const ran = outcomes.filter(({ unchanged }) => !unchanged);
const left = outcomes.filter(({ unchanged }) => unchanged);
const leftTests = left.reduce((sum, { counts }) => sum + counts.tests, 0);
const total = (of: keyof Outcome["counts"]): number =>
  ran.reduce((sum, { counts }) => sum + counts[of], of === "tests" || of === "skipped" ? leftTests : 0);
const line = (seconds: number, text: string): void => console.log(`${seconds.toFixed(1).padStart(9)} s  ${text}`);

console.log("\nseconds of each tier's files, added up");
for (const of of TIERS) {
  const files = ran.filter((outcome) => outcome.tier === of);
  if (files.length)
    line(
      files.reduce((sum, { seconds }) => sum + seconds, 0),
      `${of}, ${files.length} files`,
    );
}
if (turn)
  console.log(`\nturn ${turn.number} of ${turn.of}: ${all.length - jobs.length} long ones of ${all.length} files are left to the others`);
console.log("\nslowest files");
for (const outcome of ran.toSorted((a, b) => b.seconds - a.seconds).slice(0, 10)) line(outcome.seconds, titleOf(outcome));
const skipped = skips(ran);
if (left.length) skipped.unshift([`unchanged since they were green, in ${left.length} of ${outcomes.length} files`, leftTests]);
if (skipped.length) console.log("\nskipped");
for (const [reason, count] of skipped) console.log(`${String(count).padStart(9)}    ${reason}`);
const bad = outcomes.filter(({ failed }) => failed);
if (bad.length) console.log("\nfailed (their output is above)");
for (const outcome of bad) console.log(`             ${titleOf(outcome)}`);
const unsteady = outcomes.filter((outcome) => outcome.unsteady);
if (unsteady.length)
  console.log("\npassed only the second time (the output of the first is above): a fault of the test or of what it tests");
for (const outcome of unsteady) console.log(`unsteady: ${titleOf(outcome)}, failed 1 of 2`);

for (const what of ["tests", "pass", "fail", "cancelled", "skipped", "todo"] as const) console.log(`# ${what} ${total(what)}`);
console.log(
  `${total("pass")} passed, ${total("fail") + total("cancelled")} failed, ${total("skipped")} skipped${unsteady.length ? `, ${unsteady.length} unsteady` : ""} in ${wall.toFixed(0)} s, ${width} at once`,
);
process.exit(bad.length ? 1 : 0);
