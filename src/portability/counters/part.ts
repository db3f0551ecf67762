import { IsoformError } from "../../base/errors.js";
import type { Launch } from "../../device/device.js";
import { loadKoffi, openLibrary } from "../../device/ffi.js";
import { hooks } from "../../device/tools/hooks.js";
import type { Application } from "../application.js";
import { openDeviceOrPort } from "../ports/open-device.js";
import { AssessedTarget } from "../target.js";
import type { CountersPart, CountersTask } from "./task.js";

/**
 * Runs an application once to warm up, and once more while a profiler that has started this process counts. Throws IsoformError where the driver cannot tell a
 * profiler to begin.
 */
export async function countedRun({ devices, problem }: CountersTask, application: Application): Promise<CountersPart> {
  const target = await AssessedTarget.open(devices, openDeviceOrPort);
  const kernels = new Map<string, { kernel: string; launches: number; bytes: number; flops: number }>();
  let isCounting = false;
  const note = ({ kernel: { name }, cost }: Launch): void => {
    const found = kernels.get(name) ?? { kernel: name, launches: 0, bytes: 0, flops: 0 };
    kernels.set(name, { ...found, launches: found.launches + 1, bytes: found.bytes + cost.bytes, flops: found.flops + cost.flops });
  };
  // Graphs that are captured while no tool listens do not tell their launches.
  const detach = hooks.attach({ endKernel: ({ launches }) => isCounting && launches.forEach(note) });
  try {
    const prepared = await application.prepare(target.set, problem);
    await prepared.run(1);
    const profiler = await profilerOfDriver();
    profiler?.("cuProfilerStart");
    isCounting = true;
    await prepared.run(1);
    isCounting = false;
    profiler?.("cuProfilerStop");
    prepared.free();
    return { problem: prepared.problem, kernels: [...kernels.values()] };
  } finally {
    detach();
    await Promise.all(target.devices.map((device) => device.close()));
  }
}

type ProfilerCall = (name: "cuProfilerStart" | "cuProfilerStop") => void;

/** Calls of NVIDIA's driver that begin and end what a profiler counts; undefined where there is no driver. */
async function profilerOfDriver(): Promise<ProfilerCall | undefined> {
  const koffi = await loadKoffi();
  const library = koffi && openLibrary(koffi, ["libcuda.so.1"], []);
  if (!library) return undefined;
  return (name) => {
    const status = library.handle.func(`int ${name}()`)() as number;
    if (status !== 0) throw new IsoformError(`${name} failed with CUDA's error ${status}`);
  };
}
