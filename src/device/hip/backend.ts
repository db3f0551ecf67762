import type { Backend } from "../device.js";
import { driverBackend } from "../cuda/driver-backend.js";
import { hipApi } from "./hip-api.js";
import { Hiprtc, hipVersion, HIP_NEEDS_KOFFI } from "./hiprtc.js";

/** The `hip` backend: AMD GPUs through HIP's form of the driver API; kernels compiled at run time by hiprtc. */
export const backend: Backend = driverBackend({
  api: hipApi,
  gpu: "AMD GPU",
  compiler: "hiprtc",
  tool: "rocminfo",
  noKoffi: HIP_NEEDS_KOFFI,
  noDriver: {
    reason: "no HIP library found (libamdhip64.so)",
    remedy: "install AMD's driver and ROCm's package hip-runtime-amd, or name its folder in ISOFORM_HIP",
  },
  driverVersion: (version) => `HIP ${hipVersion(version)}`,
  async findCompiler() {
    const compiler = await Hiprtc.open();
    return { load: async () => compiler, version: async () => compiler.version };
  },
});
