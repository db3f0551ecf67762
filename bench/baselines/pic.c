// The operator H_p1 of GEMPIC by hand: cubic splines, a mesh of n1 x n2 x n3 cells in a cube, currents in a private array for each thread.
#include <math.h>
#include <omp.h>
#include <stdint.h>
#include <stdlib.h>

static inline double *private_currents(int64_t dofs) {
  static double *memory;
  static int64_t reserved;
  // A line of memory between two threads' arrays, so that they share none.
  const int64_t needed = (dofs + 8) * omp_get_max_threads();
  if (needed > reserved) {
    free(memory);
    memory = aligned_alloc(64, needed * sizeof(double));
    reserved = needed;
  }
  return memory;
}

static inline void cubic(double x, double *s) {
  s[0] = ((-x / 6 + 0.5) * x - 0.5) * x + 1.0 / 6;
  s[1] = (0.5 * x - 1) * x * x + 2.0 / 3;
  s[2] = ((-0.5 * x + 0.5) * x + 0.5) * x + 1.0 / 6;
  s[3] = x * x * x / 6;
}

static inline void quadratic(double x, double *s) {
  s[0] = (0.5 * x - 1) * x + 0.5;
  s[1] = (1 - x) * x + 0.5;
  s[2] = 0.5 * x * x;
}

// Primitives of the quadratic splines from the left ends of their supports.
static inline void primitives(double x, double h, double *s) {
  s[0] = h * (((x / 6 - 0.5) * x + 0.5) * x + 5.0 / 6);
  s[1] = h * (((-x / 3 + 0.5) * x + 0.5) * x + 1.0 / 6);
  s[2] = h * (x * x * x / 6);
}

static inline int modulo(int i, int n) {
  const int rest = i % n;
  return rest < 0 ? rest + n : rest;
}

// `column` doubles lie between the values of a particle, `step` between two particles.
static inline __attribute__((always_inline)) void push(double *p, int64_t column, int64_t step, int64_t count, const double *b2, const double *b3,
                                                       double *j, double dt, double charge, double ratio, double length, int n1, int n2, int n3) {
  const int64_t dofs = (int64_t)n1 * n2 * n3, each = dofs + 8;
  const double h1 = length / n1, h2 = length / n2, h3 = length / n3;
  double *all = private_currents(dofs);
#pragma omp parallel
  {
    double *mine = all + each * omp_get_thread_num();
    for (int64_t g = 0; g < dofs; g++) mine[g] = 0;
#pragma omp for schedule(static)
    for (int64_t i = 0; i < count; i++) {
      double *q = p + i * step;
      const double before = q[0], after = before + dt * q[3 * column], y = q[column] / h2, z = q[2 * column] / h3;
      const double begin = before / h1, end = after / h1;
      const int last = (int)floor(end), c2 = (int)floor(y), c3 = (int)floor(z);
      double s0y[4], s1y[3], s0z[4], s1z[3];
      int row[4][4], ix[3];
      cubic(y - c2, s0y);
      quadratic(y - c2, s1y);
      cubic(z - c3, s0z);
      quadratic(z - c3, s1z);
      for (int m = 0; m < 4; m++)
        for (int l = 0; l < 4; l++) row[m][l] = n1 * (modulo(c2 - 3 + l, n2) + n2 * modulo(c3 - 3 + m, n3));
      const double weight = charge * q[6 * column];
      int cell = (int)floor(begin);
      const int towards = last < cell ? -1 : 1;
      double turn2 = 0, turn3 = 0, from = begin - cell;
      // From cell to cell along the path.
      for (int onward = 1; onward; cell += towards, from = towards > 0 ? 0 : 1) {
        onward = cell != last;
        double old[3], now[3], integral[3];
        primitives(from, h1, old);
        primitives(onward ? (towards > 0 ? 1 : 0) : end - last, h1, now);
        for (int n = 0; n < 3; n++) integral[n] = now[n] - old[n], ix[n] = modulo(cell - 2 + n, n1);
        for (int m = 0; m < 4; m++) {
          double sum2 = 0, sum3 = 0;
          for (int l = 0; l < 4; l++) {
            const double s = s0y[l] * s0z[m] * weight;
            double f = 0, g = 0;
            for (int n = 0; n < 3; n++) {
              const int id = row[m][l] + ix[n];
              mine[id] += integral[n] * s;
              f += b3[id] * integral[n];
              g += b2[id] * integral[n];
            }
            if (l > 0) sum2 += f * s1y[l - 1];
            sum3 += g * s0y[l];
          }
          turn2 += sum2 * s0z[m];
          if (m > 0) turn3 += sum3 * s1z[m - 1];
        }
      }
      q[4 * column] -= ratio * turn2;
      q[5 * column] += ratio * turn3;
      const double inside = after - length * floor(after / length);
      q[0] = inside < length ? inside : 0;
    }
    const int threads = omp_get_num_threads();
#pragma omp for schedule(static)
    for (int64_t g = 0; g < dofs; g++) {
      double sum = 0;
      for (int t = 0; t < threads; t++) sum += all[each * t + g];
      j[g] = sum;
    }
  }
}

// Columns one after the other.
void push_soa(double *p, int64_t count, const double *b2, const double *b3, double *j, double dt, double charge, double ratio, double length,
              int64_t n1, int64_t n2, int64_t n3) {
  push(p, count, 1, count, b2, b3, j, dt, charge, ratio, length, n1, n2, n3);
}

// Particles one after the other.
void push_aos(double *p, int64_t count, const double *b2, const double *b3, double *j, double dt, double charge, double ratio, double length,
              int64_t n1, int64_t n2, int64_t n3) {
  push(p, 1, 7, count, b2, b3, j, dt, charge, ratio, length, n1, n2, n3);
}
