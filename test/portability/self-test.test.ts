import assert from "node:assert/strict";
import { test } from "node:test";
import type { Device } from "../../src/device/device.js";
import { open } from "../../src/device/open.js";
import { selfTest } from "../../src/portability/self-test.js";

/** The device, whose launches of one kernel change nothing, as those of a driver that compiles it to nothing. */
const without = (device: Device, name: string): Device =>
  new Proxy(device, {
    get(target, property) {
      const value = Reflect.get(target, property, target) as unknown;
      if (typeof value !== "function") return value;
      if (property !== "run") return value.bind(target) as unknown;
      return (...args: Parameters<Device["run"]>) => (args[0].name === name ? { total: 0, most: 0 } : target.run(...args));
    },
  });

test("a device that computes rightly passes the self-test, and one that does not is told what is wrong", async () => {
  const device = await open("js");
  await selfTest(device);
  for (const [name, what] of [
    ["test_elements", "a kernel over elements"],
    ["test_reduce", "a reduction"],
    ["test_spread", "a scatter"],
    ["test_rows", "a kernel over teams"],
  ])
    await assert.rejects(selfTest(without(device, name)), {
      name: "DeviceError",
      message: new RegExp(`^device "js": it fails the self-test: ${what} gave 0 in place of [\\d.]+, at 0, in strict mode \\(`),
    });
  await device.close();
});
