/** A field in plain arrays, for what tests expect: values of the cells of a box, in (z, y, x, k) order. */
export class HostField {
  readonly data: number[];

  constructor(
    readonly extents: readonly number[],
    readonly value: (x: number, y: number, z: number, k: number) => number,
    readonly active: (x: number, y: number, z: number) => boolean = () => true,
    readonly fillValue = 0,
    readonly cardinality = 1,
  ) {
    this.data = this.cells().flatMap(([x, y, z]) =>
      Array.from({ length: cardinality }, (_, k) => (active(x, y, z) ? value(x, y, z, k) : fillValue)),
    );
  }

  cells(): [x: number, y: number, z: number][] {
    const [nx, ny, nz = 1] = this.extents;
    return Array.from({ length: nx * ny * nz }, (_, n) => [n % nx, Math.floor(n / nx) % ny, Math.floor(n / nx / ny)]);
  }

  contains(x: number, y: number, z: number): boolean {
    const inside = [x, y, z].every((n, axis) => n >= 0 && n < (this.extents[axis] ?? 1));
    return inside && this.active(x, y, z);
  }

  at(x: number, y: number, z: number, k = 0): number {
    const [nx, ny] = this.extents;
    return this.contains(x, y, z) ? this.data[((z * ny + y) * nx + x) * this.cardinality + k] : this.fillValue;
  }
}
