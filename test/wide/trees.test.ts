import assert from "node:assert/strict";
import { it } from "node:test";
import type { Device } from "../../src/device/device.js";
import { range } from "../../src/device/launch/policy.js";
import type { View } from "../../src/device/memory/view.js";
import { f64, i32, i64, u64 } from "../../src/kernel/declare/params.js";
import { eachDevice } from "../patterns/devices.js";
import { sequence } from "../random/data.js";
import { SCALARS, treesOf, type Element } from "./trees.js";

/** `ISOFORM_TREES=10000` is the acceptance of the specification. */
const TREES = Number(process.env.ISOFORM_TREES ?? 400);
const SEED = Number(process.env.ISOFORM_SEED ?? 1);
const ELEMENTS = 21;

const EDGES = [0n, 1n, -1n, 2n, 0x7fffffffn, 0x80000000n, 0xffffffffn, 0x100000000n, 0x7fffffffffffffffn, -0x8000000000000000n];

/** What the elements read: edges, and numbers of all magnitudes. */
function elementsOf(seed: number): Element[] {
  const next = sequence(seed);
  const bits = (): bigint => (BigInt(Math.floor(next() * 2 ** 32)) << 32n) | BigInt(Math.floor(next() * 2 ** 32));
  const value = (): bigint =>
    next() < 0.3 ? EDGES[Math.floor(next() * EDGES.length)] : BigInt.asIntN(64, bits()) >> BigInt(Math.floor(next() * 63));
  return Array.from({ length: ELEMENTS }, (_, i) => ({
    i,
    x: BigInt.asIntN(64, value()),
    y: BigInt.asIntN(64, value()),
    u: BigInt.asUintN(64, value()),
    w: BigInt.asUintN(64, value()),
    c: Number(BigInt.asIntN(32, value())),
  }));
}

/** Compares the expressions of one seed; gives their number. */
async function compare(device: Device, seed: number): Promise<number> {
  const floats = device.capabilities.f64;
  const faithful = device.name === "js-debug";
  const { kernel, ...trees } = treesOf(seed, { floats, division: device.name !== "webgpu", faithful });
  const elements = elementsOf(seed);
  const columns = { x: i64, y: i64, u: u64, w: u64 } as const;
  const args: Record<string, unknown> = {
    ...SCALARS,
    c: device.from(
      i32,
      Int32Array.from(elements, ({ c }) => c),
    ),
  };
  for (const [name, type] of Object.entries(columns))
    args[name] = device.from(
      type as typeof i64,
      elements.map((element) => element[name as keyof typeof columns]),
    );
  const outputs = { o: [i64, trees.signed], ou: [u64, trees.unsigned], d: [f64, trees.doubles], oc: [i32, trees.words] } as const;
  for (const [name, [type, list]] of Object.entries(outputs))
    if (floats || name !== "d") args[name] = device.array(type as typeof i32, [ELEMENTS, Math.max(1, list.length)]);
  await device.run(kernel, args as never, range(ELEMENTS));
  for (const [name, [, list]] of Object.entries(outputs)) {
    if (!(name in args)) continue;
    const found: ArrayLike<unknown> = await device.queue.read(args[name] as View);
    for (const [n, { text, value }] of list.entries())
      for (const element of elements)
        assert.equal(found[element.i * list.length + n], value(element), `seed ${seed}, element ${element.i}: ${text}`);
  }
  for (const view of Object.values(args)) (view as Partial<View>).free?.();
  return list(trees);
}

const list = (trees: Record<string, { length: number }>): number => Object.values(trees).reduce((sum, { length }) => sum + length, 0);

await eachDevice("random expressions of 64-bit integers", (device) => {
  it(`${TREES} have the values that BigInt gives`, async () => {
    for (let done = 0, seed = SEED; done < TREES; seed++) done += await compare(device, seed);
  });
});
