import assert from "node:assert/strict";
import { after, before, describe, test } from "node:test";
import { DeviceError, f32, fixed, i32, kernel, open, range, sum, view, type Device } from "../../../src/index.js";
import type { Launch } from "../../../src/device/device.js";
import { OtherNumbers } from "../../../src/device/launch/other-numbers.js";
import { tested } from "../../devices.js";

const step = kernel(
  "step",
  { x: view(f32), y: view(f32), a: f32, by: i32, times: fixed(i32), s: sum(f32) },
  ({ x, y, a, by, times, s }, i) => {
    y[i] = a * x[i + by] + times;
    s.add(y[i]);
  },
);
const n = 1000;

for (const name of ["js", "js-debug", "wasm", "native", "opencl", "webgpu"].filter(tested))
  describe(`a launch with other numbers, on ${name}`, () => {
    let device: Device | undefined;
    let missing = "";
    before(async () => {
      device = await open(name).catch((error: Error) => {
        if (!(error instanceof DeviceError)) throw error;
        missing = error.message;
        return undefined;
      });
    });
    after(() => device?.close());
    const data = Float32Array.from({ length: n }, (_, i) => i % 7);

    test("runs with them, and is as it was", async (t) => {
      if (!device) return t.skip(missing);
      const [x, y] = [device.from(f32, data), device.array(f32, n)];
      const launch = device.prepare(step, { x, y, a: 2, by: 0, times: 1 }, range(n), { precision: "strict" });
      const expected = ({ a = 2, by = 0, times = 1 }, [begin, end] = [0, n]) => {
        let total = 0;
        for (let i = begin; i < end; i++) total += a * data[i + by] + times;
        return total;
      };
      const given: [scalars: Record<string, number> | undefined, bounds?: [number, number]][] = [
        [{ a: 3 }],
        [{ a: 0.5, by: 2 }, [10, 500]],
        [undefined],
        [{}, [3, 4]],
        [{ times: 5 }],
        ...Array.from({ length: 40 }, (_, k): [Record<string, number>, [number, number]] => [{ a: k, by: k % 3 }, [k, 900 - 20 * k]]),
        [undefined],
      ];
      for (const [scalars, bounds] of given) {
        launch.submit(scalars, bounds && range(bounds));
        const results = await device.queue.results(launch);
        assert.equal(results.s, expected(scalars ?? {}, bounds), JSON.stringify([scalars, bounds]));
      }
      device.queue.submit(launch);
      assert.equal((await device.queue.results(launch)).s, expected({}));
      launch.submit({ a: 1 });
      device.queue.submit(launch);
      assert.equal((await device.queue.results(launch)).s, expected({}), "a plain run comes last");
      for (const made of [launch, x, y]) made.free();
      assert.throws(() => launch.submit({ a: 1 }), /freed/);
    });

    test("is freed after its device was closed, too", async (t) => {
      if (!device) return t.skip(missing);
      const other = await open(name);
      const x = other.from(f32, data);
      const launch = other.prepare(step, { x, y: other.array(f32, n), a: 2, by: 0, times: 1 }, range(n));
      launch.submit({ a: 3 });
      await other.queue.results(launch);
      await other.close();
      launch.free();
      assert.throws(() => launch.submit({ a: 3 }), /closed|freed/);
    });

    test("is refused as prepare refuses", async (t) => {
      if (!device) return t.skip(missing);
      const { queue } = device;
      const [x, y] = [device.from(f32, data), device.array(f32, n)];
      const launch = device.prepare(step, { x, y, a: 2, by: 0, times: 1 }, range(n));
      assert.throws(() => launch.submit({ by: 1 }), /index 1000/);
      assert.throws(() => launch.submit({ by: 0.5 }), /by is i32/);
      assert.throws(() => launch.submit({ x: 1 }), /"x" is not a scalar of it.*prepare a launch for other views/);
      assert.throws(() => launch.submit({ b: 1 }), /"b" is not a scalar/);
      assert.throws(() => launch.submit(5 as never), /give them by name/);
      assert.throws(() => queue.capture(() => launch.submit({ a: 1 })), /cannot be captured; prepare a launch for them before/);
      launch.submit({ by: 1 }, range(n - 1));
      await queue.results(launch);
      for (const made of [launch, x, y]) made.free();
    });
  });

test("launches for the last 16 other numbers are kept, and others freed once they have run", async () => {
  const [submitted, freed]: unknown[][] = [[], []];
  let prepared = 0;
  const device = {
    name: "fake",
    prepare: (_kernel: unknown, args: object) => {
      prepared++;
      return { args, free: () => void freed.push(args) };
    },
    queue: { submit: (launch: { args: unknown }) => void submitted.push(launch.args), record: () => ({ done: () => Promise.resolve() }) },
  };
  const call = { kernel: { name: "k", params: { a: { kind: "scalar" } } }, args: { a: 0 }, policy: range(4), options: {}, device };
  const own = { args: "own" } as unknown as Launch;
  const others = new OtherNumbers(own, call as unknown as ConstructorParameters<typeof OtherNumbers>[1]);
  others.submit();
  assert.deepEqual([submitted.splice(0), others.last], [["own"], undefined]);
  for (let a = 1; a <= 16; a++) others.submit({ a });
  others.submit({ a: 1 });
  assert.equal(prepared, 16);
  assert.deepEqual(submitted.splice(0).at(-1), { a: 1 });
  others.submit({ a: -0 });
  others.submit({ a: 0 });
  await Promise.resolve();
  assert.deepEqual([prepared, freed.splice(0)], [18, [{ a: 2 }, { a: 3 }]], "-0 is another number, and the oldest are freed");
  others.free();
  await Promise.resolve();
  assert.deepEqual([freed.length, others.last], [16, undefined]);
});
