import assert from "node:assert/strict";
import test from "node:test";
import { defaultAssumptions } from "../../../src/schedule/lower.js";
import { openclLanguage } from "../../../src/emit/c/opencl.js";
import { emitOpenMP } from "../../../src/emit/c/openmp.js";
import { f32, i32, kernel, view } from "../../../src/index.js";
import type { KnownIntegers } from "../../../src/ir/analysis/integer-ranges.js";
import { compileKernel } from "../../../src/kernel/compile.js";
import type { Kernel } from "../../../src/kernel/declare/kernel.js";
import { wgslSource } from "../sources.js";

/* i32 wraps: where C computes in 64 bits, or in an int whose overflow has no meaning, the text says so, and only where it must. */

const rows = kernel("rows", { n: i32, at: view(i32), x: view(f32), y: view(f32) }, ({ n, at, x, y }, i, j) => {
  y[i * n + j] = x[at[j] * 65536 + j] + x[at[j] + 1] + x[i - 2];
});
const shifted = kernel("shifted", { by: view(i32), x: view(f32), y: view(f32) }, ({ by, x, y }, i) => {
  const first = by[0];
  const at = first + i;
  y[i] = first + x[at + by[1]] + x[by[2] - at] + x[5 - by[3] + at];
});
const lines = kernel("lines", { at: view(i32), x: view(f32, 2), y: view(f32) }, ({ at, x, y }, i) => {
  y[i] = x[i][at[0] + at[1]] + x[i][at[2]];
});
const upTo = kernel("upTo", { n: i32, y: view(i32) }, ({ n, y }, i) => {
  for (let q = 0; q <= n; q++) y[i] = y[i] + q;
  for (let q = n + 3; q > n - 4; q -= 2) y[i] = y[i] + q;
});

const compiled = (code: unknown) => compileKernel(code as Kernel, {});

function inC(code: unknown, sizes: KnownIntegers): string {
  const { ir, access } = compiled(code);
  const strides = { at: [1], by: [1], x: code === lines ? [3, 1] : [1], y: [1] };
  return emitOpenMP(ir, access, { strides, disjoint: true, ordered: true, sizes, scatter: {} }).source;
}

function inOpencl(code: unknown, sizes: KnownIntegers): string {
  const { ir, access } = compiled(code);
  const language = openclLanguage({ f64: true, atomics64: true, exactF32: true, subGroups: false });
  return language.emit(ir, access, { ...defaultAssumptions(ir, true), sizes }).source;
}

test("indices of a settled launch are sums in 64 bits; what is read wraps where its sum may come back into the array", () => {
  const text = inC(rows, "settled");
  assert.match(text, /\[i \* \(int64_t\)n_ \+ j\]/);
  assert.match(text, /\[\(int64_t\)\(at_?\[j\] \* 65536\) \+ j\]/);
  assert.match(text, /\[\(int64_t\)at_?\[j\] \+ 1\]/);
  assert.match(text, /\[i - 2\]/);
});

test("counters are added in 64 bits to what wraps, also through locals", () => {
  const text = inC(shifted, "settled");
  assert.match(text, /x_?\[\(int64_t\)\(first_? \+ by_?\[1\]\) \+ i\]/);
  assert.match(text, /x_?\[by_?\[2\] - at_?\]/);
  assert.match(text, /x_?\[\(int64_t\)\(5 - by_?\[3\] \+ first_?\) \+ i\]/);
});

test("a sum that wraps does so among other axes, too", () => {
  assert.match(inC(lines, "settled"), /x_?\[i \* 3 \+ \(int64_t\)\((at_?\[0\]|uniform\w*) \+ (at_?\[1\]|uniform\w*)\)\]/);
});

test("of small launches only products wrap, of any launch all that may", () => {
  assert.match(inC(rows, "small"), /\[\(int64_t\)\(\(int32_t\)i \* n_?\) \+ j\]/);
  assert.match(inC(rows, "small"), /\[i - 2\]/);
  assert.match(inC(rows, "any"), /\[\(int32_t\)i - 2\]/);
});

test("the stop of a loop that runs for its bound is one beyond it in 64 bits; other stops wrap", () => {
  const text = inC(upTo, "small");
  assert.match(text, /q_stop_ = \(int64_t\)n_? \+ 1;/);
  assert.match(text, /for \(int64_t q_? = 0; q_? < q_stop_; q_?\+\+\)/);
  assert.match(text, /for \(int64_t \w+ = n_ \+ 3; \w+ > n_ - 4; \w+ \+= -2\)/);
});

test("counters of 32 bits ask before they step; in settled launches they need not", () => {
  for (const text of [inOpencl(upTo, "small")]) {
    assert.match(text, /\} while \(\(uint\)n_? - \(uint\)q_? >= 1u && \(q_? \+= 1, true\)\);/);
    assert.match(text, /> 2u && \(\w+ \+= -2, true\)\);/);
  }
  assert.doesNotMatch(inOpencl(upTo, "settled"), /while/);
  assert.match(wgslSource(compiled(upTo)), /let more\w* = u32\(\w+ - \w+\) >= 1u;/);
});
