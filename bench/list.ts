import { f64, i32, kernel, list, open, range, view } from "isoform";
import { besidePython } from "./beside-python.js";
import { parseArgs } from "./command-line.js";

/*
 * Places of the numbers below a bound, beside `numpy.flatnonzero`, by turns, and whether they are the same:
 *   PYTHONPATH=... node dist/bench/list.js [--devices native,wasm] [--n 16777216] [--kept .01,.25,.5] [--threads 2] [--rounds 20] [--precision fast]
 */

const { values: options } = parseArgs({
  options: {
    devices: { type: "string", default: "native,wasm" },
    n: { type: "string", default: "16777216" },
    kept: { type: "string", default: ".01,.25,.5" },
    threads: { type: "string", default: "2" },
    rounds: { type: "string", default: "20" },
    precision: { type: "string", default: "fast" },
  },
});
const n = Number(options.n);

const below = kernel("below", { x: view(f64), bound: f64, places: list(i32) }, ({ x, bound, places }, i) => {
  if (x[i] < bound) places.push(i);
});

/** Numbers from 0 to below 1: a product with the golden ratio's bits, whose low bits another product takes. */
const NUMPY = (bound: string): string => `
import numpy
k = numpy.arange(n, dtype=numpy.uint64)
k = (k * numpy.uint64(2654435769)) & numpy.uint64(0xffffffff)
k = ((k ^ (k >> numpy.uint64(15))) * numpy.uint64(739982445)) & numpy.uint64(0xffffffff)
x = (k ^ (k >> numpy.uint64(12))) / 2.0 ** 32
run = lambda: numpy.flatnonzero(x < ${bound})
`;

const numbers = Float64Array.from({ length: n }, (_, i) => {
  let k = Math.imul(i, 2654435769) >>> 0;
  k = Math.imul(k ^ (k >>> 15), 739982445) >>> 0;
  return ((k ^ (k >>> 12)) >>> 0) / 2 ** 32;
});

const devices = await Promise.all(options.devices.split(",").map((name) => open(name, { threads: Number(options.threads) })));
for (const bound of options.kept.split(",")) {
  const expected: number[] = [];
  for (let i = 0; i < n; i++) if (numbers[i] < Number(bound)) expected.push(i);
  const variants = await Promise.all(
    devices.map(async (device) => {
      const places = device.list(i32, n);
      const x = device.from(f64, numbers);
      const launch = device.prepare(below, { x, bound: Number(bound), places }, range(n), {
        precision: options.precision === "strict" ? "strict" : "fast",
      });
      launch.submit();
      const { places: length } = await device.queue.results(launch);
      const found = await device.queue.read(places.view);
      const right = length === expected.length && expected.every((place, k) => found[k] === place);
      console.log(`${device.name}: ${length} of ${n} kept, ${right ? "all right" : "WRONG"}`);
      return {
        name: device.name,
        run: async () => {
          device.queue.submit(launch);
          await device.queue.finish();
        },
      };
    }),
  );
  await besidePython("flatnonzero", NUMPY(bound), n, variants, Number(options.rounds));
}
await Promise.all(devices.map((device) => device.close()));
