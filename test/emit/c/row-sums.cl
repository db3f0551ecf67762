// Kernel "rowSums" (kernels.ts), written by isoform.
#pragma OPENCL EXTENSION cl_khr_fp64 : enable
#pragma OPENCL EXTENSION cl_khr_int64_base_atomics : enable

__kernel __attribute__((reqd_work_group_size(256, 1, 1))) void rowSums_kernel(
  const __global double *restrict a_, const long a_first_, __global double *restrict s_, const long s_first_,
  const int league_, const int a_extent1_, const int a_stride0_
) {
  __local double parts_[256];
  a_ += a_first_;
  s_ += s_first_;
  const int thread = (int)get_local_id(0);
  const int threads = (int)get_local_size(0);
  for (int team = (int)get_group_id(0); team < league_; team += get_num_groups(0)) {
    double sum_;  // line 22
    {
      double sum_part_ = 0.0;
      for (int j_ = thread; j_ < a_extent1_; j_ += threads) {
        sum_part_ += a_[team * a_stride0_ + j_];
      }
      parts_[thread] = sum_part_;
      barrier(CLK_LOCAL_MEM_FENCE | CLK_GLOBAL_MEM_FENCE);
      for (int left_ = threads; left_ > 1;) {
        const int half_left_ = (left_ + 1) / 2;
        if (thread + half_left_ < left_) {
          parts_[thread] += parts_[thread + half_left_];
        }
        left_ = half_left_;
        barrier(CLK_LOCAL_MEM_FENCE | CLK_GLOBAL_MEM_FENCE);
      }
      sum_ = parts_[0];
    }
    barrier(CLK_LOCAL_MEM_FENCE | CLK_GLOBAL_MEM_FENCE);
    if (thread == 0) {  // line 23
      s_[team] = sum_;  // line 24
    }
    barrier(CLK_LOCAL_MEM_FENCE | CLK_GLOBAL_MEM_FENCE);
  }
}
