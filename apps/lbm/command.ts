import type { Command } from "commander";
import { InvalidArgumentError, Option } from "commander";
import { previousOf, writeImage } from "isoform/io";
import { tellIndex } from "../vtk-told.js";
import type { Shell } from "isoform/portability";
import { tableText } from "isoform/portability";
import { IsoformError, type OpenOptions } from "isoform";
import { devices } from "isoform/set";
import type { Unresolved } from "isoform/skeleton";
import { addConfig } from "../config.js";
import { choicesText } from "../grids.js";
import { heatMap } from "isoform/draw";
import { addGridOptions, count, examples, nonNegative, positive, splitOption } from "../options.js";
import { cavity, compareWithGhia, type Compared } from "./cavity.js";
import type { Reynolds } from "./ghia.js";
import { publishedCylinders } from "./cylinder-references.js";
import { D2Q9, D3Q19 } from "./lattice.js";
import {
  CYLINDER_BOX,
  SPHERE_BOX,
  coefficients,
  cylinder,
  cylinderSchedule,
  schillerNaumann,
  sphere,
  sphereSchedule,
  streetOf,
  williamson,
  type Box,
} from "./obstacle.js";
import { COLLISIONS, DEFAULTS, STORED, PATTERNS, Simulation, STORAGES, TYPES, WALLS, type Flow, type Settings } from "./simulation.js";
import { plane, runToSteadyState, vorticity, watchForce, type AnyWatch } from "./run.js";
import { Interrupted, KEPT, keeper, openSaved, restoreFlow, type SavedFlow } from "./saving.js";
import { vortex, watchDecay } from "./vortex.js";

interface Options extends Unresolved<Settings> {
  re: number;
  size: number;
  speed: number;
  box?: Box;
  devices: string;
  f64?: OpenOptions["f64"];
  steps?: number;
  dimension?: "2" | "3";
  periodic?: readonly ("x" | "z")[];
  config?: string;
  checkpoint?: string;
  checkpointEvery: number;
  restart?: string;
  svg?: string;
  vtk?: string;
  json?: string;
}

type Given = Omit<Options, "speed"> & { readonly speed?: number };

/** Results of a case besides the flow itself. */
interface Outcome {
  readonly text: string;
  readonly data: object;
}

interface Case {
  readonly name: string;
  readonly description: string;
  readonly size: { readonly meaning: string; readonly default: number };
  /** Thing that moves at `--speed`. */
  readonly moves: string;
  /** Command lines for the help. */
  readonly examples: readonly string[];
  /** Default of `--speed`, in cells a step. Default: 0.1. */
  readonly speed?: (size: number) => number;
  /** The room around a body in a stream. */
  readonly box?: Box;
  flow(options: Options): Flow;
  solve(simulation: Simulation, options: Options, watch: AnyWatch): Promise<Outcome>;
}

