/* Ports to C++ through compilers: HIP and CUDA as far as these are here, and threads one after the other on the CPU, against gfortran. */
import assert from "node:assert/strict";
import { execFileSync, spawnSync } from "node:child_process";
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, before, describe, it } from "node:test";
import { portCppSources } from "../../src/fortran/port/cpp/sources.js";
import { portSources } from "../../src/fortran/port/sources.js";
import { HEAT } from "./fixtures.js";
import { needsGfortran } from "./gfortran.js";
import { HIP_SHIM } from "./hip-shim.js";

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

describe("a port to C++, compiled", () => {
  let folder = "";
  const run = (tool: string, ...words: string[]): string =>
    execFileSync(tool, words, { cwd: folder, encoding: "utf8", stdio: ["ignore", "pipe", "pipe"] });
  before(() => {
    folder = mkdtempSync(join(tmpdir(), "isoform-cpp-"));
    mkdirSync(join(folder, "hip"));
    writeFileSync(join(folder, "hip/hip_runtime.h"), HIP_SHIM);
    const source = { file: "heat_gpu.F90", text: HEAT };
    for (const { name, text } of portCppSources([source], { targets: ["hip"] })) writeFileSync(join(folder, name), text);
  });
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

  it("is HIP for hipcc", { skip: !has("hipcc") && "hipcc is not installed" }, () => {
    run("hipcc", "-std=c++17", "-O1", "--offload-arch=gfx90a", "-c", "heat_gpu_kernels.hip.cpp", "-o", "hip.o");
  });

  it("is CUDA for nvcc", { skip: !(nvcc && has(nvcc)) && "ISOFORM_NVCC names no folder with nvcc" }, () => {
    const source = { file: "heat_gpu.F90", text: HEAT };
    for (const { name, text } of portCppSources([source], { targets: ["cuda"] })) writeFileSync(join(folder, name), text);
    run(nvcc!, "-std=c++17", "-arch=sm_80", "-c", "heat_gpu_kernels.cu", "-o", "cuda.o");
  });
});
