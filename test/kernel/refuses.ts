import assert from "node:assert/strict";
import { it } from "node:test";
import type { Kernel } from "isoform";
import { pointedAt, refusal } from "./lowered.js";

/** A kernel, the text at which its error must point, its problem and its remedy. */
export type Case = [title: string, kernel: unknown, at: string, problem: RegExp, remedy?: RegExp];

/** Tests that each kernel is refused, at its place in the author's file. */
export function refuses(cases: readonly Case[]): void {
  for (const [title, kernel, at, problem, remedy] of cases)
    it(title, () => {
      const error = refusal(kernel as Kernel);
      assert.match(error.problem, problem);
      if (remedy) assert.match(error.remedy ?? "", remedy);
      else assert.equal(error.remedy, undefined);
      assert.ok(pointedAt(error).trimStart().startsWith(at), `it points at ${pointedAt(error)}`);
      assert.match(error.message, /^kernel "k", .*\/test\/kernel\/refused-\w+\.test\.ts:\d+:\d+: /);
    });
}
