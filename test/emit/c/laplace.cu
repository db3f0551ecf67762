// Kernel "laplace" (kernels.ts), written by isoform.
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

extern "C" __global__ void __launch_bounds__(128, 4) laplace_kernel(
  const double *__restrict__ p_, double *__restrict__ s_, const int row_blocks_, const int tile_, const int planes_,
  const int k_begin_, const int j_begin_, const int i_begin_, const int i_end_, const int k_end_, const int j_end_,
  const int s_stride0_, const int s_stride1_, const int p_stride0_, const int p_stride1_
) {
  const int j = j_begin_ + ((int)blockIdx.z * tile_ + (int)blockIdx.x / row_blocks_) * (int)blockDim.y + (int)threadIdx.y;
  const int k = k_begin_ + (int)blockIdx.x % row_blocks_ * (int)blockDim.x + (int)threadIdx.x;
  int i = i_begin_ + (int)blockIdx.y * planes_;
  const int stop_ = i + planes_ < i_end_ ? i + planes_ : i_end_;
  start_next();
  in_turn();
  if (j < j_end_ && k < k_end_) {
    while (i < stop_) {
      if (i + 1 < stop_) {
        s_[i * s_stride0_ + j * s_stride1_ + k] = 6.0 * p_[i * p_stride0_ + j * p_stride1_ + k] - p_[(i - 1) * p_stride0_ + j * p_stride1_ + k] - p_[(i + 1) * p_stride0_ + j * p_stride1_ + k] - p_[i * p_stride0_ + (j - 1) * p_stride1_ + k] - p_[i * p_stride0_ + (j + 1) * p_stride1_ + k] - p_[i * p_stride0_ + j * p_stride1_ + k - 1] - p_[i * p_stride0_ + j * p_stride1_ + k + 1];  // line 10
        s_[(i + 1) * s_stride0_ + j * s_stride1_ + k] = 6.0 * p_[(i + 1) * p_stride0_ + j * p_stride1_ + k] - p_[i * p_stride0_ + j * p_stride1_ + k] - p_[(i + 2) * p_stride0_ + j * p_stride1_ + k] - p_[(i + 1) * p_stride0_ + (j - 1) * p_stride1_ + k] - p_[(i + 1) * p_stride0_ + (j + 1) * p_stride1_ + k] - p_[(i + 1) * p_stride0_ + j * p_stride1_ + k - 1] - p_[(i + 1) * p_stride0_ + j * p_stride1_ + k + 1];
        i += 2;
      } else {
        s_[i * s_stride0_ + j * s_stride1_ + k] = 6.0 * p_[i * p_stride0_ + j * p_stride1_ + k] - p_[(i - 1) * p_stride0_ + j * p_stride1_ + k] - p_[(i + 1) * p_stride0_ + j * p_stride1_ + k] - p_[i * p_stride0_ + (j - 1) * p_stride1_ + k] - p_[i * p_stride0_ + (j + 1) * p_stride1_ + k] - p_[i * p_stride0_ + j * p_stride1_ + k - 1] - p_[i * p_stride0_ + j * p_stride1_ + k + 1];
        i++;
      }
    }
  }
}
