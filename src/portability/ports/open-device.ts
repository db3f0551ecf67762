import type { Device, OpenOptions } from "../../device/device.js";
import { portOf } from "./names.js";

/** Opens a device, or one whose launches are a port's files, by its name as in `--devices`. Throws DeviceError for one that is missing. */
export async function openDeviceOrPort(name: string, options?: OpenOptions): Promise<Device> {
  const port = portOf(name);
  if (port) return (await import("./open.js")).openPort(port);
  const { open } = await import("../../device/open.js");
  return open(name, options);
}
