import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { range, teams, type Policy } from "../../../src/device/launch/policy.js";
import { BYTES, stridesOf } from "../../../src/device/memory/view.js";
import { partialCount } from "../../../src/ir/launch.js";
import { emitJs, type JsTarget } from "../../../src/emit/js/index.js";
import { compileKernel } from "../../../src/kernel/compile.js";
import { kernel, teamKernel, type Kernel } from "../../../src/kernel/declare/kernel.js";
import type { Params } from "../../../src/kernel/declare/params.js";
import { f32, f64, i32, max, scatter, sum, table, u32, view } from "../../../src/kernel/declare/params.js";

/** The code of a kernel whose arrays follow one another from address 0, for one worker unless asked otherwise. */
function code<P extends Params>(k: Kernel<P>, policy: Policy, shapes: Record<string, number[]>, options: Partial<JsTarget> = {}): string {
  const { ir } = compileKernel(k as unknown as Kernel, {});
  let address = 0;
  const take = (bytes: number): number => (address += bytes) - bytes;
  const views: JsTarget["views"] = {};
  const scatters: JsTarget["scatter"] = {};
  for (const p of ir.params) {
    if (p.kind !== "view" && p.kind !== "scatter") continue;
    const shape = shapes[p.name];
    views[p.name] = {
      element: p.element,
      shape,
      strides: stridesOf(shape, "right"),
      address: take(shape.reduce((a, b) => a * b, 1) * BYTES[p.element]),
    };
    if (p.kind === "scatter") scatters[p.name] = { strategy: "sorted" };
  }
  const scalars = { address: take(64) };
  const partials = Object.fromEntries(
    ir.params.filter((p) => p.kind === "reduce").map((p) => [p.name, { address: take(8 * partialCount(policy)) }]),
  );
  return emitJs({ ir, policy, workers: 1, views, scalars, partials, scatter: scatters, ...options });
}

const axpy = kernel("axpy", { a: f64, x: view(f64), y: view(f64) }, ({ a, x, y }, i) => {
  y[i] = a * x[i] + y[i];
});
const laplace = kernel("laplace", { p: view(f64, 2), s: view(f64, 2) }, ({ p, s }, i, j) => {
  s[i][j] = 4 * p[i][j] - p[i - 1][j] - p[i + 1][j] - p[i][j - 1] - p[i][j + 1];
});

