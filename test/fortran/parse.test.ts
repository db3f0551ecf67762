import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { Problems } from "../../src/fortran/errors.js";
import { parse } from "../../src/fortran/parse/index.js";
import { expressionText } from "../../src/fortran/print/expressions.js";
import type { Expr, Stmt } from "../../src/fortran/tree/index.js";
import { parsed, problemsOf, procedure, statements } from "./parsed.js";
import { needsStreams, streamsFiles, streamsText } from "./streams.js";

/** Operators with all parentheses that the tree implies. */
function shape(e: Expr): string {
  switch (e.kind) {
    case "literal":
      return e.suffix ? `${e.text}_${e.suffix}` : e.text;
    case "name":
      return e.name;
    case "part":
      return `${shape(e.base)}%${e.name}`;
    case "apply":
      return `${shape(e.base)}(${e.args.map((a) => (a.kind === "value" ? shape(a.value) : [a.lower, a.upper, a.step].map((b) => (b ? shape(b) : "")).join(":"))).join(",")})`;
    case "unary":
      return `(${e.op}${shape(e.a)})`;
    case "binary":
      return `(${shape(e.a)}${e.op}${shape(e.b)})`;
    case "complex":
      return `<${shape(e.re)};${shape(e.im)}>`;
    case "group":
      return `{${shape(e.a)}}`;
    case "constructor":
      return `[${e.items.map((i) => (i.kind === "implied-do" ? "do" : shape(i))).join(",")}]`;
  }
}
const value = (text: string): string => {
  const [statement] = statements(`x = ${text}`);
  assert.equal(statement.kind, "assign");
  return shape((statement as Extract<Stmt, { kind: "assign" }>).value);
};
const kinds = (lines: string): string[] => statements(lines).map((s) => s.kind);

describe("expressions", () => {
  const shapes: [text: string, shape: string][] = [
    ["-a**2", "(-(a**2))"],
    ["(1.0, -2)*z", "(<1.0;(-2)>*z)"],
    ["2**3**2", "(2**(3**2))"],
    ["-a*b+c", "((-(a*b))+c)"],
    ["a-b-c", "((a-b)-c)"],
    ["a/b*c", "((a/b)*c)"],
    ["a*-b", "(a*(-b))"],
    ["a**-b", "(a**(-b))"],
    [".not. a .and. b .or. c", "(((.not.a).and.b).or.c)"],
    ["a .eqv. .not. b", "(a.eqv.(.not.b))"],
    ["1.and.2.lt.x", "(1.and.(2<x))"],
    ["3.lt.x", "(3<x)"],
    ["1.d0+1.e5_8+.5+2.", "(((1.d0+1.e5_8)+.5)+2.)"],
    ["1.eq.2", "(1==2)"],
    ["(a+b)*c", "({(a+b)}*c)"],
    ["p%q(i)%r(2:, :n, ::2, 1:9:3)", "p%q(i)%r(2::,:n:,::2,1:9:3)"],
    ["[1, 2] ", "[1,2]"],
    ["(/ 1, -2 /)", "[1,(-2)]"],
    ["[(i, i = 1, 3)]", "[do]"],
    ["'it''s'//\"a\"", "(it's//a)"],
    ["a > b .and. c /= d", "((a>b).and.(c/=d))"],
    [".true. .neqv. .false._4", "(.true..neqv..false._4)"],
    ["f(g(1), k=2)", "f(g(1),2)"],
  ];
  for (const [text, expected] of shapes) it(text, () => assert.equal(value(text), expected));
});

describe("lines", () => {
  it("go on inside of names and numbers", () => {
    assert.equal(value("abc&\n   &def + 1&\n&.5d&\n&0"), "(abcdef+1.5d0)");
  });

  it("go on inside of strings, and beyond comments and blank lines", () => {
    assert.equal(value("a + & ! why\n\n  ! more\n  b // 'x&\n  &y ! z' ! w"), "((a+b)//xy ! z)");
  });

  it("hold several statements", () => assert.deepEqual(kinds("a = ';'; call f(';') ; return"), ["assign", "call", "return"]));

  it("may end in CR LF, begin with tabs and hold UTF-8 in comments", () => {
    assert.deepEqual(kinds("\ta = 1\r\n! ρ → ∞\r\n\tb = 2 ! é\r"), ["assign", "assign"]);
  });

  it("know their places in the original", () => {
    const [a, b] = statements("  a = 1; b = 2");
    assert.deepEqual(
      [a.at, b.at],
      [
        { file: "a.F90", line: 2, column: 3 },
        { file: "a.F90", line: 2, column: 10 },
      ],
    );
  });

  it("behind !@cuf are CUDA's alone", () => {
    const [s] = statements("!@cuf i = cudadevicesynchronize()");
    assert.equal(s.kind === "assign" && s.cudaOnly, true);
  });
});

