/* Ports to languages other than Fortran: what each file says, and what is refused. */
import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { FortranError } from "../../src/fortran/errors.js";
import { portKernels } from "../../src/fortran/port-kernels.js";
import { settingsOf } from "../../src/fortran/port/settings.js";
import type { PortedFile } from "../../src/fortran/port/sources.js";
import { KERNEL_TARGETS, type KernelTarget } from "../../src/fortran/port/targets.js";
import { HEAT } from "./fixtures.js";

const ported = (text: string, target: KernelTarget, values: Record<string, unknown> = {}): PortedFile[] =>
  portKernels([{ file: "heat.F90", text }], { targets: [target], settings: settingsOf(values, "port.toml") });

const COMPILED: Readonly<Record<KernelTarget, RegExp>> = {
  c: /\/\/ gcc .* -c \w+\.c$/m,
  js: /^\/\/ import \{ \w+_launch \} from "\.\/\w+\.mjs"$/m,
  opencl: /^\/\/ gcc .* -c \w+\.host\.c .*-lOpenCL/m,
  sycl: /^\/\/ icpx .* -c \w+\.sycl\.cpp$/m,
  wgsl: /^\/\/ In browsers with navigator\.gpu/m,
};

describe("Fortran's loops as kernels of other languages", () => {
  for (const target of KERNEL_TARGETS)
    it(`${target}: files begin with how they are compiled, and say what the loops were`, () => {
      const files = ported(target === "wgsl" ? HEAT.replace("rkind = 8", "rkind = 4") : HEAT, target);
      for (const name of ["step_kernel", "heat_sum_cuf"]) {
        const texts = files.filter(({ loops }) => loops[0].name === name).map(({ text }) => text);
        const [launch] = texts.filter((text) => COMPILED[target].test(text.split("\n").slice(0, 3).join("\n")));
        assert.ok(launch, `${target} ${name}`);
        assert.match(launch, name === "step_kernel" ? /Loops, .*: j = 1, ny; i = first, nx-1\./ : /Loops, .*: j = 1, ny; i = 1, nx\./);
        if (name === "heat_sum_cuf")
          assert.match(launch, /The result does not include the value that total had before the loop: .* by \+\./);
      }
    });

  it("follows the settings: kinds, names, and serial loops that become parallel", () => {
    const text = `subroutine smooth_cuf(n, m, a)
  integer, intent(in) :: n, m
  real(rk), device :: a(n, m)
  integer :: i, j
  !$cuf kernel do(1) <<<*,*>>>
  do i = 1, n
    do j = 1, m
      a(i, j) = 2*a(i, j)
    end do
  end do
end subroutine`;
    const values = { port: { kinds: { rk: "f32" }, rename: { c: { _cuf: "_loop" } } }, smooth_cuf: { c: { idx: ["j", "i"] } } };
    const [{ name, text: made, loops }] = ported(text, "c", values);
    assert.equal(name, "smooth_loop.c");
    assert.match(made, /\bfloat \*restrict a_/);
    assert.deepEqual(loops[0].axes, ["j", "i"]);
  });

  it("are refused for files without parallel loops", () => {
    const text = "subroutine s(n, a)\ninteger :: n\nreal(8) :: a(n)\na = a + 1\nend subroutine\n";
    assert.throws(
      () => portKernels([{ file: "s.f90", text }], { targets: ["c", "js"] }),
      (error) =>
        error instanceof FortranError &&
        error.message.startsWith("s.f90:1:1: a port to c and js: the files have no parallel loop, and only these become kernels"),
    );
  });

  it("names what a language lacks at the loop's place", () => {
    assert.throws(
      () => ported(HEAT, "wgsl"),
      (error) =>
        error instanceof FortranError &&
        error.problems.length === 2 &&
        error.message.startsWith('heat.F90:7:3: step_kernel for wgsl: its parameter "t_gpu" is f64'),
    );
  });

  it("and what kernels do", () => {
    assert.throws(() => ported(HEAT.replace("    if (flux(1) ==", "    stop\n    if (flux(1) =="), "c"), /heat\.F90:18:\d+: stop: /);
  });

  it("settings of loops that no file has are refused", () => {
    assert.throws(() => ported(HEAT, "c", { other: { idx: ["i"] } }), /the settings name \[other\]/);
  });
});
