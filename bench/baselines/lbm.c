// D3Q19 BGK by hand: pull and collide from one population to the other, both [19][nz][ny][nx], interior points.
#include <stdint.h>

void lbm(double omega, const double *restrict from, double *restrict to, int64_t nz, int64_t ny, int64_t nx) {
  const int64_t py = nx, pz = ny * nx, q = nz * ny * nx;
#pragma omp parallel for schedule(static)
  for (int64_t z = 1; z < nz - 1; z++)
    for (int64_t y = 1; y < ny - 1; y++) {
      const int64_t row = (z * ny + y) * nx;
#pragma omp simd
      for (int64_t x = 1; x < nx - 1; x++) {
        const int64_t i = row + x;
        const double f0 = from[i];
        const double f1 = from[1 * q + i - 1], f2 = from[2 * q + i + 1];
        const double f3 = from[3 * q + i - py], f4 = from[4 * q + i + py];
        const double f5 = from[5 * q + i - pz], f6 = from[6 * q + i + pz];
        const double f7 = from[7 * q + i - 1 - py], f8 = from[8 * q + i + 1 + py];
        const double f9 = from[9 * q + i - 1 + py], f10 = from[10 * q + i + 1 - py];
        const double f11 = from[11 * q + i - 1 - pz], f12 = from[12 * q + i + 1 + pz];
        const double f13 = from[13 * q + i - 1 + pz], f14 = from[14 * q + i + 1 - pz];
        const double f15 = from[15 * q + i - py - pz], f16 = from[16 * q + i + py + pz];
        const double f17 = from[17 * q + i - py + pz], f18 = from[18 * q + i + py - pz];
        const double rho = f0 + f1 + f2 + f3 + f4 + f5 + f6 + f7 + f8 + f9 + f10 + f11 + f12 + f13 + f14 + f15 + f16 + f17 + f18;
        const double inverse = 1 / rho;
        const double ux = (f1 - f2 + f7 - f8 + f9 - f10 + f11 - f12 + f13 - f14) * inverse;
        const double uy = (f3 - f4 + f7 - f8 - f9 + f10 + f15 - f16 + f17 - f18) * inverse;
        const double uz = (f5 - f6 + f11 - f12 - f13 + f14 + f15 - f16 - f17 + f18) * inverse;
        const double rest = 1 - 1.5 * (ux * ux + uy * uy + uz * uz);
        to[i] = f0 + omega * (rho / 3 * rest - f0);
        // The equilibria of opposite directions share their even part.
#define PAIR(n, opposite, weight, c)                                                \
  {                                                                                 \
    const double cu = (c), wr = (weight) * rho;                                     \
    const double even = wr * (rest + 4.5 * cu * cu), odd = wr * 3 * cu;             \
    to[(n) * q + i] = f##n + omega * (even + odd - f##n);                           \
    to[(opposite) * q + i] = f##opposite + omega * (even - odd - f##opposite);      \
  }
        PAIR(1, 2, 1.0 / 18, ux)
        PAIR(3, 4, 1.0 / 18, uy)
        PAIR(5, 6, 1.0 / 18, uz)
        PAIR(7, 8, 1.0 / 36, ux + uy)
        PAIR(9, 10, 1.0 / 36, ux - uy)
        PAIR(11, 12, 1.0 / 36, ux + uz)
        PAIR(13, 14, 1.0 / 36, ux - uz)
        PAIR(15, 16, 1.0 / 36, uy + uz)
        PAIR(17, 18, 1.0 / 36, uy - uz)
      }
    }
}
