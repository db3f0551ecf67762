// hipcc -O3 -ffp-contract=off --offload-arch=native -c axpy.hip.cpp
#include <cstdint>
#include <cstring>
#include <hip/hip_runtime.h>

// Does nothing once a call has failed.
#define TRY(call) if (status == hipSuccess) status = (call)

// Kernel "axpy" (kernels.ts), written by isoform.

extern "C" __global__ void __launch_bounds__(256) axpy_kernel(
  const double a, const double *__restrict__ x, double *__restrict__ y, const long long i_begin, const long long i_end
) {
  const long long i = i_begin + (long long)(blockIdx.x * blockDim.x + threadIdx.x);
  if (i < i_end) {
    y[i] = a * x[i] + y[i];  // line 6
  }
}

/*
 * Runs kernel "axpy" over a range.
 *   a               a number
 *   x               element 0 of an array of rank 1, read
 *   x_extent0       elements
 *   y               element 0 of an array of rank 1, written
 *   y_extent0       elements
 *   i_begin, i_end  first index of the range and the one behind its last, along each axis
 * Arrays may not share memory.
 * Arrays are in the device's memory, results in the host's.
 * Does not wait for the kernel's end.
 * Returns hipSuccess or what failed.
 */
extern "C" hipError_t axpy_launch(
  double a,
  const double *x,
  int32_t x_extent0,
  double *y,
  int32_t y_extent0,
  long long i_begin, long long i_end,
  hipStream_t stream
)
{
  hipError_t status = hipSuccess;
  const long long i_count = i_end - i_begin;
  long long blocks_x = (i_count + 255) / 256;
  if (i_count > 0) {
    if (status == hipSuccess) {
      const dim3 grid((unsigned int)blocks_x, 1, 1), block(256, 1, 1);
      axpy_kernel<<<grid, block, 0, stream>>>(a, x, y, i_begin, i_end);
      status = hipGetLastError();
    }
  }
  return status;
}
