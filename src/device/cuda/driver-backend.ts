import { DeviceError } from "../../base/errors.js";
import type { Backend, BackendReport, Device } from "../device.js";
import { loadKoffi } from "../ffi.js";
import type { DriverApi } from "./calls.js";
import { cudaCapabilities, CudaDevice } from "./cuda-device.js";
import { PrimaryContext } from "./context.js";
import { Driver } from "./driver.js";
import { CudaGpu, gpuFacts } from "./gpu.js";
import type { GpuCompiler } from "./runtime-compiler.js";

/** Why there is no device, and what would make one available. */
interface Missing {
  readonly reason: string;
  readonly remedy: string;
}

/** A compiler that was found, and is loaded when it is needed. */
interface FoundCompiler {
  /** Its version; loads it only where nothing else tells. */
  version(): Promise<string>;
  /** Throws DeviceError if it does not load. */
  load(): Promise<GpuCompiler>;
}

/** Parts of a backend that uses a driver API. */
interface DriverParts {
  readonly api: DriverApi;
  /** One GPU in words, and the name of the driver and of the compiler in reports. */
  readonly gpu: string;
  readonly compiler: string;
  readonly noKoffi: Missing;
  readonly noDriver: Missing;
  /** The program that tells of the driver's state. */
  readonly tool: string;
  driverVersion(number: number): string;
  /** Throws DeviceError if there is none. */
  findCompiler(): Promise<FoundCompiler>;
}

type Found = { driver: Driver; compiler: FoundCompiler } | { missing: Missing };

/** The backend of the GPUs that a driver API knows. */
export function driverBackend(parts: DriverParts): Backend {
  const { api } = parts;
  const name = api.backend;
  let found: Promise<Found> | undefined;

  /** With `load`, a device is about to be opened: the compiler is loaded while the driver starts. */
  async function find(load: boolean): Promise<Found> {
    const koffi = await loadKoffi();
    if (!koffi) return { missing: parts.noKoffi };
    try {
      const driver = Driver.open(koffi, api);
      if (!driver) return { missing: parts.noDriver };
      const [compiler] = await Promise.all([findCompiler(load), driver.initialise()]);
      return { driver, compiler };
    } catch (error) {
      if (!(error instanceof DeviceError)) throw error;
      return { missing: { reason: error.problem, remedy: error.remedy ?? `look at what ${parts.tool} says` } };
    }
  }

  async function findCompiler(load: boolean): Promise<FoundCompiler> {
    const compiler = await parts.findCompiler();
    // Whether it does load is told by `open`.
    if (load) await compiler.load().catch(() => undefined);
    return compiler;
  }

  return {
    name,

    async probe(): Promise<BackendReport> {
      const what = await (found ??= find(false));
      if ("missing" in what) return { backend: name, devices: [], versions: {}, missing: what.missing };
      const { driver, compiler } = what;
      const devices = Array.from({ length: driver.int("cuDeviceGetCount") }, (_, ordinal) => {
        const facts = gpuFacts(driver, ordinal);
        return { name: `${name}:${ordinal}`, label: facts.label, capabilities: cudaCapabilities(facts) };
      });
      const versions = { driver: parts.driverVersion(driver.int("cuDriverGetVersion")), [parts.compiler]: await compiler.version() };
      return { backend: name, devices, versions };
    },

    async open(index: number): Promise<Device> {
      const full = `${name}:${index}`;
      const what = await (found ??= find(true));
      if ("missing" in what) throw new DeviceError(full, what.missing.reason, what.missing.remedy);
      const { driver, compiler } = what;
      const count = driver.int("cuDeviceGetCount");
      if (index >= count)
        throw new DeviceError(full, `this machine has ${count} ${parts.gpu}${count === 1 ? "" : "s"}`, "isoform doctor lists them");
      const context = new PrimaryContext(driver, driver.int("cuDeviceGet", index));
      return new CudaDevice(full, new CudaGpu(full, driver, await compiler.load(), index, context));
    },
  };
}