describe("names", () => {
  it("are no reserved words", () => {
    const lines =
      "if = 1\ndo = 2\nend = 3\nendif = 4\nreal(2) = 5\nif(i) = 6\nprint = 7\nelse = 8\ncall = if + do\nn%if = 9\nreturn = 1\nwhere(1) = 2";
    assert.deepEqual(new Set(kinds(lines)), new Set(["assign"]));
    assert.equal(kinds(lines).length, 12);
  });
});

describe("statements", () => {
  it("end in one word or two", () => {
    const lines = (joined: boolean): string =>
      "do i=1,n\nif (a) then\nb=1\nelse if (c) then\nd=1\nelse\ne=1\nend if\nend do\nselect case (i)\ncase (1, 3:4, :0)\na=1\ncase default\nb=1\nend select".replaceAll(
        joined ? /(end|else|select) (?=\w)/g : /$^/g,
        "$1",
      );
    assert.deepEqual(kinds(lines(true)), ["do", "select"]);
    assert.deepEqual(kinds(lines(false)), ["do", "select"]);
  });

  it("of all sorts", () => {
    const each: [text: string, kind: string][] = [
      ["a(1)%b = c", "assign"],
      ["p => null()", "pointer-assign"],
      ["call a%b(1)", "call"],
      ["call f", "call"],
      ["call k<<<g, b, 0, s>>>(x)", "call"],
      ["if (a) return", "if"],
      ["outer: do i = 1, n, 2\n exit outer\n cycle outer\nend do outer", "do"],
      ["do\n exit\nend do", "do-while"],
      ["do while (a)\n b = 1\nend do", "do-while"],
      ["do concurrent (integer :: i=1:n, j=1:m:2, i/=j) local(a) local_init(b) shared(c) reduce(+:s)\n a = 1\nend do", "do-concurrent"],
      ["associate (a => b, c => d%e)\n a = 1\nend associate", "associate"],
      ["where (m > 0)\n a = 1\nelsewhere (m < 0)\n a = 2\nelsewhere\n a = 3\nend where", "where"],
      ["where (m) a = 1", "where"],
      ["block\n a = 1\nend block", "block"],
      ["stop 'x'", "stop"],
      ["10 continue", "continue"],
      ["print *, a, 'b'", "print"],
      ["write(*,*) a", "print"],
      ["write(*,'(a)') a", "print"],
      ["allocate(a(1:n), b%c(0:), stat=e)", "allocate"],
      ["deallocate(a)", "deallocate"],
      ["!$omp barrier", "directed"],
      ["write(12,*) a", "unsupported"],
      ["go to 10", "unsupported"],
      ["do 10 i=1,n\na=1\n10 continue", "do"],
      ["block\n integer :: i\n i = 1\nend block", "block"],
      ["select type (a)\ntype is (t)\n b=1\nclass default\n c=1\nend select", "unsupported"],
      ["forall (i=1:n) a(i) = 1", "do-concurrent"],
      ["forall (i=1:n)\na(i) = 1\nend forall", "do-concurrent"],
      ["error stop 2", "stop"],
      ["a = (1.0, 2.0)", "assign"],
      ["a = b .cross. c", "unsupported"],
    ];
    for (const [text, kind] of each) assert.deepEqual(kinds(text), [kind], text);
  });

  it("of directives own their loops", () => {
    const [cuf, acc, omp] = statements(
      "!$cuf kernel do(2) <<<*,*,stream=s>>> reduce(max:a,b)\ndo i=1,n\nend do\n" +
        "!$acc parallel loop gang vector collapse(2) private(x) &\n!$acc& reduction(+:s) async(1) present(w)\ndo i=1,n\nend do\n!$acc end parallel loop\n" +
        "!$omp target data map(to: a)\n!$omp target teams distribute parallel do\ndo i=1,n\nend do\n!$omp end target data",
    );
    assert.equal(cuf.kind === "directed" && cuf.body[0].kind, "do");
    assert.ok(acc.kind === "directed" && acc.closed);
    assert.deepEqual(acc.kind === "directed" && acc.directive.words, ["parallel", "loop"]);
    assert.deepEqual(acc.kind === "directed" && acc.directive.clauses.map((clause) => clause.kind), [
      "level",
      "level",
      "collapse",
      "private",
      "reduction",
      "async",
      "data",
    ]);
    assert.ok(omp.kind === "directed" && omp.closed && omp.body[0].kind === "directed");
  });
});

