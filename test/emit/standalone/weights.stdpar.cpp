// Kernel "weights" (cases.ts), written by isoform as C++20 with parallel algorithms, fast.
// On the host: g++ -std=c++20 -O3 -fwrapv -fno-math-errno -fno-trapping-math -ffp-contract=fast -march=native -fopenmp-simd -c weights.stdpar.cpp, linked with -ltbb
// On a GPU:    nvc++ -std=c++20 -O3 -Mfma -stdpar=gpu -gpu=mem:unified -c weights.stdpar.cpp
#include <algorithm>
#include <atomic>
#include <compare>
#include <execution>
#include <functional>
#include <iterator>
#include <math.h>
#include <numeric>
#include <stdint.h>
#include <stdlib.h>

namespace {

// As the iterators of std::views::iota, which libstdc++ takes for input iterators and so runs on one thread.
struct counter {
  using iterator_category = std::random_access_iterator_tag;
  using value_type = int64_t;
  using difference_type = int64_t;
  using pointer = const int64_t *;
  using reference = int64_t;
  int64_t n = 0;
  int64_t operator*() const { return n; }
  int64_t operator[](int64_t k) const { return n + k; }
  counter &operator++() { n++; return *this; }
  counter &operator--() { n--; return *this; }
  counter operator++(int) { return {n++}; }
  counter operator--(int) { return {n--}; }
  counter &operator+=(int64_t k) { n += k; return *this; }
  counter &operator-=(int64_t k) { n -= k; return *this; }
  friend counter operator+(counter a, int64_t k) { return {a.n + k}; }
  friend counter operator+(int64_t k, counter a) { return {a.n + k}; }
  friend counter operator-(counter a, int64_t k) { return {a.n - k}; }
  friend int64_t operator-(counter a, counter b) { return a.n - b.n; }
  auto operator<=>(const counter &) const = default;
};

}

static inline int32_t i32_from_f64(double a) { return !(fabs(a) >= 1) ? 0 : a >= 2147483648.0 ? 2147483647 : a > -2147483649.0 ? (int32_t)a : -2147483647 - 1; }

/*
 * Runs kernel "weights" over a range.
 *   x_                element 0 of an array of rank 1, read
 *   x_extent0_        elements
 *   w_                element 0 of an array of rank 1, read
 *   w_extent0_        elements
 *   h_                element 0 of an array of rank 1, added into at any index
 *   h_extent0_        elements
 *   i_begin_, i_end_  first index of the range and the one after its last, along each axis
 * Arrays may not share memory.
 * Returns 0.
 */
extern "C" int weights_launch(
  const double *__restrict__ x_,
  int32_t x_extent0_,
  const double *__restrict__ w_,
  int32_t w_extent0_,
  double *__restrict__ h_,
  int32_t h_extent0_,
  int64_t i_begin_, int64_t i_end_
)
{
  const int64_t i_count = i_end_ > i_begin_ ? i_end_ - i_begin_ : 0;
  const int64_t elements = i_count;
  std::for_each(std::execution::par, counter{0}, counter{elements}, [=](const int64_t element) {
    const int64_t i = i_begin_ + element;
    std::atomic_ref<double>(h_[i32_from_f64(x_[i])]).fetch_add(w_[i], std::memory_order_relaxed);  // line 45
  });
  return 0;
}
