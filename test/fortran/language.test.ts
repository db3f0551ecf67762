/* Statements and functions of Fortran around loops and in them: gfortran's bits, or a refusal at its place. */
import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { fortran } from "../../src/fortran/index.js";
import { f64, i32, open } from "../../src/index.js";
import { compareWithGfortran, moduleOf, needsGfortran, routine } from "./gfortran.js";

const N = 12;
const inputs = {
  x: Float64Array.from({ length: N }, (_, n) => 3 * Math.sin(1.7 * n)),
  k: Int32Array.from({ length: N }, (_, n) => ((7 * n) % 11) - 3),
};

/** A subroutine with these declarations and statements; `more` stands behind `contains`. */
const sub =
  (declarations: string, statements: string, more = "") =>
  (name: string): string =>
    `subroutine ${name}(n, x, k, y)
integer, intent(in) :: n
real(8), target :: x(n), y(n)
integer :: k(n)
${declarations}
${statements}
${more && `contains\n${more}`}
end subroutine`;
/** The body of a loop over elements that have variables of their own. */
const own =
  (declarations: string, body: string) =>
  (name: string): string =>
    routine(name, body, declarations);
const doubled = (of: string): string => `!$acc parallel loop\ndo i = 1, n\n  y(i) = 2*${of}(i)\nend do`;

const POINTER = "real(8), pointer :: p(:), q(:), t(:)\nreal(8), allocatable, target :: w(:)\ninteger :: i, turn";
const SAVED = "real(8), allocatable, save :: w(:)\ninteger :: i";

