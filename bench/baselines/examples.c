/* The kernels of examples/ as a C programmer would write them: built with -ffast-math, too. */
#include <math.h>
#include <stdint.h>
#include <string.h>

typedef uint32_t u32;

/* A step of diffusion over n^3 cells with a rim of zeros, and the sum of the new values. */
void diffusion(const double *restrict u, double *restrict next, double *restrict heat, int64_t n) {
  const int64_t row = n + 2, plane = row * row;
  double sum = 0;
  for (int64_t z = 1; z <= n; z++)
    for (int64_t y = 1; y <= n; y++)
      for (int64_t c = z * plane + y * row + 1, end = c + n; c < end; c++)
        next[c] = 0.4 * u[c] + 0.1 * (u[c + 1] + u[c - 1] + u[c + row] + u[c - row] + u[c + plane] + u[c - plane]);
  for (int64_t z = 1; z <= n; z++)
    for (int64_t y = 1; y <= n; y++)
      for (int64_t c = z * plane + y * row + 1, end = c + n; c < end; c++) sum += next[c];
  *heat = sum;
}

/* The stages of Stockham's Fourier transform of n values. */
void fourier(double *z, double *to, int64_t n) {
  double *from = z, *into = to;
  for (int32_t half = n / 2, s = 1; half >= 1; half /= 2, s *= 2) {
    const double *restrict a = from;
    double *restrict x = into;
    for (int32_t t = 0; t < n / 2; t++) {
      const int32_t p = t / s, q = t % s, other = t + half * s, at = q + 2 * s * p;
      const double angle = -M_PI * p / half, c = cos(angle), d = sin(angle);
      const double dr = a[2 * t] - a[2 * other], di = a[2 * t + 1] - a[2 * other + 1];
      x[2 * at] = a[2 * t] + a[2 * other];
      x[2 * at + 1] = a[2 * t + 1] + a[2 * other + 1];
      x[2 * (at + s)] = dr * c - di * d;
      x[2 * (at + s) + 1] = dr * d + di * c;
    }
    double *swap = from;
    from = into;
    into = swap;
  }
}

static inline u32 rotate(u32 x, int by) { return x << by | x >> (32 - by); }

void hash(const u32 *restrict x, u32 *restrict y, int64_t n) {
  for (int64_t i = 0; i < n; i++) {
    u32 k = rotate(x[i] * 0xcc9e2d51u, 15) * 0x1b873593u;
    u32 h = (rotate(k, 13) * 5 + 0xe6546b64u) ^ 4;
    h = (h ^ h >> 16) * 0x85ebca6bu;
    h = (h ^ h >> 13) * 0xc2b2ae35u;
    y[i] = h ^ h >> 16;
  }
}

void histogram(const uint8_t *restrict x, int32_t *restrict counts, int64_t n) {
  for (int64_t i = 0; i < n; i++) counts[x[i]]++;
}

void jacobi(const double *restrict f, const double *restrict u, double *restrict next, double *restrict change, int64_t n) {
  double most = 0;
  for (int64_t i = 1; i < n - 1; i++)
    for (int64_t j = 1; j < n - 1; j++) {
      const int64_t c = i * n + j;
      const double value = 0.25 * (u[c - n] + u[c + n] + u[c - 1] + u[c + 1] + f[c]);
      next[c] = value;
      most = fmax(most, fabs(value - u[c]));
    }
  *change = most;
}

void k_means(const float *restrict p, const float *restrict centres, int32_t *restrict label, float *restrict total, int32_t *restrict count,
             int64_t n, int64_t k) {
  int32_t moved = 0;
  for (int64_t i = 0; i < n; i++) {
    int32_t best = 0;
    float least = 1e30f;
    for (int32_t q = 0; q < k; q++) {
      const float dx = p[2 * i] - centres[2 * q], dy = p[2 * i + 1] - centres[2 * q + 1], distance = dx * dx + dy * dy;
      if (distance < least) {
        least = distance;
        best = q;
      }
    }
    moved += label[i] != best;
    label[i] = best;
    total[2 * best] += p[2 * i];
    total[2 * best + 1] += p[2 * i + 1];
    count[best]++;
  }
  count[k] = moved;
}

