// Kernel "axpy" (kernels.ts), written by isoform.
#include <math.h>
#include <stdbool.h>
#include <stdint.h>
#ifdef _OPENMP
#include <omp.h>
#endif

struct axpy_args_ {
  double a_;
  const double *x_;
  double *y_;
  int64_t workers;
  int64_t split;
  int64_t grain;
  int64_t begin;
  int64_t end;
};

__attribute__((noinline))
static void axpy_part_(double a_, const double *restrict x_, double *restrict y_, int64_t begin0, int64_t end0) {
  #pragma omp simd
  for (int64_t i = begin0; i < end0; i++) {
    y_[i] = a_ * x_[i] + y_[i];  // line 6
  }
}

// Narrows begin..end to the worker's share, in multiples of grain.
static inline void share(int64_t *begin, int64_t *end, int64_t grain, int64_t worker, int64_t workers) {
  const int64_t grains = (*end - *begin + grain - 1) / grain;
  const int64_t last = *begin + grains * (worker + 1) / workers * grain;
  *begin += grains * worker / workers * grain;
  if (last < *end) *end = last;
}

void axpy_kernel_(struct axpy_args_ *args) {
  #pragma omp parallel num_threads(args->workers)
  {
    #ifdef _OPENMP
    const int64_t worker = omp_get_thread_num(), workers = omp_get_num_threads();
    #else
    const int64_t worker = 0, workers = 1;
    #endif
    int64_t begin[] = {args->begin};
    int64_t end[] = {args->end};
    share(&begin[args->split], &end[args->split], args->grain, worker, workers);
    axpy_part_(args->a_, args->x_, args->y_, begin[0], end[0]);
  }
}
