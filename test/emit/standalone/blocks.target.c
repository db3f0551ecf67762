// Kernel "blocks" (cases.ts), written by isoform as C with OpenMP offloading, strict.
// On the host: gcc -std=gnu11 -O3 -fwrapv -fno-math-errno -fno-trapping-math -ffp-contract=off -fno-tree-slp-vectorize -fopenmp -foffload=disable -c blocks.target.c
// On a GPU:    clang -std=gnu11 -O3 -fwrapv -fno-math-errno -fno-trapping-math -ffp-contract=off -fno-tree-slp-vectorize -fopenmp --offload-arch=sm_80 -c blocks.target.c
#include <math.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>

static int32_t n__fold(int32_t *partials, int64_t count) {
  if (count == 0) return 0;
  for (; count > 1; count = (count + 255) / 256) {
    for (int64_t begin = 0; begin < count; begin += 256) {
      const int64_t end = begin + 256 < count ? begin + 256 : count;
      int32_t lanes[8] = {0, 0, 0, 0, 0, 0, 0, 0};
      for (int64_t n = begin; n < end; n++) {
        lanes[n % 8] = lanes[n % 8] + partials[n];
      }
      for (int step = 4; step > 0; step /= 2) {
        for (int k = 0; k < step; k++) {
          lanes[k] = lanes[k] + lanes[k + step];
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
 * Returns 0, or 1 if there is no memory for partial results.
 */
int blocks_launch(
  const float *restrict a_,
  int32_t a_extent0_, int32_t a_extent1_,
  int64_t a_stride0_,
  float *restrict s_,
  int32_t s_extent0_,
  int32_t *restrict n_,
  int32_t league_
)
{
  const int64_t a_span_ = a_extent0_ == 0 || a_extent1_ == 0 ? 0 : 1 + (a_extent0_ - 1) * a_stride0_ + (a_extent1_ - 1);
  int32_t *n_partials_ = (int32_t *)malloc((league_ + 1) * sizeof(int32_t));
  if (!n_partials_) { free(n_partials_); return 1; }
  #pragma omp target teams distribute parallel for \
    map(to: a_[0:a_span_]) \
    map(tofrom: s_[0:s_extent0_]) \
    map(from: n_partials_[0:league_])
  for (int64_t team = 0; team < league_; team++) {
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
    n_2_ += 1;  // line 81
    n_partials_[team] = n_2_;
  }
  *n_ = n__fold(n_partials_, league_);
  free(n_partials_);
  return 0;
}
