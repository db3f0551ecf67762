import { DeviceError, LaunchError } from "../../base/errors.js";
import type { Device } from "../device.js";
import type { View } from "../memory/view.js";
import { GpuBuffer, type Gpu } from "./gpu.js";
import { WebGpuDevice } from "./webgpu-device.js";

/* Access to WebGPU under a device of `webgpu`, for programs that use WebGPU themselves: to draw results of kernels without copying them. */

/** The `GPUDevice` of a device of `webgpu`. Throws DeviceError for another's, and where it is closed or lost. */
export function nativeDevice(device: Device): GPUDevice {
  return gpuOf(device).enter();
}

/**
 * The memory of a view on `webgpu`: a buffer that shaders may bind as storage and that can be copied from and to. The view's offset and strides
 * count elements from the start of it. It lives as long as the library's array.
 * @throws LaunchError for memory of other backends, and where it was freed
 */
export function nativeBuffer({ buffer }: View): GPUBuffer {
  if (!(buffer instanceof GpuBuffer))
    throw new LaunchError(`a view in the memory of ${buffer.memory.name} has no GPUBuffer: give one of an array on webgpu`);
  if (!buffer.live) throw new LaunchError(`a view on ${buffer.memory.name} was freed, and its GPUBuffer with it`);
  return buffer.handle;
}

/**
 * Lets `record` add commands after all that the device's queues were given before, in the same submission, which is made at the end of the
 * running task at the latest. Passes that it begins it has to end.
 * @throws DeviceError as `nativeDevice` does
 */
export function encode(device: Device, record: (encoder: GPUCommandEncoder) => void): void {
  const gpu = gpuOf(device);
  gpu.enter();
  if (gpu.capture) throw new LaunchError(`your own commands on "${device.name}" cannot be captured: encode them after the capture`);
  gpu.commands.encode(record);
}

function gpuOf(device: Device): Gpu {
  if (device instanceof WebGpuDevice) return device.gpu;
  throw new DeviceError(device.name, `it is a device of ${device.backend}, not of webgpu`, 'open one by open("webgpu")');
}
