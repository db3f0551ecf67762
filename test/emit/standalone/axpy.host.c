// Launches kernel "axpy" of axpy.cl, written by isoform.
// gcc -O2 -c axpy.host.c   (link with -lOpenCL)
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
static cl_int set_f64(cl_kernel kernel, cl_uint n, cl_double value) { return clSetKernelArg(kernel, n, sizeof value, &value); }
static cl_int set_i64(cl_kernel kernel, cl_uint n, cl_long value) { return clSetKernelArg(kernel, n, sizeof value, &value); }

/*
 * Compiles the kernels in the file at `path`, which is axpy.cl. Messages of the compiler go to stderr.
 * Returns NULL on failure, with the reason in *status.
 */
cl_program axpy_build(cl_context context, cl_device_id device, const char *path, cl_int *status) {
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
  *status = clBuildProgram(program, 1, &device, "-cl-std=CL1.2 -cl-fp32-correctly-rounded-divide-sqrt", NULL, NULL);
  if (*status == CL_SUCCESS) return program;
  char log[4096] = "";
  clGetProgramBuildInfo(program, device, CL_PROGRAM_BUILD_LOG, sizeof log, log, NULL);
  fprintf(stderr, "%s\n", log);
  clReleaseProgram(program);
  return NULL;
}

/*
 * Runs kernel "axpy" over a range.
 *   a_                a number
 *   x_                element 0 of an array of rank 1, read
 *   x_extent0_        elements
 *   y_                element 0 of an array of rank 1, written
 *   y_extent0_        elements
 *   i_begin_, i_end_  first index of the range and the one after its last, along each axis
 * Arrays may not share memory.
 * Arrays are in the device's memory, results in the host's.
 * Does not wait for the kernel's end.
 * Returns CL_SUCCESS, or the error of the call that failed.
 */
cl_int axpy_launch(
  double a_,
  cl_mem x_,
  int32_t x_extent0_,
  cl_mem y_,
  int32_t y_extent0_,
  int64_t i_begin_, int64_t i_end_,
  cl_command_queue queue,
  cl_program program
)
{
  cl_int status = CL_SUCCESS;
  const int64_t i_count_ = i_end_ > i_begin_ ? i_end_ - i_begin_ : 0;
  const int64_t n_ = (i_count_ + 255) / 256;
  const int64_t blocks_x_ = n_ > 1 ? n_ : 1;
  if (i_count_ > 0) {
    if (status == CL_SUCCESS) {
      cl_kernel kernel = clCreateKernel(program, "axpy_kernel", &status);
      TRY(set_f64(kernel, 0, a_));
      TRY(set_mem(kernel, 1, x_));
      TRY(set_i64(kernel, 2, 0));
      TRY(set_mem(kernel, 3, y_));
      TRY(set_i64(kernel, 4, 0));
      TRY(set_i64(kernel, 5, i_begin_));
      TRY(set_i64(kernel, 6, i_end_));
      const size_t local[3] = {256, 1, 1};
      const size_t global[3] = {(size_t)blocks_x_ * local[0], local[1], local[2]};
      TRY(clEnqueueNDRangeKernel(queue, kernel, 3, NULL, global, local, 0, NULL, NULL));
      if (kernel) clReleaseKernel(kernel);
    }
  }
  return status;
}
