import assert from "node:assert/strict";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, it } from "node:test";
import type { Device, Launch } from "../../../src/device/device.js";
import { range } from "../../../src/device/launch/policy.js";
import { tune } from "../../../src/device/tuning/tune.js";

const folder = mkdtempSync(join(tmpdir(), "isoform-tune-"));
process.env.XDG_CACHE_HOME = folder;
after(() => rmSync(folder, { recursive: true }));

/** A device that says so where it is to measure. */
const device = {
  backend: "none",
  label: "none",
  queue: { finish: () => Promise.reject(new Error("it measures")) },
} as unknown as Device;

const launch = (policy: object, tunables: object, measurable = true): Launch =>
  ({ policy, tuning: { measurable, tunables, key: "k" } }) as unknown as Launch;

it("a launch is measured if it has a value to choose and elements to run over", async () => {
  const one = { strip: [32] };
  await assert.rejects(tune(device, launch(range(5), one)), /it measures/);
  await assert.rejects(tune(device, launch({ kind: "team", league: 1 }, one)), /it measures/);
  await assert.rejects(tune(device, launch(range(5), { strip: [32], block: [1, 2] })), /it measures/);
  const left = [
    launch(range(5), {}),
    launch(range(5), one, false),
    launch(range(0), one),
    launch(range(5, 0), one),
    launch({ kind: "team", league: 0 }, one),
    { policy: range(5) } as unknown as Launch,
  ];
  for (const each of left) assert.equal(await tune(device, each), undefined);
});
