/*
 * HIP's run-time header for a CPU: a launch runs the threads of its grid one after the other, the last one first where SHIM_BACKWARDS is set. Where
 * SHIM_LATE is set, kernels run when the host waits for them. The memory of the device is the host's, except where SHIM_SEPARATE is set: then it can be
 * touched by kernels and copies alone, holds wrong values at first, and kernels may be given no other. Threads cannot wait for each other.
 */
export const HIP_SHIM = `#pragma once
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <functional>
#include <map>
#include <type_traits>
#include <vector>
#include <sys/mman.h>
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
enum hipMemcpyKind { hipMemcpyHostToDevice, hipMemcpyDeviceToHost };
inline const char *hipGetErrorString(hipError_t) { return "out of memory"; }
inline hipError_t hipGetLastError() { return hipSuccess; }
inline std::vector<std::function<void()>> shim_waiting;
inline hipError_t hipDeviceSynchronize() {
  for (const auto &run : shim_waiting) run();
  shim_waiting.clear();
  return hipSuccess;
}
inline hipError_t hipStreamSynchronize(hipStream_t) { return hipDeviceSynchronize(); }
inline bool shim_separate() {
  static const bool is = std::getenv("SHIM_SEPARATE") != nullptr;
  return is;
}
inline std::map<char *, size_t> shim_rooms;
inline void shim_open(bool open) {
  if (shim_separate())
    for (const auto &[room, bytes] : shim_rooms) mprotect(room, bytes, open ? PROT_READ | PROT_WRITE : PROT_NONE);
}
inline bool shim_is_device(const void *at) {
  const auto next = shim_rooms.upper_bound((char *)at);
  return next != shim_rooms.begin() && (char *)at < std::prev(next)->first + std::prev(next)->second;
}
inline void shim_check(bool device, const void *at, const char *what) {
  if (!shim_separate() || shim_is_device(at) == device) return;
  std::fprintf(stderr, "shim: %s\\n", what);
  std::_Exit(9);
}
inline hipError_t hipMalloc(void **room, size_t bytes) {
  if (!shim_separate()) return (*room = std::malloc(bytes)) ? hipSuccess : hipErrorOutOfMemory;
  const size_t all = (bytes + 4095) / 4096 * 4096;
  void *const made = mmap(nullptr, all, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (made == MAP_FAILED) return hipErrorOutOfMemory;
  std::memset(made, 0xb5, all);
  shim_rooms[(char *)made] = all;
  shim_open(false);
  *room = made;
  return hipSuccess;
}
inline hipError_t hipFree(void *room) {
  if (!shim_separate()) std::free(room);
  else {
    munmap(room, shim_rooms[(char *)room]);
    shim_rooms.erase((char *)room);
  }
  return hipSuccess;
}
inline hipError_t hipMemcpy(void *to, const void *from, size_t bytes, hipMemcpyKind kind) {
  shim_check(kind == hipMemcpyHostToDevice, to, "a copy to the wrong memory");
  shim_check(kind == hipMemcpyDeviceToHost, from, "a copy from the wrong memory");
  hipDeviceSynchronize();
  shim_open(true);
  std::memcpy(to, from, bytes);
  shim_open(false);
  return hipSuccess;
}
inline hipError_t hipMemcpyAsync(void *to, const void *from, size_t bytes, hipMemcpyKind kind, hipStream_t) {
  return hipMemcpy(to, from, bytes, kind);
}
template <class A> void shim_argument(const A &a) {
  if constexpr (std::is_pointer_v<A>)
    if (a) shim_check(true, a, "a kernel is given memory of the host");
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
  (shim_argument(args), ...);
  shim_open(true);
  for (unsigned long long n = 0; n < all; n++) {
    const unsigned long long at = backwards ? all - 1 - n : n;
    blockIdx = split(at / threads, grid);
    threadIdx = split(at % threads, block);
    kernel(args...);
  }
  shim_open(false);
}
template <class K, class... A> void shim_launch(K kernel, dim3 grid, dim3 block, A... args) {
  static const bool late = std::getenv("SHIM_LATE") != nullptr;
  if (late) shim_waiting.push_back([=] { shim_run(kernel, grid, block, args...); });
  else shim_run(kernel, grid, block, args...);
}
#define hipLaunchKernelGGL(kernel, grid, block, shared, stream, ...) shim_launch(kernel, grid, block, __VA_ARGS__)
`;
