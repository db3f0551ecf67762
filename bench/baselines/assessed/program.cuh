// What programs in CUDA share: errors as exceptions inside, events as clocks.
#include "program.h"
#include <stdexcept>
#include <string>
#include <vector>

static std::string trouble;

static void must(cudaError_t status) {
  if (status != cudaSuccess) throw std::runtime_error(cudaGetErrorString(status));
}

template <class Work> static int32_t guarded(Work work) {
  try {
    work();
    return 0;
  } catch (const std::exception &error) {
    trouble = error.what();
    return 1;
  }
}

const char *problem(void) { return trouble.c_str(); }

static double *zeros(int64_t count) {
  double *memory;
  must(cudaMalloc(&memory, count * sizeof(double)));
  must(cudaMemset(memory, 0, count * sizeof(double)));
  return memory;
}

static double *on_device(const double *host, int64_t count) {
  double *memory;
  must(cudaMalloc(&memory, count * sizeof(double)));
  must(cudaMemcpy(memory, host, count * sizeof(double), cudaMemcpyHostToDevice));
  return memory;
}

static void to_host(double *host, const double *memory, int64_t count) {
  must(cudaMemcpy(host, memory, count * sizeof(double), cudaMemcpyDeviceToHost));
}

// Moments on the stream, and the seconds between them.
class Clock {
  std::vector<cudaEvent_t> marks;

public:
  void mark() {
    cudaEvent_t event;
    must(cudaEventCreate(&event));
    marks.push_back(event);
    must(cudaEventRecord(event));
  }
  double seconds(size_t from, size_t to) {
    must(cudaEventSynchronize(marks[to]));
    float ms;
    must(cudaEventElapsedTime(&ms, marks[from], marks[to]));
    return ms / 1e3;
  }
  ~Clock() {
    for (cudaEvent_t event : marks) cudaEventDestroy(event);
  }
};

// The sum over a block of up to 1024 threads, in its first thread.
__device__ static double sum_of_block(double value) {
  __shared__ double warps[32];
  for (int step = 16; step > 0; step /= 2) value += __shfl_down_sync(~0u, value, step);
  if (threadIdx.x % 32 == 0) warps[threadIdx.x / 32] = value;
  __syncthreads();
  if (threadIdx.x < 32) {
    value = threadIdx.x < blockDim.x / 32 ? warps[threadIdx.x] : 0;
    for (int step = 16; step > 0; step /= 2) value += __shfl_down_sync(~0u, value, step);
  }
  return value;
}
