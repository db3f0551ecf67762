// The stiffness of a cube of trilinear hexahedra times displacements, by hand: u and f are [3][nz + 2][ny + 2][nx + 2], zero around the
// nodes. `blocks` has the 3 x 3 block of each of the 27 neighbours of a node that 8 elements surround, as [9 (dz + 1) + 3 (dy + 1) + dx + 1];
// `stiffness` is an element's, 24 x 24, rows and columns 3 corner + axis. Two components are coupled only by neighbours that are off both
// axes, as in every isotropic material.
#include <stdint.h>

typedef struct {
  const double *u;
  double *f;
  int64_t py, pz, q;
} fields;

// Nodes with fewer elements: one after the other.
static void by_elements(fields a, const double *stiffness, int64_t i, const int64_t at[3], const int64_t extents[3]) {
  double total[3] = {0, 0, 0};
  for (int e = 0; e < 8; e++) {
    const int far[3] = {e & 1, e >> 1 & 1, e >> 2};
    int exists = 1;
    for (int axis = 0; axis < 3; axis++) exists &= at[axis] + far[axis] > 0 && at[axis] + far[axis] < extents[axis];
    if (!exists) continue;
    const int64_t first = i + (far[0] - 1) + (far[1] - 1) * a.py + (far[2] - 1) * a.pz;
    for (int m = 0; m < 8; m++) {
      const double *u = a.u + first + (m & 1) + (m >> 1 & 1) * a.py + (m >> 2) * a.pz;
      for (int axis = 0; axis < 3; axis++) {
        const double *k = stiffness + 24 * (3 * (7 - e) + axis) + 3 * m;
        total[axis] += k[0] * u[0] + k[1] * u[a.q] + k[2] * u[2 * a.q];
      }
    }
  }
  for (int axis = 0; axis < 3; axis++) a.f[axis * a.q + i] = total[axis];
}

#define K(dx, dy, dz, row, column) blocks[9 * (9 * (dz + 1) + 3 * (dy + 1) + dx + 1) + 3 * row + column]
#define NEIGHBOUR(dx, dy, dz)                                                                \
  {                                                                                          \
    const double *at = u + x + dx + dy * py + dz * pz;                                       \
    const double a = at[0], b = at[q], c = at[2 * q];                                        \
    fx += K(dx, dy, dz, 0, 0) * a;                                                           \
    fy += K(dx, dy, dz, 1, 1) * b;                                                           \
    fz += K(dx, dy, dz, 2, 2) * c;                                                           \
    if (dx * dy != 0) fx += K(dx, dy, dz, 0, 1) * b, fy += K(dx, dy, dz, 1, 0) * a;          \
    if (dx * dz != 0) fx += K(dx, dy, dz, 0, 2) * c, fz += K(dx, dy, dz, 2, 0) * a;          \
    if (dy * dz != 0) fy += K(dx, dy, dz, 1, 2) * c, fz += K(dx, dy, dz, 2, 1) * b;          \
  }
#define LINE(dy, dz) NEIGHBOUR(-1, dy, dz) NEIGHBOUR(0, dy, dz) NEIGHBOUR(1, dy, dz)
// Short sums, which do not wait for each other.
#define PLANE(dz)                                     \
  {                                                   \
    double fx = 0, fy = 0, fz = 0;                    \
    LINE(-1, dz) LINE(0, dz) LINE(1, dz)              \
    sx += fx, sy += fy, sz += fz;                     \
  }

void elasticity(const double *restrict u0, double *restrict f0, const double *restrict blocks, const double *restrict stiffness, int64_t nz,
                int64_t ny, int64_t nx) {
  const int64_t py = nx + 2, pz = (ny + 2) * py, q = (nz + 2) * pz;
#pragma omp parallel for schedule(static)
  for (int64_t z = 0; z < nz; z++)
    for (int64_t y = 0; y < ny; y++) {
      const int64_t row = (z + 1) * pz + (y + 1) * py + 1;
      const double *restrict u = u0 + row;
      double *restrict f = f0 + row;
      const int inner = z > 0 && z < nz - 1 && y > 0 && y < ny - 1;
      const int64_t first = inner ? 1 : 0, last = inner ? nx - 1 : 0;
      if (inner)
#pragma omp simd
        for (int64_t x = first; x < last; x++) {
          double sx = 0, sy = 0, sz = 0;
          PLANE(-1)
          PLANE(0)
          PLANE(1)
          f[x] = sx;
          f[x + q] = sy;
          f[x + 2 * q] = sz;
        }
      for (int64_t x = 0; x < nx; x++)
        if (x < first || x >= last)
          by_elements((fields){u0, f0, py, pz, q}, stiffness, row + x, (int64_t[]){x, y, z}, (int64_t[]){nx, ny, nz});
    }
}
