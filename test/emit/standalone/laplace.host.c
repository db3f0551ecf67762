// Launches kernel "laplace" of laplace.cl, written by isoform.
// gcc -O2 -c laplace.host.c   (link with -lOpenCL)
#define CL_TARGET_OPENCL_VERSION 120
#include <CL/cl.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

// Does nothing once a call has failed.
#define TRY(call) if (status == CL_SUCCESS) status = (call)

static cl_int set_mem(cl_kernel kernel, cl_uint n, cl_mem value) { return clSetKernelArg(kernel, n, sizeof value, &value); }
static cl_int set_i64(cl_kernel kernel, cl_uint n, cl_long value) { return clSetKernelArg(kernel, n, sizeof value, &value); }

/*
 * Compiles the kernels in the file at `path`, which is laplace.cl. Messages of the compiler go to stderr.
 * Returns NULL on failure, with the reason in *status.
 */
cl_program laplace_build(cl_context context, cl_device_id device, const char *path, cl_int *status) {
  FILE *file = fopen(path, "rb");
  if (!file) { *status = CL_INVALID_VALUE; return NULL; }
  fseek(file, 0, SEEK_END);
  const size_t length = (size_t)ftell(file);
  rewind(file);
  char *source = malloc(length + 1);
  const size_t got = source ? fread(source, 1, length, file) : 0;
  fclose(file);
  cl_program program = NULL;
  *status = source && got == length ? CL_SUCCESS : CL_OUT_OF_HOST_MEMORY;
  if (*status == CL_SUCCESS) program = clCreateProgramWithSource(context, 1, (const char **)&source, &length, status);
  free(source);
  if (*status != CL_SUCCESS) return NULL;
  *status = clBuildProgram(program, 1, &device, "-cl-std=CL1.2 -cl-mad-enable", NULL, NULL);
  if (*status == CL_SUCCESS) return program;
  char log[4096] = "";
  clGetProgramBuildInfo(program, device, CL_PROGRAM_BUILD_LOG, sizeof log, log, NULL);
  fprintf(stderr, "%s\n", log);
  clReleaseProgram(program);
  return NULL;
}

/*
 * Runs kernel "laplace" over a range.
 *   p_                                                    element 0 of an array of rank 3, read
 *   p_extent0_, p_extent1_, p_extent2_                    indices along each axis
 *   p_stride0_, p_stride1_                                elements from one index of an axis to the next
 *   s_                                                    element 0 of an array of rank 3, written
 *   s_extent0_, s_extent1_, s_extent2_                    indices along each axis
 *   s_stride0_, s_stride1_                                elements from one index of an axis to the next
 *   i_begin_, i_end_, j_begin_, j_end_, k_begin_, k_end_  first index of the range and the one after its last, along each axis
 * Strides of 1 are compiled in: p's along axis 2, s's along axis 2.
 * Arrays may not share memory.
 * Arrays are in the device's memory, results in the host's.
 * Does not wait for the kernel's end.
 * Returns CL_SUCCESS, or the error of the call that failed.
 */
