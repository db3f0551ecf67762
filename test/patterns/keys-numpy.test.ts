import assert from "node:assert/strict";
import { it } from "node:test";
import { f32, f64, i32, open, u32, type Device, type View } from "isoform";
import { argsort, unique } from "isoform/patterns";
import { python, pythonLacks } from "../io/table/python.js";
import { noiseValue } from "../../src/testing/values.js";
import { tested } from "../devices.js";

const missing = await pythonLacks("numpy");
const TYPES = { f64, f32, i32, u32 };

/** The order, different values, their first places, the place of each key's value, and counts. */
type Found = [order: number[], values: string[], index: number[], inverse: number[], counts: number[]];

/** NumPy's answers for the same numbers, which it makes by the same rule. */
const PROGRAM = `
import json, sys, numpy
found = []
for name, values in json.loads(sys.argv[1]):
    x = numpy.array([float(v) for v in values]).astype({"f64": "f8", "f32": "f4", "i32": "i8", "u32": "i8"}[name])
    values, index, inverse, counts = numpy.unique(x, return_index=True, return_inverse=True, return_counts=True)
    found.append([numpy.argsort(x, kind="stable").tolist(), [str(float(v)) for v in values], index.tolist(), inverse.ravel().tolist(), counts.tolist()])
print(json.dumps(found))
`;

async function foundBy(device: Device, type: keyof typeof TYPES, list: readonly number[]): Promise<number[][]> {
  const keys = device.from(TYPES[type], list) as View<"f64", 1>;
  const values = device.array(TYPES[type], list.length) as View<"f64", 1>;
  const [order, index, inverse, counts] = [0, 1, 2, 3].map(() => device.array(i32, list.length));
  const count = device.array(i32, 1);
  await argsort(device, { keys, order }).run();
  await unique(device, { keys, values, index, inverse, counts, count }).run();
  const read = async (view: View): Promise<number[]> => [...((await device.queue.read(view)) as Float64Array)];
  const [some] = await read(count);
  const first = async (view: View): Promise<number[]> => (await read(view)).slice(0, some);
  return [await read(order), await first(values), await first(index), await read(inverse), await first(counts)];
}

for (const name of ["wasm", "native"].filter(tested))
  it(`orders and different keys on ${name} are NumPy's`, { skip: missing }, async (context) => {
    const device = await open(name).catch((error: Error) => error.message);
    if (typeof device === "string") return context.skip(device);
    const special = [NaN, -0, 0, Infinity, -Infinity, 1e-310, 1 / 3];
    const cases = (["f64", "f32", "i32", "u32"] as const).flatMap((type, t) =>
      [0, 1, 2, 500, 961].map((count) => {
        const floats = type === "f64" || type === "f32";
        const keys = Array.from({ length: count }, (_, k) => {
          const noise = noiseValue(7 * k + count + t);
          if (floats && k % 4 === 0) return special[Math.floor(noise * special.length)];
          return floats ? Math.fround(noise * 3 - 1) : Math.floor(noise * 400) - (type === "i32" ? 200 : 0);
        });
        return [type, keys] as const;
      }),
    );
    const text = JSON.stringify(cases.map(([type, keys]) => [type, keys.map((key) => (Object.is(key, -0) ? "-0" : String(key)))]));
    const answers = await python(PROGRAM, text.replaceAll("Infinity", "inf"));
    const found = JSON.parse(answers) as readonly Found[];
    for (const [n, [type, list]] of cases.entries()) {
      const [order, values, index, inverse, counts] = await foundBy(device, type, list);
      const expected = found[n];
      assert.deepEqual(order, expected[0], `${type} ${list.length}`);
      // Which of two zeros it gives, NumPy does not say.
      const numbers = expected[1].map((each) => (each === "nan" ? NaN : Number(each.replace("inf", "Infinity")) + 0));
      assert.deepEqual(
        values.map((each) => each + 0),
        numbers,
      );
      assert.deepEqual([index, inverse, counts], expected.slice(2));
    }
    await device.close();
  });
