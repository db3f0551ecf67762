import { range } from "../../device/launch/policy.js";
import { CPU_MEMORY, View } from "../../device/memory/view.js";
import { LaunchError } from "../../base/errors.js";
import { fourier } from "../fourier.js";
import type { PatternSteps } from "../pattern.js";
import { firstPass, joinModes, laterPass, mirrorModes, multiplyRows, splitModes, takeRows, type PartType } from "./fft-kernels.js";
import { chirpOf, rootOfUnity } from "../roots.js";
import { lengthFrom, radicesOf, type Radix } from "./radices.js";

/** Real and imaginary parts, two views of one shape. */
export interface ComplexParts {
  readonly re: View<PartType>;
  readonly im: View<PartType>;
}

/** A step of a transform, which reads one array and writes another one. */
export interface Stage {
  /** Shape of what it writes. */
  readonly shape: readonly number[];
  plan(from: ComplexParts, to: ComplexParts): void;
}

/** The transforms of one pattern, and the constants that they share. */
export class FftPlan {
  private readonly constants = new Map<string, View<PartType, 2>>();
  private readonly greatest: 4 | 16;

  constructor(
    private readonly steps: PatternSteps,
    private readonly type: PartType,
  ) {
    this.greatest = steps.precision === "fast" && steps.device.memory !== CPU_MEMORY ? 16 : 4;
  }

  /** Complex transforms along one axis. */
  complex(shape: readonly number[], axis: number, inverse: boolean): Stage[] {
    const n = shape[axis];
    const radices = radicesOf(n, this.greatest);
    return radices ? this.passes(shape, axis, { radices, inverse, scale: inverse ? 1 / n : 1 }) : this.bluestein(shape, axis, inverse);
  }

  /** From n real numbers, given as even and odd ones (for odd n: as they are, and zeros), to modes 0 to n / 2. */
  fromReal(shape: readonly number[], axis: number): Stage[] {
    const n = shape[axis];
    const half = Math.floor(n / 2);
    const modes = withExtent(shape, axis, half + 1);
    if (n % 2 === 1) return [...this.complex(shape, axis, false), { shape: modes, plan: (from, to) => this.take(from, to, axis) }];
    const roots = () => this.table(`split ${n}`, () => Array.from({ length: half + 1 }, (_, k) => rootOfUnity(k, n)));
    const split: Stage = {
      shape: modes,
      plan: (from, to) => {
        const args = { ...planesOf(from, to, axis), roots: roots(), h: half };
        this.steps.launch(splitModes[this.type], args as never, rangeOf(to, axis));
      },
    };
    return [...this.complex(withExtent(shape, axis, half), axis, false), split];
  }

  /** The reverse: the n real numbers have the shape. */
  toReal(shape: readonly number[], axis: number): Stage[] {
    const n = shape[axis];
    const half = Math.floor(n / 2);
    if (n % 2 === 1) {
      const mirror: Stage = {
        shape,
        plan: (from, to) =>
          this.steps.launch(mirrorModes[this.type], { ...planesOf(from, to, axis), n, half: half + 1 } as never, rangeOf(to, axis)),
      };
      return [mirror, ...this.complex(shape, axis, true)];
    }
    const packed = withExtent(shape, axis, half);
    const roots = () => this.table(`split ${n}`, () => Array.from({ length: half + 1 }, (_, k) => rootOfUnity(k, n)));
    const join: Stage = {
      shape: packed,
      plan: (from, to) =>
        this.steps.launch(joinModes[this.type], { ...planesOf(from, to, axis), roots: roots(), h: half } as never, rangeOf(to, axis)),
    };
    return [join, ...this.complex(packed, axis, true)];
  }

  /** Copies as many rows as the target has. */
  take(from: ComplexParts, to: ComplexParts, axis: number): void {
    this.steps.launch(takeRows[this.type], planesOf(from, to, axis) as never, rangeOf(to, axis));
  }

  private passes(
    shape: readonly number[],
    axis: number,
    { radices, inverse, scale }: { radices: readonly Radix[]; inverse: boolean; scale: number },
  ): Stage[] {
    const inner = product(shape.slice(axis + 1));
    let [n, side] = [shape[axis], inner];
    return radices.map((radix): Stage => {
      const pass = { radix, n, side, axis, inner, scale };
      n /= radix;
      side *= radix;
      return { shape, plan: (from, to) => this.pass(inverse ? exchanged(from) : from, inverse ? exchanged(to) : to, pass) };
    });
  }

  private pass(from: ComplexParts, to: ComplexParts, { radix, n, side, axis, inner, scale }: Pass): void {
    const m = n / radix;
    const last = m === 1;
    const common = { m, radix, last, scale: last ? scale : 1, scaled: last && scale !== 1 };
    const views = rowsOf(from, to, axis, { side, inner });
    const [batches, , columns] = views.fromRe.shape;
    if (columns > 1) {
      const args = { ...views, ...common, roots: this.rootsOfRows(n, radix) };
      this.steps.launch(laterPass(this.type, radix), args as never, range(batches, m, columns));
    } else {
      const { fromRe, fromIm, toRe, toIm } = views;
      const flat = { fromRe: fromRe.at(2, 0), fromIm: fromIm.at(2, 0), toRe: toRe.at(2, 0), toIm: toIm.at(2, 0) };
      const args = { ...flat, ...common, roots: this.roots(n, m) };
      this.steps.launch(firstPass(this.type, radix), args as never, range(batches, m));
    }
  }

  /** Cosines and sines of the first m roots of n, each in a row of its own. */
  private roots(n: number, m: number): View<PartType, 2> {
    return this.table(`roots ${n} ${m}`, () => {
      const roots = Array.from({ length: m }, (_, p) => rootOfUnity(p, n));
      return [roots.map(([re]) => re), roots.map(([, im]) => im)];
    });
  }

