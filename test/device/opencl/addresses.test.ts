import assert from "node:assert/strict";
import test from "node:test";
import { BufferAddresses } from "../../../src/device/opencl/addresses.js";

test("each buffer has addresses of its own, on whole lines, and arithmetic stays inside", () => {
  const addresses = new BufferAddresses();
  const [a, b] = [addresses.take(11, 4096), addresses.take(22, 1)];
  assert.deepEqual([a % 4096, b % 4096], [0, 0]);
  assert.deepEqual(addresses.find(a + 4095), { memory: 11, first: 4095 });
  assert.deepEqual(addresses.find(a + 4096), { memory: 11, first: 4096 }, "a view of no elements may begin at the end");
  assert.deepEqual(addresses.find(b), { memory: 22, first: 0 });
  assert.deepEqual(addresses.find(0), { memory: 0, first: 0 });
});

test("what was given back is no address any more, and is not used again", () => {
  const addresses = new BufferAddresses();
  const [a, b, c] = [1, 2, 3].map((memory) => addresses.take(memory, 100));
  assert.equal(addresses.give(b), true);
  assert.equal(addresses.give(b), false);
  assert.throws(() => addresses.find(b + 4), /in no buffer/);
  assert.deepEqual(addresses.find(c + 4), { memory: 3, first: 4 });
  assert.deepEqual(addresses.find(a), { memory: 1, first: 0 });
  assert.ok(addresses.take(4, 100) > c);
  assert.deepEqual(addresses.handles(), [1, 3, 4]);
});
