import { BYTES, ELEMENTS, isWide } from "../../ir/scalars.js";
import { isRank, MAX_RANK } from "../../base/rank.js";
import { reachOf } from "../../ir/reach.js";
import type { ElementType, NumberElement, WideType } from "../../ir/types.js";
import { componentsOfValue, compositeOf, type CompositeType } from "../../kernel/declare/composite.js";
import { structOf } from "../../kernel/declare/struct.js";
import type { Rank } from "../../kernel/declare/params.js";
import { LaunchError } from "../../base/errors.js";
import { INSPECT } from "../../base/inspect.js";
import { requireOptions } from "../../base/own.js";
import { describe } from "../../base/describe.js";

type TypedArrays = { [T in ElementType]: (typeof ELEMENTS)[T]["array"]["prototype"] };
/** The host array of an element type. Of types that are not known, one with numbers: arrays of i64 and u64, whose values are bigints, are named. */
export type TypedArrayOf<T extends ElementType> = [ElementType] extends [T] ? TypedArrays[NumberElement] : TypedArrays[T];
/** The host array of elements that hosts see as numbers. */
export type NumberArrayOf<T extends NumberElement> = TypedArrays[T];
/** A host array of any element type. */
export type TypedArray = TypedArrayOf<ElementType>;

export { BYTES } from "../../ir/scalars.js";

/** A typed array of `length` elements over new memory, or over given memory. */
export function typedArray<T extends ElementType>(type: T, source: number): TypedArrayOf<T>;
export function typedArray<T extends ElementType>(type: T, source: ArrayBufferLike, byteOffset: number, length: number): TypedArrayOf<T>;
export function typedArray(type: ElementType, source: number | ArrayBufferLike, byteOffset?: number, length?: number): TypedArray {
  const { array } = ELEMENTS[type as NumberElement];
  if (typeof source !== "number") return new array(source as ArrayBuffer, byteOffset, length);
  try {
    return new array(source);
  } catch {
    throw new LaunchError(`the engine has no room for ${source} values of ${type} on the host: choose a smaller size`);
  }
}

/** A piece of a device's memory. */
export interface Buffer {
  /** Views can be used on every device that has this memory. */
  readonly memory: MemorySpace;
  readonly bytes: number;
  /** CPU memory: byte offset in `host`; GPU memory: the device pointer. */
  readonly address: number | bigint;
  /** CPU memory only: what `address` counts in. */
  readonly host?: ArrayBufferLike;
  /** False after `free`; buffers that cannot be freed need not tell. */
  readonly live?: boolean;
  /** Raised by every write; absent before the first one. See `writes.ts`. */
  writes?: number;
  free(): void;
}

/** One address space: all CPU backends share one, each GPU has its own. */
export interface MemorySpace {
  readonly name: string;
}

/** The address space of every CPU backend: a view made on one runs on any other without a copy. */
export const CPU_MEMORY: MemorySpace = { name: "cpu" };

/** New memory of the host alone, zeroed. */
export function hostBuffer(bytes: number): Buffer {
  return { memory: CPU_MEMORY, host: new ArrayBuffer(bytes), address: 0, bytes, free: () => {} };
}

/** `right`: the last index is contiguous (C order); `left`: the first (Fortran order). */
export type LayoutName = "right" | "left";

/** Extents of a new array. */
export type Shape = number | readonly number[];
/** The rank of a shape, if its type tells: 1 for a number, 2 for `[n, m]`, any for a `number[]`. */
// oxlint-disable-next-line typescript/no-explicit-any
export type RankOf<S extends Shape> = S extends readonly number[] ? (S["length"] extends Rank ? S["length"] : any) : 1;

declare const RANK: unique symbol;

/**
 * A typed, strided window on a buffer, of rank 1 to 7. `right` layout: the last index is contiguous (C order); `left`: the first
 * (Fortran order). Slicing makes strided views of the same memory. Strides and `offset` count elements. A view whose rank `R` is not
 * known before the program runs is accepted by the type checker wherever one of some rank is.
 */
// oxlint-disable-next-line typescript/no-explicit-any
export class View<T extends ElementType = ElementType, R extends Rank = any> {
  /** For the type checker alone. */
  declare readonly [RANK]?: R;

  readonly buffer: Buffer;
  readonly type: T;
  readonly shape: readonly number[];
  readonly strides: readonly number[];
  readonly offset: number;

