import type { Launch, View } from "isoform";
import { range } from "isoform";
import type { DeviceSet } from "isoform/set";
import * as kernels from "../fields/field-kernels.js";
import { components, type Maxwell } from "../fields/maxwell.js";
import { along, cellSize, cyclic, dofs } from "../mesh/mesh.js";
import type { MemberPart } from "./part.js";
import type { Moments } from "../particles/species.js";
import type { QueueWork, Workspace } from "../fields/workspace.js";

/** Result of `Simulation.measure`, in units of the plasma. */
export interface Measures {
  readonly time: number;
  /** Energy of each component of E. */
  readonly electric: readonly number[];
  /** Energy of each existing component of B: none in 1D1V, B_3 with two components of the velocity, else all three. */
  readonly magnetic: readonly number[];
  /** Energy of each species. */
  readonly kinetic: readonly number[];
  /** Momentum of all particles, and of the fields (the integral of E x B), along each axis. */
  readonly momentum: readonly number[];
  /** The largest residual of Gauss' law. */
  readonly gauss: number;
  /** The largest absolute value of the divergence of B. */
  readonly divergence: number;
}

/** The energy of the fields and of all particles. */
export const totalEnergy = ({ electric, magnetic, kinetic }: Measures): number =>
  [...electric, ...magnetic, ...kinetic].reduce((a, b) => a + b);

/** Work whose last launch folds something into one number. */
interface Fold {
  readonly works: readonly QueueWork[];
  readonly launch: Launch;
}

/** Measures whether a run is sound; prepared once and measured as often as wanted. */
export class Diagnostics {
  private readonly electric: readonly Fold[];
  private readonly magnetic: readonly Fold[];
  /** For each axis, terms of the integral of E x B and their signs. */
  private readonly poynting: readonly (readonly (readonly [sign: number, fold: Fold])[])[];
  private readonly gauss: Fold;
  private readonly divergence: Fold;

  private readonly work: Workspace;
  private readonly maxwell: Maxwell;

  /**
   * Diagnostics of the fields of the first part, and of the particles of all; in several processes the fields are of rank 0's first part.
   * @param deposit puts the charge density into the fields' `current`
   */
  constructor(
    private readonly set: DeviceSet,
    private readonly parts: readonly MemberPart[],
    private readonly deposit: () => Promise<void>,
  ) {
    const [{ work, maxwell }] = parts;
    this.work = work;
    this.maxwell = maxwell;
    const { e, b, current, mesh } = maxwell;
    const { electric, magnetic } = components(mesh.velocities);
    const [nx, ny, nz] = mesh.axes.map(({ cells }) => cells);
    const products = work.array([3, nz, ny, nx]);
    const product = (k: number): View<"f64"> => products.at(0, k);
    this.electric = electric.map((k) => this.dot(maxwell.mass("e", k, e.at(0, k), product(k)), e.at(0, k), product(k)));
    // Between samples the current is free for other products.
    this.magnetic = magnetic.map((k) => this.dot(maxwell.mass("b", k, b.at(0, k), current), b.at(0, k), current));
    this.poynting = [0, 1, 2].map((a) => {
      const [, second, third] = cyclic(a);
      const terms = [
        [1, second, third],
        [-1, third, second],
      ] as const;
      return terms
        .filter(([, k, l]) => electric.includes(k) && magnetic.includes(l))
        .map(([sign, k, l]) => [sign, this.dot(maxwell.cross(a, k, b.at(0, l), current), e.at(0, k), current)] as const);
    });

    const [ha, hb, hc] = mesh.axes.map(cellSize);
    const policy = range(nx, ny, nz);
    const scalars = (view: View<"f64">) => [0, 1, 2].map((k) => along(view.at(0, k), 0));
    const [m1, m2, m3] = scalars(products);
    const charge = work.array(1);
    const law = { ha, hb, hc, m1, m2, m3, rho: along(current, 0), charge, each: 1 / dofs(mesh) };
    const total = work.work(kernels.total, { x: this.vector(current), result: charge }, range(dofs(mesh)));
    this.gauss = { works: [total], launch: work.own(work.launch(kernels.gauss, law, policy)) };
    const [b1, b2, b3] = scalars(b);
    this.divergence = { works: [], launch: work.own(work.launch(kernels.divergence, { ha, hb, hc, b1, b2, b3 }, policy)) };
  }

  async measure(time: number): Promise<Measures> {
    // Gauss' law takes the products that the electric energy leaves.
    const electric = await this.results(this.electric);
    await this.deposit();
    const [gauss, divergence] = await this.results([this.gauss, this.divergence]);
    const magnetic = await this.results(this.magnetic);
    const momentum = [0, 0, 0];
    for (const [a, terms] of this.poynting.entries()) for (const [sign, fold] of terms) momentum[a] += sign * (await this.result(fold));
    const halves = (values: readonly number[]): number[] => values.map((value) => value / 2);
    const fields = { electric: halves(electric), magnetic: halves(magnetic), gauss, divergence, momentum };
    return { time, ...(await this.withParticles(fields)) };
  }

  /** Measures of the fields, with the energy and momentum of the particles of all processes. */
  private async withParticles(fields: Omit<Measures, "time" | "kinetic">): Promise<Omit<Measures, "time">> {
    const moments: Moments[][] = [];
    for (const { species } of this.parts) {
      const own: Moments[] = [];
      for (const particles of species) own.push(await particles.moments());
      moments.push(own);
    }
    const own = { fields, moments };
    const all = (await this.set.ranks?.gather(own, "measures of pic")) ?? [own];
    const [first] = all;
    const kinetic = this.parts[0].species.map(() => 0);
    const momentum = [...first.fields.momentum];
    for (const part of all.flatMap((each) => each.moments))
      for (const [n, { energy, momentum: own }] of part.entries()) {
        const { mass } = this.parts[0].species[n].species;
        kinetic[n] += mass * energy;
        for (const a of [0, 1, 2]) momentum[a] += mass * own[a];
      }
    const { electric, magnetic, gauss, divergence } = first.fields;
    return { electric, magnetic, kinetic, momentum, gauss, divergence };
  }

  private vector(view: View<"f64">): View<"f64", 1> {
    return view.reshape(dofs(this.maxwell.mesh));
  }

  private dot(works: readonly QueueWork[], x: View<"f64">, y: View<"f64">): Fold {
    return {
      works,
      launch: this.work.own(this.work.launch(kernels.dot, { x: this.vector(x), y: this.vector(y) }, range(dofs(this.maxwell.mesh)))),
    };
  }

  private async results(folds: readonly Fold[]): Promise<number[]> {
    const values = [];
    for (const fold of folds) values.push(await this.result(fold));
    return values;
  }

  private async result({ works, launch }: Fold): Promise<number> {
    const { queue } = this.work.device;
    this.work.do(works);
    queue.submit(launch);
    const [value] = Object.values(await queue.results(launch));
    return value;
  }
}
