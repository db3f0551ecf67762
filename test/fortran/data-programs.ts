/* Programs that keep data on a device, and compilers for their ports. All print whole numbers, or fractions that are exact. */
import { execFileSync, spawnSync } from "node:child_process";
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { portSources } from "../../src/fortran/index.js";
import { portCppSources } from "../../src/fortran/port/cpp/sources.js";
import { forShim, HIP_SHIM } from "./hip-shim.js";

/** A conjugate gradient with its vectors in one region: what goes back is the result, and what the host asks for. */
const CG = `program cg
  implicit none
  integer, parameter :: n = 40
  real(8) :: a(n, n), b(n), x(n), r(n), p(n), q(n), rr, old, pq, alpha
  integer :: i, j, it
  do j = 1, n
    do i = 1, n
      a(i, j) = merge(4d0, 0d0, i == j) - merge(1d0, 0d0, abs(i - j) == 1)
    end do
    b(j) = mod(j, 5)
  end do
  x = 0
  rr = 0
  !$acc data copyin(a, b) copy(x) create(r, p, q)
  !$acc parallel loop reduction(+:rr)
  do i = 1, n
    r(i) = b(i)
    p(i) = b(i)
    rr = rr + b(i)*b(i)
  end do
  do it = 1, 100
    pq = 0
    !$acc parallel loop gang present(a, p, q) reduction(+:pq)
    do i = 1, n
      q(i) = 0
      !$acc loop seq
      do j = 1, n
        q(i) = q(i) + a(i, j)*p(j)
      end do
      pq = pq + p(i)*q(i)
    end do
    alpha = 0
    if (pq > 1d-200) alpha = rr/pq
    old = rr
    rr = 0
    !$acc parallel loop reduction(+:rr)
    do i = 1, n
      x(i) = x(i) + alpha*p(i)
      r(i) = r(i) - alpha*q(i)
      rr = rr + r(i)*r(i)
    end do
    !$acc parallel loop
    do i = 1, n
      p(i) = r(i)
      if (old > 1d-200) p(i) = r(i) + rr/old*p(i)
    end do
    if (it == 2 .or. it == 100) then
      !$acc update self(r)
      print '(i4, 4f9.5)', it, abs(r(1:4))
    end if
  end do
  !$acc end data
  print '(8f9.5)', x
end program
`;

/** Objects that a routine puts on the device and another removes, with time steps in between. */
const OBJECTS = `module solver
  implicit none
  type field
    integer :: n
    real(8) :: w(3)
    real(8), allocatable :: a(:), b(:)
  end type
contains
  subroutine begin(f, n)
    type(field), intent(inout) :: f
    integer, intent(in) :: n
    integer :: i
    f%n = n
    f%w = [0.25d0, 0.5d0, 0.25d0]
    allocate(f%a(n), f%b(n))
    do i = 1, n
      f%a(i) = mod(7*i, 11)
    end do
    !$acc enter data copyin(f%w, f%a) create(f%b)
  end subroutine
  subroutine step(f)
    type(field), intent(inout) :: f
    integer :: i
    !$acc parallel loop present(f%w, f%a, f%b)
    do i = 2, f%n - 1
      f%b(i) = f%w(1)*f%a(i-1) + f%w(2)*f%a(i) + f%w(3)*f%a(i+1)
    end do
    !$acc parallel loop
    do i = 2, f%n - 1
      f%a(i) = f%b(i)
    end do
  end subroutine
  subroutine finish(f)
    type(field), intent(inout) :: f
    !$acc exit data delete(f%b, f%w) copyout(f%a)
    deallocate(f%b)
  end subroutine
end module
program run
  use solver
  type(field) :: f
  integer :: it
  call begin(f, 16)
  do it = 1, 4
    call step(f)
    if (it == 2) then
      !$acc update self(f%a(1:2))
      print '(2f16.8)', f%a(1:2)
      f%a(1) = 100
      !$acc update device(f%a(1))
    end if
  end do
  call finish(f)
  print '(4f16.8)', f%a
end program
`;

