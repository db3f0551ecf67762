import type { Precision } from "../../ir/launch.js";

/* Compiler options of emitted files, as the first lines of each file tell them. */

/** Without these GCC and clang give the code another meaning: integers wrap, and strict code rounds each operation. */
function gnu(precision: Precision, standard: "gnu11" | "gnu++17" | "c++20"): string {
  const strict = precision === "strict" ? " -ffp-contract=off -fno-tree-slp-vectorize" : " -ffp-contract=fast";
  return `-std=${standard} -O3 -fwrapv -fno-math-errno -fno-trapping-math${strict}`;
}

const nvidia = (precision: Precision, standard: "c++17" | "c++20"): string =>
  `-std=${standard} -O3 ${precision === "strict" ? "-Mnofma -Kieee" : "-Mfma"}`;

type OptionsOf = (precision: Precision) => string;

/** For gcc, g++ and clang, or the target's own compiler. */
export const COMPILER_OPTIONS = {
  c: (precision) => `${gnu(precision, "gnu11")} -march=native -fopenmp`,
  "omp-target": (precision) => `${gnu(precision, "gnu11")} -fopenmp`,
  openacc: (precision) => `${gnu(precision, "gnu++17")} -march=native -fopenacc -foffload=disable`,
  stdpar: (precision) => `${gnu(precision, "c++20")} -march=native -fopenmp-simd`,
  kokkos: (precision) => `${gnu(precision, "c++20")} -march=native -fopenmp -I$ISOFORM_KOKKOS/include`,
  sycl: (precision) => `-O3${precision === "strict" ? " -ffp-contract=off" : ""}`,
  cuda: (precision) => `-O3${precision === "strict" ? " -fmad=false" : " -prec-div=false -prec-sqrt=false"} -arch=native`,
  hip: (precision) => `-O3${precision === "strict" ? " -ffp-contract=off" : ""} --offload-arch=native`,
} as const satisfies Record<string, OptionsOf>;

/** For nvc++, which compiles for NVIDIA's GPUs. */
export const NVIDIA_OPTIONS = {
  openacc: (precision) => `${nvidia(precision, "c++17")} -acc=gpu`,
  stdpar: (precision) => `${nvidia(precision, "c++20")} -stdpar=gpu -gpu=mem:unified`,
} as const satisfies Record<string, OptionsOf>;
