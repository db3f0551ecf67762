import { ok } from "node:assert/strict";
import { test } from "node:test";
import { open } from "../../src/device/open.js";
import { campaign } from "./campaign.js";
import { checkGradientsOf } from "./gradients.js";

test("gradients of random kernels are right or refused", async () => {
  const device = await open("js");
  const counts = new Map<string, number>();
  const runs = 400;
  await campaign({
    runs,
    seed: 11,
    check: async (program, n) => {
      const outcome = await checkGradientsOf(program, n % 5 === 0 ? device : undefined);
      counts.set(outcome, (counts.get(outcome) ?? 0) + 1);
    },
  });
  await device.close();
  const of = (outcome: string): number => counts.get(outcome) ?? 0;
  // Half of the kernels that have a gradient to ask for: 0.52 with this seed. Refusals are right, but a test of refusals alone would see nothing.
  ok(of("agree") >= 0.45 * (runs - of("no floats") - of("team")), JSON.stringify([...counts]));
});
