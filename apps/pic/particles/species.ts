import type { LayoutName, View } from "isoform";
import { IsoformError, f64, range } from "isoform";
import type { Ranks } from "isoform/set";
import { Draws, type Distribution } from "./distribution.js";
import { cosineOfTurns, load, shift } from "./load.js";
import type { Mesh } from "../mesh/mesh.js";
import { dimension, isPresent, volume } from "../mesh/mesh.js";
import { moments } from "./particles.js";
import type { Workspace } from "../fields/workspace.js";

/** Particles of a normal velocity distribution around a drift. */
export interface Beam {
  /** Share of the species' density. */
  readonly fraction: number;
  /** One value for each component of the velocity. Default: 0. */
  readonly drift?: readonly number[];
  /** Standard deviations, one for each component of the velocity. */
  readonly sigma: readonly number[];
}

/** One kind of particles, of mean density 1: beams or a distribution, times 1 + amplitude cos(2 pi mode x_1 / L_1). */
export interface Species {
  readonly name: string;
  /** In charges of the positron: -1 for electrons. */
  readonly charge: number;
  /** In masses of the electron. */
  readonly mass: number;
  /** Their fractions add up to 1. */
  readonly beams: readonly Beam[];
  /** In place of the beams. */
  readonly distribution?: Distribution;
  readonly perturbation?: { readonly amplitude: number; readonly mode: number };
}

/** How particles may be placed at the start. */
export const LOADINGS = ["sobol", "symmetric"] as const;
/**
 * `sobol`: a point of Sobol's sequence for each particle, with the weighted mean velocity shifted to the beams'; `symmetric`: groups of mirrored
 * particles, whose deviations from the beams add up to 0.
 */
export type Loading = (typeof LOADINGS)[number];

interface LoadOptions {
  /** Number of particles of the whole species. */
  readonly count: number;
  readonly loading: Loading;
  /** `left`: a column after the other (SoA); `right`: a particle after the other (AoS). */
  readonly layout: LayoutName;
}

/** Some of the particles of a species, counted from 0. */
export interface Share {
  readonly first: number;
  readonly count: number;
}

/** Equal shares of the particles for some devices; groups of mirrored particles stay together. */
export function sharesOf({ count, loading }: LoadOptions, mesh: Mesh, devices: number): Share[] {
  const group = loading === "symmetric" ? groupOf(mesh) : 1;
  const end = (n: number): number => (n === devices ? count : group * Math.floor((count / group) * (n / devices)));
  return Array.from({ length: devices }, (_, n) => ({ first: end(n), count: end(n + 1) - end(n) }));
}

/** Particles that symmetric loading makes of one point. */
const groupOf = (mesh: Mesh): number => 2 ** (dimension(mesh) + mesh.velocities);

type Column = View<"f64", 1>;

/** Sums over a species: w, w v_k, w |v|^2 / 2. */
export interface Moments {
  readonly mass: number;
  readonly momentum: readonly number[];
  readonly energy: number;
}

/** The particles of a species on a device, or a share of them. */
export class Particles {
  /** All values: [particle][column], the columns being the existing positions and velocities, and the weight. */
  readonly storage: View<"f64", 2>;
  /** A column a component; where the problem has none the weights stand, which nothing reads. */
  readonly x: readonly [Column, Column, Column];
  readonly v: readonly [Column, Column, Column];
  readonly w: Column;
  readonly policy: ReturnType<typeof range>;

  constructor(
    private readonly work: Workspace,
    readonly mesh: Mesh,
    readonly species: Species,
    readonly options: LoadOptions,
    readonly share: Share = { first: 0, count: options.count },
  ) {
    const { layout } = options;
    const { count } = share;
    const present = [...mesh.axes.map(isPresent), ...[1, 2, 3].map((k) => k <= mesh.velocities)];
    const width = present.filter(Boolean).length + 1;
    this.storage = work.own(work.device.array(f64, [count, width], { layout }));
    const column = (k: number): Column => this.storage.at(1, k);
    this.w = column(width - 1);
    const columns = present.map((is, k) => (is ? column(present.slice(0, k).filter(Boolean).length) : this.w));
    this.x = [columns[0], columns[1], columns[2]];
    this.v = [columns[3], columns[4], columns[5]];
    this.policy = range(count);
  }

