// Conjugate gradients for a cube of trilinear hexahedra that stands on z = 0: sizes {n} nodes along each side, inputs an element's stiffness
// [24][24] and the load along z [n][n][n], results the displacement and the residual, [3][n][n][n].
#include "program.cuh"

// 27 kinds of nodes, by which of the 8 elements around them exist; for each the 3 x 3 block of each of 27 neighbours.
enum { BLOCKS = 27 * 9 };
__constant__ double blocks[27 * BLOCKS];

// Arrays with a border of zeros, [3][n + 2][n + 2][n + 2]. The sums stay on the device: <r, r>, the one before, and <p, s>.
struct Cube {
  int device, n;
  int64_t values;
  double *load = nullptr, *x = nullptr, *r = nullptr, *p = nullptr, *s = nullptr, *sums = nullptr;
  double stiffness[27 * BLOCKS] = {};
};

enum { RR, BEFORE, PS };

#define NODE                                                                                                          \
  const int ix = blockIdx.x * blockDim.x + threadIdx.x, iy = blockIdx.y * blockDim.y + threadIdx.y, iz = blockIdx.z;  \
  const bool inside = ix < n && iy < n;                                                                               \
  const int py = n + 2, pz = py * py, i = (iz + 1) * pz + (iy + 1) * py + ix + 1;                                      \
  const int64_t q = (int64_t)py * pz;

__device__ static int kind(int at, int n) { return at == 0 ? 0 : at == n - 1 ? 2 : 1; }

__device__ static double total_of_block(double value) {
  __shared__ double warps[8];
  const int thread = threadIdx.y * blockDim.x + threadIdx.x;
  for (int step = 16; step > 0; step /= 2) value += __shfl_down_sync(~0u, value, step);
  if (thread % 32 == 0) warps[thread / 32] = value;
  __syncthreads();
  double total = 0;
  for (int warp = 0; thread == 0 && warp < blockDim.x * blockDim.y / 32; warp++) total += warps[warp];
  return total;
}

__global__ void __launch_bounds__(128) begin(int n, const double *__restrict__ load, double *__restrict__ x, double *__restrict__ r,
                                             double *__restrict__ p, double *sums) {
  NODE double own = 0;
  if (inside)
    for (int a = 0; a < 3; a++) {
      const double force = a == 2 && iz > 0 ? load[((int64_t)iz * n + iy) * n + ix] : 0;
      x[i + a * q] = 0, r[i + a * q] = force, p[i + a * q] = force;
      own += force * force;
    }
  const double total = total_of_block(own);
  if (threadIdx.x == 0 && threadIdx.y == 0) atomicAdd(&sums[RR], total);
}

// Where all elements exist, two components are coupled only by neighbours that are off both axes.
template <bool ALL> __device__ static void forces(const double *__restrict__ p, const double *block, int py, int pz, int64_t q, double (&f)[3]) {
#pragma unroll
  for (int dz = -1; dz <= 1; dz++) {
    double fx = 0, fy = 0, fz = 0;
#pragma unroll
    for (int dy = -1; dy <= 1; dy++)
#pragma unroll
      for (int dx = -1; dx <= 1; dx++) {
        const double *at = p + dx + dy * py + dz * pz, *k = block + 9 * (9 * (dz + 1) + 3 * (dy + 1) + dx + 1);
        const double a = at[0], b = at[q], c = at[2 * q];
        fx += k[0] * a, fy += k[4] * b, fz += k[8] * c;
        if (!ALL || dx * dy != 0) fx += k[1] * b, fy += k[3] * a;
        if (!ALL || dx * dz != 0) fx += k[2] * c, fz += k[6] * a;
        if (!ALL || dy * dz != 0) fy += k[5] * c, fz += k[7] * b;
      }
    f[0] += fx, f[1] += fy, f[2] += fz;
  }
}