describe("the JavaScript emitter", () => {
  it("writes arrays as constants and unrolls small bodies", () => {
    assert.equal(
      code(axpy, range(100), { x: [100], y: [100] }),
      `"use strict";
const x_ = new Float64Array(memory, 0, 100);
const y_ = new Float64Array(memory, 800, 100);
return function $kernel_axpy_(args, worker, workers) {
  const $scalars = new Float64Array(memory, 1600, 1);
  const a_ = $scalars[0];
  const $lo = Math.floor(1 * worker / workers), $hi = Math.floor(1 * (worker + 1) / workers);
  for (let $task = $lo; $task < $hi; $task++) {
    let $n = 0;
    for (const $last = 100 - 3; $n < $last; $n += 4) {
      { const $i0 = $n; y_[$i0] = a_ * x_[$i0] + y_[$i0]; }
      { const $i0 = $n + 1 | 0; y_[$i0] = a_ * x_[$i0] + y_[$i0]; }
      { const $i0 = $n + 2 | 0; y_[$i0] = a_ * x_[$i0] + y_[$i0]; }
      { const $i0 = $n + 3 | 0; y_[$i0] = a_ * x_[$i0] + y_[$i0]; }
    }
    for (; $n < 100; $n++) { const $i0 = $n; y_[$i0] = a_ * x_[$i0] + y_[$i0]; }
  }
};
`,
    );
  });

  it("takes rows out of the innermost loop", () => {
    const text = code(laplace, range([1, 9], [1, 19]), { p: [10, 20], s: [10, 20] });
    assert.match(text, /const \$row_ = Math\.imul\(\$i0, 20\);\n/);
    assert.match(
      text,
      /s_\[\$row_ \+ \$i1 \| 0\] = 4 \* p_\[\$row_ \+ \$i1 \| 0\] - p_\[\$row_ \+ \$i1 - 20 \| 0\] - p_\[\$row_ \+ \$i1 \+ 20 \| 0\]/,
    );
  });

  it("folds into eight lanes, and lanes into a partial for each chunk", () => {
    const dot = kernel("dot", { x: view(f64), y: view(f64), s: sum(f64) }, ({ x, y, s }, i) => {
      s.add(x[i] * y[i]);
    });
    const text = code(dot, range(1000), { x: [1000], y: [1000] });
    assert.match(text, /for \(let \$c = 0; \$c < 4; \$c\+\+\) \{/);
    assert.match(text, /\{ const \$i0 = \$n_ \+ 7 \| 0; \$lane_s_7_ = \$lane_s_7_ \+ x_\[\$i0\] \* y_\[\$i0\]; \}/);
    assert.match(
      text,
      /\$partials_s_\[\$c\] = \(\(\$lane_s_0_ \+ \$lane_s_4_\) \+ \(\$lane_s_2_ \+ \$lane_s_6_\)\) \+ \(\(\$lane_s_1_ \+ \$lane_s_5_\) \+ \(\$lane_s_3_ \+ \$lane_s_7_\)\);/,
    );
  });

  it("keeps parentheses that rounding needs, and no others", () => {
    const order = kernel("order", { x: view(f64), y: view(f64) }, ({ x, y }, i) => {
      y[i] = x[i] - (x[i] - (1 - x[i])) * 2 - -x[i] / (x[i] * 3);
    });
    assert.match(
      code(order, range(5), { x: [5], y: [5] }),
      /y_\[\$i0\] = x_\[\$i0\] - \(x_\[\$i0\] - \(1 - x_\[\$i0\]\)\) \* 2 - -x_\[\$i0\] \/ \(x_\[\$i0\] \* 3\);/,
    );
  });

  it("rounds after each operation of f32, and cuts integers to their type", () => {
    const types = kernel("types", { s: view(f32), n: view(i32), u: view(u32) }, ({ s, n, u }, i) => {
      s[i] = s[i] * s[i] + 1;
      n[i] = (n[i] + 1) * 3;
      u[i] = (u[i] * 5) >>> 0;
    });
    const text = code(types, range(5), { s: [5], n: [5], u: [5] });
    assert.match(text, /s_\[\$i0\] = Math\.fround\(Math\.fround\(s_\[\$i0\] \* s_\[\$i0\]\) \+ 1\);/);
    assert.match(text, /n_\[\$i0\] = Math\.imul\(n_\[\$i0\] \+ 1 \| 0, 3\);/);
    assert.match(text, /u_\[\$i0\] = Math\.imul\(u_\[\$i0\], 5\) >>> 0;/);
  });

  it("does not mistake a kernel's names for its own or for words of the language", () => {
    const names = kernel("names", { memory: view(f64), Math_: f64, worker: f64, $i0: view(f64) }, ({ memory, Math_, worker, $i0 }, i) => {
      const args = worker + 1;
      const delete_ = Math_ * args;
      $i0[i] = memory[i] + delete_;
    });
    const text = code(names, range(4), { memory: [4], $i0: [4] });
    const memory = new SharedArrayBuffer(256);
    const run = new Function("memory", "buffers", text)(memory, []) as (args: number, worker: number, workers: number) => void;
    new Float64Array(memory, 64, 2).set([3, 5]);
    run(0, 0, 1);
    assert.deepEqual([...new Float64Array(memory, 32, 4)], [18, 18, 18, 18]);
  });

  it("computes offsets beyond 2^31 without 32-bit integers", () => {
    const column = kernel("column", { x: view(f64, 2), y: view(f64) }, ({ x, y }, i) => {
      y[i] = x[i][7];
    });
    assert.match(code(column, range(3), { x: [70_000, 60_000], y: [3] }), /y_\[\$i0\] = x_\[\$i0 \* 60000 \+ 7\];/);
  });

  it("runs a team on one worker, and shares teams out", () => {
    const rows = teamKernel("rows", { x: view(f64, 2), m: max(f64), weights: table(f64, [1, 2]) }, ({ x, m, weights }, team) => {
      const total = team.sum(x[0].length, (j) => x[team.index][j] * weights[j % 2]);
      m.max(total);
    });
    const text = code(rows, teams(6), { x: [6, 50] });
    assert.match(text, /const weights_ = Float64Array\.of\(1, 2\);/);
    assert.match(text, /for \(let \$i0 = \$lo; \$i0 < \$hi; \$i0\+\+\) \{/);
    assert.match(text, /\$partials_m_\[\$i0\] = \$total_m_;/);
  });

  it("gives each worker its copy of a duplicated scatter target", () => {
    const bins = kernel("bins", { at: view(i32), h: scatter(f64) }, ({ at, h }, i) => {
      h.add(at[i], 1);
    });
    const text = code(
      bins,
      range(5000),
      { at: [5000], h: [10] },
      { workers: 3, scatter: { h: { strategy: "duplicated", copies: { address: 40_000, stride: 192 } } } },
    );
    assert.match(
      text,
      /const \$copies_h_ = \[new Float64Array\(memory, 20000, 10\), new Float64Array\(memory, 40000, 10\), new Float64Array\(memory, 40192, 10\)\];/,
    );
    assert.match(text, /const h_ = \$copies_h_\[worker\];/);
    assert.match(text, /h_\[at_\[\$i0\]\] \+= 1;/);
  });

  it("gives each worker a scatter cache of a target, and brings it there in the end", () => {
    const bins = kernel("bins", { at: view(i32), h: scatter(f64) }, ({ at, h }, i) => {
      h.add(at[i], 1);
    });
    const text = code(
      bins,
      range(5000),
      { at: [5000], h: [10] },
      { workers: 2, scatter: { h: { strategy: "cached", caches: { address: 40_000 } } } },
    );
    assert.match(text, /const h_ = new BigInt64Array\(memory, 20000, 10\);/);
    assert.match(text, /const \[\$lines_h_, \$values_h_\] = \$caches_h_\[worker\];/);
    assert.match(text, /\$place_h_\(\$lines_h_, \$values_h_, at_\[\$i0\]\); \$values_h_\[\$at\] \+= 1;/);
    assert.match(text, /\$spill_h_\(\$lines_h_, \$values_h_, \$n\);\n\};\n$/);
  });
});