void life(const uint8_t *restrict now, uint8_t *restrict next, int64_t n) {
  for (int32_t i = 0; i < n; i++)
    for (int32_t j = 0; j < n; j++) {
      int alive = 0;
      for (int32_t di = -1; di <= 1; di++)
        for (int32_t dj = -1; dj <= 1; dj++)
          if (di != 0 || dj != 0) alive += now[(i + di + n) % n * n + (j + dj + n) % n];
      next[i * n + j] = alive == 3 || (alive == 2 && now[i * n + j] == 1);
    }
}

void mandelbrot(int32_t *restrict image, int64_t n, int64_t limit) {
  for (int64_t row = 0; row < n; row++)
    for (int64_t column = 0; column < n; column++) {
      const double x = -2 + 3. * column / n, y = -1.5 + 3. * row / n;
      double re = 0, im = 0;
      int32_t steps = 0;
      while (steps < limit && re * re + im * im < 4) {
        const double next = re * re - im * im + x;
        im = 2 * re * im + y;
        re = next;
        steps++;
      }
      image[row * n + column] = steps;
    }
}

static inline void philox(u32 *c, u32 k0, u32 k1) {
  for (int round = 0; round < 10; round++) {
    const uint64_t a = (uint64_t)0xD2511F53u * c[0], b = (uint64_t)0xCD9E8D57u * c[2];
    const u32 c0 = (u32)(b >> 32) ^ c[1] ^ k0, c2 = (u32)(a >> 32) ^ c[3] ^ k1;
    c[1] = (u32)b;
    c[3] = (u32)a;
    c[0] = c0;
    c[2] = c2;
    k0 += 0x9E3779B9u;
    k1 += 0xBB67AE85u;
  }
}

static inline double uniform(u32 high, u32 low) { return ((high >> 5) * 67108864. + (low >> 6)) / 9007199254740992.; }

void monte_carlo(int32_t *hits, int64_t seed, int64_t n) {
  int32_t sum = 0;
  for (int64_t i = 0; i < n; i++) {
    u32 words[4] = {i, 0, 0, 0};
    philox(words, seed, 0);
    const double x = uniform(words[0], words[1]), y = uniform(words[2], words[3]);
    sum += x * x + y * y < 1;
  }
  *hits = sum;
}

void n_body(const float *restrict place, float *restrict velocity, const float *restrict mass, int64_t n) {
  const float dt = 0.01f, softening = 1e-3f;
  for (int64_t i = 0; i < n; i++) {
    float ax = 0, ay = 0, az = 0;
    for (int64_t j = 0; j < n; j++) {
      const float dx = place[3 * j] - place[3 * i], dy = place[3 * j + 1] - place[3 * i + 1], dz = place[3 * j + 2] - place[3 * i + 2];
      const float inverse = 1 / sqrtf(dx * dx + dy * dy + dz * dz + softening), pull = mass[j] * inverse * inverse * inverse;
      ax += pull * dx;
      ay += pull * dy;
      az += pull * dz;
    }
    velocity[3 * i] += dt * ax;
    velocity[3 * i + 1] += dt * ay;
    velocity[3 * i + 2] += dt * az;
  }
}

static inline int32_t least(int32_t a, int32_t b) { return a < b ? a : b; }
static inline int32_t most(int32_t a, int32_t b) { return a > b ? a : b; }

void neighbours(const double *restrict x, const int32_t *restrict offsets, double *restrict rho, double h, int64_t n, int64_t m) {
  for (int64_t i = 0; i < n; i++) {
    const int32_t a = floor(x[2 * i] / h), b = floor(x[2 * i + 1] / h);
    double sum = 0;
    for (int32_t q = most(0, b - 1); q <= least(m - 1, b + 1); q++)
      for (int32_t p = most(0, a - 1); p <= least(m - 1, a + 1); p++) {
        const int64_t cell = p + m * q;
        for (int32_t k = offsets[cell]; k < offsets[cell + 1]; k++) {
          const double dx = x[2 * k] - x[2 * i], dy = x[2 * k + 1] - x[2 * i + 1], near = 1 - (dx * dx + dy * dy) / (h * h);
          if (near > 0) sum += near * near * near;
        }
      }
    rho[i] = sum;
  }
}

