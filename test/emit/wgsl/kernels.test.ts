import assert from "node:assert/strict";
import test from "node:test";
import { f32, i32, kernel, scatter, sum, table, teamKernel, u8, view } from "../../../src/index.js";
import { compileKernel } from "../../../src/kernel/compile.js";
import type { Kernel } from "../../../src/kernel/declare/kernel.js";
import { matchesSnapshot } from "../snapshot.js";
import { wgslSource } from "../sources.js";

const axpy = kernel("axpy", { a: f32, x: view(f32), y: view(f32) }, ({ a, x, y }, i) => {
  y[i] = a * x[i] + y[i];
});
const laplace = kernel("laplace", { p: view(f32, 3), s: view(f32, 3) }, ({ p, s }, i, j, k) => {
  s[i][j][k] = 6 * p[i][j][k] - p[i + 1][j][k] - p[i - 1][j][k] - p[i][j + 1][k] - p[i][j - 1][k] - p[i][j][k + 1] - p[i][j][k - 1];
});
const dot = kernel("dot", { x: view(f32), y: view(f32), s: sum(f32) }, ({ x, y, s }, i) => {
  s.add(x[i] * y[i]);
});
const histogram = kernel("histogram", { at: view(i32), x: view(f32), h: scatter(f32) }, ({ at, x, h }, i) => {
  h.add(at[i], x[i]);
});
const normalised = teamKernel("normalised", { x: view(f32, 2), y: view(f32, 2) }, ({ x, y }, team) => {
  const row = team.index;
  const total = team.sum(x[0].length, (j) => x[row][j]);
  if (total > 0) {
    team.range(x[0].length, (j) => {
      y[row][j] = x[row][j] / total;
    });
  }
});

const source = (of: unknown, precision: "strict" | "fast" = "fast") => wgslSource(compileKernel(of as Kernel, {}), precision);

test("axpy is one invocation an element", () => matchesSnapshot("emit/wgsl/axpy.wgsl", source(axpy)));

test("a stencil has invocations along the last axis", () => matchesSnapshot("emit/wgsl/laplace.wgsl", source(laplace)));

test("a strict reduction has eight invocations a chunk", () => matchesSnapshot("emit/wgsl/dot.wgsl", source(dot, "strict")));

test("scatter of floats compares and exchanges bits, or records in strict mode", () => {
  assert.match(source(histogram), /atomicCompareExchangeWeak\(&h_\[i\], seen, wanted\)/);
  assert.match(source(histogram, "strict"), /temporary__set_u32\(launch\.keys_h_ \+ h_slot_, u32\(at_\[i\]\) \+ 1u\)/);
});

test("keys of recorded contributions are computed in the order of the source's indices", () => {
  const pairs = kernel("pairs", { at: view(i32), h: scatter(f32, 2) }, ({ at, h }, i) => {
    h.add(i, at[i] & 7, 1);
  });
  assert.match(source(pairs, "strict"), /u32\(\(i\) \* launch\.extent_h_1_ \+ \(at_\[i\] & 7\)\) \+ 1u/);
});

test("what all members of a team decide is known to be uniform", () => {
  const text = source(normalised, "strict");
  assert.match(text, /let known_ = workgroupUniformLoad\(&decided_bool_\);\n\s+if known_ \{/);
});

test("arithmetic of strict mode is hidden from compilers that contract, and only that", () => {
  assert.match(source(axpy, "strict"), /rounded\(rounded\(launch\.scalar_a_ \* x_\[i\]\) \+ y_\[i\]\)/);
  assert.doesNotMatch(source(axpy), /rounded/);
});

test("tables that no constant may hold are kept as bits", () => {
  const looked = kernel("looked", { y: view(f32), t: table(f32, [1, Infinity, -0]) }, ({ y, t }, i) => {
    y[i] = t[i % 3];
  });
  assert.match(source(looked), /const t_ = array<u32, 3>\(1065353216u, 2139095040u, 2147483648u\);/);
});

test("both sides of a condition are evaluated unless the second is dear", () => {
  const chosen = kernel("chosen", { x: view(f32), y: view(f32) }, ({ x, y }, i) => {
    if (x[i] > 0 && y[i] > 0) y[i] = 1;
    if (x[i] > 0 || Math.exp(y[i]) > 2) y[i] = 2;
  });
  assert.match(source(chosen), /\(\(x_\[i\] > 0\.0f?\) & \(y_\[i\] > 0\.0f?\)\)/);
  assert.match(source(chosen), /\(\(x_\[i\] > 0\.0f?\) \|\| \(exp_f32\(.*\) > 2\.0f?\)\)/);
});

test("bytes that are written share their word with others", () => {
  const flags = kernel("flags", { b: view(u8) }, ({ b }, i) => {
    b[i] = i;
  });
  assert.match(source(flags), /atomicOr\(&b_\[i >> 2u\], \(u32\(value\) & 255u\) << shift\)/);
});
