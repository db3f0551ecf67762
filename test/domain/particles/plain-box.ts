import type { Active } from "../kinds.js";

/** A particle in plain arrays. */
export interface PlainParticle {
  readonly id: number;
  readonly x: number[];
  readonly v: number[];
  readonly w: number;
  /** The number of the cell in whose list it is, once there are lists. */
  cell?: number;
}

/** What tests expect of particles in a box: plain loops over arrays, one cell after the other. */
export class PlainBox {
  constructor(
    readonly extents: readonly number[],
    readonly periodic: readonly boolean[],
    readonly active: Active = () => true,
  ) {}

  get cells(): number {
    return this.extents.reduce((a, b) => a * b);
  }

  /** The number of a cell, which may be reached through periodic ends; undefined where there is no active one. */
  number(cell: readonly number[]): number | undefined {
    const inside = cell.map((n, a) => (this.periodic[a] ? (n + 3 * this.extents[a]) % this.extents[a] : n));
    if (inside.some((n, a) => n < 0 || n >= this.extents[a]) || !this.active(inside[0], inside[1], inside[2] ?? 0)) return undefined;
    return inside.reduceRight((sum, n, a) => sum * this.extents[a] + n, 0);
  }

  cell(number: number): number[] {
    let rest = number;
    return this.extents.map((length) => {
      const n = rest % length;
      rest = (rest - n) / length;
      return n;
    });
  }

  /**
   * Particles in the order of their cells, back in the box along periodic axes; those that are in no cell are left out. In a cell those that
   * were there before come first.
   */
  sorted(particles: readonly PlainParticle[]): PlainParticle[] {
    for (const { x } of particles)
      this.extents.forEach((length, a) => {
        if (!this.periodic[a]) return;
        const inside = x[a] - length * Math.floor(x[a] / length);
        x[a] = inside < length ? inside : 0;
      });
    const came = new Map<PlainParticle, number>();
    for (const particle of particles) {
      const cell = this.number(particle.x.map(Math.floor));
      came.set(particle, cell === particle.cell ? 0 : 1);
      particle.cell = cell;
    }
    return particles.filter(({ cell }) => cell !== undefined).sort((a, b) => a.cell! - b.cell! || came.get(a)! - came.get(b)!);
  }

  /**
   * What each cell gets of particles in the order of their cells: for each cell the sums of what its particles add at each offset, and the
   * sums of cells around it one after the other, from the lowest offset to the highest.
   * @param offsets along x, y and z, in this order of the sums
   * @param value of what a particle in a cell adds there
   */
  deposit(
    particles: readonly PlainParticle[],
    offsets: readonly (readonly number[])[],
    value: (particle: PlainParticle, cell: readonly number[], offset: readonly number[]) => number,
  ): number[] {
    const sums = offsets.map(() => Array<number>(this.cells).fill(0));
    for (const particle of particles) {
      const cell = particle.x.map(Math.floor);
      const number = this.number(cell)!;
      offsets.forEach((offset, n) => (sums[n][number] += value(particle, cell, offset)));
    }
    return Array.from({ length: this.cells }, (_, number) => {
      const cell = this.cell(number);
      if (this.number(cell) === undefined) return 0;
      return offsets.reduce((total, offset, n) => {
        const from = this.number(cell.map((c, a) => c - offset[a]));
        return total + (from === undefined ? 0 : sums[n][from]);
      }, 0);
    });
  }
}

/** All offsets from `low` to `high` along each axis, x the fastest. */
export function offsetsOf(dimension: number, low: number, high: number): number[][] {
  const width = high - low + 1;
  return Array.from({ length: width ** dimension }, (_, n) =>
    Array.from({ length: dimension }, (_unused, a) => low + (Math.floor(n / width ** a) % width)),
  );
}
