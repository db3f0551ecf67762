import assert from "node:assert/strict";
import test from "node:test";
import { emitHip, hipLanguage } from "../../../src/emit/c/hip.js";
import { defaultAssumptions } from "../../../src/schedule/lower.js";
import { f64, i32, kernel, view } from "../../../src/index.js";
import { compileKernel } from "../../../src/kernel/compile.js";
import type { Kernel } from "../../../src/kernel/declare/kernel.js";
import { matchesSnapshot } from "../snapshot.js";
import { dot, laplace, rowSums } from "./kernels.js";
import { hipSource } from "../sources.js";

const compiled = (kernel: unknown) => compileKernel(kernel as Kernel, {});

test("a strict reduction has eight threads a chunk, which shuffle without a mask", () =>
  matchesSnapshot("emit/c/dot.hip", hipSource(compiled(dot), "strict")));

test("a team is a block, whose threads shuffle by 32, be wavefronts of 32 or 64", () =>
  matchesSnapshot("emit/c/row-sums.hip", hipSource(compiled(rowSums))));

test("no words of CUDA's are left", () => {
  const sources = [hipLanguage.sort, hipLanguage.copies, hipSource(compiled(dot)), hipSource(compiled(rowSums))];
  for (const source of sources) assert.doesNotMatch(source, /_sync\(|__syncwarp|asm\(|__nanosleep|__trap/);
});

test("launch bounds tell the threads of a block only", () => {
  const { ir, access } = compiled(laplace);
  const { source } = emitHip(ir, access, defaultAssumptions(ir, false));
  assert.match(source, /__launch_bounds__\(\d+\) laplace_kernel/);
});

test("tables and integers are spelled without CUDA's assembler and conversions", () => {
  const absolute = kernel("absolute", { x: view(i32), y: view(f64) }, ({ x, y }, i) => {
    y[i] = Math.abs(x[i]) > 3 ? Infinity : NaN;
  });
  const source = hipSource(compiled(absolute), "strict");
  assert.match(source, /__builtin_inf\(\)/);
  assert.match(source, /int abs_i32\(int a\) \{ return a < 0/);
});
