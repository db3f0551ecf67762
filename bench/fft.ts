import { spawn } from "node:child_process";
import { once } from "node:events";
import { createInterface } from "node:readline";
import { loadavg } from "node:os";
import { complex, f64, open, type View } from "isoform";
import { fft, type ComplexViews } from "isoform/patterns";
import { parseArgs } from "./command-line.js";
import { quantile } from "./interleave.js";

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
const [n, rounds] = [Number(options.n), Number(options.rounds)];

/** Prints the seconds of a transform for each line that it is given. */
const PEER = `
import sys, time, numpy, scipy.fft
n = int(sys.argv[1])
x = numpy.sin(numpy.arange(n) ** 2 * .3) + 1j * numpy.cos(numpy.arange(n) * 1.7)
scipy.fft.fft(x, workers=1)
print("ready", flush=True)
for _ in sys.stdin:
    begin = time.perf_counter()
    scipy.fft.fft(x, workers=1)
    print(time.perf_counter() - begin, flush=True)
`;

const peer = spawn("python3", ["-c", PEER, String(n)], { stdio: ["pipe", "pipe", "inherit"] });
const lines = createInterface({ input: peer.stdout })[Symbol.asyncIterator]();
const answer = async (): Promise<string> => (await lines.next()).value ?? "";
await answer();

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
  const made = (name: string, from: ComplexViews, to: ComplexViews) => ({
    name: `${device.name}, ${name}`,
    pattern: fft(device, { input: from, output: to }),
    times: [] as number[],
  });
  return [made("complex", input, pairs()), made("{ re, im }", split, parts())];
});
for (const { pattern } of variants) await pattern.run();

const scipy: number[] = [];
for (let round = 0; round < rounds; round++) {
  peer.stdin.write("\n");
  scipy.push(Number(await answer()));
  for (const { pattern, times } of variants) {
    const begin = performance.now();
    await pattern.run();
    times.push((performance.now() - begin) / 1000);
  }
}
peer.stdin.end();
await once(peer, "close");
const shown = (name: string, times: readonly number[]): void => {
  const [median, tenth] = [quantile(times, 0.5), quantile(times, 0.1)];
  const ratio = (of: number): string => (quantile(times, of) / quantile(scipy, of)).toFixed(2);
  console.log(
    `${name}: median ${(median * 1000).toFixed(2)} ms, of SciPy's ${ratio(0.5)}; fastest tenth ${(tenth * 1000).toFixed(2)} ms, ${ratio(0.1)}`,
  );
};
console.log(`${n} complex f64, ${options.precision}, load ${loadavg()[0].toFixed(1)}`);
shown("SciPy", scipy);
for (const { name, times } of variants) shown(name, times);
await Promise.all(devices.map((device) => device.close()));