  /**
   * A view of one's own over existing memory, such as another view's.
   * @param type `f64` or `"f64"`, and so on
   * @param shape extents of 1 to 7 axes
   * @param strides elements from one index of an axis to the next; negative ones go backwards, and 0 repeats an element
   * @param offset elements from the buffer's start to the first one
   * @throws LaunchError for arguments of another kind, and for a view that reaches beyond its buffer
   */
  constructor(buffer: Buffer, type: T | { readonly type: T }, shape: readonly number[], strides: readonly number[], offset: number = 0) {
    this.buffer = buffer;
    this.type = typeof type === "object" && type ? type.type : type;
    this.shape = [...shape];
    this.strides = [...strides];
    this.offset = requireInside(this, offset);
  }

  get rank(): number {
    return this.shape.length;
  }
  /** Number of elements. */
  get size(): number {
    return this.shape.reduce((a, b) => a * b, 1);
  }
  /** Extent of the first axis, as for an array. */
  get length(): number {
    return this.shape[0];
  }
  /** True where the elements are contiguous in memory, in `right` order. */
  get contiguous(): boolean {
    let expected = 1;
    for (let a = this.rank - 1; a >= 0; a--) {
      if (this.shape[a] !== 1 && this.strides[a] !== expected) return false;
      expected *= this.shape[a];
    }
    return true;
  }

  /** The window [begin, end) along each axis; an axis left out keeps its whole extent. */
  slice(...bounds: (readonly [begin: number, end: number] | undefined)[]): View<T, R> {
    if (bounds.length > this.rank)
      throw new LaunchError(`slice with ${bounds.length} bounds of a view of shape [${this.shape}]; give one for each axis`);
    let offset = this.offset;
    const shape = this.shape.map((extent, axis) => {
      const [begin, end] = bounds[axis] ?? [0, extent];
      if (!(Number.isInteger(begin) && Number.isInteger(end) && 0 <= begin && begin <= end && end <= extent))
        throw new LaunchError(`slice [${begin}, ${end}) of axis ${axis}, which has extent ${extent}`);
      offset += begin * this.strides[axis];
      return end - begin;
    });
    return new View(this.buffer, this.type, shape, this.strides, offset);
  }

  /** The view of rank one less with `axis` held at `index`. */
  at(axis: number, index: number): View<T> {
    if (this.rank === 1 || !Number.isInteger(index) || !(index >= 0 && index < this.shape[axis]))
      throw new LaunchError(`index ${index} of axis ${axis} in a view of shape [${this.shape}]`);
    const rest = <E>(list: readonly E[]) => list.filter((_, a) => a !== axis);
    return new View(this.buffer, this.type, rest(this.shape), rest(this.strides), this.offset + index * this.strides[axis]);
  }

  /** The same elements under another shape; the view must be contiguous. */
  reshape<const S extends readonly number[]>(...shape: S): View<T, RankOf<S>> {
    requireShape(shape);
    if (!this.contiguous || shape.reduce((a, b) => a * b, 1) !== this.size)
      throw new LaunchError(`a view of shape [${this.shape}] cannot take shape [${shape}]: it needs as many elements, contiguous`);
    return new View(this.buffer, this.type, shape, stridesOf(shape, "right"), this.offset);
  }

  /** Frees the memory of the whole array; this view may be a part of it. */
  free(): void {
    this.buffer.free();
  }

  [INSPECT](): string {
    return `View ${this.type} [${this.shape.join(", ")}]`;
  }
}

/**
 * The offset of a view in its buffer. An empty view, which touches nothing, may be said to begin outside; it begins at the start then.
 * Throws LaunchError if a part of the view is invalid, or lies outside of the buffer.
 */
function requireInside({ buffer, type, shape, strides }: View, offset: number): number {
  if (typeof buffer?.bytes !== "number")
    throw new LaunchError(`a view is given ${describe(buffer)} for its buffer; give another view's, such as y.buffer`);
  requireElementType("a view", { type });
  requireShape(shape);
  if (strides.length !== shape.length || !strides.every(Number.isSafeInteger))
    throw new LaunchError(`a view of shape [${shape}] with strides [${strides}]: give a whole number for each axis`);
  if (!Number.isSafeInteger(offset)) throw new LaunchError(`a view at offset ${offset}: give a whole number of elements`);
  const elements = Math.floor(buffer.bytes / ELEMENTS[type].bytes);
  if (shape.includes(0)) return offset >= 0 && offset <= elements ? offset : 0;
  const { below, above } = reachOf(shape, strides);
  if (offset - below >= 0 && offset + above < elements) return offset;
  throw new LaunchError(
    `a view of shape [${shape}] with strides [${strides}] at offset ${offset} goes from element ${offset - below} to ${offset + above} of a buffer that has ${elements} of ${type}: give it extents, strides and an offset that stay inside`,
  );
}

