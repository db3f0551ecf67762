import assert from "node:assert/strict";
import { spawn, spawnSync } from "node:child_process";
import { once } from "node:events";
import { mkdtemp, open, readFile, rm, stat } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, test } from "node:test";
import { setTimeout as later } from "node:timers/promises";
import { main } from "../../cli/isoform.js";

/* Runs that are ended from outside and go on: in the end they have the bits of an unbroken one. */

const folder = await mkdtemp(join(tmpdir(), "isoform-gsr-"));
after(() => rm(folder, { recursive: true }));

const SYSTEM = ["--stars", "20", "--years", "1", "--known", "truth", "--seed", "4", "--precision", "strict", "--form", "ordered"];
const LOOPS = ["--robust", "--outliers", "0.01", "--errors", "probes", "2", "--atol", "1e-4"];
const STATE = join(folder, "state");

const gsr = (words: readonly string[]) => spawnSync(process.execPath, [main, "gsr", "--no-kernels", ...words], { encoding: "utf8" });
const inode = (path: string): Promise<number | undefined> =>
  stat(path).then(
    ({ ino }) => ino,
    () => undefined,
  );

/** Runs to the `n`-th checkpoint and ends it there by a signal; undefined where it has ended by itself before. */
async function until(
  words: readonly string[],
  n: number,
  signal: NodeJS.Signals,
): Promise<{ code: number | null; stdout: string } | undefined> {
  const child = spawn(process.execPath, [main, "gsr", "--no-kernels", ...words], { stdio: ["ignore", "pipe", "ignore"] });
  let stdout = "";
  child.stdout.on("data", (text) => (stdout += String(text)));
  const closed = once(child, "close");
  let last = await inode(STATE);
  let seen = 0;
  let sent = false;
  while (child.exitCode === null && child.signalCode === null && !sent) {
    const now = await inode(STATE);
    if (now !== last) seen++;
    last = now;
    if (seen >= n) sent = child.kill(signal);
    else await later(2);
  }
  const [code] = (await closed) as [number | null];
  return sent ? { code, stdout } : undefined;
}

const unbroken = join(folder, "unbroken.json");
const resumed = join(folder, "resumed.json");

test("killed at checkpoints of all loops, on other devices each time, it ends with the bits of an unbroken run", async () => {
  const whole = gsr([...SYSTEM, ...LOOPS, "--devices", "js", "--out", unbroken]);
  assert.ok(whole.status === 0 || whole.status === 1, whole.stderr);
  const saved = ["--checkpoint", STATE, "--every", "7", "--out", resumed];
  let killed = 0;
  for (const [n, signal, spec] of [
    [2, "SIGKILL", "js"],
    [9, "SIGKILL", "wasm*2"],
    [5, "SIGTERM", "js*3"],
    [11, "SIGINT", "wasm"],
  ] as const) {
    const words = killed === 0 ? [...SYSTEM, ...LOOPS] : ["--restart", STATE];
    const ended = await until([...words, "--devices", spec, ...saved], n, signal);
    if (!ended) break;
    killed++;
    if (signal === "SIGKILL") continue;
    assert.equal(ended.code, signal === "SIGTERM" ? 143 : 130);
    assert.match(ended.stdout, /^interrupted after \d+ iterations: go on with --restart /m);
  }
  assert.ok(killed > 0);
  const last = gsr(["--restart", STATE, "--devices", "js", ...saved]);
  assert.equal(last.status, whole.status, last.stderr);
  assert.deepEqual(await readFile(resumed, "utf8"), await readFile(unbroken, "utf8"));
});

test("a damaged checkpoint is refused, or the one before is taken, which is said", async () => {
  const file = join(folder, "damaged");
  const words = [...SYSTEM, "--devices", "js", "--iterations", "12", "--out", unbroken];
  const first = gsr([...words, "--checkpoint", file, "--every", "4"]);
  assert.equal(first.status, 0, first.stderr);
  const damage = async (path: string): Promise<void> => {
    const handle = await open(path, "r+");
    const { size } = await handle.stat();
    const byte = Buffer.alloc(1);
    await handle.read(byte, 0, 1, size >> 1);
    byte[0] ^= 4;
    await handle.write(byte, 0, 1, size >> 1);
    await handle.close();
  };
  await damage(file);
  const again = gsr(["--restart", file, "--devices", "js", "--iterations", "12", "--out", resumed]);
  assert.equal(again.status, 0, again.stderr);
  assert.match(again.stdout, /the previous checkpoint is intact: .*damaged\.previous: goes on from there/);
  assert.deepEqual(await readFile(resumed, "utf8"), await readFile(unbroken, "utf8"));
  await damage(`${file}.previous`);
  const none = gsr(["--restart", file, "--devices", "js"]);
  assert.equal(none.status, 2);
  assert.match(none.stderr, /damaged/);
});

test("a checkpoint keeps to its options", async () => {
  const refuses = (message: RegExp, ...words: readonly string[]): void => {
    const { status, stderr } = gsr([...words, "--devices", "js"]);
    assert.match(stderr, message);
    assert.equal(status, 2);
  };
  refuses(/the checkpoint was made with --seed 4: leave --seed out, or start anew/, "--restart", STATE, "--seed", "5");
  refuses(/the checkpoint was made without --gib: leave --gib out/, "--restart", STATE, "--gib", "1");
  refuses(/--every is for --checkpoint: give that a file, or leave it out/, "--every", "5");
  refuses(/cannot read|no such file/, "--restart", join(folder, "missing"));
});
