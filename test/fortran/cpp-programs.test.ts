/* Whole programs as ports to HIP, whose kernels run on the CPU: they print what gfortran's programs print, whichever thread comes first. */
import assert from "node:assert/strict";
import { execFileSync, spawnSync } from "node:child_process";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { describe, it } from "node:test";
import { portCppSources } from "../../src/fortran/port/cpp/sources.js";
import type { CppTarget } from "../../src/fortran/port/targets.js";
import { withHip } from "./cpp-routines.js";
import { needsGfortran } from "./gfortran.js";

/** A main program with loops of OpenACC and OpenMP, over `x` with whole numbers and `k` with each of 1 to n once. */
const program = (declarations: string, body: string, procedures = ""): string => `module m
  implicit none
  integer, parameter :: n = 60
  real(8) :: x(n)
  integer :: k(n)
contains
  subroutine work
    integer :: i, j
    ${declarations}
    ${body}
  end subroutine
  ${procedures}
end module
program p
  use m
  implicit none
  integer :: i
  x = [(real(mod(13*i, 31) - 9, 8), i = 1, n)]
  k = [(mod(7*i, n) + 1, i = 1, n)]
  call work
end program
`;

const PROGRAMS: Readonly<Record<string, string>> = {
  "complex numbers": program(
    "complex(8) :: z(n), w, total\ncomplex(4) :: c(0:n)\ncomplex(8), allocatable :: v(:, :)",
    `w = (0.5d0, -2)
allocate(v(0:2, -1:n))
v = w
!$acc parallel loop
do i = -1, n
  v(1, i) = v(0, i)*i
end do
total = (1, 2)
z = cmplx(x, k, 8)
c = (1, 1)
!$acc parallel loop reduction(+:total)
do i = 1, n
  z(i) = z(i)*w
  c(i) = c(i - 1 + 1)*cmplx(k(i), 2)
  total = total + z(i)
end do
print '(4z17)', z, total, v
print '(4z9)', c`,
  ),
  "array syntax, where and functions over arrays": program(
    "real(8) :: a(4, n), most(n)\ninteger :: c(n)",
    `a = 0
!$acc parallel loop
do i = 1, n
  a(:, i) = x(i)
  a(2:3, i) = a(2:3, i) + k(i)
  where (a(:, i) > 0) a(:, i) = -2*a(:, i)
  most(i) = maxval(a(:, i)) + dot_product(a(1:2, i), a(3:4, i))
  c(i) = count(a(:, i) < 1)
end do
print '(4z17)', a, most
print *, c`,
  ),
  "atomic updates of elements": program(
    "integer :: h(8), place(n), next\nreal(8) :: s(4)",
    `h = 0
s = 0
next = 0
!$omp parallel do
do i = 1, n
  !$omp atomic update
  h(mod(k(i), 8) + 1) = h(mod(k(i), 8) + 1) + 1
  !$omp atomic
  s(mod(i, 4) + 1) = s(mod(i, 4) + 1) + x(i)
end do
print *, h, s`,
  ),
  "logical results and logical arguments": program(
    "logical :: all_small, any_big, odd, flag, seen",
    `all_small = .true.
any_big = .false.
odd = .false.
flag = .true.
seen = .false.
!$omp parallel do reduction(.and.: all_small) reduction(.or.: any_big) reduction(.neqv.: odd)
do i = 1, n
  all_small = all_small .and. x(i) < 100
  if (flag) any_big = any_big .or. x(i) > 20
  odd = odd .neqv. k(i) > 30
end do
!$acc parallel loop copy(seen)
do i = 1, n
  if (k(i) == 7) seen = .true.
end do
print *, all_small, any_big, odd, seen`,
  ),
  "private arrays, with values from before and of sizes that are known at the launch": program(
    "real(8) :: v(3), r(n)",
    `v = [1, 2, 3]
!$omp parallel do firstprivate(v)
do i = 1, n
  v(1) = x(i)
  r(i) = v(1)*v(2) + v(3)
end do
print '(4z17)', r
call sized(7, r)
print '(4z17)', r, v(2:)`,
    `subroutine sized(m, r)
    integer, intent(in) :: m
    real(8), intent(inout) :: r(n)
    real(8) :: own(m)
    integer :: i, j
    !$acc parallel loop private(own)
    do i = 1, n
      do j = 1, m
        own(j) = x(i)*j + k(i)
      end do
      r(i) = r(i) + own(m) - own(1)
    end do
  end subroutine`,
  ),
  "arrays with lower bounds of the program, and 64-bit sizes": program(
    "real(8), allocatable :: a(:, :)\ninteger(8) :: first, last\ninteger :: low",
    `low = -3
allocate(a(low:4, 2:n + 1))
a = 0
first = 2
last = n
!$acc parallel loop collapse(2)
do j = 2, n + 1
  do i = low, 4
    a(i, j) = x(j - 1) + i
  end do
end do
!$acc parallel loop
do i = first, last
  a(-3, i) = first
end do
print '(4z17)', a`,
  ),
  "arrays whose bounds the procedure assigns afterwards": program(
    "real(8) :: a(3*n)",
    `a = 0
call change(12, 2, a)
print '(4z17)', a`,
    `subroutine change(m, low, a)
    integer, value :: m, low
    real(8) :: a(low:m, 3), own(m, low)
    integer :: i, j
    m = m - 5
    low = low + 1
    !$acc parallel loop collapse(2)
    do j = 1, 2
      do i = low, m
        a(i, j) = 10*i + j
        own(i, j) = a(i, j)
      end do
    end do
    a(2, 3) = sum(own(low:m, :2))
  end subroutine`,
  ),
  "bytes and last values": program(
    "integer(1) :: b(n), small, last",
    `small = 100
last = 3
!$omp parallel do lastprivate(last)
do i = 1, n
  b(i) = int(i*3 + small, 1)
  last = b(i)
end do
print *, b, last`,
  ),
  "components of objects": program(
    "type(box) :: b",
    `allocate(b%v(0:n - 1))
b%f = 3
b%low = huge(1d0)
!$acc parallel loop
do i = 0, n - 1
  b%v(i) = b%f*x(i + 1)
end do
call least(b)
print '(4z17)', b%v, b%low`,
    `subroutine least(q)
    type(box), intent(inout) :: q
    integer :: i
    real(8) :: low
    low = q%low
    !$acc parallel loop reduction(min: low)
    do i = 0, n - 1
      low = min(low, q%v(i))
    end do
    q%low = low
  end subroutine`,
  ).replace("  real(8) :: x(n)", "  type box\n    real(8), allocatable :: v(:)\n    real(8) :: f, low\n  end type\n  real(8) :: x(n)"),
  "names that the emitters, C++ and Fortran have for themselves": program(
    "real(8) :: int_(n), stream, class, total_part\ninteger :: status, grid, launch",
    `status = 0
total_part = 2
stream = 3
class = 0
grid = 4
!$acc parallel loop reduction(+: class) reduction(max: status)
do launch = 1, n
  int_(launch) = stream*x(launch) + total_part
  class = class + int_(launch)
  status = max(status, grid*k(launch))
end do
print *, int_, class, status`,
  ),
};

