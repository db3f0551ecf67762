import { Option, type Command } from "commander";
import type { OpenOptions } from "isoform";
import { writeImage } from "isoform/io";
import { tellIndex } from "../vtk-told.js";
import type { Shell } from "isoform/portability";
import { devices } from "isoform/set";
import type { Unresolved } from "isoform/skeleton";
import { choicesText } from "../grids.js";
import { addGridOptions, count, examples, positive, splitOption } from "../options.js";
import { DEFAULTS, makePoisson, PRECONDITIONERS, type PoissonSettings } from "./poisson.js";

interface Options extends Unresolved<PoissonSettings> {
  devices: string;
  f64?: OpenOptions["f64"];
  tolerance: number;
  iterations: number;
  every: number;
  fuse: boolean;
  unroll: number;
  vtk?: string;
  json?: string;
}

/** Adds `isoform poisson`. */
export function command(program: Command, shell: Shell): void {
  const poisson = program
    .command("poisson")
    .description("Poisson's equation on a cube by conjugate gradients, compared with a manufactured solution")
    .option("--size <n>", "cells along each axis", count, DEFAULTS.size)
    .addOption(new Option("--preconditioner <name>", "preconditioner of the conjugate gradients").choices(PRECONDITIONERS).default("none"))
    .option(
      "--sweeps <n>",
      "sweeps of Jacobi's method; with multigrid, this many both before and after each coarser level",
      count,
      DEFAULTS.sweeps,
    )
    .option("--levels <n>", "coarser levels of multigrid; default: down to 4 cells along each axis", count)
    .option("--tolerance <t>", "residual at which the run stops, relative to the right-hand side", positive, 1e-10)
    .option("--iterations <n>", "maximum number of iterations", count, 10000)
    .option("--every <n>", "iterations from one check of the residual to the next", count, 10)
    .option("--no-fuse", "do not merge containers")
    .option("--unroll <n>", "iterations to plan together", count, 1);
  addGridOptions(poisson)
    .addOption(splitOption())
    .option("--vtk <file>", "write the solution as a VTK image (.vti; several processes: .pvti)")
    .option("--json <file>", "write the result as JSON")
    .addHelpText("after", examples("poisson --size 63 --preconditioner multigrid", 'poisson --size 128 --devices "native*2" --occ two-way'))
    .action((options: Options) => run(options, shell));
}

async function run(options: Options, shell: Shell): Promise<void> {
  const { devices: names, f64, tolerance, iterations, every, fuse, unroll, vtk, json, ...settings } = options;
  await shell.checkOutputs({ vtk, json });
  const set = await devices(names, { f64 });
  try {
    const poisson = await makePoisson(set, settings, { fuse, unroll });
    // The first iterations compile kernels, which must not count in the time.
    await poisson.skeleton.run(2 * unroll);
    const solution = await poisson.solve({ tolerance, iterations, every });
    const errors = await poisson.errors();
    const work = await poisson.skeleton.work();
    const { iterations: done, converged, residual, seconds } = solution;
    const { size, grid, layout, precision, preconditioner } = poisson.settings;
    const { occ, choices } = poisson.skeleton;
    const each = seconds / done;
    shell.print(
      `${set.name}: ${[...new Set(set.locals.map(({ device }) => device.label))].join(", ")}\n` +
        `${grid} grid of ${size} x ${size} x ${size}, ${layout}, occ ${occ}, ${fuse ? "fused" : "not fused"}, ${precision}; preconditioner ${preconditioner}\n${choicesText(poisson.skeleton)}` +
        `${converged ? "converged" : "not converged"} in ${done} iterations: residual ${residual.toExponential(2)}\n` +
        `${seconds.toFixed(3)} s, ${(1000 * each).toPrecision(4)} ms an iteration, ${(work.bytes / 1e9 / each).toPrecision(3)} GB/s of ${(work.bytes / size ** 3).toPrecision(3)} bytes a cell\n` +
        `deviation from the manufactured solution: largest ${errors.greatest.toExponential(3)}, root of mean square ${errors.mean.toExponential(3)}\n`,
    );
    if (vtk !== undefined) tellIndex(shell, vtk, await writeImage(vtk, [poisson.x]));
    if (json !== undefined) {
      const result = {
        devices: set.name,
        settings: { ...poisson.settings, occ },
        choices,
        fuse,
        unroll,
        tolerance,
        ...solution,
        errors,
        work,
      };
      await shell.writeFile(json, `${JSON.stringify(result, null, 1)}\n`);
    }
  } finally {
    await set.close();
  }
}
