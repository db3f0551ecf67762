// Kernel "dot" (kernels.ts), written by isoform.
#pragma OPENCL EXTENSION cl_khr_fp64 : enable
#pragma OPENCL EXTENSION cl_khr_int64_base_atomics : enable
#pragma OPENCL FP_CONTRACT OFF

__kernel __attribute__((reqd_work_group_size(256, 1, 1))) void dot_kernel(
  const __global double *restrict x, const long x_first, const __global double *restrict y, const long y_first,
  const int chunks, const int i_begin, const int i_end, __global double *restrict s_partials, const long s_partials_first
) {
  __local double s_lanes[256];
  x += x_first;
  y += y_first;
  s_partials += s_partials_first;
  const int lane = get_local_id(0) % 8;
  const int chunk = (int)get_group_id(0) * 32 + get_local_id(0) / 8;
  double s = 0.0;
  if (chunk < chunks) {
    const int start = i_begin + chunk * 256;
    const int stop = start + 256 < i_end ? start + 256 : i_end;
    #pragma unroll 4
    for (int i = start + lane; i < stop; i += 8) {
      s += x[i] * y[i];  // line 14
    }
  }
  barrier(CLK_LOCAL_MEM_FENCE | CLK_GLOBAL_MEM_FENCE);
  s_lanes[get_local_id(0)] = s;
  barrier(CLK_LOCAL_MEM_FENCE | CLK_GLOBAL_MEM_FENCE);
  if (get_local_id(0) % 8 == 0) {
    for (int step = 4; step > 0; step /= 2) {
      for (int lane_2 = get_local_id(0); lane_2 < get_local_id(0) + step; lane_2++) {
        s_lanes[lane_2] += s_lanes[lane_2 + step];
      }
    }
    s = s_lanes[get_local_id(0)];
  }
  if (lane == 0 && chunk < chunks) {
    s_partials[chunk] = s;
  }
}

__kernel __attribute__((reqd_work_group_size(256, 1, 1))) void dot_kernel_fold(
  __global double *s_partials, const long s_partials_first, __global double *s_folded, const long s_folded_first,
  const long partial_count
) {
  __local double s_lanes[256];
  s_partials += s_partials_first;
  s_folded += s_folded_first;
  const long chunk = (long)get_group_id(0) * 32 + get_local_id(0) / 8;
  {
    double total = 0.0;
    const long stop = (chunk + 1) * 256 < partial_count ? (chunk + 1) * 256 : partial_count;
    for (long n = chunk * 256 + get_local_id(0) % 8; n < stop; n += 8) {
      total += s_partials[n];
    }
    barrier(CLK_LOCAL_MEM_FENCE | CLK_GLOBAL_MEM_FENCE);
    s_lanes[get_local_id(0)] = total;
    barrier(CLK_LOCAL_MEM_FENCE | CLK_GLOBAL_MEM_FENCE);
    if (get_local_id(0) % 8 == 0) {
      for (int step = 4; step > 0; step /= 2) {
        for (int lane = get_local_id(0); lane < get_local_id(0) + step; lane++) {
          s_lanes[lane] += s_lanes[lane + step];
        }
      }
      total = s_lanes[get_local_id(0)];
    }
    if (get_local_id(0) % 8 == 0 && chunk * 256 < partial_count) s_folded[chunk] = total;
  }
}

__kernel __attribute__((reqd_work_group_size(256, 1, 1))) void dot_kernel_finish(
  __global double *s_partials, const long s_partials_first, __global double *s_folded, const long s_folded_first,
  const long partial_count, __global double *s_output, const long s_output_first, __global long *results,
  const long results_first
) {
  __local double s_lanes[256];
  s_partials += s_partials_first;
  s_folded += s_folded_first;
  s_output += s_output_first;
  results += results_first;
  {
    __global double *from = s_partials;
    __global double *to = s_folded;
    long count = partial_count;
    while (count > 1) {
      const long chunks = (count + 255) / 256;
      for (long first = 0; first < chunks; first += 32) {
        const long chunk = first + get_local_id(0) / 8;
        {
          double total = 0.0;
          const long stop = (chunk + 1) * 256 < count ? (chunk + 1) * 256 : count;
          for (long n = chunk * 256 + get_local_id(0) % 8; n < stop; n += 8) {
            total += from[n];
          }
          barrier(CLK_LOCAL_MEM_FENCE | CLK_GLOBAL_MEM_FENCE);
          s_lanes[get_local_id(0)] = total;
          barrier(CLK_LOCAL_MEM_FENCE | CLK_GLOBAL_MEM_FENCE);
          if (get_local_id(0) % 8 == 0) {
            for (int step = 4; step > 0; step /= 2) {
              for (int lane = get_local_id(0); lane < get_local_id(0) + step; lane++) {
                s_lanes[lane] += s_lanes[lane + step];
              }
            }
            total = s_lanes[get_local_id(0)];
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
      { *(__global double *)(results + 0) = result; if (s_output) *s_output = result; }
    }
  }
}
