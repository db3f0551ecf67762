import type { HostPort } from "./names.js";

/* Small programs that tell where a port's loops run; a compiler that cannot compile one cannot compile the port. */

/** Entry of every probe: it takes the address of the place. */
export const PROBE = "port_place";

/** Answers of a probe: the loops run on the host; they run on a device that does not reach the host's memory. */
export const ON_HOST = -1;
export const OUT_OF_REACH = -2;

const SOURCES: Readonly<Record<HostPort, string>> = {
  c: `#include <omp.h>
#include <stdint.h>
void ${PROBE}(int32_t *place) {
  *place = omp_get_max_threads() > 0 ? ${ON_HOST} : ${OUT_OF_REACH};
}
`,
  "omp-target": `#include <omp.h>
#include <stdint.h>
void ${PROBE}(int32_t *place) {
  int initial = 1;
#pragma omp target map(from: initial)
  initial = omp_is_initial_device();
  *place = initial ? ${ON_HOST} : omp_get_default_device();
}
`,
  openacc: `#include <openacc.h>
#include <stdint.h>
#ifndef _OPENACC
#error "the compiler has no OpenACC"
#endif
extern "C" void ${PROBE}(int32_t *place) {
  int host = 1;
#pragma acc parallel num_gangs(1) copyout(host)
  host = acc_on_device(acc_device_host);
  *place = host ? ${ON_HOST} : 0;
}
`,
  stdpar: `#include <algorithm>
#include <execution>
#include <stdint.h>
#include <vector>
extern "C" void ${PROBE}(int32_t *place) {
  std::vector<int32_t> found(64, 1);
  std::for_each(std::execution::par, found.begin(), found.end(), [](int32_t &each) { each = 0; });
#ifdef _NVHPC_STDPAR_GPU
  *place = found[63];
#else
  *place = found[63] + ${ON_HOST};
#endif
}
`,
  kokkos: `#include <Kokkos_Core.hpp>
#include <stdint.h>
using space = Kokkos::DefaultExecutionSpace;
extern "C" __attribute__((visibility("default"))) void ${PROBE}(int32_t *place) {
  const bool reached = Kokkos::SpaceAccessibility<Kokkos::HostSpace, space::memory_space>::accessible;
  *place = reached ? ${ON_HOST} : ${OUT_OF_REACH};
}
`,
  sycl: `#include <stdint.h>
#include <sycl/sycl.hpp>
extern "C" void ${PROBE}(int32_t *place) {
  const sycl::device device = sycl::queue().get_device();
  *place = device.is_cpu() ? ${ON_HOST} : device.has(sycl::aspect::usm_system_allocations) ? 0 : ${OUT_OF_REACH};
}
`,
};

export const probeOf = (port: HostPort): string => SOURCES[port];
