import { DeviceError } from "../../base/errors.js";
import type { Device } from "../../device/device.js";
import type { Loader } from "../../device/native/library.js";
import { portDevice, type Port } from "./names.js";
import { toolchainOf } from "./toolchain.js";

export async function openGpuPort(port: Extract<Port, "cuda" | "hip">, _loader: Loader): Promise<Device> {
  toolchainOf(port);
  throw new DeviceError(portDevice(port), "todo");
}
