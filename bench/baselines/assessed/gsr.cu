// LSQR (Paige and Saunders 1982) on the system of gsr.h, with the kernels of the published Gaia solver, eight where there is a global unknown: results the unknowns, and the norms
// of the residual, as the iteration carries it along, and of the known terms.
#include "program.cuh"
enum { ASTRO = 5, ATT = 12, INSTR = 6 };
#include "gsr.h"

// The scalars of the iteration, on the device.
enum { SUM, ALPHA, BETA, RHO, RHO_BAR, PHI_BAR, STEP, BACK, SCALARS };

#define ELEMENT(i, n)                                              \
  const int64_t i = blockIdx.x * (int64_t)blockDim.x + threadIdx.x; \
  if (i >= n) return;

__global__ void __launch_bounds__(256) a1Astro(const double *__restrict__ a, const int *__restrict__ star, const double *__restrict__ x,
                                               double *__restrict__ b, int64_t rows) {
  ELEMENT(i, rows)
  const double *xs = x + (int64_t)ASTRO * star[i];
  double sum = 0;
  for (int k = 0; k < ASTRO; k++) sum += a[ASTRO * i + k] * xs[k];
  b[i] += sum;
}
__global__ void __launch_bounds__(256) a1Att(const double *__restrict__ a, const int *__restrict__ knot, const double *__restrict__ x,
                                             double *__restrict__ b, int64_t rows, int64_t knots) {
  ELEMENT(i, rows)
  const double2 *row = (const double2 *)(a + ATT * i);
  const double *at = x + knot[i];
  double sum = 0;
  for (int axis = 0; axis < 3; axis++, at += knots) {
    const double2 first = row[2 * axis], last = row[2 * axis + 1];
    sum += first.x * at[0] + first.y * at[1] + last.x * at[2] + last.y * at[3];
  }
  b[i] += sum;
}
__global__ void __launch_bounds__(256) a1Instr(const double *__restrict__ a, const int *__restrict__ column, const double *__restrict__ x,
                                               double *__restrict__ b, int64_t rows) {
  ELEMENT(i, rows)
  double sum = 0;
  for (int k = 0; k < INSTR; k++) sum += a[INSTR * i + k] * x[column[INSTR * i + k]];
  b[i] += sum;
}
__global__ void __launch_bounds__(256) a1Glob(const double *__restrict__ g, const double *__restrict__ x, double *__restrict__ b, int64_t rows) {
  ELEMENT(i, rows)
  b[i] += g[i] * x[0];
}

__device__ static double sum_of_warp(double value) {
  for (int step = 16; step > 0; step /= 2) value += __shfl_down_sync(~0u, value, step);
  return value;
}

