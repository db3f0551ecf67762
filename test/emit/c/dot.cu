// Kernel "dot" (kernels.ts), written by isoform.
__device__ inline void start_next() {
#if __CUDA_ARCH__ >= 900
  asm volatile("griddepcontrol.launch_dependents;");
#endif
}
__device__ inline void in_turn() {
#if __CUDA_ARCH__ >= 900
  asm volatile("griddepcontrol.wait;" ::: "memory");
#endif
}

extern "C" __global__ void __launch_bounds__(256) dot_kernel(
  const double *__restrict__ x_, const double *__restrict__ y_, const int chunks_, const int i_begin_, const int i_end_,
  double *__restrict__ s_partials_
) {
  start_next();
  in_turn();
  const int lane_ = (int)(threadIdx.x % 8);
  const int chunk_ = (int)blockIdx.x * 32 + (int)(threadIdx.x / 8);
  double s_ = 0.0;
  if (chunk_ < chunks_) {
    const int start_ = i_begin_ + chunk_ * 256;
    const int stop_ = start_ + 256 < i_end_ ? start_ + 256 : i_end_;
    #pragma unroll 4
    for (int i = start_ + lane_; i < stop_; i += 8) {
      s_ += x_[i] * y_[i];  // line 14
    }
  }
  for (int step_ = 4; step_ > 0; step_ /= 2) {
    s_ += __shfl_down_sync(~0u, s_, step_);
  }
  if (lane_ == 0 && chunk_ < chunks_) s_partials_[chunk_] = s_;
}

extern "C" __global__ void __launch_bounds__(256) dot_kernel_fold(
  double *s_partials_, double *s_folded_, const long long partial_count_
) {
  start_next();
  in_turn();
  const long long chunk = (long long)blockIdx.x * 32 + (long long)(threadIdx.x / 8);
  {
    double total = 0.0;
    const long long stop = (chunk + 1) * 256 < partial_count_ ? (chunk + 1) * 256 : partial_count_;
    for (long long n = chunk * 256 + (long long)(threadIdx.x % 8); n < stop; n += 8) {
      total += s_partials_[n];
    }
    for (int step_ = 4; step_ > 0; step_ /= 2) {
      total += __shfl_down_sync(~0u, total, step_);
    }
    if (threadIdx.x % 8 == 0 && chunk * 256 < partial_count_) s_folded_[chunk] = total;
  }
}

extern "C" __global__ void __launch_bounds__(1024) dot_kernel_finish(
  double *s_partials_, double *s_folded_, const long long partial_count_, double *s_output_, long long *results_
) {
  start_next();
  in_turn();
  {
    double *from = s_partials_;
    double *to = s_folded_;
    long long count = partial_count_;
    while (count > 1) {
      const long long chunks = (count + 255) / 256;
      for (long long first = 0; first < chunks; first += 128) {
        const long long chunk = first + (long long)(threadIdx.x / 8);
        {
          double total = 0.0;
          const long long stop = (chunk + 1) * 256 < count ? (chunk + 1) * 256 : count;
          for (long long n = chunk * 256 + (long long)(threadIdx.x % 8); n < stop; n += 8) {
            total += from[n];
          }
          for (int step_ = 4; step_ > 0; step_ /= 2) {
            total += __shfl_down_sync(~0u, total, step_);
          }
          if (threadIdx.x % 8 == 0 && chunk * 256 < count) to[chunk] = total;
        }
      }
      __syncthreads();
      double *const folded = to;
      to = from;
      from = folded;
      count = chunks;
    }
    if (threadIdx.x == 0) {
      const double result = count == 1 ? from[0] : 0.0;
      *(double *)(results_ + 0) = result;
      if (s_output_ != 0) s_output_[0] = result;
    }
  }
}