void perceptron(const float *restrict x, const float *restrict weights, const float *restrict bias, float *restrict y, int64_t samples,
                int64_t inputs, int64_t outputs) {
  for (int64_t s = 0; s < samples; s++) {
    for (int64_t o = 0; o < outputs; o++) y[s * outputs + o] = bias[o];
    for (int64_t k = 0; k < inputs; k++)
      for (int64_t o = 0; o < outputs; o++) y[s * outputs + o] += x[s * inputs + k] * weights[k * outputs + o];
    for (int64_t o = 0; o < outputs; o++) y[s * outputs + o] = fmaxf(y[s * outputs + o], 0);
  }
}

static inline double length(double x, double y, double z) { return sqrt(x * x + y * y + z * z); }
static inline double scene(double x, double y, double z) { return fmin(length(x, y, z) - 1, y + 1); }

void ray_march(uint8_t *restrict image, int64_t width, int64_t height) {
  for (int64_t row = 0; row < height; row++)
    for (int64_t column = 0; column < width; column++) {
      const double u = (2 * (column + 0.5) - width) / height, v = (height - 2 * (row + 0.5)) / height, scale = 1 / length(u, v, 1.5);
      const double dx = u * scale, dy = v * scale, dz = 1.5 * scale;
      double way = 0, shade = 0.1;
      int hit = 0;
      for (int k = 0; k < 96 && way < 20; k++) {
        const double step = scene(way * dx, way * dy, -3 + way * dz);
        hit = step < 1e-4;
        if (hit) break;
        way += step;
      }
      if (hit) {
        const double x = way * dx, y = way * dy, z = -3 + way * dz, e = 1e-3;
        const double nx = scene(x + e, y, z) - scene(x - e, y, z), ny = scene(x, y + e, z) - scene(x, y - e, z);
        const double nz = scene(x, y, z + e) - scene(x, y, z - e);
        shade = fmin(1, fmax(0.1, 0.577 * (nx + ny - nz) / length(nx, ny, nz)));
      }
      uint8_t *pixel = image + 3 * (row * width + column);
      pixel[0] = 255 * shade;
      pixel[1] = 200 * shade;
      pixel[2] = hit ? 180 : 20;
    }
}

/* Components lie n apart. */
void records(double *restrict x, double *restrict v, int32_t *restrict id, double *restrict energy, int64_t n) {
  const double dt = 1e-9;
  double sum = 0;
  for (int64_t i = 0; i < n; i++) {
    id[i] = i;
    for (int k = 0; k < 3; k++) {
      v[k * n + i] += dt * (k + 1);
      x[k * n + i] += dt * v[k * n + i];
      sum += v[k * n + i] * v[k * n + i];
    }
  }
  *energy = sum;
}

void scan(const int32_t *restrict input, int32_t *restrict output, int64_t n) {
  int32_t sum = 0;
  for (int64_t i = 0; i < n; i++) {
    sum += input[i];
    output[i] = sum;
  }
}

/* Radix sort of 32-bit numbers by bytes, with the permutation. */
void sort(const u32 *restrict keys, u32 *a, int32_t *permutation, u32 *b, int32_t *other, int64_t n) {
  memcpy(a, keys, n * sizeof *a);
  for (int64_t i = 0; i < n; i++) permutation[i] = i;
  for (int shift = 0; shift < 32; shift += 8) {
    int32_t at[257] = {0};
    for (int64_t i = 0; i < n; i++) at[(a[i] >> shift & 255) + 1]++;
    for (int k = 0; k < 256; k++) at[k + 1] += at[k];
    for (int64_t i = 0; i < n; i++) {
      const int32_t to = at[a[i] >> shift & 255]++;
      b[to] = a[i];
      other[to] = permutation[i];
    }
    u32 *keep = a;
    int32_t *kept = permutation;
    a = b, permutation = other, b = keep, other = kept;
  }
}

void sparse_product(const int32_t *restrict start, const int32_t *restrict column, const double *restrict a, const double *restrict x,
                    double *restrict y, int64_t n) {
  for (int64_t row = 0; row < n; row++) {
    double sum = 0;
    for (int32_t k = start[row]; k < start[row + 1]; k++) sum += a[k] * x[column[k]];
    y[row] = sum;
  }
}

