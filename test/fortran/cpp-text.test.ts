/* Ports to C++ in full: every kind of loop, bound, result and statement once. `cpp-compiled.test.ts` compiles such texts. */
import assert from "node:assert/strict";
import { it } from "node:test";
import { portCppSources } from "../../src/fortran/port/cpp/sources.js";
import type { CppTarget } from "../../src/fortran/port/targets.js";

const LOOPS = `module loops
  use, intrinsic :: iso_c_binding
  implicit none
  real(8), parameter :: weights(0:2) = [0.25d0, 0.5d0, 0.25d0]
  integer, parameter :: width = 3
contains
  attributes(device) subroutine smooth(w, k, out, last)
    real(8), intent(in) :: w(:)
    integer, intent(in) :: k
    real(8), intent(out) :: out
    integer, intent(inout) :: last
    real(8) :: part
    integer :: m
    out = 0
    do m = 1, width
      part = w(m)*weights(m - 1)
      if (part < 0) cycle
      out = out + part
      if (m == k) return
    end do
    last = k
  end subroutine

  subroutine four(n, m, a, b, most, total, found, flag)
    integer, intent(in) :: n, m
    real(8), device :: a(0:n, -1:m, 2, *)
    real(8), allocatable, device :: b(:, :)
    real(8), intent(inout) :: total
    integer, intent(inout) :: most, found
    logical, intent(in) :: flag
    integer :: i, j, k, l, c
    real(8) :: own(3), x
    !$acc parallel loop collapse(4) private(own) reduction(+: total) reduction(max: most) copy(found)
    do l = 1, 2
      do k = 2, 1, -1
        do j = 0, m
          do i = 1, n - 1, 2
            own = 0d0
            own(2) = a(i, j, k, l)
            call smooth(own, 2, x, c)
            if (flag .and. x > 1d0) then
              total = total + x
            else if (x < -1 .or. .not. flag) then
              total = total - b(i, j)
              found = i
            else
              most = max(most, c)
            end if
          end do
        end do
      end do
    end do
  end subroutine

  subroutine two(n, m, a, s, mask)
    integer, intent(in) :: n, m
    real(8), device :: a(n, m)
    real(4), intent(in) :: s
    integer, device :: mask(:, 0:)
    integer :: i, j, k, p
    real(8) :: x
    !$cuf kernel do(2) <<<*,*>>>
    do j = 1, m
      do i = n, 1, -1
        select case (mask(i, j))
        case (1)
          x = s
        case (:-1, 5:7)
          x = -(s + 1)*2
        case default
          x = merge(0d0, real(i, 8), i > j .eqv. j > 2)
        end select
        outer: do k = 3, 1, -2
          do p = k, 4
            if (p > 2) exit outer
            if (p == k) cycle outer
            x = x - p/(k - (p - 1))
          end do
        end do outer
        do while (x > 100)
          x = x/2
        end do
        a(i, j) = x
      end do
    end do
  end subroutine

  subroutine one(n, k, low, bits, last, x)
    integer, intent(in) :: n, k
    integer, device :: x(n)
    integer :: low, bits, last, i
    !$omp parallel do reduction(min: low) reduction(*: bits) lastprivate(last)
    do i = k, n, k
      low = min(low, x(i))
      bits = bits*x(i)
      last = x(i)
    end do
  end subroutine
end module
`;

