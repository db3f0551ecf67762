// Grid kernels by hand, as one would write them for one GPU. Each function allocates its own arrays, runs and returns the median of the
// device seconds of a step. Built to a shared library: nvcc -O3 -arch=native -Xcompiler -fPIC -shared
#include <algorithm>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <utility>
#include <vector>

#define CHECK(call)                                                                          \
  do {                                                                                       \
    const cudaError_t status = (call);                                                       \
    if (status != cudaSuccess) {                                                             \
      fprintf(stderr, "%s:%d: %s\n", __FILE__, __LINE__, cudaGetErrorString(status));        \
      exit(1);                                                                               \
    }                                                                                        \
  } while (0)

template <class Step> static double median_seconds(int repeats, Step step) {
  cudaEvent_t begin, end;
  CHECK(cudaEventCreate(&begin));
  CHECK(cudaEventCreate(&end));
  std::vector<double> seconds;
  for (int n = -3; n < repeats; n++) {
    CHECK(cudaEventRecord(begin));
    step();
    CHECK(cudaEventRecord(end));
    CHECK(cudaEventSynchronize(end));
    float ms;
    CHECK(cudaEventElapsedTime(&ms, begin, end));
    if (n >= 0) seconds.push_back(ms / 1e3);
  }
  CHECK(cudaEventDestroy(begin));
  CHECK(cudaEventDestroy(end));
  CHECK(cudaGetLastError());
  std::sort(seconds.begin(), seconds.end());
  return seconds[seconds.size() / 2];
}

template <class T> __global__ void fill(T *x, int64_t count, T value) {
  for (int64_t i = blockIdx.x * (int64_t)blockDim.x + threadIdx.x; i < count; i += (int64_t)gridDim.x * blockDim.x)
    x[i] = value * (T)(1 + (i % 1013) / 100000.0);
}

