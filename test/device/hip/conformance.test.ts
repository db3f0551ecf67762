import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { open } from "../../../src/device/open.js";
import { suite, type ConformanceCase } from "../../../src/testing/index.js";
import { levels } from "../../../src/testing/cases/levels.js";
import { reductions } from "../../../src/testing/cases/reductions.js";
import { team } from "../../../src/testing/cases/team.js";
import { fakeHip } from "./fake.js";

/** What folds within a wavefront runs in both sizes. */
const WAVEFRONTS: readonly [number, readonly ConformanceCase[]][] = [
  [64, suite],
  [32, [...reductions, ...team, ...levels]],
];
/** More than 65535 blocks of threads that are fibers take a minute. */
const LONG = /more teams than 16 bits can count/;

const fake = await fakeHip();

for (const [threads, cases] of WAVEFRONTS)
  describe(`in wavefronts of ${threads}, HIP code on the CPU`, { skip: typeof fake === "string" && fake }, async () => {
    if (typeof fake === "string") return;
    const device = await open("hip");
    device.precision = "strict";
    let passed = 0;
    for (const testCase of cases)
      it(`${testCase.number} ${testCase.title}`, { skip: LONG.test(testCase.title) && "takes a minute on the CPU" }, async () => {
        fake.wavefront(threads);
        fake.forget();
        await testCase.run(device);
        assert.equal(fake.complaints(), "");
        passed++;
      });
    it("has passed every case that it must", (t) => {
      t.diagnostic(`hip on the CPU, in wavefronts of ${threads}: ${passed} of ${cases.length} cases passed`);
      assert.equal(passed, cases.filter(({ title }) => !LONG.test(title)).length);
    });
  });
