import type { Dimension, OpenPmdRecord, ParticleSpecies, Snapshot, Values } from "isoform/io";
import { writeAsking, writeOpenPmd, writeXdmf } from "isoform/io";
import { valuesOf } from "./fields.js";
import { cellSize, dimension, isPresent, type Mesh } from "../mesh/mesh.js";
import { joinedParts } from "../simulation/part.js";
import type { Simulation } from "../simulation/simulation.js";
import type { Species } from "../particles/species.js";

/* Powers of length, mass, time and current. */
const LENGTH: Dimension = [1];
const MASS: Dimension = [0, 1];
const MOMENTUM: Dimension = [1, 1, -1];
const CHARGE: Dimension = [0, 0, 1, 1];
const ELECTRIC: Dimension = [1, 1, -3, -1];
const MAGNETIC: Dimension = [0, 1, -2, -1];

const COMMENT =
  "Normalised units: lengths of c / omega_p, times of 1 / omega_p, the electron's charge and mass, velocities of c. All unitSI are 1.";

/** A column of the particles of a species, over all devices: `0 v 2`. */
type ReadColumn = (name: string) => Promise<Float64Array>;

/**
 * Writes fields in the middle of cells and all particles as an openPMD file (.h5), with an XDMF file beside it. All processes call it, and rank 0 writes.
 * @param mode `add` puts them next to the ones of earlier steps
 */
export async function writeSnapshot(path: string, simulation: Simulation, mode: "new" | "add"): Promise<void> {
  const { parts, set } = simulation;
  const read: ReadColumn = async (name) => {
    const [n, column, axis] = name.split(" ");
    const own = await joinedParts(
      parts.map(({ queue, species }) => {
        const { x, v, w } = species[Number(n)];
        return queue.read(column === "w" ? w : { x, v }[column as "x" | "v"][Number(axis)]);
      }),
    );
    const all = set.ranks ? await set.ranks.gather(own, `column ${name} of the particles`) : [own];
    return (await joinedParts(all.map(async (piece) => piece))) as Float64Array;
  };
  await writeAsking(set, read, async (ask) => {
    await writeOpenPmd(path, await snapshotOf(simulation, ask), mode);
    await writeXdmf(path);
  });
}

async function snapshotOf(simulation: Simulation, read: ReadColumn): Promise<Snapshot> {
  const { problem, settings, steps, time } = simulation;
  const { mesh } = problem;
  const axes = mesh.axes.filter(isPresent);
  const box = { extents: axes.map(({ cells }) => cells), geometry: { spacing: axes.map(cellSize) } };
  const field = async (form: "e" | "b", dimension: Dimension) => ({ ...box, dimension, values: named(await valuesOf(simulation, form)) });
  return {
    step: steps,
    time,
    dt: settings.dt,
    meshes: { E: await field("e", ELECTRIC), B: await field("b", MAGNETIC) },
    species: Object.fromEntries(
      problem.species.map((each, n) => [each.name, speciesOf(each, mesh, settings.count, (name) => read(`${n} ${name}`))]),
    ),
    comment: COMMENT,
  };
}

/** A species, the particles of all devices one after the other. */
function speciesOf({ charge, mass }: Species, mesh: Mesh, count: number, read: ReadColumn): ParticleSpecies {
  /** Attributes of one real particle: the weight says how many a simulated one stands for, and does not count here. */
  const ofOne = (weightingPower: number) => ({ macroWeighted: { u32: 0 }, weightingPower });
  const record = (values: OpenPmdRecord["values"], dimension: Dimension, power: number): OpenPmdRecord => ({
    values,
    dimension,
    attributes: ofOne(power),
  });
  const axes = [0, 1, 2] as const;
  const position = axes.slice(0, dimension(mesh)).map((k) => () => read(`x ${k}`));
  const momentum = axes.slice(0, mesh.velocities).map((k) => async () => (await read(`v ${k}`)).map((value) => mass * value));
  return {
    count,
    records: {
      position: record(named(position), LENGTH, 0),
      momentum: record(named(momentum), MOMENTUM, 1),
      weighting: { values: () => read("w"), attributes: { macroWeighted: { u32: 1 }, weightingPower: 1 } },
      charge: record(charge, CHARGE, 1),
      mass: record(mass, MASS, 1),
    },
  };
}

const named = (components: readonly Values[]): Record<string, Values> =>
  Object.fromEntries(components.map((values, k) => [["x", "y", "z"][k], values]));
