import { describe, it } from "node:test";
import { backendNames, open } from "../../src/device/open.js";
import { ladder } from "../../src/testing/ladder.js";
import type { Device } from "../../src/device/device.js";

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
    it("closes", () => device.close());
  });
}
