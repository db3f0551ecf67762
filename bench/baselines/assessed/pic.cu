// The operator H_p1 of GEMPIC: sizes {particles, n1, n2, n3}, inputs particles [7][count], two fields, and {time step, charge, charge over mass,
// length}; results the last current and the particles.
#include "program.cuh"
#include "../pic.cu"

struct Plasma {
  int device;
  int64_t count, dofs;
  Problem problem;
  unsigned blocks = 0;
  double *first = nullptr, *particles = nullptr, *b2 = nullptr, *b3 = nullptr, *j = nullptr;
  size_t shared() const { return 3 * dofs * sizeof(double); }
};

void release(void *program) {
  Plasma *p = (Plasma *)program;
  cudaSetDevice(p->device);
  for (double *array : {p->first, p->particles, p->b2, p->b3, p->j}) cudaFree(array);
  delete p;
}

void *prepare(int32_t device, const int64_t *sizes, const double *const *inputs) {
  const double *s = inputs[3];
  const int n1 = (int)sizes[1], n2 = (int)sizes[2], n3 = (int)sizes[3];
  Plasma *p = new Plasma{device, sizes[0], (int64_t)n1 * n2 * n3, Problem{s[0], s[1], s[2], s[3], n1, n2, n3}};
  if (guarded([&] {
        must(cudaSetDevice(device));
        int processors, resident;
        must(cudaDeviceGetAttribute(&processors, cudaDevAttrMultiProcessorCount, device));
        must(cudaOccupancyMaxActiveBlocksPerMultiprocessor(&resident, push_shared, 256, p->shared()));
        p->blocks = processors * resident;
        p->first = on_device(inputs[0], 7 * p->count);
        p->particles = zeros(7 * p->count);
        p->b2 = on_device(inputs[1], p->dofs);
        p->b3 = on_device(inputs[2], p->dofs);
        p->j = zeros(p->dofs);
      }) == 0)
    return p;
  release(p);
  return nullptr;
}

int32_t run(void *program, int64_t iterations, double *seconds) {
  Plasma *p = (Plasma *)program;
  return guarded([&] {
    must(cudaSetDevice(p->device));
    must(cudaMemcpy(p->particles, p->first, 7 * p->count * sizeof(double), cudaMemcpyDeviceToDevice));
    Clock clock;
    for (int64_t k = 0; k < iterations; k++) {
      clock.mark();
      must(cudaMemsetAsync(p->j, 0, p->dofs * sizeof(double)));
      clock.mark();
      push_shared<<<p->blocks, 256, p->shared()>>>(p->problem, p->particles, p->count, 1, p->count, p->b2, p->b3, p->j);
      clock.mark();
    }
    must(cudaDeviceSynchronize());
    seconds[0] = seconds[1] = 0;
    for (int64_t k = 0; k < iterations; k++) {
      seconds[0] += clock.seconds(3 * k, 3 * k + 2) / iterations;
      seconds[1] += clock.seconds(3 * k + 1, 3 * k + 2) / iterations;
    }
  });
}

int32_t results(void *program, double *const *outputs) {
  Plasma *p = (Plasma *)program;
  return guarded([&] {
    must(cudaSetDevice(p->device));
    to_host(outputs[0], p->j, p->dofs);
    to_host(outputs[1], p->particles, 7 * p->count);
  });
}
