import assert from "node:assert/strict";
import test from "node:test";
import { open } from "../../../src/device/open.js";
import { fakeHip } from "./fake.js";

const fake = await fakeHip();

test("a driver without a GPU says so, and what to look at", { skip: typeof fake === "string" && fake }, async () => {
  if (typeof fake === "string") return;
  fake.devices(0);
  await assert.rejects(open("hip"), {
    name: "DeviceError",
    message: /"hip:0": hipInit failed: hipErrorNoDevice, .* \(the driver sees no GPU: look at HIP_VISIBLE_DEVICES/,
  });
});