  /** For each p of n / radix the powers 0 to radix - 1 of its root. */
  private rootsOfRows(n: number, radix: number): View<PartType, 2> {
    return this.table(`rows ${n} ${radix}`, () =>
      Array.from({ length: n / radix }, (_, p) => Array.from({ length: radix }, (_, k) => rootOfUnity(p * k, n)).flat()),
    );
  }

  /** As a convolution with a chirp, j k = (j^2 + k^2 - (k - j)^2) / 2 (Bluestein, IEEE Trans. AU 18, 1970). */
  private bluestein(shape: readonly number[], axis: number, inverse: boolean): Stage[] {
    const n = shape[axis];
    const length = lengthFrom(2 * n - 1);
    const padded = withExtent(shape, axis, length);
    const radices = radicesOf(length, this.greatest)!;
    const direction = inverse ? exchanged : (parts: ComplexParts) => parts;
    const chirp = () => this.table(`chirp ${n}`, () => chirpOf(n));
    const multiply = (target: readonly number[], count: number, factors: () => View<PartType, 2>, scale: number): Stage => ({
      shape: target,
      plan: (from, to) => {
        const args = { ...planesOf(direction(from), direction(to), axis), factors: factors(), count, scale, scaled: scale !== 1 };
        this.steps.launch(multiplyRows[this.type], args as never, rangeOf(to, axis));
      },
    });
    return [
      multiply(padded, n, chirp, 1),
      ...this.passes(padded, axis, { radices, inverse, scale: 1 }),
      multiply(padded, length, () => this.table(`convolution ${n}`, () => convolutionOf(n, length)), 1),
      ...this.passes(padded, axis, { radices, inverse: !inverse, scale: 1 / length }),
      multiply(shape, n, chirp, inverse ? 1 / n : 1),
    ];
  }

  /** Constants in the device's memory, a row each. */
  private table(key: string, make: () => readonly (readonly number[])[]): View<PartType, 2> {
    const known = this.constants.get(key);
    if (known) return known;
    const values = make();
    const made = this.steps.own(this.steps.device.from({ type: this.type }, values.flat(), [values.length, values[0].length]));
    this.constants.set(key, made);
    return made;
  }
}

interface Pass {
  readonly radix: Radix;
  /** Numbers of the transforms that are left to do. */
  readonly n: number;
  /** Elements of a row. */
  readonly side: number;
  readonly axis: number;
  readonly inner: number;
  readonly scale: number;
}

/** The modes of the chirp's conjugate, of a length that the convolution goes around. */
function convolutionOf(n: number, length: number): [re: number, im: number][] {
  const [re, im] = [new Float64Array(length), new Float64Array(length)];
  for (const [j, [c, s]] of chirpOf(n).entries()) {
    re[j] = re[(length - j) % length] = c;
    im[j] = im[(length - j) % length] = -s;
  }
  const modes = fourier(re, im);
  return Array.from(modes.re, (value, k) => [value, modes.im[k]]);
}

/** Exchanging the parts turns one direction into the other. */
const exchanged = ({ re, im }: ComplexParts): ComplexParts => ({ re: im, im: re });

const product = (extents: readonly number[]): number => extents.reduce((a, b) => a * b, 1);

/** The shape with another extent of one axis. */
const withExtent = (shape: readonly number[], axis: number, extent: number): number[] => shape.map((n, a) => (a === axis ? extent : n));

/** Batch, row and column of a view. A row has `side` elements, which are all of the axes after `axis` or several times as many. */
function planeOf(view: View<PartType>, axis: number, { side, inner }: { side: number; inner: number }): View<PartType, 3> {
  const before = merged(view, 0, axis);
  const after = merged(view, axis + 1, view.rank);
  if (side === inner) {
    const shape = [before.extent, view.shape[axis], inner];
    return new View(view.buffer, view.type, shape, [before.stride, view.strides[axis], after.stride], view.offset);
  }
  const all = merged(view, axis, view.rank);
  return new View(
    view.buffer,
    view.type,
    [before.extent, all.extent / side, side],
    [before.stride, side * all.stride, all.stride],
    view.offset,
  );
}

/** Several axes as one. Throws LaunchError where they do not lie evenly in memory. */
function merged({ shape, strides }: View, begin: number, end: number): { extent: number; stride: number } {
  let [extent, stride] = [1, 0];
  for (let axis = end - 1; axis >= begin; axis--) {
    if (shape[axis] === 1) continue;
    if (extent > 1 && strides[axis] !== extent * stride)
      throw new LaunchError(
        `fft of a view of shape [${shape}] with strides [${strides}], in which axes ${begin} to ${end - 1} do not lie evenly: copy it into an array of its own`,
      );
    if (extent === 1) stride = strides[axis];
    extent *= shape[axis];
  }
  return { extent, stride };
}

function rowsOf(from: ComplexParts, to: ComplexParts, axis: number, sides: { side: number; inner: number }) {
  const [fromRe, fromIm, toRe, toIm] = [from.re, from.im, to.re, to.im].map((view) => planeOf(view, axis, sides));
  return { fromRe, fromIm, toRe, toIm };
}

/** Views of stages that leave the rows as they are. */
function planesOf(from: ComplexParts, to: ComplexParts, axis: number) {
  const inner = product(to.re.shape.slice(axis + 1));
  return rowsOf(from, to, axis, { side: inner, inner });
}

const rangeOf = ({ re }: ComplexParts, axis: number) =>
  range(product(re.shape.slice(0, axis)), re.shape[axis], product(re.shape.slice(axis + 1)));
