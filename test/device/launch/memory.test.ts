import assert from "node:assert/strict";
import { test } from "node:test";
import { setFlagsFromString } from "node:v8";
import { runInNewContext } from "node:vm";
import { DeviceError, f64, kernel, open, range, sum, view } from "../../../src/index.js";
import { tested } from "../../devices.js";

setFlagsFromString("--expose-gc");
const collect = runInNewContext("gc") as () => void;

const axpy = kernel("axpy", { a: f64, x: view(f64), y: view(f64), s: sum(f64) }, ({ a, x, y, s }, i) => {
  y[i] = a * x[i] + y[i];
  s.add(y[i]);
});

const opened = (name: string) =>
  open(name).catch((error: unknown) => {
    if (error instanceof DeviceError) return error;
    throw error;
  });

for (const name of ["js", "wasm", "native", "opencl"].filter(tested))
  test(`launches on ${name} with arrays of their own leave nothing behind, though the program never waits for an event`, async (t) => {
    const device = await opened(name);
    if (device instanceof Error) return t.skip(device.message);
    const launch = async (times: number): Promise<void> => {
      for (let n = 0; n < times; n++) {
        const [x, y] = [device.array(f64, 100), device.array(f64, 100)];
        await device.run(axpy, { a: 2, x, y }, range(100));
        for (const array of [x, y]) array.free();
      }
    };
    const used = (): number => {
      collect();
      return process.memoryUsage().heapUsed;
    };
    await launch(500);
    const before = used();
    await launch(2000);
    const grown = used() - before;
    assert.ok(grown < 2000 * 1000, `${(grown / 2000).toFixed(0)} bytes a launch`);
    await device.close();
  });
