/* Gives the calls of calls.h their names, which are taken where HIP's headers are included. The loader asks once where each one leads. */
#define CALL(name, function)                      \
  extern void *const on_cuda_##name;              \
  static void *find_##name(void) {                \
    return on_cuda_##name;                        \
  }                                               \
  void name(void) __attribute__((ifunc("find_" #name)));
#define SAME(name) CALL(name, name)
#include "calls.h"
