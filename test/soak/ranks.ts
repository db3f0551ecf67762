import assert from "node:assert/strict";
import { spawnSync } from "node:child_process";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { OCC_LEVELS } from "../../src/skeleton/index.js";
import { main } from "../cli/isoform.js";
import { digestsIn } from "../set/mpi/digests.js";
import { isInstalled, launch, LAUNCHERS, program, type Ended, type Launcher } from "../set/mpi/launchers.js";
import type { Sent } from "../set/mpi/programs/planned.js";
import { oneOf, picks, type Pick } from "./mutate.js";
import { buildShim, seenBy, type Seen } from "./shim.js";
import type { Counts, Subject } from "./subject.js";

/** Sets of a rank, and members of each. */
const SPECS = { js: 1, "wasm*2": 2, native: 1 } as const;
const SPLITS = ["z", "y", "yz", "yz"] as const;
const MOST_RANKS = 4;
/** Seconds that ranks wait for a message that was dropped: more than they differ by on a busy machine. */
const PATIENCE = 15;
const LATE_MS = 500;
/** Applications all of whose messages matter to their values. */
const APPLICATIONS = ["heat", "ring", "poisson", "multigrid", "lbm", "heat/sparse"];
const DROWSY = { OMP_NUM_THREADS: "1" };
/** Runs whose ranks have shares of one size, as `explain` has them: application, ranks, and perhaps a split. */
const EXPLAINED: readonly (readonly [application: string, ranks: number, split?: string])[] = [
  ["heat", 2],
  ["heat", 4],
  ["poisson", 2],
  ["poisson", 4],
  ["poisson", 2, "y"],
  ["poisson", 4, "y"],
  ["poisson", 4, "yz"],
];
const SIZE = ["--size", "32"];
/** Iterations of two runs: messages of the second less those of the first are the messages of iterations alone. */
const [FEWER, MORE] = [6, 10];

/** What is run, and how: words of the program `drawn`. */
interface Drawn {
  readonly seed: string;
  readonly cases: readonly string[];
  readonly levels: readonly string[];
}

const words = ({ seed, cases, levels }: Drawn, specs: readonly string[]): string[] => [
  program("drawn"),
  seed,
  cases.join(),
  levels.join(),
  ...specs,
];

/** Digests that a run has printed, by case. Fails where it did not end well. */
function digestsByCase({ status, stdout, stderr }: Ended, count: number): ReadonlyMap<string, readonly string[]> {
  assert.equal(status, 0, `${stdout}\n${stderr}`.slice(-4000));
  const lines = digestsIn(stdout);
  assert.equal(lines.length, count, stdout);
  const found = new Map<string, string[]>();
  for (const line of lines) {
    const [, name, digest] = /\/([^/]*)\/[^/]*: (.*)$/.exec(line)!;
    found.set(name, [...(found.get(name) ?? []), digest]);
  }
  return found;
}

function alone(drawn: Drawn, specs: readonly string[], env: NodeJS.ProcessEnv = {}): Ended {
  return spawnSync(process.execPath, words(drawn, specs), { encoding: "utf8", env: { ...process.env, ...env } });
}

/** The digest of each case, by containers one after the other on one device. */
function meaning(drawn: Drawn): ReadonlyMap<string, string> {
  const all = digestsByCase(alone({ ...drawn, levels: ["meaning"] }, ["js"]), drawn.cases.length);
  return new Map([...all].map(([name, [digest]]) => [name, digest]));
}

/** The messages that members of one process would send if ranks shared them out. */
function plannedFor(drawn: Drawn, ranks: number, specs: readonly (keyof typeof SPECS)[]): readonly Sent[] {
  const all = specs.map((spec) => `js*${ranks * SPECS[spec]}`);
  const { status, stdout, stderr } = alone(drawn, all, { PLANNED: `${ranks}` });
  assert.equal(status, 0, stderr);
  return JSON.parse(/^planned (.*)$/m.exec(stdout)![1]) as Sent[];
}

/** Compares what a shim has counted with the plan of one process. */
function requirePlanned({ ranks, sent, calls }: Seen, expected: readonly Sent[], count: number, where: string): void {
  assert.equal(ranks, count, where);
  assert.deepEqual(sent, expected, where);
  // All else is collective, and the same on all ranks.
  for (const each of calls) assert.deepEqual(each, calls[0], where);
  const others = Object.keys(calls[0]).filter((name) => !["MPI_Iallgatherv", "MPI_Ibcast"].includes(name));
  assert.deepEqual(others, [], where);
}