const CASES: readonly Case[] = [
  {
    name: "cavity",
    description:
      "flow in a square cavity with a moving lid, until it is steady; at Re 100, 400 and 1000 compared with Ghia, Ghia and Shin (1982)",
    size: { meaning: "cells of fluid along each side", default: 129 },
    moves: "the lid",
    examples: ["lbm cavity --re 400 --size 129 --devices native --svg cavity.svg", "lbm cavity --size 32 --pattern aa"],
    flow: ({ re, size, speed, dimension, periodic }) =>
      cavity({ reynolds: re, size, speed, periodic, lattice: dimension === "3" ? D3Q19 : D2Q9 }),
    async solve(simulation, { re, size, speed, steps, dimension, periodic = [] }, watch) {
      const change = await runToSteadyState(simulation, { interval: Math.round(size / speed), tolerance: 1e-6 * speed, steps }, watch);
      const text = `largest change of the velocity in the last ${Math.round(size / speed)} steps: ${(change / speed).toExponential(1)} of the lid speed\n`;
      if (dimension === "3" || periodic.length > 0 || ![100, 400, 1000].includes(re)) return { text, data: { change } };
      const comparison = await compareWithGhia(simulation, re as Reynolds, speed);
      const [u, v] = comparison.errors.map((error) => `${(100 * error).toFixed(2)} %`);
      return {
        text:
          text +
          profileText("u along the vertical centre line", "y", comparison.u) +
          profileText("v along the horizontal centre line", "x", comparison.v) +
          `largest deviation from the published values: u ${u}, v ${v} of the lid speed\n`,
        data: { change, ...comparison },
      };
    },
  },
  {
    name: "cylinder",
    description: "flow past a cylinder: drag, lift and, from Re 50 on, the frequency of its vortex street",
    size: { meaning: "cells along the diameter", default: 16 },
    moves: "the stream",
    examples: [
      "lbm cylinder --re 100 --size 16 --devices native --svg street.svg",
      "lbm cylinder --re 100 --size 16 --box 20,30,48 --devices cuda:0",
    ],
    box: CYLINDER_BOX,
    flow: ({ re, ...options }) => cylinder({ reynolds: re, ...options }),
    async solve(simulation, { re, size, speed, steps }, watch) {
      const options = { reynolds: re, size, speed };
      const schedule = withSteps(cylinderSchedule(options), steps);
      const samples = (await watchForce(simulation, schedule, watch)).map((force) => coefficients(force, options, 2));
      const street = streetOf(samples, schedule.interval, options);
      return {
        text:
          `drag coefficient ${street.drag.toFixed(4)} (mean), lift coefficient up to ${street.lift.toFixed(4)}\n` +
          strouhalText(street.strouhal, re) +
          publishedText(re),
        data: { ...street, published: publishedCylinders(re), samples },
      };
    },
  },
  {
    name: "sphere",
    description: "flow past a sphere in a round channel: drag, compared with Schiller and Naumann (1933)",
    size: { meaning: "cells along the diameter", default: 12 },
    moves: "the stream",
    examples: ["lbm sphere --re 100 --size 12 --grid sparse --type f32 --vtk sphere.vti"],
    box: SPHERE_BOX,
    flow: ({ re, ...options }) => sphere({ reynolds: re, ...options }),
    async solve(simulation, { re, size, speed, steps }, watch) {
      const options = { reynolds: re, size, speed };
      const schedule = withSteps(sphereSchedule(options), steps);
      const samples = (await watchForce(simulation, schedule, watch)).map((force) => coefficients(force, options, 3));
      const { drag } = samples.at(-1)!;
      const published = schillerNaumann(re);
      return {
        text: `drag coefficient ${drag.toFixed(4)}; Schiller and Naumann (1933): ${published.toFixed(4)} (${(100 * (drag / published - 1)).toFixed(1)} %)\n`,
        data: { drag, published, samples },
      };
    },
  },
  {
    name: "vortex",
    description: "decay of vortices in a periodic box, compared with the solution of Taylor and Green (1937)",
    size: { meaning: "cells along each axis", default: 64 },
    moves: "the vortices at the start",
    examples: ["lbm vortex --re 20 --size 64 --devices wasm"],
    // The speed falls with the size of a cell, so that compressibility errors fall as fast as discretisation errors.
    speed: (size) => 0.64 / size,
    flow: ({ re, size, speed, dimension }) => vortex({ reynolds: re, size, speed, lattice: dimension === "3" ? D3Q19 : D2Q9 }),
    async solve(simulation, { steps }, watch) {
      const decay = await watchDecay(simulation, steps, watch);
      const { rate, expected, deviation } = decay;
      return {
        text:
          `decay rate ${rate.toPrecision(5)} a step; 2 nu k^2 is ${expected.toPrecision(5)} (${(100 * (rate / expected - 1)).toFixed(3)} %)\n` +
          `deviation of the velocity from the solution ${(100 * deviation).toFixed(3)} % (root mean square)\n`,
        data: decay,
      };
    },
  },
];

function strouhalText(strouhal: number | undefined, reynolds: number): string {
  if (strouhal === undefined) return "no vortices are shed\n";
  const published = williamson(reynolds);
  return `Strouhal number ${strouhal.toFixed(4)}${published === undefined ? "" : `; Williamson (1988), Re 49 to 178: ${published.toFixed(4)}`}\n`;
}

