import { threadCount } from "../../device/cpu/pool.js";
import { describeMachine } from "../../device/cpu/machine.js";
import type { Device } from "../../device/device.js";
import { limitSpinning, Loader, loadWorkingKoffi } from "../../device/native/library.js";
import { cover } from "../../device/tools/tools.js";
import { DeviceError } from "../../base/errors.js";
import { portDevice, type HostPort, type Port } from "./names.js";
import { PortDevice } from "./port-device.js";
import { ON_HOST, OUT_OF_REACH, PROBE, probeOf } from "./probe.js";
import { compiledEntry, toolchainOf, type Toolchain } from "./toolchain.js";

/** A port in words, for labels. */
const TITLES: Readonly<Record<HostPort, string>> = {
  c: "emitted C",
  "omp-target": "OpenMP target regions",
  openacc: "OpenACC",
  stdpar: "C++ parallel algorithms",
  kokkos: "Kokkos",
  sycl: "SYCL",
};

/** The device of a port. Throws DeviceError for what is missing. */
export async function openPort(port: Port): Promise<Device> {
  const name = portDevice(port);
  const koffi = await loadWorkingKoffi();
  if (!koffi) throw new DeviceError(name, "the package koffi, which calls compiled code, does not load", "npm install koffi");
  if (port === "cuda" || port === "hip") {
    const { openGpuPort } = await import("./gpu-port.js");
    return openGpuPort(port, new Loader(koffi));
  }
  const toolchain = toolchainOf(port);
  const loader = new Loader(koffi);
  const threads = threadCount();
  limitSpinning();
  process.env.OMP_NUM_THREADS ??= String(threads);
  const place = placeOf(port, toolchain, loader);
  if (place === OUT_OF_REACH)
    throw new DeviceError(name, `${TITLES[port]} runs on a device that does not reach the host's memory`, "use a build for the host");
  const onHost = place === ON_HOST;
  const where = onHost
    ? `${describeMachine(threads).label}, ${TITLES[port]}${port === "c" ? "" : " on the host"}`
    : `${TITLES[port]} on device ${place}, by ${toolchain.command}`;
  const device = new PortDevice(port, { toolchain, loader, threads, label: where, onHost });
  cover(device);
  return device;
}

/** Number of the device that runs the port's loops, `ON_HOST` or `OUT_OF_REACH`. */
function placeOf(port: HostPort, toolchain: Toolchain, loader: Loader): number {
  const place = new Int32Array(1);
  compiledEntry(loader, toolchain, { name: PROBE, text: probeOf(port), entry: PROBE }, "fast").function.call(loader.address(place.buffer));
  return place[0];
}
