// The 7-point Laplacian by hand: arrays [nz][ny][nx], interior points.
#include <stdint.h>

void laplace(const double *restrict p, double *restrict s, int64_t nz, int64_t ny, int64_t nx) {
#pragma omp parallel for schedule(static)
  for (int64_t z = 1; z < nz - 1; z++)
    for (int64_t y = 1; y < ny - 1; y++) {
      const double *restrict c = p + (z * ny + y) * nx;
      double *restrict out = s + (z * ny + y) * nx;
      for (int64_t x = 1; x < nx - 1; x++)
        out[x] = 6 * c[x] - c[x - ny * nx] - c[x + ny * nx] - c[x - nx] - c[x + nx] - c[x - 1] - c[x + 1];
    }
}
