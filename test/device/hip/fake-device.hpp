/* What HIP code needs of its GPU, on the CPU: put in front of a source, which any C++ compiler then takes. The threads of a block are
   fibers; they run one after the other up to a barrier or to an exchange of their wavefront. */
#include <math.h>
#include <setjmp.h>
#include <stddef.h>
#include <string.h>
#include <stdio.h>
#include <ucontext.h>

#define __global__
#define __device__
#define __shared__ static
#define __launch_bounds__(...)

struct Dim { unsigned x, y, z; };
static Dim threadIdx, blockIdx, blockDim, gridDim;

namespace fake {
enum State { READY, EXCHANGING, AT_BARRIER, ENDED };
struct Fiber {
  ucontext_t context;
  /* Where it waits: a jump asks nothing of the kernel, which swapcontext does for the mask of signals. */
  jmp_buf at;
  bool begun;
  State state;
  Dim index;
  bool offers;
  unsigned char offered[8];
};
const unsigned MOST = 1024, STACK = 64 << 10;
static Fiber fibers[MOST];
static jmp_buf scheduler;
static unsigned current, threads, wave;
static double *dynamic;
static void (*body)(const char *);
static const char *arguments;

static void wait(State state) {
  const unsigned self = current;
  fibers[self].state = state;
  if (!_setjmp(fibers[self].at)) _longjmp(scheduler, 1);
  threadIdx = fibers[self].index;
}

/* A fiber is the thread of its number in one block after the other. */
static void begin() {
  for (;;) {
    body(arguments);
    wait(ENDED);
  }
}

/* Lets a fiber run until it waits or ends. */
__attribute__((noinline)) static void enter(Fiber &fiber) {
  if (_setjmp(scheduler)) return;
  if (fiber.begun) _longjmp(fiber.at, 1);
  fiber.begun = true;
  setcontext(&fiber.context);
}

/* The value of the thread that has the lane `lane` of this thread's wavefront; what one gets of a thread that does not take part is no value. */
template <class T> T exchange(T value, unsigned lane) {
  Fiber &self = fibers[current];
  memcpy(self.offered, &value, sizeof value);
  self.offers = true;
  wait(EXCHANGING);
  const Fiber &other = fibers[current / wave * wave + lane];
  T got;
  memset(&got, 0xa5, sizeof got);
  if (other.offers) memcpy(&got, other.offered, sizeof got);
  wait(EXCHANGING);
  self.offers = false;
  return got;
}

static void make_fibers(char *stacks) {
  for (unsigned n = 0; n < threads; n++) {
    Fiber &fiber = fibers[n];
    fiber.begun = false;
    fiber.index = {n % blockDim.x, n / blockDim.x % blockDim.y, n / blockDim.x / blockDim.y};
    getcontext(&fiber.context);
    fiber.context.uc_stack.ss_sp = stacks + (size_t)n * STACK;
    fiber.context.uc_stack.ss_size = STACK;
    makecontext(&fiber.context, begin, 0);
  }
}

/* Runs one block; false where some of its threads wait at a barrier and others have ended. */
static bool block() {
  for (unsigned n = 0; n < threads; n++) {
    fibers[n].state = READY;
    fibers[n].offers = false;
  }
  for (;;) {
    unsigned ready = 0, exchanging = 0, waiting = 0, ended = 0;
    for (current = 0; current < threads; current++) {
      if (fibers[current].state != READY) continue;
      threadIdx = fibers[current].index;
      enter(fibers[current]);
    }
    for (unsigned n = 0; n < threads; n++) {
      ready += fibers[n].state == READY;
      exchanging += fibers[n].state == EXCHANGING;
      waiting += fibers[n].state == AT_BARRIER;
      ended += fibers[n].state == ENDED;
    }
    if (ended == threads) return true;
    // Some have only let others go first.
    if (ready > 0) continue;
    if (exchanging == 0 && ended > 0) return false;
    const State passed = exchanging > 0 ? EXCHANGING : AT_BARRIER;
    for (unsigned n = 0; n < threads; n++)
      if (fibers[n].state == passed) fibers[n].state = READY;
  }
}

template <class T> T take(const char *&at, const char *first) {
  at = first + (at - first + alignof(T) - 1) / alignof(T) * alignof(T);
  T value;
  memcpy(&value, at, sizeof value);
  at += sizeof value;
  return value;
}

struct Call {
  template <class F, class... A> Call(F function, A... values) { function(values...); }
};
template <class... A> void call(void (*function)(A...), const char *first) {
  const char *at = first;
  // Braces, for the order.
  Call{function, take<A>(at, first)...};
  (void)at;
}
template <class... A> size_t bytes(void (*)(A...)) {
  size_t end = 0;
  ((end = (end + alignof(A) - 1) / alignof(A) * alignof(A) + sizeof(A)), ...);
  return end;
}

/* Writes the arguments as text; pointers go through `known`, which tells the number of bytes behind each in its piece of memory. */
typedef void (*Known)(const void *pointer, char *text, size_t room);
static void show(char *text, size_t room, Known known, const volatile void *value) { known((const void *)value, text, room); }
static void show(char *text, size_t room, Known, double value) { snprintf(text, room, "%.17g", value); }
static void show(char *text, size_t room, Known, float value) { snprintf(text, room, "%.9g", (double)value); }
static void show(char *text, size_t room, Known, int value) { snprintf(text, room, "%d", value); }
static void show(char *text, size_t room, Known, unsigned value) { snprintf(text, room, "%u", value); }
static void show(char *text, size_t room, Known, long long value) { snprintf(text, room, "%lld", value); }
static void show(char *text, size_t room, Known, bool value) { snprintf(text, room, "%s", value ? "true" : "false"); }

struct Shown {
  template <class... A> Shown(char *text, size_t room, Known known, A... values) {
    text[0] = 0;
    ((show(text + strlen(text), room - strlen(text), known, values), strncat(text, ", ", room - strlen(text) - 1)), ...);
    const size_t length = strlen(text);
    if (length >= 2) text[length - 2] = 0;
  }
};
template <class... A> void shown(void (*)(A...), const char *first, char *text, size_t room, Known known) {
  const char *at = first;
  Shown{text, room, known, take<A>(at, first)...};
  (void)at;
}

/* Runs a grid of 6 extents, blocks then threads. */
static bool run(void (*entry)(const char *), const char *params, const unsigned *shape, unsigned wavefront, double *shared, char *stacks) {
  gridDim = {shape[0], shape[1], shape[2]};
  blockDim = {shape[3], shape[4], shape[5]};
  threads = shape[3] * shape[4] * shape[5];
  wave = wavefront;
  dynamic = shared;
  body = entry;
  arguments = params;
  make_fibers(stacks);
  for (blockIdx.z = 0; blockIdx.z < gridDim.z; blockIdx.z++)
    for (blockIdx.y = 0; blockIdx.y < gridDim.y; blockIdx.y++)
      for (blockIdx.x = 0; blockIdx.x < gridDim.x; blockIdx.x++)
        if (!block()) return false;
  return true;
}
}  // namespace fake