const publishedText = (reynolds: number): string =>
  publishedCylinders(reynolds)
    .map(({ source, drag, lift, strouhal }) => {
      const values = [
        ["drag", drag],
        ["lift", lift],
        ["Strouhal number", strouhal],
      ] as const;
      return `${source}: ${values.flatMap(([name, value]) => (value === undefined ? [] : [`${name} ${value}`])).join(", ")}\n`;
    })
    .join("");

/** The vorticity at which the picture's colours end: about a street's vortices, well below the vorticity at the body. */
const WAKE = 2;

/** Places in diameters of the body, or in sides of the box. */
function axesOf({ name }: Case, { size }: Options, [width, height]: readonly number[]) {
  const [unit, by] = name === "cylinder" || name === "sphere" ? [size, "diameter"] : [width, "length of the box"];
  return {
    x: { label: `x / ${by}`, from: 0, to: width / unit },
    y: { label: `y / ${by}`, from: 0, to: height / unit },
  };
}

function periodicText({ periodic }: Flow): string {
  if (typeof periodic !== "object") return periodic ? ", periodic" : "";
  return `, periodic along ${["x", "y", "z"].filter((_, axis) => periodic[axis]).join(" and ")}`;
}

const withSteps = <S extends { steps: number }>(schedule: S, steps = schedule.steps): S => ({ ...schedule, steps });

/** Three lengths in diameters, as 10,20,24. */
function boxOf(text: string): Box {
  const [before, behind, across, ...others] = text.split(",").map((word) => (word.trim() === "" ? Number.NaN : Number(word)));
  if (others.length > 0 || ![before, behind, across].every((length) => Number.isFinite(length) && length > 0))
    throw new InvalidArgumentError("It needs three lengths in diameters: upstream of the body, downstream and across, as in 10,20,24.");
  return { before, behind, across };
}

/** Axes along which a cavity may have no walls. */
function axesOfText(text: string): readonly ("x" | "z")[] {
  const axes = text.split(",").map((word) => word.trim());
  if (axes.includes("y")) throw new InvalidArgumentError("The lid moves at the end of the axis y: give x, z or x,z.");
  if (!axes.every((axis) => axis === "x" || axis === "z") || new Set(axes).size < axes.length)
    throw new InvalidArgumentError("It needs axes, each once: x, z or x,z.");
  return axes as ("x" | "z")[];
}

