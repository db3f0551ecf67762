import assert from "node:assert/strict";
import { test } from "node:test";
import type { Opencl } from "../../../src/device/opencl/api.js";
import { findDevices } from "../../../src/device/opencl/facts.js";

/** A loader with one platform and one device of OpenCL 3, whose numbers are all 128. */
const loader = (platform: string): Opencl =>
  ({
    list: () => [1],
    number: () => 128,
    text: (of: string) => (of === "clGetPlatformInfo" ? platform : "OpenCL 3.0"),
  }) as unknown as Opencl;

test("sub-groups are used where they are right: not on PoCL, which folds wrongly over them", () => {
  const has = (platform: string) => findDevices(loader(platform))[0].facts.subGroups;
  assert.equal(has("Intel(R) OpenCL"), true);
  assert.equal(has("Portable Computing Language"), false);
});
