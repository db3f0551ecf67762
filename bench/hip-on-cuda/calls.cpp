/* Where each call of calls.h leads. HIP's CUDA headers define inline functions, which no library can load; here are their addresses. */
#include <cstdio>
#include <cstring>
#include <string>
#include <vector>
#include <hip/hip_runtime_api.h>
#include <hip/hiprtc.h>

namespace {

/* The headers' own, as AMD's library tells its own; they give CUDA's. */
hipError_t runtime_version(int *version) {
  *version = HIP_VERSION_MAJOR * 10000000 + HIP_VERSION_MINOR * 100000 + HIP_VERSION_PATCH;
  return hipSuccess;
}

/* The headers leave out the name of the GPU's code. */
hipError_t properties(hipDeviceProp_t *of, int device) {
  const hipError_t status = hipGetDeviceProperties(of, device);
  if (status == hipSuccess) std::snprintf(of->gcnArchName, sizeof of->gcnArchName, "sm_%d%d", of->major, of->minor);
  return status;
}

/* The headers lack it; attributes have the same numbers. */
hipError_t function_attribute(int *value, int attribute, hipFunction_t function) {
  return hipCUResultTohipError(cuFuncGetAttribute(value, static_cast<CUfunction_attribute>(attribute), function));
}

/* The list that names a buffer of parameters and its size ends with 3 for AMD, with 0 for CUDA. */
hipError_t launch_kernel(hipFunction_t function, unsigned grid_x, unsigned grid_y, unsigned grid_z, unsigned block_x, unsigned block_y,
                         unsigned block_z, unsigned shared, hipStream_t stream, void **params, void **extra) {
  void *list[] = {extra[0], extra[1], extra[2], extra[3], HIP_LAUNCH_PARAM_END};
  return hipModuleLaunchKernel(function, grid_x, grid_y, grid_z, block_x, block_y, block_z, shared, stream, params, list);
}

/*
 * What code finds in hiprtc without an include. Shuffles want a mask, that of the threads which are `width` neighbours, for others may be
 * elsewhere; constants and fences are Clang's.
 */
const char *const BUILT_IN =
    "static __device__ inline unsigned on_cuda_neighbours(unsigned width) {\n"
    "  unsigned lane; asm(\"mov.u32 %0, %%laneid;\" : \"=r\"(lane));\n"
    "  return width == 32 ? ~0u : ((1u << width) - 1) << (lane & ~(width - 1));\n"
    "}\n"
    "#define __shfl_down(value, step, width) __shfl_down_sync(on_cuda_neighbours(width), value, step, width)\n"
    "#define __shfl_xor(value, step, width) __shfl_xor_sync(on_cuda_neighbours(width), value, step, width)\n"
    "#define __builtin_amdgcn_fence(...) __threadfence_block()\n"
    "#define __builtin_amdgcn_wave_barrier() __syncwarp(__activemask())\n"
    "#define __ballot(...) __ballot_sync(~0u, __VA_ARGS__)\n"
    "#define __builtin_inf() __longlong_as_double(0x7ff0000000000000)\n"
    "#define __builtin_nan(text) __longlong_as_double(0x7ff8000000000000)\n"
    "#line 1\n";

hiprtcResult create_program(hiprtcProgram *program, const char *source, const char *name, int headers, const char **sources,
                            const char **names) {
  return hiprtcCreateProgram(program, (BUILT_IN + std::string(source)).c_str(), name, headers, sources, names);
}

/* Clang's options in NVRTC's words; NVRTC optimises without being told. */
hiprtcResult compile_program(hiprtcProgram program, int count, const char **options) {
  std::vector<const char *> known;
  for (const char *option : std::vector<const char *>(options, options + count)) {
    if (!std::strcmp(option, "-O3")) continue;
    if (!std::strncmp(option, "-ffp-contract=", 14)) option = std::strcmp(option + 14, "off") ? "--fmad=true" : "--fmad=false";
    known.push_back(option);
  }
  return hiprtcCompileProgram(program, static_cast<int>(known.size()), known.data());
}

}  // namespace

extern "C" {
#define CALL(name, function) extern void *const on_cuda_##name = reinterpret_cast<void *>(function);
#define SAME(name) CALL(name, name)
#include "calls.h"
}