// s = K p and <p, s>; the lowest plane is held, and its forces are never looked at.
__global__ void __launch_bounds__(128) multiply(int n, const double *__restrict__ p, double *__restrict__ s, double *sums) {
  NODE double own = 0;
  if (inside && iz > 0) {
    const int k = 9 * kind(iz, n) + 3 * kind(iy, n) + kind(ix, n);
    double f[3] = {0, 0, 0};
    if (k == 13) forces<true>(p + i, blocks + BLOCKS * 13, py, pz, q, f);
    else forces<false>(p + i, blocks + BLOCKS * k, py, pz, q, f);
    for (int a = 0; a < 3; a++) s[i + a * q] = f[a], own += p[i + a * q] * f[a];
  }
  const double total = total_of_block(own);
  if (threadIdx.x == 0 && threadIdx.y == 0) atomicAdd(&sums[PS], total);
}
__global__ void next(double *sums) {
  sums[BEFORE] = sums[RR];
  sums[RR] = 0;
}
__global__ void __launch_bounds__(128) advance(int n, double *__restrict__ x, double *__restrict__ r, const double *__restrict__ p,
                                               const double *__restrict__ s, double *sums) {
  NODE double own = 0;
  if (inside && iz > 0) {
    const double alpha = sums[BEFORE] / sums[PS];
    for (int64_t j = i; j < 3 * q; j += q) {
      const double rest = r[j] - alpha * s[j];
      x[j] += alpha * p[j];
      r[j] = rest;
      own += rest * rest;
    }
  }
  const double total = total_of_block(own);
  if (threadIdx.x == 0 && threadIdx.y == 0) atomicAdd(&sums[RR], total);
}
__global__ void __launch_bounds__(128) direction(int n, double *__restrict__ p, const double *__restrict__ r, const double *__restrict__ sums) {
  NODE if (inside && iz > 0) for (int64_t j = i; j < 3 * q; j += q) p[j] = r[j] + sums[RR] / sums[BEFORE] * p[j];
}

void release(void *program) {
  Cube *c = (Cube *)program;
  cudaSetDevice(c->device);
  for (double *array : {c->load, c->x, c->r, c->p, c->s, c->sums}) cudaFree(array);
  delete c;
}

// The block of each neighbour for each kind of nodes, from an element's stiffness, whose rows and columns are 3 corner + axis.
static void assemble(const double *stiffness, double *into) {
  for (int k = 0; k < 27; k++)
    for (int e = 0; e < 8; e++) {
      const int far[3] = {e & 1, e >> 1 & 1, e >> 2}, at[3] = {k % 3, k / 3 % 3, k / 9};
      bool exists = true;
      for (int axis = 0; axis < 3; axis++) exists = exists && at[axis] != (far[axis] ? 2 : 0);
      for (int m = 0; exists && m < 8; m++) {
        const int neighbour = 9 * (far[2] + (m >> 2)) + 3 * (far[1] + (m >> 1 & 1)) + far[0] + (m & 1);
        for (int a = 0; a < 3; a++)
          for (int b = 0; b < 3; b++) into[BLOCKS * k + 9 * neighbour + 3 * a + b] += stiffness[24 * (3 * (7 - e) + a) + 3 * m + b];
      }
    }
}

void *prepare(int32_t device, const int64_t *sizes, const double *const *inputs) {
  const int64_t n = sizes[0];
  Cube *c = new Cube{device, (int)n, 3 * (n + 2) * (n + 2) * (n + 2)};
  assemble(inputs[0], c->stiffness);
  if (guarded([&] {
        must(cudaSetDevice(device));
        c->load = on_device(inputs[1], n * n * n);
        for (double **array : {&c->x, &c->r, &c->p, &c->s}) *array = zeros(c->values);
        c->sums = zeros(3);
      }) == 0)
    return c;
  release(c);
  return nullptr;
}

int32_t run(void *program, int64_t iterations, double *seconds) {
  Cube *c = (Cube *)program;
  return guarded([&] {
    must(cudaSetDevice(c->device));
    must(cudaMemcpyToSymbol(blocks, c->stiffness, sizeof c->stiffness));
    const int n = c->n;
    const dim3 grid((n + 31) / 32, (n + 3) / 4, n), block(32, 4);
    must(cudaMemset(c->sums, 0, 3 * sizeof(double)));
    begin<<<grid, block>>>(n, c->load, c->x, c->r, c->p, c->sums);
    Clock clock;
    clock.mark();
    for (int64_t k = 0; k < iterations; k++) {
      must(cudaMemsetAsync(&c->sums[PS], 0, sizeof(double)));
      multiply<<<grid, block>>>(n, c->p, c->s, c->sums);
      next<<<1, 1>>>(c->sums);
      advance<<<grid, block>>>(n, c->x, c->r, c->p, c->s, c->sums);
      direction<<<grid, block>>>(n, c->p, c->r, c->sums);
    }
    clock.mark();
    must(cudaDeviceSynchronize());
    seconds[0] = seconds[1] = clock.seconds(0, 1) / iterations;
  });
}

int32_t results(void *program, double *const *outputs) {
  Cube *c = (Cube *)program;
  return guarded([&] {
    must(cudaSetDevice(c->device));
    const size_t n = c->n, py = n + 2, row = n * sizeof(double), pitch = py * sizeof(double);
    for (int k = 0; k < 2; k++)
      for (size_t a = 0; a < 3; a++)
        for (size_t z = 0; z < n; z++) {
          const double *plane = (k == 0 ? c->x : c->r) + ((a * py + z + 1) * py + 1) * py + 1;
          must(cudaMemcpy2D(outputs[k] + (a * n + z) * n * n, row, plane, pitch, row, n, cudaMemcpyDeviceToHost));
        }
  });
}