cl_int laplace_launch(
  cl_mem p_,
  int32_t p_extent0_, int32_t p_extent1_, int32_t p_extent2_,
  int64_t p_stride0_, int64_t p_stride1_,
  cl_mem s_,
  int32_t s_extent0_, int32_t s_extent1_, int32_t s_extent2_,
  int64_t s_stride0_, int64_t s_stride1_,
  int64_t i_begin_, int64_t i_end_, int64_t j_begin_, int64_t j_end_, int64_t k_begin_, int64_t k_end_,
  cl_command_queue queue,
  cl_program program
)
{
  cl_int status = CL_SUCCESS;
  const int64_t i_count_ = i_end_ > i_begin_ ? i_end_ - i_begin_ : 0;
  const int64_t j_count_ = j_end_ > j_begin_ ? j_end_ - j_begin_ : 0;
  const int64_t k_count_ = k_end_ > k_begin_ ? k_end_ - k_begin_ : 0;
  int64_t block_x_ = 1;
  while (block_x_ < k_count_ && block_x_ < 32) block_x_ *= 2;
  const int64_t block_y_ = 128 / block_x_;
  const int64_t n_ = (k_count_ + block_x_ - 1) / block_x_;
  const int64_t blocks_x_ = n_ > 1 ? n_ : 1;
  const int64_t n_2_ = (j_count_ + block_y_ - 1) / block_y_;
  const int64_t blocks_y_ = n_2_ > 1 ? n_2_ : 1;
  const int64_t n_3_ = (i_count_ + 65534) / 65535;
  const int64_t planes_ = n_3_ > 4 ? n_3_ : 4;
  const int64_t n_4_ = (i_count_ + planes_ - 1) / planes_;
  // Blocks work on as many rows of a few planes as the cache holds.
  int64_t row_bytes = 1;
  if ((int64_t)p_extent0_ * (int64_t)p_extent1_ * (int64_t)p_extent2_ >= i_count_ * j_count_ * k_count_ && i_count_ * j_count_ > 0)
    row_bytes += 8 * ((int64_t)p_extent0_ * (int64_t)p_extent1_ * (int64_t)p_extent2_) / (i_count_ * j_count_);
  if ((int64_t)s_extent0_ * (int64_t)s_extent1_ * (int64_t)s_extent2_ >= i_count_ * j_count_ * k_count_ && i_count_ * j_count_ > 0)
    row_bytes += 8 * ((int64_t)s_extent0_ * (int64_t)s_extent1_ * (int64_t)s_extent2_) / (i_count_ * j_count_);
  cl_device_id device;
  cl_uint multiprocessors = 1;
  cl_ulong cache_bytes = 1;
  TRY(clGetCommandQueueInfo(queue, CL_QUEUE_DEVICE, sizeof device, &device, NULL));
  TRY(clGetDeviceInfo(device, CL_DEVICE_MAX_COMPUTE_UNITS, sizeof multiprocessors, &multiprocessors, NULL));
  TRY(clGetDeviceInfo(device, CL_DEVICE_GLOBAL_MEM_CACHE_SIZE, sizeof cache_bytes, &cache_bytes, NULL));
  const int64_t n_5_ = ((int64_t)cache_bytes * 40 / 100) / (planes_ * row_bytes * block_y_);
  const int64_t fitting_ = n_5_ > 1 ? n_5_ : 1;
  const int64_t n_6_ = (blocks_y_ + fitting_ - 1) / fitting_;
  const int64_t tiles_ = n_6_ < 65535 ? n_6_ : 65535;
  const int64_t tile_ = (blocks_y_ + tiles_ - 1) / tiles_;
  if (i_count_ * j_count_ * k_count_ > 0) {
    if (status == CL_SUCCESS) {
      cl_kernel kernel = clCreateKernel(program, "laplace_kernel", &status);
      TRY(set_mem(kernel, 0, p_));
      TRY(set_i64(kernel, 1, 0));
      TRY(set_mem(kernel, 2, s_));
      TRY(set_i64(kernel, 3, 0));
      TRY(set_i64(kernel, 4, blocks_x_));
      TRY(set_i64(kernel, 5, tile_));
      TRY(set_i64(kernel, 6, planes_));
      TRY(set_i64(kernel, 7, k_begin_));
      TRY(set_i64(kernel, 8, j_begin_));
      TRY(set_i64(kernel, 9, i_begin_));
      TRY(set_i64(kernel, 10, i_end_));
      TRY(set_i64(kernel, 11, k_end_));
      TRY(set_i64(kernel, 12, j_end_));
      TRY(set_i64(kernel, 13, s_stride0_));
      TRY(set_i64(kernel, 14, s_stride1_));
      TRY(set_i64(kernel, 15, p_stride0_));
      TRY(set_i64(kernel, 16, p_stride1_));
      const size_t local[3] = {block_x_, block_y_, 1};
      const size_t global[3] = {(size_t)(blocks_x_ * tile_) * local[0], (size_t)((n_4_ > 1 ? n_4_ : 1)) * local[1], (size_t)tiles_ * local[2]};
      TRY(clEnqueueNDRangeKernel(queue, kernel, 3, NULL, global, local, 0, NULL, NULL));
      if (kernel) clReleaseKernel(kernel);
    }
  }
  return status;
}
