import { existsSync } from "node:fs";
import { mkdtemp, readdir, readFile, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { isoformUntil, type Ended } from "./children.js";
import { oneOf, picks, type Pick } from "./mutate.js";
import type { Subject } from "./subject.js";

const KILLS = 5;
const CASES = ["weibel", "strong-landau", "landau"] as const;

/** A short run that writes many checkpoints. The first four words also begin the command that goes on with it. */
interface Run {
  readonly words: readonly string[];
  /** How far it goes, where it writes its result, and where its state. */
  to(result: string, state: string): readonly string[];
}

function plasma(pick: Pick): Run {
  const name = oneOf(pick, CASES);
  const particles = String(300 + pick(700));
  return {
    words: ["pic", name, "--devices", "js", "--particles", particles, "--precision", "strict", "--every", "1", "--dt", "0.05"],
    to: (result, state) => ["--time", "8", "--csv", result, "--checkpoint", state, "--checkpoint-every", "3"],
  };
}

/** The Gaia solver with probes, on some members. */
function gaia(pick: Pick): Run {
  const stars = ["--stars", String(20 + pick(10)), "--years", "1", "--known", "truth", "--seed", String(pick(100))];
  const loops = ["--errors", "probes", "2", "--norm", oneOf(pick, ["separate", "merged"])];
  const fixed = ["--form", oneOf(pick, ["fused", "gathered", "ordered"]), "--precision", "strict"];
  return {
    words: ["gsr", "--devices", oneOf(pick, ["js", "js*2", "js*3"]), "--no-kernels", ...stars, ...fixed, ...loops],
    to: (result, state) => ["--iterations", "60", "--out", result, "--checkpoint", state, "--every", "5"],
  };
}

const fail = (what: string, { code, signal, stderr }: Ended, words: readonly string[]): never => {
  throw new Error(`${what}: exit ${signal ?? code}\n${stderr.slice(0, 2000)}\nisoform ${words.join(" ")}`);
};

/** Runs killed at random moments, again and again, that go on from their checkpoints: in the end the results have the bits of an unbroken run. */
async function chain(pick: Pick, folder: string): Promise<number> {
  const { words, to } = oneOf(pick, [plasma, gaia])(pick);
  const whole = [...words, ...to("whole.json", "unbroken")];
  const unbroken = await isoformUntil(whole, folder);
  // A solution that its errors do not explain ends with 1.
  const good = unbroken.code;
  if (good !== 0 && !(good === 1 && words[0] === "gsr")) fail("unbroken", unbroken, whole);
  let kills = 0;
  for (let turn = 0; ; turn++) {
    const own = existsSync(join(folder, "state")) ? [...words.slice(0, 4), "--restart", "state"] : words;
    const all = [...own, ...to("again.json", "state")];
    const signal = oneOf(pick, ["SIGKILL", "SIGKILL", "SIGTERM", "SIGINT"] as const);
    // From its first moments to about its end.
    const after = unbroken.seconds * (0.15 + (0.8 * pick(1000)) / 1000);
    const ended = await isoformUntil(all, folder, turn < KILLS ? { signal, after } : undefined);
    if (ended.signal !== null || ended.code === 130 || ended.code === 143) {
      if (turn >= KILLS) fail("after all signals", ended, all);
      if (/^ {4}at /m.test(ended.stderr)) fail("a stack", ended, all);
      kills++;
    } else if (ended.code !== good) fail("gone on", ended, all);
    else if (turn >= KILLS) break;
    else await rm(join(folder, "again.json"), { force: true });
  }
  const [first, second] = await Promise.all(["whole.json", "again.json"].map((name) => readFile(join(folder, name), "utf8")));
  if (first !== second) throw new Error(`the results differ after ${kills} kills: isoform ${words.join(" ")}`);
  const left = (await readdir(folder)).filter((name) => !/^((whole|again)\.json|(unbroken|state)(\.previous)?)$/.test(name));
  if (left.length > 0) throw new Error(`left behind after ${kills} kills: ${left.join()}`);
  return kills;
}

export const kills: Subject = {
  name: "kills",
  weight: 25,
  open: () =>
    Promise.resolve({
      async trial(seed) {
        // Two at once, as most of the time of a process goes by before it computes.
        const folders = await Promise.all([1, 2].map(() => mkdtemp(join(tmpdir(), "isoform-soak-"))));
        try {
          const made = await Promise.all(folders.map((folder, n) => chain(picks(2 * seed + n), folder)));
          return { kills: made[0] + made[1], "runs gone on": 2 };
        } finally {
          await Promise.all(folders.map((folder) => rm(folder, { recursive: true, force: true })));
        }
      },
      close: () => Promise.resolve(),
    }),
};
