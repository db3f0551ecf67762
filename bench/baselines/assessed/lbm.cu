// Lattice Boltzmann, D3Q19 with two relaxation times, in a box whose border is walls: sizes {n}, inputs the first populations and the two rates,
// results the populations before the last step and after it. Populations are deviations from those of the fluid at rest, [19][n][n][n]; cells of
// walls hold what the wall adds to those that it sends back.
#include "program.cuh"
#include <utility>

__global__ void __launch_bounds__(128) step(double rate_even, double rate_odd, const double *__restrict__ f, double *__restrict__ g, int n) {
  const int x = blockIdx.x * blockDim.x + threadIdx.x + 1, y = blockIdx.y + 1, z = blockIdx.z + 1;
  if (x >= n - 1) return;
  const int64_t py = n, pz = (int64_t)n * n, q = pz * n, i = z * pz + y * py + x;
  // A wall is beside the cell: what would come from there comes back.
  const bool xl = x == 1, xh = x == n - 2, yl = y == 1, yh = y == n - 2, zl = z == 1, zh = z == n - 2;
#define FROM(k, opposite, step, wall) \
  double f##k = f[k * q + i - (step)]; \
  if (wall) f##k += f[opposite * q + i];
#define PAIR_FROM(k, l, step, behind, ahead) FROM(k, l, step, behind) FROM(l, k, -(step), ahead)
  const double f0 = f[i];
  PAIR_FROM(1, 2, 1, xl, xh)
  PAIR_FROM(3, 4, py, yl, yh)
  PAIR_FROM(5, 6, pz, zl, zh)
  PAIR_FROM(7, 8, 1 + py, xl || yl, xh || yh)
  PAIR_FROM(9, 10, 1 - py, xl || yh, xh || yl)
  PAIR_FROM(11, 12, 1 + pz, xl || zl, xh || zh)
  PAIR_FROM(13, 14, 1 - pz, xl || zh, xh || zl)
  PAIR_FROM(15, 16, py + pz, yl || zl, yh || zh)
  PAIR_FROM(17, 18, py - pz, yl || zh, yh || zl)
  const double d = f0 + f1 + f2 + f3 + f4 + f5 + f6 + f7 + f8 + f9 + f10 + f11 + f12 + f13 + f14 + f15 + f16 + f17 + f18;
  const double rho = 1 + d, inverse = 1 / rho;
  const double ux = (f1 - f2 + f7 - f8 + f9 - f10 + f11 - f12 + f13 - f14) * inverse;
  const double uy = (f3 - f4 + f7 - f8 - f9 + f10 + f15 - f16 + f17 - f18) * inverse;
  const double uz = (f5 - f6 + f11 - f12 - f13 + f14 + f15 - f16 - f17 + f18) * inverse;
  const double square = 1.5 * (ux * ux + uy * uy + uz * uz);
  g[i] = f0 - rate_even * (f0 - (1.0 / 3) * (d - rho * square));
#define COLLIDE(k, l, weight, c)                                                                                      \
  {                                                                                                                   \
    const double along = (c);                                                                                         \
    const double even = rate_even * (0.5 * (f##k + f##l) - (weight) * (d + rho * (4.5 * along * along - square)));    \
    const double odd = rate_odd * (0.5 * (f##k - f##l) - (weight) * rho * 3 * along);                                 \
    g[k * q + i] = f##k - (even + odd);                                                                               \
    g[l * q + i] = f##l - (even - odd);                                                                               \
  }
  COLLIDE(1, 2, 1.0 / 18, ux)
  COLLIDE(3, 4, 1.0 / 18, uy)
  COLLIDE(5, 6, 1.0 / 18, uz)
  COLLIDE(7, 8, 1.0 / 36, ux + uy)
  COLLIDE(9, 10, 1.0 / 36, ux - uy)
  COLLIDE(11, 12, 1.0 / 36, ux + uz)
  COLLIDE(13, 14, 1.0 / 36, ux - uz)
  COLLIDE(15, 16, 1.0 / 36, uy + uz)
  COLLIDE(17, 18, 1.0 / 36, uy - uz)
}

struct Box {
  int device, n;
  double even, odd;
  double *first = nullptr, *from = nullptr, *to = nullptr;
  int64_t count() const { return 19 * (int64_t)n * n * n; }
};

void release(void *program) {
  Box *b = (Box *)program;
  cudaSetDevice(b->device);
  for (double *array : {b->first, b->from, b->to}) cudaFree(array);
  delete b;
}

void *prepare(int32_t device, const int64_t *sizes, const double *const *inputs) {
  Box *b = new Box{device, (int)sizes[0], inputs[1][0], inputs[1][1]};
  if (guarded([&] {
        must(cudaSetDevice(device));
        b->first = on_device(inputs[0], b->count());
        b->from = zeros(b->count());
        b->to = zeros(b->count());
      }) == 0)
    return b;
  release(b);
  return nullptr;
}

int32_t run(void *program, int64_t iterations, double *seconds) {
  Box *b = (Box *)program;
  return guarded([&] {
    must(cudaSetDevice(b->device));
    for (double *array : {b->from, b->to}) must(cudaMemcpy(array, b->first, b->count() * sizeof(double), cudaMemcpyDeviceToDevice));
    const int n = b->n;
    const dim3 grid((n - 2 + 127) / 128, n - 2, n - 2);
    Clock clock;
    clock.mark();
    for (int64_t k = 0; k < iterations; k++) {
      step<<<grid, 128>>>(b->even, b->odd, b->from, b->to, n);
      std::swap(b->from, b->to);
    }
    clock.mark();
    must(cudaDeviceSynchronize());
    seconds[0] = seconds[1] = clock.seconds(0, 1) / iterations;
  });
}

int32_t results(void *program, double *const *outputs) {
  Box *b = (Box *)program;
  return guarded([&] {
    must(cudaSetDevice(b->device));
    to_host(outputs[0], b->to, b->count());
    to_host(outputs[1], b->from, b->count());
  });
}
