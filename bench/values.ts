import { mkdirSync, writeFileSync } from "node:fs";
import { dirname } from "node:path";
import { compileKernel, f64, open, range, type Device, type Launch, type View } from "isoform";
import { printKernel } from "isoform/ir";
import { commandLine, parseArgs } from "./command-line.js";
import { interleave } from "./interleave.js";
import { REACH, VALUE_KERNELS, type ValueKernel } from "./values-kernels.js";

/*
 * What vectors, matrices and records cost: kernels with them beside the same by hand. Their code must be one up to names, and their times within
 * 3 %; else the exit code is 1.
 *   node dist/bench/values.js [--devices wasm,native] [--elements 200000] [--rounds 15] [--json F]
 */

const { values: options } = parseArgs({
  options: {
    devices: { type: "string", default: "wasm,native" },
    elements: { type: "string", default: "200000" },
    rounds: { type: "string", default: "15" },
    json: { type: "string" },
  },
});
const n = Number(options.elements);
/** Differences of times that are noise. */
const WITHIN = 0.03;

/** The code after the passes, its locals by the order in which they come. */
function codeOf(kernel: ValueKernel["values"]): string {
  const lines = printKernel(compileKernel(kernel, {}).ir).split("\n");
  const text = lines.filter((line) => !/^ {2}(scalar|view|reduce) /.test(line)).join("\n");
  const names = [...new Set(Array.from(text.matchAll(/let (\w+)/g), ([, name]) => name))];
  return text.replace(/\b[a-zA-Z]\w*\b/g, (word) => (names.includes(word) ? `t${names.indexOf(word)}` : word));
}

function arraysOf(device: Device, { arrays }: ValueKernel): Record<string, View> {
  return Object.fromEntries(
    Object.entries(arrays).map(([name, each]) => {
      const shape = each === 1 ? [n] : each === 9 ? [n, 3, 3] : [n, each];
      return [
        name,
        device.from(
          f64,
          Float64Array.from({ length: n * each }, (_, k) => Math.sin(k * 0.7) * 0.5),
          shape,
        ),
      ];
    }),
  );
}

/** Views under the names of the parameters: those of a record's fields in one object. */
function argumentsOf({ name, scalars }: ValueKernel, views: Record<string, View>, asValues: boolean): Record<string, unknown> {
  if (name !== "records" || !asValues) return { ...views, ...scalars };
  return { rays: { o: views.rays_o, d: views.rays_d, t: views.rays_t }, ...scalars };
}

const rows: Record<string, unknown>[] = [];
let missed = false;
for (const name of options.devices.split(",")) {
  const device = await open(name);
  for (const each of VALUE_KERNELS) {
    const views = arraysOf(device, each);
    const over = range([REACH, n - REACH]);
    const launches = [each.hand, each.values].map((kernel, form): Launch =>
      device.prepare(kernel, argumentsOf(each, views, form === 1), over),
    );
    const variants = launches.map((launch, form) => ({
      name: form === 0 ? "by hand" : "as values",
      async run(times: number): Promise<void> {
        for (let k = 0; k < times; k++) device.queue.submit(launch);
        await device.queue.finish();
      },
    }));
    const [hand, values] = await interleave(variants, { rounds: Number(options.rounds), sample: 0.01, warmUp: 0.2 });
    const isSame = codeOf(each.values) === codeOf(each.hand);
    const row = {
      device: device.label,
      backend: name,
      kernel: each.name,
      isSame,
      seconds: values.seconds,
      byHand: hand.seconds,
      ratio: values.ratio,
    };
    rows.push(row);
    if (!isSame || values.ratio < 1 - WITHIN) missed = true;
    console.log(`${name}  ${each.name}: code ${isSame ? "the same" : "differs"}, by hand over as values ${values.ratio.toFixed(3)}`);
    launches.forEach((launch) => launch.free());
    Object.values(views).forEach((view) => view.free());
  }
  await device.close();
}
if (options.json !== undefined) {
  mkdirSync(dirname(options.json), { recursive: true });
  writeFileSync(options.json, `${JSON.stringify({ command: commandLine("dist/bench/values.js"), rows }, undefined, 2)}\n`);
}
process.exitCode = missed ? 1 : 0;
