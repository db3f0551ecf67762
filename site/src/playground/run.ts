import type { Args, Device, Kernel, Policy, View } from "isoform";
import type { ElementType } from "isoform/ir";
import type { Compiled } from "./compile.js";
import type { Ran } from "./messages.js";

const ROUNDS = 9;
const SHOWN = 6;
/** Of a round: clocks of browsers are coarse. */
const ROUND_SECONDS = 0.02;

/** Runs a kernel on arrays of numbers between 0 and 1, and measures a launch. Throws IsoformError. */
export async function runModule({ kernel, sizes, notes }: Compiled, device: Device): Promise<Ran> {
  const views: Record<string, View> = {};
  const args: Record<string, unknown> = {};
  try {
    for (const [name, token] of Object.entries(kernel.params)) {
      if (typeof token !== "object") continue;
      if (token.kind === "view" || token.kind === "scatter")
        args[name] = views[name] = arrayOf(device, token.element, sizes.views[name].shape);
      else if (token.kind === "scalar" || token.kind === "fixed") args[name] = notes[name] ?? (token.type === "bool" ? true : 1);
    }
    const launch = device.prepare(kernel as Kernel, args as Args<Kernel["params"]>, sizes.policy as Policy);
    try {
      const { queue } = device;
      queue.submit(launch);
      const results = await queue.results(launch);
      const samples: Record<string, readonly number[]> = {};
      for (const [name, view] of Object.entries(views)) samples[name] = [...(await queue.read(view))].slice(0, SHOWN);
      const time = async (count: number): Promise<number> => {
        const start = performance.now();
        for (let n = 0; n < count; n++) queue.submit(launch);
        await queue.finish();
        return (performance.now() - start) / 1000 / count;
      };
      const count = Math.ceil(ROUND_SECONDS / Math.max(1e-6, await time(1)));
      const times: number[] = [];
      for (let round = 0; round < ROUNDS; round++) times.push(await time(Math.min(count, 1000)));
      const seconds = times.toSorted((a, b) => a - b)[ROUNDS >> 1];
      return { device: `${device.name}, ${device.label}`, seconds, results, samples, remarks: launch.remarks };
    } finally {
      launch.free();
    }
  } finally {
    for (const view of Object.values(views)) view.free();
  }
}

function arrayOf(device: Device, type: ElementType, shape: readonly number[]): View {
  const length = shape.reduce((a, b) => a * b, 1);
  const whole = type !== "f32" && type !== "f64";
  const data = Float64Array.from({ length }, (_, n) => (whole ? n % 7 : (n * 0.6180339887) % 1));
  return device.from({ type }, data, shape) as View;
}
