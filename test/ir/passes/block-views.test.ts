import assert from "node:assert/strict";
import { test } from "node:test";
import { blockViews } from "../../../src/ir/passes/block-views.js";
import { printKernel } from "../../../src/ir/kernel-text.js";
import { verify } from "../../../src/ir/verify.js";
import { compileKernel } from "../../../src/kernel/compile.js";
import { kernel } from "../../../src/kernel/declare/kernel.js";
import { f64, i32, scatter, view } from "../../../src/kernel/declare/params.js";

const gather = kernel("gather", { at: view(i32), v: view(f64, 2), y: view(f64), h: scatter(f64, 2) }, ({ at, v, y, h }, i) => {
  y[i] = v[at[i]][2] + v.length + v[0].length + y.length;
  h.add(at[i], 1, y[i]);
});

test("views whose first axis is split are indexed by block, by what lies between, and by place", () => {
  const split = { block: 8, length: 100 };
  const ir = blockViews(
    compileKernel(gather).ir,
    new Map([
      ["v", split],
      ["at", split],
      ["h", { block: 2, length: 20 }],
    ]),
  );
  verify(ir);
  assert.equal(
    printKernel(ir),
    `kernel gather (range i)
  view at: i32[][]
  view v: f64[][][]
  view y: f64[]
  scatter h: f64[][][] sum
  y[i] = v[at[i >> 3][i & 7] >> 3][2][at[i >> 3][i & 7] & 7] + f64(100) + f64(v[0].length) + f64(y.length)
  scatter h[at[i >> 3][i & 7] >> 1][1][at[i >> 3][i & 7] & 1] <- y[i]
`,
  );
});
