import { loadDawn, quietly } from "#dawn";
import { DeviceError } from "../../base/errors.js";

/** A way to WebGPU on this machine, or why there is none. */
export type Found = { gpu: GPU; adapter: GPUAdapter; versions: Record<string, string> } | { missing: { reason: string; remedy: string } };

/** The adapter that the browser, or Dawn in Node, would rather use. A new one for each device: an adapter gives one device only. */
export async function findAdapter(): Promise<Found> {
  const here = (globalThis.navigator as Navigator | undefined)?.gpu;
  if (here) return fromGpu(here, { api: "navigator.gpu" }, "use a browser and a system with WebGPU, over https or from localhost");
  const loaded = await loadDawn();
  return "missing" in loaded ? loaded : fromGpu(loaded.gpu, loaded.versions, loaded.remedy);
}

async function fromGpu(gpu: GPU, versions: Record<string, string>, remedy: string): Promise<Found> {
  const adapter = await askFor(gpu);
  if (!adapter) return { missing: { reason: "WebGPU finds no adapter", remedy } };
  return { gpu, adapter, versions };
}

/** Treats an adapter that cannot even be requested as missing. */
async function askFor(gpu: GPU): Promise<GPUAdapter | null> {
  try {
    return await quietly(() => gpu.requestAdapter({ powerPreference: "high-performance" }));
  } catch {
    return null;
  }
}

/** Name of an adapter: the hardware first if it has a name, and not just a number; the description may be the driver's. */
export function labelOf({ info }: Pick<GPUAdapter, "info">): string {
  const device = info.device.startsWith("0x") ? "" : info.device.replace(/-+$/, "");
  const words = [device, info.description, info.vendor, info.architecture].filter((word) => word !== "");
  return `${words.join(", ") || info.device || "WebGPU adapter"}${info.isFallbackAdapter ? " (software)" : ""}`;
}

/** Limits that are asked for as far as the adapter goes. */
const WANTED = [
  "maxBufferSize",
  "maxStorageBufferBindingSize",
  "maxStorageBuffersPerShaderStage",
  "maxComputeWorkgroupStorageSize",
] as const;

/** Features that are used where they are. */
const FEATURES: readonly GPUFeatureName[] = ["timestamp-query", "subgroups" as GPUFeatureName];

/** A device of the adapter with all that the library can use of it. Throws DeviceError. */
export async function requestDevice(name: string, adapter: GPUAdapter): Promise<GPUDevice> {
  try {
    return await adapter.requestDevice({
      requiredLimits: Object.fromEntries(WANTED.map((limit) => [limit, adapter.limits[limit]])),
      requiredFeatures: FEATURES.filter((feature) => adapter.features.has(feature)),
    });
  } catch (error) {
    throw new DeviceError(
      name,
      `the adapter gives no device: ${(error as Error).message}`,
      "update the driver, or close what uses the GPU",
    );
  }
}
