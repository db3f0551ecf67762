// Kernel "dot" (kernels.ts), written by isoform.
#pragma OPENCL EXTENSION cl_khr_fp64 : enable
#pragma OPENCL EXTENSION cl_khr_int64_base_atomics : enable
#pragma OPENCL FP_CONTRACT OFF

__kernel __attribute__((reqd_work_group_size(256, 1, 1))) void dot_kernel(
  const __global double *restrict x_, const long x_first_, const __global double *restrict y_, const long y_first_,
  const int chunks_, const int i_begin_, const int i_end_, __global double *restrict s_partials_,
  const long s_partials_first_
) {
  __local double s_lanes_[256];
  x_ += x_first_;
  y_ += y_first_;
  s_partials_ += s_partials_first_;
  const int lane_ = (int)(get_local_id(0) % 8);
  const int chunk_ = (int)get_group_id(0) * 32 + (int)(get_local_id(0) / 8);
  double s_ = 0.0;
  if (chunk_ < chunks_) {
    const int start_ = i_begin_ + chunk_ * 256;
    const int stop_ = start_ + 256 < i_end_ ? start_ + 256 : i_end_;
    #pragma unroll 4
    for (int i = start_ + lane_; i < stop_; i += 8) {
      s_ += x_[i] * y_[i];  // line 14
    }
  }
  barrier(CLK_LOCAL_MEM_FENCE | CLK_GLOBAL_MEM_FENCE);
  s_lanes_[get_local_id(0)] = s_;
  barrier(CLK_LOCAL_MEM_FENCE | CLK_GLOBAL_MEM_FENCE);
  if (get_local_id(0) % 8 == 0) {
    for (int step_ = 4; step_ > 0; step_ /= 2) {
      for (int lane_2_ = (int)get_local_id(0); lane_2_ < (int)get_local_id(0) + step_; lane_2_++) {
        s_lanes_[lane_2_] += s_lanes_[lane_2_ + step_];
      }
    }
    s_ = s_lanes_[get_local_id(0)];
  }
  if (lane_ == 0 && chunk_ < chunks_) s_partials_[chunk_] = s_;
}

__kernel __attribute__((reqd_work_group_size(256, 1, 1))) void dot_kernel_fold(
  __global double *s_partials_, const long s_partials_first_, __global double *s_folded_, const long s_folded_first_,
  const long partial_count_
) {
  __local double s_lanes_[256];
  s_partials_ += s_partials_first_;
  s_folded_ += s_folded_first_;
  const long chunk = (long)get_group_id(0) * 32 + (long)(get_local_id(0) / 8);
  {
    double total = 0.0;
    const long stop = (chunk + 1) * 256 < partial_count_ ? (chunk + 1) * 256 : partial_count_;
    for (long n = chunk * 256 + (long)(get_local_id(0) % 8); n < stop; n += 8) {
      total += s_partials_[n];
    }
    barrier(CLK_LOCAL_MEM_FENCE | CLK_GLOBAL_MEM_FENCE);
    s_lanes_[get_local_id(0)] = total;
    barrier(CLK_LOCAL_MEM_FENCE | CLK_GLOBAL_MEM_FENCE);
    if (get_local_id(0) % 8 == 0) {
      for (int step_ = 4; step_ > 0; step_ /= 2) {
        for (int lane_ = (int)get_local_id(0); lane_ < (int)get_local_id(0) + step_; lane_++) {
          s_lanes_[lane_] += s_lanes_[lane_ + step_];
        }
      }
      total = s_lanes_[get_local_id(0)];
    }
    if (get_local_id(0) % 8 == 0 && chunk * 256 < partial_count_) s_folded_[chunk] = total;
  }
}

__kernel __attribute__((reqd_work_group_size(256, 1, 1))) void dot_kernel_finish(
  __global double *s_partials_, const long s_partials_first_, __global double *s_folded_, const long s_folded_first_,
  const long partial_count_, __global double *s_output_, const long s_output_first_, __global long *results_,
  const long results_first_
) {
  __local double s_lanes_[256];
  s_partials_ += s_partials_first_;
  s_folded_ += s_folded_first_;
  s_output_ += s_output_first_;
  results_ += results_first_;
  {
    __global double *from = s_partials_;
    __global double *to = s_folded_;
    long count = partial_count_;
    while (count > 1) {
      const long chunks = (count + 255) / 256;
      for (long first = 0; first < chunks; first += 32) {
        const long chunk = first + (long)(get_local_id(0) / 8);
        {
          double total = 0.0;
          const long stop = (chunk + 1) * 256 < count ? (chunk + 1) * 256 : count;
          for (long n = chunk * 256 + (long)(get_local_id(0) % 8); n < stop; n += 8) {
            total += from[n];
          }
          barrier(CLK_LOCAL_MEM_FENCE | CLK_GLOBAL_MEM_FENCE);
          s_lanes_[get_local_id(0)] = total;
          barrier(CLK_LOCAL_MEM_FENCE | CLK_GLOBAL_MEM_FENCE);
          if (get_local_id(0) % 8 == 0) {
            for (int step_ = 4; step_ > 0; step_ /= 2) {
              for (int lane_ = (int)get_local_id(0); lane_ < (int)get_local_id(0) + step_; lane_++) {
                s_lanes_[lane_] += s_lanes_[lane_ + step_];
              }
            }
            total = s_lanes_[get_local_id(0)];
          }
          if (get_local_id(0) % 8 == 0 && chunk * 256 < count) to[chunk] = total;
        }
      }
      barrier(CLK_LOCAL_MEM_FENCE | CLK_GLOBAL_MEM_FENCE);
      __global double *const folded = to;
      to = from;
      from = folded;
      count = chunks;
    }
    if (get_local_id(0) == 0) {
      const double result = count == 1 ? from[0] : 0.0;
      *(__global double *)(results_ + 0) = result;
      if (s_output_ != 0) s_output_[0] = result;
    }
  }
}