#define FAKE_ENTRY(name)                                                                                          \
  static void name##_body(const char *params) { fake::call(name, params); }                                       \
  extern "C" size_t name##_bytes() { return fake::bytes(name); }                                                  \
  extern "C" void name##_shown(const char *params, char *text, size_t room, fake::Known known) {                  \
    fake::shown(name, params, text, room, known);                                                                 \
  }                                                                                                               \
  extern "C" bool name##_run(const char *params, const unsigned *shape, unsigned wave, double *shared, char *stacks) { \
    return fake::run(name##_body, params, shape, wave, shared, stacks);                                           \
  }

static inline unsigned lane_() { return fake::current % fake::wave; }

static inline void __syncthreads() { fake::wait(fake::AT_BARRIER); }
static inline void __threadfence() {}
/* Threads of a wavefront that go the same way come here in one round. */
static inline void __builtin_amdgcn_wave_barrier() { fake::wait(fake::EXCHANGING); }
static inline void __builtin_amdgcn_fence(int, const char *) {}

template <class T> T __shfl_down(T value, unsigned step, int width) {
  const unsigned lane = lane_();
  return fake::exchange(value, lane % width + step < (unsigned)width ? lane + step : lane);
}
template <class T> T __shfl_xor(T value, int mask, int width) {
  const unsigned lane = lane_(), other = lane ^ mask;
  return fake::exchange(value, other / width == lane / width ? other : lane);
}
static inline unsigned long long __ballot(int vote) {
  fake::Fiber &self = fake::fibers[fake::current];
  memcpy(self.offered, &vote, sizeof vote);
  self.offers = true;
  fake::wait(fake::EXCHANGING);
  const unsigned first = fake::current / fake::wave * fake::wave;
  unsigned long long votes = 0;
  for (unsigned n = 0; n < fake::wave && first + n < fake::threads; n++) {
    int other = 0;
    if (fake::fibers[first + n].offers) memcpy(&other, fake::fibers[first + n].offered, sizeof other);
    if (other) votes |= 1ull << n;
  }
  fake::wait(fake::EXCHANGING);
  self.offers = false;
  return votes;
}

template <class T, class U> T atomicAdd(T *place, U value) { const T old = *place; *place = old + (T)value; return old; }
template <class T, class U> T atomicAnd(T *place, U value) { const T old = *place; *place = old & (T)value; return old; }
template <class T, class U> T atomicOr(T *place, U value) { const T old = *place; *place = old | (T)value; return old; }
template <class T, class U> T atomicXor(T *place, U value) { const T old = *place; *place = old ^ (T)value; return old; }
template <class T, class U> T atomicExch(T *place, U value) { const T old = *place; *place = (T)value; return old; }
template <class T, class U> T atomicMin(T *place, U value) { const T old = *place; if ((T)value < old) *place = (T)value; return old; }
template <class T, class U> T atomicMax(T *place, U value) { const T old = *place; if ((T)value > old) *place = (T)value; return old; }
template <class T> T atomicCAS(T *place, T seen, T wanted) { const T old = *place; if (old == seen) *place = wanted; return old; }
static inline unsigned atomicInc(unsigned *place, unsigned last) { const unsigned old = *place; *place = old >= last ? 0 : old + 1; return old; }

template <class To, class From> To bits_(From from) { To to; memcpy(&to, &from, sizeof to); return to; }
static inline double __longlong_as_double(long long bits) { return bits_<double>(bits); }
static inline long long __double_as_longlong(double value) { return bits_<long long>(value); }
static inline float __uint_as_float(unsigned bits) { return bits_<float>(bits); }
static inline unsigned __float_as_uint(float value) { return bits_<unsigned>(value); }
static inline int __clz(unsigned value) { return value ? __builtin_clz(value) : 32; }
static inline int __popc(unsigned value) { return __builtin_popcount(value); }
static inline unsigned __umulhi(unsigned a, unsigned b) { return (unsigned)((unsigned long long)a * b >> 32); }
