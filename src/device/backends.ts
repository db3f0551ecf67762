import type { Backend } from "./device.js";
import { LOADERS as PAGE_LOADERS } from "./browser/backends.js";

/** Backends by name, loaded when first asked for, in the order in which `isoform doctor` lists them. */
export const LOADERS: Readonly<Record<string, () => Promise<Backend>>> = {
  js: PAGE_LOADERS.js,
  "js-debug": PAGE_LOADERS["js-debug"],
  wasm: PAGE_LOADERS.wasm,
  native: async () => (await import("./native/native.js")).backend,
  cuda: async () => (await import("./cuda/backend.js")).backend,
  hip: async () => (await import("./hip/backend.js")).backend,
  webgpu: PAGE_LOADERS.webgpu,
  opencl: async () => (await import("./opencl/backend.js")).backend,
};