/** Messages in one plan that `explain` has listed, by the ranks that send and receive. */
function namedBy(text: string): ReadonlyMap<string, { lines: number; bytes: number }> {
  const named = new Map<string, { lines: number; bytes: number }>();
  for (const line of text.trim().split("\n").slice(1)) {
    const [from, to, bytes] = line.split(" ");
    const pair = named.get(`${from} ${to}`) ?? { lines: 0, bytes: 0 };
    named.set(`${from} ${to}`, pair);
    pair.lines++;
    pair.bytes += Number(bytes);
  }
  return named;
}

/** `explain` names no collectives, and iterations have none: a look whether to go on is a value of rank 0, told with its name. */
function requireNoCollectives(first: Seen, second: Seen, where: string): void {
  for (const [rank, calls] of second.calls.entries()) {
    const more = (name: string): number => (calls[name] ?? 0) - (first.calls[rank][name] ?? 0);
    const looks = more("MPI_Ibcast");
    assert.ok(looks <= 1, `${where}: ${looks} values of rank 0 in ${MORE - FEWER} iterations`);
    assert.equal(more("MPI_Iallgatherv"), looks, where);
  }
}

class Checks {
  private readonly folder = mkdtempSync(join(tmpdir(), "isoform-ranks-soak-"));
  private readonly shim = buildShim(this.folder);
  private readonly launchers = LAUNCHERS.filter(isInstalled);
  private jobs = 0;

  /** On one MPI a number of ranks, all backends and two levels of overlap against one process; then one message is spoilt. */
  trial(seed: number): Counts {
    const pick = picks(seed);
    const split = oneOf(pick, SPLITS);
    // Six ranks are 2 by 3, or 3 by 2; with two members each, 12. The other boxes are too small for them.
    const isLarge = split === "yz" && pick(2) === 0;
    const cases = isLarge ? [split] : ["sequence", split];
    const expected = meaning({ seed: `${seed}`, cases, levels: [] });
    const launcher = this.launchers[seed % this.launchers.length];
    const first = pick(OCC_LEVELS.length);
    const levels = [0, 1 + pick(OCC_LEVELS.length - 1)].map((n) => OCC_LEVELS[(first + n) % OCC_LEVELS.length]);
    const sent = this.compare(launcher, isLarge ? 6 : 1 + pick(MOST_RANKS), { seed: `${seed}`, cases, levels }, expected);
    const digests = cases.length * levels.length * Object.keys(SPECS).length;
    const explained = this.explained(oneOf(pick, this.launchers), pick);
    return {
      "rank runs": 1,
      "rank digests": digests,
      "rank messages": sent,
      ...explained,
      ...this.spoil(oneOf(pick, this.launchers), pick),
    };
  }

  close(): void {
    rmSync(this.folder, { recursive: true, force: true });
  }

  /** Messages that were counted. */
  private compare(launcher: Launcher, count: number, drawn: Drawn, expected: ReadonlyMap<string, string>): number {
    const specs = Object.keys(SPECS) as (keyof typeof SPECS)[];
    const all = specs.map((spec) => `mpi:${spec}`);
    const where = `${launcher.name}, ${count} ranks: ${words(drawn, all).slice(1).join(" ")}`;
    const name = `job${this.jobs++}`;
    const ended = this.launch(launcher, count, words(drawn, all), name);
    for (const [name, digests] of digestsByCase(ended, drawn.cases.length * drawn.levels.length * specs.length))
      for (const digest of digests) assert.equal(digest, expected.get(name), `${where}\n${ended.stdout}`);
    const seen = seenBy(this.folder, name);
    requirePlanned(seen, count === 1 ? [] : plannedFor(drawn, count, specs), count, where);
    return seen.sent.reduce((sum, each) => sum + each.count, 0);
  }

