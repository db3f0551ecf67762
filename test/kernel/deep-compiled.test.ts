import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { Nvrtc } from "../../src/device/cuda/nvrtc.js";
import { f32, open, range, type Device, type Kernel } from "../../src/index.js";
import { kernelFromIR } from "../../src/ir-api.js";
import { compileKernel } from "../../src/kernel/compile.js";
import { tested } from "../devices.js";
import { CHAINS, chainOf, kernelOf, longChain, MADE, mostOf, NESTS } from "./nests.js";
import { cudaSource } from "../emit/sources.js";

/* What nests as deep as the language takes, and long chains, through the compilers of the targets. */

const KERNELS: [what: string, kernel: Kernel][] = [
  ...Object.entries(NESTS).map(([what, body]): [string, Kernel] => [what, kernelOf(body(mostOf(what)))]),
  ...Object.entries(CHAINS).map(([what, form]): [string, Kernel] => [`${what} of functions`, chainOf(form, 60)]),
  ["a long chain", kernelOf(longChain("+"))],
];

async function resultOf(device: Device, kernel: Kernel): Promise<number[]> {
  device.precision = "strict";
  const [x, y] = [device.from(f32, [1.1, -0.37, 10]), device.array(f32, 3)];
  await device.run(kernel, { x, y }, range(3));
  return [...(await device.queue.read(y))];
}

for (const name of ["native", "opencl", "webgpu", "cuda"])
  describe(`on ${name}, with the bits of js`, { skip: !tested(name) }, () => {
    for (const [what, kernel] of KERNELS)
      it(what, async (t) => {
        const device = await open(name).catch((error: Error) => error);
        if (device instanceof Error) return t.skip(device.message);
        const js = await open("js");
        assert.deepEqual(await resultOf(device, kernel), await resultOf(js, kernel));
        await device.close();
        await js.close();
      });
  });

it("code made by a program runs on native to the greatest depth", { skip: !tested("native") }, async (t) => {
  const device = await open("native").catch((error: Error) => error);
  if (device instanceof Error) return t.skip(device.message);
  const js = await open("js");
  for (const made of Object.values(MADE)) {
    const kernel = kernelFromIR(made(497)) as unknown as Kernel;
    assert.deepEqual(await resultOf(device, kernel), await resultOf(js, kernel));
  }
  await device.close();
  await js.close();
});

it("NVRTC compiles it", { skip: !tested("cuda") }, async (t) => {
  const nvrtc = await Nvrtc.open().catch((error: Error) => error);
  if (nvrtc instanceof Error) return t.skip(nvrtc.message);
  for (const [what, kernel] of KERNELS) {
    const source = cudaSource(compileKernel(kernel), "strict");
    assert.ok(nvrtc.compileToCubin(source, nvrtc.architectures.at(-1)!, { fast: false, name: what }).length > 0);
  }
});
