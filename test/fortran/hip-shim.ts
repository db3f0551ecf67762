/*
 * HIP's run-time header for a CPU: a launch runs the threads of its grid one after the other, the last one first where SHIM_BACKWARDS is set. Where
 * SHIM_LATE is set, kernels run when the host waits for them. The memory of the device is the host's. Threads cannot wait for each other.
 */
export const HIP_SHIM = `#pragma once
#include <cstdlib>
#include <cstring>
#include <functional>
#include <vector>
struct dim3 {
  unsigned x, y, z;
  dim3(unsigned x = 1, unsigned y = 1, unsigned z = 1) : x(x), y(y), z(z) {}
};
#define __global__
#define __device__
#define __host__
#define __launch_bounds__(threads)
inline dim3 blockIdx, threadIdx, blockDim, gridDim;

typedef int hipError_t;
typedef void *hipStream_t;
constexpr hipError_t hipSuccess = 0, hipErrorOutOfMemory = 2;
enum hipMemcpyKind { hipMemcpyDeviceToHost };
inline const char *hipGetErrorString(hipError_t) { return "out of memory"; }
inline hipError_t hipGetLastError() { return hipSuccess; }
inline std::vector<std::function<void()>> shim_waiting;
inline hipError_t hipDeviceSynchronize() {
  for (const auto &run : shim_waiting) run();
  shim_waiting.clear();
  return hipSuccess;
}
inline hipError_t hipStreamSynchronize(hipStream_t) { return hipDeviceSynchronize(); }
inline hipError_t hipMalloc(void **room, size_t bytes) { return (*room = std::malloc(bytes)) ? hipSuccess : hipErrorOutOfMemory; }
inline hipError_t hipMemcpyAsync(void *to, const void *from, size_t bytes, hipMemcpyKind, hipStream_t) {
  hipDeviceSynchronize();
  std::memcpy(to, from, bytes);
  return hipSuccess;
}

template <class K, class... A> void shim_run(K kernel, dim3 grid, dim3 block, A... args) {
  static const bool backwards = std::getenv("SHIM_BACKWARDS") != nullptr;
  gridDim = grid;
  blockDim = block;
  const auto split = [](unsigned long long n, dim3 by) {
    return dim3(unsigned(n % by.x), unsigned(n / by.x % by.y), unsigned(n / by.x / by.y));
  };
  const unsigned long long threads = 1ULL * block.x * block.y * block.z;
  const unsigned long long all = 1ULL * grid.x * grid.y * grid.z * threads;
  for (unsigned long long n = 0; n < all; n++) {
    const unsigned long long at = backwards ? all - 1 - n : n;
    blockIdx = split(at / threads, grid);
    threadIdx = split(at % threads, block);
    kernel(args...);
  }
}
template <class K, class... A> void shim_launch(K kernel, dim3 grid, dim3 block, A... args) {
  static const bool late = std::getenv("SHIM_LATE") != nullptr;
  if (late) shim_waiting.push_back([=] { shim_run(kernel, grid, block, args...); });
  else shim_run(kernel, grid, block, args...);
}
#define hipLaunchKernelGGL(kernel, grid, block, shared, stream, ...) shim_launch(kernel, grid, block, __VA_ARGS__)
`;
