import assert from "node:assert/strict";
import test from "node:test";
import { getField, layOut, setField } from "../../../src/emit/c/arguments.js";
import { emitOpenMP, type OpenMPOptions } from "../../../src/emit/c/openmp.js";
import { f64, i32, kernel, teamKernel, view } from "../../../src/index.js";
import { compileKernel } from "../../../src/kernel/compile.js";
import type { Kernel } from "../../../src/kernel/declare/kernel.js";
import { slotText } from "../../../src/schedule/slots.js";
import { matchesSnapshot } from "../snapshot.js";
import { axpy, dot, histogram, laplace, rowSums } from "./kernels.js";

function emit(kernel: unknown, strides: OpenMPOptions["strides"], options: Partial<OpenMPOptions> = {}) {
  const { ir, access } = compileKernel(kernel as Kernel, {});
  return emitOpenMP(ir, access, { strides, disjoint: true, ordered: true, sizes: "settled", scatter: {}, ...options });
}

const body = (source: string) => source.replace(/\s+/g, " ");

test("axpy is one vector loop", () => matchesSnapshot("emit/c/axpy.c", emit(axpy, { x: [1], y: [1] }).source));

test("a stencil keeps the loops of its range, and streams its stores where that is asked for", () => {
  const source = (streaming: boolean) => emit(laplace, { p: [4000, 50, 1], s: [4000, 50, 1] }, { streaming }).source;
  matchesSnapshot("emit/c/laplace.c", source(true));
  assert.doesNotMatch(source(false), /stream/);
});

test("a reduction folds 8 lanes in chunks of 256", () => matchesSnapshot("emit/c/dot.c", emit(dot, { x: [1], y: [1] }).source));

test("a team runs on one worker", () => matchesSnapshot("emit/c/row-sums.c", emit(rowSums, { a: [64, 1], s: [1] }).source));

