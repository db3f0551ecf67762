/** A function of one coordinate that is 0 at 0 and 1, with its second derivative. */
interface Factor {
  value(t: number): number;
  second(t: number): number;
}

/** t (1 - t) exp(a t) */
const bump = (a: number): Factor => ({
  value: (t) => t * (1 - t) * Math.exp(a * t),
  second: (t) => (-2 + 2 * a * (1 - 2 * t) + a * a * t * (1 - t)) * Math.exp(a * t),
});

const waves: Factor = {
  value: (t) => Math.sin(Math.PI * t) + Math.sin(3 * Math.PI * t) / 3,
  second: (t) => -(Math.PI ** 2) * (Math.sin(Math.PI * t) + 3 * Math.sin(3 * Math.PI * t)),
};

const FACTORS = [bump(1), waves, bump(-2)];

/**
 * A manufactured solution of -(d2/dx2 + d2/dy2 + d2/dz2) u = f on the unit cube, u = 0 on its faces: a product of a function of each
 * coordinate. Cell n of `size` along an axis has the coordinate (n + 1) h with h = 1 / (size + 1), so the cells outside lie on the faces. With
 * another number of `planes` along z the box is (planes + 1) h high, and its function of z is stretched to that.
 */
export class Manufactured {
  private readonly values: Float64Array[];
  private readonly seconds: Float64Array[];
  /** Factor of second derivatives along z, whose function is stretched. */
  private readonly shrink: number;

  constructor(
    private readonly size: number,
    private readonly planes = size,
  ) {
    const lengths = [size, size, planes];
    const along = (f: (t: number) => number, axis: number) =>
      Float64Array.from({ length: lengths[axis] }, (_, n) => f((n + 1) / (lengths[axis] + 1)));
    this.values = FACTORS.map((factor, axis) => along(factor.value, axis));
    this.seconds = FACTORS.map((factor, axis) => along(factor.second, axis));
    this.shrink = ((size + 1) / (planes + 1)) ** 2;
  }

  /** u in a cell. */
  readonly solution = (x: number, y: number, z: number): number => {
    const [a, b, c] = this.values;
    return a[x] * b[y] * c[z];
  };

  /** h^2 f in a cell: the right-hand side for the differences 6 u - (sum of the six neighbours). */
  readonly rightSide = (x: number, y: number, z: number): number => {
    const [a, b, c] = this.values;
    const [ddx, ddy, ddz] = this.seconds;
    return -(ddx[x] * b[y] * c[z] + a[x] * ddy[y] * c[z] + a[x] * b[y] * ddz[z] * this.shrink) / (this.size + 1) ** 2;
  };

  /** The right-hand side in all cells, x fastest. */
  rightSides(): Float64Array {
    const { size, planes } = this;
    const values = new Float64Array(size * size * planes);
    for (let i = 0, z = 0; z < planes; z++)
      for (let y = 0; y < size; y++) for (let x = 0; x < size; x++, i++) values[i] = this.rightSide(x, y, z);
    return values;
  }
}
