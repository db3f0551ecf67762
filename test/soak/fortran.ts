import { readFileSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { FortranError } from "../../src/fortran/errors.js";
import { fortran as read } from "../../src/fortran/index.js";
import { portCppSources } from "../../src/fortran/port/cpp/sources.js";
import { CPP_TARGETS, FORTRAN_TARGETS, KERNEL_TARGETS } from "../../src/fortran/port/targets.js";
import { portSources } from "../../src/fortran/port/sources.js";
import { portKernels } from "../../src/fortran/port-kernels.js";
import { HEAT, inModule } from "../fortran/fixtures.js";
import { TARGET_NAMES } from "../../src/emit/standalone/names.js";
import { accepted } from "./expected.js";
import { mutatedBytes, mutatedText, oneOf, type Pick, picks } from "./mutate.js";
import type { Counts, Subject } from "./subject.js";

/** What may be mutated besides our own files: a file that is named. */
const extra = process.env["ISOFORM_SOAK_FORTRAN"];

const TEXTS: readonly string[] = [
  HEAT,
  readFileSync(fileURLToPath(new URL("../../../examples/euler.f90", import.meta.url)), "utf8"),
  inModule(
    "real(8) :: x",
    "!$acc parallel loop gang\ndo k=1,n\n!$acc loop vector reduction(max:x)\ndo j=1,n\nselect case (j)\ncase (1, 3:)\nx = max(x, a(1,j,k))\ncase default\ncycle\nend select\nend do\nend do\n" +
      "do concurrent (i=1:n, j=1:n, i/=j) local(k) reduce(+:x)\nx = x + b(i,j,1)**2/3._8\nend do\n#if defined(A) && B > 2\nwhere (a > 0) a = -b\n#else\n" +
      "outer: do while (x < 1e3_8 .or. .not. n == 2)\nif (x > 2) exit outer\nassociate (y => a(:, 1:n:2, 3))\nprint *, 'it''s', y\nend associate\nend do outer\n#endif",
  ),
  // Threads, atomic functions, values that are written, launches; names that modules hide.
  `module kern
  use cudafor
  implicit none
  private
  real(8), parameter :: hidden = 2
  public :: go, scaled
  interface scaled
    module procedure one
  end interface
contains
  attributes(device) real(8) function one(v)
    real(8), value :: v
    v = v*hidden
    one = v + 1
  end function
  attributes(global) subroutine k(u, s, h, n)
    integer, value :: n
    real(8) :: u(n), s
    integer :: h(n), i, istat
    i = (blockIdx%x - 1)*blockDim%x + threadIdx%x
    if (i > n) return
    istat = atomicAdd(s, one(u(i)))
    if (h(i) > 0) istat = atomicMax(h(i), 3)
  end subroutine
  subroutine go(n, u, s, h)
    integer, intent(in) :: n
    real(8), device :: u(n), s
    integer, device :: h(n)
    type(dim3) :: grid, tb
    tb = dim3(64, 1, 1)
    grid = dim3(ceiling(real(n)/tb%x), 1, 1)
    call k<<<grid, tb>>>(u, s, h, n)
  end subroutine
end module
subroutine s(n, x, y)
  use kern, only: twice => scaled, go
  implicit none
  integer, intent(in) :: n
  real(8) :: x(n), y(n)
  integer :: i
  !$acc data copyin(x) copyout(y)
  !$acc parallel loop
  do i = 1, n
    y(i) = twice(x(i))
    !$acc atomic update
    x(1) = x(1) + y(i)
  end do
  !$acc end data
end subroutine
`,
  // Blocks whose threads wait, launches that threads alone bound, complex numbers, objects, truth values, arrays of elements' own.
  `module more
  implicit none
  type box
    real(8), allocatable :: v(:)
    complex(8) :: z
    integer :: n
  end type
contains
  attributes(global) subroutine sums(x, s, n)
    real(8) :: x(n), s(*)
    integer, value :: n
    real(8), shared :: part(8), open(*)
    integer :: i, t
    t = threadIdx%x
    i = (blockIdx%x - 1)*blockDim%x + t
    part(t) = 0
    open(t) = t
    if (i <= n) part(t) = x(i)
    call syncthreads()
    if (t == 1) s(blockIdx%x) = part(1) + open(blockDim%x)
  end subroutine
  attributes(global) subroutine strided(y, n)
    real(8) :: y(*)
    integer, value :: n
    integer :: i
    do i = (blockIdx%x - 1)*blockDim%x + threadIdx%x, n, blockDim%x*gridDim%x
      y(i) = y(i) + threadIdx%y
    end do
  end subroutine
  subroutine go(n, m, x, y, b, c, found)
    integer, intent(in) :: n, m
    integer(8) :: last
    real(8), device :: x(n), y(n)
    real(8) :: own(m), w(3, n)
    complex(8) :: c(0:n), total
    type(box) :: b
    logical :: found, all_small
    type(dim3) :: grid, block
    integer :: i
    block = dim3(4, 2, 1)
    grid = dim3(n/block%x, 1, 1)
    call sums<<<(n + 7)/8, 8, 64>>>(x, y, n)
    call strided<<<grid, block>>>(y, n)
    last = n
    all_small = .true.
    !$acc parallel loop private(own) reduction(.and.: all_small) reduction(+: total) copy(found)
    do i = 1, last
      own = x(i)
      w(:, i) = sum(own)
      where (w(:, i) > 2) w(:, i) = -w(:, i)
      c(i - 1) = conjg(c(i))*b%z + cmplx(x(i), 1)
      total = total + c(i)
      b%v(i) = maxval(w(:, i))
      all_small = all_small .and. x(i) < 1
      if (i == b%n) found = .true.
      !$acc atomic
      w(1, 1) = w(1, 1) + own(m)
    end do
  end subroutine
end module
`,
  ...(extra === undefined ? [] : [readFileSync(extra, "utf8")]),
];

/**
 * Mutants of Fortran. Each is ported to every target, or refused with problems that have places; what is ported is read again, and printed as the same text. Each becomes
 * kernels that are written as another language, or is refused. The problems of two files come together.
 */
export const fortran: Subject = {
  name: "fortran",
  weight: 5,
  async open() {
    return {
      async trial(seed): Promise<Counts> {
        const pick = picks(seed);
        const [text, other] = [0, 1].map(() => mutant(oneOf(pick, TEXTS), pick));
        const what = (): string => text;
        const counts = { "fortran ported": 0, "fortran refused": 0, "fortran kernels": 0, "fortran kernels refused": 0 };
        const source = { file: "a.F90", text };
        for (const target of FORTRAN_TARGETS) {
          const port = (): string => portSources([source], { targets: [target] })[0].text;
          if (await accepted(what, () => placed(text, port))) {
            counts["fortran ported"]++;
            const again = (ported: string): string => portSources([{ file: "a.F90", text: ported }], { targets: ["cpu"] })[0].text;
            const second = again(port());
            if (second !== again(second)) throw new Error(`a port to one core changes when it is ported again:\n${text}`);
          } else counts["fortran refused"]++;
        }
        for (const target of CPP_TARGETS) await accepted(what, () => placed(text, () => portCppSources([source], { targets: [target] })));
        for (const target of KERNEL_TARGETS) await accepted(what, () => placed(text, () => portKernels([source], { targets: [target] })));
        const emit = () => placed(text, () => read(text, { file: "a.F90" })).emit(oneOf(pick, TARGET_NAMES));
        counts[(await accepted(what, emit)) ? "fortran kernels" : "fortran kernels refused"]++;
        together(text, other);
        return counts;
      },
      async close() {},
    };
  },
};

/** Other words, or other bytes; some with other ends of lines, some with tabs. */
function mutant(text: string, pick: Pick): string {
  const changed = pick(8) === 0 ? Buffer.from(mutatedBytes(Buffer.from(text), pick)).toString() : mutatedText(text, pick);
  const ended = pick(8) === 0 ? changed.replaceAll("\n", oneOf(pick, ["\r\n", "\r"])) : changed;
  return pick(8) === 0 ? ended.replaceAll("  ", "\t") : ended;
}

/** Runs; a problem that has no place in the text, or no words, is a defect. */
function placed<T>(text: string, run: () => T): T {
  try {
    return run();
  } catch (error) {
    if (!(error instanceof FortranError)) throw error;
    const last = text.split(/\r\n|\n|\r/).length + 1;
    const lost = error.problems.find(({ at, why }) => !(at.line >= 1 && at.line <= last && at.column >= 1 && why !== ""));
    if (lost || error.problems.length === 0) throw new Error(`a problem has no place: ${error.message}`, { cause: error });
    throw error;
  }
}

/** One run tells the problems of both files. */
function together(a: string, b: string): void {
  const sources = [
    { file: "a.F90", text: a },
    { file: "b.F90", text: b },
  ];
  const broken = (files: typeof sources): Set<string> => {
    try {
      portSources(files, { targets: ["cpu"] });
      return new Set();
    } catch (error) {
      if (!(error instanceof FortranError)) throw error;
      return new Set(error.problems.map(({ at }) => at.file));
    }
  };
  const told = broken(sources);
  for (const one of sources)
    for (const file of broken([one]))
      if (!told.has(file)) throw new Error(`the problems of ${file} are not told beside the other file:\n${a}\n!---\n${b}`);
}
