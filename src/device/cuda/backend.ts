import { DeviceError } from "../../kernel/errors.js";
import type { Backend, BackendReport, Device } from "../device.js";
import { abilitiesOf, CudaDevice } from "./cuda-device.js";
import { Driver, NO_DRIVER } from "./driver.js";
import { Gpu, gpuFacts } from "./gpu.js";
import { loadKoffi, openNvrtcLibrary, type Koffi } from "./library.js";
import { Nvrtc, NVRTC_REMEDY } from "./nvrtc.js";

const NO_KOFFI = { reason: "the package koffi, which calls NVIDIA's libraries, is not installed", remedy: "npm install koffi" };
const NO_NVRTC = { reason: "NVIDIA's run-time compiler libnvrtc was not found", remedy: NVRTC_REMEDY };

/** What is needed before a GPU can be used, or what is missing of it. */
type Found = { koffi: Koffi; driver: Driver; nvrtc: Nvrtc } | { missing: { reason: string; remedy: string } };

let found: Promise<Found> | undefined;

async function find(): Promise<Found> {
  const koffi = await loadKoffi();
  if (!koffi) return { missing: NO_KOFFI };
  try {
    const driver = Driver.open(koffi);
    if (!driver) return { missing: NO_DRIVER };
    const library = openNvrtcLibrary(koffi);
    if (!library) return { missing: NO_NVRTC };
    return { koffi, driver, nvrtc: Nvrtc.from(library) };
  } catch (error) {
    if (!(error instanceof DeviceError)) throw error;
    return { missing: { reason: error.problem, remedy: error.remedy ?? "look at what nvidia-smi says" } };
  }
}

const driverVersion = (driver: Driver): string => {
  const version = driver.int("cuDriverGetVersion");
  return `CUDA ${Math.floor(version / 1000)}.${Math.floor((version % 1000) / 10)}`;
};

/** The `cuda` backend: NVIDIA GPUs through the driver API; kernels compiled at run time by NVRTC. */
export const backend: Backend = {
  name: "cuda",

  async probe(): Promise<BackendReport> {
    const what = await (found ??= find());
    if ("missing" in what) return { backend: "cuda", devices: [], versions: {}, missing: what.missing };
    const { driver, nvrtc } = what;
    const devices = Array.from({ length: driver.int("cuDeviceGetCount") }, (_, ordinal) => {
      const facts = gpuFacts(driver, ordinal);
      return { name: `cuda:${ordinal}`, label: facts.label, abilities: abilitiesOf(facts) };
    });
    return { backend: "cuda", devices, versions: { driver: driverVersion(driver), nvrtc: nvrtc.version } };
  },

  async open(index: number): Promise<Device> {
    const name = `cuda:${index}`;
    const what = await (found ??= find());
    if ("missing" in what) throw new DeviceError(name, what.missing.reason, what.missing.remedy);
    const { driver, nvrtc } = what;
    const count = driver.int("cuDeviceGetCount");
    if (index >= count) throw new DeviceError(name, `this machine has ${count} NVIDIA GPU${count === 1 ? "" : "s"}`, "isoform doctor lists them");
    return new CudaDevice(name, new Gpu(name, driver, nvrtc, index));
  },
};
