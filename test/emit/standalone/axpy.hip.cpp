// hipcc -O3 -ffp-contract=off --offload-arch=native -c axpy.hip.cpp
#include <cstdint>
#include <cstring>
#include <hip/hip_runtime.h>

// Does nothing once a call has failed.
#define TRY(call) if (status == hipSuccess) status = (call)

// Kernel "axpy" (kernels.ts), written by isoform.

extern "C" __global__ void __launch_bounds__(256) axpy_kernel(
  const double a_, const double *__restrict__ x_, double *__restrict__ y_, const long long i_begin_,
  const long long i_end_
) {
  long long i = i_begin_ + (long long)(blockIdx.x * 512 + threadIdx.x);
  if (i < i_end_) {
    if (i_end_ - i > 256) {
      y_[i] = a_ * x_[i] + y_[i];  // line 6
      y_[i + 256] = a_ * x_[i + 256] + y_[i + 256];
    } else {
      for (int n_ = 0; n_ < 2 && i < i_end_; n_++) {
        y_[i] = a_ * x_[i] + y_[i];
        i += 256;
      }
    }
  }
}

/*
 * Runs kernel "axpy" over a range.
 *   a_                a number
 *   x_                element 0 of an array of rank 1, read
 *   x_extent0_        elements
 *   y_                element 0 of an array of rank 1, written
 *   y_extent0_        elements
 *   i_begin_, i_end_  first index of the range and the one after its last, along each axis
 * Arrays may not share memory.
 * Arrays are in the device's memory, results in the host's.
 * Does not wait for the kernel's end.
 * Returns hipSuccess, or the error of the call that failed.
 */
extern "C" hipError_t axpy_launch(
  double a_,
  const double *x_,
  int32_t x_extent0_,
  double *y_,
  int32_t y_extent0_,
  long long i_begin_, long long i_end_,
  hipStream_t stream
)
{
  hipError_t status = hipSuccess;
  const long long i_count_ = i_end_ > i_begin_ ? i_end_ - i_begin_ : 0;
  const long long n_ = (i_count_ + 511) / 512;
  const long long blocks_x_ = n_ > 1 ? n_ : 1;
  if (i_count_ > 0) {
    if (status == hipSuccess) {
      const dim3 grid((unsigned int)blocks_x_, 1, 1), block(256, 1, 1);
      axpy_kernel<<<grid, block, 0, stream>>>(a_, x_, y_, i_begin_, i_end_);
      status = hipGetLastError();
    }
  }
  return status;
}
