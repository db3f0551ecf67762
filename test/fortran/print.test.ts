import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { expressionText } from "../../src/fortran/print/expressions.js";
import { fortranText } from "../../src/fortran/print/units.js";
import { wrappedLine } from "../../src/fortran/print/wrap.js";
import type { BinaryOp, Expr, Stmt } from "../../src/fortran/tree/index.js";
import { bare, parsed, statements } from "./parsed.js";

describe("Fortran that is written as it is printed comes back to the letter", () => {
  const texts: Readonly<Record<string, string>> = {
    statements: `! in front
subroutine s(n, a)
  ! beside nothing
  use m, only : k => kind_of, operator(+)
  use, intrinsic :: iso_c_binding
  use other, w => v
  implicit none
  integer, parameter :: last = 3
  integer, intent(in), value :: n
  real(8), dimension(0:n,*) :: a
  real(8), allocatable, target :: b(:,:), c(-1:n)
  real(8), pointer :: p(:) => null()
  character(len=8) :: name = "it's"
  type(t), intent(inout) :: object
  parameter (four = 4)
  attributes(device) :: d
  save

  ! behind a blank line
  a(1,2) = b(1:n:2,:) + 2*c(n-1)
  p => b(:,1)
  outer: do i = 1,n,2 ! counts
    if (a(i,1) > 0) cycle outer
    inner: do
      exit inner
    end do inner
    do while (n < 3 .and. .not. done)
      n = n + 1
    end do
  end do outer ! counted
  if (n == 1) then ! one
    call f
  ! comes second
  else if (n == 2) then ! two
    call g(n,x=3)
  else ! more
    call object%h(a(:,1))
  end if ! chosen
  select case (n)
  ! the small ones
  case (1, 3:5) ! few
    stop
  case (:-1, 7:)
    error stop 2
  case default
    return
  end select
  where (a > 0) a = 0
  where (a > 1)
    a = 1
  elsewhere (a < -1)
    a = -1
  elsewhere
    a = 2
  end where
  named: associate (q => a(1,1), r => n + 1)
    q = r
  end associate named
  block
    integer :: own
    own = 3
  end block
  do concurrent (i = 1:n, j = 2:n:3, i /= j) local(x, y) shared(a) reduce(+:total)
    a(i,j) = 0
  end do
  forall (i = 1:n)
    a(i,i) = 1
  end forall
  allocate(b(n,0:n), c(3), stat=ierr)
  deallocate(b)
  print *, 'a "word"', n
  10 continue
end subroutine s
`,
    units: `module m
  use iso_fortran_env
  implicit none
  integer, device :: x(4)
  type t
  integer :: n
  end type
  interface
  subroutine f(x)
  real :: x
  end subroutine
  end interface
! before what it contains
contains
  attributes(global) launch_bounds(256,2) subroutine k(x)
    integer :: x(*)
    x(1) = 2
  end subroutine k
  attributes(host,device) pure real(8) function g(x) result(y)
    real(8), intent(in) :: x
    y = x
  end function g
  recursive subroutine h() bind(c,name="h_c")
  end subroutine h
  ! before the end
end module m
submodule (m:n) o
end submodule o
program p
  call s
end program p
`,
    directives: `subroutine s(a, n)
  integer :: n
  real(8) :: a(n)
  !$acc parallel loop gang vector collapse(2) private(x,y) reduction(+:total) default(present) async(q+1)
  do i = 1,n
    do j = 1,n
      a(i) = 1
    end do
  end do
  !$cuf kernel do(2) <<<*,*>>> reduce(max:top)
  do i = 1,n
    do j = 1,n
      a(i) = 1
    end do
  end do
  !$cuf kernel do <<<grid,(64, 4),stream=str>>>
  do i = 1,n
    a(i) = 1
  end do
  !$omp parallel
  !$omp do firstprivate(x) lastprivate(y)
  do i = 1,n
    !$omp atomic update
    a(1) = a(1) + 1
    !$omp end atomic
  end do
  !$omp end parallel
  call k<<<grid,block,shared=8*n,stream=str>>>(a)
  call k<<<(n+1)/2,2*m>>>(a)
end subroutine s
`,
  };
  for (const [what, text] of Object.entries(texts)) it(what, () => assert.equal(fortranText(parsed(text)).replaceAll(/ +$/gm, ""), text));
});

const OPERATORS: readonly BinaryOp[] = [
  ".eqv.",
  ".neqv.",
  ".or.",
  ".and.",
  "==",
  "/=",
  "<",
  "<=",
  ">",
  ">=",
  "//",
  "+",
  "-",
  "*",
  "/",
  "**",
];

