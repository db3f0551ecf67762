import assert from "node:assert/strict";
import { it } from "node:test";
import { foldConstants } from "../../../src/ir/constant-folding.js";
import { optimise } from "../../../src/ir/passes/optimise.js";
import { scalarise } from "../../../src/ir/passes/scalarise.js";
import { assignDirectly } from "../../../src/ir/passes/assign-directly.js";
import { forwardCopies } from "../../../src/ir/passes/forward-copies.js";
import { removeDead, removeOverwritten, removeUnusedTables } from "../../../src/ir/passes/tidy.js";
import { unroll } from "../../../src/ir/passes/unroll.js";
import { mapStmts } from "../../../src/ir/walk.js";
import { applicationKernels } from "../../device/gpu-sources.js";

/* Large kernels pass through all of these several times: what has nothing to do there must neither be copied nor walked again. */

const kernels = applicationKernels();
for (const [name, pass] of Object.entries({
  fold: foldConstants,
  unroll,
  scalarise,
  removeDead,
  removeOverwritten,
  forwardCopies,
  assignDirectly,
  removeUnusedTables,
  optimise,
}))
  it(`${name} gives back the very same kernel where it changes nothing`, () => {
    for (const { ir } of kernels) assert.equal(pass(ir), ir, ir.name);
  });

it("statements that a mapper leaves as they are stay the same objects", () => {
  for (const { ir } of kernels) assert.equal(mapStmts(ir.body, { expr: (expr) => expr, stmt: (stmt) => stmt }), ir.body);
});