void wave(const double *restrict before, const double *restrict u, double *restrict next, int64_t n) {
  for (int64_t i = 1; i < n - 1; i++)
    for (int64_t c = i * n + 1; c < i * n + n - 1; c++)
      next[c] = 2 * u[c] - before[c] + 0.25 * (u[c - n] + u[c + n] + u[c - 1] + u[c + 1] - 4 * u[c]);
}

void matrix_product(const double *restrict a, const double *restrict b, double *restrict c, int64_t n) {
  memset(c, 0, n * n * sizeof *c);
  for (int64_t i = 0; i < n; i++)
    for (int64_t k = 0; k < n; k++)
      for (int64_t j = 0; j < n; j++) c[i * n + j] += a[i * n + k] * b[k * n + j];
}

static inline void weights(float *w, float at) {
  w[0] = 0.5f * (1.5f - at) * (1.5f - at);
  w[1] = 0.75f - (at - 1) * (at - 1);
  w[2] = 0.5f * (at - 0.5f) * (at - 0.5f);
}

/* A step of the material point method, on 128 x 128 nodes. */
void material_points(float *restrict x, float *restrict v, float *restrict affine, float *restrict size, float *restrict momentum,
                     float *restrict mass, int64_t n) {
  enum { CELLS = 128 };
  const float dt = 2e-4f, stiffness = 400, gravity = 9.8f, dx = 1.f / CELLS, volume = 0.25f / CELLS / CELLS;
  memset(momentum, 0, 2 * CELLS * CELLS * sizeof *momentum);
  memset(mass, 0, CELLS * CELLS * sizeof *mass);
  for (int64_t p = 0; p < n; p++) {
    const int32_t bx = x[2 * p] / dx - 0.5f, by = x[2 * p + 1] / dx - 0.5f;
    const float fx = x[2 * p] / dx - bx, fy = x[2 * p + 1] / dx - by, *a = affine + 4 * p;
    float wx[3], wy[3];
    weights(wx, fx);
    weights(wy, fy);
    const float stress = -dt * 4 * stiffness * volume * (size[p] - 1) / (dx * dx);
    for (int i = 0; i < 3; i++)
      for (int j = 0; j < 3; j++) {
        const float way[2] = {(i - fx) * dx, (j - fy) * dx}, w = wx[i] * wy[j];
        const int32_t node = (bx + i) * CELLS + by + j;
        for (int d = 0; d < 2; d++)
          momentum[2 * node + d] += w * (volume * (v[2 * p + d] + a[2 * d] * way[0] + a[2 * d + 1] * way[1]) + stress * way[d]);
        mass[node] += w * volume;
      }
  }
  for (int i = 0; i < CELLS; i++)
    for (int j = 0; j < CELLS; j++) {
      const int node = i * CELLS + j;
      if (mass[node] > 0) {
        float vx = momentum[2 * node] / mass[node], vy = momentum[2 * node + 1] / mass[node] - dt * gravity;
        if ((i < 3 && vx < 0) || (i > CELLS - 3 && vx > 0)) vx = 0;
        if ((j < 3 && vy < 0) || (j > CELLS - 3 && vy > 0)) vy = 0;
        momentum[2 * node] = vx;
        momentum[2 * node + 1] = vy;
      }
    }
  for (int64_t p = 0; p < n; p++) {
    const int32_t bx = x[2 * p] / dx - 0.5f, by = x[2 * p + 1] / dx - 0.5f;
    const float fx = x[2 * p] / dx - bx, fy = x[2 * p + 1] / dx - by;
    float wx[3], wy[3], own[2] = {0}, c[4] = {0};
    weights(wx, fx);
    weights(wy, fy);
    for (int i = 0; i < 3; i++)
      for (int j = 0; j < 3; j++) {
        const float w = wx[i] * wy[j];
        for (int d = 0; d < 2; d++) {
          const float speed = momentum[2 * ((bx + i) * CELLS + by + j) + d];
          own[d] += w * speed;
          c[2 * d] += 4 * w * speed / dx * (i - fx);
          c[2 * d + 1] += 4 * w * speed / dx * (j - fy);
        }
      }
    for (int d = 0; d < 2; d++) {
      v[2 * p + d] = own[d];
      x[2 * p + d] += dt * own[d];
    }
    memcpy(affine + 4 * p, c, sizeof c);
    size[p] *= 1 + dt * (c[0] + c[3]);
  }
}
