/* Runs the emitted launch functions and compares with plain loops. All numbers are small integers, so every order of sums gives the same. */
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <vector>
#include <hip/hip_runtime.h>

extern "C" hipError_t laplace_launch(const double *p, int32_t, int32_t, int32_t, long long, long long, double *s, int32_t, int32_t, int32_t,
                                     long long, long long, long long, long long, long long, long long, long long, long long, hipStream_t);
extern "C" hipError_t dot_launch(double *s, int32_t *m, const double *x, int32_t, const int32_t *n, int32_t, long long, long long, hipStream_t);
extern "C" hipError_t rowSums_launch(const double *a, int32_t, int32_t, long long, double *s, int32_t, int32_t league, hipStream_t);
extern "C" hipError_t histogram_launch(const int32_t *n, int32_t, double *h, int32_t, double *top, int32_t, long long, long long, hipStream_t);

static int failures;

static void check(hipError_t status) {
  if (status == hipSuccess) return;
  std::fprintf(stderr, "HIP: %s\n", hipGetErrorString(status));
  std::exit(2);
}

template <class T> T *on_device(const std::vector<T> &data) {
  void *place;
  check(hipMalloc(&place, data.size() * sizeof(T)));
  check(hipMemcpy(place, data.data(), data.size() * sizeof(T), hipMemcpyHostToDevice));
  return static_cast<T *>(place);
}

template <class T> void same(const char *what, const T *found, const std::vector<T> &wanted) {
  std::vector<T> host(wanted.size());
  check(hipDeviceSynchronize());
  check(hipMemcpy(host.data(), found, host.size() * sizeof(T), hipMemcpyDeviceToHost));
  size_t wrong = 0;
  for (size_t n = 0; n < host.size(); n++) wrong += host[n] != wanted[n];
  failures += wrong > 0;
  std::printf("%-10s %zu of %zu wrong\n", what, wrong, host.size());
}

static double number(long long n) { return (double)(n * 7919 % 1009 - 500); }

static void check_laplace() {
  const int N = 70;
  std::vector<double> p(N * N * N), s(p.size(), -1);
  for (size_t n = 0; n < p.size(); n++) p[n] = number(n);
  double *const there = on_device(p), *const result = on_device(s);
  for (int i = 1; i < N - 1; i++)
    for (int j = 1; j < N - 1; j++)
      for (int k = 1; k < N - 1; k++) {
        const size_t c = ((size_t)i * N + j) * N + k;
        s[c] = 6 * p[c] - p[c - N * N] - p[c + N * N] - p[c - N] - p[c + N] - p[c - 1] - p[c + 1];
      }
  check(laplace_launch(there, N, N, N, N * N, N, result, N, N, N, N * N, N, 1, N - 1, 1, N - 1, 1, N - 1, 0));
  same("laplace", result, s);
}

static void check_dot() {
  for (const int count : {0, 1, 255, 257, 1000003}) {
    std::vector<double> x(count + 1);
    std::vector<int32_t> n(count + 1);
    double wanted = 0, s = -1;
    int32_t largest = -2147483647 - 1, m = 0;
    for (int i = 0; i < count; i++) {
      x[i] = number(i);
      n[i] = (int32_t)(i * 40503ll % 65537) - 70000;
      wanted += x[i] * x[i];
      if (n[i] > largest) largest = n[i];
    }
    check(dot_launch(&s, &m, on_device(x), count + 1, on_device(n), count + 1, 0, count, 0));
    failures += s != wanted || m != largest;
    std::printf("dot        of %d: %.17g, %d; expected %.17g, %d\n", count, s, m, wanted, largest);
  }
}

static void check_rows() {
  const int rows = 517, columns = 1031;
  std::vector<double> a((size_t)rows * columns), s(rows);
  for (size_t n = 0; n < a.size(); n++) s[n / columns] += a[n] = number(n);
  double *const result = on_device(std::vector<double>(rows));
  check(rowSums_launch(on_device(a), rows, columns, columns, result, rows, rows, 0));
  same("rowSums", result, s);
}

static void check_histogram() {
  const int count = 300007;
  std::vector<int32_t> n(count);
  std::vector<double> h(97), top(89, -1);
  double *const bins = on_device(h), *const most = on_device(top);
  for (int i = 0; i < count; i++) {
    n[i] = (int32_t)(i * 48271ll % 2147483647);
    h[n[i] % 97]++;
    if (n[i] > top[n[i] % 89]) top[n[i] % 89] = n[i];
  }
  check(histogram_launch(on_device(n), count, bins, 97, most, 89, 0, count, 0));
  same("counts", bins, h);
  same("largest", most, top);
}

int main() {
  hipDeviceProp_t properties;
  check(hipGetDeviceProperties(&properties, 0));
  std::printf("HIP on %s\n", properties.name);
  check_laplace();
  check_dot();
  check_rows();
  check_histogram();
  std::printf(failures ? "%d FAILED\n" : "all as expected\n", failures);
  return failures > 0;
}
