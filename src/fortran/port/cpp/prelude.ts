/* The header that C++ ports share: Fortran's arrays and functions for device code, and what launches need. */

export type Runtime = "hip" | "cuda";

/** The header's name. */
export const PRELUDE = "isoform_fortran.h";

/** Elements of one thread's block, where sums are folded and elsewhere. */
export const THREAD_BLOCK = 256;

export const preludeText = (runtime: Runtime): string => `// Included by the kernels beside it, and compiled with them.
#pragma once
#include <climits>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <limits>
#include <type_traits>
#include <${runtime}${runtime === "hip" ? "/hip" : ""}_runtime.h>

namespace f {

/** The first and the last index of an axis. */
struct Bounds {
  int lower, upper;
};

/** An array in Fortran's order: the first index is contiguous. */
template <class T, int RANK> struct View {
  T *data;
  int lower[RANK], extent[RANK];

  template <class... B> __device__ View(T *first, B... bounds) : data(first) {
    const Bounds all[] = {bounds...};
    for (int axis = 0; axis < RANK; axis++) {
      lower[axis] = all[axis].lower;
      extent[axis] = all[axis].upper - all[axis].lower + 1;
    }
  }

  template <class... I> __device__ T &operator()(I... indices) const {
    const int index[] = {indices...};
    long long at = index[RANK - 1] - lower[RANK - 1];
    for (int axis = RANK - 2; axis >= 0; axis--) at = at * extent[axis] + (index[axis] - lower[axis]);
    return data[at];
  }

  /** All elements, in their order. */
  template <class... V> __device__ void set(V... values) const {
    const T all[] = {T(values)...};
    for (int n = 0; n < int(sizeof...(V)); n++) data[n] = all[n];
  }
  __device__ void fill(T value) const {
    long long size = 1;
    for (int axis = 0; axis < RANK; axis++) size *= extent[axis];
    for (long long n = 0; n < size; n++) data[n] = value;
  }
};

template <class A, class B> using Both = typename std::common_type<A, B>::type;

template <class A> __host__ __device__ A max(A a) { return a; }
template <class A, class B, class... C> __host__ __device__ auto max(A a, B b, C... c) {
  const Both<A, B> x = a, y = b;
  return max(y > x || x != x ? y : x, c...);
}
template <class A> __host__ __device__ A min(A a) { return a; }
template <class A, class B, class... C> __host__ __device__ auto min(A a, B b, C... c) {
  const Both<A, B> x = a, y = b;
  return min(y < x || x != x ? y : x, c...);
}

template <class A> __device__ A abs(A a) { return std::abs(a); }
template <class A, class B> __device__ Both<A, B> sign(A a, B b) {
  if constexpr (std::is_floating_point<A>::value) return std::copysign(a, A(b));
  else return b < 0 ? -abs(a) : abs(a);
}
template <class A, class B> __device__ Both<A, B> mod(A a, B b) {
  if constexpr (std::is_floating_point<Both<A, B>>::value) return std::fmod(Both<A, B>(a), Both<A, B>(b));
  else return a % b;
}
template <class A, class B> __device__ Both<A, B> modulo(A a, B b) {
  const Both<A, B> rest = mod(a, b);
  return rest != 0 && (rest < 0) != (b < 0) ? rest + b : rest;
}
template <class A, class B> __device__ Both<A, B> dim(A a, B b) { return max(a - b, Both<A, B>(0)); }
template <class A> __device__ int nint(A a) { return int(std::round(a)); }
template <class A> __device__ int floor(A a) { return int(std::floor(a)); }
template <class A> __device__ int ceiling(A a) { return int(std::ceil(a)); }
template <class A> __device__ A huge(A) { return std::numeric_limits<A>::max(); }
template <class A> __device__ A tiny(A) { return std::numeric_limits<A>::min(); }
template <class A> __device__ A epsilon(A) { return std::numeric_limits<A>::epsilon(); }

/** By squares, from the lowest bit, as libgcc's __powidf2; by pow where the exponent is real. */
template <class A, class B> __device__ auto power(A a, B b) {
  if constexpr (std::is_floating_point<B>::value) return std::pow(Both<A, B>(a), Both<A, B>(b));
  else {
    unsigned n = b < 0 ? 0u - unsigned(b) : unsigned(b);
    A result = n & 1 ? a : A(1);
    while (n >>= 1) {
      a = a * a;
      if (n & 1) result = result * a;
    }
    return b < 0 ? A(1) / result : result;
  }
}

/** Iterations of a loop. */
__host__ __device__ inline int trips(int first, int last, int step = 1) {
  const int count = (last - first + step) / step;
  return count > 0 ? count : 0;
}

__device__ inline int thread() { return int(blockIdx.x * blockDim.x + threadIdx.x); }
__device__ inline int threads() { return int(gridDim.x * blockDim.x); }
__host__ __device__ constexpr int blocks(int elements, int size) { return (elements + size - 1) / size; }

/** Threads of a loop with reductions: each folds some elements, the same ones in each run. */
constexpr int most_threads = 65536;
inline int threads_for(long long elements) {
  return elements < most_threads ? blocks(int(elements), ${THREAD_BLOCK}) * ${THREAD_BLOCK} : most_threads;
}

/** The least value, from which a maximum starts. */
template <class T> __host__ __device__ T lowest() {
  return std::numeric_limits<T>::has_infinity ? -std::numeric_limits<T>::infinity() : std::numeric_limits<T>::lowest();
}
template <class T> __host__ __device__ T highest() {
  return std::numeric_limits<T>::has_infinity ? std::numeric_limits<T>::infinity() : std::numeric_limits<T>::max();
}

/** Ends the program where a call has failed. */
inline void check(${runtime}Error_t status) {
  if (status == ${runtime}Success) return;
  std::fprintf(stderr, "${runtime}: %s\\n", ${runtime}GetErrorString(status));
  std::exit(1);
}

/** Room for what the threads of one loop hold; it is kept. */
template <class T> T *partials(T *&room) {
  if (!room) check(${runtime}Malloc((void **)&room, most_threads * sizeof(T)));
  return room;
}

template <class T> T first(const T *room, ${runtime}Stream_t stream) {
  T value;
  check(${runtime}MemcpyAsync(&value, room, sizeof(T), ${runtime}MemcpyDeviceToHost, stream));
  check(${runtime}StreamSynchronize(stream));
  return value;
}

}  // namespace f
`;
