// Conjugate gradients for the 7-point Laplacian, zero around: sizes {n}, inputs the right-hand side [n][n][n], results the solution and the residual.
#include "program.cuh"

// Arrays with a border of zeros, [n + 2][n + 2][n + 2]. The sums stay on the device: <r, r>, the one before, and <p, s>.
struct Poisson {
  int device, n;
  int64_t cells;
  double *b = nullptr, *x = nullptr, *r = nullptr, *p = nullptr, *s = nullptr, *sums = nullptr;
};

enum { RR, BEFORE, PS };

#define CELL                                                                                                                     \
  const int ix = blockIdx.x * blockDim.x + threadIdx.x;                                                                          \
  const bool inside = ix < n;                                                                                                    \
  const int64_t py = n + 2, pz = py * py, i = (blockIdx.z + 1) * pz + (blockIdx.y + 1) * py + ix + 1;                             \
  (void)pz, (void)i;

__global__ void __launch_bounds__(128) begin(int n, const double *__restrict__ b, double *__restrict__ x, double *__restrict__ p,
                                             double *__restrict__ r, double *sums) {
  CELL double own = 0;
  if (inside) {
    const double value = b[((int64_t)blockIdx.z * n + blockIdx.y) * n + ix];
    x[i] = 0, p[i] = 0, r[i] = value;
    own = value * value;
  }
  const double total = sum_of_block(own);
  if (threadIdx.x == 0) atomicAdd(&sums[RR], total);
}
__global__ void __launch_bounds__(128) direction(int n, double *__restrict__ p, const double *__restrict__ r, const double *__restrict__ sums) {
  CELL if (inside) p[i] = r[i] + sums[RR] / sums[BEFORE] * p[i];
}
__global__ void __launch_bounds__(128) laplace_dot(int n, const double *__restrict__ p, double *__restrict__ s, double *sums) {
  CELL double own = 0;
  if (inside) {
    const double value = 6 * p[i] - p[i - 1] - p[i + 1] - p[i - py] - p[i + py] - p[i - pz] - p[i + pz];
    s[i] = value;
    own = value * p[i];
  }
  const double total = sum_of_block(own);
  if (threadIdx.x == 0) atomicAdd(&sums[PS], total);
}
__global__ void next(double *sums) {
  sums[BEFORE] = sums[RR];
  sums[RR] = 0;
}
__global__ void __launch_bounds__(128) advance(int n, double *__restrict__ x, double *__restrict__ r, const double *__restrict__ p,
                                               const double *__restrict__ s, double *sums) {
  CELL double own = 0;
  if (inside) {
    const double alpha = sums[BEFORE] / sums[PS], rest = r[i] - alpha * s[i];
    x[i] += alpha * p[i];
    r[i] = rest;
    own = rest * rest;
  }
  const double total = sum_of_block(own);
  if (threadIdx.x == 0) atomicAdd(&sums[RR], total);
}

void release(void *program) {
  Poisson *c = (Poisson *)program;
  cudaSetDevice(c->device);
  for (double *array : {c->b, c->x, c->r, c->p, c->s, c->sums}) cudaFree(array);
  delete c;
}

void *prepare(int32_t device, const int64_t *sizes, const double *const *inputs) {
  const int64_t n = sizes[0];
  Poisson *c = new Poisson{device, (int)n, (n + 2) * (n + 2) * (n + 2)};
  if (guarded([&] {
        must(cudaSetDevice(device));
        c->b = on_device(inputs[0], n * n * n);
        for (double **array : {&c->x, &c->r, &c->p, &c->s}) *array = zeros(c->cells);
        c->sums = zeros(3);
      }) == 0)
    return c;
  release(c);
  return nullptr;
}

int32_t run(void *program, int64_t iterations, double *seconds) {
  Poisson *c = (Poisson *)program;
  return guarded([&] {
    must(cudaSetDevice(c->device));
    const int n = c->n;
    const dim3 grid((n + 127) / 128, n, n);
    const double first[] = {0, 1, 0};
    must(cudaMemcpy(c->sums, first, sizeof first, cudaMemcpyHostToDevice));
    begin<<<grid, 128>>>(n, c->b, c->x, c->p, c->r, c->sums);
    Clock clock;
    clock.mark();
    for (int64_t k = 0; k < iterations; k++) {
      direction<<<grid, 128>>>(n, c->p, c->r, c->sums);
      must(cudaMemsetAsync(&c->sums[PS], 0, sizeof(double)));
      laplace_dot<<<grid, 128>>>(n, c->p, c->s, c->sums);
      next<<<1, 1>>>(c->sums);
      advance<<<grid, 128>>>(n, c->x, c->r, c->p, c->s, c->sums);
    }
    clock.mark();
    must(cudaDeviceSynchronize());
    seconds[0] = seconds[1] = clock.seconds(0, 1) / iterations;
  });
}

int32_t results(void *program, double *const *outputs) {
  Poisson *c = (Poisson *)program;
  return guarded([&] {
    must(cudaSetDevice(c->device));
    const size_t n = c->n, row = n * sizeof(double), pitch = (n + 2) * sizeof(double);
    for (int k = 0; k < 2; k++)
      for (size_t z = 0; z < n; z++) {
        const double *plane = (k == 0 ? c->x : c->r) + ((z + 1) * (n + 2) + 1) * (n + 2) + 1;
        must(cudaMemcpy2D(outputs[k] + z * n * n, row, plane, pitch, row, n, cudaMemcpyDeviceToHost));
      }
  });
}
