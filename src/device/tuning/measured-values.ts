import { TUNING_NAMES, type Tunables, type Tuning } from "../../ir/tuning.js";
import { DeviceError, LaunchError } from "../../base/errors.js";
import type { Device, Launch, TuningOfLaunch } from "../device.js";
import { region } from "../tools/tools.js";
import type { Measured } from "../launch/chosen.js";
import { isRecord, isTime, recallJson, rememberJson } from "./kept-json.js";
import { reachOf, spanOf } from "../../ir/reach.js";
import { View } from "../memory/view.js";

/** Seconds that one measurement takes at least. */
const ENOUGH = 2e-3;
const MOST_RUNS = 1000;
/** Measurements of one candidate; the least counts. */
const ROUNDS = 3;
/** A candidate must be this much faster than what it is to replace. */
const GAIN = 1.03;

/** Measured values for `tune`, which has found several to choose from. */
export async function measuredValues(device: Device, tuning: TuningOfLaunch): Promise<Measured | undefined> {
  const { tunables } = tuning;
  const key = [device.backend, device.label, JSON.stringify(device.versions ?? {}), tuning.key];
  const known = recallJson(KIND, key, isMeasured);
  const found = known && tuning.accepts(known.values) ? known : await region("tuning", () => measure(device, tuning, tunables));
  if (!found) return undefined;
  if (found !== known) rememberJson(KIND, key, found);
  device.tuning.note(tuning, found);
  return found;
}

/** Its number changes with the fields of `Measured` and the names of values, so that what other versions stored is not read. */
const KIND = "tuning-3";

/** Whether a launch takes the values, it says itself. */
const isMeasured = (value: unknown): value is Measured =>
  isRecord(value) && isRecord(value.values) && isTime(value.seconds) && isTime(value.baseline);

/** Undefined if memory does not suffice for copies of what the launch changes. */
async function measure(device: Device, launch: TuningOfLaunch, tunables: Tunables): Promise<Measured | undefined> {
  await device.queue.finish();
  const kept = keep(device, launch.changed);
  if (!kept) return undefined;
  try {
    const timed = (values: Tuning) => timeOf(device, launch, values, kept.restore);
    const first = (await timed({}))!;
    let best: Measured = { values: {}, seconds: first, baseline: first };
    for (const name of TUNING_NAMES)
      for (const value of tunables[name] ?? []) {
        const values = { ...best.values, [name]: value };
        const seconds = await timed(values);
        if (seconds === undefined || seconds * GAIN > best.seconds) continue;
        // Engines and clocks speed up on the way: what is to be replaced is measured once more.
        const again = Math.min(best.seconds, (await timed(best.values))!);
        const replaced = Object.keys(best.values).length === 0 ? { ...best, seconds: again, baseline: again } : { ...best, seconds: again };
        best = seconds * GAIN < again ? { values, seconds, baseline: replaced.baseline } : replaced;
      }
    return best;
  } finally {
    kept.restore();
    await device.queue.finish();
    kept.free();
  }
}

/** Seconds of one run with these values; undefined if they do not go together. */
async function timeOf(device: Device, launch: TuningOfLaunch, values: Tuning, restore: () => void): Promise<number | undefined> {
  const { queue } = device;
  let candidate: Launch;
  try {
    candidate = launch.prepare(values);
  } catch (error) {
    if (error instanceof LaunchError || error instanceof DeviceError) return undefined;
    throw error;
  }
  try {
    const run = async (times: number): Promise<number> => {
      const start = performance.now();
      for (let n = 0; n < times; n++) queue.submit(candidate);
      await queue.finish();
      return (performance.now() - start) / 1e3;
    };
    restore();
    await run(1);
    const once = await run(1);
    const times = Math.max(1, Math.min(MOST_RUNS, Math.ceil(ENOUGH / Math.max(once, 1e-6))));
    const samples: number[] = [];
    for (let round = 0; round < ROUNDS; round++) {
      restore();
      await queue.finish();
      samples.push((await run(times)) / times);
    }
    return Math.min(...samples);
  } finally {
    candidate.free();
  }
}

/** Copies of views on their device. */
function keep(device: Device, views: readonly View[]): { restore(): void; free(): void } | undefined {
  const copies: { view: View; copy: View }[] = [];
  const free = () => copies.forEach(({ copy }) => copy.free());
  try {
    for (const each of views) {
      const view = flat(each);
      const copy = device.array({ type: view.type }, view.shape) as View;
      copies.push({ view, copy });
      device.queue.copy(view, copy);
    }
  } catch (error) {
    free();
    if (error instanceof DeviceError) return undefined;
    throw error;
  }
  return { free, restore: () => copies.forEach(({ view, copy }) => device.queue.copy(copy, view)) };
}

/** All of the memory between a view's first element and its last, where rows may share elements. */
const flat = ({ buffer, type, shape, strides, offset }: View): View =>
  new View(buffer, type, [spanOf({ shape, strides })], [1], offset - reachOf(shape, strides).below);