/** Kernels of CUDA Fortran as loops of the threads one after the other, and the calls that launch them. */
const LAUNCHES = `module kern
  implicit none
  integer, parameter :: width = 8
contains
  attributes(global) subroutine shifted(x, y, n, from)
    real(8) :: x(n), y(n)
    integer, value :: n, from
    integer :: i
    i = (blockIdx%x - 1)*blockDim%x + threadIdx%x + from
    if (i <= n) y(i) = y(i) + 2*x(i)
  end subroutine
  attributes(global) subroutine strided(y, n)
    real(8) :: y(*)
    integer, value :: n
    integer :: i
    do i = (blockIdx%x - 1)*blockDim%x + threadIdx%x, n, blockDim%x*gridDim%x
      y(i) = y(i) + threadIdx%x
    end do
  end subroutine
  attributes(global) subroutine sums(x, s, n)
    real(8) :: x(n), s(*)
    integer, value :: n
    real(8), shared :: part(width)
    real(8), shared :: more(*)
    integer :: i, t, step
    t = threadIdx%x
    i = (blockIdx%x - 1)*blockDim%x + t
    part(t) = 0
    more(t) = t
    if (i <= n) part(t) = x(i)
    call syncthreads()
    step = blockDim%x/2
    do while (step >= 1)
      if (t <= step) part(t) = part(t) + part(t + step)
      call syncthreads()
      step = step/2
    end do
    if (t == 1) s(blockIdx%x) = part(1) + more(blockDim%x)
  end subroutine
  subroutine work(n, x, y, s)
    integer, intent(in) :: n
    real(8) :: x(n), y(n), s(n)
    real(8), device :: x_d(n), y_d(n), s_d(n)
    type(dim3) :: grid, block
    integer :: from
    x_d = x
    y_d = 0
    s_d = 0
    do from = 0, n, 8
      call shifted<<<2, 4>>>(x_d, y_d, n, from)
    end do
    block = dim3(4, 1, 1)
    grid = dim3(n/block%x - 1, 1, 1)
    call strided<<<grid, block>>>(y_d, n)
    call sums<<<(n + width - 1)/width, width, 8*width>>>(x_d, s_d, n)
    y = y_d
    s = s_d
  end subroutine
end module
program p
  use kern
  implicit none
  integer :: i
  real(8) :: x(20), y(20), s(20)
  x = [(real(i*i, 8), i = 1, 20)]
  call work(20, x, y, s)
  print '(20i4)', int(y)
  print '(3i5)', int(s(1:3))
end program
`;

