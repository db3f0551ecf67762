// Kernel "blocks" (cases.ts), written by isoform as SYCL 2020, fast.
// icpx -fsycl -O3 -c blocks.sycl.cpp
// acpp -O3 -c blocks.sycl.cpp
#include <cstdint>
#include <limits>
#include <sycl/sycl.hpp>
#include <vector>

static int32_t n__fold(int32_t *partials, int64_t count) {
  if (count == 0) return 0;
  for (; count > 1; count = (count + 255) / 256) {
    for (int64_t begin = 0; begin < count; begin += 256) {
      const int64_t end = begin + 256 < count ? begin + 256 : count;
      int32_t lanes[8] = {0, 0, 0, 0, 0, 0, 0, 0};
      for (int64_t n = begin; n < end; n++) {
        lanes[n % 8] = (int32_t)((uint32_t)lanes[n % 8] + (uint32_t)partials[n]);
      }
      for (int step = 4; step > 0; step /= 2) {
        for (int k = 0; k < step; k++) {
          lanes[k] = (int32_t)((uint32_t)lanes[k] + (uint32_t)lanes[k + step]);
        }
      }
      partials[begin / 256] = lanes[0];
    }
  }
  return partials[0];
}

/*
 * Runs kernel "blocks" over a league of teams.
 *   a_                      element 0 of an array of rank 2, read
 *   a_extent0_, a_extent1_  indices along each axis
 *   a_stride0_              elements from one index of an axis to the next
 *   s_                      element 0 of an array of rank 1, written
 *   s_extent0_              elements
 *   n_                      takes the sum; 0 for an empty range
 *   league_                 teams
 * Strides of 1 are compiled in: a's along axis 1.
 * Arrays may not share memory.
 * Arrays are in memory that the queue's device reaches by address (malloc_device, malloc_shared); results are in the host's.
 * Waits for the results. Passes on SYCL's exceptions.
 */
sycl::event blocks_launch(
  const float *a_,
  int32_t a_extent0_, int32_t a_extent1_,
  int64_t a_stride0_,
  float *s_,
  int32_t s_extent0_,
  int32_t *n_,
  int32_t league_,
  sycl::queue &queue
)
{
  int32_t *n_partials_ = sycl::malloc_device<int32_t>(league_ + 1, queue);
  std::vector<int32_t> n_host_(league_ + 1);
  sycl::event done;
  if (league_ > 0) {
    done = queue.parallel_for(sycl::range<1>((size_t)league_), [=](sycl::id<1> at) {
      const int64_t team = (int64_t)at[0];
      int32_t n_2_ = 0;
      float part_[8];  // line 72
      const int64_t j_count_ = 8;
      for (int64_t j_ = 0; j_ < j_count_; j_++) {
        float own_ = 0.0f;  // line 74
        for (int64_t k_ = j_; k_ < a_extent1_; k_ += 8) {  // line 75
          own_ = own_ + a_[team * a_stride0_ + k_];
        }
        part_[j_] = own_;  // line 76
      }
      {
        s_[team] = part_[0] + part_[1] + part_[2] + part_[3] + part_[4] + part_[5] + part_[6] + part_[7];  // line 79
      }
      n_2_ = (int32_t)((uint32_t)n_2_ + (uint32_t)(1));  // line 81
      n_partials_[team] = n_2_;
    });
    queue.copy(n_partials_, n_host_.data(), (size_t)league_, done).wait();
  }
  *n_ = n__fold(n_host_.data(), league_);
  sycl::free(n_partials_, queue);
  return done;
}
