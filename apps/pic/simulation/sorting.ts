import type { Device, Launch, Precision, Queue, View } from "isoform";
import { f64, i32, kernel, range, teams, view } from "isoform";
import { permute, sortByKey } from "isoform/patterns";
import { kickGroupsKernel, LANES, pushGroupsKernel } from "../particles/cell-groups.js";
import { TEAM_MEMBERS, PARTS, pushCellsKernel } from "../particles/cells.js";
import type { Mesh } from "../mesh/mesh.js";
import { cellSize, cyclic, dimension, dofs } from "../mesh/mesh.js";
import { kickKernel, type KickArguments, type PushArguments } from "../particles/particles.js";
import type { Problem, Settings } from "./problem.js";
import type { Particles, Species } from "../particles/species.js";
import { wrapped } from "../mesh/splines.js";

/** The cell that each particle is in: c_1 + N_1 (c_2 + N_2 c_3). */
const findCells = kernel(
  "findCells",
  { x1: view(f64), x2: view(f64), x3: view(f64), h1: f64, h2: f64, h3: f64, n1: i32, n2: i32, n3: i32, cells: view(i32), wrapped },
  ({ x1, x2, x3, h1, h2, h3, n1, n2, n3, cells, wrapped }, i) => {
    const c1 = wrapped(Math.floor(x1[i] / h1) | 0, n1);
    const c2 = wrapped(Math.floor(x2[i] / h2) | 0, n2);
    const c3 = wrapped(Math.floor(x3[i] / h3) | 0, n3);
    cells[i] = c1 + n1 * (c2 + n2 * c3);
  },
);

/** True of a mesh whose particles can be sorted: it has three axes, and particles all components of the velocity. */
export const isSortable = (mesh: Mesh): boolean => dimension(mesh) === 3 && mesh.velocities === 3;

/** Costs and gains of sorts, in nanoseconds a particle. */
interface Costs {
  readonly sort: number;
  /** Time that a step saves for particles that are in their cells. */
  readonly gain: number;
  /** Extra time of a step for each particle that has left its cell since the last sort. */
  readonly astray: number;
  /** Share of the particles leaving their cell in a step that are astray in that very step, which moves them several times. */
  readonly within: number;
  /** Particles of a cell, on average, from which sorts pay. */
  readonly few: number;
}

/** On two cores of a Xeon, in vectors: they gain more than any sort costs. */
const VECTORS: Costs = { sort: 50, gain: Infinity, astray: 600, within: 0, few: 64 };
/** By backend: on an H100 (bench/pic-sorts). */
const GPUS: Readonly<Record<string, Costs | undefined>> = {
  cuda: { sort: 0.27, gain: 2, astray: 20, within: 0.36, few: 256 },
};
/** Mean of the absolute value of a normal deviate. */
const MEAN_DEVIATE = Math.sqrt(2 / Math.PI);

function costsOn({ backend, memory, capabilities }: Device): Costs | undefined {
  if (memory.name === "cpu") return capabilities.simdBytes > 0 ? VECTORS : undefined;
  return Object.hasOwn(GPUS, backend) ? GPUS[backend] : undefined;
}

/**
 * Steps from one sort to the next that make a run fastest; 0 where it is so without sorts, or where that was not measured. In strict mode, too:
 * sums depend on the order of the particles, and devices are to agree.
 */
export function stepsBetweenSorts(device: Device, { mesh, species }: Problem, { count, dt, precision }: Omit<Settings, "sort">): number {
  const costs = costsOn(device);
  if (!costs || !isSortable(mesh) || precision === "strict" || count < costs.few * dofs(mesh)) return 0;
  // Share of the particles that leave their cell in a step.
  const shares = species.map((each) => mesh.axes.reduce((sum, axis, a) => sum + (meanSpeed(each, a) * dt) / cellSize(axis), 0));
  const leaving = Math.max(...shares);
  const steps = Math.max(1, Math.round(Math.sqrt((2 * costs.sort) / (costs.astray * leaving))));
  const cost = costs.sort / steps + costs.astray * leaving * (steps / 2 + costs.within);
  return cost < costs.gain ? steps : 0;
}

