import type { OpenOptions } from "../../../src/device/device.js";
import { open } from "../../../src/device/open.js";
import type { WebGpuDevice } from "../../../src/device/webgpu/webgpu-device.js";
import { DeviceError } from "../../../src/base/errors.js";

/** The device, and why its tests are skipped: false where it is there. */
export async function openWebGpu(options?: OpenOptions): Promise<{ device: WebGpuDevice; skip: string | false }> {
  try {
    return { device: (await open("webgpu", options)) as WebGpuDevice, skip: false };
  } catch (error) {
    if (!(error instanceof DeviceError)) throw error;
    return { device: undefined as never, skip: error.message };
  }
}
