// nvcc -O3 -fmad=false -arch=native -c dot.cu
#include <cstdint>
#include <cstring>
#include <map>
#include <mutex>
#include <cuda_runtime.h>

// Does nothing once a call has failed.
#define TRY(call) if (status == cudaSuccess) status = (call)

// Memory of launches, from a pool that keeps some when they end. It is good until the device is reset.
static cudaError_t dot_allocate(void **address, size_t bytes, cudaStream_t stream)
{
  static std::mutex one_at_a_time;
  static std::map<int, cudaMemPool_t> pools;
  const std::lock_guard<std::mutex> lock(one_at_a_time);
  cudaError_t status = cudaSuccess;
  int device = 0;
  TRY(cudaGetDevice(&device));
  if (status == cudaSuccess && pools.count(device) == 0) {
    cudaMemPoolProps properties = {};
    properties.allocType = cudaMemAllocationTypePinned;
    properties.location.type = cudaMemLocationTypeDevice;
    properties.location.id = device;
    cudaMemPool_t pool = nullptr;
    TRY(cudaMemPoolCreate(&pool, &properties));
    uint64_t kept = 67108864;
    TRY(cudaMemPoolSetAttribute(pool, cudaMemPoolAttrReleaseThreshold, &kept));
    if (status == cudaSuccess) pools[device] = pool;
  }
  TRY(cudaMallocFromPoolAsync(address, bytes, pools[device], stream));
  return status;
}

// Kernel "dot" (kernels.ts), written by isoform.

extern "C" __global__ void __launch_bounds__(256) dot_kernel(
  const double *__restrict__ x_, const double *__restrict__ y_, const long long chunks_, const long long i_begin_,
  const long long i_end_, double *__restrict__ s_partials_
) {
  const long long lane_ = (long long)(threadIdx.x % 8);
  const long long chunk_ = (long long)blockIdx.x * 32 + (long long)(threadIdx.x / 8);
  double s_ = 0.0;
  if (chunk_ < chunks_) {
    const long long start_ = i_begin_ + chunk_ * 256;
    const long long stop_ = start_ + 256 < i_end_ ? start_ + 256 : i_end_;
    #pragma unroll 4
    for (long long i = start_ + lane_; i < stop_; i += 8) {
      s_ += x_[i] * y_[i];  // line 14
    }
  }
  for (int step_ = 4; step_ > 0; step_ /= 2) {
    s_ += __shfl_down_sync(~0u, s_, step_);
  }
  if (lane_ == 0 && chunk_ < chunks_) s_partials_[chunk_] = s_;
}

extern "C" __global__ void __launch_bounds__(256) dot_kernel_fold(
  double *s_partials_, double *s_folded_, const long long partial_count_
) {
  const long long chunk = (long long)blockIdx.x * 32 + (long long)(threadIdx.x / 8);
  {
    double total = 0.0;
    const long long stop = (chunk + 1) * 256 < partial_count_ ? (chunk + 1) * 256 : partial_count_;
    for (long long n = chunk * 256 + (long long)(threadIdx.x % 8); n < stop; n += 8) {
      total += s_partials_[n];
    }
    for (int step_ = 4; step_ > 0; step_ /= 2) {
      total += __shfl_down_sync(~0u, total, step_);
    }
    if (threadIdx.x % 8 == 0 && chunk * 256 < partial_count_) s_folded_[chunk] = total;
  }
}

extern "C" __global__ void __launch_bounds__(1024) dot_kernel_finish(
  double *s_partials_, double *s_folded_, const long long partial_count_, long long *results_
) {
  {
    double *from = s_partials_;
    double *to = s_folded_;
    long long count = partial_count_;
    while (count > 1) {
      const long long chunks = (count + 255) / 256;
      for (long long first = 0; first < chunks; first += 128) {
        const long long chunk = first + (long long)(threadIdx.x / 8);
        {
          double total = 0.0;
          const long long stop = (chunk + 1) * 256 < count ? (chunk + 1) * 256 : count;
          for (long long n = chunk * 256 + (long long)(threadIdx.x % 8); n < stop; n += 8) {
            total += from[n];
          }
          for (int step_ = 4; step_ > 0; step_ /= 2) {
            total += __shfl_down_sync(~0u, total, step_);
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
      *(double *)(results_ + 0) = result;
    }
  }
}

/*
 * Runs kernel "dot" over a range.
 *   s_                takes the sum; 0 for an empty range
 *   x_                element 0 of an array of rank 1, read
 *   x_extent0_        elements
 *   y_                element 0 of an array of rank 1, read
 *   y_extent0_        elements
 *   i_begin_, i_end_  first index of the range and the one after its last, along each axis
 * Arrays may not share memory.
 * Arrays are in the device's memory, results in the host's.
 * Waits for the results.
 * Returns cudaSuccess, or the error of the call that failed.
 */
extern "C" cudaError_t dot_launch(
  double *s_,
  const double *x_,
  int32_t x_extent0_,
  const double *y_,
  int32_t y_extent0_,
  long long i_begin_, long long i_end_,
  cudaStream_t stream
)
{
  cudaError_t status = cudaSuccess;
  const long long i_count_ = i_end_ > i_begin_ ? i_end_ - i_begin_ : 0;
  const long long chunks_per_line_ = (i_count_ + 255) / 256;
  long long *results_ = nullptr;
  TRY(dot_allocate((void **)&results_, 8, stream));
  double *s_partials_ = nullptr;
  TRY(dot_allocate((void **)&s_partials_, 8 * (chunks_per_line_ > 1 ? chunks_per_line_ : 1), stream));
  const long long n_ = (chunks_per_line_ + 255) / 256;
  double *s_folded_ = nullptr;
  TRY(dot_allocate((void **)&s_folded_, 8 * (n_ > 1 ? n_ : 1), stream));
  if (i_count_ > 0) {
    if (status == cudaSuccess) {
      const dim3 grid((unsigned int)((chunks_per_line_ + 31) / 32), 1, 1), block(256, 1, 1);
      dot_kernel<<<grid, block, 0, stream>>>(x_, y_, chunks_per_line_, i_begin_, i_end_, s_partials_);
      status = cudaGetLastError();
    }
  }
  long long partial_count_ = chunks_per_line_;
  while (partial_count_ > 16384) {
    if (status == cudaSuccess) {
      const dim3 grid((unsigned int)((((partial_count_ + 255) / 256) + 31) / 32), 1, 1), block(256, 1, 1);
      dot_kernel_fold<<<grid, block, 0, stream>>>(s_partials_, s_folded_, partial_count_);
      status = cudaGetLastError();
    }
    double *swap_ = s_partials_;
    s_partials_ = s_folded_;
    s_folded_ = swap_;
    partial_count_ = (partial_count_ + 255) / 256;
  }
  if (status == cudaSuccess) {
    const dim3 grid(1, 1, 1), block(1024, 1, 1);
    dot_kernel_finish<<<grid, block, 0, stream>>>(s_partials_, s_folded_, partial_count_, results_);
    status = cudaGetLastError();
  }
  long long values_[1];
  TRY(cudaMemcpyAsync(values_, results_, sizeof values_, cudaMemcpyDeviceToHost, stream));
  TRY(cudaStreamSynchronize(stream));
  if (status == cudaSuccess) {
    memcpy(s_, &values_[0], 8);
  }
  if (results_) (void)cudaFreeAsync(results_, stream);
  if (s_partials_) (void)cudaFreeAsync(s_partials_, stream);
  if (s_folded_) (void)cudaFreeAsync(s_folded_, stream);
  return status;
}