const CASES: Readonly<Record<string, (name: string) => string>> = {
  names_assigned: own("", "associate (c => y(i), b => x(i))\nc = b*2\nif (c > 3) c = c*b\nc = c + 1\nend associate"),
  names_assigned_in_turn: sub(
    "integer :: i",
    "y = 0\ndo i = 1, n - 1\nassociate (c => y(i), d => y(i + 1))\nc = c + x(i)\nd = c*2\nend associate\nend do",
  ),
  pointer: sub(POINTER, `p => x\n${doubled("p")}`),
  pointer_written: sub(POINTER, "p => y\n!$acc parallel loop\ndo i = 1, n\np(i) = 2*x(i)\nend do\nnullify(p)"),
  pointers_swapped: sub(
    POINTER,
    "allocate(w(n))\nw = x\np => w\nq => y\nq = 0\ndo turn = 1, 3\n!$acc parallel loop\ndo i = 1, n\nq(i) = 2*p(i) + q(i)\nend do\nt => p\np => q\nq => t\nend do",
  ),
  pointer_section: sub(POINTER, "y = 0\np => x(2:n-1)\n!$acc parallel loop\ndo i = 1, n-2\ny(i) = 2*p(i)\nend do"),
  pointer_bounds: sub(POINTER, "p(0:) => x\n!$acc parallel loop\ndo i = 0, n-1\ny(i+1) = 2*p(i)\nend do"),
  pointer_shape: sub(
    "real(8), pointer :: p(:,:)\ninteger :: i, j",
    "p(0:2,1:4) => x\n!$acc parallel loop collapse(2)\ndo j = 1, 4\ndo i = 0, 2\ny((j-1)*3+i+1) = 2*p(i,j)\nend do\nend do",
  ),
  pointer_asked: sub(POINTER, `nullify(p)\nif (.not. associated(p)) p => x\nif (associated(p)) then\n${doubled("p")}\nend if`),
  pointer_of_type: sub(
    "type field\nreal(8), pointer :: data(:)\nend type\ntype(field) :: f\nreal(8), allocatable, target :: w(:)\ninteger :: i",
    `allocate(w(0:n-1))\nf%data => w\n!$acc parallel loop\ndo i = 0, n-1\nw(i) = x(i+1)\nend do\n!$acc parallel loop\ndo i = 0, n-1\ny(i+1) = 2*f%data(i)\nend do`,
  ),
  allocated: sub(
    "real(8), allocatable :: w(:)\ninteger :: i",
    `if (.not. allocated(w)) allocate(w(n))\nw = x\n${doubled("w")}\nif (allocated(w)) deallocate(w)\nif (allocated(w)) y = 0`,
  ),
  allocated_given: sub(
    "real(8), allocatable :: w(:)\ninteger :: i",
    "allocate(w(0:n-1))\n!$acc parallel loop\ndo i = 0, n-1\nw(i) = x(i+1)\nend do\ncall twice(w)\n!$acc parallel loop\ndo i = 0, n-1\ny(i+1) = w(i)\nend do",
    `subroutine twice(a)
real(8), allocatable, intent(inout) :: a(:)
integer :: j
!$acc parallel loop
do j = 0, n-1
  a(j) = 2*a(j) + j
end do
call thrice(of=a)
end subroutine
subroutine thrice(m, of)
integer, optional :: m
real(8), allocatable :: of(:)
integer :: j
!$acc parallel loop
do j = 0, n-1
  of(j) = 3*of(j) - j
end do
end subroutine`,
  ),
  pointer_given: sub(
    POINTER,
    "p(0:) => x\ny = 0\nq(-1:) => y\ncall twice(p, q)",
    `subroutine twice(a, b)
real(8), pointer, intent(in) :: a(:), b(:)
integer :: j
!$acc parallel loop
do j = 0, n-1
  b(j-1) = 2*a(j)
end do
end subroutine`,
  ),
  begins_at_one: sub(
    POINTER,
    "p(0:) => x\ncall twice(p)",
    `subroutine twice(a)
real(8) :: a(:)
integer :: j
!$acc parallel loop
do j = 1, n
  y(j) = 2*a(j)
end do
end subroutine`,
  ),
  allocated_like: sub("real(8), allocatable :: w(:)\ninteger :: i", `allocate(w, source=x)\n${doubled("w")}`),
  allocated_with: sub(
    "real(8), allocatable :: w(:)\ninteger :: i",
    "allocate(w(0:n), source=1.5d0)\n!$acc parallel loop\ndo i = 1, n\ny(i) = w(i-1) + x(i)\nend do",
  ),
  allocated_component: sub(
    "type field\nreal(8), allocatable :: d(:)\nend type\ntype(field) :: f\ninteger :: i",
    "allocate(f%d(0:n))\n!$acc parallel loop\ndo i = 0, n\nf%d(i) = i\nend do\n!$acc parallel loop\ndo i = 1, n\ny(i) = f%d(i-1)\nend do",
  ),
  section_of_allocated: sub(
    "real(8), allocatable :: w(:)\ninteger :: i",
    "allocate(w(0:n))\n!$acc parallel loop\ndo i = 0, n\nw(i) = i\nend do\ncall take(n, w(1:n), y)",
    "subroutine take(n, a, b)\ninteger, intent(in) :: n\nreal(8) :: a(n), b(n)\ninteger :: i\n!$acc parallel loop\ndo i = 1, n\nb(i) = a(i)\nend do\nend subroutine",
  ),
  allocated_in_ways: sub(
    "real(8), allocatable :: w(:)\ninteger :: i",
    "y = 0\nif (n > 99) then\nallocate(w(n))\nelse\nallocate(w(0:n))\nend if\nw = 3\n!$acc parallel loop\ndo i = lbound(w, 1), n - 1\nw(i) = i + 2\ny(i+1) = x(i+1)*w(i)\nend do",
  ),
  allocated_by_caller: sub(
    "real(8), allocatable :: w(:)\ninteger :: first",
    "first = k(1)\nallocate(w(first:n))\nw = 1\ncall twice(w)\ny = w(first:first+n-1)",
    "subroutine twice(a)\nreal(8), allocatable :: a(:)\ninteger :: j\n!$acc parallel loop\ndo j = 1, n\na(j) = j + 2*a(j)\nend do\nend subroutine",
  ),
  allocated_by_callers: sub(
    "real(8), allocatable :: v(:), w(:)",
    "allocate(v(n), w(0:n))\nv = x\nw = 2\ncall twice(v)\ncall twice(w)\ny = v + w(0:n-1)",
    "subroutine twice(a)\nreal(8), allocatable :: a(:)\ninteger :: j\n!$acc parallel loop\ndo j = lbound(a, 1), n - 1\na(j) = j + 2*a(j)\nend do\nend subroutine",
  ),
  saved: sub(SAVED, `if (.not. allocated(w)) allocate(w(n))\nw = x\n${doubled("w")}`),
  block_on_host: sub(
    "integer :: i",
    "block\nreal(8) :: t\ninteger :: m\nm = 3\nt = 2.5d0*m\n!$acc parallel loop\ndo i = 1, n\ny(i) = t*x(i)\nend do\nend block",
  ),
  blocks: own(
    "",
    "a = 1\nblock\nreal(8) :: a, w(2)\na = 2*x(i)\nw = a\ny(i) = w(2)\nend block\nblock\ninteger :: a\na = 3\ny(i) = y(i) + a\nend block\ny(i) = y(i) + a",
  ),
  labelled: sub("integer :: i", "!$acc parallel loop\ndo 10 i = 1, n\ny(i) = 2*x(i)\n10 continue"),
  labelled_twice: sub("integer :: i, j", "do 10 i = 1, n\ny(i) = 0\ndo 10 j = 1, 3\ny(i) = y(i) + x(i)*j\n10 continue"),
  labelled_end: sub("integer :: i, j", "do 10 i = 1, n\ny(i) = 1\ndo 20, j = 1, 2\n20 y(i) = y(i) + x(i)\n10 end do"),
  forall: sub("integer :: i", "y = 1\nforall (i = 1:n, x(i) > 0) y(i) = y(i) + 2*x(i)"),
  forall_block: sub("integer :: i, l(12)", "l = 0\nforall (i = 1:n:2)\ny(i) = 2*x(i)\nl(i) = int(y(i))\nend forall\ny(2:n:2) = l(1:n:2)"),
  sums: sub(
    "real(8) :: a(3,4)",
    "a(:,1) = x(1:3)\na(:,2) = x(4:6)\na(:,3) = x(7:9)\na(:,4) = x(10:12)\ny = 0\ny(1:4) = sum(a, dim=1)\ny(5:7) = maxval(a, 2)\ny(8:11) = count(a > 0, 1)\ny(12) = sum(a, mask=a > 0)",
  ),
  any_all: own(
    "real(8) :: v(3)",
    "v = [x(i), 1d0, -2d0]\ny(i) = count(v > 0)\nif (any(v > 0.5d0)) y(i) = y(i) + 3\nif (all(v < 1.5d0)) y(i) = y(i) + 5",
  ),
  bounds: sub("real(8) :: a(0:2, 4)", "a = 0\ny = size(a) + ubound(a, 2)\ny(1:2) = [lbound(a, 1), ubound(a, dim=1)]"),
  constructors: own(
    "real(8) :: v(3)\nreal(8), parameter :: d(0:2) = [(j*0.5d0, j = 0, 2)]",
    "v = [real(8) :: 1, 2, x(i)]\ny(i) = sum(v) + d(mod(i, 3)) + sum([(real(j, 8), 2*x(i), j = 1, 2)])",
  ),
  outputs: sub(
    "integer :: i, status",
    `status = 1\nopen(unit=15, status='scratch', iostat=status)\nif (status /= 0) error stop 1\nwrite(15, *) n\nrewind(15)\nclose(15)\n${doubled("x")}\nif (n < 0) stop 'bad'`,
  ),
  optional: sub(
    "",
    "call s(n, x, y)\ncall s(n, x, y, 2d0)",
    `subroutine s(n, x, y, f)\ninteger, intent(in) :: n\nreal(8) :: x(n), y(n)\nreal(8), intent(in), optional :: f\nreal(8) :: g\ninteger :: i\ng = 1\nif (present(f)) g = f\ncall t(n, x, y, g, f)\nend subroutine
subroutine t(n, x, y, g, f)\ninteger, intent(in) :: n\nreal(8) :: x(n), y(n)\nreal(8), intent(in) :: g\nreal(8), intent(in), optional :: f\ninteger :: i\n!$acc parallel loop\ndo i = 1, n\ny(i) = g*x(i)\nend do\nif (.not. present(f)) y(1) = -1\nend subroutine`,
  ),
  selected: own("", "select case (k(i))\ncase (:-1)\ny(i) = 1\ncase (0, 2:4)\ny(i) = 2\ncase default\ny(i) = 4\nend select"),
};