// A warp a row.
__global__ void __launch_bounds__(256) a1Constraints(const int *__restrict__ start, const int *__restrict__ index, const double *__restrict__ a,
                                                     const double *__restrict__ x, double *__restrict__ b, int64_t rows) {
  const int64_t r = (blockIdx.x * (int64_t)blockDim.x + threadIdx.x) / 32;
  if (r >= rows) return;
  double sum = 0;
  for (int e = start[r] + threadIdx.x % 32; e < start[r + 1]; e += 32) sum += a[e] * x[index[e]];
  sum = sum_of_warp(sum);
  if (threadIdx.x % 32 == 0) b[r] += sum;
}
// A warp a star.
__global__ void __launch_bounds__(256) a2Astro(const double *__restrict__ a, const int *__restrict__ starRow, const double *__restrict__ u,
                                               double *__restrict__ v, int64_t stars) {
  const int64_t s = (blockIdx.x * (int64_t)blockDim.x + threadIdx.x) / 32;
  if (s >= stars) return;
  double sum[ASTRO] = {0, 0, 0, 0, 0};
  for (int64_t i = starRow[s] + threadIdx.x % 32; i < starRow[s + 1]; i += 32) {
    const double t = u[i];
    for (int k = 0; k < ASTRO; k++) sum[k] += a[ASTRO * i + k] * t;
  }
  for (int k = 0; k < ASTRO; k++) {
    sum[k] = sum_of_warp(sum[k]);
    if (threadIdx.x % 32 == 0) v[ASTRO * s + k] += sum[k];
  }
}
__global__ void __launch_bounds__(256) a2Att(const double *__restrict__ a, const int *__restrict__ knot, const double *__restrict__ u, double *v,
                                             int64_t rows, int64_t knots) {
  ELEMENT(i, rows)
  const double2 *row = (const double2 *)(a + ATT * i);
  const double t = u[i];
  double *at = v + knot[i];
  for (int axis = 0; axis < 3; axis++, at += knots) {
    const double2 first = row[2 * axis], last = row[2 * axis + 1];
    atomicAdd(&at[0], first.x * t);
    atomicAdd(&at[1], first.y * t);
    atomicAdd(&at[2], last.x * t);
    atomicAdd(&at[3], last.y * t);
  }
}
__global__ void __launch_bounds__(256) a2Instr(const double *__restrict__ a, const int *__restrict__ column, const double *__restrict__ u,
                                               double *v, int64_t rows) {
  ELEMENT(i, rows)
  const double t = u[i];
  for (int k = 0; k < INSTR; k++) atomicAdd(&v[column[INSTR * i + k]], a[INSTR * i + k] * t);
}
__global__ void __launch_bounds__(1024) a2Glob(const double *__restrict__ g, const double *__restrict__ u, double *v, int64_t rows) {
  double own = 0;
  for (int64_t i = blockIdx.x * (int64_t)blockDim.x + threadIdx.x; i < rows; i += (int64_t)gridDim.x * blockDim.x) own += g[i] * u[i];
  const double total = sum_of_block(own);
  if (threadIdx.x == 0) atomicAdd(v, total);
}
__global__ void __launch_bounds__(256) a2Constraints(const int *__restrict__ start, const int *__restrict__ row, const double *__restrict__ a,
                                                     const double *__restrict__ u, double *__restrict__ v, int64_t columns) {
  ELEMENT(j, columns)
  double sum = 0;
  for (int e = start[j]; e < start[j + 1]; e++) sum += a[e] * u[row[e]];
  v[j] += sum;
}

__global__ void __launch_bounds__(256) scale(const double *__restrict__ scalar, double sign, bool divided, double *__restrict__ x, int64_t n) {
  ELEMENT(i, n)
  x[i] *= divided ? sign / *scalar : sign * *scalar;
}
__global__ void __launch_bounds__(1024) squared(double *sum, const double *__restrict__ x, int64_t n) {
  double own = 0;
  for (int64_t i = blockIdx.x * (int64_t)blockDim.x + threadIdx.x; i < n; i += (int64_t)gridDim.x * blockDim.x) own += x[i] * x[i];
  const double total = sum_of_block(own);
  if (threadIdx.x == 0) atomicAdd(sum, total);
}
__global__ void take_norm(double *k, int which) {
  k[which] = sqrt(k[SUM]);
  k[SUM] = 0;
}
__global__ void begin(double *k) {
  k[PHI_BAR] = k[BETA];
  k[RHO_BAR] = k[ALPHA];
}
__global__ void rotate(double *k) {
  const double rho = hypot(k[RHO_BAR], k[BETA]), cosine = k[RHO_BAR] / rho, sine = k[BETA] / rho;
  k[RHO] = rho;
  k[STEP] = cosine * k[PHI_BAR] / rho;
  k[BACK] = sine * k[ALPHA] / rho;
  k[RHO_BAR] = -cosine * k[ALPHA];
  k[PHI_BAR] *= sine;
}
__global__ void __launch_bounds__(256) update(const double *__restrict__ k, double *__restrict__ v, double *__restrict__ w, double *__restrict__ x,
                                              double *__restrict__ variance, int64_t n) {
  ELEMENT(j, n)
  const double old = w[j], d = old / k[RHO], direction = v[j] / k[ALPHA];
  x[j] += k[STEP] * old;
  variance[j] += d * d;
  v[j] = direction;
  w[j] = direction - k[BACK] * old;
}

