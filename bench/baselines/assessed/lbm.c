// Lattice Boltzmann, D3Q19 with two relaxation times, in a box whose border is walls: sizes {n}, inputs the first populations and the two rates,
// results the populations before the last step and after it. Populations are deviations from those of the fluid at rest, [19][n][n][n]; cells of
// walls hold what the wall adds to those that it sends back.
#include "program.h"
#include <omp.h>
#include <stdlib.h>
#include <string.h>

typedef struct {
  int64_t n;
  const double *first;
  double even, odd, *from, *to;
} Box;

void release(void *program) {
  Box *b = program;
  free(b->from);
  free(b->to);
  free(b);
}

void *prepare(int32_t device, const int64_t *sizes, const double *const *inputs) {
  (void)device;
  Box *b = calloc(1, sizeof *b);
  if (!b) return NULL;
  b->n = sizes[0];
  b->first = inputs[0];
  b->even = inputs[1][0];
  b->odd = inputs[1][1];
  const size_t bytes = 19 * b->n * b->n * b->n * sizeof(double);
  if (posix_memalign((void **)&b->from, 64, bytes) || posix_memalign((void **)&b->to, 64, bytes)) return release(b), NULL;
  return b;
}

// Cells x to `end` of a row. `low` and `high` say whether a wall is beside them on each axis: what would come from there comes back.
static inline __attribute__((always_inline)) void cells(double rate_even, double rate_odd, const double *restrict f, double *restrict g, int64_t n,
                                                        int64_t first, int64_t end, int xl, int xh, int yl, int yh, int zl, int zh) {
  const int64_t py = n, pz = n * n, q = pz * n;
#pragma omp simd
  for (int64_t i = first; i < end; i++) {
#define FROM(k, opposite, step, wall) const double f##k = f[k * q + i - (step)] + ((wall) ? f[opposite * q + i] : 0);
#define PAIR_FROM(k, l, step, behind, ahead) FROM(k, l, step, behind) FROM(l, k, -(step), ahead)
    const double f0 = f[i];
    PAIR_FROM(1, 2, 1, xl, xh)
    PAIR_FROM(3, 4, py, yl, yh)
    PAIR_FROM(5, 6, pz, zl, zh)
    PAIR_FROM(7, 8, 1 + py, xl | yl, xh | yh)
    PAIR_FROM(9, 10, 1 - py, xl | yh, xh | yl)
    PAIR_FROM(11, 12, 1 + pz, xl | zl, xh | zh)
    PAIR_FROM(13, 14, 1 - pz, xl | zh, xh | zl)
    PAIR_FROM(15, 16, py + pz, yl | zl, yh | zh)
    PAIR_FROM(17, 18, py - pz, yl | zh, yh | zl)
    const double d = f0 + f1 + f2 + f3 + f4 + f5 + f6 + f7 + f8 + f9 + f10 + f11 + f12 + f13 + f14 + f15 + f16 + f17 + f18;
    const double rho = 1 + d, inverse = 1 / rho;
    const double ux = (f1 - f2 + f7 - f8 + f9 - f10 + f11 - f12 + f13 - f14) * inverse;
    const double uy = (f3 - f4 + f7 - f8 - f9 + f10 + f15 - f16 + f17 - f18) * inverse;
    const double uz = (f5 - f6 + f11 - f12 - f13 + f14 + f15 - f16 - f17 + f18) * inverse;
    const double square = 1.5 * (ux * ux + uy * uy + uz * uz);
    g[i] = f0 - rate_even * (f0 - (d - rho * square) / 3);
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
}

static void step(const Box *b) {
  const int64_t n = b->n;
#pragma omp parallel for schedule(static)
  for (int64_t z = 1; z < n - 1; z++)
    for (int64_t y = 1; y < n - 1; y++) {
      const int64_t row = (z * n + y) * n;
      const int yl = y == 1, yh = y == n - 2, zl = z == 1, zh = z == n - 2;
      cells(b->even, b->odd, b->from, b->to, n, row + 1, row + 2, 1, n == 3, yl, yh, zl, zh);
      if (yl | yh | zl | zh)
        cells(b->even, b->odd, b->from, b->to, n, row + 2, row + n - 2, 0, 0, yl, yh, zl, zh);
      else
        cells(b->even, b->odd, b->from, b->to, n, row + 2, row + n - 2, 0, 0, 0, 0, 0, 0);
      if (n > 3) cells(b->even, b->odd, b->from, b->to, n, row + n - 2, row + n - 1, 0, 1, yl, yh, zl, zh);
    }
}

int32_t run(void *program, int64_t iterations, double *seconds) {
  Box *b = program;
  const int64_t n = b->n;
#pragma omp parallel for schedule(static)
  for (int64_t z = 0; z < n; z++)
    for (int64_t q = 0; q < 19; q++) {
      const int64_t plane = (q * n + z) * n * n;
      memcpy(b->from + plane, b->first + plane, n * n * sizeof(double));
      memcpy(b->to + plane, b->first + plane, n * n * sizeof(double));
    }
  const double start = omp_get_wtime();
  for (int64_t k = 0; k < iterations; k++) {
    step(b);
    double *const done = b->to;
    b->to = b->from;
    b->from = done;
  }
  seconds[0] = seconds[1] = (omp_get_wtime() - start) / iterations;
  return 0;
}

int32_t results(void *program, double *const *outputs) {
  const Box *b = program;
  const size_t bytes = 19 * b->n * b->n * b->n * sizeof(double);
  memcpy(outputs[0], b->to, bytes);
  memcpy(outputs[1], b->from, bytes);
  return 0;
}

const char *problem(void) { return "there is not enough memory"; }
