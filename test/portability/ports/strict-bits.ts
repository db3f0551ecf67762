import assert from "node:assert/strict";
import type { Device } from "../../../src/index.js";
import { codingOf } from "../../../src/ir/scalars.js";
import type { TypedArray } from "../../../src/device/memory/view.js";
import type { ElementType } from "../../../src/ir/types.js";
import { expectedOf, memoryOf, requestOf, type Case } from "../../emit/standalone/cases.js";

/** Runs a case on a port's device in strict mode, and compares arrays and results with the device `js`. */
export async function givesBitsOfJs(device: Device, given: Case): Promise<void> {
  const request = requestOf(given, "strict");
  const memory = memoryOf(given, request);
  const views = Object.fromEntries(
    Object.entries(given.views).map(([name, { shape }]) => {
      const param = request.ir.params.find((p) => p.name === name)!;
      if (param.kind !== "view" && param.kind !== "scatter") throw new Error(`${name} is no array`);
      return [name, device.from({ type: param.element }, valuesOf(param.element, memory[name]) as never, [...shape])];
    }),
  );
  const args = { ...given.scalars, ...given.fixed, ...views };
  const results = await device.run(given.kernel, args as never, given.policy as never, { precision: "strict" });
  for (const [name, expected] of Object.entries(await expectedOf(given))) {
    if (given.scratch && name in given.scratch) continue;
    const found = views[name] ? await device.queue.read(views[name]) : Float64Array.of((results as Record<string, number>)[name]);
    assert.deepEqual([...found], views[name] ? valuesOf(views[name].type, expected) : [...expected], name);
  }
}

/** Values of elements as memory holds them. */
const valuesOf = (element: ElementType, held: TypedArray): number[] => Array.from(held, (bits) => codingOf(element)?.valueOf(bits) ?? bits);
