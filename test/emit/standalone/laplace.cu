// nvcc -O3 -arch=native -c laplace.cu
#include <cstdint>
#include <cstring>
#include <cuda_runtime.h>

// Does nothing once a call has failed.
#define TRY(call) if (status == cudaSuccess) status = (call)

// Kernel "laplace" (kernels.ts), written by isoform.

extern "C" __global__ void __launch_bounds__(128, 4) laplace_kernel(
  const double *__restrict__ p, double *__restrict__ s, const long long row_blocks, const long long tile,
  const long long planes, const long long k_begin, const long long j_begin, const long long i_begin,
  const long long i_end, const long long k_end, const long long j_end, const long long s_stride0,
  const long long s_stride1, const long long p_stride0, const long long p_stride1
) {
  const long long j = j_begin + ((long long)blockIdx.z * tile + (long long)blockIdx.x / row_blocks) * (long long)blockDim.y + (long long)threadIdx.y;
  const long long k = k_begin + (long long)blockIdx.x % row_blocks * (long long)blockDim.x + (long long)threadIdx.x;
  long long i = i_begin + (long long)blockIdx.y * planes;
  const long long stop = i + planes < i_end ? i + planes : i_end;
  if (j < j_end && k < k_end) {
    while (i < stop) {
      if (i + 1 < stop) {
        s[i * s_stride0 + j * s_stride1 + k] = 6.0 * p[i * p_stride0 + j * p_stride1 + k] - p[(i - 1) * p_stride0 + j * p_stride1 + k] - p[(i + 1) * p_stride0 + j * p_stride1 + k] - p[i * p_stride0 + (j - 1) * p_stride1 + k] - p[i * p_stride0 + (j + 1) * p_stride1 + k] - p[i * p_stride0 + j * p_stride1 + k - 1] - p[i * p_stride0 + j * p_stride1 + k + 1];  // line 10
        s[(i + 1) * s_stride0 + j * s_stride1 + k] = 6.0 * p[(i + 1) * p_stride0 + j * p_stride1 + k] - p[i * p_stride0 + j * p_stride1 + k] - p[(i + 2) * p_stride0 + j * p_stride1 + k] - p[(i + 1) * p_stride0 + (j - 1) * p_stride1 + k] - p[(i + 1) * p_stride0 + (j + 1) * p_stride1 + k] - p[(i + 1) * p_stride0 + j * p_stride1 + k - 1] - p[(i + 1) * p_stride0 + j * p_stride1 + k + 1];
        i += 2;
      } else {
        s[i * s_stride0 + j * s_stride1 + k] = 6.0 * p[i * p_stride0 + j * p_stride1 + k] - p[(i - 1) * p_stride0 + j * p_stride1 + k] - p[(i + 1) * p_stride0 + j * p_stride1 + k] - p[i * p_stride0 + (j - 1) * p_stride1 + k] - p[i * p_stride0 + (j + 1) * p_stride1 + k] - p[i * p_stride0 + j * p_stride1 + k - 1] - p[i * p_stride0 + j * p_stride1 + k + 1];
        i++;
      }
    }
  }
}

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
 * Arrays are in the device's memory, results in the host's.
 * Does not wait for the kernel's end.
 * Returns cudaSuccess or what failed.
 */
extern "C" cudaError_t laplace_launch(
  const double *p,
  int32_t p_extent0, int32_t p_extent1, int32_t p_extent2,
  long long p_stride0, long long p_stride1,
  double *s,
  int32_t s_extent0, int32_t s_extent1, int32_t s_extent2,
  long long s_stride0, long long s_stride1,
  long long i_begin, long long i_end, long long j_begin, long long j_end, long long k_begin, long long k_end,
  cudaStream_t stream
)
{
  cudaError_t status = cudaSuccess;
  const long long i_count = i_end - i_begin;
  const long long j_count = j_end - j_begin;
  const long long k_count = k_end - k_begin;
  long long block_x = 1;
  while (block_x < k_count && block_x < 32) block_x *= 2;
  const long long block_y = 128 / block_x;
  long long blocks_x = (k_count + block_x - 1) / block_x;
  long long blocks_y = (j_count + block_y - 1) / block_y;
  const long long row_blocks = blocks_x;
  const long long planes = i_count > 262140 ? (i_count + 65534) / 65535 : 4;
  const long long slabs = (i_count + planes - 1) / planes;
  int device = 0;
  TRY(cudaGetDevice(&device));
  int multiprocessors = 1;
  TRY(cudaDeviceGetAttribute(&multiprocessors, cudaDevAttrMultiProcessorCount, device));
  int cache_bytes = 1;
  TRY(cudaDeviceGetAttribute(&cache_bytes, cudaDevAttrL2CacheSize, device));
  // Blocks work on as many rows of a few planes as the cache holds.
  long long row_bytes = 1;
  if ((long long)p_extent0 * (long long)p_extent1 * (long long)p_extent2 >= i_count * j_count * k_count && i_count * j_count > 0)
    row_bytes += 8 * ((long long)p_extent0 * (long long)p_extent1 * (long long)p_extent2) / (i_count * j_count);
  if ((long long)s_extent0 * (long long)s_extent1 * (long long)s_extent2 >= i_count * j_count * k_count && i_count * j_count > 0)
    row_bytes += 8 * ((long long)s_extent0 * (long long)s_extent1 * (long long)s_extent2) / (i_count * j_count);
  long long fitting = (long long)cache_bytes * 40 / 100 / (planes * row_bytes * block_y);
  if (fitting < 1) fitting = 1;
  long long tiles = (blocks_y + fitting - 1) / fitting;
  if (tiles > 65535) tiles = 65535;
  if (tiles < 1) tiles = 1;
  const long long tile = (blocks_y + tiles - 1) / tiles;
  if (i_count > 0 && j_count > 0 && k_count > 0) {
    if (status == cudaSuccess) {
      const dim3 grid((unsigned int)(row_blocks * tile), (unsigned int)slabs, (unsigned int)tiles), block((unsigned int)block_x, (unsigned int)block_y, 1);
      laplace_kernel<<<grid, block, 0, stream>>>(p, s, row_blocks, tile, planes, k_begin, j_begin, i_begin, i_end, k_end, j_end, s_stride0, s_stride1, p_stride0, p_stride1);
      status = cudaGetLastError();
    }
  }
  return status;
}
