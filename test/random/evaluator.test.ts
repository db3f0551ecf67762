import { it } from "node:test";
import { RUNS, SEED } from "./agrees.js";
import { campaign } from "./campaign.js";
import { check } from "./check.js";

it(`the evaluator and plain TypeScript agree on ${RUNS} random kernels, seed ${SEED}`, () =>
  campaign({ runs: RUNS, seed: SEED, check: (program) => check(program, []) }));
