// Kernel "axpy" (kernels.ts), written by isoform as SYCL 2020, fast.
// icpx -fsycl -O3 -c axpy.sycl.cpp
// acpp -O3 -c axpy.sycl.cpp
#include <cstdint>
#include <limits>
#include <vector>
#include <sycl/sycl.hpp>

/*
 * Runs kernel "axpy" over a range.
 *   a               a number
 *   x               element 0 of an array of rank 1, read
 *   x_extent0       elements
 *   y               element 0 of an array of rank 1, written
 *   y_extent0       elements
 *   i_begin, i_end  first index of the range and the one behind its last, along each axis
 * Arrays may not share memory.
 * Arrays are in memory that the queue's device reaches by address (malloc_device, malloc_shared); results are in the host's.
 * Gives the kernel's event. Throws what SYCL throws.
 */
sycl::event axpy_launch(
  double a,
  const double *x,
  int32_t x_extent0,
  double *y,
  int32_t y_extent0,
  int64_t i_begin, int64_t i_end,
  sycl::queue &queue
)
{
  if (i_end <= i_begin) return {};
  return queue.parallel_for(sycl::range<1>((size_t)(i_end - i_begin)), [=](sycl::id<1> at) {
    const int64_t i = i_begin + (int64_t)(at[0]);
    y[i] = a * x[i] + y[i];  // line 6
  });
}
