// As much of SYCL 2020 as emitted code uses, on one thread of the host: for checking it where there is no compiler for SYCL.
#pragma once
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <cstring>

namespace sycl {

using std::abs, std::acos, std::asin, std::atan, std::atan2, std::cbrt, std::ceil, std::cos, std::cosh, std::exp, std::exp2, std::expm1;
using std::copysign, std::fabs, std::floor, std::fmod, std::hypot, std::log, std::log10, std::log1p, std::log2, std::pow, std::sin, std::sinh, std::sqrt;
using std::tan, std::tanh, std::trunc;

inline uint32_t clz(uint32_t a) { return a == 0 ? 32 : __builtin_clz(a); }
inline uint32_t mul_hi(uint32_t a, uint32_t b) { return (uint32_t)(((uint64_t)a * b) >> 32); }

template <int D> struct range {
  size_t sizes[D];
  template <typename... S> explicit range(S... s) : sizes{s...} { static_assert(sizeof...(s) == D); }
};

template <int D> struct id {
  size_t at[D];
  size_t operator[](int axis) const { return at[axis]; }
};

struct event {
  void wait() {}
};

struct queue {
  template <int D, typename F> event parallel_for(range<D> all, F body) {
    size_t count = 1;
    for (size_t size : all.sizes) count *= size;
    for (size_t n = 0; n < count; n++) {
      id<D> at;
      size_t rest = n;
      for (int axis = D - 1; axis >= 0; axis--) {
        at.at[axis] = rest % all.sizes[axis];
        rest /= all.sizes[axis];
      }
      body(at);
    }
    return {};
  }
  template <typename F> event single_task(F body) {
    body();
    return {};
  }
  template <typename T> event copy(const T *from, T *to, size_t count, event) {
    std::memcpy(to, from, count * sizeof(T));
    return {};
  }
};

template <typename T> T *malloc_device(size_t count, queue &) { return new T[count]; }
template <typename T> void free(T *memory, queue &) { delete[] memory; }

enum class memory_order { relaxed };
enum class memory_scope { device };

template <typename T, memory_order, memory_scope> struct atomic_ref {
  T &place;
  explicit atomic_ref(T &place) : place(place) {}
  T exchange(T value) { T old = place; place = value; return old; }
  T load() { return place; }
  T fetch_add(T value) { return exchange(place + value); }
  T fetch_min(T value) { return exchange(value < place ? value : place); }
  T fetch_max(T value) { return exchange(value > place ? value : place); }
  T fetch_and(T value) { return exchange(place & value); }
  T fetch_or(T value) { return exchange(place | value); }
  T fetch_xor(T value) { return exchange(place ^ value); }
  bool compare_exchange_strong(T &expected, T value) {
    const T old = place;
    const bool same = old == expected;
    if (same) place = value;
    expected = old;
    return same;
  }
};

} // namespace sycl
