import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { describe, it } from "node:test";
import { Problems, problemText } from "../../src/fortran/errors.js";
import { parse } from "../../src/fortran/parse/index.js";
import { port, type FortranTarget } from "../../src/fortran/port/index.js";
import { HEAT, inModule } from "./fixtures.js";
import { needsGfortran } from "./gfortran.js";

type PortSettings = Parameters<typeof port>[2];

function ported(text: string, target: FortranTarget, settings: PortSettings = {}): { lines: string[]; problems: string[] } {
  const problems = new Problems();
  const made = port(parse(text, { file: "a.F90" }, problems), target, settings, problems);
  return { lines: made.text.split("\n").map((line) => line.trim()), problems: problems.found.map(problemText) };
}
/** Lines of a port without problems. */
function linesOf(text: string, target: FortranTarget, settings: PortSettings = {}): string[] {
  const { lines, problems } = ported(text, target, settings);
  assert.deepEqual(problems, []);
  return lines;
}
const bodyOf = (lines: readonly string[], from: string, to: string): string[] => {
  const first = lines.findIndex((line) => line.startsWith(from));
  const after = lines.slice(first);
  return after.slice(
    0,
    after.findIndex((line) => line === to),
  );
};

describe("a port to one core", () => {
  const lines = linesOf(HEAT, "cpu", { rename: { _gpu: "_cpu", _cuf: "_loop" } });

  it("has loops in place of threads, x innermost", () => {
    assert.deepEqual(bodyOf(lines, "subroutine step_kernel", "end subroutine step_kernel"), [
      "subroutine step_kernel(nx, ny, first, t_cpu, new_cpu, steps)",
      "integer, value :: nx, ny, first, steps",
      "real(rkind), dimension(0:nx+1,0:ny+1) :: t_cpu, new_cpu",
      "real(rkind), dimension(2) :: flux",
      "integer :: i, j",
      "! Both directions",
      "do j = 1,ny",
      "do i = first,nx-1",
      "flux(1) = t_cpu(i+1,j) - 2._rkind*t_cpu(i,j) + t_cpu(i-1,j)",
      "flux(2) = t_cpu(i,j+1) - 2._rkind*t_cpu(i,j) + t_cpu(i,j-1)",
      "if (flux(1) == 0._rkind) cycle",
      "new_cpu(i,j) = t_cpu(i,j) + slope(flux(1),flux(2))",
      "end do",
      "end do",
    ]);
  });

  it("has nothing of CUDA", () => {
    assert.doesNotMatch(lines.join("\n"), /cuda|cuf|device|attributes|launch_bounds|thread|_gpu/);
    assert.ok(lines.includes("integer, intent(in) :: stream"));
    assert.ok(lines.includes("subroutine heat_sum_loop(nx, ny, t_cpu, total, stream)"));
    assert.ok(lines.includes("total = total + t_cpu(i,j) ! all cells"));
  });

  it("leaves the element from within inner loops by name", () => {
    const made = linesOf(
      "attributes(global) subroutine k(n, a)\ninteger, value :: n\nreal(8) :: a(n)\ninteger :: i, l\ni = (blockidx%x-1)*blockdim%x + threadidx%x\n" +
        "if (i <= n) then\ndo l = 1, 3\nif (a(i) > l) return\nend do\na(i) = 0\nend if\nend subroutine",
      "cpu",
    );
    assert.deepEqual(bodyOf(made, "element:", "end subroutine k"), [
      "element: do i = 1,n",
      "do l = 1,3",
      "if (a(i) > l) cycle element",
      "end do",
      "a(i) = 0",
      "end do element",
    ]);
  });

  it("drops directives, and keeps `do concurrent`", () => {
    const made = linesOf(
      inModule(
        "",
        "!$acc parallel loop collapse(2)\ndo j=1,n\ndo i=1,n\n!$acc atomic update\na(i,1,1) = a(i,1,1) + b(i,j,1)\nend do\nend do\ndo concurrent (i=1:n)\na(i,1,1) = 0\nend do",
      ),
      "cpu",
    );
    assert.doesNotMatch(made.join("\n"), /!\$/);
    assert.ok(made.includes("do concurrent (i = 1:n)"));
  });
});

