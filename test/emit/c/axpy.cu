// Kernel "axpy" (kernels.ts), written by isoform.
__device__ inline void in_turn() {
#if __CUDA_ARCH__ >= 900
  asm volatile("griddepcontrol.launch_dependents;");
  asm volatile("griddepcontrol.wait;" ::: "memory");
#endif
}

extern "C" __global__ void __launch_bounds__(256) axpy_kernel(
  const double a_, const double *__restrict__ x_, double *__restrict__ y_, const int i_begin_, const int i_end_
) {
  in_turn();
  const int i = i_begin_ + (int)(blockIdx.x * blockDim.x + threadIdx.x);
  if (i < i_end_) {
    y_[i] = a_ * x_[i] + y_[i];  // line 6
  }
}
