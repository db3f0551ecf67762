import { hipLanguage } from "../../emit/c/hip.js";
import { DeviceError } from "../../base/errors.js";
import { cachedBinary } from "../../cache/cache.js";
import { RuntimeCompiler, type CodeOptions, type GpuCompiler } from "../cuda/runtime-compiler.js";
import { loadKoffi, noKoffi, type Library } from "../ffi.js";
import { openHipLibrary, openHiprtcLibrary } from "./library.js";

export const HIP_NEEDS_KOFFI = noKoffi("AMD's libraries");
const NO_HIPRTC = {
  reason: "HIP's run-time compiler (libhiprtc.so, or part of libamdhip64.so) was not found",
  remedy: "install ROCm's package hip-runtime-amd, or name its folder in ISOFORM_HIP",
};

/** HIP's run-time compiler: HIP C++ source to machine code, without a GPU. */
export class Hiprtc implements GpuCompiler {
  readonly language = hipLanguage;
  readonly suffix = "hip";
  readonly version: string;
  private readonly compiler: RuntimeCompiler;

  private constructor(library: Library, runtime: Library) {
    // hiprtc's own version stayed the same for years.
    const version = new Int32Array(1);
    runtime.handle.func("int hipRuntimeGetVersion(void *version)")(version);
    this.version = hipVersion(version[0]);
    this.compiler = new RuntimeCompiler(library, { backend: "hip", title: "hiprtc", prefix: "hiprtc", code: "Code", suffix: "hip" });
  }

  /** Throws DeviceError if koffi or the library is missing. */
  static async open(): Promise<Hiprtc> {
    const koffi = await loadKoffi();
    if (!koffi) throw new DeviceError("hip", HIP_NEEDS_KOFFI.reason, HIP_NEEDS_KOFFI.remedy);
    const [library, runtime] = [openHiprtcLibrary(koffi), openHipLibrary(koffi)];
    if (!library || !runtime) throw new DeviceError("hip", NO_HIPRTC.reason, NO_HIPRTC.remedy);
    try {
      return new Hiprtc(library, runtime);
    } catch (error) {
      if (error instanceof DeviceError) throw error;
      throw new DeviceError("hip", NO_HIPRTC.reason, NO_HIPRTC.remedy);
    }
  }

  compile<T>(source: string, arch: string, { fast, name = "kernel" }: CodeOptions, load: (code: Uint8Array) => T): T {
    // Unless told otherwise, f32 is divided, and its roots are taken, with no more error than rounding.
    const flags = [`--gpu-architecture=${arch}`, "-O3", "-std=c++17", `-ffp-contract=${fast ? "fast" : "off"}`];
    return cachedBinary("hsaco", [this.version, ...flags, source], () => this.compiler.compile(source, flags, name), load);
  }
}

/** As in 5.2.21153, from HIP's number for it. */
export const hipVersion = (number: number): string =>
  [Math.floor(number / 10_000_000), Math.floor(number / 100_000) % 100, number % 100_000].join(".");
