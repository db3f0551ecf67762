// Kernel "axpy" (kernels.ts), written by isoform.
__device__ inline void in_turn() {
#if __CUDA_ARCH__ >= 900
  asm volatile("griddepcontrol.launch_dependents;");
  asm volatile("griddepcontrol.wait;" ::: "memory");
#endif
}

extern "C" __global__ void __launch_bounds__(256) axpy_kernel(
  const double a, const double *__restrict__ x, double *__restrict__ y, const int i_begin, const int i_end
) {
  in_turn();
  const int i = i_begin + (int)(blockIdx.x * blockDim.x + threadIdx.x);
  if (i < i_end) {
    y[i] = a * x[i] + y[i];  // line 6
  }
}
