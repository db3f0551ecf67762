/* Ports to C++ through compilers: HIP and CUDA as far as these are here, and threads one after the other on the CPU, against gfortran. */
import assert from "node:assert/strict";
import { execFileSync, spawnSync } from "node:child_process";
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, before, describe, it } from "node:test";
import { portCppSources } from "../../src/fortran/port/cpp/sources.js";
import { portSources } from "../../src/fortran/port/sources.js";
import { DATA_PROGRAMS } from "./data-programs.js";
import { HEAT } from "./fixtures.js";
import { needsGfortran } from "./gfortran.js";
import { forShim, HIP_SHIM } from "./hip-shim.js";

const has = (tool: string): boolean => spawnSync(tool, ["--version"], { stdio: "ignore" }).status === 0;
const nvcc = process.env["ISOFORM_NVCC"] && join(process.env["ISOFORM_NVCC"], "nvcc");

/** Prints all that the kernels make of a field. */
const program = (stream: string): string => `program run
  use heat_gpu
  use, intrinsic :: iso_c_binding, only : c_null_ptr
  implicit none
  real(8) :: t(0:71, 0:11), new(0:71, 0:11), total
  integer :: i, j
  do j = 0, 11
    do i = 0, 71
      t(i, j) = 1/(1 + mod(7*i + 13*j, 31) + 0.125d0)
    end do
  end do
  new = 0
  call step_kernel(70, 10, 2, t, new, 1)
  total = 5
  call heat_sum_cuf(70, 10, new, total, ${stream})
  print '(z16)', new
  print '(f22.14)', total
end program
`;

/** Scalars that loops give back: a flag, the value of one element, the last one's. */
const FLAGS = `subroutine find(n, k, x, bad, r, last, lo)
  integer, intent(in) :: n
  integer :: k(n), i
  integer, intent(inout) :: bad
  real(8) :: x(n), r, last, lo
  !$acc parallel loop copy(bad, r) reduction(min: lo)
  do i = 1, n
    if (k(i) == 6) then
      !$acc atomic write
      bad = 1
    end if
    if (i == 3) r = x(i)
    if (k(i) == 2 .and. x(i) < lo) lo = x(i)
  end do
  !$omp parallel do lastprivate(last)
  do i = 1, n
    last = x(i)
  end do
end subroutine
`;

const FLAGS_PROGRAM = `program run
  implicit none
  real(8) :: x(5000), r, last, lo
  integer :: k(5000), bad, i
  k = 1
  k(4000:4500) = 6
  k(10:20) = 2
  x = [(5000d0 - i, i = 1, 5000)]
  bad = 0
  r = -1
  last = -1
  lo = 1d30
  call find(5000, k, x, bad, r, last, lo)
  print '(i2, 3f8.1)', bad, r, last, lo
  k = 1
  bad = 5
  call find(5000, k, x, bad, r, last, lo)
  print '(i2, 3f8.1)', bad, r, last, lo
end program
`;