  /** Makes the particles. Throws IsoformError for a count that symmetric loading cannot make. */
  async place(): Promise<void> {
    const { work, mesh, species } = this;
    const { device, precision } = work;
    const { count, loading } = this.options;
    const { beams, perturbation, name } = species;
    const [space, velocities] = [dimension(mesh), mesh.velocities];
    const symmetric = loading === "symmetric";
    const group = groupOf(mesh);
    if (symmetric && count % group !== 0)
      throw new IsoformError(
        `pic: ${count} particles of species "${name}"; symmetric loading makes groups of ${group}: ask for a multiple`,
      );
    let upTo = 0;
    const three = (values: readonly number[] = []): number[] => [0, 1, 2].map((k) => values[k] ?? 0);
    const tables = {
      upTo: device.from(
        f64,
        beams.map(({ fraction }) => (upTo += fraction)),
      ),
      drift: device.from(
        f64,
        beams.flatMap(({ drift }) => three(drift)),
        [beams.length, 3],
      ),
      sigma: device.from(
        f64,
        beams.flatMap(({ sigma }) => three(sigma)),
        [beams.length, 3],
      ),
    };
    const [length1, length2, length3] = mesh.axes.map(({ length }) => length);
    const [x1, x2, x3] = this.x;
    const [v1, v2, v3] = this.v;
    const columns = { x1, x2, x3, v1, v2, v3, w: this.w };
    const numbers = {
      length1,
      length2,
      length3,
      first: this.share.first,
      dimension: space,
      velocities,
      symmetric,
      each: volume(mesh) / count,
      amplitude: perturbation?.amplitude ?? 0,
      turns: perturbation?.mode ?? 0,
    };
    await device.run(load, { ...columns, ...numbers, ...tables }, this.policy, { precision });
    for (const view of Object.values(tables)) view.free();
  }

  /** Makes the particles of a distribution on the host, and gives the sum of their weights. */
  draw(draws: Draws): { readonly values: Float64Array; readonly sum: number } {
    const { mesh, share, species } = this;
    const { amplitude, mode } = species.perturbation ?? { amplitude: 0, mode: 0 };
    const width = this.storage.shape[1];
    const values = new Float64Array(share.count * width);
    let sum = 0;
    for (let i = 0; i < share.count; i++) {
      const { x, v, weight } = draws.particle(share.first + i);
      const w = weight * (1 + amplitude * cosineOfTurns((mode * x[0]) / mesh.axes[0].length));
      values.set([...x, ...v, w], i * width);
      sum += w;
    }
    return { values, sum };
  }

  /** Takes what `draw` has made, weights times `scale`. */
  async put(values: Float64Array, scale: number): Promise<void> {
    const width = this.storage.shape[1];
    for (let at = width - 1; at < values.length; at += width) values[at] *= scale;
    this.work.device.queue.write(this.storage, values);
    await this.work.device.queue.finish();
  }

  /** v -= the mean, component by component. */
  async shift(mean: readonly number[]): Promise<void> {
    const { device, precision } = this.work;
    for (const [k, value] of mean.entries()) await device.run(shift, { mean: value, v: this.v[k] }, this.policy, { precision });
  }

  async moments(): Promise<Moments> {
    const [v1, v2, v3] = this.v;
    const { device, precision } = this.work;
    const { mass, p1, p2, p3, energy } = await device.run(
      moments,
      { w: this.w, v1, v2, v3, velocities: this.mesh.velocities },
      this.policy,
      { precision },
    );
    return { mass, momentum: [p1, p2, p3], energy };
  }
}

/**
 * Makes all shares of a species; in several processes, each makes those on its devices. Velocities of beams are shifted so that their weighted mean is the beams' mean; mirrored particles have it
 * anyway. Throws IsoformError for an invalid distribution.
 */
export async function loadSpecies(shares: readonly Particles[], ranks?: Ranks): Promise<void> {
  const [{ species, options, mesh }] = shares;
  if (species.distribution) return loadDistribution(shares, species.distribution, ranks);
  for (const particles of shares) await particles.place();
  if (options.loading === "symmetric") return;
  const moments = await ofAll(await Promise.all(shares.map((particles) => particles.moments())), "the velocities of particles", ranks);
  const mass = moments.reduce((sum, each) => sum + each.mass, 0);
  const mean = Array.from({ length: mesh.velocities }, (_, k) => {
    const wanted = species.beams.reduce((sum, { fraction, drift }) => sum + fraction * (drift?.[k] ?? 0), 0);
    return moments.reduce((sum, { momentum }) => sum + momentum[k], 0) / mass - wanted;
  });
  for (const particles of shares) await particles.shift(mean);
}

/** Values of the members of all processes, from this one's. */
const ofAll = async <T>(own: readonly T[], what: string, ranks?: Ranks): Promise<readonly T[]> =>
  ranks ? (await ranks.gather(own, what)).flat() : own;

async function loadDistribution(shares: readonly Particles[], distribution: Distribution, ranks?: Ranks): Promise<void> {
  const [{ species, options, mesh }] = shares;
  if (options.loading === "symmetric")
    throw new IsoformError(
      `pic: symmetric loading mirrors beams, and species "${species.name}" has a distribution of its own: choose --loading sobol`,
    );
  const draws = new Draws(distribution, mesh, species.name);
  const drawn = shares.map((particles) => particles.draw(draws));
  const sums = drawn.map((each) => each.sum);
  const sum = (await ofAll(sums, "the weights of particles", ranks)).reduce((total, each) => total + each, 0);
  for (const [n, particles] of shares.entries()) await particles.put(drawn[n].values, volume(mesh) / sum);
}
