import childProcess from "node:child_process";
import { cpSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { syncBuiltinESMExports } from "node:module";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { loadKoffi } from "../../src/device/ffi.js";
import { Opencl } from "../../src/device/opencl/api.js";
import { findDevices } from "../../src/device/opencl/facts.js";
import { OpenclMachine } from "../../src/device/opencl/machine.js";
import { OpenclDevice } from "../../src/device/opencl/opencl-device.js";
import { f64, kernel, open, range, sum, view, type Device } from "../../src/index.js";
import { damage, numbers } from "./damage.js";

/*
 * A process of its own, since what it loads may end it: launches kernels from caches that were damaged, each in its own way, and prints
 * what came of it. Arguments: native or opencl, how many trials, and their seed.
 */

const params = { x: view(f64), y: view(f64), s: sum(f64) };
/** Of one name and one form, so that one in place of the other gives wrong numbers and nothing else. */
const kernels = [
  kernel("same", params, ({ x, y, s }, i) => {
    y[i] = 3 * x[i];
    s.add(y[i]);
  }),
  kernel("same", params, ({ x, y, s }, i) => {
    y[i] = 5 * x[i];
    s.add(y[i]);
  }),
] as const;

const [, , backend, count, seed = "7"] = process.argv;
const folder = mkdtempSync(join(tmpdir(), "isoform-damage-"));
process.once("exit", () => rmSync(folder, { recursive: true, force: true }));

/** What a compiler made of a source is copied the next time, as compiling takes longer than all of the rest. */
const made = new Map<string, Buffer>();
const { spawnSync } = childProcess;
childProcess.spawnSync = ((command: string, words: readonly string[], options: object) => {
  const [source, output] = [words.find((word) => word.endsWith(".c")), words[words.indexOf("-o") + 1]];
  if (source === undefined) return spawnSync(command, words, options);
  const text = readFileSync(source, "utf8");
  const known = made.get(text);
  if (known) writeFileSync(output, known);
  else if (spawnSync(command, words, options).status === 0) made.set(text, readFileSync(output));
  return { status: made.has(text) ? 0 : 1, stderr: "the compiler failed" };
}) as typeof spawnSync;
syncBuiltinESMExports();

/** Opens the device anew, so that nothing loaded is known to it. */
async function opener(): Promise<() => Promise<Device>> {
  switch (backend) {
    case "native":
      return () => open("native");
    case "opencl": {
      const cl = Opencl.load((await loadKoffi())!)!;
      const [found] = findDevices(cl);
      // PoCL has a cache of its own, so that ours is not used unless it says that it has none.
      const facts = { ...found.facts, caches: false };
      return async () => new OpenclDevice("opencl:0", new OpenclMachine("opencl:0", cl, { ...found, facts }));
    }
    default:
      throw new Error(`"${backend}": native or opencl`);
  }
}

const N = 1000;
const data = Float64Array.from({ length: N }, (_, i) => i);

/** Whether the kernels give what they should. */
async function right(device: Device): Promise<boolean> {
  const [x, y] = [device.from(f64, data), device.array(f64, N)];
  const factors: number[] = [];
  for (const each of kernels) {
    const { s } = (await device.run(each, { x, y }, range(N))) as { s: number };
    factors.push(s / ((N * (N - 1)) / 2), (await device.queue.read(y))[N - 1] / (N - 1));
  }
  return factors.join() === "3,3,5,5";
}

const openAnew = await opener();
const launch = async (cache: string): Promise<boolean> => {
  process.env.XDG_CACHE_HOME = cache;
  const device = await openAnew();
  try {
    return await right(device);
  } finally {
    await device.close();
  }
};

const intact = join(folder, "intact");
if (!(await launch(intact))) throw new Error("the kernels are wrong without any damage");
const files = readdirSync(join(intact, "isoform")).filter((name) => !name.endsWith(".sha256") && !name.startsWith("."));
// Native has another, which tells of signals.
if (files.length < kernels.length) throw new Error(`${files.length} files were cached, not ${kernels.length}`);
const pick = numbers(Number(seed));
const wrong: string[] = [];
for (let trial = 0; trial < Number(count); trial++) {
  const cache = join(folder, `trial-${trial}`);
  mkdirSync(cache);
  // Names that a process has loaded may mean to it what it has loaded: each trial has a folder of its own.
  cpSync(join(intact, "isoform"), join(cache, "isoform"), { recursive: true });
  const what = damage(join(cache, "isoform"), trial, pick);
  if (!(await launch(cache))) wrong.push(what);
}
console.log(JSON.stringify({ trials: Number(count), wrong }));
