import assert from "node:assert/strict";
import { test } from "node:test";
import type { Device } from "../../src/device/device.js";
import { devices, memoryOf, requireMemory } from "../../src/set/index.js";

const GIB = 2 ** 30;

function device(name: string, gib: number, memory = { name }): Device {
  return { name, memory, capabilities: { memory: gib * GIB, maxAllocation: (gib * GIB) / 4 } } as unknown as Device;
}

test("devices have their memories together, those that share one no more than it", async () => {
  const cpu = { name: "cpu" };
  const [js, wasm, gpu] = [device("js", 16, cpu), device("wasm", 4, cpu), device("gpu", 80)];
  assert.equal(memoryOf([js]), 16 * GIB);
  assert.equal(memoryOf([wasm, js, wasm]), 16 * GIB);
  assert.equal(memoryOf([wasm, gpu, js]), 96 * GIB);
  assert.equal(memoryOf([gpu, device("who-knows", Infinity)]), Infinity);
});

test("what cannot fit is refused with the bytes that it needs, those that there are, and the remedy", async () => {
  const need = { what: "heat on 9 x 9 cells", bytes: 5 * GIB, choose: "a smaller --size" };
  requireMemory(device("gpu", 5), need);
  assert.throws(() => requireMemory(device("gpu", 4), need), {
    name: "LaunchError",
    message: "heat on 9 x 9 cells needs 5 GiB of memory, and gpu has 4 GiB: choose a smaller --size",
  });
  assert.throws(() => requireMemory(device("gpu", 8), { ...need, largest: 3 * GIB }), /needs 3 GiB in one array, and gpu allows 2 GiB/);
  assert.throws(() => requireMemory(device("gpu", 8), { ...need, bytes: Infinity }), /needs Infinity GiB/);
  assert.throws(() => requireMemory(device("gpu", 8), { ...need, bytes: NaN }), /needs NaN/);
  const set = await devices("js*3");
  assert.throws(() => requireMemory(set, { ...need, bytes: 2 ** 60 }), /and js\*3 has /);
  await set.close();
});

test("a device is divided into so many parts only", async () => {
  await assert.rejects(devices("js*99999999"), /this divides a device into too many parts \(divide it into 1024 at most\)/);
  await assert.rejects(devices("js*99999999999999999999"), /1024 at most/);
});