describe("a port with OpenMP", () => {
  it("shares arrays among threads, and reduces", () => {
    const made = linesOf(HEAT, "openmp");
    assert.deepEqual(
      made.filter((line) => line.startsWith("!$")),
      [
        "!$omp parallel do default(firstprivate) shared(t_gpu,new_gpu)",
        "!$omp parallel do default(firstprivate) shared(t_gpu) reduction(+:total)",
      ],
    );
  });

  it("on a GPU names what a thread has for itself, and marks procedures of the device", () => {
    const made = linesOf(HEAT, "openmp-target");
    assert.deepEqual(
      made.filter((line) => line.startsWith("!$")),
      [
        "!$omp target teams distribute parallel do collapse(2) has_device_addr(t_gpu,new_gpu) private(flux)",
        "!$omp declare target",
        "!$omp target teams distribute parallel do collapse(2) has_device_addr(t_gpu) reduction(+:total)",
      ],
    );
  });

  it("takes OpenACC and `do concurrent`", () => {
    const text = inModule(
      "real(8) :: x",
      "!$acc parallel loop gang\ndo k=1,n\n!$acc loop vector collapse(2) reduction(max:x)\ndo j=1,n\ndo i=1,n\nx = max(x, a(i,j,k))\nend do\nend do\nend do\n" +
        "do concurrent (i=1:n, j=1:n, i/=j) reduce(+:x)\nx = x + b(i,j,1)\nend do\n!$omp parallel do\ndo i=1,n\n!$omp atomic\na(1,1,1) = a(1,1,1) + b(i,1,1)\nend do",
    );
    assert.deepEqual(
      linesOf(text, "openmp-target").filter((line) => /^!\$|^if/.test(line)),
      [
        "!$omp target teams distribute parallel do collapse(3) map(tofrom:a) reduction(max:x)",
        "!$omp target teams distribute parallel do collapse(2) map(tofrom:b) reduction(+:x)",
        "if (i /= j) then",
        "!$omp target teams distribute parallel do collapse(1) map(tofrom:a,b)",
        "!$omp atomic update",
      ],
    );
  });
});

describe("what gfortran compiles of a port with OpenMP", () => {
  const compiled = (text: string): string[] => {
    const lines = linesOf(text, "openmp");
    const folder = mkdtempSync(join(tmpdir(), "isoform-port-"));
    try {
      const options = ["-x", "f95", "-fopenmp", "-fsyntax-only", "-J", folder, "-"];
      execFileSync("gfortran", options, { input: lines.join("\n"), stdio: ["pipe", "ignore", "pipe"] });
    } finally {
      rmSync(folder, { recursive: true });
    }
    return lines.filter((line) => /^!\$|concurrent/.test(line));
  };
  it("names a reduction of two loops once", needsGfortran, () => {
    const loops = "!$acc parallel loop reduction(+:t)\ndo j=1,n\n!$acc loop reduction(+:t)\ndo i=1,n\nt = t + a(i,j,1)\nend do\nend do";
    assert.deepEqual(compiled(inModule("real(8) :: t", loops)), ["!$omp parallel do default(firstprivate) shared(a) reduction(+:t)"]);
  });
  it("ends `atomic update` as OpenMP does", needsGfortran, () => {
    const update = "!$acc atomic update\na(1,1,1) = a(1,1,1) + b(i,1,1)\n!$acc end atomic";
    assert.deepEqual(compiled(inModule("", `!$acc parallel loop\ndo i=1,n\n${update}\nend do`)).slice(1), [
      "!$omp atomic update",
      "!$omp end atomic",
    ]);
  });
  it("keeps what OpenMP alone uses in front of `implicit none`", needsGfortran, () => {
    const text =
      "subroutine s(x)\nuse, intrinsic :: iso_c_binding\n!$ use omp_lib\nimplicit none\nreal(8) :: x\n!$ x = omp_get_wtime()\nend subroutine";
    assert.deepEqual(compiled(text), ["!$ use omp_lib", "!$ x = omp_get_wtime()"]);
  });
  it("has no directives in pure procedures", needsGfortran, () => {
    const text =
      "pure function f(n) result(y)\ninteger, intent(in) :: n\nreal(8) :: y(n)\ninteger :: i\ndo concurrent (i=1:n)\ny(i) = i\nend do\nend function";
    assert.deepEqual(compiled(text), ["do concurrent (i = 1:n)"]);
  });
});

describe("a sum without a clause", () => {
  const text = inModule(
    "real(8) :: s, t",
    "!$cuf kernel do(1) <<<*,*>>>\ndo i=1,n\ns = s + a(i,1,1)\nif (a(i,1,1) > t) t = a(i,1,1)\nend do",
  );
  it("is a reduction all the same", () => {
    const [line] = linesOf(text, "openmp").filter((each) => each.startsWith("!$"));
    assert.equal(line, "!$omp parallel do default(firstprivate) shared(a) reduction(+:s) reduction(max:t)");
  });
});