describe("the language", () => {
  it("has gfortran's bits", needsGfortran, async () => {
    const cases = new Map(Object.entries(CASES).map(([name, text]) => [`t_${name}`, text(`t_${name}`)]));
    await compareWithGfortran(cases, inputs, ["js", "wasm"]);
  });

  it("has the locality and types of do concurrent", async () => {
    const text = sub(
      "real(8) :: t\ninteger, parameter :: dp = kind(1d0)",
      "do concurrent (integer :: i = 1:n) local(t) shared(x, y) default(none)\nt = x(i)\ny(i) = 2*t\nend do",
    )("s");
    const device = await open("js");
    const [x, y] = [device.from(f64, [1, 2, 3]), device.array(f64, 3)];
    await fortran(text)
      .routine("s")
      .run(device, { n: 3, x, y, k: device.array(i32, 3) });
    assert.deepEqual([...(await device.queue.read(y))], [2, 4, 6]);
    await device.close();
  });

  it("keeps saved arrays, and those of modules, from run to run", async () => {
    const text = `module m
real(8), allocatable :: w(:)
contains
subroutine s(n, y)
integer, intent(in) :: n
real(8) :: y(n)
${SAVED.replace(":: w", ":: v").replace("w(:)", "v(:)")}
if (.not. allocated(w)) then
  allocate(w(n), v(n))
  w = 1
  v = 10
end if
!$acc parallel loop
do i = 1, n
  w(i) = w(i) + 1
  v(i) = v(i) + w(i)
  y(i) = v(i)
end do
end subroutine
end module`;
    const code = fortran(text);
    const device = await open("js");
    const y = device.array(f64, 2);
    for (const expected of [12, 15, 19]) {
      await code.routine("s").run(device, { n: 2, y });
      assert.deepEqual([...(await device.queue.read(y))], [expected, expected]);
    }
    await device.close();
  });

  const refused: readonly [name: string, text: (name: string) => string, message: RegExp][] = [
    [
      "an element that forall assigns and another reads",
      sub("integer :: i", "forall (i = 2:n) y(i) = y(i-1)"),
      /:11:25: y: forall assigns it, and reads other/,
    ],
    [
      "other statements in forall",
      sub("integer :: i", "forall (i = 2:n)\nwhere (x > 0) y = 1\nend forall"),
      /:12:1: forall: it contains more than assignments/,
    ],
    ["pointers to nowhere", sub(POINTER, doubled("p")), /: pointer :: p: no assignment of this pointer was found \(give the file/],
    [
      "pointers to scalars",
      sub("real(8), pointer :: p\ninteger :: i", "!$acc parallel loop\ndo i = 1, n\ny(i) = p\nend do"),
      /pointer :: p: only pointers to arrays/,
    ],
    [
      "numbers that are read from a text",
      sub("character(len=8) :: s\ninteger :: i", `read(s, '(i4)') n\n${doubled("x")}`),
      /:12:1: read: /,
    ],
  ];
  for (const [name, text, message] of refused)
    it(`refuses ${name}`, () => assert.throws(() => fortran(moduleOf([text("s")])), { message }));
});
