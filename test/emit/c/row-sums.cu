// Kernel "rowSums" (kernels.ts), written by isoform.
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

extern "C" __global__ void __launch_bounds__(256) rowSums_kernel(
  const double *__restrict__ a_, double *__restrict__ s_, const int league_, const int a_extent1_, const int a_stride0_
) {
  __shared__ double sum_warps_[32];
  start_next();
  in_turn();
  const int thread = (int)threadIdx.x;
  const int threads = (int)blockDim.x;
  for (int team = (int)blockIdx.x; team < league_; team += gridDim.x) {
    double sum_;  // line 22
    {
      double sum_part_ = 0.0;
      for (int j_ = thread; j_ < a_extent1_; j_ += threads) {
        sum_part_ += a_[team * a_stride0_ + j_];
      }
      for (int step = 16; step > 0; step /= 2) {
        sum_part_ += __shfl_xor_sync(~0u, sum_part_, step);
      }
      if (thread % 32 == 0) sum_warps_[thread / 32] = sum_part_;
      __syncthreads();
      sum_ = sum_warps_[0];
      for (int warp = 1; warp < threads / 32; warp++) {
        sum_ += sum_warps_[warp];
      }
    }
    __syncthreads();
    if (thread == 0) {  // line 23
      s_[team] = sum_;  // line 24
    }
    __syncthreads();
  }
}