/** Rows and columns at the edge that the host exchanges between steps. */
const HALOS = `program halos
  implicit none
  integer, parameter :: n = 6, m = 5
  real(8) :: u(0:n+1, 0:m+1), v(0:n+1, 0:m+1)
  integer :: i, j, it
  do j = 0, m + 1
    do i = 0, n + 1
      u(i, j) = mod(3*i + 5*j, 7)
    end do
  end do
  v = -1
  !$acc enter data copyin(u) create(v)
  do it = 1, 3
    !$acc parallel loop collapse(2) present(u, v) async(1)
    do j = 1, m
      do i = 1, n
        v(i, j) = 0.25d0*(u(i-1, j) + u(i+1, j) + u(i, j-1) + u(i, j+1))
      end do
    end do
    !$acc parallel loop collapse(2) async(1)
    do j = 1, m
      do i = 1, n
        u(i, j) = v(i, j)
      end do
    end do
    !$acc update self(u(1, 1:m), u(n, 1:m), u(:, 1), u(:, m)) async(1)
    !$acc wait(1)
    u(0, 1:m) = u(n, 1:m)
    u(n+1, 1:m) = u(1, 1:m)
    u(:, 0) = u(:, m)
    u(:, m+1) = u(:, 1)
    !$acc update device(u(0, 1:m), u(n+1, 1:m)) device(u(:, 0), u(:, m+1))
  end do
  !$acc exit data copyout(u) delete(v)
  print '(8f12.7)', u
end program
`;

/** Arrays of a module that are on the device for good, or from \`allocate\` to \`deallocate\`, and statements of \`kernels\` without a loop. */
const DECLARED = `module tables
  implicit none
  real(8) :: coef(3)
  real(8), allocatable :: work(:)
  !$acc declare create(coef, work)
contains
  subroutine fill(n)
    integer, intent(in) :: n
    integer :: i
    if (.not. allocated(work)) allocate(work(n))
    coef = [1d0, 2d0, 3d0]
    !$acc update device(coef)
    !$acc parallel loop
    do i = 1, n
      work(i) = coef(1 + mod(i, 3))
    end do
  end subroutine
  subroutine use_it(n, x)
    integer, intent(in) :: n
    real(8), intent(inout) :: x(n)
    real(8) :: t(n)
    integer :: i
    !$acc declare create(t)
    !$acc kernels copy(x)
    work(1) = 50
    !$acc loop independent
    do i = 1, n
      t(i) = 2*work(i)
    end do
    !$acc loop independent
    do i = 1, n
      x(i) = x(i) + t(i)
    end do
    !$acc end kernels
  end subroutine
end module
program run
  use tables
  real(8) :: x(9)
  x = 1
  call fill(9)
  call use_it(9, x)
  print '(9f7.2)', x
  !$acc update self(work)
  print '(9f7.2)', work
  if (allocated(work)) deallocate(work)
end program
`;

/** A procedure that is given the device's address, through bounds that do not begin at 1. */
const ADDRESSES = `module library
  implicit none
contains
  subroutine scale(n, x, by)
    integer, intent(in) :: n
    real(8), intent(inout) :: x(n)
    real(8), intent(in) :: by
    integer :: i
    !$acc parallel loop deviceptr(x)
    do i = 1, n
      x(i) = by*x(i)
    end do
  end subroutine
end module
program run
  use library
  real(8) :: u(0:7, 2)
  integer :: i
  do i = 0, 7
    u(i, :) = i
  end do
  !$acc data copy(u)
  !$acc host_data use_device(u)
  call scale(16, u, 3d0)
  call scale(4, u(4:7, 2), 10d0)
  !$acc end host_data
  !$acc end data
  print '(8f7.1)', u
end program
`;

/** OpenMP's own directives, beside a loop that threads of the host share. */
const OPENMP = `program run
  implicit none
  integer, parameter :: n = 12
  integer :: i, it
  real(8) :: u(n), s
  u = 1
  s = 0
  !$omp target data map(tofrom: u)
  do it = 1, 10
    !$omp target teams distribute parallel do
    do i = 1, n
      u(i) = u(i) + i
    end do
    !$omp target update from(u)
    !$omp parallel do
    do i = 1, n
      u(i) = 2*u(i)
    end do
    s = s + u(3)
    u(1) = 0
    !$omp target update to(u)
  end do
  !$omp end target data
  print '(6f12.1)', u, s
end program
`;

