// Kernel "axpy" (kernels.ts), written by isoform as SYCL 2020, fast.
// icpx -fsycl -O3 -c axpy.sycl.cpp
// acpp -O3 -c axpy.sycl.cpp
#include <cstdint>
#include <limits>
#include <sycl/sycl.hpp>
#include <vector>

/*
 * Runs kernel "axpy" over a range.
 *   a_                a number
 *   x_                element 0 of an array of rank 1, read
 *   x_extent0_        elements
 *   y_                element 0 of an array of rank 1, written
 *   y_extent0_        elements
 *   i_begin_, i_end_  first index of the range and the one after its last, along each axis
 * Arrays may not share memory.
 * Arrays are in memory that the queue's device reaches by address (malloc_device, malloc_shared); results are in the host's.
 * Gives the kernel's event. Passes on SYCL's exceptions.
 */
sycl::event axpy_launch(
  double a_,
  const double *x_,
  int32_t x_extent0_,
  double *y_,
  int32_t y_extent0_,
  int64_t i_begin_, int64_t i_end_,
  sycl::queue &queue
)
{
  if (i_end_ <= i_begin_) return {};
  return queue.parallel_for(sycl::range<1>((size_t)(i_end_ - i_begin_)), [=](sycl::id<1> at) {
    const int64_t i = i_begin_ + (int64_t)(at[0]);
    y_[i] = a_ * x_[i] + y_[i];  // line 6
  });
}
