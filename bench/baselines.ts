import { spawnSync } from "node:child_process";
import { mkdtempSync, readdirSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import koffi from "koffi";

/** Arguments of a hand-written kernel: addresses and sizes as bigint, floating-point scalars as number. */
export type CArgument = bigint | number;

const SOURCES = fileURLToPath(new URL("../../bench/baselines/", import.meta.url));
const MACHINE = "-march=native";
export const FLAGS = ["-O3", MACHINE, "-fopenmp", "-fPIC", "-shared", "-Wl,-z,nodelete"];
/** Files whose authors let sums be reordered. */
const FAST_MATH = ["ordinary.c", "examples.c"];

/** Flags in place of the machine's own, for vectors of 128 bits as WebAssembly has them. */
export const NARROW = ["-msse4.2", "-mno-avx"];

/** The hand-written kernels of bench/baselines, each file built with the flags above, or those of them that are asked for with `machine` for one. */
export class Baselines {
  private readonly libraries: Record<string, ReturnType<typeof koffi.load>> = {};

  constructor(compiler: string, machine: readonly string[] = [MACHINE], subjects?: readonly string[]) {
    const folder = mkdtempSync(join(tmpdir(), "isoform-bench-"));
    const flags = FLAGS.flatMap((flag) => (flag === MACHINE ? machine : [flag]));
    const wanted = (name: string): boolean => name.endsWith(".c") && (subjects?.includes(name.slice(0, -2)) ?? true);
    for (const file of readdirSync(SOURCES).filter(wanted)) {
      const library = join(folder, `${file}.so`);
      const run = spawnSync(
        compiler,
        [...flags, ...(FAST_MATH.includes(file) ? ["-ffast-math"] : []), "-o", library, join(SOURCES, file), "-lm"],
        { encoding: "utf8" },
      );
      if (run.status !== 0) throw new Error(`${compiler} could not compile ${file}:\n${run.stderr}`);
      this.libraries[file.replace(/\.c$/, "")] = koffi.load(library);
    }
    rmSync(folder, { recursive: true });
  }

  /** Binds a function of `subject`.c to its arguments. */
  bind(subject: string, name: string, args: readonly CArgument[], result: "void" | "double" = "void"): () => number | undefined {
    const types = args.map((arg) => (typeof arg === "bigint" ? "int64_t" : "double"));
    const f = this.libraries[subject].func(name, result, types);
    return () => f(...args) as number | undefined;
  }
}

/** The address of a byte in a buffer, as a C argument. */
export function addressIn(host: ArrayBufferLike, offset: number): bigint {
  return koffi.address(new Uint8Array(host as ArrayBuffer)) + BigInt(offset);
}
