import { mkdirSync, writeFileSync } from "node:fs";
import { dirname } from "node:path";
import { open, type Precision } from "isoform";
import { measurePeaks } from "isoform/portability";
import {
  agrees,
  BYTES_PER_PARTICLE,
  difference,
  Push,
  tolerances,
  type DepositWay,
  type Difference,
  type Layout,
  type PushInputs,
  type Expected,
} from "../apps/pic/push/push.js";
import { commandLine, parseArgs } from "./command-line.js";
import { inC, inCuda, medianOf, type ByHand } from "./pic-by-hand.js";

/*
 * The operator H_p1 of apps/pic in its variants, by turns with the same by hand (baselines/pic.c on `native`, pic.cu on `cuda:0`):
 *   node dist/bench/pic.js [--device cuda:0] [--particles 10000000] [--deposits atomic,duplicated,cells] [--layouts soa,aos] [--hot] [--json F]
 */

const { values: options } = parseArgs({
  options: {
    device: { type: "string", default: "cuda:0" },
    particles: { type: "string", default: "10000000" },
    deposits: { type: "string", default: "atomic,duplicated,cells" },
    layouts: { type: "string", default: "soa,aos" },
    precision: { type: "string", default: "fast" },
    hot: { type: "boolean", default: false },
    rounds: { type: "string", default: "5" },
    calls: { type: "string", default: "10" },
    json: { type: "string" },
  },
});

interface Variant {
  readonly name: string;
  readonly remarks: readonly string[];
  /** From one worker in order; by hand the current alone is looked at. */
  readonly off: Pick<Difference, "current"> & Partial<Difference>;
  /** Seconds of a call, the median of some. */
  seconds(): Promise<number>;
}

const list = (text: string): string[] => text.split(",");
const calls = Number(options.calls);
const particles = Number(options.particles);
const device = await open(options.device);
const { bandwidth } = await measurePeaks(device, { repeats: 10 });
console.log(`${device.label}\ncopy ${(bandwidth / 1e9).toFixed(1)} GB/s`);
/** By one worker in order: of particles as they were loaded, and as they are sorted. */
const expected = new Map<boolean, Expected>();
const rows = [];
for (const layout of list(options.layouts) as Layout[]) rows.push(...(await measure(layout)));
if (options.json) {
  const { hot } = options;
  const report = {
    command: commandLine("dist/bench/pic.js"),
    device: device.label,
    node: process.version,
    particles,
    hot,
    bandwidth,
    rows,
  };
  mkdirSync(dirname(options.json), { recursive: true });
  writeFileSync(options.json, JSON.stringify(report, undefined, 1) + "\n");
}
await device.close();

async function measure(layout: Layout) {
  const pushes: Push[] = [];
  const variants: Variant[] = [];
  for (const deposit of list(options.deposits) as DepositWay[]) {
    const precision = options.precision as Precision;
    const push = await Push.create(device, { deposit, layout, precision, particles, hot: options.hot });
    pushes.push(push);
    const sorted = deposit === "cells";
    if (!expected.has(sorted)) expected.set(sorted, await push.expected());
    if (pushes.length === 1) variants.push(...byHandOf(await push.inputs(), layout).map((each) => checked(each, expected.get(sorted)!)));
    const off = difference(await push.result(), expected.get(sorted)!);
    variants.push({ name: deposit, remarks: push.remarks, off, seconds: async () => medianOf((await push.run(2 + calls)).slice(2)) });
  }
  const samples: number[][] = variants.map(() => []);
  for (let round = 0; round < Number(options.rounds); round++)
    for (let k = 0; k < variants.length; k++) {
      const v = (round + k) % variants.length;
      samples[v].push(await variants[v].seconds());
    }
  for (const push of pushes) push.free();
  return variants.map(({ name, remarks, off }, v) => {
    const seconds = medianOf(samples[v]);
    const bytes = BYTES_PER_PARTICLE[layout] * particles;
    const ofFloor = bytes / bandwidth / seconds;
    const ratio = medianOf(samples[v].map((own, round) => samples[0][round] / own));
    const wrong = agrees({ velocity: 0, ...off }, tolerances(device)) ? "" : `  differs: ${JSON.stringify(off)}`;
    console.log(
      `${layout} ${name.padEnd(14)} ${(1e3 * seconds).toFixed(3).padStart(9)} ms ${((1e9 * seconds) / particles).toFixed(3).padStart(8)} ns a particle ` +
        `${(bytes / seconds / 1e9).toFixed(1).padStart(7)} GB/s  ${(100 * ofFloor).toFixed(1).padStart(5)} % of the floor  ratio ${ratio.toFixed(2)}${wrong}`,
    );
    return { layout, variant: name, seconds, gbs: bytes / seconds / 1e9, ofFloor, ratio, off, remarks };
  });
}

function checked({ name, current, seconds }: ByHand, ordered: Expected): Variant {
  const { current: off } = difference({ ...ordered, current }, ordered);
  return { name, remarks: [], off: { current: off }, seconds: async () => seconds() };
}

function byHandOf(inputs: PushInputs, layout: Layout): ByHand[] {
  if (options.device === "native") return [inC(inputs, layout, calls)];
  if (options.device === "cuda:0") return inCuda(inputs, layout, calls);
  return [];
}
