import { DeviceError } from "../../kernel/errors.js";
import { cachedBinary } from "../cache.js";
import { loadKoffi, type Library } from "../foreign.js";
import { findNvrtc, openNvrtcLibrary, type NvrtcPlaces } from "./library.js";

export const NO_KOFFI = { reason: "the package koffi, which calls NVIDIA's libraries, is not installed", remedy: "npm install koffi" };
export const NO_NVRTC = {
  reason: "NVIDIA's run-time compiler libnvrtc was not found",
  remedy: 'install the CUDA toolkit, or run "pip install nvidia-cuda-nvrtc-cu12" and set ISOFORM_NVRTC to its folder nvidia/cuda_nvrtc/lib',
};

export interface CubinOptions {
  /** Contraction of a*b+c into one rounding. */
  fmad: boolean;
  /** Named in errors. */
  name?: string;
}

/** NVIDIA's run-time compiler: CUDA C++ source to machine code, without a GPU or a toolkit. */
export class Nvrtc {
  private constructor(
    private readonly api: Api,
    readonly path: string,
    readonly version: string,
    /** Compute capabilities that it has code for, such as 90. */
    readonly architectures: readonly number[],
  ) {}

  /** Throws DeviceError where koffi or the library is missing. */
  static async open(places: NvrtcPlaces = findNvrtc()): Promise<Nvrtc> {
    const koffi = await loadKoffi();
    if (!koffi) throw new DeviceError("cuda", NO_KOFFI.reason, NO_KOFFI.remedy);
    const library = openNvrtcLibrary(koffi, places);
    if (!library) throw new DeviceError("cuda", NO_NVRTC.reason, NO_NVRTC.remedy);
    return Nvrtc.from(library);
  }

  private static from(library: Library): Nvrtc {
    const api = bindApi(library);
    const version = [new Int32Array(1), new Int32Array(1)];
    api.check("nvrtcVersion", api.nvrtcVersion(version[0], version[1]));
    const count = new Int32Array(1);
    api.check("nvrtcGetNumSupportedArchs", api.nvrtcGetNumSupportedArchs(count));
    const architectures = new Int32Array(count[0]);
    api.check("nvrtcGetSupportedArchs", api.nvrtcGetSupportedArchs(architectures));
    return new Nvrtc(api, library.path, `${version[0][0]}.${version[1][0]}`, [...architectures]);
  }

  /**
   * Machine code of `source` for compute capability `arch` (major * 10 + minor), from the disk's cache where it was compiled before.
   * Throws DeviceError with the kernel's name and the compiler's first lines.
   */
  compileToCubin(source: string, arch: number, options: CubinOptions): Uint8Array {
    if (!this.architectures.includes(arch))
      throw new DeviceError(
        "cuda",
        `NVRTC ${this.version} (${this.path}) has no code for sm_${arch}`,
        `use an NVRTC that has one; this one has sm_${this.architectures.join(", sm_")}`,
      );
    const flags = [`--gpu-architecture=sm_${arch}`, `--fmad=${options.fmad}`, "--std=c++17"];
    return cachedBinary("cubin", [this.version, ...flags, source], () => this.compile(source, flags, options.name ?? "kernel"));
  }

  private compile(source: string, flags: readonly string[], name: string): Uint8Array {
    const { api } = this;
    const program = new BigUint64Array(1);
    api.check("nvrtcCreateProgram", api.nvrtcCreateProgram(program, source, `${name}.cu`, 0, null, null));
    try {
      const status = api.nvrtcCompileProgram(program[0], flags.length, flags);
      if (status === COMPILATION_FAILED) {
        const lines = this.log(program[0]).split("\n").slice(0, 12).join("\n");
        throw new DeviceError(
          "cuda",
          `NVRTC refused the code generated for "${name}":\n${lines}`,
          "this is a defect of the emitter: please report it with the kernel",
        );
      }
      api.check("nvrtcCompileProgram", status);
      const size = new BigUint64Array(1);
      api.check("nvrtcGetCUBINSize", api.nvrtcGetCUBINSize(program[0], size));
      const cubin = new Uint8Array(Number(size[0]));
      api.check("nvrtcGetCUBIN", api.nvrtcGetCUBIN(program[0], cubin));
      return cubin;
    } finally {
      api.nvrtcDestroyProgram(program);
    }
  }

  private log(program: bigint): string {
    const size = new BigUint64Array(1);
    this.api.check("nvrtcGetProgramLogSize", this.api.nvrtcGetProgramLogSize(program, size));
    const text = new Uint8Array(Number(size[0]));
    this.api.check("nvrtcGetProgramLog", this.api.nvrtcGetProgramLog(program, text));
    return new TextDecoder().decode(text.subarray(0, -1));
  }
}

let shared: Promise<Nvrtc> | undefined;

/** Machine code for `arch` (such as 90) by the compiler of this machine; needs no GPU. Throws DeviceError. */
export async function compileToCubin(source: string, arch: number, options: CubinOptions): Promise<Uint8Array> {
  shared ??= Nvrtc.open();
  return (await shared).compileToCubin(source, arch, options);
}

const COMPILATION_FAILED = 6;

const DECLARATIONS = [
  "int nvrtcVersion(void *major, void *minor)",
  "int nvrtcGetNumSupportedArchs(void *count)",
  "int nvrtcGetSupportedArchs(void *architectures)",
  "int nvrtcCreateProgram(void *program, const char *source, const char *name, int headers, void *sources, void *names)",
  "int nvrtcCompileProgram(uint64_t program, int count, const char **options)",
  "int nvrtcGetProgramLogSize(uint64_t program, void *size)",
  "int nvrtcGetProgramLog(uint64_t program, void *log)",
  "int nvrtcGetCUBINSize(uint64_t program, void *size)",
  "int nvrtcGetCUBIN(uint64_t program, void *cubin)",
  "int nvrtcDestroyProgram(void *program)",
  "const char *nvrtcGetErrorString(int status)",
] as const;

// eslint-disable-next-line @typescript-eslint/no-explicit-any
type Api = Record<string, (...args: any[]) => any> & { check(call: string, status: number): void };

function bindApi(library: Library): Api {
  const functions = Object.fromEntries(
    DECLARATIONS.map((declaration) => [/(\w+)\(/.exec(declaration)![1], library.handle.func(declaration)]),
  );
  return Object.assign(functions, {
    check(call: string, status: number): void {
      if (status !== 0) throw new DeviceError("cuda", `${call} failed: ${functions.nvrtcGetErrorString(status)}`);
    },
  }) as unknown as Api;
}