const KERNELS = `// hipcc -std=c++17 -O3 -ffp-contract=off --offload-arch=native -c loops_kernels.hip.cpp
// The loops of loops.F90, written by isoform.
#include "isoform_fortran.h"
__device__ void smooth_device_(const double *w_data_, const int w_extent1_, int k, double &out, int &last);

__device__ void smooth_device_(const double *w_data_, const int w_extent1_, int k, double &out, int &last) {
  constexpr int width = 3;
  const double weights_list_[] = {0.25e0, 0.5e0, 0.25e0};
  const f::View<const double, 1> weights(weights_list_, f::Bounds{0, 2});
  int m;
  double part;
  const f::View<const double, 1> w(w_data_, f::Bounds{1, w_extent1_});
  out = 0;
  for (m = 1; m <= width; m++) {
    part = w(m) * weights(m - 1);
    if (part < 0) {
      continue;
    }
    out = out + part;
    if (m == k) {
      return;
    }
  }
  last = k;
}

// loops.F90:33
__global__ void __launch_bounds__(256) four_kernel_(const int m, const int n, const int c_before_, const int b_lower1_, const int b_extent1_, const int b_lower2_, const int b_extent2_, const bool flag, const double *__restrict__ a_data_, const double *__restrict__ b_data_, double *__restrict__ total_partials_, int *__restrict__ found_left__partials_, int *__restrict__ found_times__partials_, int *__restrict__ most_partials_) {
  const int i_trips_ = f::trips(1, n - 1, 2);
  const int j_trips_ = f::trips(0, m);
  const int k_trips_ = f::trips(2, 1, -1);
  const int l_trips_ = f::trips(1, 2);
  const long long elements_ = 1LL * i_trips_ * j_trips_ * k_trips_ * l_trips_;
  double total = 0;
  int found = 0, found_left_ = 0;
  int found_times_ = 0, found_is_set_ = 0;
  int most = f::lowest<int>();
  const auto element_ = [&](const int i, const int j, const int k, const int l) {
    double x;
    double own_data_[3];
    const f::View<double, 1> own(own_data_, f::Bounds{1, 3});
    const f::View<const double, 4> a(a_data_, f::Bounds{0, n}, f::Bounds{-1, m}, f::Bounds{1, 2}, f::Bounds{1, 1});
    int c = c_before_;
    const f::View<const double, 2> b(b_data_, f::Bounds{b_lower1_, b_lower1_ + b_extent1_ - 1}, f::Bounds{b_lower2_, b_lower2_ + b_extent2_ - 1});
    own.fill(0e0);
    own(2) = a(i, j, k, l);
    smooth_device_(own.data, own.extent[0], 2, x, c);
    if (flag && x > 1e0) {
      total = total + x;
    }
    else if (x < -1 || !flag) {
      total = total - b(i, j);
      found = i;
      found_is_set_ = 1;
    }
    else {
      most = f::max(most, c);
    }
  };
  for (long long n_ = f::thread(); n_ < elements_; n_ += f::threads()) {
    found_is_set_ = 0;
    element_(1 + int(n_ % i_trips_) * 2, 0 + int(n_ / i_trips_ % j_trips_), 2 + int(n_ / i_trips_ / j_trips_ % k_trips_) * -1, 1 + int(n_ / i_trips_ / j_trips_ / k_trips_));
    if (found_is_set_) found_left_ = found, found_times_++;
  }
  total_partials_[f::thread()] = total;
  found_left__partials_[f::thread()] = found_left_;
  found_times__partials_[f::thread()] = found_times_;
  most_partials_[f::thread()] = most;
}
__global__ void four_fold_(const int count_, double *__restrict__ total_partials_, int *__restrict__ found_left__partials_, int *__restrict__ found_times__partials_, int *__restrict__ most_partials_) {
  const int t_ = f::thread();
  for (int n_ = t_ + f::threads(); n_ < count_; n_ += f::threads()) {
    total_partials_[t_] = total_partials_[t_] + total_partials_[n_];
    if (found_times__partials_[n_]) found_left__partials_[t_] = found_left__partials_[n_];
    found_times__partials_[t_] += found_times__partials_[n_];
    most_partials_[t_] = f::max(most_partials_[t_], most_partials_[n_]);
  }
}
extern "C" void four_launch_(hipStream_t stream, const int m, const int n, const int c_before_, const int b_lower1_, const int b_extent1_, const int b_lower2_, const int b_extent2_, const bool flag, const double *__restrict__ a_data_, const double *__restrict__ b_data_, double *total, int *found, int *most) {
  const int i_trips_ = f::trips(1, n - 1, 2);
  const int j_trips_ = f::trips(0, m);
  const int k_trips_ = f::trips(2, 1, -1);
  const int l_trips_ = f::trips(1, 2);
  if (i_trips_ == 0 || j_trips_ == 0 || k_trips_ == 0 || l_trips_ == 0) return;
  const long long elements_ = 1LL * i_trips_ * j_trips_ * k_trips_ * l_trips_;
  const int threads_ = f::threads_for(elements_);
  static double *total_room_ = nullptr;
  double *const total_partials_ = f::partials(total_room_);
  static int *found_left__room_ = nullptr;
  int *const found_left__partials_ = f::partials(found_left__room_);
  static int *found_times__room_ = nullptr;
  int *const found_times__partials_ = f::partials(found_times__room_);
  static int *most_room_ = nullptr;
  int *const most_partials_ = f::partials(most_room_);
  hipLaunchKernelGGL(four_kernel_, dim3(threads_ / 256), dim3(256), 0, stream, m, n, c_before_, b_lower1_, b_extent1_, b_lower2_, b_extent2_, flag, a_data_, b_data_, total_partials_, found_left__partials_, found_times__partials_, most_partials_);
  hipLaunchKernelGGL(four_fold_, dim3(1), dim3(256), 0, stream, threads_, total_partials_, found_left__partials_, found_times__partials_, most_partials_);
  hipLaunchKernelGGL(four_fold_, dim3(1), dim3(1), 0, stream, 256, total_partials_, found_left__partials_, found_times__partials_, most_partials_);
  f::check(hipGetLastError());
  *total = *total + f::first(total_partials_, stream);
  if (f::first(found_times__partials_, stream)) *found = f::first(found_left__partials_, stream);
  *most = f::max(*most, f::first(most_partials_, stream));
}

// loops.F90:62
__global__ void __launch_bounds__(256) two_kernel_(const int m, const int n, const int mask_extent1_, const int mask_extent2_, const float s, const int *__restrict__ mask_data_, double *__restrict__ a_data_) {
  const int i = n + int(blockIdx.x * blockDim.x + threadIdx.x) * -1;
  const int j = 1 + int(blockIdx.y * blockDim.y + threadIdx.y);
  if (int(blockIdx.x * blockDim.x + threadIdx.x) >= f::trips(n, 1, -1) || j > m) return;
  double x;
  int k, p;
  const f::View<const int, 2> mask(mask_data_, f::Bounds{1, mask_extent1_}, f::Bounds{0, mask_extent2_ - 1});
  const f::View<double, 2> a(a_data_, f::Bounds{1, n}, f::Bounds{1, m});
   {
    const auto case_1_ = mask(i, j);
    if (case_1_ >= 1 && case_1_ <= 1) {
      x = s;
    }
    else if ((case_1_ <= -1) || (case_1_ >= 5 && case_1_ <= 7)) {
      x = -((s + 1) * 2);
    }
    else {
      x = (!(i > j) == !(j > 2) ? 0e0 : double(i));
    }
  }
  for (k = 3; k >= 1; k -= 2) {
    for (p = k; p <= 4; p++) {
      if (p > 2) {
        goto outer_exit_;
      }
      if (p == k) {
        goto outer_cycle_;
      }
      x = x - p / (k - (p - 1));
    }
    outer_cycle_:;
  }
  outer_exit_:;
  while (x > 100) {
    x = x / 2;
  }
  a(i, j) = x;
}
extern "C" void two_launch_(hipStream_t stream, const int m, const int n, const int mask_extent1_, const int mask_extent2_, const float s, const int *__restrict__ mask_data_, double *__restrict__ a_data_) {
  const int i_trips_ = f::trips(n, 1, -1);
  const int j_trips_ = f::trips(1, m);
  if (i_trips_ == 0 || j_trips_ == 0) return;
  hipLaunchKernelGGL(two_kernel_, dim3(f::blocks(i_trips_, 64), f::blocks(j_trips_, 4)), dim3(64, 4), 0, stream, m, n, mask_extent1_, mask_extent2_, s, mask_data_, a_data_);
  f::check(hipGetLastError());
}

// loops.F90:92
__global__ void __launch_bounds__(256) one_kernel_(const int k, const int n, const int *__restrict__ x_data_, int *__restrict__ low_partials_, int *__restrict__ bits_partials_, int *__restrict__ last_left__partials_, int *__restrict__ last_times__partials_) {
  const int i_trips_ = f::trips(k, n, k);
  const long long elements_ = 1LL * i_trips_;
  int low = f::highest<int>();
  int bits = 1;
  int last = 0, last_left_ = 0;
  int last_times_ = 0, last_is_set_ = 0;
  const auto element_ = [&](const int i) {
    const f::View<const int, 1> x(x_data_, f::Bounds{1, n});
    low = f::min(low, x(i));
    bits = bits * x(i);
    last = x(i);
    last_is_set_ = 1;
  };
  for (long long n_ = f::thread(); n_ < elements_; n_ += f::threads()) {
    last_is_set_ = 0;
    element_(k + int(n_) * k);
    if (last_is_set_ && n_ == elements_ - 1) last_left_ = last, last_times_++;
  }
  low_partials_[f::thread()] = low;
  bits_partials_[f::thread()] = bits;
  last_left__partials_[f::thread()] = last_left_;
  last_times__partials_[f::thread()] = last_times_;
}
__global__ void one_fold_(const int count_, int *__restrict__ low_partials_, int *__restrict__ bits_partials_, int *__restrict__ last_left__partials_, int *__restrict__ last_times__partials_) {
  const int t_ = f::thread();
  for (int n_ = t_ + f::threads(); n_ < count_; n_ += f::threads()) {
    low_partials_[t_] = f::min(low_partials_[t_], low_partials_[n_]);
    bits_partials_[t_] = bits_partials_[t_] * bits_partials_[n_];
    if (last_times__partials_[n_]) last_left__partials_[t_] = last_left__partials_[n_];
    last_times__partials_[t_] += last_times__partials_[n_];
  }
}
extern "C" void one_launch_(hipStream_t stream, const int k, const int n, const int *__restrict__ x_data_, int *low, int *bits, int *last) {
  const int i_trips_ = f::trips(k, n, k);
  if (i_trips_ == 0) return;
  const long long elements_ = 1LL * i_trips_;
  const int threads_ = f::threads_for(elements_);
  static int *low_room_ = nullptr;
  int *const low_partials_ = f::partials(low_room_);
  static int *bits_room_ = nullptr;
  int *const bits_partials_ = f::partials(bits_room_);
  static int *last_left__room_ = nullptr;
  int *const last_left__partials_ = f::partials(last_left__room_);
  static int *last_times__room_ = nullptr;
  int *const last_times__partials_ = f::partials(last_times__room_);
  hipLaunchKernelGGL(one_kernel_, dim3(threads_ / 256), dim3(256), 0, stream, k, n, x_data_, low_partials_, bits_partials_, last_left__partials_, last_times__partials_);
  hipLaunchKernelGGL(one_fold_, dim3(1), dim3(256), 0, stream, threads_, low_partials_, bits_partials_, last_left__partials_, last_times__partials_);
  hipLaunchKernelGGL(one_fold_, dim3(1), dim3(1), 0, stream, 256, low_partials_, bits_partials_, last_left__partials_, last_times__partials_);
  f::check(hipGetLastError());
  *low = f::min(*low, f::first(low_partials_, stream));
  *bits = *bits * f::first(bits_partials_, stream);
  if (f::first(last_times__partials_, stream)) *last = f::first(last_left__partials_, stream);
}

extern "C" void loops_synchronise_() { f::check(hipDeviceSynchronize()); }
`;

