import assert from "node:assert/strict";
import { it } from "node:test";
import type { Capabilities } from "../../src/device/device.js";
import type { ConformanceCase, CaseResult } from "../../src/testing/index.js";

/** Cases that fold by atomic comparisons, which an emulated f64 has not. */
const COMPARING: readonly number[] = [77, 78, 96];

/** How many of the cases a device need not pass: those of f64 where it has none, and some of them where it emulates it. */
const skipped = (cases: readonly ConformanceCase[], { f64, f64Bits }: Capabilities): number =>
  f64 && f64Bits === undefined ? 0 : cases.filter(({ real, number }) => real === "f64" && (!f64 || COMPARING.includes(number))).length;

/** A test for each case, and one that counts what passed. `of` is called when the tests run. */
export function testCases(
  title: string,
  cases: readonly ConformanceCase[],
  of: () => Capabilities,
  run: (testCase: ConformanceCase) => Promise<Omit<CaseResult, "testCase">>,
): void {
  let passed = 0;
  for (const testCase of cases)
    it(`${testCase.number} ${testCase.title}`, async (t) => {
      const { skipReason, error } = await run(testCase);
      if (error) throw error;
      if (skipReason !== undefined) return t.skip(skipReason);
      passed++;
    });
  it("has passed every case that it must", (t) => {
    t.diagnostic(`${title}: ${passed} of ${cases.length} cases passed`);
    assert.equal(passed, cases.length - skipped(cases, of()));
  });
}