struct Solver {
  int device, processors = 1;
  System host{}, s{};
  double *u = nullptr, *v = nullptr, *w = nullptr, *x = nullptr, *variance = nullptr, *k = nullptr, known = 0, residual = 0;
  std::vector<void *> owned;

  template <class T> T *own(const T *from, int64_t count) {
    T *memory;
    must(cudaMalloc(&memory, count * sizeof(T)));
    owned.push_back(memory);
    if (from) must(cudaMemcpy(memory, from, count * sizeof(T), cudaMemcpyHostToDevice));
    else must(cudaMemset(memory, 0, count * sizeof(T)));
    return memory;
  }
};

static unsigned blocks(int64_t n) { return (unsigned)((n + 255) / 256); }

void release(void *program) {
  Solver *c = (Solver *)program;
  cudaSetDevice(c->device);
  for (void *memory : c->owned) cudaFree(memory);
  release_system(&c->host);
  delete c;
}

void *prepare(int32_t device, const int64_t *sizes, const double *const *inputs) {
  Solver *c = new Solver{device};
  if (guarded([&] {
        must(cudaSetDevice(device));
        must(cudaDeviceGetAttribute(&c->processors, cudaDevAttrMultiProcessorCount, device));
        if (!prepare_system(&c->host, sizes, inputs)) throw std::runtime_error("there is not enough memory");
        const System &h = c->host;
        System &s = c->s = h;
        s.astro = c->own(h.astro, ASTRO * h.rows), s.att = c->own(h.att, ATT * h.rows), s.instr = c->own(h.instr, INSTR * h.rows);
        if (h.globals) s.glob = c->own(h.glob, h.rows);
        s.star = c->own(h.star, h.rows), s.knot = c->own(h.knot, h.rows), s.column = c->own(h.column, INSTR * h.rows);
        s.starRow = c->own(h.starRow, h.stars + 1), s.rowStart = c->own(h.rowStart, h.constraints + 1), s.index = c->own(h.index, h.entries);
        s.columnStart = c->own(h.columnStart, h.columns + 1), s.row = c->own(h.row, h.entries);
        s.values = c->own(h.values, h.entries), s.transposed = c->own(h.transposed, h.entries);
        const double *none = nullptr;
        c->u = c->own(none, h.rows + h.constraints);
        for (double **array : {&c->v, &c->w, &c->x, &c->variance}) *array = c->own(none, h.unknowns);
        c->k = c->own(none, SCALARS);
      }) == 0)
    return c;
  release(c);
  return nullptr;
}

static void norm(Solver *c, const double *x, int64_t n, int which) {
  squared<<<2 * c->processors, 1024>>>(&c->k[SUM], x, n);
  take_norm<<<1, 1>>>(c->k, which);
}

// u += A v; marks the moments between its kernels.
static void forward(Solver *c, Clock &clock) {
  const System &s = c->s;
  double *b = c->u + s.rows;
  clock.mark();
  a1Astro<<<blocks(s.rows), 256>>>(s.astro, s.star, c->v, c->u, s.rows);
  clock.mark();
  a1Att<<<blocks(s.rows), 256>>>(s.att, s.knot, c->v + s.attitude, c->u, s.rows, s.knots);
  clock.mark();
  a1Instr<<<blocks(s.rows), 256>>>(s.instr, s.column, c->v + s.instrument, c->u, s.rows);
  clock.mark();
  if (s.globals) {
    a1Glob<<<blocks(s.rows), 256>>>(s.glob, c->v + s.global, c->u, s.rows);
    clock.mark();
  }
  a1Constraints<<<blocks(32 * s.constraints), 256>>>(s.rowStart, s.index, s.values, c->v + s.instrument, b, s.constraints);
}

