import type { GpuLanguage } from "../../schedule/program.js";
import { DeviceError } from "../../base/errors.js";
import type { Library } from "../ffi.js";

export interface CodeOptions {
  /** Contraction of a*b+c into one rounding; with NVRTC also quotients and roots of f32 by the device's own approximations. */
  fast: boolean;
  /** Named in errors. */
  name?: string;
}

/** Compiler of a GPU's code from sources in one language. */
export interface GpuCompiler {
  readonly language: GpuLanguage;
  /** Suffix of the files in which sources are kept for people. */
  readonly suffix: string;
  /**
   * Result of `load` for the machine code for `arch`, in the driver's terms; code comes from the disk's cache if it was compiled and loaded before.
   * Throws DeviceError with the kernel's name and the compiler's first lines, and the errors of `load`.
   */
  compile<T>(source: string, arch: string, options: CodeOptions, load: (code: Uint8Array) => T): T;
}

/** Differences between the functions of NVRTC and of hiprtc. */
interface RuntimeCompilerNames {
  readonly backend: string;
  /** In errors. */
  readonly title: string;
  /** Prefix of all functions. */
  readonly prefix: string;
  /** Part of the names of functions that return machine code. */
  readonly code: string;
  /** Suffix of a source's file, in the compiler's messages. */
  readonly suffix: string;
}

const COMPILATION_FAILED = 6;

/** Functions without their prefix, and without what is special to code. */
const DECLARATIONS = [
  "int Version(void *major, void *minor)",
  "int CreateProgram(void *program, const char *source, const char *name, int headers, void *sources, void *names)",
  "int CompileProgram(uint64_t program, int count, const char **options)",
  "int GetProgramLogSize(uint64_t program, void *size)",
  "int GetProgramLog(uint64_t program, void *log)",
  "int GetCodeSize(uint64_t program, void *size)",
  "int GetCode(uint64_t program, void *code)",
  "int DestroyProgram(void *program)",
  "const char *GetErrorString(int status)",
] as const;

type NameOf<D extends string> = D extends `${string} ${infer Name}(${string}` ? (Name extends `char *${infer Rest}` ? Rest : Name) : never;
type Call = NameOf<(typeof DECLARATIONS)[number]>;

/** The library of a run-time compiler; every call is checked. */
export class RuntimeCompiler {
  readonly version: string;
  // eslint-disable-next-line @typescript-eslint/no-explicit-any
  private readonly functions: Record<Call, (...args: any[]) => number | string>;

  /** Throws where the library lacks a function. */
  constructor(
    readonly library: Library,
    private readonly names: RuntimeCompilerNames,
  ) {
    this.functions = Object.fromEntries(
      DECLARATIONS.map((declaration) => {
        const call = /(\w+)\(/.exec(declaration)![1];
        return [call, library.handle.func(declaration.replace(call, this.spelled(call)))];
      }),
    ) as unknown as RuntimeCompiler["functions"];
    const [major, minor] = [new Int32Array(1), new Int32Array(1)];
    this.call("Version", major, minor);
    this.version = `${major[0]}.${minor[0]}`;
  }

  /** Throws DeviceError with `name`, the kernel's, and the compiler's first lines. */
  compile(source: string, flags: readonly string[], name: string): Uint8Array {
    const { backend, title, suffix } = this.names;
    const program = new BigUint64Array(1);
    this.call("CreateProgram", program, source, `${name}.${suffix}`, 0, null, null);
    try {
      const status = this.functions.CompileProgram(program[0], flags.length, flags);
      if (status === COMPILATION_FAILED) {
        const log = this.bytes("GetProgramLogSize", "GetProgramLog", program[0]);
        const lines = new TextDecoder().decode(log.subarray(0, -1)).split("\n").slice(0, 12).join("\n");
        throw new DeviceError(
          backend,
          `${title} refused the code generated for "${name}":\n${lines}`,
          "this is a defect of the emitter: please report it with the kernel",
        );
      }
      this.check("CompileProgram", status);
      return this.bytes("GetCodeSize", "GetCode", program[0]);
    } finally {
      this.functions.DestroyProgram(program);
    }
  }

  private bytes(size: Call, get: Call, program: bigint): Uint8Array {
    const length = new BigUint64Array(1);
    this.call(size, program, length);
    const bytes = new Uint8Array(Number(length[0]));
    this.call(get, program, bytes);
    return bytes;
  }

  private call(name: Call, ...args: unknown[]): void {
    this.check(name, this.functions[name](...args));
  }

  private check(name: Call, status: number | string): void {
    if (status !== 0)
      throw new DeviceError(this.names.backend, `${this.spelled(name)} failed: ${this.functions.GetErrorString(Number(status))}`);
  }

  private spelled(call: string): string {
    return this.names.prefix + call.replace("Code", this.names.code);
  }
}
