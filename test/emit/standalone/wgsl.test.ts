import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { pathToFileURL } from "node:url";
import { join } from "node:path";
import { findAdapter } from "../../../src/device/webgpu/adapter.js";
import type { TypedArray } from "../../../src/device/memory/view.js";
import { emitWgslFiles } from "../../../src/emit/standalone/wgsl.js";
import type { EmitRequest } from "../../../src/emit/standalone/index.js";
import { EmitError } from "../../../src/base/errors.js";
import { NOT_ASKED, tested } from "../../devices.js";
import { matchesSnapshot } from "../snapshot.js";
import { argumentValues, ATOMIC_CASES, CASES, expectedOf, memoryOf, requestOf, type Case } from "./cases.js";
import { inFolder } from "./compiled.js";

const single = CASES.find(({ kernel }) => kernel.name === "single")!;
const SINGLE = [...CASES.filter(({ kernel }) => ["blocks", "single"].includes(kernel.name)), ...ATOMIC_CASES];

type Host = Record<string, (...args: unknown[]) => Promise<never>>;

/** Runs the host's code on copies of the arrays in buffers of the device. */
async function launched(given: Case, request: EmitRequest, device: GPUDevice): Promise<Record<string, TypedArray>> {
  const memory = memoryOf(given, request);
  const buffers: Record<string, GPUBuffer> = {};
  for (const name of Object.keys(given.views)) {
    const size = Math.ceil(memory[name].byteLength / 4) * 4;
    const usage = GPUBufferUsage.STORAGE | GPUBufferUsage.COPY_SRC;
    buffers[name] = device.createBuffer({ size, usage, mappedAtCreation: true });
    new Uint8Array(buffers[name].getMappedRange()).set(new Uint8Array(memory[name].buffer));
    buffers[name].unmap();
  }
  const files = emitWgslFiles(request);
  const { stem } = request;
  const text = (suffix: string) => files.find(({ name }) => name === `${stem}${suffix}.wgsl`)?.text;
  const results = await inFolder(files, async (folder) => {
    const host = (await import(pathToFileURL(join(folder, `${stem}.host.mjs`)).href)) as Host;
    const pipelines = await host[`${stem}_compile`](device, { main: text(""), fold: text(".fold"), finish: text(".finish") });
    const args = argumentValues(given, request, { ...memory, ...buffers }).map(({ name, value }) => [name, value]);
    return (await host[`${stem}_launch`](device, pipelines, Object.fromEntries(args))) as Record<string, number> | undefined;
  });
  for (const [name, buffer] of Object.entries(buffers)) {
    const copy = device.createBuffer({ size: buffer.size, usage: GPUBufferUsage.COPY_DST | GPUBufferUsage.MAP_READ });
    const encoder = device.createCommandEncoder();
    encoder.copyBufferToBuffer(buffer, 0, copy, 0, buffer.size);
    device.queue.submit([encoder.finish()]);
    await copy.mapAsync(GPUMapMode.READ);
    new Uint8Array(memory[name].buffer).set(new Uint8Array(copy.getMappedRange()).subarray(0, memory[name].byteLength));
  }
  for (const [name, value] of Object.entries(results ?? {})) memory[name][0] = value;
  return memory;
}

const found = tested("webgpu") ? await findAdapter() : { missing: { reason: NOT_ASKED } };

describe("WGSL files", { skip: "missing" in found && found.missing.reason }, () => {
  for (const given of SINGLE)
    for (const precision of ["strict", "fast"] as const)
      it(`of ${given.kernel.name} give ${precision === "strict" ? "the device's bits" : "nearly those"} in ${precision} mode`, async () => {
        const again = await findAdapter();
        assert.ok("adapter" in again);
        const { globals } = (await import("webgpu")) as { globals: object };
        Object.assign(globalThis, globals);
        const device = await again.adapter.requestDevice();
        const actual = await launched(given, requestOf(given, precision), device);
        device.destroy();
        const expected = await expectedOf(given);
        if (precision === "strict") return assert.deepEqual(actual, expected);
        for (const [name, values] of Object.entries(actual))
          values.forEach((value, n) =>
            assert.ok(Math.abs(value - expected[name][n]) <= 1e-4 * Math.max(1, Math.abs(value)), `${name}[${n}] is ${value}`),
          );
      });
});

it("f64 is refused by name", () => {
  assert.throws(
    () => emitWgslFiles(requestOf(CASES[0], "fast")),
    (error: Error) => error instanceof EmitError && /"axpy" cannot be written for wgsl: .*"a" is f64/.test(error.message),
  );
});

it("the host numbers what shaders take", () =>
  matchesSnapshot("emit/standalone/single.host.mjs.txt", emitWgslFiles(requestOf(single, "fast")).at(-1)!.text));
it("a shader of one range", () => matchesSnapshot("emit/standalone/single.wgsl", emitWgslFiles(requestOf(single, "fast"))[0].text));
