import type { Command } from "commander";
import { IsoformError } from "isoform";
import { requireHdf5, xdmfOf } from "isoform/io";
import type { OutputFiles, Shell } from "isoform/portability";
import { channelFigure } from "./channel-figure.js";
import { channelProfiles } from "./channel-statistics.js";
import { tubeOf } from "../cases/box-flow.js";
import { flagOf } from "../config/config.js";
import type { CaseName, Config } from "../config/config-keys.js";
import { energyFigure, energyTable, type EnergyHistory } from "./energy.js";
import type { Flow, Simulation } from "../simulation/simulation.js";
import { spectralAxes, type Spectral } from "../measures/spectra.js";
import { spectraFigure, spectraTable } from "./spectra-output.js";
import { columnsOf, writeMeans } from "./statistics-file.js";
import type { Means } from "../measures/statistics.js";
import { fileTable } from "./text-table.js";
import { tubeFigure, tubeProfiles, tubeTable } from "./tube-profiles.js";
import { wallFigure } from "./wall-figure.js";
import { layerWalls, sampledText, wallText } from "./walls.js";

/*
 * Files that describe a flow at the end of a run, each with an option that names it.
 */

/** A run at its end. */
interface Ended {
  readonly name: CaseName;
  readonly config: Config;
  readonly simulation: Simulation;
  /** Means of the samples, or of the flow at the end. */
  readonly means: () => Promise<Means>;
  /** History of a box where it is asked for. */
  readonly energy?: EnergyHistory;
}

interface Output {
  readonly meaning: string | ((name: CaseName) => string);
  /** Default: all cases. */
  readonly cases?: readonly CaseName[];
  /** Throws IsoformError if a flow has no such thing. */
  readonly check?: (flow: Flow) => void;
  readonly write: (path: string, run: Ended, shell: Shell) => Promise<void>;
}

const isHdf5 = (path: string): boolean => path.endsWith(".h5");
const isSvg = (path: string): boolean => path.endsWith(".svg");

/** Spectra along an axis. */
const spectraAlong = (axis: Spectral) =>
  ({
    meaning: (name) =>
      `write spectra of the velocity along ${axis} by wave number${name === "channel" ? ", at each distance from the wall" : ""}: as a table, CSV (.csv) or a figure (.svg); of the samples of --spectra-every, or of the flow at the end`,
    cases: ["channel", "box"],
    check: ({ axes }) => {
      if (!spectralAxes(axes).includes(axis))
        throw new IsoformError(`navier-stokes: one cell along ${axis} has no spectrum: leave out --spectra-${axis}, or ask for more cells`);
    },
    write: async (path, { simulation, means }, shell) => {
      const found = (await simulation.velocitySpectra()).get(axis)!;
      const of = { axis, flow: simulation.flow, spectrum: found, means: await means() };
      await shell.writeFile(path, isSvg(path) ? spectraFigure(of) : fileTable(path, spectraTable(of), [sampledText(found)]));
    },
  }) as const satisfies Output;

