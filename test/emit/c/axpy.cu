// Kernel "axpy" (kernels.ts), written by isoform.
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

extern "C" __global__ void __launch_bounds__(256) axpy_kernel(
  const double a_, const double *__restrict__ x_, double *__restrict__ y_, const int i_begin_, const int i_end_
) {
  start_next();
  in_turn();
  int i = i_begin_ + (int)(blockIdx.x * 512 + threadIdx.x);
  if (i < i_end_) {
    if (i_end_ - i > 256) {
      y_[i] = a_ * x_[i] + y_[i];  // line 6
      y_[i + 256] = a_ * x_[i + 256] + y_[i + 256];
    } else {
      for (int n_ = 0; n_ < 2 && i < i_end_; n_++) {
        y_[i] = a_ * x_[i] + y_[i];
        i += 256;
      }
    }
  }
}
