import { complex, f64, open, type View } from "isoform";
import { fft, type ComplexViews } from "isoform/patterns";
import { besidePython } from "./beside-python.js";
import { parseArgs } from "./command-line.js";

/*
 * Fourier transforms beside SciPy's on one thread, by turns:
 *   PYTHONPATH=... node dist/bench/fft.js [--devices native,wasm] [--n 1048576] [--rounds 20] [--precision strict]
 */

const { values: options } = parseArgs({
  options: {
    devices: { type: "string", default: "native,wasm" },
    n: { type: "string", default: String(2 ** 20) },
    rounds: { type: "string", default: "20" },
    precision: { type: "string", default: "strict" },
  },
});
const n = Number(options.n);

const SCIPY = `
import numpy, scipy.fft
x = numpy.sin(numpy.arange(n) ** 2 * .3) + 1j * numpy.cos(numpy.arange(n) * 1.7)
run = lambda: scipy.fft.fft(x, workers=1)
`;

const devices = await Promise.all(options.devices.split(",").map((name) => open(name)));
const variants = devices.flatMap((device) => {
  device.precision = options.precision === "fast" ? "fast" : "strict";
  const fill = (view: View): void =>
    device.queue.write(
      view,
      Float64Array.from({ length: view.size }, (_, k) => Math.sin(k * k * 0.3)),
    );
  const pairs = (): View<"f64"> => device.array(complex, n);
  const parts = (): { re: View<"f64">; im: View<"f64"> } => ({ re: device.array(f64, n), im: device.array(f64, n) });
  const [input, split] = [pairs(), parts()];
  for (const view of [input, split.re, split.im]) fill(view);
  const made = (name: string, from: ComplexViews, to: ComplexViews) => {
    const pattern = fft(device, { input: from, output: to });
    return { name: `${device.name}, ${name}`, run: () => pattern.run() };
  };
  return [made("complex", input, pairs()), made("{ re, im }", split, parts())];
});
await besidePython("SciPy", SCIPY, n, variants, Number(options.rounds));
await Promise.all(devices.map((device) => device.close()));
