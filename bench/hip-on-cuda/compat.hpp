/* What HIP's CUDA headers lack. */
#pragma once
#include <cuda.h>
#include <cuda_runtime.h>

/* They give shuffles a mask, but not votes. */
#define __ballot(vote) __ballot_sync(~0u, vote)

/* They name what CUDA 13 has taken away or given more parameters. Nothing here uses it, so it is enough that it compiles. */
#if CUDA_VERSION >= 13000
struct PropertiesBefore13 : cudaDeviceProp {
  int clockRate, computeMode, memoryClockRate, deviceOverlap, kernelExecTimeoutEnabled, maxTexture1DLinear;
  int singleToDoublePrecisionPerfRatio, cooperativeMultiDeviceLaunch;
};
#define cudaDeviceProp PropertiesBefore13
#define cudaDevAttrCooperativeMultiDeviceLaunch cudaDevAttrCooperativeLaunch

/* Chosen only where no function takes the arguments. */
#define BEFORE_13(type, name, failure)     \
  template <class... Arguments>            \
  inline type name(Arguments...) {         \
    return failure;                        \
  }
BEFORE_13(cudaError_t, cudaMemAdvise, cudaErrorNotSupported)
BEFORE_13(cudaError_t, cudaMemPrefetchAsync, cudaErrorNotSupported)
BEFORE_13(cudaError_t, cudaLaunchCooperativeKernelMultiDevice, cudaErrorNotSupported)
BEFORE_13(cudaError_t, cudaGraphAddDependencies, cudaErrorNotSupported)
BEFORE_13(cudaError_t, cudaGraphRemoveDependencies, cudaErrorNotSupported)
BEFORE_13(cudaError_t, cudaGraphGetEdges, cudaErrorNotSupported)
BEFORE_13(cudaError_t, cudaGraphNodeGetDependencies, cudaErrorNotSupported)
BEFORE_13(cudaError_t, cudaGraphNodeGetDependentNodes, cudaErrorNotSupported)
BEFORE_13(cudaError_t, cudaStreamUpdateCaptureDependencies, cudaErrorNotSupported)
BEFORE_13(CUresult, cuCtxCreate, CUDA_ERROR_NOT_SUPPORTED)
BEFORE_13(CUresult, cuStreamGetCaptureInfo_v2, CUDA_ERROR_NOT_SUPPORTED)
#endif
