import { spawn } from "node:child_process";
import { readdirSync } from "node:fs";
import { availableParallelism } from "node:os";
import { dirname, join } from "node:path";
import { performance } from "node:perf_hooks";
import { fileURLToPath } from "node:url";
import { NODE_DEVICES } from "./devices.js";
import { ALONE, covers, ENGINE, EVERYWHERE, FIRST, nameOf, tierOf, TIERS, within, type Tier } from "./tiers.js";

/*
 * Runs compiled test files, each in a process of its own, as many at once as there are cores: those of the default tier, those of the tier
 * that --tier names, or those whose path contains one of the arguments. Other flags go to node, as does --test-name-pattern=....
 */
const root = dirname(fileURLToPath(import.meta.url));
const PICKED = ["all", "engine", ...TIERS] as const;

/** No file takes so long; one that does hangs. */
const LIMIT = 15 * 60_000;

interface Outcome {
  readonly name: string;
  readonly tier: Tier;
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
const tier = option("tier") ?? (parts.length ? "all" : "default");
const jobs = Number(option("jobs") ?? availableParallelism());
if (!(PICKED as readonly string[]).includes(tier) || !(jobs >= 1)) {
  console.error(`--tier is one of ${PICKED.join(", ")}, --jobs a number from 1`);
  process.exit(2);
}

const names = readdirSync(root, { recursive: true, encoding: "utf8" })
  .filter((file) => file.endsWith(".test.js"))
  .map(nameOf)
  .filter((name) => !parts.length || parts.some((part) => `${name}.test.js`.includes(part)))
  .filter((name) => isIn(name, tier))
  .sort();
if (!names.length) {
  console.error(`no test file matches ${parts.join(", ")} in tier ${tier}`);
  process.exit(2);
}

function isIn(name: string, picked: string): boolean {
  if (picked === "all") return true;
  if (picked === "engine") return within(name, ENGINE);
  return tierOf(name) === picked || (picked === "backends" && within(name, EVERYWHERE));
}

/** What the environment tells a file of the devices and the number of random kernels that it is for; the caller's own words come first. */
function environmentFor(name: string): Record<string, string> {
  if (tier === "default" || tier === "engine") return { ISOFORM_TEST_DEVICES: NODE_DEVICES.join(","), ISOFORM_RANDOM_RUNS: "100" };
  return tier === "backends" && tierOf(name) === "default" ? { ISOFORM_TEST_DEVICES: "others" } : {};
}

/** Runs one file to its end. */
function run(name: string): Promise<Outcome> {
  const env = { ...environmentFor(name), ...process.env };
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
      resolve({ name, tier: tierOf(name), seconds, failed, output, counts });
    }),
  );
}

function report({ name, seconds, failed, output, counts }: Outcome): void {
  const skipped = counts.skipped ? `, ${counts.skipped} skipped` : "";
  console.log(`${failed ? "FAIL" : "ok  "} ${seconds.toFixed(1).padStart(6)} s  ${name}  ${counts.pass} passed${skipped}`);
  if (failed || names.length === 1) console.log(`${output.trimEnd()}\n`);
}

/** Takes names from the front of the queue, `width` at a time. */
async function drain(queue: string[], width: number): Promise<Outcome[]> {
  const outcomes: Outcome[] = [];
  const work = async (): Promise<void> => {
    for (let name = queue.shift(); name !== undefined; name = queue.shift()) {
      const outcome = await run(name);
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
const isAlone = (name: string): boolean => within(name, ALONE);
const start = performance.now();
const together = names.filter((name) => !isAlone(name)).sort((a, b) => rank(a) - rank(b));
const outcomes = [...(await drain(together, jobs)), ...(await drain(names.filter(isAlone), 1))];
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
for (const { name, seconds } of outcomes.toSorted((a, b) => b.seconds - a.seconds).slice(0, 10)) line(seconds, name);
const skipped = skips(outcomes);
if (skipped.length) console.log("\nskipped");
for (const [reason, count] of skipped) console.log(`${String(count).padStart(9)}    ${reason}`);
const bad = outcomes.filter(({ failed }) => failed);
if (bad.length) console.log("\nfailed (their output is above)");
for (const { name } of bad) console.log(`           ${name}`);

for (const what of ["tests", "pass", "fail", "cancelled", "skipped", "todo"] as const) console.log(`# ${what} ${total(what)}`);
console.log(
  `${total("pass")} passed, ${total("fail") + total("cancelled")} failed, ${total("skipped")} skipped in ${wall.toFixed(0)} s, ${jobs} at once`,
);
process.exit(bad.length ? 1 : 0);
