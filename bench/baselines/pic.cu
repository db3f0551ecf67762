// The operator H_p1 of GEMPIC by hand, for one GPU: cubic splines, a mesh of n1 x n2 x n3 cells in a cube. Each function takes particles from the
// host, pushes them forwards and back by turns and returns the median of the device seconds of a call. Built to a shared library:
// nvcc -O3 -arch=native -Xcompiler -fPIC -shared
#include <algorithm>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <vector>

#define CHECK(call)                                                                          \
  do {                                                                                       \
    const cudaError_t status = (call);                                                       \
    if (status != cudaSuccess) {                                                             \
      fprintf(stderr, "%s:%d: %s\n", __FILE__, __LINE__, cudaGetErrorString(status));        \
      exit(1);                                                                               \
    }                                                                                        \
  } while (0)

struct Problem {
  double dt, charge, ratio, length;
  int n1, n2, n3;
};

__device__ void cubic(double x, double *s) {
  s[0] = ((-1.0 / 6 * x + 0.5) * x - 0.5) * x + 1.0 / 6;
  s[1] = (0.5 * x - 1) * x * x + 2.0 / 3;
  s[2] = ((-0.5 * x + 0.5) * x + 0.5) * x + 1.0 / 6;
  s[3] = 1.0 / 6 * x * x * x;
}

__device__ void quadratic(double x, double *s) {
  s[0] = (0.5 * x - 1) * x + 0.5;
  s[1] = (1 - x) * x + 0.5;
  s[2] = 0.5 * x * x;
}

// Primitives of the quadratic splines from the left ends of their supports, in units of the cell.
__device__ void primitives(double x, double *s) {
  s[0] = ((1.0 / 6 * x - 0.5) * x + 0.5) * x + 5.0 / 6;
  s[1] = ((-1.0 / 3 * x + 0.5) * x + 0.5) * x + 1.0 / 6;
  s[2] = 1.0 / 6 * x * x * x;
}

__device__ int modulo(int i, int n) {
  const int rest = i % n;
  return rest < 0 ? rest + n : rest;
}

// One particle; `column` doubles lie between its values.
__device__ void push(const Problem &P, double *q, int64_t column, const double *b2, const double *b3, double *j) {
  const double h1 = P.length / P.n1, h2 = P.length / P.n2, h3 = P.length / P.n3;
  const double before = q[0], after = before + P.dt * q[3 * column], y = q[column] / h2, z = q[2 * column] / h3;
  const double first = before / h1, final = after / h1;
  int cell = (int)floor(first);
  const int last = (int)floor(final), c2 = (int)floor(y), c3 = (int)floor(z), towards = last < cell ? -1 : 1;
  double s0y[4], s1y[3], s0z[4], s1z[3];
  int iy[4], iz[4];
  cubic(y - c2, s0y);
  quadratic(y - c2, s1y);
  cubic(z - c3, s0z);
  quadratic(z - c3, s1z);
  for (int n = 0; n < 4; n++) iy[n] = modulo(c2 - 3 + n, P.n2), iz[n] = modulo(c3 - 3 + n, P.n3);
  const double weight = P.charge * q[6 * column];
  double turn2 = 0, turn3 = 0, from = first - cell;
  for (bool onward = true; onward; cell += towards, from = towards > 0 ? 0 : 1) {
    onward = cell != last;
    double old[3], now[3], integral[3];
    int ix[3];
    primitives(from, old);
    primitives(onward ? (towards > 0 ? 1.0 : 0.0) : final - last, now);
    for (int n = 0; n < 3; n++) integral[n] = h1 * (now[n] - old[n]), ix[n] = modulo(cell - 2 + n, P.n1);
    for (int m = 0; m < 4; m++) {
      double sum2 = 0, sum3 = 0;
      for (int l = 0; l < 4; l++) {
        const int base = P.n1 * (iy[l] + P.n2 * iz[m]);
        const double s = s0y[l] * s0z[m] * weight;
        double f = 0, g = 0;
        for (int n = 0; n < 3; n++) {
          atomicAdd(&j[base + ix[n]], integral[n] * s);
          f += b3[base + ix[n]] * integral[n];
          g += b2[base + ix[n]] * integral[n];
        }
        if (l > 0) sum2 += f * s1y[l - 1];
        sum3 += g * s0y[l];
      }
      turn2 += sum2 * s0z[m];
      if (m > 0) turn3 += sum3 * s1z[m - 1];
    }
  }
  q[4 * column] -= P.ratio * turn2;
  q[5 * column] += P.ratio * turn3;
  const double inside = after - P.length * floor(after / P.length);
  q[0] = inside < P.length ? inside : 0;
}

