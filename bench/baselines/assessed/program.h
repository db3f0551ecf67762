// What `isoform assess` calls of a hand-written program (src/portability/handwritten). One in C works in host memory; one in CUDA copies what it is given.
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

// Gets ready: what the other functions take, or NULL.
void *prepare(int32_t device, const int64_t *sizes, const double *const *inputs);
// From the start: the mean seconds of an iteration, then of each kernel. 0, or 1 where it failed.
int32_t run(void *program, int64_t iterations, double *seconds);
// Copies out what the last run left. 0, or 1 where it failed.
int32_t results(void *program, double *const *outputs);
void release(void *program);
// What went wrong.
const char *problem(void);

#ifdef __cplusplus
}
#endif