/** Throws LaunchError unless `shape` has 1 to 7 extents from 0 to 2^31 - 1. */
function requireShape(shape: readonly number[]): void {
  if (!isRank(shape.length)) throw new LaunchError(`an array of rank ${shape.length}: views have 1 to ${MAX_RANK} axes`);
  for (const n of shape)
    if (!Number.isInteger(n) || n < 0 || n > 0x7fffffff)
      throw new LaunchError(`an array of shape [${shape}]: extents are whole numbers from 0 to 2147483647`);
}

const ELEMENT_NAMES = Object.keys(ELEMENTS).join(", ");

/** Rejects a value that is not an element type. Throws LaunchError. */
function requireElementType(what: string, type: { readonly type: ElementType } | undefined): void {
  if (!type || !Object.hasOwn(ELEMENTS, type.type)) throw new LaunchError(`${what} needs an element type: ${ELEMENT_NAMES}`);
}

/** The same where elements are numbers, so that i64 and u64 are refused. */
export function requireNumberElement(what: string, type: { readonly type: ElementType } | undefined): void {
  requireElementType(what, type);
  if (isWide(type!.type))
    throw new LaunchError(`${what} holds ${type!.type}, which it cannot: use i32, or f64 for whole numbers up to 2^53`);
}

/** The type of an array's elements, or of vectors and the like. */
type NewArrayType<T extends ElementType = ElementType> =
  | { readonly type: T }
  | { readonly composite: Omit<CompositeType, "element"> & { readonly element: T } };

/** The type of a new array's elements. Throws LaunchError for anything else. */
export function elementTypeOf<T extends ElementType>(type: NewArrayType<T> | undefined): T {
  const composite = compositeOf(type);
  if (composite) return composite.element as ElementType as T;
  const record = structOf(type);
  if (record) throw new LaunchError(`an array of ${record.name} is an array for each field: write structArrays(device, ${record.name}, n)`);
  const token = type as { readonly type: T; readonly kind?: string } | undefined;
  if (token?.kind === "stored")
    throw new LaunchError("an array has no scale, and holds numbers as they are stored: give the type alone, device.array(f16, n)");
  // Truth values are bytes.
  if ((token?.type as string | undefined) === "bool") return "u8" as T;
  requireElementType("an array", token);
  return token!.type;
}

/** The extents of a new array, with the axes of components at the end. Throws LaunchError if the element type, the shape or the layout is invalid. */
export function newShape(type: NewArrayType | undefined, shape: Shape, options: { layout?: string } = {}): number[] {
  elementTypeOf(type);
  if (typeof shape !== "number" && !Array.isArray(shape))
    throw new LaunchError(`an array is given ${describe(shape)} for its extents; give a number, or a list of them`);
  requireOptions("an array", options, ["layout"]);
  const { layout = "right" } = options;
  if (layout !== "right" && layout !== "left") throw new LaunchError(`an array has no layout "${layout}"; use "right" or "left"`);
  const extents = [...(typeof shape === "number" ? [shape] : shape), ...(compositeOf(type)?.axes ?? [])];
  requireShape(extents);
  return extents;
}

/** Throws LaunchError for a value of the host that is not a number, such as the result of a function without `return`, which arrays of floats take for NaN. */
export function requireNumber(what: () => string, value: unknown): asserts value is number {
  if (typeof value !== "number") throw new LaunchError(`${what()} is ${describe(value)}: give numbers`);
}

/**
 * Throws LaunchError for host data that are not numbers, or that a type cannot hold.
 * @param what begins the message, where the data have a name
 */