/** Adds `isoform lbm`. */
export function command(program: Command, shell: Shell): void {
  const lbm = program.command("lbm").description("flows by the lattice Boltzmann method");
  for (const each of CASES) {
    const own = addConfig(lbm.command(each.name).description(each.description))
      .option("--re <number>", "Reynolds number", positive, 100)
      .option("--size <n>", each.size.meaning, count, each.size.default)
      .option(
        "--speed <u>",
        `speed of ${each.moves}, in cells a step; the Mach number is 1.73 times that (default: ${each.speed ? "0.64 divided by --size" : "0.1"})`,
        positive,
      )
      .option("--steps <n>", "maximum number of steps; default: as many as the flow needs", count)
      .addOption(new Option("--type <name>", "type of the populations").choices(Object.keys(TYPES)).default(DEFAULTS.type))
      .addOption(
        new Option("--collision <model>", "one relaxation time (bgk) or two (trt)").choices(COLLISIONS).default(DEFAULTS.collision),
      );
    own
      .addOption(
        new Option("--storage <name>", "stores populations, which are f32 then, in 16 bits: half of the memory and its bandwidth").choices(
          STORAGES,
        ),
      )
      .option(
        "--smagorinsky <c>",
        "constant of Smagorinsky's model of eddies smaller than cells, 0.1 to 0.2; 0 is without",
        nonNegative,
        DEFAULTS.smagorinsky,
      );
    own.addOption(
      new Option(
        "--pattern <name>",
        "two populations (pull), or one in half the memory (aa: for closed flows, on a dense grid of one device)",
      )
        .choices(PATTERNS)
        .default(DEFAULTS.pattern),
    );
    if (each.name === "cavity" || each.name === "vortex")
      own.addOption(new Option("--dimension <n>", "dimensions of space: 2 (D2Q9) or 3 (D3Q19)").choices(["2", "3"]).default("2"));
    if (each.name === "cavity")
      own.addOption(
        new Option("--periodic <axes>", "axes without walls, as in x or x,z: x makes a channel whose wall drags the fluid along").argParser(
          axesOfText,
        ),
      );
    if (each.box) {
      const { before, behind, across } = each.box;
      own
        .addOption(
          new Option(
            "--box <lengths>",
            "size of the box: upstream of the body's centre, downstream of it and across the stream, in diameters",
          )
            .argParser(boxOf)
            .default(each.box, `${before},${behind},${across}`),
        )
        .addOption(
          new Option(
            "--wall <where>",
            "where the body begins: half-way between cells, or at its surface by interpolation (Bouzidi et al. 2001)",
          )
            .choices(WALLS)
            .default("interpolated"),
        );
    }
    addGridOptions(own)
      .addOption(splitOption())
      .option(
        "--svg <file>",
        each.name === "cylinder" ? "write a picture of the vorticity" : "write a picture of the speed, in 3D in the middle plane",
      )
      .option("--vtk <file>", "write density and velocity as a VTK image (.vti; several processes: .pvti)")
      .option("--json <file>", "write the result as JSON")
      .option(
        "--checkpoint <file>",
        "write the state to this file at intervals, at the end, and when SIGINT (Ctrl-C) or SIGTERM ends the run; the previous checkpoint is kept as <file>.previous",
      )
      .option("--checkpoint-every <n>", "intervals, as progress tells them, from one checkpoint to the next", count, 10)
      .option("--restart <file>", "continue from a checkpoint, with its flow, on any devices, to the given --steps")
      .addHelpText("after", examples(...each.examples))
      .action(async (options: Given) => {
        const isAsked = (key: string): boolean => (own.getOptionValueSource(key) ?? "default") !== "default";
        const asked = Object.fromEntries(KEPT.filter(isAsked).map((key) => [key, options[key as keyof Given]]));
        const saved = options.restart === undefined ? undefined : await openSaved(options.restart, each.name, asked);
        const all = { ...options, ...(saved?.place.options as Partial<Options>) };
        const byStorage = Object.entries(all.storage === undefined ? {} : STORED).filter(([key]) => !isAsked(key));
        if (all.periodic?.includes("z") && all.dimension !== "3")
          throw new IsoformError("--periodic z: a flow of two dimensions has no axis z; add --dimension 3");
        return run(each, { ...all, ...Object.fromEntries(byStorage), speed: all.speed ?? each.speed?.(all.size) ?? 0.1 }, saved, shell);
      });
  }
}

/** Runs the case to its end; undefined where a signal has ended it, and the process ends with its code. */
async function follow(
  each: Case,
  simulation: Simulation,
  options: Options,
  saved: SavedFlow | undefined,
  shell: Shell,
): Promise<{ outcome: Outcome; seconds: number } | undefined> {
  const { checkpoint, checkpointEvery: every } = options;
  const task = shell.progress(`lbm ${each.name}`);
  const interruption = shell.interruption();
  let seconds = 0;
  const kept = Object.fromEntries(KEPT.map((key) => [key, options[key as keyof Options]]));
  try {
    const outcome = await each.solve(simulation, options, {
      report(done, total, text, took) {
        seconds += took;
        task.update(done, total, text);
      },
      samples: saved?.place.samples as readonly never[] | undefined,
      keep: keeper(simulation, { case: each.name, options: kept, file: checkpoint, every, stop: interruption.stop }),
    });
    return { outcome, seconds };
  } catch (error) {
    if (!(error instanceof Interrupted)) throw error;
    shell.print(`interrupted after ${simulation.steps} steps${checkpoint === undefined ? "" : `: go on with --restart ${checkpoint}`}`);
    shell.endWith(interruption.exitCode);
    return undefined;
  } finally {
    interruption.ignore();
    task.done();
  }
}

