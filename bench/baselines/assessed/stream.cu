// BabelStream's five kernels: sizes {n}, results a, b, c and the last dot product.
#include "program.cuh"

__global__ void fill(double *a, double *b, double *c, int64_t n) {
  const int64_t i = blockIdx.x * (int64_t)blockDim.x + threadIdx.x;
  if (i < n) a[i] = 0.1, b[i] = 0.2, c[i] = 0;
}
__global__ void __launch_bounds__(256) copy(double *__restrict__ c, const double *__restrict__ a, int64_t n) {
  const int64_t i = blockIdx.x * (int64_t)blockDim.x + threadIdx.x;
  if (i < n) c[i] = a[i];
}
__global__ void __launch_bounds__(256) mul(double s, double *__restrict__ b, const double *__restrict__ c, int64_t n) {
  const int64_t i = blockIdx.x * (int64_t)blockDim.x + threadIdx.x;
  if (i < n) b[i] = s * c[i];
}
__global__ void __launch_bounds__(256) add(double *__restrict__ c, const double *__restrict__ a, const double *__restrict__ b, int64_t n) {
  const int64_t i = blockIdx.x * (int64_t)blockDim.x + threadIdx.x;
  if (i < n) c[i] = a[i] + b[i];
}
__global__ void __launch_bounds__(256) triad(double s, double *__restrict__ a, const double *__restrict__ b, const double *__restrict__ c, int64_t n) {
  const int64_t i = blockIdx.x * (int64_t)blockDim.x + threadIdx.x;
  if (i < n) a[i] = b[i] + s * c[i];
}
__global__ void __launch_bounds__(1024) dot(double *sum, const double *__restrict__ a, const double *__restrict__ b, int64_t n) {
  double own = 0;
  for (int64_t i = blockIdx.x * (int64_t)blockDim.x + threadIdx.x; i < n; i += (int64_t)gridDim.x * blockDim.x) own += a[i] * b[i];
  const double total = sum_of_block(own);
  if (threadIdx.x == 0) atomicAdd(sum, total);
}

struct Stream {
  int device, processors;
  int64_t n;
  double *a = nullptr, *b = nullptr, *c = nullptr, *sum = nullptr;
};

void release(void *program) {
  Stream *s = (Stream *)program;
  cudaSetDevice(s->device);
  for (double *array : {s->a, s->b, s->c, s->sum}) cudaFree(array);
  delete s;
}

void *prepare(int32_t device, const int64_t *sizes, const double *const *) {
  Stream *s = new Stream{device, 0, sizes[0]};
  if (guarded([&] {
        must(cudaSetDevice(device));
        must(cudaDeviceGetAttribute(&s->processors, cudaDevAttrMultiProcessorCount, device));
        for (double **array : {&s->a, &s->b, &s->c}) *array = zeros(s->n);
        s->sum = zeros(1);
      }) == 0)
    return s;
  release(s);
  return nullptr;
}

int32_t run(void *program, int64_t iterations, double *seconds) {
  Stream *s = (Stream *)program;
  return guarded([&] {
    must(cudaSetDevice(s->device));
    const unsigned blocks = (unsigned)((s->n + 255) / 256);
    fill<<<blocks, 256>>>(s->a, s->b, s->c, s->n);
    Clock clock;
    for (int64_t k = 0; k < iterations; k++) {
      clock.mark();
      copy<<<blocks, 256>>>(s->c, s->a, s->n);
      clock.mark();
      mul<<<blocks, 256>>>(0.4, s->b, s->c, s->n);
      clock.mark();
      add<<<blocks, 256>>>(s->c, s->a, s->b, s->n);
      clock.mark();
      triad<<<blocks, 256>>>(0.4, s->a, s->b, s->c, s->n);
      clock.mark();
      must(cudaMemsetAsync(s->sum, 0, sizeof(double)));
      dot<<<2 * s->processors, 1024>>>(s->sum, s->a, s->b, s->n);
      clock.mark();
    }
    must(cudaDeviceSynchronize());
    for (int m = 0; m < 6; m++) seconds[m] = 0;
    for (int64_t k = 0; k < iterations; k++) {
      seconds[0] += clock.seconds(6 * k, 6 * k + 5) / iterations;
      for (int m = 0; m < 5; m++) seconds[m + 1] += clock.seconds(6 * k + m, 6 * k + m + 1) / iterations;
    }
  });
}

int32_t results(void *program, double *const *outputs) {
  Stream *s = (Stream *)program;
  return guarded([&] {
    must(cudaSetDevice(s->device));
    to_host(outputs[0], s->a, s->n);
    to_host(outputs[1], s->b, s->n);
    to_host(outputs[2], s->c, s->n);
    to_host(outputs[3], s->sum, 1);
  });
}
