// The kernels of the Gaia solver by hand, six and two for its global unknown: row-major coefficients, 32-bit indices, scatter into private copies.
#include <omp.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

enum { ASTRO = 5, ATT = 12, INSTR = 6 };

void a1Astro(const double *restrict a, const int32_t *restrict star, const double *restrict x, double *restrict b, int64_t rows) {
#pragma omp parallel for schedule(static)
  for (int64_t i = 0; i < rows; i++) {
    const double *restrict xs = x + (int64_t)ASTRO * star[i];
    double sum = 0;
    for (int k = 0; k < ASTRO; k++) sum += a[ASTRO * i + k] * xs[k];
    b[i] += sum;
  }
}

void a1Att(const double *restrict a, const int32_t *restrict knot, const double *restrict x, double *restrict b, int64_t rows, int64_t knots) {
#pragma omp parallel for schedule(static)
  for (int64_t i = 0; i < rows; i++) {
    double sum = 0;
    for (int axis = 0; axis < 3; axis++)
      for (int k = 0; k < 4; k++) sum += a[ATT * i + 4 * axis + k] * x[axis * knots + knot[i] + k];
    b[i] += sum;
  }
}

void a1Instr(const double *restrict a, const int32_t *restrict column, const double *restrict x, double *restrict b, int64_t rows) {
#pragma omp parallel for schedule(static)
  for (int64_t i = 0; i < rows; i++) {
    double sum = 0;
    for (int k = 0; k < INSTR; k++) sum += a[INSTR * i + k] * x[column[INSTR * i + k]];
    b[i] += sum;
  }
}

void a1Glob(const double *restrict g, const double *restrict x, double *restrict b, int64_t rows) {
#pragma omp parallel for simd schedule(static)
  for (int64_t i = 0; i < rows; i++) b[i] += g[i] * x[0];
}

void a2Glob(const double *restrict g, const double *restrict u, double *restrict v, int64_t rows) {
  double sum = 0;
#pragma omp parallel for simd schedule(static) reduction(+ : sum)
  for (int64_t i = 0; i < rows; i++) sum += g[i] * u[i];
  v[0] += sum;
}

void a2Astro(const double *restrict a, const int32_t *restrict starRow, const double *restrict u, double *restrict v, int64_t stars) {
#pragma omp parallel for schedule(static)
  for (int64_t s = 0; s < stars; s++) {
    double sum[ASTRO] = {0};
    for (int64_t i = starRow[s]; i < starRow[s + 1]; i++)
      for (int k = 0; k < ASTRO; k++) sum[k] += a[ASTRO * i + k] * u[i];
    for (int k = 0; k < ASTRO; k++) v[ASTRO * s + k] += sum[k];
  }
}

// Private copies of a scatter target: the first thread adds into the target itself. They are zero between calls.
static double *copies;
static int64_t copied;

static void reserve(int64_t length) {
  const int64_t needed = length * (omp_get_max_threads() - 1);
  if (needed <= copied) return;
  free(copies);
  copies = calloc(needed, sizeof(double));
  copied = needed;
}

static void fold(double *restrict v, int64_t length) {
  const int threads = omp_get_num_threads();
#pragma omp for schedule(static)
  for (int64_t i = 0; i < length; i++)
    for (int t = 1; t < threads; t++) {
      v[i] += copies[(t - 1) * length + i];
      copies[(t - 1) * length + i] = 0;
    }
}

void a2Att(const double *restrict a, const int32_t *restrict knot, const double *restrict u, double *restrict v, int64_t rows, int64_t knots) {
  reserve(3 * knots);
#pragma omp parallel
  {
    const int thread = omp_get_thread_num();
    double *restrict mine = thread == 0 ? v : copies + (thread - 1) * 3 * knots;
#pragma omp for schedule(static)
    for (int64_t i = 0; i < rows; i++)
      for (int axis = 0; axis < 3; axis++)
        for (int k = 0; k < 4; k++) mine[axis * knots + knot[i] + k] += a[ATT * i + 4 * axis + k] * u[i];
    fold(v, 3 * knots);
  }
}

void a2Instr(const double *restrict a, const int32_t *restrict column, const double *restrict u, double *restrict v, int64_t rows, int64_t columns) {
  reserve(columns);
#pragma omp parallel
  {
    const int thread = omp_get_thread_num();
    double *restrict mine = thread == 0 ? v : copies + (thread - 1) * columns;
#pragma omp for schedule(static)
    for (int64_t i = 0; i < rows; i++)
      for (int k = 0; k < INSTR; k++) mine[column[INSTR * i + k]] += a[INSTR * i + k] * u[i];
    fold(v, columns);
  }
}
