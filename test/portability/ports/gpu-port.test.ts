import assert from "node:assert/strict";
import { delimiter } from "node:path";
import { test } from "node:test";
import { TARGETS } from "../../../src/emit/standalone/index.js";
import { Loader, loadWorkingKoffi } from "../../../src/device/native/library.js";
import { portCall } from "../../../src/portability/ports/call.js";
import { openPort } from "../../../src/portability/ports/open.js";
import { compiledEntry, toolchainOf } from "../../../src/portability/ports/toolchain.js";
import { open } from "../../../src/index.js";
import { CASES, requestOf } from "../../emit/standalone/cases.js";
import { givesBitsOfJs } from "./strict-bits.js";
import { missing } from "../../emit/standalone/compiled.js";

/* Ports for GPUs: compiled and loaded here; they run where there is a GPU. */

// Compilers that are not on the path: ISOFORM_NVCC names the folder of nvcc.
if (process.env.ISOFORM_NVCC) process.env.PATH = `${process.env.ISOFORM_NVCC}${delimiter}${process.env.PATH}`;
process.env.HIP_PLATFORM ??= "amd";

for (const [port, compiler, arch] of [
  ["cuda", "nvcc", "sm_90"],
  ["hip", "hipcc", "gfx90a"],
] as const) {
  test(`${compiler} makes a library of the ${port} port, whose launch function can be called`, { skip: missing(compiler) }, async () => {
    const loader = new Loader((await loadWorkingKoffi())!);
    const request = requestOf(CASES[2], "fast");
    const call = portCall(port, request);
    const text = `${TARGETS[port](request)[0].text}\n${call.source}`;
    const { function: entry } = compiledEntry(loader, toolchainOf(port, arch), { name: "dot", text, entry: call.entry }, "fast");
    assert.notEqual(entry.address, 0n);
  });

  test(`the ${port} port is refused by name where there is no GPU`, { skip: missing(compiler) }, async (t) => {
    const gpu = await open(`${port}:0`).catch(() => undefined);
    await gpu?.close();
    if (gpu) return t.skip(`this machine has ${port}:0`);
    await assert.rejects(openPort(port), new RegExp(`^DeviceError: device "emitted-${port}": `));
  });
}

for (const port of ["cuda", "hip"] as const)
  test(`the ${port} port gives the bits of js in strict mode`, async (t) => {
    const device = await openPort(port).catch((error: Error) => error);
    if (device instanceof Error) return t.skip(device.message);
    try {
      for (const given of CASES) await givesBitsOfJs(device, given);
    } finally {
      await device.close();
    }
  });
