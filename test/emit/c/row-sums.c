// Kernel "rowSums" (kernels.ts), written by isoform.
#include <math.h>
#include <stdbool.h>
#include <stdint.h>
#ifdef _OPENMP
#include <omp.h>
#endif

struct rowSums_args_ {
  const double *a_;
  double *s_;
  int64_t a_stride0_;
  int64_t workers;
  int64_t units;
  int32_t a_extent1_;
};

__attribute__((noinline))
static void rowSums_part_(
    const double *restrict a_,
    double *restrict s_,
    int64_t a_stride0_,
    int32_t a_extent1_,
    int64_t first,
    int64_t last) {
  for (int64_t team = first; team < last; team++) {
    double sum_;  // line 22
    {
      const int64_t j_count_ = a_extent1_;
      double sum_lanes_[8] = {0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0};
      const int64_t rest_ = j_count_ - j_count_ % 8;
      for (int64_t group_ = 0; group_ < rest_; group_ += 8) {
        #pragma omp simd
        for (int64_t lane_ = 0; lane_ < 8; lane_++) {
          const int64_t j_ = group_ + lane_;
          double sum_lane_ = sum_lanes_[lane_];
          sum_lane_ += a_[team * a_stride0_ + j_];
          sum_lanes_[lane_] = sum_lane_;
        }
      }
      for (int64_t lane_ = 0; lane_ < j_count_ - rest_; lane_++) {
        const int64_t j_ = rest_ + lane_;
        double sum_lane_ = sum_lanes_[lane_];
        sum_lane_ += a_[team * a_stride0_ + j_];
        sum_lanes_[lane_] = sum_lane_;
      }
      for (int step = 4; step > 0; step /= 2) {
        for (int k = 0; k < step; k++) {
          sum_lanes_[k] = sum_lanes_[k] + sum_lanes_[k + step];
        }
      }
      sum_ = sum_lanes_[0];
    }
    {
      s_[team] = sum_;  // line 24
    }
  }
}

// Narrows begin..end to the worker's share, in multiples of grain.
static inline void share(int64_t *begin, int64_t *end, int64_t grain, int64_t worker, int64_t workers) {
  const int64_t grains = (*end - *begin + grain - 1) / grain;
  const int64_t last = *begin + grains * (worker + 1) / workers * grain;
  *begin += grains * worker / workers * grain;
  if (last < *end) *end = last;
}

void rowSums_kernel_(struct rowSums_args_ *args) {
  #pragma omp parallel num_threads(args->workers)
  {
    #ifdef _OPENMP
    const int64_t worker = omp_get_thread_num(), workers = omp_get_num_threads();
    #else
    const int64_t worker = 0, workers = 1;
    #endif
    int64_t first = 0, last = args->units;
    share(&first, &last, 1, worker, workers);
    rowSums_part_(args->a_, args->s_, args->a_stride0_, args->a_extent1_, first, last);
  }
}
