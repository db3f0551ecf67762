import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { backendNames, open } from "../../src/device/open.js";
import { ladder } from "../../src/testing/ladder.js";
import type { Device, OpenOptions } from "../../src/device/device.js";
import { range } from "../../src/device/policy.js";
import { LaunchError } from "../../src/kernel/errors.js";
import { kernel } from "../../src/kernel/kernel.js";
import { i32, view } from "../../src/kernel/params.js";

/** Refusals of what a device says that it lacks: f64, and with f64 emulated the least and greatest by atomics. */
const REFUSED = { plain: /WebGPU has no f64/, emulated: /an emulated f64 is two words, which atomics cannot compare/ };

const devices: { name: string; options?: OpenOptions }[] = [
  ...backendNames().map((name) => ({ name })),
  { name: "webgpu", options: { f64: "emulate" } },
];

for (const { name, options } of devices) {
  const opened = await open(name, options).then(
    (device) => ({ device }),
    (error: Error) => ({ missing: error.message }),
  );
  const title = options ? `${name} with emulated f64` : name;
  describe(`the ladder on ${title}`, { skip: "missing" in opened ? opened.missing : false }, () => {
    const { device } = opened as { device: Device };
    const whole = device?.abilities.f64 && device.abilities.f64Bits === undefined;
    const refused = REFUSED[options ? "emulated" : "plain"];
    for (const rung of ladder)
      it(`${rung.number} ${rung.title}`, async (t) => {
        device.precision = "strict";
        try {
          await rung.run(device);
        } catch (error) {
          if (whole || !(error instanceof LaunchError) || !refused.test(error.message)) throw error;
          t.skip(`refused: ${error.message}`);
        }
      });
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
