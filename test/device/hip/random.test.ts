import assert from "node:assert/strict";
import test from "node:test";
import { open } from "../../../src/device/open.js";
import { campaign } from "../../random/campaign.js";
import { check } from "../../random/check.js";
import { fakeHip } from "./fake.js";

const RUNS = 25;

const fake = await fakeHip();

test(`${RUNS} random kernels as HIP code on the CPU agree with the evaluator`, { skip: typeof fake === "string" && fake }, async () => {
  if (typeof fake === "string") return;
  const device = await open("hip");
  await campaign({ runs: RUNS, seed: 11, check: (program) => check(program, [device]) });
  assert.equal(fake.complaints(), "");
  await device.close();
});
