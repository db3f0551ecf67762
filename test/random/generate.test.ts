import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { campaign } from "./campaign.js";
import { near } from "./check.js";
import { sourceOf } from "./program.js";

describe("random kernels", () => {
  it("have functions that are not exact, indices from data, deep nesting, counters at the limits of u32, text of minifiers and hostile names", async () => {
    const signs = [
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
      /for \(let k\d+ = .*>>> 0\), t\d+ = 0; .*k\d+ >= 0.*; /,
      /for \(let k\d+ = .*; \(?t\d+.* && k\d+ <= 4294967295/,
      /switch \(.*\) \{\n *(case -?\d: )+default: \{/,
      /if \(.*\) break;\n[^}]*\} break;\n/,
      /for \(const \[k\d+, v\d+\] of \w+\.entries\(\)\)/,
      /for \(const k\d+ of span\(.*, 5, 2\)/,
      /(r\d+) = \{ \.\.\.\(\1\), c: /,
      /Number\.isInteger\(/,
      /let (u\d+) = vec\w+\([^]*\b\1 = [^;]*\.max\(\1/,
      /u\d+\.with\(/,
      /let u\d+ = mat2\(/,
      /\.normalize\(\)\.rotate\(/,
      /const (q\d+) = array\(\w+, 3\);\n[^]*\1\[2\]\.\w+ = /,
      /\bcvec3\[i\] = /,
      /\bn_(add|sub|min|max|and|or|xor)\.\w+\(/,
    ];
    // Some kinds are rare: more programs until each has been seen.
    let missing: readonly RegExp[] = signs;
    for (let seed = 1; missing.length > 0 && seed <= 60; seed++) {
      const sources: string[] = [];
      await campaign({ runs: 300, seed, check: (program) => Promise.resolve(void sources.push(sourceOf(program))) });
      missing = missing.filter((sign) => !sources.some((source) => sign.test(source)));
    }
    assert.deepEqual(missing, []);
  });
  it("are judged by special cases and units in the last place where they are not exact", () => {
    assert.ok(near("f64", NaN, NaN) && near("f64", 1, 1 + 2 * Number.EPSILON) && near("f32", 1, Math.fround(1 + 2 ** -22)));
    assert.ok(
      near("f64", 1e-310, 1e-310 + 5e-324) && near("f64", -Number.MAX_VALUE, -Infinity) && !near("f64", Number.MAX_VALUE, -Infinity),
    );
    assert.ok(!near("f64", 0, -0) && !near("f64", Infinity, Number.MAX_VALUE) && !near("f64", 1e308, Infinity) && !near("f64", 1, NaN));
    assert.ok(!near("f64", 1, 1 + 4 * Number.EPSILON) && !near("f32", 1, Math.fround(1 + 2 ** -20)) && !near("f64", 0, 5e-324));
  });
});
