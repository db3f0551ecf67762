import type { View } from "isoform";
import { f64 } from "isoform";
import type { CheckpointedArray } from "isoform/io";
import type { DeviceSet, LocalMember } from "isoform/set";
import { readPieces } from "isoform/set";
import type { Part } from "./division.js";
import type { Norm } from "./fused.js";
import { productsOf } from "./fused.js";
import type { Lsqr, Vectors } from "./lsqr.js";
import { inSourceOrder, putRows } from "./row-order.js";
import { SCALARS, Scalars } from "./scalars.js";
import type { Shape } from "./shape.js";
import { sections } from "./shape.js";
import type { System } from "./system.js";
import { partOfWhole, readWhole } from "./system.js";
import type { Share } from "./tiles.js";

/** Vectors over unknowns that a solution goes on with. */
const VECTORS = ["v", "w", "x", "variance"] as const;
type VectorName = (typeof VECTORS)[number];

/** Vectors and launches that solve a system for some right-hand sides together. */
export class Engine {
  constructor(
    private readonly set: DeviceSet,
    private readonly parts: readonly Part[],
    private readonly shape: Shape,
    readonly shares: readonly Share[],
    readonly lsqr: Lsqr,
  ) {}

  get sides(): number {
    return this.shares[0].scalars.sides;
  }

  /** A vector over all unknowns of a side. */
  whole(name: VectorName, side = 0): Promise<Float64Array> {
    return readWhole(
      this.set,
      this.parts,
      this.shape,
      this.shares.map(({ vectors }) => vectors[name].at(1, side)),
    );
  }

  writeWhole(name: VectorName, whole: ArrayLike<number>, side = 0): void {
    for (const { member, system, vectors } of this.shares)
      member.queue(0).write(vectors[name].at(1, side), partOfWhole(this.shape, system.window, whole));
  }

  /** The vector u of a side: observations, then constraints. */
  wholeU(side = 0): Promise<Float64Array> {
    return this.wholeRows(({ vectors }) => vectors.u.at(1, side));
  }

  /** A vector over all rows: observations, then constraints, which all members have alike. */
  async wholeRows(of: (share: Share) => View<"f64">): Promise<Float64Array> {
    const { shape } = this;
    const [{ system }] = this.shares;
    const { constraintCount } = system;
    const lengths = this.parts.map(({ rows }, m) => rows[1] - rows[0] + (m === this.parts.length - 1 ? constraintCount : 0));
    const views: View<"f64">[] = [];
    const copies: { free(): void }[] = [];
    for (const share of this.shares) {
      await share.member.queue(0).finish();
      const { view, free } = await inSourceOrder(share.system, of(share), [0, lengths[share.member.index]]);
      views[share.member.index] = view;
      copies.push({ free });
    }
    const pieces = await readPieces(this.set, views, lengths, "rows");
    for (const copy of copies) copy.free();
    const whole = new Float64Array(shape.observations + constraintCount);
    for (const [m, { rows }] of this.parts.entries()) whole.set(pieces[m], rows[0]);
    return whole;
  }

  private async writeU(side: number, values: ArrayLike<number>): Promise<void> {
    const { observations } = this.shape;
    const all = Float64Array.from(values);
    for (const { member, system, vectors } of this.shares) {
      const [first, end] = system.window.rows;
      const u = vectors.u.at(1, side);
      const queue = member.queue(0);
      const source = member.device.from(f64, all.subarray(first, end));
      await queue.finish();
      await putRows(system, source, u.slice([0, end - first]));
      source.free();
      queue.write(u.slice([end - first, u.length]), all.subarray(observations));
    }
  }

  /** State that an iteration depends on, for a checkpoint, as whole arrays: any number of members goes on with it. */
  state(): CheckpointedArray[] {
    const { set, sides, shape, shares } = this;
    const { unknowns } = sections(shape);
    const rows = shape.observations + shares[0].system.constraintCount;
    const array = (name: string, length: number, access: Pick<CheckpointedArray, "read" | "write">): CheckpointedArray => ({
      name,
      type: "f64",
      length,
      set,
      ...access,
    });
    const ofSide = (side: number): CheckpointedArray[] => {
      const named = (name: string): string => (sides === 1 ? name : `${name} ${side}`);
      return [
        array(named("u"), rows, { read: () => this.wholeU(side), write: (values) => this.writeU(side, values) }),
        ...VECTORS.map((name) =>
          array(named(name), unknowns, {
            read: () => this.whole(name, side),
            write: (values) => this.writeWhole(name, values, side),
          }),
        ),
      ];
    };
    return [
      ...Array.from({ length: sides }, (_, side) => ofSide(side)).flat(),
      array("scalars", SCALARS * sides, {
        read: () => shares[0].scalars.state(),
        write: (values) => shares.forEach(({ scalars }) => scalars.restore(values)),
      }),
    ];
  }

  /** Frees its memory on the devices, the system's not. */
  free(): void {
    this.lsqr.free();
    for (const { vectors } of this.shares) for (const vector of Object.values(vectors) as View[]) vector.free();
  }
}

/** Memory for a member's vectors and scalars; `ahead` of the scalars lies what another norm than the paper's form needs. */
export function shareOf(member: LocalMember, system: System, norm: Norm | undefined, sides: number): Share {
  const { device } = member;
  const { unknowns } = sections(system.shape);
  const vector = (length = unknowns): View<"f64"> => device.array(f64, [length, sides]);
  const before = norm ? unknowns + productsOf(system.starConstraints.length, norm) : 0;
  const ahead = vector(before + SCALARS);
  const vectors: Vectors = { u: vector(system.knownTerms.length), v: vector(), w: vector(), x: vector(), variance: vector(), ahead };
  return { member, system, vectors, scalars: new Scalars(device, member.queue(0), ahead.slice([before, before + SCALARS])) };
}
