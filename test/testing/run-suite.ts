import assert from "node:assert/strict";
import { it } from "node:test";
import type { Capabilities } from "../../src/device/device.js";
import type { Rung, RungResult } from "../../src/testing/index.js";

/** Rungs that fold by atomic comparisons, which an emulated f64 has not. */
const COMPARING: readonly number[] = [77, 78];

/** How many of the rungs a device need not climb: those of f64 where it has none, and some of them where it emulates it. */
const excused = (rungs: readonly Rung[], { f64, f64Bits }: Capabilities): number =>
  f64 && f64Bits === undefined ? 0 : rungs.filter(({ real, number }) => real === "f64" && (!f64 || COMPARING.includes(number))).length;

/** A test for each rung, and one that counts what was climbed. `of` is called when the tests run. */
export function climb(
  title: string,
  rungs: readonly Rung[],
  of: () => Capabilities,
  run: (rung: Rung) => Promise<Omit<RungResult, "rung">>,
): void {
  let climbed = 0;
  for (const rung of rungs)
    it(`${rung.number} ${rung.title}`, async (t) => {
      const { excuse, error } = await run(rung);
      if (error) throw error;
      if (excuse !== undefined) return t.skip(excuse);
      climbed++;
    });
  it("has climbed every rung that it must", (t) => {
    t.diagnostic(`${title}: ${climbed} of ${rungs.length} rungs climbed`);
    assert.equal(climbed, rungs.length - excused(rungs, of()));
  });
}
