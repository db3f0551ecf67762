import type { Backend } from "../device.js";
import { cudaApi } from "./cuda-api.js";
import { driverBackend } from "./driver-backend.js";
import { findNvrtc, versionInName } from "./library.js";
import { CUDA_NEEDS_KOFFI, Nvrtc } from "./nvrtc.js";

/** The `cuda` backend: NVIDIA GPUs through the driver API; kernels compiled at run time by NVRTC. */
export const backend: Backend = driverBackend({
  api: cudaApi,
  gpu: "NVIDIA GPU",
  compiler: "nvrtc",
  tool: "nvidia-smi",
  noKoffi: CUDA_NEEDS_KOFFI,
  noDriver: {
    reason: "no NVIDIA driver found (libcuda.so.1)",
    remedy: "install NVIDIA's driver, or run where there is an NVIDIA GPU",
  },
  driverVersion: (version) => `CUDA ${Math.floor(version / 1000)}.${Math.floor((version % 1000) / 10)}`,
  // Found but not yet loaded, which takes long.
  async findCompiler() {
    const paths = findNvrtc();
    let loading: Promise<Nvrtc> | undefined;
    const load = () => (loading ??= Nvrtc.open(paths));
    if (paths.files.length === 0) await load();
    return {
      load,
      version: async () => (paths.files.length > 0 ? versionInName(paths.files[0]) : undefined) ?? (await load()).version,
    };
  },
});
