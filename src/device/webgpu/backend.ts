import { DeviceError } from "../../base/errors.js";
import type { Backend, BackendReport, Device, OpenOptions } from "../device.js";
import { findAdapter, labelOf, requestDevice } from "./adapter.js";
import { Gpu } from "./gpu.js";
import { capabilitiesOf, WebGpuDevice } from "./webgpu-device.js";

/** The `webgpu` backend: compute shaders in WGSL, through Dawn in Node, and the browser's own. */
export const backend: Backend = {
  name: "webgpu",
  single: true,

  async probe(): Promise<BackendReport> {
    const found = await findAdapter();
    if ("missing" in found) return { backend: "webgpu", devices: [], versions: {}, missing: found.missing };
    const { adapter, versions } = found;
    const device = { name: "webgpu", label: labelOf(adapter), capabilities: capabilitiesOf(adapter.limits, false) };
    return { backend: "webgpu", devices: [device], versions };
  },

  async open(_index: number, { f64 }: OpenOptions = {}): Promise<Device> {
    const found = await findAdapter();
    if ("missing" in found) throw new DeviceError("webgpu", found.missing.reason, found.missing.remedy);
    const { gpu, adapter } = found;
    const emulates = f64 === "emulate";
    const device = new Gpu("webgpu", await requestDevice("webgpu", adapter), gpu, emulates);
    if (emulates) await (await import("./self-test.js")).requireExactErrors(device);
    return new WebGpuDevice("webgpu", labelOf(adapter) + (emulates ? ", f64 emulated" : ""), device);
  },
};