describe("units", () => {
  it("of all sorts", () => {
    const tree = parsed(
      "module m\nuse a, only : b, c => d\nuse, intrinsic :: iso_c_binding\nimplicit none\nprivate\nreal, parameter :: x(2) = [1., 2.]\n" +
        "type, extends(q) :: t\n integer :: n = 1\ncontains\n procedure :: f\nend type t\ninterface g\n module procedure h\nend interface\n" +
        "contains\npure real(8) function f(x) result(y)\nreal(8), intent(in) :: x\ny = x\nend function\n" +
        "attributes(global) launch_bounds(256) subroutine k(a)\nreal, value :: a\nreal, dimension(0:n, 1:, *), device :: b\nend subroutine k\nend module\n" +
        "program p\ncall f\ncontains\nsubroutine f\nend subroutine\nend program",
    );
    const [m, p] = tree.units;
    assert.deepEqual([m.kind, p.kind], ["module", "program"]);
    assert.deepEqual(
      m.declarations.map((d) => d.kind),
      ["other", "variables", "type", "interface"],
    );
    assert.deepEqual(
      m.procedures.map((f) => [f.name, f.attributes.join(), f.result]),
      [
        ["f", "host", "y"],
        ["k", "global", undefined],
      ],
    );
    assert.equal(p.procedures[0].name, "f");
  });

  it("keep comments and blank lines", () => {
    const s = procedure(
      "! one\nsubroutine s ! two\n! three\ninteger :: i ! four\n\n! five\ni = 1 ! six\nif (i == 1) then\n! seven\nend if ! eight\n! nine\nend subroutine",
    );
    assert.deepEqual(s.before, ["! one"]);
    const [d] = s.declarations;
    assert.deepEqual(d.kind === "variables" && [d.before, d.behind], [["! two", "! three"], "! four"]);
    assert.deepEqual(
      [s.body[0].before, s.body[0].behind, s.body[1].behindEnd, s.beforeEnd],
      [["", "! five"], "! six", "! eight", ["! nine"]],
    );
  });
});

describe("the preprocessor", () => {
  const text =
    "#if defined(A) && B > 1\na = 1\n#elif defined(C)\na = 2\n#else\na = N\n#endif\n#ifndef A\n#define N 7\n#endif\na = N ! N\na = 'N'";
  const read = (define: Record<string, string | boolean>): string =>
    procedure(`subroutine s\n${text}\nend subroutine`, { define })
      .body.map((s) => (s.kind === "assign" ? shape(s.value) : s.kind))
      .join();
  it("takes the branch that holds", () => {
    assert.equal(read({ A: true, B: "2", N: "5" }), "1,5,N");
    assert.equal(read({ C: true }), "2,7,N");
    assert.equal(read({}), "n,7,N");
  });

  it("reads directives in capitals, as nvfortran does", () => {
    const { body } = procedure("subroutine s\n#DEFINE N 7\n#IFDEF N\na = N\n#ENDIF\nend subroutine");
    assert.equal(body.length, 1);
    assert.equal(body[0].kind === "assign" && expressionText(body[0].value), "7");
  });

  it("expands macros with arguments, which join words and quote", () => {
    const macros =
      "#define GPU(f) f##_gpu\n#define CPU(f) f/**/_cpu\n#define INC(x, y) x = x + (y)\n#define NAME(x) #x\n#define TWO ONE + ONE\n#define ONE 1";
    const lines = 'INC(GPU(a), f(TWO, [2, 3])); CPU(b) = NAME(c) ! INC(a, b)\nc = "ONE"';
    const { body } = procedure(`subroutine s\n${macros}\n${lines}\nend subroutine`);
    assert.deepEqual(
      body.map((s) => s.kind === "assign" && [s.target, s.value].map((e) => expressionText(e)).join("=")),
      ["a_gpu=a_gpu + (f(1+1,[2, 3]))", "b_cpu='c'", "c='ONE'"],
    );
  });

  it("includes files, and says where in them things are wrong", () => {
    const include = (name: string): string | undefined => (name === "b.inc" ? "b = 1\nc = = 2\n" : undefined);
    assert.deepEqual(problemsOf('subroutine s\n#include "b.inc"\nend', { include }), ["b.inc:2:5: =: a value is missing here"]);
    assert.deepEqual(problemsOf('subroutine s\n#include "d.inc"\nend', { include }), [
      'a.F90:2:1: #include "d.inc": the file does not exist (put it next to the file that includes it)',
    ]);
  });
});

