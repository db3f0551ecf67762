import { mkdirSync, writeFileSync } from "node:fs";
import { cpus } from "node:os";
import { dirname } from "node:path";
import { f32, f64, i32, kernel, open, range, sum, view, type Device, type Launch, type RangePolicy } from "isoform";
import { commandLine, parseArgs } from "./command-line.js";

/*
 * What it costs that numbers change from launch to launch: `device.run` over one range, over new ones, and with new whole numbers; and prepared
 * launches whose code knows its range beside others whose code is for any range, by turns.
 *   node dist/bench/ranges.js [--devices js,wasm,native] [--rounds 15] [--runs-only] [--json F]
 */

const { values: options } = parseArgs({
  options: {
    devices: { type: "string", default: "js,wasm,native" },
    rounds: { type: "string", default: "15" },
    "runs-only": { type: "boolean", default: false },
    json: { type: "string" },
  },
});
const rounds = Number(options.rounds);
/** Launches of a round. */
const LAUNCHES = 200;
/** Elements of the arrays; a launch takes 1,000 to 3,000. */
const ELEMENTS = 3000;

const median = (seconds: readonly number[]): number => seconds.toSorted((a, b) => a - b)[Math.floor(seconds.length / 2)];
const micros = (seconds: number): string => `${(1e6 * seconds).toFixed(1)} us`;

/** Seconds of a run over one range, over ranges that no launch had before, and with whole numbers that none had. */
async function runs(device: Device): Promise<{ known: number; fresh: number; whole: number }> {
  const real = device.capabilities.f64 ? f64 : f32;
  const add = kernel("add", { x: view(real), a: real, by: i32 }, ({ x, a, by }, i) => {
    x[i] = x[i] + a * by;
  });
  const x = device.array(real, ELEMENTS);
  const timed = async (policy: () => RangePolicy, by = () => 1): Promise<number> => {
    const begin = performance.now();
    for (let n = 0; n < LAUNCHES; n++) await device.run(add, { x, a: n, by: by() }, policy());
    return (performance.now() - begin) / 1e3 / LAUNCHES;
  };
  const one = (): RangePolicy => range([1, 2000]);
  const [known, fresh, whole]: number[][] = [[], [], []];
  let seen = 0;
  // By turns, so that a busy moment slows all alike.
  for (let round = 0; round < rounds; round++) {
    known.push(await timed(one));
    fresh.push(await timed(() => range([1 + (seen % 997), 1000 + (seen++ % 1999)])));
    whole.push(await timed(one, () => seen++));
  }
  return { known: median(known), fresh: median(fresh), whole: median(whole) };
}

/** A kernel prepared over a range, made anew at each call. */
type Prepare = (name: string) => (policy: RangePolicy) => Launch;

/** Launches whose code does not know their range, on the first axis of which they may begin later. */
const OTHERS = 64;

function casesOf(device: Device): Record<string, readonly [Prepare, RangePolicy]> {
  const line = () =>
    device.from(
      f64,
      Float64Array.from({ length: 20_000 }, (_, n) => Math.sin(n)),
    );
  const [x, y] = [line(), line()];
  const [p, s] = [device.array(f64, [100, 34, 66]), device.array(f64, [100, 34, 66])];
  const axpy: Prepare = (name) => {
    const code = kernel(`axpy, ${name}`, { x: view(f64), y: view(f64), a: f64 }, ({ x, y, a }, i) => {
      y[i] = y[i] + a * x[i];
    });
    return (policy) => device.prepare(code, { x, y, a: 2 }, policy);
  };
  const dot: Prepare = (name) => {
    const code = kernel(`dot, ${name}`, { x: view(f64), y: view(f64), s: sum(f64) }, ({ x, y, s }, i) => {
      s.add(x[i] * y[i]);
    });
    return (policy) => device.prepare(code, { x, y }, policy);
  };
  const laplace: Prepare = (name) => {
    const code = kernel(`laplace, ${name}`, { p: view(f64, 3), s: view(f64, 3) }, ({ p, s }, i, j, k) => {
      s[i][j][k] = p[i - 1][j][k] + p[i + 1][j][k] + p[i][j - 1][k] + p[i][j + 1][k] + p[i][j][k - 1] + p[i][j][k + 1] - 6 * p[i][j][k];
    });
    return (policy) => device.prepare(code, { p, s }, policy);
  };
  return {
    axpy: [axpy, range([0, 19_900])],
    dot: [dot, range([0, 19_900])],
    "laplace, lines of 64": [laplace, range([1, 33], [1, 33], [1, 65])],
    "laplace, lines of 8": [laplace, range([1, 33], [1, 33], [1, 9])],
  };
}

/** Time of code for any range over the time of code for its range, by turns. */
function ratios(device: Device): Record<string, number> {
  const found: Record<string, number> = {};
  for (const [name, [prepare, policy]] of Object.entries(casesOf(device))) {
    const own = prepare("own")(policy);
    const other = prepare("any");
    for (let n = 1; n <= OTHERS; n++)
      other({ ...policy, begin: policy.begin.map((first, axis) => (axis === 0 ? first + n : first)) }).free();
    const any = other(policy);
    if (!any.remarks.some((remark) => remark.startsWith("code: for any range"))) throw new Error(`${name}: its code is for one range`);
    const turns = Array.from({ length: 4 * rounds }, () => seconds(device, any) / seconds(device, own));
    found[name] = median(turns);
  }
  return found;
}

function seconds(device: Device, launch: Launch): number {
  const begin = performance.now();
  for (let n = 0; n < LAUNCHES; n++) device.queue.submit(launch);
  return (performance.now() - begin) / 1e3 / LAUNCHES;
}

const rows = [];
for (const name of options.devices.split(",")) {
  const device = await open(name);
  const { known, fresh, whole } = await runs(device);
  const anyOverOwn = options["runs-only"] || !["js", "wasm"].includes(name) ? undefined : ratios(device);
  rows.push({ device: name, known, fresh, whole, anyOverOwn });
  console.log(`${name.padEnd(7)} a known range ${micros(known)}, a new one ${micros(fresh)}, a new whole number ${micros(whole)}`);
  for (const [what, ratio] of Object.entries(anyOverOwn ?? {}))
    console.log(`        ${what}: code for any range takes ${ratio.toFixed(2)}`);
  await device.close();
}
if (options.json) {
  mkdirSync(dirname(options.json), { recursive: true });
  const report = {
    command: commandLine("dist/bench/ranges.js"),
    node: process.version,
    machine: cpus()[0].model,
    threads: cpus().length,
    rows,
  };
  writeFileSync(options.json, JSON.stringify(report, undefined, 1) + "\n");
}