async function run(each: Case, options: Options, saved: SavedFlow | undefined, shell: Shell): Promise<void> {
  const { checkpoint, restart } = options;
  const written = {
    svg: options.svg,
    vtk: options.vtk,
    json: options.json,
    checkpoint: checkpoint && [checkpoint, previousOf(checkpoint)],
  };
  // A run may go on in the checkpoint that it was restarted from.
  await shell.checkOutputs(written, { config: options.config, restart }, { checkpoint: "restart" });
  const set = await devices(options.devices, { f64: options.f64 });
  try {
    const simulation = await Simulation.create(set, each.flow(options), options);
    if (saved) await restoreFlow(simulation, saved);
    const first = simulation.steps;
    const followed = await follow(each, simulation, options, saved, shell);
    if (!followed) return;
    const { outcome, seconds } = followed;
    const { flow, grid, settings } = simulation;
    const { steps } = simulation;
    const { occ, choices } = simulation.skeleton;
    const { mass } = await simulation.measure();
    const updates = (grid.cells * (steps - first)) / seconds / 1e6;
    const labels = [...new Set(set.locals.map(({ device }) => device.label))].join(", ");
    shell.print(
      `${set.name}: ${labels}\n` +
        `${each.name}, Re ${options.re}: ${flow.lattice.name} ${settings.collision.toUpperCase()}, ${settings.pattern}, ${settings.type}${settings.storage ? ` stored as ${settings.storage}` : ""}, ${settings.smagorinsky > 0 ? `Smagorinsky ${settings.smagorinsky}, ` : ""}${settings.grid} grid of ${flow.extents.join(" x ")}${periodicText(flow)}, ` +
        `${grid.cells} cells, ${settings.layout}, ${settings.wall === "interpolated" ? "interpolated walls, " : ""}occ ${occ}, ${settings.precision}\n${choicesText(simulation.skeleton)}` +
        `${steps - first} steps in ${seconds.toFixed(2)} s, ${updates.toPrecision(3)} million cells a second; mean density 1 ${mass < 0 ? "-" : "+"} ${Math.abs(mass / grid.cells).toExponential(2)}\n` +
        outcome.text,
    );
    if (options.svg !== undefined) {
      const title = `lbm ${each.name}, Re ${options.re}`;
      await shell.writeFile(
        options.svg,
        heatMap({
          title,
          axes: axesOf(each, options, grid.extents),
          ...(each.name === "cylinder"
            ? {
                quantity: "vorticity × diameter / speed of the stream",
                reach: WAKE,
                ...(await vorticity(simulation, options.size / options.speed)),
              }
            : { quantity: `speed / speed of ${each.moves}`, ...(await plane(simulation, options.speed)) }),
        }),
      );
    }
    if (options.vtk !== undefined) tellIndex(shell, options.vtk, await writeImage(options.vtk, [simulation.density, simulation.velocity]));
    if (options.json !== undefined) {
      const result = {
        case: each.name,
        devices: set.name,
        labels,
        options,
        settings: { ...settings, occ },
        choices,
        extents: flow.extents,
        periodic: grid.periodic,
        cells: grid.cells,
        steps,
        seconds,
        mass,
      };
      await shell.writeFile(options.json, `${JSON.stringify({ ...result, ...outcome.data }, null, 1)}\n`);
    }
  } finally {
    await set.close();
  }
}

function profileText(title: string, axis: string, points: readonly Compared[]): string {
  return `${tableText({
    title,
    columns: [axis, "published", "computed", "difference"],
    labels: 1,
    rows: points.map(({ at, published, computed, misprint }) => [
      at.toFixed(4),
      published.toFixed(5),
      computed.toFixed(5),
      misprint ? "(misprint)" : (computed - published).toFixed(5),
    ]),
  }).trimStart()}\n`;
}
