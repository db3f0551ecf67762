import type { Backend } from "../device.js";
// Loads with the library the code that every backend needs: a chunk of its own would be one more request, and compress worse.
import "../launch/bind.js";
import "../launch/device-queue.js";

/** The backends of browsers, which need nothing of Node: what `#backends` means there. */
export const LOADERS: Readonly<Record<string, () => Promise<Backend>>> = {
  js: async () => (await import("../js/js.js")).backend,
  "js-debug": async () => (await import("../debug/js-debug.js")).backend,
  wasm: async () => (await import("../wasm/wasm.js")).backend,
  webgpu: async () => (await import("../webgpu/backend.js")).backend,
};
