// Kernel "laplace" (kernels.ts), written by isoform.
#include <math.h>
#include <stdbool.h>
#include <stdint.h>
#ifdef _OPENMP
#include <omp.h>
#endif

struct laplace_args_ {
  const double *p_;
  double *s_;
  int64_t p_stride0_;
  int64_t p_stride1_;
  int64_t workers;
  int64_t split;
  int64_t grain;
  int64_t begin[3];
  int64_t end[3];
};

__attribute__((noinline))
static void laplace_part_(
    const double *restrict p_,
    double *restrict s_,
    int64_t p_stride0_,
    int64_t p_stride1_,
    int64_t begin0,
    int64_t end0,
    int64_t begin1,
    int64_t end1,
    int64_t begin2,
    int64_t end2) {
  for (int64_t i = begin0; i < end0; i++) {
    for (int64_t j = begin1; j < end1; j++) {
      #pragma omp simd
      for (int64_t k = begin2; k < end2; k++) {
        s_[i * p_stride0_ + j * p_stride1_ + k] = 6.0 * p_[i * p_stride0_ + j * p_stride1_ + k] - p_[(i - 1) * p_stride0_ + j * p_stride1_ + k] - p_[(i + 1) * p_stride0_ + j * p_stride1_ + k] - p_[i * p_stride0_ + (j - 1) * p_stride1_ + k] - p_[i * p_stride0_ + (j + 1) * p_stride1_ + k] - p_[i * p_stride0_ + j * p_stride1_ + k - 1] - p_[i * p_stride0_ + j * p_stride1_ + k + 1];  // line 10
      }
    }
  }
}

// Stores a cache line past the caches; both pointers are aligned to it.
static inline void stream_line(void *to, const void *from) {
#if defined(__AVX512F__)
  typedef long long part __attribute__((vector_size(64), may_alias));
#elif defined(__AVX__)
  typedef long long part __attribute__((vector_size(32), may_alias));
#else
  typedef long long part __attribute__((vector_size(16), may_alias));
#endif
  for (unsigned n = 0; n < 64 / sizeof(part); n++) {
#if defined(__clang__)
    __builtin_nontemporal_store(((const part *)from)[n], (part *)to + n);
#elif defined(__AVX512F__)
    __builtin_ia32_movntdq512((part *)to + n, ((const part *)from)[n]);
#elif defined(__AVX__)
    __builtin_ia32_movntdq256((part *)to + n, ((const part *)from)[n]);
#elif defined(__SSE2__)
    __builtin_ia32_movntdq((part *)to + n, ((const part *)from)[n]);
#else
    ((part *)to)[n] = ((const part *)from)[n];
#endif
  }
}

static inline void finish_streams(void) {
#if defined(__SSE2__)
  __builtin_ia32_sfence();
#endif
}

__attribute__((noinline))
static void laplace_streamed_(
    const double *restrict p_,
    double *restrict s_,
    int64_t p_stride0_,
    int64_t p_stride1_,
    int64_t begin0,
    int64_t end0,
    int64_t begin1,
    int64_t end1,
    int64_t begin2,
    int64_t end2) {
  for (int64_t i = begin0; i < end0; i++) {
    for (int64_t j = begin1; j < end1; j++) {
      int64_t cache_line_ = begin2;
      const int64_t unaligned = -(uintptr_t)&s_[i * p_stride0_ + j * p_stride1_ + cache_line_] % 64 / 8;
      const int64_t lines = begin2 + unaligned < end2 ? begin2 + unaligned : end2;
      const int64_t lines_end = end2 - (end2 - lines) % 8;
      for (cache_line_ = lines; cache_line_ < lines_end; cache_line_ += 8) {
        _Alignas(64) double s_line_[8];
        #pragma omp simd
        for (int64_t lane_ = 0; lane_ < 8; lane_++) {
          const int64_t k = cache_line_ + lane_;
          s_line_[lane_] = 6.0 * p_[i * p_stride0_ + j * p_stride1_ + k] - p_[(i - 1) * p_stride0_ + j * p_stride1_ + k] - p_[(i + 1) * p_stride0_ + j * p_stride1_ + k] - p_[i * p_stride0_ + (j - 1) * p_stride1_ + k] - p_[i * p_stride0_ + (j + 1) * p_stride1_ + k] - p_[i * p_stride0_ + j * p_stride1_ + k - 1] - p_[i * p_stride0_ + j * p_stride1_ + k + 1];  // line 10
        }
        stream_line(&s_[i * p_stride0_ + j * p_stride1_ + cache_line_], s_line_);
      }
      for (int side = 0; side < 2; side++) {
        laplace_part_(p_, s_, p_stride0_, p_stride1_, i, i + 1, j, j + 1, (side ? lines_end : begin2), (side ? end2 : lines));
      }
    }
  }
  finish_streams();
}

// Narrows begin..end to the worker's share, in multiples of grain.
static inline void share(int64_t *begin, int64_t *end, int64_t grain, int64_t worker, int64_t workers) {
  const int64_t grains = (*end - *begin + grain - 1) / grain;
  const int64_t last = *begin + grains * (worker + 1) / workers * grain;
  *begin += grains * worker / workers * grain;
  if (last < *end) *end = last;
}

void laplace_kernel_(struct laplace_args_ *args) {
  #pragma omp parallel num_threads(args->workers)
  {
    #ifdef _OPENMP
    const int64_t worker = omp_get_thread_num(), workers = omp_get_num_threads();
    #else
    const int64_t worker = 0, workers = 1;
    #endif
    int64_t begin[] = {args->begin[0], args->begin[1], args->begin[2]};
    int64_t end[] = {args->end[0], args->end[1], args->end[2]};
    share(&begin[args->split], &end[args->split], args->grain, worker, workers);
    laplace_streamed_(args->p_, args->s_, args->p_stride0_, args->p_stride1_, begin[0], end[0], begin[1], end[1], begin[2], end[2]);
  }
}