const expectedOfLaunches = (): string => {
  const x = Array.from({ length: 20 }, (_, n) => (n + 1) ** 2);
  const y = x.map((value, n) => 2 * value + (n % 4) + 1);
  const sums = [0, 8, 16].map((first) => x.slice(first, first + 8).reduce((a, b) => a + b) + 8);
  return `${y.map((value) => String(value).padStart(4)).join("")}\n${sums.map((value) => String(value).padStart(5)).join("")}\n`;
};

/** What a program prints in each environment, compiled with more words. */
function printed(text: string, words: readonly string[], environments: readonly Readonly<Record<string, string>>[]): string[] {
  const folder = mkdtempSync(join(tmpdir(), "isoform-program-"));
  try {
    writeFileSync(join(folder, "run.F90"), text);
    const flags = ["-O0", "-ffp-contract=off", "-ffree-line-length-none", "-w", "run.F90", ...words, "-o", "run"];
    execFileSync("gfortran", flags, { cwd: folder, stdio: ["ignore", "ignore", "pipe"] });
    return environments.map((env) => execFileSync(join(folder, "run"), { encoding: "utf8", env: { ...process.env, ...env } }));
  } finally {
    rmSync(folder, { recursive: true });
  }
}

const nvcc = process.env["ISOFORM_NVCC"] && join(process.env["ISOFORM_NVCC"], "nvcc");
const has = (tool: string | undefined): boolean => tool !== undefined && spawnSync(tool, ["--version"], { stdio: "ignore" }).status === 0;

/** The kernels of all programs as one file. */
function kernelsOf(target: CppTarget, folder: string): string {
  const texts = [...Object.values(PROGRAMS), LAUNCHES].map((source, n) => {
    const text = source.replaceAll(/\bwork\b/g, `work${n}`);
    const [, kernels, header] = portCppSources([{ file: `part${n}.F90`, text }], { targets: [target] });
    writeFileSync(join(folder, header.name), header.text);
    return kernels.text;
  });
  const name = target === "hip" ? "all.hip.cpp" : "all.cu";
  writeFileSync(join(folder, name), texts.join("\n"));
  return name;
}

describe("programs in C++ for GPUs", () => {
  for (const [target, compiler, flags] of [
    ["hip", "hipcc", ["-std=c++17", "-O1", "--offload-arch=gfx90a"]],
    ["cuda", nvcc, ["-std=c++17", "-arch=sm_80"]],
  ] as const)
    it(`are compiled for ${target}`, { skip: !has(compiler) && `no compiler for ${target}` }, () => {
      const folder = mkdtempSync(join(tmpdir(), "isoform-programs-"));
      try {
        const words = [...flags, "-c", kernelsOf(target, folder), "-o", "all.o"];
        execFileSync(compiler!, words, { cwd: folder, stdio: ["ignore", "ignore", "pipe"] });
      } finally {
        rmSync(folder, { recursive: true });
      }
    });
});

describe("programs in HIP C++", needsGfortran, () => {
  const same = (source: string, expected: string): void => {
    const environments: Readonly<Record<string, string>>[] = [{}, { SHIM_BACKWARDS: "1" }, { SHIM_LATE: "1" }];
    for (const found of withHip(source, (text, words) => printed(text, words, environments))) assert.equal(found, expected);
  };
  for (const [name, source] of Object.entries(PROGRAMS)) it(name, () => same(source, printed(source, [], [{}])[0]));
  it("launches in parts, strides of the grid, and blocks whose threads wait for each other", () => same(LAUNCHES, expectedOfLaunches()));
});
