import assert from "node:assert/strict";
import { test } from "node:test";
import type { Norms } from "../../../apps/gsr/norms.js";
import { STOP_REASONS, stopRule } from "../../../apps/gsr/lsqr.js";

const far: Norms = { bnorm: 1, anorm: 10, rnorm: 0.5, arnorm: 1, xnorm: 1, dnorm: 3 };
const none = { atol: 0, btol: 0, conlim: 0 };

const CASES: [rule: number | undefined, norms: Partial<Norms>, tolerances: Partial<typeof none>, iteration: number][] = [
  [undefined, {}, {}, 1],
  [1, { rnorm: 1e-4 }, { btol: 1e-3 }, 1],
  [1, { rnorm: 5e-3 }, { atol: 1e-3 }, 1],
  [1, { rnorm: 0 }, {}, 1],
  [2, { arnorm: 1e-3 }, { atol: 1e-3 }, 1],
  [2, { arnorm: 0 }, {}, 1],
  [3, { dnorm: 1e3 }, { conlim: 1e4 }, 1],
  [undefined, { dnorm: 1e2 }, { conlim: 1e4 }, 1],
  [4, { rnorm: 1e-16 }, {}, 1],
  [5, { arnorm: 1e-16 }, {}, 1],
  [6, { dnorm: 1e16 }, {}, 1],
  [7, {}, {}, 100],
  [1, { rnorm: 0 }, {}, 100],
];

for (const [rule, norms, tolerances, iteration] of CASES)
  test(`istop ${rule ?? "none"} for ${JSON.stringify({ ...norms, ...tolerances, iteration })}`, () => {
    assert.equal(stopRule({ ...far, ...norms }, { ...none, ...tolerances }, iteration, 100), rule);
  });

test("every rule has its reason in words", () => {
  assert.equal(new Set(STOP_REASONS).size, 8);
});
