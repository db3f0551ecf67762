// Kernel "rowSums" (kernels.ts), written by isoform.
__device__ inline void in_turn() {
#if __CUDA_ARCH__ >= 900
  asm volatile("griddepcontrol.launch_dependents;");
  asm volatile("griddepcontrol.wait;" ::: "memory");
#endif
}

extern "C" __global__ void __launch_bounds__(256) rowSums_kernel(
  const double *__restrict__ a, double *__restrict__ s, const int league, const int a_extent1, const int a_stride0
) {
  __shared__ double sum__warps[32];
  in_turn();
  const int thread = threadIdx.x;
  const int threads = blockDim.x;
  for (int team = blockIdx.x; team < league; team += gridDim.x) {
    double sum_;
    {
      double sum__part = 0.0;
      for (int j = thread; j < a_extent1; j += threads) {
        sum__part += a[team * a_stride0 + j];  // line 22
      }
      for (int step = 16; step > 0; step /= 2) {
        sum__part += __shfl_xor_sync(~0u, sum__part, step);
      }
      if (thread % 32 == 0) sum__warps[thread / 32] = sum__part;
      __syncthreads();
      sum_ = sum__warps[0];
      for (int warp = 1; warp < threads / 32; warp++) {
        sum_ += sum__warps[warp];
      }
    }
    __syncthreads();
    if (thread == 0) {
      s[team] = sum_;  // line 24
    }
    __syncthreads();
  }
}
