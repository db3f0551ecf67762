import assert from "node:assert/strict";
import { test } from "node:test";
import { f64, kernel, open, range, view } from "../../src/index.js";
import { BuildNotes } from "../../src/portability/built.js";
import { readResourceUsage } from "../../src/portability/resources.js";
import { NOT_ASKED, tested } from "../devices.js";

const scale = kernel("scale", { x: view(f64) }, ({ x }, i) => {
  x[i] = 2 * x[i];
});

const key = { application: "isoform-opencl", platform: "here", problem: "toy" };

test("what cuobjdump prints is read by function", () => {
  const text = `Resource usage:
 Common:
  GLOBAL:0
 Function dot_kernel_finish:
  REG:18 STACK:16 SHARED:1280 LOCAL:8 CONSTANT[0]:552 TEXTURE:0 SURFACE:0 SAMPLER:0
 Function dot_kernel:
  REG:32 STACK:0 SHARED:0 LOCAL:0 CONSTANT[0]:568 TEXTURE:0 SURFACE:0 SAMPLER:0
`;
  assert.deepEqual(readResourceUsage(text), [
    { name: "dot_kernel_finish", registers: 18, localBytes: 24, sharedBytes: 1280 },
    { name: "dot_kernel", registers: 32, localBytes: 0, sharedBytes: 0 },
  ]);
  assert.deepEqual(readResourceUsage("nothing"), []);
});

test("a launch on a GPU tells what its kernel takes, where the driver does", { skip: !tested("opencl") && NOT_ASKED }, async (t) => {
  const device = await open("opencl").catch((error: Error) => error);
  if (device instanceof Error) return t.skip(device.message);
  const notes = new BuildNotes("opencl", undefined);
  const x = device.array(f64, 600);
  await notes.during(() => device.run(scale, { x }, range(600)));
  assert.equal(notes.build(key, "fast"), undefined);
  const [{ kernel: name, threads, localBytes, occupancy }] = notes.kernelResources(key);
  assert.deepEqual([name, typeof localBytes, occupancy], ["scale", "number", undefined]);
  assert.ok(threads !== undefined && threads > 0);
  await device.close();
});
