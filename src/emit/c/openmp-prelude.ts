import { LINE_BYTES } from "./streaming.js";

/* C functions that the code around a body calls. */

/** For kernels of `groupsUnderConditions`: their choices stay branches. Seen with GCC 12.2; clang has no such fault. */
export const WITHOUT_MASKS = `#if defined(__GNUC__) && !defined(__clang__)
#pragma GCC optimize("no-tree-loop-if-convert")
#endif`;

export const SHARE = `// Narrows begin..end to the worker's share, in multiples of grain.
static inline void share(int64_t *begin, int64_t *end, int64_t grain, int64_t worker, int64_t workers) {
  const int64_t grains = (*end - *begin + grain - 1) / grain;
  const int64_t last = *begin + grains * (worker + 1) / workers * grain;
  *begin += grains * worker / workers * grain;
  if (last < *end) *end = last;
}
`;

export const STREAM_LINE = `// Stores a cache line past the caches; both pointers are aligned to it.
static inline void stream_line(void *to, const void *from) {
#if defined(__AVX512F__)
  typedef long long part __attribute__((vector_size(64), may_alias));
#elif defined(__AVX__)
  typedef long long part __attribute__((vector_size(32), may_alias));
#else
  typedef long long part __attribute__((vector_size(16), may_alias));
#endif
  for (unsigned n = 0; n < ${LINE_BYTES} / sizeof(part); n++) {
#if defined(__clang__)
    __builtin_nontemporal_store(((const part *)from)[n], (part *)to + n);
#elif defined(__AVX512F__)
    __builtin_ia32_movntdq512((part *)to + n, ((const part *)from)[n]);
#elif defined(__AVX__)
    __builtin_ia32_movntdq256((part *)to + n, ((const part *)from)[n]);
#elif defined(__SSE2__)
    __builtin_ia32_movntdq((part *)to + n, ((const part *)from)[n]);
#else
    ((part *)to)[n] = ((const part *)from)[n];
#endif
  }
}

static inline void finish_streams(void) {
#if defined(__SSE2__)
  __builtin_ia32_sfence();
#endif
}
`;

/** A function that folds `value` into `*target` by `fold`, whatever other threads do there; T is its type. */
export function atomicFunction(name: string, T: string, fold: string): string {
  return [
    `static inline void ${name}(${T} *target, ${T} value) {`,
    `  ${T} old, wanted;`,
    `  __atomic_load(target, &old, __ATOMIC_RELAXED);`,
    `  do wanted = ${fold}(old, value);`,
    `  while (!__atomic_compare_exchange(target, &old, &wanted, true, __ATOMIC_RELAXED, __ATOMIC_RELAXED));`,
    `}`,
    ``,
  ].join("\n");
}
