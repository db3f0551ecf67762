import { describe, it } from "node:test";
import { DeviceError, open } from "../../../src/index.js";
import { describeChecked } from "../../checked/outcomes.js";

const device = await open("webgpu").catch((error: unknown) => {
  if (error instanceof DeviceError) return error;
  throw error;
});

if (device instanceof DeviceError) describe("checked indices on webgpu", () => void it("are tried", { skip: device.message }));
else describeChecked("checked indices on webgpu", device);
