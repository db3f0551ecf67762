import { silencer } from "./silent.js";

/* WebGPU in Node. `#dawn` means browser/dawn.ts in pages, which bring their own. */

/** A way to WebGPU that is loaded, and what to do where it finds no adapter; or why there is none. */
export type Loaded = { gpu: GPU; versions: Record<string, string>; remedy: string } | { missing: { reason: string; remedy: string } };

interface Dawn {
  create(options: readonly string[]): GPU;
  globals: Record<string, unknown>;
}

/** Dawn rounds its clock to 0.1 ms unless told not to. */
const DAWN_OPTIONS = ["disable-dawn-features=timestamp_quantization"];

/** The optional package `webgpu`, which is Dawn for Node. */
export async function loadDawn(): Promise<Loaded> {
  const name = "webgpu";
  let dawn: Dawn;
  try {
    dawn = (await import(/* @vite-ignore */ name)) as Dawn;
  } catch {
    return { missing: { reason: "the package webgpu is not installed", remedy: "npm install webgpu" } };
  }
  return {
    gpu: dawn.create(DAWN_OPTIONS),
    versions: { dawn: await dawnVersion() },
    remedy:
      "install a GPU's Vulkan driver and libvulkan1; without a GPU, Chromium's software adapter: VK_ICD_FILENAMES=/usr/lib/chromium/vk_swiftshader_icd.json",
  };
}

/** Version of the package, which is built from one state of Dawn. */
async function dawnVersion(): Promise<string> {
  const { createRequire } = await import("node:module");
  return (createRequire(import.meta.url)("webgpu/package.json") as { version: string }).version;
}

/**
 * Asks for an adapter, without the warnings on stderr of drivers that are not used. Drivers look for displays when they are asked, and
 * Wayland's library complains where nothing says in which folder they are.
 */
export async function quietly<T>(ask: () => Promise<T>): Promise<T> {
  const silently = await silencer();
  const { env } = process;
  const homeless = !env.XDG_RUNTIME_DIR;
  if (homeless) env.XDG_RUNTIME_DIR = "/";
  try {
    return await silently(ask);
  } finally {
    if (homeless) delete env.XDG_RUNTIME_DIR;
  }
}
