// Kernel "laplace" (kernels.ts), written by isoform.

extern "C" __global__ void __launch_bounds__(256) laplace_kernel(
  const double *__restrict__ p, double *__restrict__ s, const int i_begin, const int i_end, const int j_begin,
  const int j_end, const int k_begin, const int k_end, const int s_stride0, const int s_stride1, const int p_stride0,
  const int p_stride1
) {
  const int planes = (i_end - i_begin + (int)gridDim.z - 1) / (int)gridDim.z;
  const int stop = i_begin + (int)blockIdx.z * planes + planes < i_end ? i_begin + (int)blockIdx.z * planes + planes : i_end;
  for (int i = i_begin + (int)blockIdx.z * planes; i < stop; i++) {
    for (int j = j_begin + (int)(blockIdx.y * blockDim.y + threadIdx.y); j < j_end; j += (int)(gridDim.y * blockDim.y)) {
      const int k = k_begin + (int)(blockIdx.x * blockDim.x + threadIdx.x);
      if (k < k_end) {
        s[i * s_stride0 + j * s_stride1 + k] = 6.0 * p[i * p_stride0 + j * p_stride1 + k] - p[(i - 1) * p_stride0 + j * p_stride1 + k] - p[(i + 1) * p_stride0 + j * p_stride1 + k] - p[i * p_stride0 + (j - 1) * p_stride1 + k] - p[i * p_stride0 + (j + 1) * p_stride1 + k] - p[i * p_stride0 + j * p_stride1 + k - 1] - p[i * p_stride0 + j * p_stride1 + k + 1];  // line 10
      }
    }
  }
}
