/* Programs that people write, each as a C programmer would: built with -ffast-math, too. */
#include <math.h>
#include <stdint.h>

/* Shallow water with Coriolis forces over a bottom b, periodic: a step from h, u, v to h2, u2, v2. */
void shallow(const double *restrict h, const double *restrict u, const double *restrict v, double *restrict h2, double *restrict u2,
             double *restrict v2, const double *restrict b, int64_t n) {
  const double dt = 0.02, nu = 0.1, f = 1e-2, g = 9.81;
#pragma omp parallel for
  for (int64_t j = 0; j < n; j++) {
    const int64_t row = j * n, north = (j + 1) % n * n, south = (j + n - 1) % n * n;
#define CELL(i, east, west)                                                                                                     \
  {                                                                                                                             \
    const int64_t c = row + (i), e = row + (east), w = row + (west), o = north + (i), s = south + (i);                         \
    h2[c] = h[c] + dt * (-(h[e] * u[e] - h[w] * u[w]) * 0.5 - (h[o] * v[o] - h[s] * v[s]) * 0.5 +                               \
                         nu * (h[e] + h[w] + h[o] + h[s] - 4 * h[c] + b[e] + b[w] + b[o] + b[s] - 4 * b[c]));                   \
    u2[c] = u[c] + dt * (-u[c] * (u[e] - u[w]) * 0.5 - v[c] * (u[o] - u[s]) * 0.5 + f * v[c] -                                  \
                         g * ((h[e] - h[w]) * 0.5 + (b[e] - b[w]) * 0.5) + nu * (u[e] + u[w] + u[o] + u[s] - 4 * u[c]));        \
    v2[c] = v[c] + dt * (-u[c] * (v[e] - v[w]) * 0.5 - v[c] * (v[o] - v[s]) * 0.5 - f * u[c] -                                  \
                         g * ((h[o] - h[s]) * 0.5 + (b[o] - b[s]) * 0.5) + nu * (v[e] + v[w] + v[o] + v[s] - 4 * v[c]));        \
  }
    CELL(0, 1, n - 1)
#pragma omp simd
    for (int64_t i = 1; i < n - 1; i++) CELL(i, i + 1, i - 1)
    CELL(n - 1, 0, n - 2)
  }
}

/* Cahn and Hilliard's equation, periodic: the potential of c, then c1 one step later. */
void cahn(const double *restrict c, double *restrict mu, double *restrict c1, int64_t n) {
#pragma omp parallel for
  for (int64_t j = 0; j < n; j++) {
    const int64_t row = j * n, north = (j + 1) % n * n, south = (j + n - 1) % n * n;
#define POTENTIAL(i, east, west)                                                                                       \
  mu[row + (i)] = c[row + (i)] * c[row + (i)] * c[row + (i)] - c[row + (i)] -                                          \
                  0.5 * (c[row + (east)] + c[row + (west)] + c[north + (i)] + c[south + (i)] - 4 * c[row + (i)]);
    POTENTIAL(0, 1, n - 1)
    for (int64_t i = 1; i < n - 1; i++) POTENTIAL(i, i + 1, i - 1)
    POTENTIAL(n - 1, 0, n - 2)
  }
#pragma omp parallel for
  for (int64_t j = 0; j < n; j++) {
    const int64_t row = j * n, north = (j + 1) % n * n, south = (j + n - 1) % n * n;
#define MOVE(i, east, west)                                                                                            \
  c1[row + (i)] = c[row + (i)] + 0.01 * (mu[row + (east)] + mu[row + (west)] + mu[north + (i)] + mu[south + (i)] -     \
                                         4 * mu[row + (i)]);
    MOVE(0, 1, n - 1)
    for (int64_t i = 1; i < n - 1; i++) MOVE(i, i + 1, i - 1)
    MOVE(n - 1, 0, n - 2)
  }
}

