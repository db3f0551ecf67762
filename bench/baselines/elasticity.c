// The stiffness of a cube of trilinear hexahedra times displacements, by hand: u and f are [3][nz + 2][ny + 2][nx + 2], zero around the
// nodes. What a node's neighbours add depends on which of the 8 elements around it exist, so there are 27 kinds of nodes: inside, and at
// the sides, edges and corners. Where all elements exist, two components are coupled only by neighbours that are off both axes, as in every
// isotropic material.
#include <stdint.h>
#include <string.h>

enum { BLOCKS = 27 * 9 };

// 0 at the lower end, 2 at the upper one, else 1.
static int kind(int64_t x, int64_t n) { return x == 0 ? 0 : x == n - 1 ? 2 : 1; }

// For each kind of nodes, 9 kz + 3 ky + kx, the 3 x 3 block of each neighbour, [9 (dz + 1) + 3 (dy + 1) + dx + 1]. `stiffness` is an
// element's, 24 x 24, rows and columns 3 corner + axis.
void elasticity_blocks(const double *stiffness, double *blocks) {
  memset(blocks, 0, 27 * BLOCKS * sizeof(double));
  for (int k = 0; k < 27; k++)
    for (int e = 0; e < 8; e++) {
      const int far[3] = {e & 1, e >> 1 & 1, e >> 2}, at[3] = {k % 3, k / 3 % 3, k / 9};
      int exists = 1;
      for (int axis = 0; axis < 3; axis++) exists &= at[axis] != (far[axis] ? 2 : 0);
      for (int m = 0; exists && m < 8; m++) {
        const int neighbour = 9 * (far[2] + (m >> 2)) + 3 * (far[1] + (m >> 1 & 1)) + far[0] + (m & 1);
        for (int a = 0; a < 3; a++)
          for (int b = 0; b < 3; b++) blocks[BLOCKS * k + 9 * neighbour + 3 * a + b] += stiffness[24 * (3 * (7 - e) + a) + 3 * m + b];
      }
    }
}

#define K(dx, dy, dz, row, column) blocks[9 * (9 * (dz + 1) + 3 * (dy + 1) + dx + 1) + 3 * row + column]
#define NEIGHBOUR(dx, dy, dz, coupled)                                                               \
  {                                                                                                  \
    const double *at = u + x + dx + dy * py + dz * pz;                                               \
    const double a = at[0], b = at[q], c = at[2 * q];                                                \
    fx += K(dx, dy, dz, 0, 0) * a;                                                                   \
    fy += K(dx, dy, dz, 1, 1) * b;                                                                   \
    fz += K(dx, dy, dz, 2, 2) * c;                                                                   \
    if (coupled || dx * dy != 0) fx += K(dx, dy, dz, 0, 1) * b, fy += K(dx, dy, dz, 1, 0) * a;       \
    if (coupled || dx * dz != 0) fx += K(dx, dy, dz, 0, 2) * c, fz += K(dx, dy, dz, 2, 0) * a;       \
    if (coupled || dy * dz != 0) fy += K(dx, dy, dz, 1, 2) * c, fz += K(dx, dy, dz, 2, 1) * b;       \
  }
#define LINE(dy, dz, coupled) NEIGHBOUR(-1, dy, dz, coupled) NEIGHBOUR(0, dy, dz, coupled) NEIGHBOUR(1, dy, dz, coupled)
// Short sums, which do not wait for each other.
#define PLANE(dz, coupled)                                               \
  {                                                                      \
    double fx = 0, fy = 0, fz = 0;                                       \
    LINE(-1, dz, coupled) LINE(0, dz, coupled) LINE(1, dz, coupled)      \
    sx += fx, sy += fy, sz += fz;                                        \
  }
#define NODES(name, coupled)                                                                                                          \
  static void name(const double *restrict u, double *restrict f, const double *restrict blocks, int64_t py, int64_t pz, int64_t q,    \
                   int64_t first, int64_t last) {                                                                                     \
    _Pragma("omp simd")                                                                                                               \
    for (int64_t x = first; x < last; x++) {                                                                                          \
      double sx = 0, sy = 0, sz = 0;                                                                                                  \
      PLANE(-1, coupled)                                                                                                              \
      PLANE(0, coupled)                                                                                                               \
      PLANE(1, coupled)                                                                                                               \
      f[x] = sx;                                                                                                                      \
      f[x + q] = sy;                                                                                                                  \
      f[x + 2 * q] = sz;                                                                                                              \
    }                                                                                                                                 \
  }
NODES(inner_nodes, 0)
NODES(outer_nodes, 1)

void elasticity(const double *restrict u0, double *restrict f0, const double *restrict blocks, int64_t nz, int64_t ny, int64_t nx) {
  const int64_t py = nx + 2, pz = (ny + 2) * py, q = (nz + 2) * pz;
#pragma omp parallel for schedule(static)
  for (int64_t z = 0; z < nz; z++)
    for (int64_t y = 0; y < ny; y++) {
      const int64_t row = (z + 1) * pz + (y + 1) * py + 1;
      const int k = 9 * kind(z, nz) + 3 * kind(y, ny);
      outer_nodes(u0 + row, f0 + row, blocks + BLOCKS * k, py, pz, q, 0, 1);
      (k == 9 + 3 ? inner_nodes : outer_nodes)(u0 + row, f0 + row, blocks + BLOCKS * (k + 1), py, pz, q, 1, nx - 1);
      outer_nodes(u0 + row, f0 + row, blocks + BLOCKS * (k + 2), py, pz, q, nx - 1, nx);
    }
}