  /** Compares messages and collectives of iterations with the ones that `explain --format messages` names. */
  private explained(launcher: Launcher, pick: Pick): Counts {
    const [application, count, split] = oneOf(pick, EXPLAINED);
    const own = [application, ...SIZE, "--precision", oneOf(pick, ["strict", "fast"]), ...(split ? ["--split", split] : [])];
    const where = `${launcher.name}, ${count} ranks: ${own.join(" ")}`;
    const planned = ["--as-ranks", `${count}`, "--strong", "--bandwidth", "20", "--links", "hdr", "--format", "messages"];
    const { status, stdout, stderr } = spawnSync(process.execPath, [main, "explain", ...own, ...planned], { encoding: "utf8" });
    assert.equal(status, 0, `${where}\n${stderr}`);
    const [first, second] = [FEWER, MORE].map((iterations) => {
      const job = `job${this.jobs++}`;
      const length = [application === "heat" ? "--steps" : "--iterations", `${iterations}`];
      const ended = this.launch(launcher, count, [main, ...own, ...length, "--devices", "mpi:js"], job);
      assert.equal(ended.status, 0, `${where}\n${ended.stderr}`);
      return seenBy(this.folder, job);
    });
    const named = namedBy(stdout);
    for (const from of new Set([...named.keys()].map((pair) => pair.split(" ")[0])))
      for (let to = 0; to < count; to++) {
        const pair = `${from} ${to}`;
        const { lines, bytes } = named.get(pair) ?? { lines: 0, bytes: 0 };
        const between = ({ sent }: Seen, what: "count" | "bytes"): number =>
          sent.find((each) => `${each.from} ${each.to}` === pair)?.[what] ?? 0;
        const more = (what: "count" | "bytes"): number => (between(second, what) - between(first, what)) / (MORE - FEWER);
        assert.deepEqual([more("count"), more("bytes")], [lines, bytes], `${where}, from and to ${pair}\n${stdout}`);
      }
    requireNoCollectives(first, second, where);
    return { "explained pairs": named.size };
  }

  /** Flips, drops or delays a message of an application. */
  private spoil(launcher: Launcher, pick: Pick): Counts {
    const count = 2 + pick(MOST_RANKS - 1);
    const name = oneOf(pick, APPLICATIONS);
    const level = oneOf(pick, OCC_LEVELS);
    const own = (spec: string): string[] => [program("applications"), spec, level, name];
    const all = own("mpi:js");
    const one = spawnSync(process.execPath, own("js"), { encoding: "utf8" });
    const job = `job${this.jobs++}`;
    assert.deepEqual(digestsIn(this.launch(launcher, count, all, job).stdout), digestsIn(one.stdout), `${launcher.name} ${all.join(" ")}`);
    const victim = pick(count);
    const sent = seenBy(this.folder, job).sent.filter(({ from }) => from === victim);
    const how = oneOf(pick, ["flip", "drop", "late"] as const);
    // The last ones may be of a greatest value, which hides what is less: 6 of the 14 that rank 0 of 4 sends for heat.
    const at = pick(Math.ceil(0.5 * sent.reduce((sum, each) => sum + each.count, 0)));
    const fault = `${how}:${victim}:${at}${how === "late" ? `:${LATE_MS}` : ""}`;
    const where = `SHIM=${fault} ${launcher.name}, ${count} ranks: ${all.slice(1).join(" ")}`;
    const begin = performance.now();
    const ended = this.launch(launcher, count, all, undefined, fault);
    const seconds = (performance.now() - begin) / 1e3;
    assert.match(ended.stderr, /shim: rank \d+, message/, where);
    if (how === "drop") return requireNamed(ended, count, seconds, where);
    assert.equal(ended.status, 0, `${where}\n${ended.stderr}`);
    assert.equal(digestsIn(ended.stdout).length, 1, where);
    const isAlike = digestsIn(ended.stdout)[0] === digestsIn(one.stdout)[0];
    assert.equal(isAlike, how === "late", `${where}: ${ended.stdout}`);
    return { [`${how}s`]: 1 };
  }

  private launch(launcher: Launcher, count: number, all: readonly string[], out?: string, fault?: string): Ended {
    return launch(launcher, count, all, {
      ...DROWSY,
      LD_PRELOAD: this.shim,
      ...(out && { SHIM_OUT: join(this.folder, out) }),
      ...(fault && { SHIM: fault }),
      ...(fault?.startsWith("drop") && { PATIENCE: `${PATIENCE}` }),
    });
  }
}

/** A dropped message ends all ranks within the patience, by a rank that names those it has waited for. */
function requireNamed({ status, stderr }: Ended, count: number, seconds: number, where: string): Counts {
  const told = new RegExp(`^isoform: rank \\d of ${count} on \\S+: waited ${PATIENCE} s for .*(from|to take|all ranks)`, "m");
  assert.notEqual(status, 0, where);
  assert.match(stderr, told, where);
  return { drops: 1, "seconds of drops": Math.round(seconds) };
}

/** Ranks under both MPIs, seen by a shim: bits and messages of one process, and messages that are spoilt. */
export const ranks: Subject = {
  name: "ranks",
  weight: 10,
  // Launchers of busy machines take minutes.
  limitSeconds: 1200,
  missing: () => Promise.resolve(LAUNCHERS.some(isInstalled) ? undefined : "neither mpirun.openmpi nor mpirun.mpich is installed"),
  open: () => {
    const checks = new Checks();
    return Promise.resolve({
      trial: (seed) => Promise.resolve().then(() => checks.trial(seed)),
      close: () => Promise.resolve(checks.close()),
    });
  },
};
