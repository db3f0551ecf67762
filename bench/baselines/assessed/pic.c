// The operator H_p1 of GEMPIC: sizes {particles, n1, n2, n3}, inputs particles [7][count], two fields, and {time step, charge, charge over mass,
// length}; results the last current and the particles.
#include "../pic.c"
#include "program.h"
#include <string.h>

typedef struct {
  int64_t count, n1, n2, n3;
  const double *first, *b2, *b3, *numbers;
  double *particles, *j;
} Plasma;

void release(void *program) {
  Plasma *p = program;
  free(p->particles);
  free(p->j);
  free(p);
}

void *prepare(int32_t device, const int64_t *sizes, const double *const *inputs) {
  (void)device;
  Plasma *p = calloc(1, sizeof *p);
  if (!p) return NULL;
  p->count = sizes[0], p->n1 = sizes[1], p->n2 = sizes[2], p->n3 = sizes[3];
  p->first = inputs[0], p->b2 = inputs[1], p->b3 = inputs[2], p->numbers = inputs[3];
  if (posix_memalign((void **)&p->particles, 64, 7 * p->count * sizeof(double))) p->particles = NULL;
  p->j = calloc(p->n1 * p->n2 * p->n3, sizeof(double));
  return p->particles && p->j ? p : (release(p), NULL);
}

int32_t run(void *program, int64_t iterations, double *seconds) {
  Plasma *p = program;
  const double *s = p->numbers;
#pragma omp parallel for simd schedule(static)
  for (int64_t i = 0; i < 7 * p->count; i++) p->particles[i] = p->first[i];
  const double start = omp_get_wtime();
  for (int64_t k = 0; k < iterations; k++) push_soa(p->particles, p->count, p->b2, p->b3, p->j, s[0], s[1], s[2], s[3], p->n1, p->n2, p->n3);
  seconds[0] = seconds[1] = (omp_get_wtime() - start) / iterations;
  return 0;
}

int32_t results(void *program, double *const *outputs) {
  const Plasma *p = program;
  memcpy(outputs[0], p->j, p->n1 * p->n2 * p->n3 * sizeof(double));
  memcpy(outputs[1], p->particles, 7 * p->count * sizeof(double));
  return 0;
}

const char *problem(void) { return "there is not enough memory"; }
