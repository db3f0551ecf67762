import { after, before, describe, it } from "node:test";
import { backendNames, open } from "../../src/device/open.js";
import type { Device } from "../../src/device/device.js";
import { campaign } from "./campaign.js";
import { check } from "./check.js";

const RUNS = Number(process.env.ISOFORM_RANDOM_RUNS ?? 1000);
const SEED = Number(process.env.ISOFORM_RANDOM_SEED ?? 1);

/*
 * A compiler is started for each kernel of these, so that a part of the kernels must do unless more are asked for by ISOFORM_RANDOM_RUNS.
 * js-debug calls the function itself, as the reference in plain.ts does.
 */
const STRIDE: Record<string, number> = { native: process.env.ISOFORM_RANDOM_RUNS ? 1 : 7, cuda: process.env.ISOFORM_RANDOM_RUNS ? 1 : 7 };

describe(`random kernels in strict mode, ${RUNS} of seed ${SEED}`, () => {
  it("the evaluator and plain TypeScript agree", () => campaign({ runs: RUNS, seed: SEED, check: (program) => check(program, []) }));

  for (const name of backendNames().filter((n) => n !== "js-debug")) {
    describe(name, () => {
      let device: Device | undefined;
      let missing = "";
      before(async () => {
        device = await open(name).catch((error: Error) => {
          missing = error.message;
          return undefined;
        });
      });
      after(() => device?.close());
      const stride = STRIDE[name] ?? 1;
      const runs = Math.ceil(RUNS / stride);
      it(`agrees with the evaluator on ${runs} kernels`, async (t) => {
        if (device) await campaign({ runs, seed: SEED, check: (program) => check(program, [device!]) });
        else t.skip(missing);
      });
    });
  }
});
