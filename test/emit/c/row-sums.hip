// Kernel "rowSums" (kernels.ts), written by isoform.

extern "C" __global__ void __launch_bounds__(256) rowSums_kernel(
  const double *__restrict__ a_, double *__restrict__ s_, const int league_, const int a_extent1_, const int a_stride0_
) {
  __shared__ double sum_warps_[32];
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
        sum_part_ += __shfl_xor(sum_part_, step, 32);
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