/** Along an axis, about: of a distribution, as if its velocities lay within three standard deviations of the middle. */
function meanSpeed({ beams, distribution }: Species, a: number): number {
  if (distribution) {
    const [from, to] = distribution.velocities[a];
    return Math.abs(from + to) / 2 + (MEAN_DEVIATE * (to - from)) / 6;
  }
  return beams.reduce((v, { fraction, drift, sigma }) => v + fraction * (Math.abs(drift?.[a] ?? 0) + MEAN_DEVIATE * sigma[a]), 0);
}

/** Particles that are sorted by cell from time to time, and the launches that use it. They hold for particles that have left their cell, too. */
export class Sorting {
  /** Start of each cell's particles. */
  readonly start: View<"i32", 1>;
  /** Room for a number a particle, for GPUs. */
  private readonly later: View<"i32", 1>;
  private readonly steps: readonly { submit(queue: Queue): void; free(): void }[];
  private readonly owned: readonly { free(): void }[];

  /** Sorts nothing yet. */
  constructor(
    private readonly device: Device,
    private readonly mesh: Mesh,
    particles: Particles,
    private readonly precision: Precision,
  ) {
    const { storage, policy } = particles;
    const [count] = storage.shape;
    const [x1, x2, x3] = particles.x;
    const [h1, h2, h3] = mesh.axes.map(cellSize);
    const [n1, n2, n3] = mesh.axes.map(({ cells }) => cells);
    this.start = device.array(i32, dofs(mesh) + 1);
    this.later = device.array(i32, this.takesGroups ? 1 : count);
    const [cells, permutation] = [device.array(i32, count), device.array(i32, count)];
    const found = device.prepare(findCells, { x1, x2, x3, h1, h2, h3, n1, n2, n3, cells }, policy, { precision });
    const columns = Array.from({ length: storage.shape[1] }, (_, k) => storage.at(1, k));
    this.steps = [
      { submit: (queue) => queue.submit(found), free: () => found.free() },
      sortByKey(device, { keys: cells, permutation, offsets: this.start }, { precision }),
      permute(device, { permutation, input: particles.options.layout === "left" ? columns : [storage] }, { precision }),
    ];
    this.owned = [...this.steps, this.start, this.later, cells, permutation];
  }

  /** Brings the particles into the order of the cells that they are in. */
  sort(queue = this.device.queue): void {
    for (const step of this.steps) step.submit(queue);
  }

  /** A launch, the caller's, that does what `pushKernel` does with these arguments. */
  push(direction: number, args: PushArguments): Launch {
    const { device, mesh, start, later, precision } = this;
    const cells = { start, ...this.strides(direction) };
    if (this.takesGroups)
      return device.prepare(pushGroupsKernel(mesh, direction), { ...args, ...cells, lanes: LANES }, teams(dofs(mesh)), { precision });
    const policy = teams(PARTS * dofs(mesh), { size: TEAM_MEMBERS });
    return device.prepare(pushCellsKernel(mesh, direction), { ...args, ...cells, later, parts: PARTS, members: TEAM_MEMBERS }, policy, {
      precision,
    });
  }

  /** A launch, the caller's, that does what `kickKernel` does with these arguments. */
  kick(args: KickArguments): Launch {
    const { device, mesh, start, precision } = this;
    // Neighbours read the same coefficients, which is all that GPUs need.
    if (!this.takesGroups) return device.prepare(kickKernel(mesh), args, range(args.v1.length), { precision });
    const cells = { start, ...this.strides(0), lanes: LANES };
    return device.prepare(kickGroupsKernel(mesh), { ...args, ...cells }, teams(dofs(mesh)), { precision });
  }

  free(): void {
    for (const thing of this.owned) thing.free();
  }

  /** On CPUs groups of particles fill vectors, on GPUs members of teams fill warps. */
  private get takesGroups(): boolean {
    return this.device.memory.name === "cpu";
  }

  /** Strides of a cell's place along axes a, b, c in its number. */
  private strides(direction: number) {
    const [{ cells: n1 }, { cells: n2 }] = this.mesh.axes;
    const [strideA, strideB, strideC] = cyclic(direction).map((axis) => [1, n1, n1 * n2][axis]);
    return { strideA, strideB, strideC };
  }
}
