// Kernel "rowSums" (kernels.ts), written by isoform.
#include <math.h>
#include <stdbool.h>
#include <stdint.h>
#ifdef _OPENMP
#include <omp.h>
#endif

struct rowSums_args {
  const double *a;
  double *s;
  int64_t a_stride0;
  int64_t workers;
  int64_t units;
  int32_t a_extent1;
};

__attribute__((noinline))
static void rowSums_part(const double *restrict a, double *restrict s, int64_t a_stride0, int32_t a_extent1, int64_t first, int64_t last) {
  for (int64_t team = first; team < last; team++) {
    double sum_;  // line 22
    {
      const int64_t j_count = a_extent1;
      double sum__lanes[8] = {0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0};
      const int64_t rest = j_count - j_count % 8;
      for (int64_t group = 0; group < rest; group += 8) {
        #pragma omp simd
        for (int64_t lane = 0; lane < 8; lane++) {
          const int64_t j = group + lane;
          double sum__lane = sum__lanes[lane];
          sum__lane += a[team * a_stride0 + j];
          sum__lanes[lane] = sum__lane;
        }
      }
      for (int64_t lane = 0; lane < j_count - rest; lane++) {
        const int64_t j = rest + lane;
        double sum__lane = sum__lanes[lane];
        sum__lane += a[team * a_stride0 + j];
        sum__lanes[lane] = sum__lane;
      }
      for (int step = 4; step > 0; step /= 2) {
        for (int k = 0; k < step; k++) {
          sum__lanes[k] = sum__lanes[k] + sum__lanes[k + step];
        }
      }
      sum_ = sum__lanes[0];
    }
    {
      s[team] = sum_;  // line 24
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

void rowSums_kernel(struct rowSums_args *args) {
  #pragma omp parallel num_threads(args->workers)
  {
    #ifdef _OPENMP
    const int64_t worker = omp_get_thread_num(), workers = omp_get_num_threads();
    #else
    const int64_t worker = 0, workers = 1;
    #endif
    int64_t first = 0, last = args->units;
    share(&first, &last, 1, worker, workers);
    rowSums_part(args->a, args->s, args->a_stride0, args->a_extent1, first, last);
  }
}
