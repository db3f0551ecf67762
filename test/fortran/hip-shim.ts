/*
 * HIP's run-time header for a CPU: a launch runs the threads of its grid one after the other, the last one first where SHIM_BACKWARDS is set; a thread
 * that waits for others lets them run. Where SHIM_LATE is set, kernels run when the host waits for them. The memory of the device is the host's, except
 * where SHIM_SEPARATE is set: then it can be touched by kernels and copies alone, holds wrong values at first, and kernels may be given no other.
 */
export const HIP_SHIM = `#pragma once
#include <algorithm>
#include <cmath>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <functional>
#include <map>
#include <memory>
#include <setjmp.h>
#include <type_traits>
#include <ucontext.h>
#include <vector>
#include <sys/mman.h>
struct dim3 {
  unsigned x, y, z;
  dim3(unsigned x = 1, unsigned y = 1, unsigned z = 1) : x(x), y(y), z(z) {}
};
#define __global__
#define __device__
#define __host__
#define __shared__ static
#define __launch_bounds__(...)
inline dim3 blockIdx, threadIdx, blockDim, gridDim;
inline const bool shim_backwards = std::getenv("SHIM_BACKWARDS") != nullptr;
inline const bool shim_late = std::getenv("SHIM_LATE") != nullptr;

/** Threads of a block. Each that waits keeps a stack until the others have come as far. */
struct ShimBlock {
  enum State { waiting_for_warp, waiting_for_block, running, done };
  struct Worker {
    ucontext_t begin;
    jmp_buf place;
    bool begun = false;
    std::unique_ptr<char[]> stack{new char[1 << 18]};
    unsigned thread = 0;
  };
  std::function<void()> kernel;
  unsigned threads = 0, next = 0;
  std::vector<State> states;
  std::vector<uint64_t> slots[2];
  std::vector<unsigned> turns;
  std::vector<std::unique_ptr<Worker>> workers;
  std::vector<Worker *> idle, waiting;
  Worker *current = nullptr;
  jmp_buf scheduler;

  void enter(unsigned thread) {
    current->thread = thread;
    threadIdx = dim3(thread % blockDim.x, thread / blockDim.x % blockDim.y, thread / blockDim.x / blockDim.y);
  }
  static void work();
  __attribute__((noinline)) void resume(Worker *worker) {
    current = worker;
    if (_setjmp(scheduler)) return;
    if (worker->begun) _longjmp(worker->place, 1);
    worker->begun = true;
    setcontext(&worker->begin);
  }
  __attribute__((noinline)) void leave(Worker *worker) {
    if (!_setjmp(worker->place)) _longjmp(scheduler, 1);
  }
  void run(std::function<void()> body) {
    kernel = std::move(body);
    threads = blockDim.x * blockDim.y * blockDim.z;
    next = 0;
    states.assign(threads, running);
    turns.assign(threads, 0);
    for (auto &slot : slots) slot.assign(threads, 0);
    while (next < threads) {
      if (idle.empty()) {
        workers.emplace_back(new Worker);
        Worker *made = workers.back().get();
        getcontext(&made->begin);
        made->begin.uc_stack.ss_sp = made->stack.get();
        made->begin.uc_stack.ss_size = 1 << 18;
        makecontext(&made->begin, work, 0);
        idle.push_back(made);
      }
      Worker *one = idle.back();
      idle.pop_back();
      resume(one);
    }
    while (!waiting.empty()) {
      const auto blocked = waiting;
      waiting.clear();
      std::vector<Worker *> ready;
      const bool block = together(waiting_for_block, 0, threads);
      unsigned warp = ~0u;
      bool all = false;
      for (Worker *worker : blocked) {
        if (states[worker->thread] == waiting_for_warp && warp != worker->thread / 32) {
          warp = worker->thread / 32;
          all = together(waiting_for_warp, 32 * warp, std::min(32 * warp + 32, threads));
        }
        (states[worker->thread] == waiting_for_block ? block : all) ? ready.push_back(worker) : waiting.push_back(worker);
      }
      if (ready.empty()) {
        std::fprintf(stderr, "threads of a block wait for different things\\n");
        std::abort();
      }
      for (Worker *worker : ready) states[worker->thread] = running;
      for (Worker *worker : ready) {
        current = worker;
        enter(worker->thread);
        resume(worker);
      }
    }
  }
  /** Whether threads have come to the same place, or have ended. */
  bool together(State state, unsigned from, unsigned to) const {
    for (unsigned n = from; n < to; n++)
      if (states[n] != state && states[n] != done) return false;
    return true;
  }
  void wait(State state) {
    Worker *self = current;
    states[self->thread] = state;
    waiting.push_back(self);
    leave(self);
  }
};
inline ShimBlock shim_block;
inline void ShimBlock::work() {
  ShimBlock &block = shim_block;
  for (;;) {
    Worker *self = block.current;
    while (block.next < block.threads) {
      const unsigned n = block.next++;
      block.enter(shim_backwards ? block.threads - 1 - n : n);
      block.kernel();
      block.states[self->thread] = done;
    }
    block.idle.push_back(self);
    block.leave(self);
  }
}
inline void __syncthreads() { shim_block.wait(ShimBlock::waiting_for_block); }
#define __threadfence() ((void)0)
#define __builtin_amdgcn_fence(...) ((void)0)
#define __builtin_amdgcn_wave_barrier() shim_block.wait(ShimBlock::waiting_for_warp)

/** What threads of a warp give at the same time. */
template <class T> T shim_exchange(T value, unsigned from) {
  ShimBlock &block = shim_block;
  const unsigned self = block.current->thread;
  auto &slots = block.slots[block.turns[self]++ % 2];
  std::memcpy(&slots[self], &value, sizeof value);
  block.wait(ShimBlock::waiting_for_warp);
  if (from >= block.threads) return value;
  std::memcpy(&value, &slots[from], sizeof value);
  return value;
}
template <class T> T __shfl_down(T value, unsigned step, unsigned width) {
  const unsigned self = shim_block.current->thread;
  return shim_exchange(value, self % width + step < width ? self + step : self);
}
template <class T> T __shfl_xor(T value, unsigned step, unsigned width) {
  const unsigned self = shim_block.current->thread;
  return shim_exchange(value, (self ^ step) / width == self / width ? self ^ step : self);
}
/** Which threads of a wavefront of 32 say yes. */
inline unsigned long long __ballot(bool yes) {
  ShimBlock &block = shim_block;
  const unsigned first = block.current->thread / 32 * 32;
  const unsigned turn = block.turns[block.current->thread] % 2;
  shim_exchange(uint64_t(yes), block.current->thread);
  unsigned long long all = 0;
  for (unsigned n = first; n < std::min(first + 32, block.threads); n++)
    if (block.states[n] != ShimBlock::done && block.slots[turn][n]) all |= 1ULL << (n - first);
  return all;
}
inline int __popc(unsigned a) { return __builtin_popcount(a); }
template <class T> T shim_atomic(T *place, T value) {
  const T before = *place;
  *place = value;
  return before;
}
template <class T, class V> T atomicAdd(T *place, V value) { return shim_atomic(place, T(*place + value)); }
template <class T, class V> T atomicMin(T *place, V value) { return shim_atomic(place, T(value) < *place ? T(value) : *place); }
template <class T, class V> T atomicMax(T *place, V value) { return shim_atomic(place, T(value) > *place ? T(value) : *place); }
template <class T> T atomicCAS(T *place, T seen, T wanted) { return shim_atomic(place, *place == seen ? wanted : *place); }
template <class A, class B> B shim_bits(A a) {
  B b;
  std::memcpy(&b, &a, sizeof b);
  return b;
}
#define __longlong_as_double shim_bits<long long, double>
#define __double_as_longlong shim_bits<double, long long>
#define __int_as_float shim_bits<int, float>
#define __uint_as_float shim_bits<unsigned, float>
#define __float_as_uint shim_bits<float, unsigned>
#define __float_as_int shim_bits<float, int>
inline int __clz(int a) { return a ? __builtin_clz(a) : 32; }
inline unsigned __umulhi(unsigned a, unsigned b) { return unsigned(1ULL * a * b >> 32); }

typedef int hipError_t;
typedef void *hipStream_t;
typedef void *hipMemPool_t;
constexpr hipError_t hipSuccess = 0, hipErrorInvalidValue = 1, hipErrorOutOfMemory = 2;
enum hipMemcpyKind { hipMemcpyHostToDevice, hipMemcpyDeviceToHost };
enum { hipMemAllocationTypePinned, hipMemLocationTypeDevice, hipMemPoolAttrReleaseThreshold };
enum { hipDeviceAttributeMultiprocessorCount, hipDeviceAttributeL2CacheSize, hipFuncAttributeMaxDynamicSharedMemorySize };
struct hipMemPoolProps {
  int allocType;
  struct {
    int type, id;
  } location;
};
inline const char *hipGetErrorString(hipError_t) { return "out of memory"; }
inline hipError_t hipGetLastError() { return hipSuccess; }
inline std::vector<std::function<void()>> shim_waiting;
inline hipError_t hipDeviceSynchronize() {
  for (const auto &run : shim_waiting) run();
  shim_waiting.clear();
  return hipSuccess;
}
inline hipError_t hipStreamSynchronize(hipStream_t) { return hipDeviceSynchronize(); }
inline hipError_t shim_enqueue(std::function<void()> run) {
  if (shim_late) shim_waiting.push_back(std::move(run));
  else run();
  return hipSuccess;
}
inline hipError_t hipGetDevice(int *device) { return *device = 0, hipSuccess; }
inline hipError_t hipDeviceGetAttribute(int *value, int what, int) {
  return *value = what == hipDeviceAttributeL2CacheSize ? 4 << 20 : 4, hipSuccess;
}
template <class K> hipError_t hipOccupancyMaxActiveBlocksPerMultiprocessor(int *blocks, K, int, size_t) { return *blocks = 2, hipSuccess; }
inline hipError_t hipFuncSetAttribute(const void *, int, int) { return hipSuccess; }
inline hipError_t hipMemPoolCreate(hipMemPool_t *pool, const hipMemPoolProps *) { return *pool = nullptr, hipSuccess; }
inline hipError_t hipMemPoolSetAttribute(hipMemPool_t, int, void *) { return hipSuccess; }
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
  if (!shim_separate()) return (*room = std::malloc(bytes)) ? std::memset(*room, 0x7b, bytes), hipSuccess : hipErrorOutOfMemory;
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
inline hipError_t hipMallocFromPoolAsync(void **room, size_t bytes, hipMemPool_t, hipStream_t) { return hipMalloc(room, bytes); }
inline hipError_t hipFreeAsync(void *room, hipStream_t) {
  return shim_enqueue([=] { hipFree(room); });
}
inline hipError_t hipMemsetAsync(void *room, int value, size_t bytes, hipStream_t) {
  return shim_enqueue([=] {
    shim_open(true);
    std::memset(room, value, bytes);
    shim_open(false);
  });
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

template <class... A> void shim_run(dim3 grid, dim3 block, const std::function<void()> &kernel, const A &...args) {
  gridDim = grid;
  blockDim = block;
  (shim_argument(args), ...);
  shim_open(true);
  const unsigned long long blocks = 1ULL * grid.x * grid.y * grid.z;
  for (unsigned long long n = 0; n < blocks; n++) {
    const unsigned long long at = shim_backwards ? blocks - 1 - n : n;
    blockIdx = dim3(unsigned(at % grid.x), unsigned(at / grid.x % grid.y), unsigned(at / grid.x / grid.y));
    shim_block.run(kernel);
  }
  shim_open(false);
}
template <class... P, class... A> void shim_launch(void (*kernel)(P...), dim3 grid, dim3 block, A... args) {
  shim_enqueue([=] { shim_run(grid, block, [=] { kernel(P(args)...); }, args...); });
}
`;

/** Kernels of HIP as the header above takes them: C++ without a syntax for launches and for memory whose size they decide. */
export const forShim = (text: string): string =>
  text
    .replace(/(\w+)<<<(\w+), (\w+), \d+, \w+>>>\(/g, "shim_launch($1, $2, $3, ")
    .replace(/(shim_launch\(.*), \);/g, "$1);")
    .replace(/#pragma unroll /g, "#pragma GCC unroll ")
    .replace(/extern __shared__ double (\w+)\[\];/g, "static double $1[8192];");
