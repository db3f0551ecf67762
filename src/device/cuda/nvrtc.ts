import { cudaLanguage } from "../../emit/c/cuda.js";
import { DeviceError } from "../../base/errors.js";
import { cachedBinary } from "../../cache/cache.js";
import { loadKoffi, noKoffi, type Library } from "../ffi.js";
import { findNvrtc, openNvrtcLibrary, type LibraryPaths } from "./library.js";
import { RuntimeCompiler, type CodeOptions, type GpuCompiler } from "./runtime-compiler.js";

export const CUDA_NEEDS_KOFFI = noKoffi("NVIDIA's libraries");
const NO_NVRTC = {
  reason: "NVIDIA's run-time compiler libnvrtc was not found",
  remedy: 'install the CUDA toolkit, or run "pip install nvidia-cuda-nvrtc-cu12" and set ISOFORM_NVRTC to its folder nvidia/cuda_nvrtc/lib',
};

/** NVIDIA's run-time compiler: CUDA C++ source to machine code, without a GPU or a toolkit. */
export class Nvrtc implements GpuCompiler {
  readonly language = cudaLanguage;
  readonly suffix = "cu";
  private readonly compiler: RuntimeCompiler;
  /** Compute capabilities that it has code for, such as 90. */
  readonly architectures: readonly number[];

  private constructor({ handle, path }: Library) {
    this.compiler = new RuntimeCompiler(
      { handle, path },
      { backend: "cuda", title: "NVRTC", prefix: "nvrtc", code: "CUBIN", suffix: "cu" },
    );
    const count = new Int32Array(1);
    handle.func("int nvrtcGetNumSupportedArchs(void *count)")(count);
    const architectures = new Int32Array(count[0]);
    handle.func("int nvrtcGetSupportedArchs(void *architectures)")(architectures);
    this.architectures = [...architectures];
  }

  /** Throws DeviceError if koffi or the library is missing. */
  static async open(paths: LibraryPaths = findNvrtc()): Promise<Nvrtc> {
    const koffi = await loadKoffi();
    if (!koffi) throw new DeviceError("cuda", CUDA_NEEDS_KOFFI.reason, CUDA_NEEDS_KOFFI.remedy);
    const library = openNvrtcLibrary(koffi, paths);
    if (!library) throw new DeviceError("cuda", NO_NVRTC.reason, NO_NVRTC.remedy);
    return new Nvrtc(library);
  }

  get version(): string {
    return this.compiler.version;
  }

  compile<T>(source: string, arch: string, options: CodeOptions, load: (code: Uint8Array) => T): T {
    return this.loaded(source, Number(arch.replace("sm_", "")), options, load);
  }

  /**
   * Machine code of `source` for compute capability `arch` (major * 10 + minor), from the disk's cache where it was compiled before.
   * Throws DeviceError with the kernel's name and the compiler's first lines.
   */
  compileToCubin(source: string, arch: number, options: CodeOptions): Uint8Array {
    return this.loaded(source, arch, options, (code) => code);
  }

  private loaded<T>(source: string, arch: number, { fast, name = "kernel" }: CodeOptions, load: (code: Uint8Array) => T): T {
    if (!this.architectures.includes(arch))
      throw new DeviceError(
        "cuda",
        `NVRTC ${this.version} (${this.compiler.library.path}) has no code for sm_${arch}`,
        `use an NVRTC that has one; this one has sm_${this.architectures.join(", sm_")}`,
      );
    const flags = [`--gpu-architecture=sm_${arch}`, `--fmad=${fast}`, `--prec-div=${!fast}`, `--prec-sqrt=${!fast}`, "--std=c++17"];
    return cachedBinary("cubin", [this.version, ...flags, source], () => this.compiler.compile(source, flags, name), load);
  }
}
