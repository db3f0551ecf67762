import assert from "node:assert/strict";
import { before, describe, it } from "node:test";
import { open } from "../../../src/device/open.js";
import { describeChecked } from "../../checked/outcomes.js";
import { fakeHip } from "./fake.js";

const fake = await fakeHip();

if (typeof fake === "string") describe("checked indices in HIP code on the CPU", () => void it("are tried", { skip: fake }));
else
  for (const threads of [64, 32])
    describe(`in wavefronts of ${threads}, HIP code on the CPU`, async () => {
      before(() => fake.wavefront(threads));
      describeChecked("with checked indices", await open("hip"), () => assert.equal(fake.complaints(), ""));
    });