describe("a port to C++, compiled", () => {
  let folder = "";
  const run = (tool: string, ...words: string[]): string =>
    execFileSync(tool, words, { cwd: folder, encoding: "utf8", stdio: ["ignore", "pipe", "pipe"] });
  before(() => {
    folder = mkdtempSync(join(tmpdir(), "isoform-cpp-"));
    mkdirSync(join(folder, "hip"));
    writeFileSync(join(folder, "hip/hip_runtime.h"), HIP_SHIM);
    write({ file: "heat_gpu.F90", text: HEAT });
  });
  /** Ports a file for the CPU. */
  const write = (source: { file: string; text: string }): void => {
    for (const { name, text } of portCppSources([source], { targets: ["hip"] })) writeFileSync(join(folder, name), forShim(text));
  };
  after(() => rmSync(folder, { recursive: true, force: true }));

  it("gives gfortran's bits, whichever thread comes first", { skip: needsGfortran.skip || (!has("g++") && "g++ is not installed") }, () => {
    const [plain] = portSources([{ file: "heat_gpu.F90", text: HEAT }], { targets: ["cpu"] });
    mkdirSync(join(folder, "plain"));
    writeFileSync(join(folder, "plain/heat.F90"), plain.text);
    writeFileSync(join(folder, "plain/run.f90"), program("0"));
    run("gfortran", "-cpp", "-ffp-contract=off", "-Jplain", "plain/heat.F90", "plain/run.f90", "-o", "plain/run");
    writeFileSync(join(folder, "run.f90"), program("c_null_ptr"));
    run("g++", "-std=c++17", "-O1", "-ffp-contract=off", "-Wall", "-Werror", "-I.", "-c", "heat_gpu_kernels.hip.cpp", "-o", "kernels.o");
    run("gfortran", "-cpp", "-ffp-contract=off", "heat_gpu.F90", "run.f90", "kernels.o", "-lstdc++", "-o", "ported");
    const expected = run("plain/run").trim().split("\n");
    for (const words of [["./ported"], ["env", "SHIM_BACKWARDS=1", "./ported"]]) {
      const found = run(words[0], ...words.slice(1))
        .trim()
        .split("\n");
      assert.equal(found.length, expected.length);
      assert.deepEqual(found.slice(0, -1), expected.slice(0, -1));
      const [sum, exact] = [found, expected].map((lines) => Number(lines.at(-1)));
      assert.ok(Math.abs(sum - exact) < 1e-12 && exact !== 5, `${sum}, ${exact}`);
    }
  });

  it("gives back the scalars that loops assign", { skip: needsGfortran.skip || (!has("g++") && "g++ is not installed") }, () => {
    write({ file: "flags.F90", text: FLAGS });
    writeFileSync(join(folder, "flags_run.f90"), FLAGS_PROGRAM);
    run("g++", "-std=c++17", "-O1", "-Wall", "-Werror", "-I.", "-c", "flags_kernels.hip.cpp", "-o", "flags.o");
    run("gfortran", "-cpp", "flags.F90", "flags_run.f90", "flags.o", "-lstdc++", "-o", "flags");
    for (const words of [["./flags"], ["env", "SHIM_BACKWARDS=1", "./flags"]])
      assert.equal(run(words[0], ...words.slice(1)), " 1  4997.0     0.0  4980.0\n 5  4997.0     0.0  4980.0\n");
  });

  it("is HIP for hipcc", { skip: !has("hipcc") && "hipcc is not installed" }, () => {
    mkdirSync(join(folder, "gpu"));
    for (const [file, source] of [
      ["heat_gpu", HEAT],
      ["cg", DATA_PROGRAMS.CG],
    ]) {
      for (const { name, text } of portCppSources([{ file: `${file}.F90`, text: source }], { targets: ["hip"] }))
        writeFileSync(join(folder, "gpu", name), text);
      run("hipcc", "-std=c++17", "-O1", "--offload-arch=gfx90a", "-c", `gpu/${file}_kernels.hip.cpp`, "-o", "hip.o");
    }
  });

  it("is CUDA for nvcc", { skip: !(nvcc && has(nvcc)) && "ISOFORM_NVCC names no folder with nvcc" }, () => {
    const source = { file: "heat_gpu.F90", text: HEAT };
    for (const { name, text } of portCppSources([source], { targets: ["cuda"] })) writeFileSync(join(folder, name), text);
    run(nvcc!, "-std=c++17", "-arch=sm_80", "-c", "heat_gpu_kernels.cu", "-o", "cuda.o");
    for (const { name, text } of portCppSources([{ file: "cg.F90", text: DATA_PROGRAMS.CG }], { targets: ["cuda"] }))
      writeFileSync(join(folder, name), text);
    run(nvcc!, "-std=c++17", "-arch=sm_80", "-c", "cg_kernels.cu", "-o", "cuda.o");
    assert.match(execFileSync("nm", [join(folder, "cuda.o")], { encoding: "utf8" }), /isoform_enter/);
  });
});
