import { f64, kernel, range, view } from "isoform";
import { median } from "isoform/portability";
import type { DeviceSet } from "isoform/set";
import type { Skeleton } from "isoform/skeleton";

/* What times are held against. */

/** Bytes a second of a copy by a kernel, on all members together. */
export async function copyBandwidth({ locals: all }: DeviceSet): Promise<number> {
  const copy = kernel("copy", { from: view(f64), to: view(f64) }, ({ from, to }, i) => {
    to[i] = from[i];
  });
  let sum = 0;
  for (const { device } of all) {
    const [from, to] = [device.array(f64, 2 ** 25), device.array(f64, 2 ** 25)];
    const launch = device.prepare(copy, { from, to }, range(2 ** 25));
    const times: number[] = [];
    for (let n = 0; n < 9; n++) {
      const begin = device.queue.record();
      device.queue.submit(launch);
      times.push(await device.queue.record().since(begin));
    }
    sum += launch.cost.bytes / median(times);
    for (const thing of [launch, from, to]) thing.free();
  }
  return sum;
}

/** Seconds of each task of the last traced run of a skeleton, the mean of its members. */
export async function tasksOf(step: Skeleton, members: number): Promise<Map<string, number>> {
  const events: { name: string; dur?: number; pid: number }[] = JSON.parse(await step.timeline("trace")).traceEvents;
  const found = new Map<string, number>();
  // Those of the planned timeline stand first.
  for (const { name, dur, pid } of events)
    if (dur !== undefined && pid >= members) found.set(name, (found.get(name) ?? 0) + (dur * 1e-6) / members);
  return found;
}
