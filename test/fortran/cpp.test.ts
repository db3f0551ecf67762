/* Ports to HIP and CUDA C++: what is written, and what is refused. */
import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { portCppSources } from "../../src/fortran/port/cpp/sources.js";
import { settingsOf } from "../../src/fortran/port/settings.js";
import type { CppTarget } from "../../src/fortran/port/targets.js";
import { HEAT, inModule } from "./fixtures.js";

function ported(text: string, target: CppTarget = "hip", values: Record<string, unknown> = {}): { fortran: string; kernels: string } {
  const made = portCppSources([{ file: "heat.F90", text }], { targets: [target], settings: settingsOf(values, "port.toml") });
  assert.deepEqual(made.map(({ name }) => name).at(-1), "isoform_fortran.h");
  return { fortran: made[0].text, kernels: made[1].text };
}

/** A loop over `a` with this body. */
const loop = (body: string, declarations = ""): string =>
  inModule(declarations, `!$cuf kernel do(1) <<<*,*>>>\ndo i = 1, n\n${body}\nend do`);

describe("a port to C++", () => {
  const { fortran, kernels } = ported(HEAT);

  it("has a kernel of each loop, and a function that launches it", () => {
    assert.match(kernels, /^\/\/ hipcc .* -c heat_kernels\.hip\.cpp\n/);
    assert.match(kernels, /\/\/ heat\.F90:33\nnamespace heat_sum_cuf_ \{/);
    assert.match(kernels, /extern "C" __global__ void __launch_bounds__\(256\) heat_sum_cuf_kernel\(/);
    assert.match(kernels, /total_ \+= t_gpu_\[j_ \* t_gpu_stride0_ \+ i_\];  \/\/ line 36\n/);
    assert.match(kernels, /\n +\/\/ Both directions\n +double flux_0_ = /);
    assert.match(kernels, /\*total_ = \*total_ \+ total_part_;/);
    const cuda = ported(HEAT, "cuda").kernels;
    assert.match(cuda, /^\/\/ nvcc .* -c heat_kernels\.cu\n/);
    assert.match(cuda, /cudaStream_t stream_/);
    assert.doesNotMatch(cuda, /hip/i);
  });

  it("leaves Fortran that launches them", () => {
    assert.doesNotMatch(fortran, /cudafor|attributes|!\$cuf|threadidx|slope/);
    assert.match(fortran, /call heat_sum_cuf_launch_\(stream,ny,nx,size\(t_gpu,1\),size\(t_gpu,2\),c_loc\(t_gpu\),total\)/);
    assert.match(fortran, /type\(c_ptr\), intent\(in\) :: stream\n/);
    assert.match(fortran, /call heat_synchronise_\n/);
  });

  it("keeps literals' kinds, powers, names that C++ has for itself, and what stands in comments", () => {
    const text = ported(loop("! ends */ here\\\nint = 0.5*a(i,1,1)**3 + 1/3\na(i,1,1) = -int**2", "real(8) :: int")).kernels;
    assert.match(text, /\n +\/\/ ends \* \/ here<U\+005C>\n +double base_ = a_\[i_ - 1\];  \/\/ line 10\n/);
  });

  it("takes names and the order of loops from the configuration", () => {
    const { kernels: text } = ported(HEAT, "hip", { port: { rename: { hip: { _cuf: "_loop" } } }, heat_sum_cuf: { idx: ["i", "j"] } });
    assert.match(text, /heat_sum_loop_launch_\(/);
    assert.match(text, /for \(long long j_index_ = start_ \+ lane_; /);
    assert.throws(() => ported(HEAT, "hip", { other: { idx: ["i"] } }), /the settings name \[other\]/);
  });

  const refused: [body: string, message: RegExp][] = [
    ["stop", /stop: /],
    ["a(i,1,1) = nowhere(i)", /nowhere: /],
    [
      "if (allocated(w)) a(i,1,1) = w(i)",
      /w: the loop asks whether it is there \(ask before the loop, and keep the answer in a variable\)/,
    ],
    ["a(i,1,1) = w(i)%x", /heat\.F90:\d+:\d+: /],
  ];
  for (const [body, message] of refused)
    it(`refuses ${body.split("\n")[0]}`, () => assert.throws(() => ported(loop(body, "real(8), allocatable :: w(:)")), message));

  it("refuses variables that the procedure of the loop does not see, and bounds that the host cannot work out", () => {
    const text =
      "module a\nreal(8) :: hidden = 2\nend module\nmodule b\nuse a\nprivate :: hidden\ncontains\nreal(8) function f(v)\nreal(8), intent(in) :: v\nf = v*hidden\n" +
      "end function\nend module\nsubroutine s(y)\nuse b\nreal(8) :: y(4)\ninteger :: i\n!$omp parallel do\ndo i = 1, 4\ny(i) = f(y(i))\nend do\nend subroutine\n";
    assert.throws(
      () => ported(text),
      /heat\.F90:17:7: hidden: it is a variable of a, which the procedure of the loop does not see \(make it known there by `use`\)/,
    );
    assert.throws(
      () => ported(loop("a(i,1,1) = 1", "").replace("do i = 1, n", "do i = 1, int(sqrt(b(1,1,1)))")),
      /bounds: (they need a function|the bounds of a parallel loop, or of an array, are in an array)/,
    );
    assert.throws(
      () => ported(loop("a(i,1,1) = 1", "integer :: m(3)").replace("do i = 1, n", "do i = 1, m(2)")),
      /bounds: the bounds of a parallel loop, or of an array, are in an array \(copy them to variables\)/,
    );
  });

  const total = (statement: string): string =>
    `module m
contains
  attributes(global) subroutine total(u, s, n)
    integer, value :: n
    real(8) :: u(n), s
    integer :: i, istat
    i = (blockIdx%x - 1)*blockDim%x + threadIdx%x
    ${statement}
  end subroutine
end module
`;

  it("folds what atomic functions of one line add to a scalar, and updates elements", () => {
    for (const target of ["hip", "cuda"] as const) {
      const { kernels: text } = ported(total("if (i <= n) istat = atomicAdd(s, u(i))"), target);
      assert.match(text, /s_ \+= u_\[i_ - 1\];/);
      assert.match(text, /\*s_ = \*s_ \+ s_part_;/);
    }
    const updates = total("if (i > n) return\nistat = atomicMax(w(1), u(i))")
      .replace("u(n), s", "u(n), s, w(4)")
      .replace("(u, s, n)", "(u, s, w, n)");
    assert.match(ported(updates).kernels, /atomic_max_f64\(&w_\[0\], u_\[i_ - 1\]\);/);
  });

  it("keeps a flag that `atomic write` sets for each thread", () => {
    const { kernels: text } = ported(
      "subroutine find(n, x, bad)\ninteger, intent(in) :: n\nreal(8) :: x(n)\ninteger, intent(inout) :: bad\ninteger :: i\n" +
        "!$acc parallel loop copy(bad)\ndo i = 1, n\nif (x(i) > 6) then\n!$acc atomic write\nbad = 1\nend if\nend do\nend subroutine\n",
    );
    assert.match(text, /bad_is_set_ = true;/);
    assert.match(text, /if \(bad_assigned_part_ > 0\) \*bad_ = bad_part_;/);
  });

  it("refuses procedures with dummies that nothing declares, wherever they are called; elsewhere the name tells the type", () => {
    const text = (dummies: string, call: string, implicit = "implicit none"): string =>
      `module m\n${implicit}\ncontains\nsubroutine f(${dummies})\nreal(8), intent(out) :: x\nx = 1\nend subroutine\nreal(8) function g(w)\ng = 2\nend function\n` +
      `subroutine s(y)\nreal(8) :: y(4)\ninteger :: i\n!$omp parallel do\ndo i = 1, 4\n${call}\nend do\nend subroutine\nend module\n`;
    assert.throws(
      () => ported(text("n, x", "call f(4, y(i))")),
      /heat\.F90:4:1: n: a dummy argument without a declaration \(declare its type\)/,
    );
    assert.throws(() => ported(text("x", "y(i) = g(y(i))")), /heat\.F90:8:1: w: a dummy argument without a declaration/);
    assert.match(ported(text("n, x", "call f(4, y(i))", "")).kernels, /y_\[i_ - 1\] = 1\.0;/);
  });

  it("ends where procedures call each other, and where bounds lead to themselves", () => {
    const calls = (name: string, other: string): string =>
      `real(8) function ${name}(x)\nreal(8), intent(in) :: x\n${name} = ${other}(x)\nend function\n`;
    const text = (value: string, declarations = ""): string =>
      `module m\ncontains\n${calls("f", "g")}${calls("g", "f")}subroutine s(y, b)\nreal(8) :: y(4)${declarations}\ninteger :: i\n!$omp parallel do\ndo i = 1, 4\n` +
      `y(i) = ${value}\nend do\nend subroutine\nend module\n`;
    assert.throws(() => ported(text("f(y(i))", "\nreal(8) :: b")), /f: it calls itself \(write a loop: kernels have no recursion\)/);
    assert.throws(() => ported(text("b(i)", ", b(size(b))")), /b: its bounds depend on itself \(take a scalar for them\)/);
  });

  it("knows constants as the loop does, whatever they are called in their modules", () => {
    const text =
      "module c\nreal(8), parameter :: zz = 3, list(2) = [1d0, 2d0]\nend module\nmodule d\nreal(8), parameter :: yy = 5\nend module\n" +
      "subroutine s(y)\nuse c, vv => zz, row => list\nuse d, zz => yy\nreal(8) :: y(2)\ninteger :: i\n!$omp parallel do\ndo i = 1, 2\ny(i) = zz + vv + row(i)\nend do\nend subroutine\n";
    const { kernels: made } = ported(text);
    assert.match(made, /y_\[i_ - 1\] = 8\.0 \+ items_\[/);
  });

  it("keeps variables of one name apart", () => {
    const text =
      "module a\nreal(8), parameter :: base = 2\nreal(8), parameter :: dx = 3*base\nprivate base\nend module\nmodule b\nreal(8), parameter :: base = 5\nend module\n" +
      "subroutine s(y)\nuse a\nuse b\nreal(8) :: y(4)\ninteger :: i\n!$omp parallel do\ndo i = 1, 4\ny(i) = base + dx\nend do\nend subroutine\n";
    assert.match(ported(text).kernels, /y_\[i_ - 1\] = 11\.0;/);
  });

  it("needs memory that both can access only for loops of CUDA Fortran over the host's arrays", () => {
    const text = (directive: string): string =>
      "subroutine s(n, x, z)\ninteger, intent(in) :: n\nreal(8) :: x(n)\nreal(8), device :: z(n)\ninteger :: i\n" +
      `${directive}\ndo i = 1, n\nx(i) = z(i)\nend do\nend subroutine\n`;
    const { fortran: host } = ported(text("!$acc parallel loop"), "cuda");
    assert.doesNotMatch(host, /must be able to access/);
    assert.match(host, /call s_launch_\(c_null_ptr,n,isoform_address\(x\),z\)/);
    const ofCuda = ported(text("!$cuf kernel do <<<*, *>>>"), "cuda").fortran;
    assert.match(ofCuda, /^! gfortran .*\n! Kernels use the memory of x, which the GPU must be able to access\.\n/);
  });

  it("launches a loop once, whatever threads its directives have, and waits for it", () => {
    const text = (open: string, close: string): string =>
      `subroutine s(n, x)\ninteger, intent(in) :: n\nreal(8) :: x(n)\ninteger :: i\n${open}\ndo i = 1, n\nx(i) = 2*x(i)\nend do\n${close}\nx(1) = x(2)\nend subroutine\n`;
    for (const [open, close] of [
      ["!$omp parallel\n!$omp do", "!$omp end parallel"],
      ["!$omp target\n!$omp parallel do", "!$omp end target"],
      ["!$acc parallel\n!$acc loop", "!$acc end parallel"],
      ["!$acc kernels\n!$acc loop independent", "!$acc end kernels"],
    ]) {
      const { fortran: host, kernels } = ported(text(open, close));
      assert.doesNotMatch(host, /^ *!\$/m, open);
      assert.match(kernels, /f::check\(hipStreamSynchronize\(stream_\)\);\n\}/, open);
    }
    assert.doesNotMatch(ported(text("!$cuf kernel do <<<*, *>>>", "")).kernels, /StreamSynchronize\(stream_\)/);
  });

  it("waits before statements that use the device's arrays in CUDA Fortran", () => {
    const { fortran: host } = ported(
      "subroutine s(n, x)\ninteger, intent(in) :: n\nreal(8) :: x(n)\nreal(8), device :: d(n)\ninteger :: i\nd = x\n!$cuf kernel do <<<*, *>>>\ndo i = 1, n\n" +
        "d(i) = 2*d(i)\nend do\nx = d\nend subroutine\n",
    );
    assert.match(host, /launch_\(.*\)\n +call \w+_synchronise_\(?\)?\n +x = d\n/);
  });

  it("takes arrays of external procedures without a word for their callers", () => {
    const { fortran: host } = ported(
      "subroutine s(n, x)\ninteger, intent(in) :: n\nreal(8) :: x(n)\ninteger :: i\n!$omp parallel do\ndo i = 1, n\nx(i) = 2\nend do\nend subroutine\n",
    );
    assert.match(host, /real\(8\) :: x\(n\)\n/);
    assert.match(host, /call s_launch_\(c_null_ptr,n,isoform_address\(x\)\)/);
  });

  it("keeps procedures of one name apart", () => {
    const module = (name: string, value: string): string =>
      `module ${name}\ncontains\nreal(8) function f(v)\nreal(8), intent(in) :: v\nf = ${value}\nend function\nend module\n`;
    const { kernels } = ported(
      `${module("a", "2*v")}${module("b", "v + 1")}subroutine s(x)\nuse a\nuse b, only: g => f\nreal(8) :: x(2)\ninteger :: i\n!$omp parallel do\ndo i = 1, 2\n` +
        "x(i) = f(x(i)) + g(x(i))\nend do\nend subroutine\n",
    );
    assert.match(kernels, /double f_ = 2\.0 \* v_;[^]*double f_2_ = v_2_ \+ 1\.0;[^]*x_\[i_ - 1\] = f_ \+ f_2_;/);
  });

  it("brings arrays to the device and back", () => {
    const text = `subroutine s(x)\nreal(8) :: x(2), w(2)\ninteger :: i\nw = 1\n!$omp parallel do\ndo i = 1, 2\nw(1) = x(i)\nx(i) = w(1)\nend do\nend subroutine\n`;
    assert.match(ported(text).fortran, /call isoform_exit\(w,.*'launch copyout: w at/);
  });

  it("launches loops with blocks", () => {
    const { fortran: host } = ported(
      "subroutine s(x)\nreal(8) :: x(2)\ninteger :: i\n!$omp parallel do\ndo i = 1, 2\nblock\nreal(8) :: t\nt = x(i)\nx(i) = 2*t\nend block\nend do\nend subroutine\n",
    );
    assert.match(
      host,
      /call isoform_enter\(x,.*\n +call s_launch_\(c_null_ptr,isoform_address\(x\)\)\n +call isoform_exit\(x,.*\nend subroutine/,
    );
  });
});
