import { test } from "node:test";
import { equal, ok } from "node:assert/strict";
import { f32, f64 } from "../../src/index.js";
import type { Device } from "../../src/index.js";
import { checkGradient } from "../../src/gradient/index.js";
import { eachDevice } from "../patterns/devices.js";
import { gradientCases, type GradientCase } from "./cases.js";

/** Arguments in the device's memory. */
const argsOn = (device: Device, { args }: GradientCase): Record<string, unknown> =>
  Object.fromEntries(
    Object.entries(args()).map(([name, value]) => [
      name,
      typeof value === "number" ? value : device.from(value.type, value.data, value.shape),
    ]),
  );

await eachDevice("gradients of kernels", (device) => {
  const isDouble = device.capabilities.f64 && device.capabilities.f64Bits === undefined;
  for (const each of gradientCases(isDouble ? f64 : f32))
    test(each.name, async () => {
      const found = await checkGradient(device, each.kernel, argsOn(device, each), each.policy, { wrt: each.wrt, directions: 1 });
      ok(found.identity <= (isDouble ? 1e-14 : 1e-6), `identity ${found.identity}`);
      ok(found.differences <= (isDouble ? 1e-8 : 1e-2), `differences ${found.differences}`);
    });
});
equal(gradientCases(f64).length, 26);
