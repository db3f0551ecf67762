import { cudaDialect } from "../cuda/dialect.js";
import type { GpuDialect } from "../gpu/dialect.js";
import { SORT_BY_WARPS } from "../gpu/sort.js";
import { powDefinition } from "../helpers.js";

/**
 * Threads that exchange values. Wavefronts have 64 threads on CDNA and 32 on RDNA; halves of the former shuffle among themselves, so that
 * one source, and teams of any multiple of 32, do for both.
 */
const SHUFFLED = 32;

/** HIP C++, which is CUDA C++ up to what the hardware does in another way; `wide` makes the index type 64 bits. */
export function hipDialect(wide: boolean): GpuDialect {
  const cuda = cudaDialect(wide);
  const { abs_i32: _ptx, f16_from_f32: _to, f32_from_f16: _from, ...helpers } = cuda.helpers;
  // Uses builtins: CUDA's spelling is not a constant here, as tables need.
  const [infinity, nan] = ["__builtin_inf()", '__builtin_nan("")'];
  return {
    ...cuda,
    name: "HIP",
    tableBits: undefined,
    infinity,
    nan,
    apartPrefix: "__device__ inline",
    helpers: { ...helpers, pow_f32: powDefinition("f32", { types: cuda.types, nan }, "(float)pow((double)a, (double)b)") },
    // All threads of a wavefront run in step, so no mask says which take part.
    shuffle: {
      down: (value, step) => `__shfl_down(${value}, ${step}, ${SHUFFLED})`,
      xor: (value, step) => `__shfl_xor(${value}, ${step}, ${SHUFFLED})`,
      warp: SHUFFLED,
      group: {
        // Lanes that are together: the width of what they exchange.
        mask: (_thread, _lane, lanes) => `${lanes}`,
        xor: (value, step, lanes) => `__shfl_xor(${value}, ${step}, ${lanes})`,
        // Instructions of a wavefront run in order; the compiler must keep it, too.
        fence: () =>
          `__builtin_amdgcn_fence(__ATOMIC_RELEASE, "wavefront"); __builtin_amdgcn_wave_barrier(); __builtin_amdgcn_fence(__ATOMIC_ACQUIRE, "wavefront")`,
      },
    },
    // Atomics on a block's memory take floats as they are.
    runs: undefined,
    // The ranks of a block's sort are not tried on such a GPU.
    sortShape: SORT_BY_WARPS,
    // Memory that other GPUs write to is looked at anew only where a kernel begins.
    peerAccess: undefined,
    lastBlock: {
      threads: cuda.finishThreads,
      fence: cuda.fence,
      ticket: (pointer, last) => `atomicInc(${pointer}, ${last})`,
    },
    // The second figure of HIP's launch bounds means wavefronts of a SIMD unit, not blocks of a multiprocessor.
    entry: (name, most, block) => cuda.entry(name, most, block),
    holdsResidents: false,
    writesOutTurns: false,
    stagesTurns: false,
    // Not tried on such a GPU.
    ahead: undefined,
    assumed: undefined,
  };
}