describe("the order of loops", () => {
  const nest = (body: string, declarations = ""): string =>
    inModule(declarations, `!$cuf kernel do(2) <<<*,*>>>\ndo j=1,n\ndo i=1,n\ndo k=1,n\n${body}\nend do\nend do\nend do`);
  const lifted: PortSettings = { loop: () => ({ idx: ["k", "j", "i"] }) };

  it("is what the settings say", () => {
    const made = linesOf(nest("a(i,j,k) = b(j,i,k) + a(i,j,k)"), "cpu", lifted);
    assert.deepEqual(bodyOf(made, "do", "end do"), ["do k = 1,n", "do j = 1,n", "do i = 1,n", "a(i,j,k) = b(j,i,k) + a(i,j,k)"]);
  });

  it("may change where elements with different constants never meet", () => {
    linesOf(nest("a(i,j,1) = a(i,j,2) + k\na(i,j,3) = 0"), "cpu", { loop: () => ({ idx: ["i", "j", "k"] }) });
    linesOf(nest("a(i,2,k) = a(i,3,k+1)"), "cpu", lifted);
  });

  const refused: [body: string, declarations: string, why: RegExp][] = [
    ["a(i,j,k) = x\nx = b(i,j,k)", "real(8) :: x", /`x` is carried from one iteration of `k` to the next/],
    ["if (k > 1) a(i,j,k) = x\nx = b(i,j,k)", "real(8) :: x", /`x` is carried/],
    ["if (k > 1) x = 1\na(i,j,k) = x", "real(8) :: x", /`x` is carried/],
    ["a(i,j,k) = a(i,j,k-1)", "", /iterations of `k` may use the same elements of `a`/],
    ["a(i,j,1) = b(i,j,k)", "", /iterations of `k` may use the same elements of `a`/],
    ["n = n - 1\na(i,j,k) = 0", "", /`n` is carried|bounds of/],
  ];
  for (const [body, declarations, why] of refused)
    it(`stays where ${body.replaceAll("\n", "; ")}`, () => {
      const { problems } = ported(nest(body, declarations), "cpu", lifted);
      assert.equal(problems.length, 1);
      assert.match(problems[0], /^a\.F90:7:7: idx of s: /);
      assert.match(problems[0], why);
    });

  it("names loops that are there", () => {
    const { problems } = ported(nest("a(i,j,k) = 0"), "cpu", { loop: () => ({ idx: ["k", "l"] }) });
    assert.deepEqual(problems, ["a.F90:7:7: idx of s: its perfectly nested loops are j, i, k (name the outermost ones, each once)"]);
    const more = ported(nest("a(i,j,k) = 0"), "cpu", { loop: () => ({ num_loop: 4 }) });
    assert.match(more.problems[0], /num_loop of s: only 3 of its loops are perfectly nested: j, i, k/);
  });
});

describe("what the language leaves out", () => {
  it("is printed as it stands", () => {
    const made = linesOf(
      "subroutine s(a)\ninteger, intent(in) :: a(..)\ninteger :: b\nb = 1 .plus. 2\ngo to 10\n10 continue\nend subroutine",
      "cpu",
    );
    for (const line of ["integer, intent(in) :: a(..)", "b = 1 .plus. 2", "go to 10", "10 continue"]) assert.ok(made.includes(line), line);
  });
});

describe("directives of data", () => {
  const text = `
module m
  real(8), allocatable :: u(:)
  !$acc declare create(u)
contains
  subroutine s(n, x)
    integer, intent(in) :: n
    real(8) :: x(n)
    integer :: i
    ! Before.
    !$omp target data map(tofrom: x)
    !$omp target teams distribute parallel do
    do i = 1, n
      x(i) = u(i)
    end do
    !$omp target update from(x)
    !$omp end target data
    !$acc wait
  end subroutine
end module
`;
  it("are OpenMP's in ports to a GPU", () => {
    const lines = linesOf(text, "openmp-target");
    for (const line of ["!$omp target data map(tofrom:x)", "!$omp target update from(x)", "!$omp end target data"])
      assert.ok(lines.includes(line), line);
    assert.equal(lines[lines.indexOf("! Before.") + 1], "!$omp target data map(tofrom:x)");
  });

  it("mean nothing where all memory is one", () => {
    for (const target of ["cpu", "openmp"] as const) assert.ok(!linesOf(text, target).some((line) => /target|acc/.test(line)));
  });
});

describe("what has no port", () => {
  const kernel = (declarations: string, statements: string): string =>
    `attributes(global) subroutine k(n, a)\ninteger, value :: n\nreal(8) :: a(n)\ninteger :: i\n${declarations}${statements}\nend subroutine`;
  const index = "i = blockdim%x*(blockidx%x-1) + threadidx%x\n";
  const cases: [text: string, message: RegExp][] = [
    [kernel("", `${index}a(i) = 0`), /^a\.F90:1:1: attributes\(global\) k: no guard says where i ends \(write `if \(i > n\) return`/],
    [kernel("", "a(1) = 0"), /^a\.F90:1:1: attributes\(global\) k: no line computes the thread's index/],
    [kernel("", `${index}if (i > n) return\na(i) = threadidx%x`), /^a\.F90:7:8: threadidx: the thread's index is read outside/],
    [kernel("", `${index}if (i > n) return\na(i) = n\nn = 3`), /^a\.F90:2:1: value :: n: the kernel reads it and then writes it/],
    ["subroutine s\ninteger :: e\ne = cudamemcpy(a, b, 3)\nend subroutine", /^a\.F90:3:1: cudamemcpy: is a call of the CUDA library/],
  ];
  for (const [text, message] of cases)
    it(String(message), () => {
      const { problems } = ported(text, "cpu");
      assert.equal(problems.length, 1, problems.join("\n"));
      assert.match(problems[0], message);
    });
});
