// Kernel "laplace" (kernels.ts), written by isoform.
__device__ inline void in_turn() {
#if __CUDA_ARCH__ >= 900
  asm volatile("griddepcontrol.launch_dependents;");
  asm volatile("griddepcontrol.wait;" ::: "memory");
#endif
}

extern "C" __global__ void __launch_bounds__(128, 4) laplace_kernel(
  const double *__restrict__ p, double *__restrict__ s, const int row_blocks, const int tile, const int planes,
  const int k_begin, const int j_begin, const int i_begin, const int i_end, const int k_end, const int j_end,
  const int s_stride0, const int s_stride1, const int p_stride0, const int p_stride1
) {
  const int j = j_begin + ((int)blockIdx.z * tile + (int)blockIdx.x / row_blocks) * (int)blockDim.y + (int)threadIdx.y;
  const int k = k_begin + (int)blockIdx.x % row_blocks * (int)blockDim.x + (int)threadIdx.x;
  int i = i_begin + (int)blockIdx.y * planes;
  const int stop = i + planes < i_end ? i + planes : i_end;
  in_turn();
  if (j < j_end && k < k_end) {
    while (i < stop) {
      if (i + 1 < stop) {
        s[i * s_stride0 + j * s_stride1 + k] = 6.0 * p[i * p_stride0 + j * p_stride1 + k] - p[(i - 1) * p_stride0 + j * p_stride1 + k] - p[(i + 1) * p_stride0 + j * p_stride1 + k] - p[i * p_stride0 + (j - 1) * p_stride1 + k] - p[i * p_stride0 + (j + 1) * p_stride1 + k] - p[i * p_stride0 + j * p_stride1 + k - 1] - p[i * p_stride0 + j * p_stride1 + k + 1];  // line 10
        s[(i + 1) * s_stride0 + j * s_stride1 + k] = 6.0 * p[(i + 1) * p_stride0 + j * p_stride1 + k] - p[i * p_stride0 + j * p_stride1 + k] - p[(i + 2) * p_stride0 + j * p_stride1 + k] - p[(i + 1) * p_stride0 + (j - 1) * p_stride1 + k] - p[(i + 1) * p_stride0 + (j + 1) * p_stride1 + k] - p[(i + 1) * p_stride0 + j * p_stride1 + k - 1] - p[(i + 1) * p_stride0 + j * p_stride1 + k + 1];
        i += 2;
      } else {
        s[i * s_stride0 + j * s_stride1 + k] = 6.0 * p[i * p_stride0 + j * p_stride1 + k] - p[(i - 1) * p_stride0 + j * p_stride1 + k] - p[(i + 1) * p_stride0 + j * p_stride1 + k] - p[i * p_stride0 + (j - 1) * p_stride1 + k] - p[i * p_stride0 + (j + 1) * p_stride1 + k] - p[i * p_stride0 + j * p_stride1 + k - 1] - p[i * p_stride0 + j * p_stride1 + k + 1];
        i++;
      }
    }
  }
}
