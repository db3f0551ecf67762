import { DeviceError } from "../../base/errors.js";
import type { Backend, BackendReport, Device } from "../device.js";
import { loadKoffi, noKoffi } from "../ffi.js";
import { NO_LOADER, Opencl } from "./api.js";
import { findDevices, type Found } from "./facts.js";
import { OpenclMachine } from "./machine.js";
import { openclCapabilities, OpenclDevice } from "./opencl-device.js";

const NO_DEVICES = {
  reason: "the OpenCL loader finds no device",
  remedy: "install a driver: the GPU's own, or pocl-opencl-icd for the CPU; clinfo lists what the loader sees",
};

type Search = { cl: Opencl; devices: readonly Found[] } | { missing: { reason: string; remedy: string } };
let search: Promise<Search> | undefined;

async function find(): Promise<Search> {
  const koffi = await loadKoffi();
  if (!koffi) return { missing: noKoffi("the OpenCL library") };
  try {
    const cl = Opencl.load(koffi);
    if (!cl) return { missing: NO_LOADER };
    const devices = findDevices(cl);
    return devices.length === 0 ? { missing: NO_DEVICES } : { cl, devices };
  } catch (error) {
    if (!(error instanceof DeviceError)) throw error;
    return { missing: { reason: error.problem, remedy: error.remedy ?? "look at what clinfo says" } };
  }
}

/** The `opencl` backend: devices of all OpenCL platforms; kernels compiled at run time by the platform's compiler. */
export const backend: Backend = {
  name: "opencl",

  async probe(): Promise<BackendReport> {
    const what = await (search ??= find());
    if ("missing" in what) return { backend: "opencl", devices: [], versions: {}, missing: what.missing };
    const devices = what.devices.map(({ facts }, index) => ({
      name: `opencl:${index}`,
      label: facts.label,
      capabilities: openclCapabilities(facts),
    }));
    return { backend: "opencl", devices, versions: { platform: [...new Set(what.devices.map(({ facts }) => facts.platform))].join("; ") } };
  },

  async open(index: number): Promise<Device> {
    const name = `opencl:${index}`;
    const what = await (search ??= find());
    if ("missing" in what) throw new DeviceError(name, what.missing.reason, what.missing.remedy);
    const found = what.devices[index];
    const count = what.devices.length;
    if (!found)
      throw new DeviceError(name, `this machine has ${count} OpenCL device${count === 1 ? "" : "s"}`, "isoform doctor lists them");
    const device = new OpenclDevice(name, new OpenclMachine(name, what.cl, found));
    await (await import("./self-test.js")).requireRightTeams(device);
    return device;
  },
};