describe("expressions without brackets in the tree", () => {
  const at = { file: "a.F90", line: 1, column: 1 };
  const name = (text: string): Expr => ({ kind: "name", name: text, at });
  const [a, b, c] = ["a", "b", "c"].map(name);
  const pair = (op: BinaryOp, x: Expr, y: Expr): Expr => ({ kind: "binary", op, a: x, b: y, at }) as Expr;
  const sign = (op: "-" | ".not.", x: Expr): Expr => ({ kind: "unary", op, a: x, at }) as Expr;

  /** The tree that the parser makes of a text, without brackets. */
  function read(text: string): unknown {
    const [statement] = statements(`x = ${text}`);
    const drop = (e: unknown): unknown => {
      if (Array.isArray(e)) return e.map(drop);
      if (typeof e !== "object" || e === null) return e;
      if ((e as Expr).kind === "group") return drop((e as Extract<Expr, { kind: "group" }>).a);
      return Object.fromEntries(Object.entries(e).flatMap(([key, part]) => (part === undefined ? [] : [[key, drop(part)]])));
    };
    return drop(bare((statement as Extract<Stmt, { kind: "assign" }>).value));
  }

  it("are printed so that they are read as they were", () => {
    for (const outer of OPERATORS)
      for (const inner of OPERATORS)
        for (const e of [pair(outer, pair(inner, a, b), c), pair(outer, a, pair(inner, b, c))])
          for (const tight of [false, true]) assert.deepEqual(read(expressionText(e, tight)), bare(e), expressionText(e, tight));
    for (const op of OPERATORS)
      for (const unary of ["-", ".not."] as const)
        for (const e of [pair(op, sign(unary, a), b), pair(op, a, sign(unary, b)), sign(unary, pair(op, a, b))])
          assert.deepEqual(read(expressionText(e)), bare(e), expressionText(e));
  });

  it("have the brackets that they need, and no others", () => {
    const texts: readonly [Expr, string, string][] = [
      [pair("*", pair("+", a, b), c), "(a + b)*c", "(a+b)*c"],
      [pair("-", a, pair("-", b, c)), "a - (b - c)", "a-(b-c)"],
      [pair("-", pair("-", a, b), c), "a - b - c", "a-b-c"],
      [pair("**", pair("**", a, b), c), "(a**b)**c", "(a**b)**c"],
      [pair("**", a, pair("**", b, c)), "a**b**c", "a**b**c"],
      [pair("==", pair("<", a, b), c), "(a < b) == c", "(a < b) == c"],
      [pair(".and.", pair("<", a, b), sign(".not.", c)), "a < b .and. .not. c", "a < b .and. .not. c"],
      [pair("*", a, sign("-", b)), "a*-b", "a*-b"],
      [pair("+", a, sign("-", b)), "a + -b", "a+-b"],
      [sign("-", pair("*", a, b)), "-a*b", "-a*b"],
      [sign("-", pair("+", a, b)), "-(a + b)", "-(a+b)"],
      [sign("-", sign("-", a)), "-(-a)", "-(-a)"],
    ];
    for (const [e, loose, tight] of texts) assert.deepEqual([expressionText(e), expressionText(e, true)], [loose, tight]);
  });
});

describe("lines of more than 132 columns", () => {
  const joined = (lines: readonly string[], lead: string): string =>
    lines
      .map((line, n) => (n === 0 ? line : line.slice(lead.length + 1)))
      .map((line, n) => (n < lines.length - 1 ? line.slice(0, -1) : line))
      .join("");

  it("are broken between words and behind commas, never in a text", () => {
    const lead = "    ";
    const words = Array.from({ length: 60 }, (_, n) => `word${n}`).join(", ");
    for (const text of [words, words.replaceAll(", ", ","), `x = '${"text ".repeat(30)}', ${words}`]) {
      const lines = wrappedLine(lead, text);
      assert.ok(
        lines.every((line) => line.length <= 132),
        lines.join("\n"),
      );
      assert.equal(joined(lines, lead), lead + text);
    }
    assert.deepEqual(wrappedLine("  ", "x".repeat(130)), [`  ${"x".repeat(130)}`]);
    const [first, second] = wrappedLine("  ", `${"x".repeat(100)}, ${"y".repeat(40)}`);
    assert.deepEqual([first, second], [`  ${"x".repeat(100)}, &`, `  &${"y".repeat(40)}`]);
  });

  it("are broken at operators where there are no blanks, and anywhere where there are none", () => {
    const [first, second] = wrappedLine("", `${"a".repeat(100)}+${"b".repeat(60)}`);
    assert.deepEqual([first, second], [`${"a".repeat(100)}&`, `&+${"b".repeat(60)}`]);
    // A sign in an exponent and the second star of a power belong to what comes before.
    assert.equal(wrappedLine("", `${"a".repeat(90)}*${"b".repeat(30)}1e-${"5".repeat(40)}`)[0], `${"a".repeat(90)}&`);
    assert.equal(wrappedLine("", `${"a".repeat(110)}**${"b".repeat(40)}`)[0], `${"a".repeat(110)}&`);
    assert.equal(wrappedLine("", "a".repeat(200))[0], `${"a".repeat(131)}&`);
  });

  it("repeat the sentinel of a directive", () => {
    const lines = wrappedLine("  !$acc ", `parallel loop copyin(${Array.from({ length: 40 }, (_, n) => `a${n}`).join(",")})`);
    assert.ok(lines.length > 1 && lines.slice(1).every((line) => line.startsWith("  !$acc&")), lines.join("\n"));
  });
});
