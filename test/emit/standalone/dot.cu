// nvcc -O3 -fmad=false -arch=native -c dot.cu
#include <cstdint>
#include <cstring>
#include <cuda_runtime.h>

// Does nothing once a call has failed.
#define TRY(call) if (status == cudaSuccess) status = (call)

// Kernel "dot" (kernels.ts), written by isoform.

extern "C" __global__ void __launch_bounds__(256) dot_kernel(
  const double *__restrict__ x, const double *__restrict__ y, const long long chunks, const long long i_begin,
  const long long i_end, double *__restrict__ s_partials
) {
  const long long lane = threadIdx.x % 8;
  const long long chunk = (long long)blockIdx.x * 32 + threadIdx.x / 8;
  double s = 0.0;
  if (chunk < chunks) {
    const long long start = i_begin + chunk * 256;
    const long long stop = start + 256 < i_end ? start + 256 : i_end;
    #pragma unroll 4
    for (long long i = start + lane; i < stop; i += 8) {
      s += x[i] * y[i];  // line 14
    }
  }
  for (int step = 4; step > 0; step /= 2) {
    s += __shfl_down_sync(~0u, s, step);
  }
  if (lane == 0 && chunk < chunks) {
    s_partials[chunk] = s;
  }
}

extern "C" __global__ void __launch_bounds__(256) dot_kernel_fold(
  double *s_partials, double *s_folded, const long long partial_count
) {
  const long long chunk = (long long)blockIdx.x * 32 + threadIdx.x / 8;
  {
    double total = 0.0;
    const long long stop = (chunk + 1) * 256 < partial_count ? (chunk + 1) * 256 : partial_count;
    for (long long n = chunk * 256 + threadIdx.x % 8; n < stop; n += 8) {
      total += s_partials[n];
    }
    for (int step = 4; step > 0; step /= 2) {
      total += __shfl_down_sync(~0u, total, step);
    }
    if (threadIdx.x % 8 == 0 && chunk * 256 < partial_count) s_folded[chunk] = total;
  }
}

extern "C" __global__ void __launch_bounds__(1024) dot_kernel_finish(
  double *s_partials, double *s_folded, const long long partial_count, double *s_output, long long *results
) {
  {
    double *from = s_partials;
    double *to = s_folded;
    long long count = partial_count;
    while (count > 1) {
      const long long chunks = (count + 255) / 256;
      for (long long first = 0; first < chunks; first += 128) {
        const long long chunk = first + threadIdx.x / 8;
        {
          double total = 0.0;
          const long long stop = (chunk + 1) * 256 < count ? (chunk + 1) * 256 : count;
          for (long long n = chunk * 256 + threadIdx.x % 8; n < stop; n += 8) {
            total += from[n];
          }
          for (int step = 4; step > 0; step /= 2) {
            total += __shfl_down_sync(~0u, total, step);
          }
          if (threadIdx.x % 8 == 0 && chunk * 256 < count) to[chunk] = total;
        }
      }
      __syncthreads();
      double *const folded = to;
      to = from;
      from = folded;
      count = chunks;
    }
    if (threadIdx.x == 0) {
      const double result = count == 1 ? from[0] : 0.0;
      { *(double *)(results + 0) = result; if (s_output) *s_output = result; }
    }
  }
}

/*
 * Runs kernel "dot" over a range.
 *   s               takes the sum; 0 for an empty range
 *   x               element 0 of an array of rank 1, read
 *   x_extent0       elements
 *   y               element 0 of an array of rank 1, read
 *   y_extent0       elements
 *   i_begin, i_end  first index of the range and the one behind its last, along each axis
 * Arrays may not share memory.
 * Arrays are in the device's memory, results in the host's.
 * Waits for the results.
 * Returns cudaSuccess or what failed.
 */
extern "C" cudaError_t dot_launch(
  double *s,
  const double *x,
  int32_t x_extent0,
  const double *y,
  int32_t y_extent0,
  long long i_begin, long long i_end,
  cudaStream_t stream
)
{
  cudaError_t status = cudaSuccess;
  const long long i_count = i_end - i_begin;
  const long long chunks_per_line = (i_count + 255) / 256;
  const long long chunks = i_count > 0 ? chunks_per_line : 0;
  double *s_partials = nullptr;
  TRY(cudaMallocAsync((void **)&s_partials, (chunks + 1) * 8, stream));
  double *s_folded = nullptr;
  TRY(cudaMallocAsync((void **)&s_folded, (chunks / 256 + 1) * 8, stream));
  long long *results = nullptr;
  TRY(cudaMallocAsync((void **)&results, 8, stream));
  if (chunks > 0) {
    if (status == cudaSuccess) {
      const dim3 grid((unsigned int)((chunks + 31) / 32), 1, 1), block(256, 1, 1);
      dot_kernel<<<grid, block, 0, stream>>>(x, y, chunks, i_begin, i_end, s_partials);
      status = cudaGetLastError();
    }
  }
  long long partial_count = chunks;
  while (partial_count > 16384) {
    if (status == cudaSuccess) {
      const dim3 grid((unsigned int)((partial_count + 8191) / 8192), 1, 1), block(256, 1, 1);
      dot_kernel_fold<<<grid, block, 0, stream>>>(s_partials, s_folded, partial_count);
      status = cudaGetLastError();
    }
    double *swap = s_partials;
    s_partials = s_folded;
    s_folded = swap;
    partial_count = (partial_count + 255) / 256;
  }
  if (status == cudaSuccess) {
    const dim3 grid(1, 1, 1), block(1024, 1, 1);
    dot_kernel_finish<<<grid, block, 0, stream>>>(s_partials, s_folded, partial_count, NULL, results);
    status = cudaGetLastError();
  }
  long long values[1];
  TRY(cudaMemcpyAsync(values, results, sizeof values, cudaMemcpyDeviceToHost, stream));
  TRY(cudaStreamSynchronize(stream));
  if (status == cudaSuccess) {
    memcpy(s, &values[0], 8);
  }
  if (s_partials) cudaFreeAsync(s_partials, stream);
  if (s_folded) cudaFreeAsync(s_folded, stream);
  if (results) cudaFreeAsync(results, stream);
  return status;
}
