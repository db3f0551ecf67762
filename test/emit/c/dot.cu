// Kernel "dot" (kernels.ts), written by isoform.
__device__ inline void in_turn() {
#if __CUDA_ARCH__ >= 900
  asm volatile("griddepcontrol.launch_dependents;");
  asm volatile("griddepcontrol.wait;" ::: "memory");
#endif
}

extern "C" __global__ void __launch_bounds__(256) dot_kernel(
  const double *__restrict__ x, const double *__restrict__ y, const int chunks, const int i_begin, const int i_end,
  double *__restrict__ s_partials
) {
  in_turn();
  const int lane = threadIdx.x % 8;
  const int chunk = (int)blockIdx.x * 32 + threadIdx.x / 8;
  double s = 0.0;
  if (chunk < chunks) {
    const int start = i_begin + chunk * 256;
    const int stop = start + 256 < i_end ? start + 256 : i_end;
    #pragma unroll 4
    for (int i = start + lane; i < stop; i += 8) {
      s += x[i] * y[i];  // line 14
    }
  }
  for (int step = 4; step > 0; step /= 2) {
    s += __shfl_down_sync(~0u, s, step);
  }
  if (lane == 0 && chunk < chunks) {
    s_partials[chunk] = s;
  }
}

extern "C" __global__ void __launch_bounds__(256) dot_kernel_fold(
  double *s_partials, double *s_folded, const long long partial_count
) {
  in_turn();
  const long long chunk = (long long)blockIdx.x * 32 + threadIdx.x / 8;
  {
    double total = 0.0;
    const long long stop = (chunk + 1) * 256 < partial_count ? (chunk + 1) * 256 : partial_count;
    for (long long n = chunk * 256 + threadIdx.x % 8; n < stop; n += 8) {
      total += s_partials[n];
    }
    for (int step = 4; step > 0; step /= 2) {
      total += __shfl_down_sync(~0u, total, step);
    }
    if (threadIdx.x % 8 == 0 && chunk * 256 < partial_count) s_folded[chunk] = total;
  }
}

extern "C" __global__ void __launch_bounds__(1024) dot_kernel_finish(
  double *s_partials, double *s_folded, const long long partial_count, double *s_output, long long *results
) {
  in_turn();
  {
    double *from = s_partials;
    double *to = s_folded;
    long long count = partial_count;
    while (count > 1) {
      const long long chunks = (count + 255) / 256;
      for (long long first = 0; first < chunks; first += 128) {
        const long long chunk = first + threadIdx.x / 8;
        {
          double total = 0.0;
          const long long stop = (chunk + 1) * 256 < count ? (chunk + 1) * 256 : count;
          for (long long n = chunk * 256 + threadIdx.x % 8; n < stop; n += 8) {
            total += from[n];
          }
          for (int step = 4; step > 0; step /= 2) {
            total += __shfl_down_sync(~0u, total, step);
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
      { *(double *)(results + 0) = result; if (s_output) *s_output = result; }
    }
  }
}
