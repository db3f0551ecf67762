import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { campaign } from "./campaign.js";
import { near } from "./check.js";
import { sourceOf } from "./program.js";

describe("random kernels", () => {
  it("have functions that are not exact, indices from data, deep nesting, text of minifiers and hostile names", async () => {
    const sources: string[] = [];
    await campaign({ runs: 600, seed: 1, check: (program) => Promise.resolve(void sources.push(sourceOf(program))) });
    for (const sign of [
      /inexact_\w\S* = .*(\*\*|,) 0\.5\)/,
      /inexact_f\[i\]\[j\] = Math\.fround\(Math\.\w+\(/,
      /\w+\[lookup\[.*\]\]/,
      /hist\.\w+\(lookup\[/,
      /\({40}/,
      /\(\{xd:aa,.*\},i\)=>\{.*let \w+=/,
      /[;{]\(.*\)&&\(\(\w+/,
      /let M_PI = /,
      /(let|const) constructor = /,
      /let π = /,
    ])
      assert.ok(
        sources.some((source) => sign.test(source)),
        String(sign),
      );
  });
  it("are judged by special cases and units in the last place where they are not exact", () => {
    assert.ok(near("f64", NaN, NaN) && near("f64", 1, 1 + 2 * Number.EPSILON) && near("f32", 1, Math.fround(1 + 2 ** -22)));
    assert.ok(near("f64", 1e-310, 1e-310 + 5e-324));
    assert.ok(!near("f64", 0, -0) && !near("f64", Infinity, Number.MAX_VALUE) && !near("f64", 1, NaN));
    assert.ok(!near("f64", 1, 1 + 4 * Number.EPSILON) && !near("f32", 1, Math.fround(1 + 2 ** -20)) && !near("f64", 0, 5e-324));
  });
});
