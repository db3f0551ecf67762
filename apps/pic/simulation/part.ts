import type { Launch, Queue, View } from "isoform";
import type { LocalMember } from "isoform/set";
import type { SubFlow } from "./compositions.js";
import { components, Maxwell } from "../fields/maxwell.js";
import { along, cellSize, cyclic } from "../mesh/mesh.js";
import { depositKernel, kickKernel, pushKernel } from "../particles/particles.js";
import type { Problem, Settings } from "./problem.js";
import { Sorting } from "./sorting.js";
import { Particles, type Share } from "../particles/species.js";
import { Workspace, type QueueWork } from "../fields/workspace.js";

/** A set member's part of a simulation: all fields, its share of the particles, and the work of the flows there. */
export class MemberPart {
  readonly work: Workspace;
  readonly maxwell: Maxwell;
  readonly species: readonly Particles[];
  /** Sortings of each species, if particles are sorted. */
  readonly sortings: readonly Sorting[];
  /** current := rho of this part's particles */
  readonly deposits: readonly QueueWork[];

  constructor(
    readonly member: LocalMember,
    readonly problem: Problem,
    settings: Settings,
    share: Share,
  ) {
    const { mesh, species } = problem;
    const { sort, precision } = settings;
    const { device } = member;
    this.work = new Workspace(device, precision);
    this.maxwell = new Maxwell(this.work, mesh);
    this.species = species.map((each) => new Particles(this.work, mesh, each, settings, share));
    this.sortings = sort > 0 ? this.species.map((each) => this.work.own(new Sorting(device, mesh, each, precision))) : [];
    this.deposits = this.depositCharge();
  }

  get queue(): Queue {
    return this.member.queue(0);
  }

  /** Does some work in the member's stream. */
  do(works: readonly QueueWork[]): void {
    for (const work of works) work(this.queue);
  }

  /** State of the next steps that all parts share. */
  get fields(): readonly View[] {
    return [this.maxwell.e, this.maxwell.b];
  }
  /** State of the next steps that only this part has. */
  get own(): readonly View[] {
    return [...this.species.map(({ storage }) => storage), ...this.sortings.map(({ start }) => start)];
  }

  /** A flow over dt as work before and after the currents of all parts, which lie in `maxwell.current`, are added up; some flows have none. */
  flow(flow: SubFlow, dt: number): { before: QueueWork[]; after?: QueueWork[] } {
    if (flow === "E") return { before: [...this.kick(dt), ...this.maxwell.faraday(dt)] };
    if (flow === "B") return { before: this.maxwell.ampere(dt) };
    const direction = Number(flow[1]) - 1;
    return { before: this.push(direction, dt), after: this.maxwell.absorbCurrent(direction) };
  }

  /** A launch, the caller's, that moves a species along one axis, 0 to 2, over dt, and adds to `maxwell.current`. */
  pushLaunch(particles: Particles, direction: number, dt: number): Launch {
    const kernel = pushKernel(this.problem.mesh, direction);
    return this.work.launch(kernel, this.pushArguments(particles, direction, dt), particles.policy);
  }

  /** Arguments of `pushKernel`. */
  pushArguments({ species, x, v, w }: Particles, direction: number, dt: number) {
    const { mesh } = this.problem;
    const { b: field, current } = this.maxwell;
    const { magnetic } = components(mesh.velocities);
    const { charge, mass } = species;
    const [a, b, c] = cyclic(direction);
    const [ha, hb, hc] = [a, b, c].map((axis) => cellSize(mesh.axes[axis]));
    return {
      dt,
      charge,
      ratio: charge / mass,
      ha,
      hb,
      hc,
      length: mesh.axes[a].length,
      xa: x[a],
      xb: x[b],
      xc: x[c],
      va: v[a],
      vb: v[b],
      vc: v[c],
      w,
      fieldB: along(field.at(0, b), a),
      fieldC: along(field.at(0, c), a),
      turnsC: magnetic.includes(b),
      turnsB: magnetic.includes(c),
      j: along(current, a),
    };
  }

  free(): void {
    this.work.free();
  }

  private depositCharge(): QueueWork[] {
    const { mesh } = this.problem;
    const rho = this.maxwell.current;
    const [ha, hb, hc] = mesh.axes.map(cellSize);
    const [na, nb, nc] = mesh.axes.map(({ cells }) => cells);
    const kernel = depositKernel(mesh);
    return [
      (queue) => queue.clear(rho),
      ...this.species.map(({ species: { charge }, x: [xa, xb, xc], w, policy }) =>
        this.work.work(kernel, { ha, hb, hc, na, nb, nc, xa, xb, xc, charge, w, rho: along(rho, 0) }, policy),
      ),
    ];
  }

  private kick(dt: number): QueueWork[] {
    const { mesh } = this.problem;
    const [ha, hb, hc] = mesh.axes.map(cellSize);
    const [e1, e2, e3] = [0, 1, 2].map((a) => along(this.maxwell.e.at(0, a), 0));
    const kernel = kickKernel(mesh);
    return this.species.map(({ species: { charge, mass }, x: [xa, xb, xc], v: [v1, v2, v3], policy }, n) => {
      const particles = { xa, xb, xc, v1, v2, v3, velocities: mesh.velocities, factor: (dt * charge) / mass };
      const args = { ...particles, ha, hb, hc, e1, e2, e3 };
      return this.work.submits(this.sortings[n]?.kick(args) ?? this.work.launch(kernel, args, policy));
    });
  }

  private push(direction: number, dt: number): QueueWork[] {
    const { current } = this.maxwell;
    return [
      (queue) => queue.clear(current),
      ...this.species.map((particles, n) => {
        const sorted = this.sortings[n]?.push(direction, this.pushArguments(particles, direction, dt));
        return this.work.submits(sorted ?? this.pushLaunch(particles, direction, dt));
      }),
    ];
  }
}

/** Numbers as they are read from a device. */
export type ReadValues = Awaited<ReturnType<Queue["read"]>>;

/** Arrays of all parts, one after the other. */
export async function joinedParts(pieces: readonly Promise<ReadValues>[]): Promise<ReadValues> {
  const arrays = await Promise.all(pieces);
  if (arrays.length === 1) return arrays[0];
  const all = new Float64Array(arrays.reduce((sum, { length }) => sum + length, 0));
  let to = 0;
  for (const array of arrays) {
    all.set(array, to);
    to += array.length;
  }
  return all;
}