/** The second of the four procedures, with the interface of its launch. */
const FOUR = `  subroutine four(n, m, a, b, most, total, found, flag)
    use, intrinsic :: iso_c_binding, only : c_ptr, c_null_ptr, c_loc, c_bool
    integer, intent(in) :: n, m
    real(8), target :: a(0:n,-1:m,2,*)
    real(8), allocatable, target :: b(:,:)
    real(8), intent(inout) :: total
    integer, intent(inout) :: most, found
    logical, intent(in) :: flag
    integer :: i, j, k, l, c
    real(8) :: own(3), x
    interface
      subroutine four_launch_(stream_, m, n, c_before_, b_lower1_, b_extent1_, b_lower2_, b_extent2_, flag, a_data_, b_data_, &
    &total, found, most) bind(c, name="four_launch_")
        use, intrinsic :: iso_c_binding
        type(c_ptr), value :: stream_
        integer(c_int), value :: m, n, c_before_, b_lower1_, b_extent1_, b_lower2_, b_extent2_
        logical(c_bool), value :: flag
        type(c_ptr), value :: a_data_, b_data_
        real(c_double) :: total
        integer(c_int) :: found, most
      end subroutine four_launch_
    end interface
    call four_launch_(c_null_ptr,m,n,c,lbound(b,1),size(b,1),lbound(b,2),size(b,2),logical(flag,c_bool),c_loc(a),c_loc(b),total,&
    &found,most)
  end subroutine four
`;