/** Regions under a condition, in each other, and with data that a called routine finds. */
const NESTED = `module steps
  implicit none
contains
  subroutine add(n, x, y)
    integer, intent(in) :: n
    real(8) :: x(n), y(:)
    integer :: i
    !$acc data copy(x) if(n > 4)
    !$acc parallel loop copyin(y)
    do i = 1, n
      x(i) = x(i) + y(i)
    end do
    !$acc end data
  end subroutine
end module
program run
  use steps
  real(8) :: a(8), b(3), y(8), t(4, 4)
  integer :: i
  a = 1
  b = 2
  y = [(1d0*i, i = 1, 8)]
  !$acc data copyin(y) copy(a(1:6)) create(t)
  call add(6, a, y)
  call add(3, b, y)
  !$acc parallel loop
  do i = 1, 4
    t(i, 2) = y(i)
  end do
  !$acc parallel loop
  do i = 1, 6
    a(i) = a(i) + t(1 + mod(i, 4), 2)
  end do
  !$acc end data
  print '(8f7.1)', a, b
end program
`;

export const DATA_PROGRAMS = { CG, OBJECTS, HALOS, DECLARED, ADDRESSES, OPENMP, NESTED } as const;

/** A program's output; its status where it ends with another than 0. */
export interface Ran {
  readonly output: string;
  readonly errors: string;
  readonly status: number | null;
}

function inFolder<T>(use: (run: (tool: string, ...words: string[]) => void, folder: string) => T): T {
  const folder = mkdtempSync(join(tmpdir(), "isoform-data-"));
  try {
    return use((tool, ...words) => void execFileSync(tool, words, { cwd: folder, stdio: ["ignore", "ignore", "pipe"] }), folder);
  } finally {
    rmSync(folder, { recursive: true });
  }
}

function started(folder: string, env: Readonly<Record<string, string>> = {}): Ran {
  const made = spawnSync(join(folder, "run"), [], { cwd: folder, env: { ...process.env, ...env }, encoding: "utf8", timeout: 60_000 });
  return { output: made.stdout, errors: made.stderr, status: made.status };
}

/** As gfortran runs it without directives. */
export const asWritten = (text: string): Ran =>
  inFolder((run, folder) => {
    writeFileSync(join(folder, "run.f90"), text);
    run("gfortran", "-O0", "-ffp-contract=off", "run.f90", "-o", "run");
    return started(folder);
  });

/** Its port to OpenMP for GPUs, on the host. */
export const asOpenmpTarget = (text: string): Ran =>
  inFolder((run, folder) => {
    writeFileSync(join(folder, "run.f90"), portSources([{ file: "run.f90", text }], { targets: ["openmp-target"] })[0].text);
    run("gfortran", "-O0", "-ffp-contract=off", "-fopenmp", "run.f90", "-o", "run");
    return started(folder);
  });

/** Its port to HIP, on the CPU: kernels run late, and their memory is not the host's. */
export const asHip = (text: string): Ran =>
  inFolder((run, folder) => {
    for (const file of portCppSources([{ file: "run.F90", text }], { targets: ["hip"] }))
      writeFileSync(join(folder, file.name), forShim(file.text));
    mkdirSync(join(folder, "hip"));
    writeFileSync(join(folder, "hip/hip_runtime.h"), HIP_SHIM);
    run("g++", "-std=c++17", "-O0", "-ffp-contract=off", "-Wall", "-Werror", "-I.", "-c", "run_kernels.hip.cpp", "-o", "kernels.o");
    run("gfortran", "-cpp", "-O0", "-ffp-contract=off", "-ffree-line-length-none", "run.F90", "kernels.o", "-lstdc++", "-o", "run");
    return started(folder, { SHIM_SEPARATE: "1", SHIM_LATE: "1", ISOFORM_TRANSFERS: "1" });
  });
