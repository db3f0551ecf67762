// Kernel "axpy" (kernels.ts), written by isoform.
#pragma OPENCL EXTENSION cl_khr_fp64 : enable
#pragma OPENCL EXTENSION cl_khr_int64_base_atomics : enable

__kernel __attribute__((reqd_work_group_size(256, 1, 1))) void axpy_kernel(
  const double a_, const __global double *restrict x_, const long x_first_, __global double *restrict y_,
  const long y_first_, const int i_begin_, const int i_end_
) {
  x_ += x_first_;
  y_ += y_first_;
  const int i = i_begin_ + (int)(get_group_id(0) * get_local_size(0) + get_local_id(0));
  if (i < i_end_) {
    y_[i] = a_ * x_[i] + y_[i];  // line 6
  }
}