function ported(target: CppTarget): { fortran: string; kernels: string } {
  const [fortran, kernels] = portCppSources([{ file: "loops.F90", text: LOOPS }], { targets: [target] });
  return { fortran: fortran.text, kernels: kernels.text };
}

it("kernels, folds and launches are written in full", () => assert.equal(ported("hip").kernels, KERNELS));

it("CUDA differs from HIP in the names of the run-time system and in how kernels are launched", () => {
  const expected = KERNELS.replace(/hipcc .* -c loops_kernels.hip.cpp/, "nvcc -std=c++17 -O3 -fmad=false -arch=native -c loops_kernels.cu")
    .replaceAll(/hipLaunchKernelGGL\((\w+), (dim3\(.*?\)), (dim3\([\d, ]+\)), 0, stream, (.*)\);/g, "$1<<<$2, $3, 0, stream>>>($4);")
    .replaceAll(/\bhip(?=[A-Z])/g, "cuda");
  assert.equal(ported("cuda").kernels, expected);
});

it("Fortran gives arrays, the bounds that declarations leave open and scalars, in the order of the interface", () => {
  const { fortran } = ported("hip");
  assert.ok(fortran.startsWith("! gfortran -cpp -O2 -ffree-line-length-none -c loops.F90   (link with loops_kernels.o)\nmodule loops\n"));
  assert.ok(fortran.includes(FOUR), fortran);
  assert.doesNotMatch(fortran, /smooth/);
});
