// Kernel "laplace" (kernels.ts), written by isoform as JavaScript, for one thread.
// import { laplace_launch } from "./laplace.mjs"

/*
 * Runs kernel "laplace" over a range.
 *   p                                               element 0 of an array of rank 3, read
 *   p_extent0, p_extent1, p_extent2                 indices along each axis
 *   p_stride0, p_stride1                            elements from one index of an axis to the next
 *   s                                               element 0 of an array of rank 3, written
 *   s_extent0, s_extent1, s_extent2                 indices along each axis
 *   s_stride0, s_stride1                            elements from one index of an axis to the next
 *   i_begin, i_end, j_begin, j_end, k_begin, k_end  first index of the range and the one behind its last, along each axis
 * Strides of 1 are compiled in: p's along axis 2, s's along axis 2.
 * Arrays may not share memory.
 * Arrays are typed arrays that begin with element 0.
 */
export function laplace_launch({
  p,
  p_extent0,
  p_extent1,
  p_extent2,
  p_stride0,
  p_stride1,
  s,
  s_extent0,
  s_extent1,
  s_extent2,
  s_stride0,
  s_stride1,
  i_begin,
  i_end,
  j_begin,
  j_end,
  k_begin,
  k_end,
}) {
  for (let i = i_begin; i < i_end; i++) {
    for (let j = j_begin; j < j_end; j++) {
      for (let k = k_begin; k < k_end; k++) {
        s[i * s_stride0 + j * s_stride1 + k] =
          6 * p[i * p_stride0 + j * p_stride1 + k] -
          p[((i - 1) | 0) * p_stride0 + j * p_stride1 + k] -
          p[((i + 1) | 0) * p_stride0 + j * p_stride1 + k] -
          p[i * p_stride0 + ((j - 1) | 0) * p_stride1 + k] -
          p[i * p_stride0 + ((j + 1) | 0) * p_stride1 + k] -
          p[i * p_stride0 + j * p_stride1 + ((k - 1) | 0)] -
          p[i * p_stride0 + j * p_stride1 + ((k + 1) | 0)]; // line 10
      }
    }
  }
}
