import { DeviceError } from "../../ir/errors.js";

/** A way to WebGPU on this machine, or why there is none. */
export type Found = { gpu: GPU; adapter: GPUAdapter; versions: Record<string, string> } | { missing: { reason: string; remedy: string } };

interface Dawn {
  create(options: readonly string[]): GPU;
  globals: Record<string, unknown>;
}

/** Dawn rounds its clock to 0.1 ms unless told not to. */
const DAWN_OPTIONS = ["disable-dawn-features=timestamp_quantization"];

/** The optional package `webgpu`, which is Dawn for Node. */
async function loadDawn(): Promise<Dawn | undefined> {
  const name = "webgpu";
  try {
    return (await import(/* @vite-ignore */ name)) as Dawn;
  } catch {
    return undefined;
  }
}

/** That of the package, which is built from one state of Dawn. */
async function dawnVersion(): Promise<string> {
  const { createRequire } = process.getBuiltinModule("node:module");
  return (createRequire(import.meta.url)("webgpu/package.json") as { version: string }).version;
}

const IN_NODE = typeof process !== "undefined" && process.versions?.node !== undefined;

/** The adapter that the browser, or Dawn in Node, would rather use. A new one for each device: an adapter gives one device only. */
export async function findAdapter(): Promise<Found> {
  const here = (globalThis.navigator as Navigator | undefined)?.gpu;
  if (here) return fromGpu(here, { api: "navigator.gpu" }, "use a browser and a system with WebGPU, over https or from localhost");
  if (!IN_NODE)
    return {
      missing: {
        reason: "this browser has no WebGPU",
        remedy: "use Chrome 113, Edge 113, Firefox 141, Safari 26 or later, over https or from localhost",
      },
    };
  const dawn = await loadDawn();
  if (!dawn) return { missing: { reason: "the package webgpu is not installed", remedy: "npm install webgpu" } };
  return fromGpu(
    dawn.create(DAWN_OPTIONS),
    { dawn: await dawnVersion() },
    "install a GPU's Vulkan driver and libvulkan1; without a GPU, Chromium's software adapter: VK_ICD_FILENAMES=/usr/lib/chromium/vk_swiftshader_icd.json",
  );
}

async function fromGpu(gpu: GPU, versions: Record<string, string>, remedy: string): Promise<Found> {
  const adapter = await quietly(() => gpu.requestAdapter({ powerPreference: "high-performance" }));
  if (!adapter) return { missing: { reason: "WebGPU finds no adapter", remedy } };
  return { gpu, adapter, versions };
}

/**
 * An adapter that cannot even be asked for is none. Drivers look for displays when they are asked, and Wayland's library complains on stderr where
 * nothing says in which folder they are.
 */
async function quietly(ask: () => Promise<GPUAdapter | null>): Promise<GPUAdapter | null> {
  const env = IN_NODE ? process.env : {};
  const homeless = !env.XDG_RUNTIME_DIR;
  if (homeless) env.XDG_RUNTIME_DIR = "/";
  try {
    return await ask();
  } catch {
    return null;
  } finally {
    if (homeless) delete env.XDG_RUNTIME_DIR;
  }
}

/** What an adapter calls itself: the hardware first where it tells a name, and not just a number; the description may be the driver's. */
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
