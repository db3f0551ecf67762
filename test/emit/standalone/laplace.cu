// nvcc -O3 -prec-div=false -prec-sqrt=false -arch=native -c laplace.cu
#include <cstdint>
#include <cstring>
#include <cuda_runtime.h>

// Does nothing once a call has failed.
#define TRY(call) if (status == cudaSuccess) status = (call)

// Kernel "laplace" (kernels.ts), written by isoform.

extern "C" __global__ void __launch_bounds__(128, 4) laplace_kernel(
  const double *__restrict__ p_, double *__restrict__ s_, const long long row_blocks_, const long long tile_,
  const long long planes_, const long long k_begin_, const long long j_begin_, const long long i_begin_,
  const long long i_end_, const long long k_end_, const long long j_end_, const long long s_stride0_,
  const long long s_stride1_, const long long p_stride0_, const long long p_stride1_
) {
  const long long j = j_begin_ + ((long long)blockIdx.z * tile_ + (long long)blockIdx.x / row_blocks_) * (long long)blockDim.y + (long long)threadIdx.y;
  const long long k = k_begin_ + (long long)blockIdx.x % row_blocks_ * (long long)blockDim.x + (long long)threadIdx.x;
  long long i = i_begin_ + (long long)blockIdx.y * planes_;
  const long long stop_ = i + planes_ < i_end_ ? i + planes_ : i_end_;
  if (j < j_end_ && k < k_end_) {
    while (i < stop_) {
      if (i + 1 < stop_) {
        s_[i * s_stride0_ + j * s_stride1_ + k] = 6.0 * p_[i * p_stride0_ + j * p_stride1_ + k] - p_[(i - 1) * p_stride0_ + j * p_stride1_ + k] - p_[(i + 1) * p_stride0_ + j * p_stride1_ + k] - p_[i * p_stride0_ + (j - 1) * p_stride1_ + k] - p_[i * p_stride0_ + (j + 1) * p_stride1_ + k] - p_[i * p_stride0_ + j * p_stride1_ + k - 1] - p_[i * p_stride0_ + j * p_stride1_ + k + 1];  // line 10
        s_[(i + 1) * s_stride0_ + j * s_stride1_ + k] = 6.0 * p_[(i + 1) * p_stride0_ + j * p_stride1_ + k] - p_[i * p_stride0_ + j * p_stride1_ + k] - p_[(i + 2) * p_stride0_ + j * p_stride1_ + k] - p_[(i + 1) * p_stride0_ + (j - 1) * p_stride1_ + k] - p_[(i + 1) * p_stride0_ + (j + 1) * p_stride1_ + k] - p_[(i + 1) * p_stride0_ + j * p_stride1_ + k - 1] - p_[(i + 1) * p_stride0_ + j * p_stride1_ + k + 1];
        i += 2;
      } else {
        s_[i * s_stride0_ + j * s_stride1_ + k] = 6.0 * p_[i * p_stride0_ + j * p_stride1_ + k] - p_[(i - 1) * p_stride0_ + j * p_stride1_ + k] - p_[(i + 1) * p_stride0_ + j * p_stride1_ + k] - p_[i * p_stride0_ + (j - 1) * p_stride1_ + k] - p_[i * p_stride0_ + (j + 1) * p_stride1_ + k] - p_[i * p_stride0_ + j * p_stride1_ + k - 1] - p_[i * p_stride0_ + j * p_stride1_ + k + 1];
        i++;
      }
    }
  }
}

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
 * Arrays are in the device's memory, results in the host's.
 * Does not wait for the kernel's end.
 * Returns cudaSuccess, or the error of the call that failed.
 */
extern "C" cudaError_t laplace_launch(
  const double *p_,
  int32_t p_extent0_, int32_t p_extent1_, int32_t p_extent2_,
  long long p_stride0_, long long p_stride1_,
  double *s_,
  int32_t s_extent0_, int32_t s_extent1_, int32_t s_extent2_,
  long long s_stride0_, long long s_stride1_,
  long long i_begin_, long long i_end_, long long j_begin_, long long j_end_, long long k_begin_, long long k_end_,
  cudaStream_t stream
)
{
  cudaError_t status = cudaSuccess;
  const long long i_count_ = i_end_ > i_begin_ ? i_end_ - i_begin_ : 0;
  const long long j_count_ = j_end_ > j_begin_ ? j_end_ - j_begin_ : 0;
  const long long k_count_ = k_end_ > k_begin_ ? k_end_ - k_begin_ : 0;
  long long block_x_ = 1;
  while (block_x_ < k_count_ && block_x_ < 32) block_x_ *= 2;
  const long long block_y_ = 128 / block_x_;
  const long long n_ = (k_count_ + block_x_ - 1) / block_x_;
  const long long blocks_x_ = n_ > 1 ? n_ : 1;
  const long long n_2_ = (j_count_ + block_y_ - 1) / block_y_;
  const long long blocks_y_ = n_2_ > 1 ? n_2_ : 1;
  const long long n_3_ = (i_count_ + 65534) / 65535;
  const long long planes_ = n_3_ > 4 ? n_3_ : 4;
  const long long n_4_ = (i_count_ + planes_ - 1) / planes_;
  // Blocks work on as many rows of a few planes as the cache holds.
  long long row_bytes = 1;
  if ((long long)p_extent0_ * (long long)p_extent1_ * (long long)p_extent2_ >= i_count_ * j_count_ * k_count_ && i_count_ * j_count_ > 0)
    row_bytes += 8 * ((long long)p_extent0_ * (long long)p_extent1_ * (long long)p_extent2_) / (i_count_ * j_count_);
  if ((long long)s_extent0_ * (long long)s_extent1_ * (long long)s_extent2_ >= i_count_ * j_count_ * k_count_ && i_count_ * j_count_ > 0)
    row_bytes += 8 * ((long long)s_extent0_ * (long long)s_extent1_ * (long long)s_extent2_) / (i_count_ * j_count_);
  int device = 0;
  TRY(cudaGetDevice(&device));
  int multiprocessors = 1;
  TRY(cudaDeviceGetAttribute(&multiprocessors, cudaDevAttrMultiProcessorCount, device));
  int cache_bytes = 1;
  TRY(cudaDeviceGetAttribute(&cache_bytes, cudaDevAttrL2CacheSize, device));
  const long long n_5_ = ((long long)cache_bytes * 40 / 100) / (planes_ * row_bytes * block_y_);
  const long long fitting_ = n_5_ > 1 ? n_5_ : 1;
  const long long n_6_ = (blocks_y_ + fitting_ - 1) / fitting_;
  const long long tiles_ = n_6_ < 65535 ? n_6_ : 65535;
  const long long tile_ = (blocks_y_ + tiles_ - 1) / tiles_;
  if (i_count_ * j_count_ * k_count_ > 0) {
    if (status == cudaSuccess) {
      const dim3 grid((unsigned int)(blocks_x_ * tile_), (unsigned int)((n_4_ > 1 ? n_4_ : 1)), (unsigned int)tiles_), block((unsigned int)block_x_, (unsigned int)block_y_, 1);
      laplace_kernel<<<grid, block, 0, stream>>>(p_, s_, blocks_x_, tile_, planes_, k_begin_, j_begin_, i_begin_, i_end_, k_end_, j_end_, s_stride0_, s_stride1_, p_stride0_, p_stride1_);
      status = cudaGetLastError();
    }
  }
  return status;
}
