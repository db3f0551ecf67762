import type { Device } from "../../device/device.js";
import { View } from "../../device/memory/view.js";
import { LaunchError } from "../../base/errors.js";
import { describe } from "../../base/describe.js";
import { requireOptions, requireThing } from "../../base/own.js";
import { makePattern, requireSeparate, requireView, type Pattern, type PatternOptions, type PatternSteps } from "../pattern.js";
import type { PartType } from "./fft-kernels.js";
import { FftPlan, type ComplexParts, type Stage } from "./fft-stages.js";

/** Complex numbers: an array of `complex` or `complexf`, or two views of one shape. */
export type ComplexViews = View<PartType> | { readonly re: View<PartType>; readonly im: View<PartType> };

/** Arguments of `fft`. */
export interface Fft {
  /** Complex numbers; with `real`, and without `inverse`, a view of real ones. */
  input: ComplexViews;
  /** As the input, in memory of its own. With `real` the last of the axes has n numbers on the real side, and n / 2 + 1 modes, rounded down, on the complex one. */
  output: ComplexViews;
  /** Axes to transform, from 0 on; the others are batches. Default: all of them. */
  axes?: readonly number[];
  /** x_j = sum over k of X_k exp(2 pi i j k / n), over n. */
  inverse?: boolean;
  /** Numbers are real before the transform, or after the inverse. */
  real?: boolean;
}

/**
 * Prepares discrete Fourier transforms of arrays of f64 or f32, X_k = sum over j of x_j exp(-2 pi i j k / n), along some axes. Lengths of any kind are
 * right; those with no prime factor above 13 are the fastest (Stockham's passes, of up to 16 numbers each; others go through Bluestein's convolution).
 * Roots of unity come from the host, and the plan depends on the shapes alone: in strict mode all devices give the same bits. It takes temporary memory
 * for one or two arrays.
 *
 * @throws LaunchError where shapes or types do not fit, axes are empty or named twice, views overlap, or several axes of a view do not lie evenly
 */
export function fft(device: Device, what: Fft, options: PatternOptions = {}): Pattern {
  requireOptions("fft", what, ["input", "output", "axes", "inverse", "real"]);
  const { inverse = false, real = false } = what;
  for (const [name, value] of Object.entries({ inverse, real }))
    requireThing(`fft, for ${name},`, value, typeof value === "boolean", "give true or false");
  const input = sideOf("input", what.input, real && !inverse);
  const output = sideOf("output", what.output, real && inverse);
  const axes = axesOf(what.axes, input.re.rank);
  requireFit(input.re, output.re, real ? { axis: axes.at(-1)!, inverse } : undefined);
  requireSeparate("fft", namedParts("output", output), namedParts("input", input));
  return makePattern(device, options, (steps) => {
    if (input.re.size === 0 || output.re.size === 0) return;
    const order = memoryOrder(output.re);
    const [from, to] = [input, output].map((side) => reordered(side, order));
    planFft(steps, from, to, { axes: axes.map((axis) => order.indexOf(axis)), inverse, real });
  });
}

/** One side of a transform; real numbers have no imaginary part. */
interface Side {
  readonly re: View<PartType>;
  readonly im?: View<PartType>;
}

const isPart = (type: string): type is PartType => type === "f64" || type === "f32";

/** The parts of what was given. Throws LaunchError. */
function sideOf(name: "input" | "output", given: ComplexViews, real: boolean): Side {
  const what = `fft, for its ${name},`;
  const pair = given as { re?: View<PartType>; im?: View<PartType> } | undefined;
  if (!(given instanceof View) && typeof pair === "object" && pair?.re && !real) {
    requireOptions(what, pair, ["re", "im"]);
    requireView(`${what} re,`, pair.re);
    requireView(`${what} im,`, pair.im);
    const { re, im } = pair as Required<typeof pair>;
    requirePartType(what, re);
    if (re.type !== im.type || re.shape.join() !== im.shape.join())
      throw new LaunchError(`${what} re is ${re.type} [${re.shape}] and im ${im.type} [${im.shape}]: give both the same type and shape`);
    return { re, im };
  }
  const remedy = real ? "give a view of real numbers" : "give an array of complex numbers, device.array(complex, n), or { re, im }";
  requireThing(what, given, given instanceof View, remedy);
  const view = given as View<PartType>;
  requirePartType(what, view);
  if (real) return { re: view };
  if (view.rank < 2 || view.shape[view.rank - 1] !== 2)
    throw new LaunchError(
      `${what} a view of shape [${view.shape}] is not one of complex numbers, whose last axis has 2 elements: ${remedy}`,
    );
  return { re: view.at(view.rank - 1, 0), im: view.at(view.rank - 1, 1) };
}

function requirePartType(what: string, view: View): void {
  if (!isPart(view.type)) throw new LaunchError(`${what} a view of ${view.type} was given: give f64 or f32`);
}

/** Throws LaunchError. */
function axesOf(given: readonly number[] | undefined, rank: number): readonly number[] {
  if (given !== undefined) requireThing("fft, for its axes,", given, Array.isArray(given), "give a list, such as [0]");
  const axes = given ?? Array.from({ length: rank }, (_, axis) => axis);
  if (axes.length === 0) throw new LaunchError("fft along no axis: name one at least, such as axes: [0]");
  for (const [n, axis] of axes.entries()) {
    if (!Number.isInteger(axis) || axis < 0 || axis >= rank)
      throw new LaunchError(
        `fft along axis ${typeof axis === "number" ? axis : describe(axis)} of an array of rank ${rank}: give axes from 0 to ${rank - 1}`,
      );
    if (axes.indexOf(axis) < n) throw new LaunchError(`fft along axis ${axis} twice: name each axis once`);
  }
  return axes;
}

