import { Option, type Command } from "commander";
import type { Shell } from "isoform/portability";
import type { OpenOptions } from "isoform";
import { devices } from "isoform/set";
import { tuned, type Unresolved } from "isoform/skeleton";
import { choicesText } from "../grids.js";
import { addGridOptions, count, examples } from "../options.js";
import { DEFAULTS, Life, type LifeSettings } from "./life.js";
import { PATTERNS, type PatternName } from "./patterns.js";

interface Options extends Unresolved<LifeSettings> {
  devices: string;
  f64?: OpenOptions["f64"];
  generations: number;
  pattern: PatternName;
}

/** Wider grids are not printed. */
const MOST_COLUMNS = 120;

/** Adds `isoform life`. */
export function command(program: Command, shell: Shell): void {
  const life = program
    .command("life")
    .description("Conway's Game of Life; nothing lives beyond the grid")
    .addOption(
      new Option("--pattern <name>", "pattern in the middle of the grid at the start").choices(Object.keys(PATTERNS)).default("glider-gun"),
    )
    .option("--width <n>", `cells along x; the end is printed if there are at most ${MOST_COLUMNS}`, count, DEFAULTS.width)
    .option("--height <n>", "cells along y", count, DEFAULTS.height)
    .option("--generations <n>", "generations to run", count, 100);
  addGridOptions(life)
    .addHelpText(
      "after",
      examples(
        "life --pattern glider-gun --generations 120",
        'life --pattern r-pentomino --width 640 --height 640 --generations 1103 --devices "wasm*2" --grid bricks',
      ),
    )
    .action((options: Options) => run(options, shell));
}

async function run({ devices: names, f64, generations, pattern, ...settings }: Options, shell: Shell): Promise<void> {
  const set = await devices(names, { f64 });
  try {
    const life = await tuned(settings, (resolved) => new Life(set, resolved, pattern));
    const before = await life.population();
    const seconds = await life.run(generations);
    const { width, height, grid } = life.settings;
    if (width <= MOST_COLUMNS) shell.print((await life.picture()).join("\n"));
    shell.print(
      `${set.name}: ${pattern} on a ${grid} grid of ${width} x ${height}, occ ${life.skeleton.occ}\n${choicesText(life.skeleton)}` +
        `${generations} generations in ${seconds.toFixed(3)} s, ${((width * height * generations) / seconds / 1e6).toPrecision(3)} million cells a second; ` +
        `${await life.population()} cells live, ${before} at the start\n`,
    );
  } finally {
    await set.close();
  }
}