describe("what is wrong", () => {
  const wrong: [text: string, ...messages: string[]][] = [
    ["a = b +", "2:8: end of line: a value is missing here"],
    ["a = (b + c\nb = ) d", "2:11: end of line: `)` is missing", "3:5: ): a value is missing here"],
    ["if (a) then\nb = 1", "2:1: if then: is not closed (add `end if`)"],
    ["do i = 1, n\nif (a) then\nb = 1\nend do", "3:1: if then: is not closed (add `end if`)"],
    ["b = 1\nend do", "3:1: end do: has no matching opening statement"],
    ["a = 'text", "2:5: 'text: the string does not end on this line"],
    ["a = b ? c", "2:7: ?: the character does not belong here"],
    ["a = 1\ninteger :: i", "3:1: integer: declarations come before the first statement (move it up)"],
    ["frobnicate the thing", "2:1: frobnicate: is not a statement"],
    ["!$omp paralel do\ndo i=1,n\nend do", "2:7: paralel: is not a directive of `!$omp` (correct its name, or make the line a comment)"],
    ["!$acc loop\na = 1", "2:7: !$acc loop: is not followed by a loop"],
    [
      "!$cuf kernel do(2) <<<*,*>>> reduce(-:s)\ndo i=1,n\nend do",
      "2:37: -: is not a reduction operation (use +, *, min, max, .and., .or., .eqv., .neqv., iand, ior, ieor)",
    ],
    ["a: do i=1,n\nend do b", "3:8: b: closes `a`"],
  ];
  for (const [text, ...messages] of wrong)
    it(text.split("\n").join(" / "), () =>
      assert.deepEqual(
        problemsOf(`subroutine s\n${text}\nend subroutine`),
        messages.map((m) => `a.F90:${m}`),
      ),
    );

  it("is all told in one run", () => {
    const text = "module m\ncontains\nsubroutine a\nx = = 1\ny = 2\nend subroutine\nsubroutine b\nz = )\nend subroutine\nend module";
    assert.deepEqual(problemsOf(text), ["a.F90:4:5: =: a value is missing here", "a.F90:8:5: ): a value is missing here"]);
  });

  it("names units that are not closed", () => {
    assert.deepEqual(problemsOf("subroutine a\nx = 1\nsubroutine b\nend subroutine"), [
      "a.F90:1:1: subroutine a: is not closed (add `end subroutine`)",
    ]);
  });

  it("is what nests too deep", () => {
    const many = Array.from({ length: 300 }, (_, n) => `(${n})`);
    assert.deepEqual(problemsOf(`subroutine s\na = f(${many.join(", ")}) + ${many.join("+")}\nend`), [], "one after the other");
    assert.match(problemsOf(`subroutine s\na = ${"(".repeat(5000)}1${")".repeat(5000)}\nend`)[0], /nest more than 100 deep/);
    assert.match(problemsOf(`subroutine s\na = ${"-".repeat(5000)}1\nend`)[0], /nest more than 100 deep/);
    assert.match(problemsOf(`subroutine s\na = 1${"**2".repeat(5000)}\nend`)[0], /nest more than 100 deep/);
    assert.match(problemsOf(`subroutine s\na = 1${"+1".repeat(5000)}\nend`)[0], /more than 1000 operators/);
    assert.match(problemsOf(`subroutine s\n${"if (a) then\n".repeat(5000)}${"end if\n".repeat(5000)}\nend`)[0], /blocks nest more than/);
    const deepest = (lines: (n: number) => string): number => {
      let n = 1;
      while (n < 2000 && problemsOf(`subroutine s\n${lines(n)}\nend`).length === 0) n++;
      return n - 1;
    };
    assert.deepEqual(
      [
        deepest((n) => `a = ${"(".repeat(n)}1${")".repeat(n)}`),
        deepest((n) => `a = ${"f(".repeat(n)}1${")".repeat(n)}`),
        deepest((n) => `a = ${"-".repeat(n)}1`),
        deepest((n) => `a = 1${"**2".repeat(n)}`),
        deepest((n) => `a = b${"%c".repeat(n)}`),
        deepest((n) => `${"if (a) then\n".repeat(n)}${"end if\n".repeat(n)}`),
      ],
      [99, 99, 99, 99, 99, 60],
    );
  });
});

describe("STREAmS-2", needsStreams, () => {
  it("parses without an error", () => {
    for (const file of streamsFiles()) {
      const problems = new Problems();
      parse(streamsText(file), { file }, problems);
      assert.deepEqual(problems.found, [], file);
    }
  });
});