static inline void philox(uint32_t *c, uint32_t k0, uint32_t k1) {
  for (int round = 0; round < 10; round++) {
    const uint64_t a = (uint64_t)0xD2511F53u * c[0], b = (uint64_t)0xCD9E8D57u * c[2];
    const uint32_t c0 = (uint32_t)(b >> 32) ^ c[1] ^ k0, c2 = (uint32_t)(a >> 32) ^ c[3] ^ k1;
    c[1] = (uint32_t)b;
    c[3] = (uint32_t)a;
    c[0] = c0;
    c[2] = c2;
    k0 += 0x9E3779B9u;
    k1 += 0xBB67AE85u;
  }
}

/* Half a sweep of an Ising model: the spins of one colour of a checkerboard of n rows with m of each colour. */
void ising(int32_t *restrict own, const int32_t *restrict other, double beta, int64_t n, int64_t m) {
  const float b = (float)beta;
#pragma omp parallel for
  for (int64_t i = 0; i < n; i++) {
    const int64_t up = i > 0 ? i - 1 : n - 1, down = i < n - 1 ? i + 1 : 0, odd = i & 1;
    for (int64_t j = 0; j < m; j++) {
      const int64_t side = odd ? (j < m - 1 ? j + 1 : 0) : (j > 0 ? j - 1 : m - 1);
      const int32_t around = other[up * m + j] + other[down * m + j] + other[i * m + j] + other[i * m + side];
      uint32_t words[4] = {(uint32_t)(i * m + j), 0, 0, 0};
      philox(words, 1, 1);
      const float change = (float)(2 * own[i * m + j] * around);
      if ((float)(words[0] >> 8) * 0x1p-24f < expf(-b * change)) own[i * m + j] = -own[i * m + j];
    }
  }
}

/* Forces of Lennard and Jones between n atoms in order of their cells, m along each axis of a periodic box; the sum of potential and virial. */
double lj(const double *restrict x, double *restrict force, const int32_t *restrict offsets, double box, double width, double cutoff,
          int64_t n, int64_t m) {
  double sum = 0;
#pragma omp parallel for reduction(+ : sum)
  for (int64_t i = 0; i < n; i++) {
    double fx = 0, fy = 0, fz = 0, energy = 0;
    const int64_t cx = fmin(m - 1, floor(x[3 * i] / width)), cy = fmin(m - 1, floor(x[3 * i + 1] / width)),
                  cz = fmin(m - 1, floor(x[3 * i + 2] / width));
    for (int dz = -1; dz <= 1; dz++)
      for (int dy = -1; dy <= 1; dy++)
        for (int dx = -1; dx <= 1; dx++) {
          const int64_t cell = (((cz + dz + m) % m) * m + (cy + dy + m) % m) * m + (cx + dx + m) % m;
          for (int64_t k = offsets[cell]; k < offsets[cell + 1]; k++) {
            if (k == i) continue;
            double rx = x[3 * i] - x[3 * k], ry = x[3 * i + 1] - x[3 * k + 1], rz = x[3 * i + 2] - x[3 * k + 2];
            rx -= box * floor(rx / box + 0.5);
            ry -= box * floor(ry / box + 0.5);
            rz -= box * floor(rz / box + 0.5);
            const double r2 = rx * rx + ry * ry + rz * rz;
            if (r2 < cutoff * cutoff) {
              const double i2 = 1 / r2, i6 = i2 * i2 * i2, g = 48 * i6 * (i6 - 0.5) * i2;
              fx += g * rx;
              fy += g * ry;
              fz += g * rz;
              energy += 2 * i6 * (i6 - 1) + 0.5 * g * r2;
            }
          }
        }
    force[3 * i] = fx;
    force[3 * i + 1] = fy;
    force[3 * i + 2] = fz;
    sum += energy;
  }
  return sum;
}

