// Kernel "dot" (kernels.ts), written by isoform.
#include <math.h>
#include <stdbool.h>
#include <stdint.h>
#ifdef _OPENMP
#include <omp.h>
#endif

struct dot_args_ {
  const double *x_;
  const double *y_;
  double *s__partials;
  double s__result;
  double *s__output;
  int64_t workers;
  int64_t folds;
  int64_t units;
  int64_t begin;
  int64_t end;
};

__attribute__((noinline))
static void dot_part_(
    const double *restrict x_,
    const double *restrict y_,
    int64_t begin0,
    int64_t end0,
    double *restrict s__partials,
    int64_t first,
    int64_t last) {
  const int64_t chunks = (end0 - begin0 + 255) / 256;
  for (int64_t partial = first; partial < last; partial++) {
    const int64_t begin = begin0 + partial % chunks * 256;
    const int64_t end = begin + 256 < end0 ? begin + 256 : end0;
    double s_lanes_[8] = {0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0};
    const int64_t rest_ = end - (end - begin) % 8;
    for (int64_t group_ = begin; group_ < rest_; group_ += 8) {
      #pragma omp simd
      for (int64_t lane_ = 0; lane_ < 8; lane_++) {
        const int64_t i = group_ + lane_;
        double s_lane_ = s_lanes_[lane_];
        s_lane_ += x_[i] * y_[i];  // line 14
        s_lanes_[lane_] = s_lane_;
      }
    }
    for (int64_t lane_ = 0; lane_ < end - rest_; lane_++) {
      const int64_t i = rest_ + lane_;
      double s_lane_ = s_lanes_[lane_];
      s_lane_ += x_[i] * y_[i];
      s_lanes_[lane_] = s_lane_;
    }
    for (int step = 4; step > 0; step /= 2) {
      for (int k = 0; k < step; k++) {
        s_lanes_[k] = s_lanes_[k] + s_lanes_[k + step];
      }
    }
    s__partials[partial] = s_lanes_[0];
  }
}

static double s__fold(double *partials, int64_t count) {
  if (count == 0) return 0.0;
  for (; count > 1; count = (count + 255) / 256) {
    for (int64_t begin = 0; begin < count; begin += 256) {
      const int64_t end = begin + 256 < count ? begin + 256 : count;
      double lanes[8] = {0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0};
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

// Narrows begin..end to the worker's share, in multiples of grain.
static inline void share(int64_t *begin, int64_t *end, int64_t grain, int64_t worker, int64_t workers) {
  const int64_t grains = (*end - *begin + grain - 1) / grain;
  const int64_t last = *begin + grains * (worker + 1) / workers * grain;
  *begin += grains * worker / workers * grain;
  if (last < *end) *end = last;
}

void dot_kernel_(struct dot_args_ *args) {
  #pragma omp parallel num_threads(args->workers)
  {
    #ifdef _OPENMP
    const int64_t worker = omp_get_thread_num(), workers = omp_get_num_threads();
    #else
    const int64_t worker = 0, workers = 1;
    #endif
    int64_t first = 0, last = args->units;
    share(&first, &last, 1, worker, workers);
    dot_part_(args->x_, args->y_, args->begin, args->end, args->s__partials, first, last);
  }
  if (!args->folds) return;
  args->s__result = s__fold(args->s__partials, args->units);
  if (args->s__output) *args->s__output = args->s__result;
}
