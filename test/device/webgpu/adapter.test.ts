import assert from "node:assert/strict";
import { test } from "node:test";
import { labelOf } from "../../../src/device/webgpu/adapter.js";

test("labels begin with the device's name, or with what describes it where that is a number", () => {
  const label = (info: Partial<GPUAdapterInfo>) =>
    labelOf({ info: { vendor: "", architecture: "", device: "", description: "", ...info } as GPUAdapterInfo });
  assert.equal(
    label({ vendor: "nvidia", device: "nvidia-h100-80gb-hbm3", description: "NVIDIA: 580.159.04" }),
    "nvidia-h100-80gb-hbm3, NVIDIA: 580.159.04, nvidia",
  );
  assert.equal(
    label({ vendor: "google", architecture: "swiftshader", device: "swiftshader-device-subzero-" }),
    "swiftshader-device-subzero, google, swiftshader",
  );
  assert.equal(
    label({ vendor: "nvidia", architecture: "ampere", device: "0x2204", description: "NVIDIA GeForce RTX 3090" }),
    "NVIDIA GeForce RTX 3090, nvidia, ampere",
  );
  assert.equal(label({ isFallbackAdapter: true }), "WebGPU adapter (software)");
});
