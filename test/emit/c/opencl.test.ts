import assert from "node:assert/strict";
import test from "node:test";
import { bool, f32, f64, i32, kernel, max, scatter, sum, teamKernel, view } from "../../../src/index.js";
import type { OpenclFeatures } from "../../../src/emit/c/opencl/dialect.js";
import { openclLanguage } from "../../../src/emit/c/opencl.js";
import { defaultAssumptions } from "../../../src/schedule/lower.js";
import type { GpuAssumptions } from "../../../src/schedule/program.js";
import { compileKernel } from "../../../src/kernel/compile.js";
import type { Kernel } from "../../../src/kernel/declare/kernel.js";
import { matchesSnapshot } from "../snapshot.js";
import { axpy, dot, histogram, laplace, rowSums } from "./kernels.js";
import { openclSource } from "../sources.js";

const ALL: OpenclFeatures = { f64: true, atomics64: true, exactF32: true, subGroups: false };

const compiled = (kernel: unknown) => compileKernel(kernel as Kernel, {});

function emit(kernel: unknown, assumptions: Partial<GpuAssumptions> = {}, features = ALL) {
  const { ir, access } = compiled(kernel);
  return openclLanguage(features).emit(ir, access, { ...defaultAssumptions(ir, assumptions.strict ?? false), ...assumptions });
}

test("axpy is one work-item an element", () => matchesSnapshot("emit/c/axpy.cl", openclSource(compiled(axpy))));

test("a strict reduction has eight work-items a chunk, and folds them through local memory", () =>
  matchesSnapshot("emit/c/dot.cl", openclSource(compiled(dot), "strict")));

test("a team is a work-group", () => matchesSnapshot("emit/c/row-sums.cl", openclSource(compiled(rowSums))));

test("strict code forbids contraction, fast code does not", () => {
  assert.match(openclSource(compiled(axpy), "strict"), /^#pragma OPENCL FP_CONTRACT OFF$/m);
  assert.doesNotMatch(openclSource(compiled(axpy), "fast"), /FP_CONTRACT/);
});

test("each pointer comes with its first element, and no parameter is a bool", () => {
  const flagged = kernel("flagged", { x: view(f32), on: bool }, ({ x, on }, i) => {
    x[i] = on ? 1 : 2;
  });
  const { main, source } = emit(flagged);
  assert.deepEqual(main.params[0], { slot: { kind: "view", name: "x" }, type: "pointer", element: "f32" });
  assert.match(source, /__global float \*restrict x_, const long x_first_, const uchar on_/);
  assert.match(source, /^ {2}x_ \+= x_first_;$/m);
});

test("words and macros of the language are in front of an underscore", () => {
  const named = kernel("named", { x: view(f64) }, ({ x }, i) => {
    const half = x[i] / 2;
    const M_PI = half + 3;
    const float4 = M_PI * half;
    x[i] = half + M_PI + float4;
  });
  const { source } = emit(named);
  assert.match(source, /double half_ = .*\n\s+double M_PI_ = .*\n\s+double float4_ = /);
});

test("the shape of a work-group is told to the compiler where all launches have it", () => {
  const size = (row?: number) => /reqd_work_group_size\(([^)]*)\)/.exec(emit(laplace, { row }).source)?.[1];
  assert.equal(size(), undefined);
  assert.equal(size(64), "32, 4, 1");
});

test("floats are added by compare-and-exchange where they lie, integers by the function that there is", () => {
  const { source } = emit(histogram, { scatter: { h: "shared" } });
  assert.match(source, /atomic_sum_f64_shared\(&h_copy_\[/);
  assert.match(source, /atomic_sum_f64_global\(&h_\[/);
  assert.match(source, /void atomic_sum_f64_shared\(volatile __local double \*place, double value\)/);
  const counted = kernel("counted", { h: scatter(i32, 1, "max") }, ({ h }, i) => h.max(0, i));
  assert.match(emit(counted).source, /atomic_max\(&h_\[0\], i\);/);
});

test("NVIDIA's GPUs add floats in memory by their own instruction", () => {
  const { source } = emit(histogram, { scatter: { h: "shared" } }, { ...ALL, ptx: true });
  assert.match(source, /asm volatile\("red\.global\.add\.f64 \[%0\], %1;" : : "l"\(place\), "d"\(value\) : "memory"\);/);
  assert.match(source, /void atomic_sum_f64_shared\([^)]*\) \{\n.*ulong \*cell/, "by compare-and-exchange in local memory");
});

test("local arrays are declared before anything else, whatever loop they are used in", () => {
  const tiles = teamKernel("tiles", { x: view(f64), turns: i32 }, ({ x, turns }, team) => {
    for (let turn = 0; turn < turns; turn++) {
      const tile = team.scratch("f64", 16);
      team.range(16, (j) => {
        tile[j] = j;
      });
      team.single(() => {
        x[team.index] = tile[turn];
      });
    }
  });
  assert.match(emit(tiles).source, /\) \{\n {2}__local double tile_\[16\];\n/);
});

test("without f64 and wide atomics no extension is asked for", () => {
  const small = kernel("small", { x: view(f32) }, ({ x }, i) => {
    x[i] = x[i] / 0;
  });
  const { source } = emit(small, {}, { ...ALL, f64: false, atomics64: false });
  assert.doesNotMatch(source, /EXTENSION|double/);
});

test("strict code divides f32 in f64 where the device's own division is rough, fast code does not", () => {
  const ratio = kernel("ratio", { x: view(f32), y: view(f32) }, ({ x, y }, i) => {
    y[i] = Math.sqrt(x[i] / y[i]);
  });
  const source = (strict: boolean, exactF32: boolean) => emit(ratio, { strict }, { ...ALL, exactF32 }).source;
  assert.match(source(true, false), /y_\[i\] = sqrt_f32\(div_f32\(x_\[i\], y_\[i\]\)\);/);
  assert.match(source(true, false), /static float sqrt_f32\(float a\)/);
  for (const [strict, exact] of [
    [true, true],
    [false, false],
  ])
    assert.match(source(strict, exact), /y_\[i\] = sqrt\(x_\[i\] \/ y_\[i\]\);/);
});

test("sub-groups fold sums, and what is exact, before local memory does", () => {
  const both = kernel("both", { x: view(f64), s: sum(f64), m: max(f64), k: max(i32) }, ({ x, s, m, k }, i) => {
    s.add(x[i]);
    m.max(x[i]);
    k.max(i);
  });
  const { source } = emit(both, {}, { ...ALL, subGroups: true });
  assert.match(source, /s_ = sub_group_reduce_add\(s_\);\n {2}if \(get_sub_group_local_id\(\) == 0\) parts_\[get_sub_group_id\(\)\] = s_;/);
  assert.match(source, /k_ = sub_group_reduce_max\(k_\);/);
  assert.doesNotMatch(source, /m_ = sub_group/);
  assert.doesNotMatch(emit(both, { strict: true }, { ...ALL, subGroups: true }).source, /sub_group/);
});
