import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { backendNames, open } from "../../src/device/open.js";
import { ladder, runLadder } from "../../src/testing/index.js";
import type { Device, OpenOptions } from "../../src/device/device.js";
import { range } from "../../src/device/policy.js";
import { kernel } from "../../src/kernel/kernel.js";
import { i32, view } from "../../src/kernel/params.js";

const devices: { name: string; options?: OpenOptions }[] = [
  ...backendNames().map((name) => ({ name })),
  { name: "webgpu", options: { f64: "emulate" } },
];

/** How many rungs a device need not climb: those of f64 where it has none, and one where it emulates it. */
const excused = ({ f64, f64Bits }: Device["abilities"]): number =>
  !f64 ? ladder.filter(({ real }) => real === "f64").length : f64Bits === undefined ? 0 : 1;

for (const { name, options } of devices) {
  const opened = await open(name, options).then(
    (device) => ({ device }),
    (error: Error) => ({ missing: error.message }),
  );
  const title = options ? `${name} with emulated f64` : name;
  describe(`the ladder on ${title}`, { skip: "missing" in opened ? opened.missing : false }, () => {
    const { device } = opened as { device: Device };
    // An emulated f64 leaves f32 as it is.
    const rungs = ladder.filter(({ real }) => !(options && real === "f32"));
    let climbed = 0;
    for (const rung of rungs)
      it(`${rung.number} ${rung.title}`, async (t) => {
        const [{ excuse, error }] = await runLadder(device, [rung]);
        if (error) throw error;
        if (excuse !== undefined) return t.skip(excuse);
        climbed++;
      });
    it("has climbed every rung that it must", (t) => {
      t.diagnostic(`${title}: ${climbed} of ${rungs.length} rungs climbed`);
      assert.equal(climbed, rungs.length - excused(device.abilities));
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