/* Values of n options by Crank and Nicolson's scheme: m prices each, in arrays whose last index is the option. */
void options(const double *restrict strike, double *restrict value, double *restrict cp, int64_t n, int64_t m, int64_t steps) {
  const double price = 100, rate = 0.03, sigma = 0.25, length = 1.5, dx = 2 * length / (m - 1), dt = 1.0 / steps;
  const double drift = rate - 0.5 * sigma * sigma, spread = sigma * sigma / (dx * dx);
  const double alpha = 0.25 * dt * (spread - drift / dx), gamma = 0.25 * dt * (spread + drift / dx), beta = -0.5 * dt * (spread + rate);
#pragma omp parallel for
  for (int64_t o = 0; o < n; o++) {
    for (int64_t k = 0; k < m; k++) value[k * n + o] = fmax(0, strike[o] - price * exp(-length + k * dx));
    for (int64_t step = 0; step < steps; step++) {
      double before = value[o], last = value[o];
      cp[o] = 0;
      for (int64_t k = 1; k < m - 1; k++) {
        const double here = value[k * n + o], rhs = alpha * before + (1 + beta) * here + gamma * value[(k + 1) * n + o];
        const double w = 1 - beta + alpha * cp[(k - 1) * n + o];
        cp[k * n + o] = -gamma / w;
        last = (rhs + alpha * last) / w;
        value[k * n + o] = last;
        before = here;
      }
      for (int64_t k = m - 2; k > 0; k--) value[k * n + o] -= cp[k * n + o] * value[(k + 1) * n + o];
    }
  }
}

/* Tracers in an ABC flow: a step of Runge and Kutta's scheme. */
void advect(double *p, double dt, int64_t n) {
#define FLOW(x, y, z, a, b, c) const double a = sin(z) + 0.8 * cos(y), b = 0.9 * sin(x) + cos(z), c = 0.8 * sin(y) + 0.9 * cos(x)
#pragma omp parallel for
  for (int64_t i = 0; i < n; i++) {
    const double x = p[3 * i], y = p[3 * i + 1], z = p[3 * i + 2], h = 0.5 * dt;
    FLOW(x, y, z, ax, ay, az);
    FLOW(x + h * ax, y + h * ay, z + h * az, bx, by, bz);
    FLOW(x + h * bx, y + h * by, z + h * bz, cx, cy, cz);
    FLOW(x + dt * cx, y + dt * cy, z + dt * cz, ex, ey, ez);
    p[3 * i] = x + dt / 6 * (ax + 2 * bx + 2 * cx + ex);
    p[3 * i + 1] = y + dt / 6 * (ay + 2 * by + 2 * cy + ey);
    p[3 * i + 2] = z + dt / 6 * (az + 2 * bz + 2 * cz + ez);
  }
}

/* Accelerations of n bodies of equal mass. */
void nbody(const float *restrict x, float *restrict a, int64_t n) {
#pragma omp parallel for
  for (int64_t i = 0; i < n; i++) {
    float ax = 0, ay = 0, az = 0;
#pragma omp simd reduction(+ : ax, ay, az)
    for (int64_t j = 0; j < n; j++) {
      const float dx = x[3 * j] - x[3 * i], dy = x[3 * j + 1] - x[3 * i + 1], dz = x[3 * j + 2] - x[3 * i + 2];
      const float r2 = dx * dx + dy * dy + dz * dz + 1e-4f, w = 1 / (r2 * sqrtf(r2));
      ax += w * dx;
      ay += w * dy;
      az += w * dz;
    }
    a[3 * i] = ax;
    a[3 * i + 1] = ay;
    a[3 * i + 2] = az;
  }
}

/* c = a b, with the loops in the order in which C reads rows. */
void product(const double *restrict a, const double *restrict b, double *restrict c, int64_t n) {
#pragma omp parallel for
  for (int64_t i = 0; i < n; i++) {
    for (int64_t j = 0; j < n; j++) c[i * n + j] = 0;
    for (int64_t k = 0; k < n; k++)
      for (int64_t j = 0; j < n; j++) c[i * n + j] += a[i * n + k] * b[k * n + j];
  }
}
