// Kernel "laplace" (kernels.ts), written by isoform as C++ with Kokkos, fast.
// On the host: g++ -std=c++20 -O3 -fwrapv -fno-math-errno -fno-trapping-math -ffp-contract=fast -march=native -fopenmp -I$ISOFORM_KOKKOS/include -c laplace.kokkos.cpp, linked with -lkokkoscore
// On a GPU:    nvcc_wrapper -std=c++20 -O3 --expt-extended-lambda -c laplace.kokkos.cpp
#include <Kokkos_Core.hpp>
#include <stdint.h>

// Memory of the caller's that nothing else points to.
template <typename T>
using array = Kokkos::View<T *, Kokkos::DefaultExecutionSpace::memory_space, Kokkos::MemoryTraits<Kokkos::Unmanaged | Kokkos::Restrict>>;

/*
 * Runs kernel "laplace" over a range.
 *   p_                                                    element 0 of an array of rank 3, read
 *   p_extent0_, p_extent1_, p_extent2_                    indices along each axis
 *   p_stride0_, p_stride1_                                elements from one index of an axis to the next
 *   s_                                                    element 0 of an array of rank 3, written
 *   s_extent0_, s_extent1_, s_extent2_                    indices along each axis
 *   s_stride0_, s_stride1_                                elements from one index of an axis to the next
 *   i_begin_, i_end_, j_begin_, j_end_, k_begin_, k_end_  first index of the range and the one after its last, along each axis
 * Strides of 1 are compiled in: p's along axis 2, s's along axis 2.
 * Arrays may not share memory.
 * Arrays are in memory of the execution space, results in the host's.
 * Does not wait for the kernel's end. Passes on Kokkos' exceptions.
 */
void laplace_launch(
  const double *p_,
  int32_t p_extent0_, int32_t p_extent1_, int32_t p_extent2_,
  int64_t p_stride0_, int64_t p_stride1_,
  double *s_,
  int32_t s_extent0_, int32_t s_extent1_, int32_t s_extent2_,
  int64_t s_stride0_, int64_t s_stride1_,
  int64_t i_begin_, int64_t i_end_, int64_t j_begin_, int64_t j_end_, int64_t k_begin_, int64_t k_end_,
  const Kokkos::DefaultExecutionSpace &space
)
{
  const int64_t p_span_ = p_extent0_ == 0 || p_extent1_ == 0 || p_extent2_ == 0 ? 0 : 1 + (p_extent0_ - 1) * p_stride0_ + (p_extent1_ - 1) * p_stride1_ + (p_extent2_ - 1);
  const int64_t s_span_ = s_extent0_ == 0 || s_extent1_ == 0 || s_extent2_ == 0 ? 0 : 1 + (s_extent0_ - 1) * s_stride0_ + (s_extent1_ - 1) * s_stride1_ + (s_extent2_ - 1);
  const array<const double> p_view_(p_, p_span_);
  const array<double> s_view_(s_, s_span_);
  Kokkos::parallel_for(Kokkos::MDRangePolicy<Kokkos::DefaultExecutionSpace, Kokkos::Rank<3, Kokkos::Iterate::Right, Kokkos::Iterate::Right>, Kokkos::IndexType<int64_t>>(space, {i_begin_, j_begin_, k_begin_}, {i_end_, j_end_, k_end_}), KOKKOS_LAMBDA(const int64_t i, const int64_t j, const int64_t k) {
    s_view_[i * s_stride0_ + j * s_stride1_ + k] = 6.0 * p_view_[i * p_stride0_ + j * p_stride1_ + k] - p_view_[(i - 1) * p_stride0_ + j * p_stride1_ + k] - p_view_[(i + 1) * p_stride0_ + j * p_stride1_ + k] - p_view_[i * p_stride0_ + (j - 1) * p_stride1_ + k] - p_view_[i * p_stride0_ + (j + 1) * p_stride1_ + k] - p_view_[i * p_stride0_ + j * p_stride1_ + k - 1] - p_view_[i * p_stride0_ + j * p_stride1_ + k + 1];  // line 10
  });
}
