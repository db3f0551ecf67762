import type { Command } from "commander";
import type { OpenOptions, Precision } from "isoform";
import { open } from "isoform";
import type { Shell } from "isoform/portability";
import { tableText } from "isoform/portability";
import { count, deviceOption, examples, f64Option, positive, precisionOption } from "../options.js";
import { DEFAULT_GIB, Stream, elements } from "./stream.js";

interface StreamOptions {
  gib: number;
  devices: string;
  f64?: OpenOptions["f64"];
  iterations: number;
  precision: Precision;
  json?: string;
}

/** Commands whose data lies in one process. */
export const inOneProcess = ["stream"];

/** Adds `isoform stream`. */
export function command(program: Command, shell: Shell): void {
  program
    .command("stream")
    .description("memory bandwidth of a device by the kernels of BabelStream: copy, mul, add, triad, dot")
    .option("--gib <size>", "size of the three arrays together, in GiB", positive, DEFAULT_GIB)
    .addOption(deviceOption())
    .addOption(f64Option())
    .option("--iterations <n>", "runs of each kernel; the first is left out of the times", count, 100)
    .addOption(precisionOption())
    .option("--json <file>", "write the result as JSON")
    .addHelpText("after", examples("stream --devices native", "stream --gib 0.1 --iterations 20 --json stream.json"))
    .action((options: StreamOptions) => run(options, shell));
}

async function run({ gib, devices: name, f64, iterations, precision, json }: StreamOptions, shell: Shell): Promise<void> {
  await shell.checkOutputs({ json });
  const device = await open(name, { f64 });
  try {
    const n = elements(gib);
    const stream = Stream.create(device, n, precision);
    const task = shell.progress("stream");
    const { seconds, sum } = await stream.run(iterations, (done) => task.update(done, iterations));
    task.done();
    const deviation = await stream.deviation(iterations, sum);
    const kernels = stream.launches.map(({ kernel, cost }) => {
      const counted = iterations > 1 ? seconds[kernel.name].slice(1) : seconds[kernel.name];
      const least = Math.min(...counted);
      return {
        name: kernel.name,
        ...cost,
        least,
        most: Math.max(...counted),
        mean: counted.reduce((a, b) => a + b) / counted.length,
        bandwidth: cost.bytes / least,
      };
    });
    shell.print(
      `${device.name}: ${device.label}\n${n} doubles an array, ${iterations} iterations, largest deviation ${deviation.toExponential(2)}\n`,
    );
    const ms = (s: number) => (1000 * s).toFixed(4);
    shell.print(
      tableText({
        title: "",
        columns: ["kernel", "GB/s", "min ms", "mean ms", "max ms"],
        labels: 1,
        rows: kernels.map((k) => [k.name, (k.bandwidth / 1e9).toPrecision(4), ms(k.least), ms(k.mean), ms(k.most)]),
      }).trimStart(),
    );
    if (json !== undefined)
      await shell.writeFile(
        json,
        `${JSON.stringify({ device: device.name, label: device.label, n, iterations, deviation, kernels }, null, 1)}\n`,
      );
  } finally {
    await device.close();
  }
}
