// Conjugate gradients for a cube of trilinear hexahedra that stands on z = 0: sizes {n} nodes along each side, inputs an element's stiffness
// [24][24] and the load along z [n][n][n], results the displacement and the residual, [3][n][n][n].
#include "../elasticity.c"
#include "program.h"
#include <omp.h>
#include <stdlib.h>

typedef struct {
  int64_t n;
  const double *load;
  double blocks[27 * BLOCKS];
  // With a border of zeros: [3][n + 2][n + 2][n + 2].
  double *x, *r, *p, *s;
} Cube;

void release(void *program) {
  Cube *c = program;
  free(c->x);
  free(c->r);
  free(c->p);
  free(c->s);
  free(c);
}

void *prepare(int32_t device, const int64_t *sizes, const double *const *inputs) {
  (void)device;
  Cube *c = calloc(1, sizeof *c);
  if (!c) return NULL;
  c->n = sizes[0];
  c->load = inputs[1];
  elasticity_blocks(inputs[0], c->blocks);
  const int64_t values = 3 * (c->n + 2) * (c->n + 2) * (c->n + 2);
  double **arrays[] = {&c->x, &c->r, &c->p, &c->s};
  for (int k = 0; k < 4; k++) {
    double *array;
    if (posix_memalign((void **)&array, 64, values * sizeof(double))) return release(c), NULL;
    *arrays[k] = array;
#pragma omp parallel for simd schedule(static)
    for (int64_t i = 0; i < values; i++) array[i] = 0;
  }
  return c;
}

// Rows of nodes, from a plane on: their first places, component by component.
#define ROWS(from)                                                        \
  for (int64_t z = from; z < n; z++)                                      \
    for (int64_t y = 0; y < n; y++)                                       \
      for (int64_t a = 0, row = (z + 1) * pz + (y + 1) * py + 1; a < 3; a++, row += q)
#define PITCHES const int64_t n = c->n, py = n + 2, pz = py * py, q = py * pz;

static double begin(Cube *c) {
  PITCHES
  double rr = 0;
#pragma omp parallel for schedule(static) reduction(+ : rr)
  ROWS(0) {
    const double *load = c->load + (z * n + y) * n;
    for (int64_t i = 0; i < n; i++) {
      const double force = a == 2 && z > 0 ? load[i] : 0;
      c->x[row + i] = 0, c->r[row + i] = force, c->p[row + i] = force, rr += force * force;
    }
  }
  return rr;
}

// s = K p and <p, s>, row by row; the lowest plane is held, and its forces are never looked at.
static double multiply(Cube *c) {
  PITCHES
  double ps = 0;
#pragma omp parallel for schedule(static) reduction(+ : ps)
  for (int64_t z = 1; z < n; z++)
    for (int64_t y = 0; y < n; y++) {
      const int64_t row = (z + 1) * pz + (y + 1) * py + 1;
      const int k = 9 * kind(z, n) + 3 * kind(y, n);
      double *p = c->p + row, *s = c->s + row;
      outer_nodes(p, s, c->blocks + BLOCKS * k, py, pz, q, 0, 1);
      (k == 9 + 3 ? inner_nodes : outer_nodes)(p, s, c->blocks + BLOCKS * (k + 1), py, pz, q, 1, n - 1);
      outer_nodes(p, s, c->blocks + BLOCKS * (k + 2), py, pz, q, n - 1, n);
#pragma omp simd reduction(+ : ps)
      for (int64_t i = 0; i < n; i++) ps += p[i] * s[i] + p[i + q] * s[i + q] + p[i + 2 * q] * s[i + 2 * q];
    }
  return ps;
}

static double advance(Cube *c, double alpha) {
  PITCHES
  double rr = 0;
#pragma omp parallel for schedule(static) reduction(+ : rr)
  ROWS(1) {
    double *restrict x = c->x + row, *restrict r = c->r + row;
    const double *restrict p = c->p + row, *restrict s = c->s + row;
#pragma omp simd reduction(+ : rr)
    for (int64_t i = 0; i < n; i++) {
      x[i] += alpha * p[i];
      r[i] -= alpha * s[i];
      rr += r[i] * r[i];
    }
  }
  return rr;
}

static void direction(Cube *c, double beta) {
  PITCHES
#pragma omp parallel for schedule(static)
  ROWS(1) {
    double *restrict p = c->p + row;
    const double *restrict r = c->r + row;
#pragma omp simd
    for (int64_t i = 0; i < n; i++) p[i] = r[i] + beta * p[i];
  }
}

int32_t run(void *program, int64_t iterations, double *seconds) {
  Cube *c = program;
  double rr = begin(c);
  const double start = omp_get_wtime();
  for (int64_t k = 0; k < iterations; k++) {
    const double before = rr;
    rr = advance(c, rr / multiply(c));
    direction(c, rr / before);
  }
  seconds[0] = seconds[1] = (omp_get_wtime() - start) / iterations;
  return 0;
}

int32_t results(void *program, double *const *outputs) {
  const Cube *c = program;
  PITCHES
  ROWS(0) {
    const int64_t out = ((a * n + z) * n + y) * n;
    memcpy(outputs[0] + out, c->x + row, n * sizeof(double));
    memcpy(outputs[1] + out, c->r + row, n * sizeof(double));
  }
  return 0;
}

const char *problem(void) { return "there is not enough memory"; }
