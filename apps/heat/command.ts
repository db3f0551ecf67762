import type { Command } from "commander";
import type { Shell } from "isoform/portability";
import type { OpenOptions } from "isoform";
import { devices } from "isoform/set";
import { tuned, type Unresolved } from "isoform/skeleton";
import { choicesText } from "../grids.js";
import { cellAxes, heatMap } from "isoform/draw";
import { addGridOptions, count, examples, positive } from "../options.js";
import { DEFAULTS, Heat, type HeatSettings } from "./heat.js";

interface Options extends Unresolved<HeatSettings> {
  devices: string;
  f64?: OpenOptions["f64"];
  steps: number;
  svg?: string;
}

/** Adds `isoform heat`. */
export function command(program: Command, shell: Shell): void {
  const heat = program
    .command("heat")
    .description("the heat equation on a square, compared with its exact solution")
    .option("--size <n>", "cells along each axis", count, DEFAULTS.size)
    .option("--steps <n>", "time steps", count, 1000)
    .option("--ratio <r>", "time step divided by the square of the cell size, at most 0.25", positive, DEFAULTS.ratio)
    .option("--periodic", "make the domain periodic; by default its sides stay at 0");
  addGridOptions(heat)
    .option("--svg <file>", "write a picture of the temperature at the end")
    .addHelpText("after", examples("heat --size 512 --steps 1000 --svg heat.svg", 'heat --devices "wasm*3" --grid sparse --occ two-way'))
    .action((options: Options) => run(options, shell));
}

async function run({ devices: names, f64, steps, svg, ...settings }: Options, shell: Shell): Promise<void> {
  await shell.checkOutputs({ svg });
  const set = await devices(names, { f64 });
  try {
    const heat = await tuned({ ...DEFAULTS, ...settings }, (resolved) => new Heat(set, resolved));
    const seconds = await heat.run(steps);
    const { time, discrete, continuous } = await heat.deviation();
    const { size, grid, layout, periodic, precision } = heat.settings;
    shell.print(
      `${set.name}: ${grid} grid of ${size} x ${size}${periodic ? ", periodic" : ""}, ${layout}, occ ${heat.skeleton.occ}, ${precision}\n${choicesText(heat.skeleton)}` +
        `${steps} steps to t = ${time.toPrecision(3)} in ${seconds.toFixed(3)} s, ${((size * size * steps) / seconds / 1e6).toPrecision(3)} million cells a second\n` +
        `deviation from the exact steps ${discrete.toExponential(1)}, from the equation ${continuous.toExponential(1)}\n`,
    );
    if (svg !== undefined)
      await shell.writeFile(
        svg,
        heatMap({
          title: "heat",
          quantity: "temperature",
          width: size,
          height: size,
          values: await heat.u.download(),
          axes: cellAxes(size, size),
        }),
      );
  } finally {
    await set.close();
  }
}