// A thread for each particle, every update an atomic addition in device memory: the CUDA version of the paper.
__global__ void __launch_bounds__(256) push_global(Problem P, double *p, int64_t column, int64_t step, int64_t count, const double *b2,
                                                   const double *b3, double *j) {
  const int64_t i = blockIdx.x * (int64_t)blockDim.x + threadIdx.x;
  if (i < count) push(P, p + i * step, column, b2, b3, j);
}

// Currents and fields of a block in shared memory, flushed once.
__global__ void __launch_bounds__(256) push_shared(Problem P, double *p, int64_t column, int64_t step, int64_t count, const double *b2,
                                                   const double *b3, double *j) {
  extern __shared__ double memory[];
  const int dofs = P.n1 * P.n2 * P.n3;
  double *mine = memory, *near2 = memory + dofs, *near3 = memory + 2 * dofs;
  for (int g = threadIdx.x; g < dofs; g += blockDim.x) mine[g] = 0, near2[g] = b2[g], near3[g] = b3[g];
  __syncthreads();
  for (int64_t i = blockIdx.x * (int64_t)blockDim.x + threadIdx.x; i < count; i += (int64_t)gridDim.x * blockDim.x)
    push(P, p + i * step, column, near2, near3, mine);
  __syncthreads();
  for (int g = threadIdx.x; g < dofs; g += blockDim.x) atomicAdd(&j[g], mine[g]);
}

template <class T> static T *on_device(const T *host, int64_t count) {
  T *device;
  CHECK(cudaMalloc(&device, count * sizeof(T)));
  CHECK(cudaMemcpy(device, host, count * sizeof(T), cudaMemcpyHostToDevice));
  return device;
}

// `particles`: [7][count], or [count][7] if `whole`. `j` takes the current of the first call.
static double measure(bool shared, const double *particles, bool whole, int64_t count, const double *b2, const double *b3, double *j, double dt,
                      double charge, double ratio, double length, int n1, int n2, int n3, int calls) {
  const int64_t dofs = (int64_t)n1 * n2 * n3, column = whole ? 1 : count, step = whole ? 7 : 1;
  double *p = on_device(particles, 7 * count), *device2 = on_device(b2, dofs), *device3 = on_device(b3, dofs), *current = on_device(j, dofs);
  const size_t bytes = 3 * dofs * sizeof(double);
  int processors, resident, device;
  CHECK(cudaGetDevice(&device));
  CHECK(cudaDeviceGetAttribute(&processors, cudaDevAttrMultiProcessorCount, device));
  CHECK(cudaOccupancyMaxActiveBlocksPerMultiprocessor(&resident, push_shared, 256, bytes));
  cudaEvent_t begin, end;
  CHECK(cudaEventCreate(&begin));
  CHECK(cudaEventCreate(&end));
  std::vector<double> seconds;
  for (int n = -4; n < calls; n++) {
    const Problem P{n % 2 == 0 ? dt : -dt, charge, ratio, length, n1, n2, n3};
    CHECK(cudaEventRecord(begin));
    CHECK(cudaMemsetAsync(current, 0, dofs * sizeof(double)));
    if (shared)
      push_shared<<<processors * resident, 256, bytes>>>(P, p, column, step, count, device2, device3, current);
    else
      push_global<<<(unsigned)((count + 255) / 256), 256>>>(P, p, column, step, count, device2, device3, current);
    CHECK(cudaGetLastError());
    CHECK(cudaEventRecord(end));
    CHECK(cudaEventSynchronize(end));
    float ms;
    CHECK(cudaEventElapsedTime(&ms, begin, end));
    if (n == -4) CHECK(cudaMemcpy(j, current, dofs * sizeof(double), cudaMemcpyDeviceToHost));
    if (n >= 0) seconds.push_back(ms / 1e3);
  }
  CHECK(cudaEventDestroy(begin));
  CHECK(cudaEventDestroy(end));
  for (double *memory : {p, device2, device3, current}) CHECK(cudaFree(memory));
  std::sort(seconds.begin(), seconds.end());
  return seconds[seconds.size() / 2];
}

extern "C" {
double pic_global(const double *particles, int whole, int64_t count, const double *b2, const double *b3, double *j, double dt, double charge,
                  double ratio, double length, int n1, int n2, int n3, int calls) {
  return measure(false, particles, whole, count, b2, b3, j, dt, charge, ratio, length, n1, n2, n3, calls);
}

double pic_shared(const double *particles, int whole, int64_t count, const double *b2, const double *b3, double *j, double dt, double charge,
                  double ratio, double length, int n1, int n2, int n3, int calls) {
  return measure(true, particles, whole, count, b2, b3, j, dt, charge, ratio, length, n1, n2, n3, calls);
}
}