export function requireFitting(type: ElementType, data: ArrayLike<number>, what?: string): void {
  const { kind, least, greatest, array } = ELEMENTS[type];
  if (data instanceof array) return;
  const name = (n: number): string => `${what === undefined ? "" : `${what}, `}value ${n}`;
  if (isWide(type)) return requireBigints(type, data as ArrayLike<unknown>, name);
  const areNumbers = ArrayBuffer.isView(data) && !(data instanceof BigInt64Array || data instanceof BigUint64Array);
  if (!areNumbers) for (let n = 0; n < data.length; n++) requireNumber(() => name(n), data[n]);
  if (kind === "float") return;
  for (let n = 0; n < data.length; n++)
    if (!Number.isInteger(data[n]) || data[n] < least || data[n] > greatest)
      throw new LaunchError(`${name(n)} is ${data[n]}, which ${type} cannot hold: give whole numbers from ${least} to ${greatest}`);
}

function requireBigints(type: WideType, data: ArrayLike<unknown>, name: (n: number) => string): void {
  for (let n = 0; n < data.length; n++) requireBigint(type, data[n], () => name(n));
}

/** Throws LaunchError for a value of the host that is not a bigint which the type holds. */
function requireBigint(type: WideType, value: unknown, what: () => string): asserts value is bigint {
  const { least, greatest } = ELEMENTS[type];
  if (typeof value !== "bigint") throw new LaunchError(`${what()} is ${describe(value)}: give bigints for ${type}, such as 3n`);
  if (value < least || value > greatest)
    throw new LaunchError(`${what()} is ${value}n, which ${type} cannot hold: give whole numbers from ${least} to ${greatest}`);
}

/**
 * Throws LaunchError unless host data in `right` order has a value for each element of the shape that the type can hold. Every way of host
 * data to a view starts with it.
 */
export function requireData(type: ElementType, shape: readonly number[], data: ArrayLike<number>): void {
  const size = shape.reduce((a, b) => a * b, 1);
  if (typeof data !== "object" || !data) throw new LaunchError(`${describe(data)} is given for values of a view: give an array of numbers`);
  if (data.length !== size) throw new LaunchError(`${data.length} values for a view of shape [${shape}], which has ${size}`);
  requireFitting(type, data);
}

/** Numbers of a new array, the type of its elements and its extents: given one by one, or of vectors and the like as a list of values. Throws LaunchError as `newShape` and `requireData` do. */
export function newData<T extends ElementType>(
  type: NewArrayType<T>,
  data: ArrayLike<unknown>,
  shape: Shape | undefined,
  options?: { layout?: string },
): { readonly token: { readonly type: T }; readonly extents: number[]; readonly numbers: ArrayLike<number> } {
  const token = { type: elementTypeOf(type) };
  const of = compositeOf(type);
  const isList = of !== undefined && typeof data?.[0] === "object";
  const numbers = (
    isList
      ? Array.from(data).flatMap((value, n) => componentsOfValue(of, value, `value ${n} is`))
      : isTruth(type) && Array.isArray(data)
        ? data.map((value) => (typeof value === "boolean" ? +value : value))
        : data
  ) as ArrayLike<number>;
  const given = shape ?? (isList ? data.length : Math.ceil((data?.length ?? 0) / (of?.fields.length ?? 1)));
  const extents = newShape(type, given, options);
  requireData(token.type, extents, numbers);
  return { token, extents, numbers };
}

const isTruth = (type: NewArrayType): boolean => (type as { readonly type?: string }).type === "bool";

/** Bytes that such data take in an array. Throws LaunchError for anything else. */
export function bytesOfData(type: NewArrayType, data: ArrayLike<unknown>): number {
  const parts = typeof data?.[0] === "object" ? (compositeOf(type)?.fields.length ?? 1) : 1;
  return (data?.length ?? 0) * parts * BYTES[elementTypeOf(type)];
}

/** Throws LaunchError unless one view can be copied to the other. */
export function requireAlike(source: Pick<View, "type" | "shape">, target: Pick<View, "type" | "shape">): void {
  if (source.type !== target.type || source.shape.join() !== target.shape.join())
    throw new LaunchError(`copy from ${source.type} [${source.shape}] to ${target.type} [${target.shape}]: shapes and types must be equal`);
}

/** Element strides of a dense array. */
export function stridesOf(shape: readonly number[], layout: LayoutName): number[] {
  const strides = Array<number>(shape.length);
  let stride = 1;
  const axes = [...shape.keys()];
  for (const a of layout === "left" ? axes : axes.reverse()) {
    strides[a] = stride;
    stride *= shape[a];
  }
  return strides;
}
