// Kernel "rowSums" (kernels.ts), written by isoform.
#pragma OPENCL EXTENSION cl_khr_fp64 : enable
#pragma OPENCL EXTENSION cl_khr_int64_base_atomics : enable

__kernel __attribute__((reqd_work_group_size(256, 1, 1))) void rowSums_kernel(
  const __global double *restrict a, const long a_first, __global double *restrict s, const long s_first,
  const int league, const int a_extent1, const int a_stride0
) {
  __local double parts[256];
  a += a_first;
  s += s_first;
  const int thread = get_local_id(0);
  const int threads = get_local_size(0);
  for (int team = get_group_id(0); team < league; team += get_num_groups(0)) {
    double sum_;
    {
      double sum__part = 0.0;
      for (int j = thread; j < a_extent1; j += threads) {
        sum__part += a[team * a_stride0 + j];  // line 22
      }
      parts[thread] = sum__part;
      barrier(CLK_LOCAL_MEM_FENCE | CLK_GLOBAL_MEM_FENCE);
      for (int left = threads; left > 1;) {
        const int half_left = (left + 1) / 2;
        if (thread + half_left < left) {
          parts[thread] += parts[thread + half_left];
        }
        left = half_left;
        barrier(CLK_LOCAL_MEM_FENCE | CLK_GLOBAL_MEM_FENCE);
      }
      sum_ = parts[0];
    }
    barrier(CLK_LOCAL_MEM_FENCE | CLK_GLOBAL_MEM_FENCE);
    if (thread == 0) {
      s[team] = sum_;  // line 24
    }
    barrier(CLK_LOCAL_MEM_FENCE | CLK_GLOBAL_MEM_FENCE);
  }
}
