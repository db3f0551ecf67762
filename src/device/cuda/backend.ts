import { DeviceError } from "../../kernel/errors.js";
import type { Backend, BackendReport, Device } from "../device.js";
import { abilitiesOf, CudaDevice } from "./cuda-device.js";
import { Driver, NO_DRIVER } from "./driver.js";
import { Gpu, gpuFacts } from "./gpu.js";
import { loadKoffi } from "../foreign.js";
import { findNvrtc, versionInName, type NvrtcPlaces } from "./library.js";
import { NO_KOFFI, Nvrtc } from "./nvrtc.js";

/** What a GPU needs on this machine, or what is missing of it. The compiler is found but not yet loaded, which takes long. */
type Found = { driver: Driver; places: NvrtcPlaces } | { missing: { reason: string; remedy: string } };

let found: Promise<Found> | undefined;
let compiler: Promise<Nvrtc> | undefined;

async function find(): Promise<Found> {
  const koffi = await loadKoffi();
  if (!koffi) return { missing: NO_KOFFI };
  try {
    const driver = Driver.open(koffi);
    if (!driver) return { missing: NO_DRIVER };
    const places = findNvrtc();
    if (places.files.length === 0) await (compiler ??= Nvrtc.open(places));
    return { driver, places };
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
    const { driver, places } = what;
    const devices = Array.from({ length: driver.int("cuDeviceGetCount") }, (_, ordinal) => {
      const facts = gpuFacts(driver, ordinal);
      return { name: `cuda:${ordinal}`, label: facts.label, abilities: abilitiesOf(facts) };
    });
    const nvrtc =
      (places.files.length > 0 ? versionInName(places.files[0]) : undefined) ?? (await (compiler ??= Nvrtc.open(places))).version;
    return { backend: "cuda", devices, versions: { driver: driverVersion(driver), nvrtc } };
  },

  async open(index: number): Promise<Device> {
    const name = `cuda:${index}`;
    const what = await (found ??= find());
    if ("missing" in what) throw new DeviceError(name, what.missing.reason, what.missing.remedy);
    const { driver, places } = what;
    const count = driver.int("cuDeviceGetCount");
    if (index >= count)
      throw new DeviceError(name, `this machine has ${count} NVIDIA GPU${count === 1 ? "" : "s"}`, "isoform doctor lists them");
    return new CudaDevice(name, new Gpu(name, driver, await (compiler ??= Nvrtc.open(places)), index));
  },
};