test("scatter strategies differ where the update is", () => {
  const source = (strategy: "atomic" | "duplicated" | "cached" | "sorted") =>
    emit(histogram, { x: [1], h: [1] }, { scatter: { h: strategy } }).source;
  assert.match(source("atomic"), /#pragma omp atomic\n\s+h_\[/);
  assert.doesNotMatch(source("sorted"), /omp atomic|h__copies/);
  assert.match(source("cached"), /\*cached_sum_f64\(h_cache_, h_, .*\) \+= 1\.0;[^]*spill_cache_sum_f64\(h_cache_, args->h_\);/);
  assert.match(source("duplicated"), /double \*h_ = worker == 0 \? args->h_ : \(double \*\)\(args->h__copies/);
});

test("pointers are restrict only where memory is disjoint", () => {
  assert.match(emit(axpy, { x: [1], y: [1] }).source, /double \*restrict y/);
  assert.doesNotMatch(emit(axpy, { x: [1], y: [1] }, { disjoint: false }).source, /restrict/);
});

test("a large stride is an argument, equal ones share it, a small one is a constant", () => {
  const { source, fields } = emit(axpy, { x: [300], y: [300] });
  assert.match(source, /y_\[i \* x_stride0_\] = a_ \* x_\[i \* x_stride0_\] \+ y_\[i \* x_stride0_\];/);
  assert.deepEqual(
    fields.map(({ slot }) => slotText(slot)).filter((text) => text.startsWith("stride")),
    ["stride:x:0"],
  );
  assert.match(emit(axpy, { x: [3], y: [300] }).source, /y_\[i \* y_stride0_\] = a_ \* x_\[i \* 3\] \+/);
});

test("a body that computes for long is compiled for one way to store", () => {
  const powers = (n: number) =>
    kernel(
      "powers",
      { x: view(f64), y: view(f64) },
      ({ x, y }, i) => {
        let sum = 0;
        for (let k = 0; k < n; k++) sum = (sum + k) * x[i];
        y[i] = sum;
      },
      () => [n],
    );
  assert.deepEqual(emit(powers(10), { x: [1], y: [1] }).streamed, ["y"]);
  assert.deepEqual(emit(powers(60), { x: [1], y: [1] }).streamed, []);
});

test("what is read or written under a condition is not streamed", () => {
  const both = kernel("both", { x: view(f64), y: view(f64) }, ({ x, y }, i) => {
    if (x[i] > 0) y[i] = x[i];
  });
  assert.deepEqual(emit(both, { x: [1], y: [1] }).streamed, []);
  assert.deepEqual(emit(axpy, { x: [1], y: [1] }).streamed, []);
  assert.deepEqual(emit(laplace, { p: [4000, 50, 1], s: [4000, 50, 1] }).streamed, ["s"]);
  assert.deepEqual(emit(laplace, { p: [1, 50, 4000], s: [1, 50, 4000] }).streamed, ["s"]);
  assert.deepEqual(emit(laplace, { p: [8000, 100, 2], s: [8000, 100, 2] }).streamed, []);
});

test("operators that C leaves undefined become helpers", () => {
  const ints = kernel("ints", { x: view(i32), y: view(i32), o: view(i32) }, ({ x, y, o }, i) => {
    o[i] = ((x[i] / y[i]) | 0) + (x[i] % 3) + (x[i] << y[i]);
  });
  const source = body(emit(ints, { x: [1], y: [1], o: [1] }).source);
  assert.match(source, /o_\[i\] = div_i32\(x_\[i\], y_\[i\]\) \+ x_\[i\] % 3 \+ \(int32_t\)\(\(uint32_t\)x_\[i\] << \(y_\[i\] & 31\)\);/);
});

test("a shift by a sum says what is masked", () => {
  const bits = kernel("bits", { n: i32, m: view(i32) }, ({ n, m }, i) => {
    m[i] = (m[i] >> (n + 1)) & 1;
  });
  assert.match(emit(bits, { m: [1] }).source, /m_\[i\] = \(m_\[i\] >> \(\(n_ \+ 1\) & 31\)\) & 1;/);
});

test("words of C are in front of an underscore", () => {
  const odd = kernel("double", { register: view(f64), int: f64 }, ({ register, int }, i) => {
    const exp = int;
    register[i] = exp * 2;
  });
  const { source, entry } = emit(odd, { register: [1] });
  assert.equal(entry, "double_kernel_");
  assert.match(source, /register_\[i\] = /);
});

test("the argument struct has no padding and takes 64-bit values", () => {
  const member = (name: string, type: "bool" | "f64" | "i32" | "pointer", length = 1) => ({ slot: name, name, type, declared: "", length });
  const { fields, size } = layOut([member("b", "bool"), member("n", "i32"), member("p", "pointer"), member("x", "f64", 2)]);
  assert.deepEqual(
    fields.map((f) => [f.name, f.offset]),
    [
      ["p", 0],
      ["x", 8],
      ["n", 24],
      ["b", 28],
    ],
  );
  assert.equal(size, 32);
  const data = new DataView(new ArrayBuffer(size));
  setField(data, fields[0], 2n ** 63n - 1n);
  setField(data, fields[1], -0.5, 1);
  setField(data, fields[2], -7);
  assert.equal(data.getBigInt64(0, true), 2n ** 63n - 1n);
  assert.equal(data.getFloat64(16, true), -0.5);
  assert.equal(getField(data, fields[2]), -7);
});

test("sums over lanes are vector loops in any order, also of what is gathered", () => {
  const product = teamKernel("product", { at: view(i32), a: view(f64, 2), x: view(f64), y: view(f64) }, ({ at, a, x, y }, team) => {
    team.range(8, (j, lanes) => {
      const row = team.index * 8 + j;
      y[row] = lanes.sum(a[0].length, (k) => a[row][k] * x[at[k]]);
    });
  });
  const strides = { at: [1], a: [64, 1], x: [1], y: [1] };
  const fast = body(emit(product, strides, { ordered: false }).source);
  assert.match(fast, /#pragma omp simd reduction\(\+:(\w+)\) for \(int64_t j_2_ = 0; [^{]*\{ \1 \+= /);
  assert.doesNotMatch(emit(product, strides).source, /reduction\(\+/);
});

test("tiles are loops around a part, and scratch of level 1 a row for each worker", () => {
  const source = body(emit(laplace, { p: [4000, 50, 1], s: [4000, 50, 1] }, { tiled: true }).source);
  assert.match(source, /int64_t tile\[3\];/);
  assert.match(source, /for \(int64_t tile0 = begin\[0\]; tile0 < end\[0\]; tile0 \+= args->tile\[0\]\) \{ const int64_t tile0_end/);
  assert.match(source, /, tile0, tile0_end, tile1, tile1_end, tile2, tile2_end\);/);
  const held = teamKernel("held", { n: i32, y: view(f64) }, ({ n, y }, team) => {
    const row = team.scratch("f64", n, { level: 1 });
    team.range(n, (j) => {
      row[j] = j;
    });
    y[team.index] = team.sum(n, (j) => row[j]);
  });
  const text = body(emit(held, { y: [1], scratch: [64, 1] }).source);
  assert.match(text, /scratch_\[place \* scratch_stride0_ \+ j_\] = \(double\)/);
  assert.match(text, /held_part_\([^;]*, worker, first, last\);/);
});

test("sums over elements far apart, in a number of turns that is not known, are kept from vector instructions", () => {
  const sums = kernel("sums", { n: i32, at: view(i32), x: view(f64, 2), y: view(f64) }, ({ n, at, x, y }, i) => {
    if (at[i] > 0) {
      let sum = 0;
      for (let k = 0; k < n; k++) sum += x[k][i];
      y[i] = sum;
    }
  });
  const plain = kernel("plain", { n: i32, x: view(f64, 2), y: view(f64) }, ({ n, x, y }, i) => {
    let sum = 0;
    for (let k = 0; k < n; k++) sum += x[k][i];
    y[i] = sum;
  });
  const alone = '__asm__ volatile("");';
  const strides = { at: [1], y: [1] };
  assert.ok(emit(sums, { ...strides, x: [4000, 1] }).source.includes(alone));
  // Elements side by side take such turns together.
  assert.match(emit(plain, { y: [1], x: [4000, 1] }).source, /strip_end/);
  assert.ok(!emit(sums, { ...strides, x: [1, 4000] }).source.includes(alone));
});

test("sums over short records are left to the compiler, unless much hangs on a condition", () => {
  const short = kernel("short", { first: view(i32), x: view(f64, 2), y: view(f64) }, ({ first, x, y }, i) => {
    let sum = 0;
    for (let k = first[i]; k < first[i + 1]; k++) {
      const near = 1 - x[k][0] * x[k][1];
      if (near > 0) sum += near * near;
    }
    y[i] = sum;
  });
  const long = kernel("long", { first: view(i32), x: view(f64, 2), y: view(f64) }, ({ first, x, y }, i) => {
    let sum = 0;
    for (let k = first[i]; k < first[i + 1]; k++) {
      const near = 1 - x[k][0] * x[k][1];
      if (near > 0) sum += 1 / (near * near * near + 2 * near * near + 3 * near * x[k][0] + 4 * x[k][1]);
    }
    y[i] = sum;
  });
  const kept = (of: unknown): boolean => emit(of, { first: [1], x: [2, 1], y: [1] }).source.includes("__asm__");
  assert.deepEqual([kept(short), kept(long)], [false, true]);
});

test("private sums of known length are vector loops in any order", () => {
  const sums = kernel("sums", { n: i32, first: view(i32), x: view(f64, 2), y: view(f64, 2) }, ({ n, first, x, y }, i) => {
    let [near, far] = [0, 0];
    for (let k = 0; k < n; k++) near += x[k][0] * x[k][2] - x[i][1];
    for (let k = first[i]; k < n; k++) far -= x[k][1];
    y[i][0] = near;
    y[i][1] = far;
  });
  const strides = { first: [1], x: [3, 1], y: [3, 1] };
  const fast = body(emit(sums, strides, { ordered: false }).source);
  assert.deepEqual(fast.match(/#pragma omp simd reduction\(\+:\w+\) for \(int64_t \w+ = 0; /g)?.length, 1);
  assert.match(fast, /reduction\(\+:near_\)/);
  assert.doesNotMatch(emit(sums, strides).source, /reduction\(\+/);
  assert.doesNotMatch(emit(sums, { ...strides, x: [5, 1] }, { ordered: false }).source, /reduction\(\+/);
});