// D3Q19 BGK: pull and collide from one population to the other, both [19][n][n][n], periodic.
template <class T> __global__ void __launch_bounds__(256) lbm(T omega, const T *__restrict__ from, T *__restrict__ to, int n) {
  const int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y, z = blockIdx.z;
  if (x >= n) return;
  const int64_t py = n, pz = (int64_t)n * n, q = pz * n, i = z * pz + y * py + x;
  // Steps to the neighbours below and above along each axis.
  const int64_t xm = x > 0 ? -1 : n - 1, xp = x < n - 1 ? 1 : 1 - n;
  const int64_t ym = y > 0 ? -py : (n - 1) * py, yp = y < n - 1 ? py : (1 - n) * py;
  const int64_t zm = z > 0 ? -pz : (n - 1) * pz, zp = z < n - 1 ? pz : (1 - n) * pz;
  const T f0 = from[i];
  const T f1 = from[1 * q + i + xm], f2 = from[2 * q + i + xp];
  const T f3 = from[3 * q + i + ym], f4 = from[4 * q + i + yp];
  const T f5 = from[5 * q + i + zm], f6 = from[6 * q + i + zp];
  const T f7 = from[7 * q + i + xm + ym], f8 = from[8 * q + i + xp + yp];
  const T f9 = from[9 * q + i + xm + yp], f10 = from[10 * q + i + xp + ym];
  const T f11 = from[11 * q + i + xm + zm], f12 = from[12 * q + i + xp + zp];
  const T f13 = from[13 * q + i + xm + zp], f14 = from[14 * q + i + xp + zm];
  const T f15 = from[15 * q + i + ym + zm], f16 = from[16 * q + i + yp + zp];
  const T f17 = from[17 * q + i + ym + zp], f18 = from[18 * q + i + yp + zm];
  const T rho = f0 + f1 + f2 + f3 + f4 + f5 + f6 + f7 + f8 + f9 + f10 + f11 + f12 + f13 + f14 + f15 + f16 + f17 + f18;
  const T inverse = 1 / rho;
  const T ux = (f1 - f2 + f7 - f8 + f9 - f10 + f11 - f12 + f13 - f14) * inverse;
  const T uy = (f3 - f4 + f7 - f8 - f9 + f10 + f15 - f16 + f17 - f18) * inverse;
  const T uz = (f5 - f6 + f11 - f12 - f13 + f14 + f15 - f16 - f17 + f18) * inverse;
  const T rest = 1 - (T)1.5 * (ux * ux + uy * uy + uz * uz);
  to[i] = f0 + omega * (rho * (T)(1.0 / 3) * rest - f0);
#define PAIR(a, b, weight, c)                                                          \
  {                                                                                    \
    const T cu = (c), wr = (T)(weight) * rho;                                          \
    const T even = wr * (rest + (T)4.5 * cu * cu), odd = wr * 3 * cu;                  \
    to[(a) * q + i] = f##a + omega * (even + odd - f##a);                              \
    to[(b) * q + i] = f##b + omega * (even - odd - f##b);                              \
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
#undef PAIR
}

template <class T> static double lbm_step(int n, int repeats) {
  const int64_t count = 19 * (int64_t)n * n * n;
  T *from, *to;
  CHECK(cudaMalloc(&from, count * sizeof(T)));
  CHECK(cudaMalloc(&to, count * sizeof(T)));
  fill<T><<<4096, 256>>>(from, count, (T)0.05);
  fill<T><<<4096, 256>>>(to, count, (T)0.05);
  const double seconds = median_seconds(repeats, [&] {
    lbm<T><<<dim3((n + 255) / 256, n, n), 256>>>((T)1.2, from, to, n);
    std::swap(from, to);
  });
  CHECK(cudaFree(from));
  CHECK(cudaFree(to));
  return seconds;
}

// Conjugate gradients for the 7-point Laplacian, zero around; arrays [n+2][n+2][n+2] with a border of zeros.

struct Cg {
  int n;
  double *x, *r, *p, *s;
  double *sums; // rr, ps, previous rr
};

__device__ static double block_sum(double value) {
  __shared__ double warps[32];
  for (int step = 16; step > 0; step /= 2) value += __shfl_down_sync(~0u, value, step);
  if (threadIdx.x % 32 == 0) warps[threadIdx.x / 32] = value;
  __syncthreads();
  if (threadIdx.x < 32) {
    value = threadIdx.x < blockDim.x / 32 ? warps[threadIdx.x] : 0;
    for (int step = 16; step > 0; step /= 2) value += __shfl_down_sync(~0u, value, step);
  }
  return value;
}

#define CELL                                                                                       \
  const int ix = blockIdx.x * blockDim.x + threadIdx.x;                                            \
  const bool inside = ix < g.n;                                                                    \
  const int64_t py = g.n + 2, pz = py * py, i = (blockIdx.z + 1) * pz + (blockIdx.y + 1) * py + ix + 1; \
  (void)pz;

__device__ static double minus_laplacian(const double *__restrict__ p, int64_t i, int64_t py, int64_t pz) {
  return 6 * p[i] - p[i - 1] - p[i + 1] - p[i - py] - p[i + py] - p[i - pz] - p[i + pz];
}

__global__ void __launch_bounds__(256) cg_apply(Cg g) {
  CELL if (inside) g.s[i] = minus_laplacian(g.p, i, py, pz);
}
__global__ void __launch_bounds__(256) cg_dot(Cg g, const double *__restrict__ a, const double *__restrict__ b, double *sum) {
  CELL const double total = block_sum(inside ? a[i] * b[i] : 0);
  if (threadIdx.x == 0) atomicAdd(sum, total);
}
__global__ void __launch_bounds__(256) cg_x(Cg g) {
  CELL if (inside) g.x[i] += g.sums[0] / g.sums[1] * g.p[i];
}
__global__ void __launch_bounds__(256) cg_r(Cg g) {
  CELL if (inside) g.r[i] -= g.sums[0] / g.sums[1] * g.s[i];
}
__global__ void __launch_bounds__(256) cg_p(Cg g) {
  CELL if (inside) g.p[i] = g.r[i] + g.sums[0] / g.sums[2] * g.p[i];
}
__global__ void cg_next(Cg g) {
  g.sums[2] = g.sums[0];
  g.sums[0] = 0;
}
__global__ void __launch_bounds__(256) cg_apply_dot(Cg g) {
  CELL double own = 0;
  if (inside) {
    const double s = minus_laplacian(g.p, i, py, pz);
    g.s[i] = s;
    own = s * g.p[i];
  }
  const double total = block_sum(own);
  if (threadIdx.x == 0) atomicAdd(&g.sums[1], total);
}
__global__ void __launch_bounds__(256) cg_x_r_dot(Cg g) {
  CELL double own = 0;
  if (inside) {
    const double alpha = g.sums[2] / g.sums[1], r = g.r[i] - alpha * g.s[i];
    g.x[i] += alpha * g.p[i];
    g.r[i] = r;
    own = r * r;
  }
  const double total = block_sum(own);
  if (threadIdx.x == 0) atomicAdd(&g.sums[0], total);
}

static double cg_iteration(int n, int repeats, bool fused) {
  const int64_t count = (int64_t)(n + 2) * (n + 2) * (n + 2);
  Cg g{n};
  for (double **array : {&g.x, &g.r, &g.p, &g.s}) {
    CHECK(cudaMalloc(array, count * 8));
    CHECK(cudaMemset(*array, 0, count * 8));
  }
  CHECK(cudaMalloc(&g.sums, 3 * 8));
  const dim3 grid((n + 255) / 256, n, n);
  fill<double><<<4096, 256>>>(g.r, count, 1.0);
  fill<double><<<4096, 256>>>(g.p, count, 1.0);
  const double ones[] = {1, 1, 1};
  CHECK(cudaMemcpy(g.sums, ones, sizeof ones, cudaMemcpyHostToDevice));
  const double seconds = median_seconds(repeats, [&] {
    CHECK(cudaMemsetAsync(&g.sums[1], 0, 8));
    if (fused) {
      cg_apply_dot<<<grid, 256>>>(g);
      cg_next<<<1, 1>>>(g);
      cg_x_r_dot<<<grid, 256>>>(g);
    } else {
      cg_apply<<<grid, 256>>>(g);
      cg_dot<<<grid, 256>>>(g, g.p, g.s, &g.sums[1]);
      cg_x<<<grid, 256>>>(g);
      cg_r<<<grid, 256>>>(g);
      cg_next<<<1, 1>>>(g);
      cg_dot<<<grid, 256>>>(g, g.r, g.r, &g.sums[0]);
    }
    cg_p<<<grid, 256>>>(g);
  });
  for (double *array : {g.x, g.r, g.p, g.s, g.sums}) CHECK(cudaFree(array));
  return seconds;
}

extern "C" {
double lbm_f64(int n, int repeats) { return lbm_step<double>(n, repeats); }
double lbm_f32(int n, int repeats) { return lbm_step<float>(n, repeats); }
double cg_unfused(int n, int repeats) { return cg_iteration(n, repeats, false); }
double cg_fused(int n, int repeats) { return cg_iteration(n, repeats, true); }
}
