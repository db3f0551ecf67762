import assert from "node:assert/strict";
import { spawnSync } from "node:child_process";
import { copyFileSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, describe, it } from "node:test";
import { fileURLToPath } from "node:url";
import { f32, f64, kernel, max, sum, view } from "../../../src/index.js";
import { compileKernel } from "../../../src/kernel/compile.js";
import { cudaSource } from "../sources.js";

const inSource = (name: string) => fileURLToPath(new URL(`../../../../test/${name}`, import.meta.url));
const compiler = ["g++", "clang++", "c++"].find((name) => spawnSync(name, ["--version"]).status === 0);
const MEMBERS = [1, 2, 3, 4];

const reducing = kernel("all_reduce", { x: view(f64), y: view(f32), s: sum(f64), m: max(f32) }, ({ x, y, s, m }, i) => {
  s.add(x[i]);
  m.max(y[i]);
});

/** What CUDA has and the stand-in for HIP's devices lacks. */
const CUDA = `#include <sched.h>
#include <stdlib.h>
#define __shfl_down_sync(mask, value, step) __shfl_down(value, step, 32)
static void __nanosleep(int) { sched_yield(); fake::wait(fake::READY); }
static void __trap() { abort(); }`;

describe("all-reduces in CUDA kernels", { skip: compiler ? false : "no compiler of C++ was found" }, () => {
  const folder = mkdtempSync(join(tmpdir(), "isoform-all-reduce-"));
  after(() => rmSync(folder, { recursive: true }));
  const compile = (...args: string[]) => {
    const { status, stderr } = spawnSync(compiler!, ["-std=gnu++17", "-O1", "-w", "-fno-strict-aliasing", "-U_FORTIFY_SOURCE", ...args], {
      encoding: "utf8",
    });
    assert.equal(status, 0, stderr);
  };

  it("give all GPUs the same results, turn after turn", () => {
    const source = cudaSource(compileKernel(reducing, {}), "fast")
      .replace(
        /asm volatile\("ld\.acquire.*/,
        "*first = __atomic_load_n(place, __ATOMIC_ACQUIRE); *second = __atomic_load_n(place + 1, __ATOMIC_ACQUIRE);",
      )
      .replace(/asm volatile\("mov\.u64.*/, "now = 0;")
      .replace(/asm volatile\("fence\.acq_rel.*/, "__sync_synchronize();");
    const fake = inSource("device/hip/fake-device.hpp");
    writeFileSync(join(folder, "kernel.cpp"), `#include "${fake}"\n${CUDA}\n${source}\nFAKE_ENTRY(all_reduce_kernel_finish)\n`);
    compile("-shared", "-fPIC", join(folder, "kernel.cpp"), "-o", join(folder, "0.so"));
    // The memory of blocks is static: each GPU has its own.
    for (const m of MEMBERS.slice(1)) copyFileSync(join(folder, "0.so"), join(folder, `${m - 1}.so`));
    compile(inSource("emit/c/all-reduce.cpp"), "-o", join(folder, "all-reduce"), "-ldl", "-lpthread");
    for (const members of MEMBERS)
      for (const blocks of [1, 3]) {
        const run = spawnSync(join(folder, "all-reduce"), [folder, `${members}`, `${blocks}`, "5"], { encoding: "utf8", timeout: 300_000 });
        assert.equal(run.stdout, "0 wrong\n", `${members} members, ${blocks} blocks: ${run.stderr}`);
      }
  });
});
