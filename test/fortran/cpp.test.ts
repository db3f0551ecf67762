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
    assert.match(kernels, /\/\/ heat\.F90:33\n__global__ void __launch_bounds__\(256\) heat_sum_cuf_kernel_\(/);
    assert.match(kernels, /flux\(1\) = t_gpu\(i \+ 1, j\) - 2\. \* t_gpu\(i, j\) \+ t_gpu\(i - 1, j\);/);
    assert.match(kernels, /if \(i > nx - 1 \|\| j > ny\) return;/);
    assert.match(kernels, /\*total = \*total \+ f::first\(total_partials_, stream\);/);
    assert.match(ported(HEAT, "cuda").kernels, /heat_sum_cuf_kernel_<<<dim3\(threads_ \/ 256\), dim3\(256\), 0, stream>>>\(/);
  });

  it("leaves Fortran that launches them", () => {
    assert.doesNotMatch(fortran, /cudafor|attributes|!\$cuf|threadidx|slope/);
    assert.match(fortran, /call heat_sum_cuf_launch_\(stream,ny,nx,size\(t_gpu,1\),size\(t_gpu,2\),c_loc\(t_gpu\),total\)/);
    assert.match(fortran, /type\(c_ptr\), intent\(in\) :: stream\n/);
    assert.match(fortran, /call heat_synchronise_\n/);
  });

  it("keeps literals' kinds, powers, names that C++ has for itself, and what stands in comments", () => {
    const text = ported(loop("! ends */ here\\\nint = 0.5*a(i,1,1)**3 + 1/3\na(i,1,1) = -int**2", "real(8) :: int")).kernels;
    assert.match(text, /int__ = 0\.5f \* f::power\(a\(i, 1, 1\), 3\) \+ 1 \/ 3;/);
    assert.match(text, /a\(i, 1, 1\) = -f::power\(int__, 2\);/);
    assert.match(text, /\/\/ ends \* \/ here<U\+005C>\n/);
  });

  it("counts a loop's trips before the first where its body changes the bounds", () => {
    const { kernels: text } = ported(loop("m = 3\ndo j = 1, m\nm = 1\nend do\na(i,1,1) = m", "integer :: m"));
    assert.match(text, /int left_1_ = f::trips\(1, m, step_1_\);\n +for \(j = 1; left_1_ > 0; left_1_--, j \+= step_1_\)/);
  });

  it("takes names and the order of loops from the configuration", () => {
    const { kernels: text } = ported(HEAT, "hip", { port: { rename: { hip: { _cuf: "_loop" } } }, heat_sum_cuf: { idx: ["i", "j"] } });
    assert.match(text, /heat_sum_loop_launch_\(/);
    assert.match(text, /const auto element_ = \[&\]\(const int j, const int i\)/);
    assert.throws(() => ported(HEAT, "hip", { other: { idx: ["i"] } }), /the settings name \[other\]/);
  });

  const refused: [body: string, message: RegExp][] = [
    ["stop", /stop: a kernel cannot end the program/],
    ["a(i,1,1) = sum(a(i,:,1))", /a section of an array stands where one number is wanted|not written for this function/],
    ["a(i,1,1) = nowhere(i)", /nowhere: C\+\+ is not written for this function \(the targets that write kernels/],
    ["!$acc atomic update\na(1,1,1) = a(1,1,1) + 1", /atomic update: atomic updates are not written in C\+\+/],
  ];
  for (const [body, message] of refused) it(`refuses ${body.split("\n")[0]}`, () => assert.throws(() => ported(loop(body)), message));
});
