import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { Nvrtc } from "../../src/device/cuda/nvrtc.js";
import { cudaSource } from "../../src/emit/c/cuda.js";
import { f32, open, range, type Device } from "../../src/index.js";
import { compileKernel } from "../../src/kernel/compile.js";
import { tested } from "../devices.js";
import { kernelOf, longChain, mostOf, NESTS } from "./nests.js";

/* What nests as deep as the language takes, and long chains, through the compilers of the targets. */

const BODIES = Object.entries({
  ...Object.fromEntries(Object.entries(NESTS).map(([what, body]) => [what, body(mostOf(what))])),
  "a long chain": longChain("+"),
});

async function resultOf(device: Device, body: string): Promise<number[]> {
  device.precision = "strict";
  const [x, y] = [device.from(f32, [1.1, -0.37, 10]), device.array(f32, 3)];
  await device.run(kernelOf(body), { x, y }, range(3));
  return [...(await device.queue.read(y))];
}

for (const name of ["native", "opencl", "webgpu", "cuda"])
  describe(`on ${name}, with the bits of js`, { skip: !tested(name) }, () => {
    for (const [what, body] of BODIES)
      it(what, async (t) => {
        const device = await open(name).catch((error: Error) => error);
        if (device instanceof Error) return t.skip(device.message);
        const js = await open("js");
        assert.deepEqual(await resultOf(device, body), await resultOf(js, body));
        await device.close();
        await js.close();
      });
  });

it("NVRTC compiles it", { skip: !tested("cuda") }, async (t) => {
  const nvrtc = await Nvrtc.open().catch((error: Error) => error);
  if (nvrtc instanceof Error) return t.skip(nvrtc.message);
  for (const [what, body] of BODIES) {
    const source = cudaSource(compileKernel(kernelOf(body)), "strict");
    assert.ok(nvrtc.compileToCubin(source, nvrtc.architectures.at(-1)!, { fmad: false, name: what }).length > 0);
  }
});
