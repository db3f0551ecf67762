// Kernel "axpy" (kernels.ts), written by isoform.
#pragma OPENCL EXTENSION cl_khr_fp64 : enable
#pragma OPENCL EXTENSION cl_khr_int64_base_atomics : enable

__kernel __attribute__((reqd_work_group_size(256, 1, 1))) void axpy_kernel(
  const double a, const __global double *restrict x, const long x_first, __global double *restrict y, const long y_first,
  const int i_begin, const int i_end
) {
  x += x_first;
  y += y_first;
  const int i = i_begin + (int)(get_group_id(0) * get_local_size(0) + get_local_id(0));
  if (i < i_end) {
    y[i] = a * x[i] + y[i];  // line 6
  }
}