/** Throws LaunchError where one side has another type or shape than the other one demands. */
function requireFit(input: View, output: View, real: { axis: number; inverse: boolean } | undefined): void {
  if (input.type !== output.type) throw new LaunchError(`fft of ${input.type} into ${output.type}: types must be equal`);
  const [numbers, modes] = real?.inverse ? [output, input] : [input, output];
  const expected = numbers.shape.map((n, axis) => (real?.axis === axis ? Math.floor(n / 2) + 1 : n));
  if (modes.shape.join() !== expected.join())
    throw new LaunchError(
      real
        ? `fft of [${numbers.shape}] real numbers has [${expected}] modes, and the ${real.inverse ? "input" : "output"} has [${modes.shape}]: give an array of [${expected}] complex numbers`
        : `fft of [${input.shape}] numbers into [${output.shape}]: shapes must be equal`,
    );
  const empty = numbers.shape.indexOf(0);
  if (empty !== -1 && real?.axis === empty) throw new LaunchError(`fft along axis ${empty}, which has no elements: give at least one`);
}

const namedParts = (name: string, { re, im }: Side) =>
  im ? [[`${name} (re)`, re] as const, [`${name} (im)`, im] as const] : [[name, re] as const];

/** The axes by falling strides. */
const memoryOrder = ({ strides, shape }: View): number[] =>
  Array.from(shape.keys()).sort((a, b) => (shape[a] === 1 || shape[b] === 1 ? a - b : Math.abs(strides[b]) - Math.abs(strides[a])));

function reordered({ re, im }: Side, order: readonly number[]): Side {
  const turn = (view: View<PartType>) =>
    new View(
      view.buffer,
      view.type,
      order.map((axis) => view.shape[axis]),
      order.map((axis) => view.strides[axis]),
      view.offset,
    );
  return im ? { re: turn(re), im: turn(im) } : { re: turn(re) };
}

interface Directions {
  readonly axes: readonly number[];
  readonly inverse: boolean;
  readonly real: boolean;
}

function planFft(steps: PatternSteps, input: Side, output: Side, { axes, inverse, real }: Directions): void {
  const plan = new FftPlan(steps, input.re.type);
  const complexAxes = (real ? axes.slice(0, -1) : axes).toReversed();
  const axis = axes.at(-1)!;
  const complex = (shape: readonly number[]): Stage[] => complexAxes.flatMap((one) => plan.complex(shape, one, inverse));
  if (!real) run(steps, plan, complex(input.re.shape), input as ComplexParts, output as ComplexParts);
  else if (inverse) {
    const { re } = output;
    const odd = re.shape[axis] % 2 === 1;
    const target = odd ? { re, im: steps.array(re.type, re.size).reshape(...re.shape) as View<PartType> } : everySecond(re, axis);
    run(steps, plan, [...complex(input.re.shape), ...plan.toReal(re.shape, axis)], input as ComplexParts, target);
  } else {
    const { re } = input;
    const odd = re.shape[axis] % 2 === 1;
    const source = odd ? { re, im: zeros(steps, re) } : everySecond(re, axis);
    run(steps, plan, [...plan.fromReal(re.shape, axis), ...complex(output.re.shape)], source, output as ComplexParts);
  }
}

/** Even elements along an axis as real parts, odd ones as imaginary parts. */
function everySecond({ buffer, type, shape, strides, offset }: View<PartType>, axis: number): ComplexParts {
  const halved = shape.map((n, a) => (a === axis ? n / 2 : n));
  const doubled = strides.map((stride, a) => (a === axis ? 2 * stride : stride));
  return {
    re: new View(buffer, type, halved, doubled, offset),
    im: new View(buffer, type, halved, doubled, offset + strides[axis]),
  };
}

/** One zero, seen as an array. */
function zeros(steps: PatternSteps, { type, shape }: View<PartType>): View<PartType> {
  const { buffer, offset } = steps.array(type, 1);
  return new View(
    buffer,
    type,
    shape,
    shape.map(() => 0),
    offset,
  );
}

/** Adds the stages' launches. Arrays between them are two in turn, the output one of them where it is as large and its parts are contiguous. */
function run(steps: PatternSteps, plan: FftPlan, list: readonly Stage[], input: ComplexParts, output: ComplexParts): void {
  if (list.length === 0) return plan.take(input, output, 0);
  const between = list.slice(0, -1);
  const most = Math.max(0, ...between.map(({ shape }) => shape.reduce((a, b) => a * b, 1)));
  const spare = (): ComplexParts => ({ re: steps.array(output.re.type, most), im: steps.array(output.re.type, most) });
  const usesOutput = output.re.contiguous && output.im.contiguous && output.re.size >= most;
  const flat = ({ re, im }: ComplexParts): ComplexParts => ({ re: re.reshape(re.size), im: im.reshape(im.size) });
  const spares: (ComplexParts | undefined)[] = [usesOutput ? flat(output) : undefined, undefined];
  let from = input;
  for (const [n, stage] of list.entries()) {
    // The last stage writes the output, so that the one before must write the other array.
    const turn = (list.length - 1 - n) % 2;
    const to = n === list.length - 1 ? output : shaped((spares[turn] ??= spare()), stage.shape);
    stage.plan(from, to);
    from = to;
  }
}

/** The first elements as an array of a shape. */
function shaped({ re, im }: ComplexParts, shape: readonly number[]): ComplexParts {
  const size = shape.reduce((a, b) => a * b, 1);
  const part = (view: View<PartType>) => view.slice([0, size]).reshape(...shape) as View<PartType>;
  return { re: part(re), im: part(im) };
}
