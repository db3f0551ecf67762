import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { open } from "../../../src/device/open.js";
import { suite, runSuite } from "../../../src/testing/index.js";
import type { Device, OpenOptions } from "../../../src/device/device.js";
import { range } from "../../../src/device/launch/policy.js";
import { kernel } from "../../../src/kernel/declare/kernel.js";
import { i32, view } from "../../../src/kernel/declare/params.js";
import { testCases } from "../../testing/run-suite.js";

/** The suite on a device; where the machine lacks it, it is skipped by name, with the reason. */
export async function conforms(name: string, options?: OpenOptions): Promise<void> {
  const opened = await open(name, options).then(
    (device) => ({ device }),
    (error: Error) => ({ missing: error.message }),
  );
  const title = options ? `${name} with emulated f64` : name;
  describe(`the suite on ${title}`, { skip: "missing" in opened ? opened.missing : false }, () => {
    const { device } = opened as { device: Device };
    // An emulated f64 leaves f32 as it is.
    const cases = suite.filter(({ real }) => !(options && real === "f32"));
    testCases(
      title,
      cases,
      () => device.capabilities,
      async (testCase) => (await runSuite(device, [testCase]))[0],
    );
    it("closes, and takes no more work then", async () => {
      const ones = kernel("ones", { y: view(i32) }, ({ y }, i) => {
        y[i] = 1;
      });
      const y = device.array(i32, 10);
      const launch = device.prepare(ones, { y }, range(10));
      await device.close();
      await device.close();
      const closed = { name: "DeviceError", message: `device "${device.name}": it is closed (open it again)` };
      assert.throws(() => device.array(i32, 10), closed);
      assert.throws(() => device.prepare(ones, { y }, range(10)), closed);
      assert.throws(() => device.queue.submit(launch), closed);
      launch.free();
    });
  });
}
