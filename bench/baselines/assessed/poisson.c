// Conjugate gradients for the 7-point Laplacian, zero around: sizes {n}, inputs the right-hand side [n][n][n], results the solution and the residual.
#include "program.h"
#include <omp.h>
#include <stdlib.h>
#include <string.h>

typedef struct {
  int64_t n;
  const double *b;
  // With a border of zeros: [n + 2][n + 2][n + 2].
  double *x, *r, *p, *s;
} Poisson;

void release(void *program) {
  Poisson *c = program;
  free(c->x);
  free(c->r);
  free(c->p);
  free(c->s);
  free(c);
}

void *prepare(int32_t device, const int64_t *sizes, const double *const *inputs) {
  (void)device;
  Poisson *c = calloc(1, sizeof *c);
  if (!c) return NULL;
  c->n = sizes[0];
  c->b = inputs[0];
  const int64_t cells = (c->n + 2) * (c->n + 2) * (c->n + 2);
  double **arrays[] = {&c->x, &c->r, &c->p, &c->s};
  for (int k = 0; k < 4; k++) {
    double *array;
    if (posix_memalign((void **)&array, 64, cells * sizeof(double))) return release(c), NULL;
    *arrays[k] = array;
#pragma omp parallel for simd schedule(static)
    for (int64_t i = 0; i < cells; i++) array[i] = 0;
  }
  return c;
}

#define ROWS                                 \
  for (int64_t z = 1; z <= n; z++)           \
    for (int64_t y = 1; y <= n; y++)

static double begin(Poisson *c) {
  const int64_t n = c->n, py = n + 2, pz = py * py;
  double rr = 0;
#pragma omp parallel for schedule(static) reduction(+ : rr)
  ROWS {
    const int64_t row = z * pz + y * py + 1;
    const double *b = c->b + ((z - 1) * n + y - 1) * n;
    for (int64_t i = 0; i < n; i++) c->x[row + i] = 0, c->p[row + i] = 0, c->r[row + i] = b[i], rr += b[i] * b[i];
  }
  return rr;
}

static void direction(double beta, double *restrict p, const double *restrict r, int64_t n) {
  const int64_t py = n + 2, pz = py * py;
#pragma omp parallel for schedule(static)
  ROWS {
    const int64_t row = z * pz + y * py + 1;
#pragma omp simd
    for (int64_t i = row; i < row + n; i++) p[i] = r[i] + beta * p[i];
  }
}

static double laplace_dot(const double *restrict p, double *restrict s, int64_t n) {
  const int64_t py = n + 2, pz = py * py;
  double ps = 0;
#pragma omp parallel for schedule(static) reduction(+ : ps)
  ROWS {
    const int64_t row = z * pz + y * py + 1;
#pragma omp simd reduction(+ : ps)
    for (int64_t i = row; i < row + n; i++) {
      const double value = 6 * p[i] - p[i - 1] - p[i + 1] - p[i - py] - p[i + py] - p[i - pz] - p[i + pz];
      s[i] = value;
      ps += value * p[i];
    }
  }
  return ps;
}

static double advance(double alpha, double *restrict x, double *restrict r, const double *restrict p, const double *restrict s, int64_t n) {
  const int64_t py = n + 2, pz = py * py;
  double rr = 0;
#pragma omp parallel for schedule(static) reduction(+ : rr)
  ROWS {
    const int64_t row = z * pz + y * py + 1;
#pragma omp simd reduction(+ : rr)
    for (int64_t i = row; i < row + n; i++) {
      x[i] += alpha * p[i];
      const double rest = r[i] - alpha * s[i];
      r[i] = rest;
      rr += rest * rest;
    }
  }
  return rr;
}

int32_t run(void *program, int64_t iterations, double *seconds) {
  Poisson *c = program;
  double rr = begin(c), before = 1;
  const double start = omp_get_wtime();
  for (int64_t k = 0; k < iterations; k++) {
    direction(rr / before, c->p, c->r, c->n);
    const double ps = laplace_dot(c->p, c->s, c->n);
    before = rr;
    rr = advance(rr / ps, c->x, c->r, c->p, c->s, c->n);
  }
  seconds[0] = seconds[1] = (omp_get_wtime() - start) / iterations;
  return 0;
}

int32_t results(void *program, double *const *outputs) {
  const Poisson *c = program;
  const int64_t n = c->n, py = n + 2, pz = py * py;
  ROWS {
    const int64_t row = z * pz + y * py + 1, out = ((z - 1) * n + y - 1) * n;
    memcpy(outputs[0] + out, c->x + row, n * sizeof(double));
    memcpy(outputs[1] + out, c->r + row, n * sizeof(double));
  }
  return 0;
}

const char *problem(void) { return "there is not enough memory"; }
