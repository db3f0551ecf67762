// BabelStream's five kernels by hand.
#include <stdint.h>

void copy(double *restrict c, const double *restrict a, int64_t n) {
#pragma omp parallel for simd schedule(static)
  for (int64_t i = 0; i < n; i++) c[i] = a[i];
}

void mul(double s, double *restrict b, const double *restrict c, int64_t n) {
#pragma omp parallel for simd schedule(static)
  for (int64_t i = 0; i < n; i++) b[i] = s * c[i];
}

void add(double *restrict c, const double *restrict a, const double *restrict b, int64_t n) {
#pragma omp parallel for simd schedule(static)
  for (int64_t i = 0; i < n; i++) c[i] = a[i] + b[i];
}

void triad(double s, double *restrict a, const double *restrict b, const double *restrict c, int64_t n) {
#pragma omp parallel for simd schedule(static)
  for (int64_t i = 0; i < n; i++) a[i] = b[i] + s * c[i];
}

double dot(const double *restrict a, const double *restrict b, int64_t n) {
  double sum = 0;
#pragma omp parallel for simd schedule(static) reduction(+ : sum)
  for (int64_t i = 0; i < n; i++) sum += a[i] * b[i];
  return sum;
}
