import type { OpenOptions } from "isoform";
import { IsoformError, open } from "isoform";
import { Option, type Command } from "commander";
import { measurePeaks, type Shell } from "isoform/portability";
import { count, deviceOption, examples, f64Option, precisionOption } from "../../options.js";
import { agrees, BYTES_PER_PARTICLE, DEPOSITS, difference, LAYOUTS, Push, tolerances, type PushOptions } from "./push.js";

interface Options extends PushOptions {
  devices: string;
  f64?: OpenOptions["f64"];
  calls: number;
  json?: string;
}

/** Calls before the timed ones. */
const WARM_UP = 2;
const SORTS = 5;

/** Adds `isoform pic push`. */
export function addPush(pic: Command, shell: Shell): void {
  pic
    .command("push")
    .description("benchmark of the push along axis 1 alone, after Artigues et al. (2019): cubic splines, 16 x 8 x 8 cells")
    .addOption(deviceOption())
    .addOption(f64Option())
    .option("--particles <n>", "particles; the paper has 10000000", count, 1_000_000)
    .addOption(
      new Option(
        "--deposit <how>",
        "how currents are added up: by a scatter strategy, or with particles sorted by cell and a team for each cell (cells)",
      )
        .choices(DEPOSITS)
        .default("auto"),
    )
    .addOption(
      new Option("--layout <name>", "how particles are stored: components apart (soa) or together (aos)")
        .choices(Object.keys(LAYOUTS))
        .default("soa"),
    )
    .addOption(precisionOption())
    .option("--hot", "make particles so fast that every eighth one changes its cell")
    .option("--calls <n>", "calls to time, forwards and backwards in time by turns", count, 10)
    .option("--json <file>", "write the result as JSON")
    .addHelpText("after", examples("pic push --devices native", "pic push --particles 100000 --deposit cells --hot"))
    .action((options: Options) => run(options, shell));
}

async function run({ devices: name, f64, calls, json, ...options }: Options, shell: Shell): Promise<void> {
  await shell.checkOutputs({ json });
  const device = await open(name, { f64 });
  try {
    const { bandwidth } = await measurePeaks(device, { repeats: 5 });
    const push = await Push.create(device, options);
    await push.run(WARM_UP);
    const seconds = median(await push.run(calls));
    const sorts = await push.sort(SORTS);
    const expected = await push.expected();
    const off = difference(await push.result(), expected);
    const most = tolerances(device);
    const bytes = BYTES_PER_PARTICLE[options.layout] * options.particles;
    const result = {
      ...options,
      device: device.name,
      label: device.label,
      calls,
      seconds,
      sortSeconds: sorts && median(sorts),
      bytes,
      bandwidth,
      off,
      remarks: push.remarks,
    };
    shell.print(summary(result));
    if (json !== undefined) await shell.writeFile(json, `${JSON.stringify(result, null, 1)}\n`);
    if (!agrees(off, most))
      throw new IsoformError(
        `pic push: ${options.deposit} differs from one worker in order by ${off.velocity.toExponential(1)} in velocities ` +
          `(${most.velocity.toExponential(1)} at most) and ${off.current.toExponential(1)} in the current (${most.current.toExponential(1)} at most): please report it`,
      );
    push.free();
  } finally {
    await device.close();
  }
}

interface Result extends PushOptions {
  device: string;
  label: string;
  seconds: number;
  sortSeconds?: number;
  bytes: number;
  bandwidth: number;
  off: { velocity: number; current: number };
  remarks: readonly string[];
}

const summary = ({
  device,
  label,
  particles,
  deposit,
  layout,
  precision,
  hot,
  seconds,
  sortSeconds,
  bytes,
  bandwidth,
  off,
  remarks,
}: Result): string =>
  [
    `${device}: ${label}`,
    `push: ${particles} particles${hot ? ", hot" : ""}, ${deposit}, ${layout}, ${precision}`,
    ...remarks,
    `${((1e9 * seconds) / particles).toPrecision(4)} ns a particle, ${(bytes / seconds / 1e9).toPrecision(3)} GB/s by ${bytes / particles} bytes a particle`,
    ...(sortSeconds === undefined ? [] : [`a sort takes ${((1e9 * sortSeconds) / particles).toPrecision(4)} ns a particle`]),
    `${((100 * bytes) / bandwidth / seconds).toPrecision(3)} % of the floor: these bytes at the copy bandwidth, ${(bandwidth / 1e9).toPrecision(3)} GB/s`,
    `against one worker in order: velocities differ by ${off.velocity.toExponential(1)}, the current by ${off.current.toExponential(1)} of its mean if all flew forwards`,
  ].join("\n");

function median(values: readonly number[]): number {
  const sorted = [...values].sort((a, b) => a - b);
  return sorted[sorted.length >> 1];
}
