import { f64, open } from "isoform";
import { gemm } from "isoform/patterns";
import { besidePython } from "./beside-python.js";
import { parseArgs } from "./command-line.js";

/*
 * Products of square matrices beside NumPy's (OpenBLAS, on all cores), by turns:
 *   PYTHONPATH=... node dist/bench/gemm.js [--devices native,wasm] [--n 1024] [--rounds 10] [--precision fast]
 */

const { values: options } = parseArgs({
  options: {
    devices: { type: "string", default: "native,wasm" },
    n: { type: "string", default: "1024" },
    rounds: { type: "string", default: "10" },
    precision: { type: "string", default: "fast" },
  },
});
const n = Number(options.n);

const NUMPY = `
import numpy
a = numpy.sin(numpy.arange(n * n)).reshape(n, n)
b = numpy.cos(numpy.arange(n * n)).reshape(n, n)
run = lambda: a @ b
`;

const devices = await Promise.all(options.devices.split(",").map((name) => open(name)));
const variants = devices.map((device) => {
  device.precision = options.precision === "strict" ? "strict" : "fast";
  const [a, b] = [Math.sin, Math.cos].map((of) =>
    device.from(
      f64,
      Float64Array.from({ length: n * n }, (_, k) => of(k)),
      [n, n],
    ),
  );
  const pattern = gemm(device, { a, b, c: device.array(f64, [n, n]) });
  return { name: device.name, run: () => pattern.run() };
});
await besidePython("NumPy", NUMPY, n, variants, Number(options.rounds));
await Promise.all(devices.map((device) => device.close()));
