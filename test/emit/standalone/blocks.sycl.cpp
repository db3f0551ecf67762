// Kernel "blocks" (cases.ts), written by isoform as SYCL 2020, fast.
// icpx -fsycl -O3 -c blocks.sycl.cpp
// acpp -O3 -c blocks.sycl.cpp
#include <cstdint>
#include <limits>
#include <vector>
#include <sycl/sycl.hpp>

static int32_t fold_n(int32_t *partials, int64_t count) {
  if (count == 0) return 0;
  for (; count > 1; count = (count + 255) / 256) {
    for (int64_t begin = 0; begin < count; begin += 256) {
      const int64_t end = begin + 256 < count ? begin + 256 : count;
      int32_t lanes[8] = {0, 0, 0, 0, 0, 0, 0, 0};
      for (int64_t n = begin; n < end; n++) lanes[n % 8] = (int32_t)((uint32_t)lanes[n % 8] + (uint32_t)partials[n]);
      for (int step = 4; step > 0; step /= 2)
        for (int k = 0; k < step; k++) lanes[k] = (int32_t)((uint32_t)lanes[k] + (uint32_t)lanes[k + step]);
      partials[begin / 256] = lanes[0];
    }
  }
  return partials[0];
}

/*
 * Runs kernel "blocks" over a league of teams.
 *   a                     element 0 of an array of rank 2, read
 *   a_extent0, a_extent1  indices along each axis
 *   a_stride0             elements from one index of an axis to the next
 *   s                     element 0 of an array of rank 1, written
 *   s_extent0             elements
 *   n                     takes the sum; 0 for an empty range
 *   league                teams
 * Strides of 1 are compiled in: a's along axis 1.
 * Arrays may not share memory.
 * Arrays are in memory that the queue's device reaches by address (malloc_device, malloc_shared); results are in the host's.
 * Waits for the results. Throws what SYCL throws.
 */
sycl::event blocks_launch(
  const float *a,
  int32_t a_extent0, int32_t a_extent1,
  int64_t a_stride0,
  float *s,
  int32_t s_extent0,
  int32_t *n,
  int32_t league,
  sycl::queue &queue
)
{
  int32_t *n_partials = sycl::malloc_device<int32_t>(league + 1, queue);
  std::vector<int32_t> n_host(league + 1);
  sycl::event done;
  if (league > 0) {
    done = queue.parallel_for(sycl::range<1>((size_t)league), [=](sycl::id<1> at) {
      const int64_t team = (int64_t)at[0];
      int32_t n_2 = 0;
      float part[8];  // line 66
      const int64_t j_count = 8;
      for (int64_t j = 0; j < j_count; j++) {
        float own = 0.0f;  // line 68
        for (int64_t k = j; k < a_extent1; k += 8) {  // line 69
          own = own + a[team * a_stride0 + k];
        }
        part[j] = own;  // line 70
      }
      {
        s[team] = part[0] + part[1] + part[2] + part[3] + part[4] + part[5] + part[6] + part[7];  // line 73
      }
      n_2 += 1;  // line 75
      n_partials[team] = n_2;
    });
    queue.copy(n_partials, n_host.data(), (size_t)league, done).wait();
  }
  *n = fold_n(n_host.data(), league);
  sycl::free(n_partials, queue);
  return done;
}
