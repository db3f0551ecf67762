import type { LayoutName, View } from "isoform";
import { IsoformError, f64, range } from "isoform";
import { load, shift } from "./load.js";
import type { Mesh } from "./mesh.js";
import { dimension, isPresent, volume } from "./mesh.js";
import { moments } from "./particles.js";
import type { Workspace } from "./workspace.js";

/** Particles of a normal velocity distribution around a drift. */
export interface Beam {
  /** Of the species' density. */
  readonly fraction: number;
  /** One value for each component of the velocity; 0 where absent. */
  readonly drift?: readonly number[];
  /** Standard deviations, one for each component of the velocity. */
  readonly sigma: readonly number[];
}

/** One kind of particles, of mean density 1: density 1 + amplitude cos(2 pi mode x_1 / L_1), and some beams. */
export interface Species {
  readonly name: string;
  readonly charge: number;
  readonly mass: number;
  readonly beams: readonly Beam[];
  readonly perturbation?: { readonly amplitude: number; readonly mode: number };
}

export const LOADINGS = ["sobol", "symmetric"] as const;
/** `sobol`: a point a particle, and the weighted mean velocity shifted to that of the beams; `symmetric`: mirrored groups, whose deviations from the beams sum up to 0. */
export type Loading = (typeof LOADINGS)[number];

export interface LoadOptions {
  readonly count: number;
  readonly loading: Loading;
  /** `left`: a column after the other (SoA); `right`: a particle after the other (AoS). */
  readonly layout: LayoutName;
}

type Column = View<"f64", 1>;

/** Sums over a species: w, w v_k, w |v|^2 / 2. */
export interface Moments {
  readonly mass: number;
  readonly momentum: readonly number[];
  readonly energy: number;
}

/** The particles of a species on a device. */
export class Particles {
  /** All values: [particle][column], the columns those positions and velocities that there are, and the weight. */
  readonly storage: View<"f64", 2>;
  /** A column a component; where the problem has none the weights stand, which nothing reads. */
  readonly x: readonly [Column, Column, Column];
  readonly v: readonly [Column, Column, Column];
  readonly w: Column;
  readonly policy: ReturnType<typeof range>;

  constructor(
    private readonly work: Workspace,
    private readonly mesh: Mesh,
    readonly species: Species,
    readonly options: LoadOptions,
  ) {
    const { count, layout } = options;
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
  async load(): Promise<void> {
    const { work, mesh, species } = this;
    const { device, precision } = work;
    const { count, loading } = this.options;
    const { beams, perturbation, name } = species;
    const [space, velocities] = [dimension(mesh), mesh.velocities];
    const symmetric = loading === "symmetric";
    const group = 2 ** (space + velocities);
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
      dimension: space,
      velocities,
      symmetric,
      each: volume(mesh) / count,
      amplitude: perturbation?.amplitude ?? 0,
      turns: perturbation?.mode ?? 0,
    };
    await device.run(load, { ...columns, ...numbers, ...tables }, this.policy, { precision });
    for (const view of Object.values(tables)) view.free();
    if (symmetric) return;
    const { mass, momentum } = await this.moments();
    for (let k = 0; k < velocities; k++) {
      const wanted = beams.reduce((sum, { fraction, drift }) => sum + fraction * (drift?.[k] ?? 0), 0);
      await device.run(shift, { mean: momentum[k] / mass - wanted, v: this.v[k] }, this.policy, { precision });
    }
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
