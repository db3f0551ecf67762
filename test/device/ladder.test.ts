import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { backendNames, open } from "../../src/device/open.js";
import { ladder } from "../../src/testing/ladder.js";
import type { Device } from "../../src/device/device.js";
import { range } from "../../src/device/policy.js";
import { kernel } from "../../src/kernel/kernel.js";
import { f64, view } from "../../src/kernel/params.js";

for (const name of backendNames()) {
  const opened = await open(name).then(
    (device) => ({ device }),
    (error: Error) => ({ missing: error.message }),
  );
  describe(`the ladder on ${name}`, { skip: "missing" in opened ? opened.missing : false }, () => {
    const { device } = opened as { device: Device };
    for (const rung of ladder)
      it(`${rung.number} ${rung.title}`, async () => {
        device.precision = "strict";
        await rung.run(device);
      });
    it("closes, and takes no more work then", async () => {
      const ones = kernel("ones", { y: view(f64) }, ({ y }, i) => {
        y[i] = 1;
      });
      const y = device.array(f64, 10);
      const launch = device.prepare(ones, { y }, range(10));
      await device.close();
      await device.close();
      const closed = { name: "DeviceError", message: `device "${device.name}": it is closed (open it again)` };
      assert.throws(() => device.array(f64, 10), closed);
      assert.throws(() => device.prepare(ones, { y }, range(10)), closed);
      assert.throws(() => device.queue.submit(launch), closed);
      launch.free();
    });
  });
}
