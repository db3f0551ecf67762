// BabelStream's five kernels: sizes {n}, results a, b, c and the last dot product.
#include "../stream.c"
#include "program.h"
#include <omp.h>
#include <stdlib.h>
#include <string.h>

typedef struct {
  int64_t n;
  double *a, *b, *c, sum;
} Stream;

void release(void *program) {
  Stream *s = program;
  free(s->a);
  free(s->b);
  free(s->c);
  free(s);
}

void *prepare(int32_t device, const int64_t *sizes, const double *const *inputs) {
  (void)device, (void)inputs;
  Stream *s = calloc(1, sizeof *s);
  if (!s) return NULL;
  s->n = sizes[0];
  double **arrays[] = {&s->a, &s->b, &s->c};
  for (int k = 0; k < 3; k++)
    if (posix_memalign((void **)arrays[k], 64, s->n * sizeof(double))) return release(s), NULL;
  return s;
}

int32_t run(void *program, int64_t iterations, double *seconds) {
  Stream *s = program;
  const int64_t n = s->n;
  const double scalar = 0.4;
#pragma omp parallel for simd schedule(static)
  for (int64_t i = 0; i < n; i++) s->a[i] = 0.1, s->b[i] = 0.2, s->c[i] = 0;
  memset(seconds, 0, 6 * sizeof *seconds);
  for (int64_t k = 0; k < iterations; k++) {
    double marks[6];
    marks[0] = omp_get_wtime();
    copy(s->c, s->a, n);
    marks[1] = omp_get_wtime();
    mul(scalar, s->b, s->c, n);
    marks[2] = omp_get_wtime();
    add(s->c, s->a, s->b, n);
    marks[3] = omp_get_wtime();
    triad(scalar, s->a, s->b, s->c, n);
    marks[4] = omp_get_wtime();
    s->sum = dot(s->a, s->b, n);
    marks[5] = omp_get_wtime();
    seconds[0] += (marks[5] - marks[0]) / iterations;
    for (int m = 0; m < 5; m++) seconds[m + 1] += (marks[m + 1] - marks[m]) / iterations;
  }
  return 0;
}

int32_t results(void *program, double *const *outputs) {
  const Stream *s = program;
  memcpy(outputs[0], s->a, s->n * sizeof(double));
  memcpy(outputs[1], s->b, s->n * sizeof(double));
  memcpy(outputs[2], s->c, s->n * sizeof(double));
  outputs[3][0] = s->sum;
  return 0;
}

const char *problem(void) { return "there is not enough memory"; }