const OUTPUTS = {
  statistics: {
    meaning: (name) =>
      `write the 70 averages of STREAmS-2 over time and ${name === "channel" ? "x and z" : "z"}: as a table, CSV (.csv), or HDF5 with XDMF (.h5); of the samples of --stats-every, including those before --restart, or of the flow at the end`,
    write: async (path, { simulation, means }, shell) => {
      const { flow, steps: step, time } = simulation;
      const found = await means();
      if (isHdf5(path)) {
        const now = await time.get();
        if ((simulation.grid.set.ranks?.rank ?? 0) === 0) await writeMeans(path, found, flow, { step, time: now });
      } else await shell.writeFile(path, fileTable(path, columnsOf(found, flow), [sampledText(found)]));
    },
  },
  profiles: {
    meaning: (name) =>
      name === "tube"
        ? "write density, velocity and pressure along the tube: as a table, CSV (.csv), or a figure beside the exact solution (.svg)"
        : "write mean velocity, root mean squares and stresses by distance from the wall, in wall units: as a table, CSV (.csv), or a figure beside the law of the wall (.svg)",
    cases: ["channel", "tube"],
    write: async (path, { name, config, simulation, means }, shell) => {
      if (name === "tube") {
        const tube = tubeOf(config);
        const profiles = await tubeProfiles(simulation, tube);
        await shell.writeFile(path, isSvg(path) ? tubeFigure(tube.name, profiles) : fileTable(path, tubeTable(profiles)));
        return;
      }
      const { flow } = simulation;
      const found = await means();
      const text = isSvg(path)
        ? channelFigure(flow, found)
        : fileTable(path, channelProfiles(flow, found), [wallText(flow, found).trimEnd()]);
      await shell.writeFile(path, text);
    },
  },
  spectraX: spectraAlong("x"),
  spectraZ: spectraAlong("z"),
  energy: {
    meaning:
      "write means over the box of kinetic energy, dissipation and enstrophy (by differences of order 16, to which waves of two or three cells count less) at each sample of --every: as a table, CSV (.csv) or a figure (.svg)",
    cases: ["box"],
    write: async (path, { config, simulation: { flow }, energy }, shell) => {
      const { motions } = energy!;
      const isKnown = config.flow === "taylor-green" && config.re === 1600;
      await shell.writeFile(path, isSvg(path) ? energyFigure(flow, motions, isKnown) : fileTable(path, energyTable(flow, motions)));
    },
  },
  wall: {
    meaning:
      "write friction and heat flux along the wall, and the layer's thicknesses: as a table, CSV (.csv), or a figure beside known laws of friction (.svg)",
    cases: ["layer", "shock"],
    write: async (path, { config, simulation: { flow }, means }, shell) => {
      const found = await means();
      const text = isSvg(path)
        ? wallFigure(flow, found, config.inflow === "laminar" ? "laminar" : "turbulent")
        : fileTable(path, layerWalls(flow, found), [sampledText(found)]);
      await shell.writeFile(path, text);
    },
  },
} as const satisfies Record<string, Output>;

const NAMES = Object.keys(OUTPUTS) as (keyof typeof OUTPUTS)[];
const outputOf = (name: keyof typeof OUTPUTS): Output => OUTPUTS[name];

/** Files that outputs go to, where they are asked for. */
export type OutputPaths = { readonly [name in keyof typeof OUTPUTS]?: readonly string[] };

/** Adds an option for each output of a case. */
export function addOutputs(command: Command, name: CaseName): void {
  for (const output of NAMES) {
    const { meaning, cases } = outputOf(output);
    if (cases?.includes(name) ?? true)
      command.option(`${flagOf(output)} <file...>`, `${typeof meaning === "string" ? meaning : meaning(name)}; one file or several`);
  }
}

/** The files that are asked for, by option. Throws IsoformError if one is HDF5, and the package for it is missing. */
export async function pathsOf(paths: OutputPaths): Promise<OutputFiles> {
  for (const path of paths.statistics ?? []) if (isHdf5(path)) await requireHdf5(path);
  const filesOf = (path: string): string[] => (isHdf5(path) ? [path, xdmfOf(path)] : [path]);
  return Object.fromEntries(NAMES.map((name) => [name, paths[name]?.flatMap(filesOf)]));
}

/** Throws IsoformError if something is asked for that a flow does not have. */
export function checkOutputs(paths: OutputPaths, flow: Flow): void {
  for (const name of NAMES) if (paths[name]) outputOf(name).check?.(flow);
}

/** Writes what is asked for. */
export async function writeOutputs(paths: OutputPaths, run: Ended, shell: Shell): Promise<void> {
  for (const name of NAMES) for (const path of paths[name] ?? []) await outputOf(name).write(path, run, shell);
}
