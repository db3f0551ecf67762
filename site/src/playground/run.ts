import type { Args, Device, Kernel, Policy, View } from "isoform";
import type { ElementType } from "isoform/ir";
import type { Compiled } from "./compile.js";
import { numbers, secondsOf, SHOWN } from "./measure.js";
import type { Ran } from "./messages.js";

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
      const seconds = await secondsOf(async (count) => {
        for (let n = 0; n < count; n++) queue.submit(launch);
        await queue.finish();
      });
      return { device: `${device.name}, ${device.label}`, of: "launch", seconds, results, samples, remarks: launch.remarks };
    } finally {
      launch.free();
    }
  } finally {
    for (const view of Object.values(views)) view.free();
  }
}

function arrayOf(device: Device, type: ElementType, shape: readonly number[]): View {
  const length = shape.reduce((a, b) => a * b, 1);
  return device.from({ type }, numbers(length, type !== "f32" && type !== "f64"), shape) as View;
}
