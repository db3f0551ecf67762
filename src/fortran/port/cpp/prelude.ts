/* The header that C++ ports share: what launches need. */

import { cudaLikeHead, type CudaLike } from "../../../emit/standalone/cuda-like.js";

/** The header's name. */
export const PRELUDE = "isoform_fortran.h";

/** Function for memory of launches. */
export const ALLOCATE = "isoform_allocate";

export const preludeText = (like: CudaLike): string => {
  const { prefix } = like;
  return `// Included by the kernels beside it, and compiled with them.
#pragma once
#include <climits>
#include <cstdlib>
${cudaLikeHead(like, ALLOCATE, true, "inline").join("\n")}
namespace f {

template <class T> T max(T a, T b) { return b > a || a != a ? b : a; }
template <class T> T min(T a, T b) { return b < a || a != a ? b : a; }

/** Iterations of a loop: none where it ends before it begins. */
inline long long trips(int count) { return count > 0 ? count : 0; }

/** Ends the program where a call has failed. */
inline void check(${prefix}Error_t status)
{
  if (status == ${prefix}Success) return;
  std::fprintf(stderr, "${prefix}: %s\\n", ${prefix}GetErrorString(status));
  std::exit(1);
}

/** An integer of 64 bits as kernels have it. */
inline int narrow(long long value)
{
  if (value < INT_MIN || value > INT_MAX) {
    std::fprintf(stderr, "%lld does not fit in the 32 bits that integers of kernels have\\n", value);
    std::exit(1);
  }
  return (int)value;
}

/** Ends the program where a launch has threads along an axis that its kernel does not look at. */
inline void once(int threads, const char *name)
{
  if (threads == 1) return;
  std::fprintf(stderr, "%s: the launch has %d threads along an axis that the kernel does not use\\n", name, threads);
  std::exit(1);
}

/** Ends the program where iterations have assigned different values to a scalar. */
template <class T> void agreed(int times, T least, T greatest, const char *name)
{
  if (times <= 1 || least == greatest) return;
  std::fprintf(stderr, "%s: %d iterations assign different values: name it in a reduction clause, or let one assign it\\n", name, times);
  std::exit(1);
}

/** Memory of one launch. */
template <class T> T *room(long long count, ${prefix}Stream_t stream)
{
  void *address = nullptr;
  check(${ALLOCATE}(&address, (count > 0 ? count : 1) * sizeof(T), stream));
  return (T *)address;
}

}  // namespace f
`;
};