// v += A^T u, likewise.
static void transpose(Solver *c, Clock &clock) {
  const System &s = c->s;
  double *instrument = c->v + s.instrument;
  clock.mark();
  a2Astro<<<blocks(32 * s.stars), 256>>>(s.astro, s.starRow, c->u, c->v, s.stars);
  clock.mark();
  a2Att<<<blocks(s.rows), 256>>>(s.att, s.knot, c->u, c->v + s.attitude, s.rows, s.knots);
  clock.mark();
  a2Instr<<<blocks(s.rows), 256>>>(s.instr, s.column, c->u, instrument, s.rows);
  clock.mark();
  if (s.globals) {
    a2Glob<<<2 * c->processors, 1024>>>(s.glob, c->u, c->v + s.global, s.rows);
    clock.mark();
  }
  a2Constraints<<<blocks(s.columns), 256>>>(s.columnStart, s.row, s.transposed, c->u + s.rows, instrument, s.columns);
}

int32_t run(void *program, int64_t iterations, double *seconds) {
  Solver *c = (Solver *)program;
  return guarded([&] {
    must(cudaSetDevice(c->device));
    const int64_t m = c->s.rows + c->s.constraints, n = c->s.unknowns;
    double *k = c->k;
    must(cudaMemcpy(c->u, c->host.b, m * sizeof(double), cudaMemcpyHostToDevice));
    for (double *array : {c->v, c->x, c->variance}) must(cudaMemset(array, 0, n * sizeof(double)));
    Clock unused, clock, whole;
    norm(c, c->u, m, BETA);
    scale<<<blocks(m), 256>>>(&k[BETA], 1, true, c->u, m);
    transpose(c, unused);
    norm(c, c->v, n, ALPHA);
    scale<<<blocks(n), 256>>>(&k[ALPHA], 1, true, c->v, n);
    must(cudaMemcpyAsync(c->w, c->v, n * sizeof(double), cudaMemcpyDeviceToDevice));
    begin<<<1, 1>>>(k);
    must(cudaMemcpy(&c->known, &k[BETA], sizeof(double), cudaMemcpyDeviceToHost));
    whole.mark();
    for (int64_t step = 0; step < iterations; step++) {
      scale<<<blocks(m), 256>>>(&k[ALPHA], -1, false, c->u, m);
      forward(c, clock);
      norm(c, c->u, m, BETA);
      scale<<<blocks(m), 256>>>(&k[BETA], 1, true, c->u, m);
      scale<<<blocks(n), 256>>>(&k[BETA], -1, false, c->v, n);
      transpose(c, clock);
      norm(c, c->v, n, ALPHA);
      rotate<<<1, 1>>>(k);
      update<<<blocks(n), 256>>>(k, c->v, c->w, c->x, c->variance, n);
    }
    whole.mark();
    must(cudaDeviceSynchronize());
    seconds[0] = whole.seconds(0, 1) / iterations;
    // Each product has a mark before its first kernel and after each; the two of the global unknown are told last.
    const size_t marks = 4 + c->s.globals;
    for (size_t kernel = 0; kernel < 2 * (marks - 1); kernel++) {
      seconds[1 + kernel] = 0;
      const size_t product = kernel < 6 ? kernel / 3 : kernel - 6, place = kernel < 6 ? kernel % 3 : 3;
      for (int64_t step = 0; step < iterations; step++) {
        const size_t from = (2 * step + product) * marks + place;
        seconds[1 + kernel] += clock.seconds(from, from + 1) / iterations;
      }
    }
    must(cudaMemcpy(&c->residual, &k[PHI_BAR], sizeof(double), cudaMemcpyDeviceToHost));
  });
}

int32_t results(void *program, double *const *outputs) {
  Solver *c = (Solver *)program;
  return guarded([&] {
    must(cudaSetDevice(c->device));
    to_host(outputs[0], c->x, c->s.unknowns);
    for (int64_t j = 0; j < c->s.unknowns; j++) outputs[0][j] *= c->host.p[j];
    outputs[1][0] = c->residual;
    outputs[1][1] = c->known;
  });
}
