import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { devices } from "isoform/set";
import { compareProgress } from "./read-progress.js";
import { Simulation } from "../../../apps/navier-stokes/simulation/simulation.js";
import { CONFIGURATIONS } from "./configurations.js";
import { CLOSE, goldenConfig, goldenFlow, linesOf } from "./golden-runs.js";
import type { GoldenLines } from "./golden.js";
import { linesOfOriginal, ORIGINAL } from "./original.js";

/*
 * All columns of ten steps, beside those that the original prints when it is run now. ISOFORM_STREAMS2 names its executable; without that there is nothing
 * to do. The table of differences is in the application's README.
 */

const STEPS = 10;

const skip = ORIGINAL === undefined && "ISOFORM_STREAMS2 does not name the original's executable";
const set = await devices("wasm");

for (const name of Object.keys(CONFIGURATIONS) as GoldenLines["set"][])
  describe(`set ${name} beside the original`, { skip }, () => {
    const all = [...linesOf(name).map(({ keys }) => keys), ...CONFIGURATIONS[name]];
    for (const keys of all)
      it(JSON.stringify(keys), async (test) => {
        const golden = { set: name, keys };
        const lines = linesOfOriginal(goldenConfig(golden), STEPS);
        assert.equal(lines.length, STEPS, "the original gives up");
        const simulation = await Simulation.create(set, goldenFlow(golden));
        let worst = { step: 0, column: "", error: 0 };
        for (const expected of lines) {
          await simulation.run(1);
          for (const { column, error } of compareProgress(await simulation.progress(), expected))
            if (!(error <= worst.error)) worst = { step: expected.step, column, error };
        }
        simulation.free();
        const found = `${worst.error.toExponential(1)} in step ${worst.step}, ${worst.column}`;
        test.diagnostic(found);
        assert.ok(worst.error < CLOSE[name], found);
      });
  });
