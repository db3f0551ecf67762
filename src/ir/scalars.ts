/*
 * The types that kernels store and compute with, a row each: what holds of a type on every device. How a language spells it stands in that
 * language's emitter, in a record that wants an entry for each type.
 */

import { bitsOfBf16, bitsOfF16, valueOfBf16, valueOfF16 } from "./half.js";

type NumberArrayConstructor =
  | Float64ArrayConstructor
  | Float32ArrayConstructor
  | Int32ArrayConstructor
  | Uint32ArrayConstructor
  | Int16ArrayConstructor
  | Uint16ArrayConstructor
  | Int8ArrayConstructor
  | Uint8ArrayConstructor
  | BigInt64ArrayConstructor
  | BigUint64ArrayConstructor;

/** How numbers that no typed array holds lie in memory: as whole numbers with the same bits. */
interface Coding {
  readonly bitsOf: (value: number) => number;
  readonly valueOf: (bits: number) => number;
}

interface Element {
  readonly kind: "float" | "signed" | "unsigned";
  /** In memory. */
  readonly bytes: number;
  /** The type in which an element is computed with; narrower elements have another than their own. */
  readonly value: string;
  readonly least: number | bigint;
  readonly greatest: number | bigint;
  /** Rounds or wraps the exact result of an operation to a value of the type. */
  readonly wrap: (x: never) => number | bigint;
  /** The class of host arrays with such elements. */
  readonly array: NumberArrayConstructor;
  /** The class of typed arrays over memory with such elements. */
  readonly storage: NumberArrayConstructor;
  /** Present where `storage` holds bits and not values. */
  readonly coding?: Coding;
  /** The method of a DataView that writes what `storage` holds. */
  readonly set:
    | "setFloat64"
    | "setFloat32"
    | "setInt32"
    | "setUint32"
    | "setInt16"
    | "setUint16"
    | "setInt8"
    | "setUint8"
    | "setBigInt64"
    | "setBigUint64";
}

/** The types that arrays hold, with their sizes, ranges and host arrays. */
export const ELEMENTS = {
  f64: {
    kind: "float",
    bytes: 8,
    value: "f64",
    least: -Infinity,
    greatest: Infinity,
    wrap: (x: number) => x,
    array: Float64Array,
    storage: Float64Array,
    set: "setFloat64",
  },
  f32: {
    kind: "float",
    bytes: 4,
    value: "f32",
    least: -Infinity,
    greatest: Infinity,
    wrap: Math.fround,
    array: Float32Array,
    storage: Float32Array,
    set: "setFloat32",
  },
  i32: {
    kind: "signed",
    bytes: 4,
    value: "i32",
    least: -0x80000000,
    greatest: 0x7fffffff,
    wrap: (x: number) => x | 0,
    array: Int32Array,
    storage: Int32Array,
    set: "setInt32",
  },
  u32: {
    kind: "unsigned",
    bytes: 4,
    value: "u32",
    least: 0,
    greatest: 0xffffffff,
    wrap: (x: number) => x >>> 0,
    array: Uint32Array,
    storage: Uint32Array,
    set: "setUint32",
  },
  i64: {
    kind: "signed",
    bytes: 8,
    value: "i64",
    least: -0x8000000000000000n,
    greatest: 0x7fffffffffffffffn,
    wrap: (x: bigint) => BigInt.asIntN(64, x),
    array: BigInt64Array,
    storage: BigInt64Array,
    set: "setBigInt64",
  },
  u64: {
    kind: "unsigned",
    bytes: 8,
    value: "u64",
    least: 0n,
    greatest: 0xffffffffffffffffn,
    wrap: (x: bigint) => BigInt.asUintN(64, x),
    array: BigUint64Array,
    storage: BigUint64Array,
    set: "setBigUint64",
  },
  u8: {
    kind: "unsigned",
    bytes: 1,
    value: "i32",
    least: 0,
    greatest: 255,
    wrap: (x: number) => x & 255,
    array: Uint8Array,
    storage: Uint8Array,
    set: "setUint8",
  },
  i8: {
    kind: "signed",
    bytes: 1,
    value: "i32",
    least: -128,
    greatest: 127,
    wrap: (x: number) => (x << 24) >> 24,
    array: Int8Array,
    storage: Int8Array,
    set: "setInt8",
  },
  u16: {
    kind: "unsigned",
    bytes: 2,
    value: "i32",
    least: 0,
    greatest: 65535,
    wrap: (x: number) => x & 65535,
    array: Uint16Array,
    storage: Uint16Array,
    set: "setUint16",
  },
  i16: {
    kind: "signed",
    bytes: 2,
    value: "i32",
    least: -32768,
    greatest: 32767,
    wrap: (x: number) => (x << 16) >> 16,
    array: Int16Array,
    storage: Int16Array,
    set: "setInt16",
  },
  f16: {
    kind: "float",
    bytes: 2,
    value: "f32",
    least: -Infinity,
    greatest: Infinity,
    wrap: (x: number) => valueOfF16(bitsOfF16(x)),
    array: Float32Array,
    storage: Uint16Array,
    coding: { bitsOf: bitsOfF16, valueOf: valueOfF16 },
    set: "setUint16",
  },
  bf16: {
    kind: "float",
    bytes: 2,
    value: "f32",
    least: -Infinity,
    greatest: Infinity,
    wrap: (x: number) => valueOfBf16(bitsOfBf16(x)),
    array: Float32Array,
    storage: Uint16Array,
    coding: { bitsOf: bitsOfBf16, valueOf: valueOfBf16 },
    set: "setUint16",
  },
} as const satisfies Record<string, Element>;

/**
 * Types that a view may store. Integers of 8 and 16 bits are read as `i32` and written from `i32` modulo 2^8 and 2^16; `f16` and `bf16` are read as `f32`
 * and rounded to nearest, ties to even, when they are written.
 */
export type ElementType = keyof typeof ELEMENTS;
/** The types of numbers in a kernel. */
export type NumericType = (typeof ELEMENTS)[ElementType]["value"];
/** Integers of 64 bits, whose values are bigints. */
export type WideType = OfKindAndBytes<"signed" | "unsigned", 8>;
/** The types whose values are JavaScript's numbers. */
export type NumberType = Exclude<NumericType, WideType>;
/** Elements that hosts see as numbers. */
export type NumberElement = Exclude<ElementType, WideType>;
/** The values of a type, as the host sees them. */
export type ValueIn<T extends ElementType> = [ElementType] extends [T] ? number : T extends WideType ? bigint : number;
/** The types of values in a kernel. */
export type ScalarType = NumericType | "bool";
export type FloatType = OfKind<"float">;
export type IntegerType = OfKind<"signed" | "unsigned">;

/** Types of elements that are computed with in another, wider type. */
export type PackedType = Exclude<ElementType, NumericType>;

type OfKindAndBytes<K extends Element["kind"], B extends number> = {
  [T in NumericType]: (typeof ELEMENTS)[T] extends { readonly kind: K; readonly bytes: B } ? T : never;
}[NumericType];
type OfKind<K extends Element["kind"]> = { [T in NumericType]: (typeof ELEMENTS)[T]["kind"] extends K ? T : never }[NumericType];

/** The types that kernels compute with, `bool` aside. */
export const NUMERIC_TYPES = Object.values(ELEMENTS)
  .map(({ value }) => value)
  .filter((type, n, all) => all.indexOf(type) === n) as readonly NumericType[];

/** Bytes of an element in memory. */
export const BYTES = Object.fromEntries(Object.entries(ELEMENTS).map(([type, { bytes }]) => [type, bytes])) as Readonly<
  Record<ElementType, number>
>;

const kindOf = (type: ScalarType | ElementType): Element["kind"] | "bool" => (type === "bool" ? type : ELEMENTS[type].kind);

export const isFloat = (type: ScalarType): type is FloatType => kindOf(type) === "float";
export const isSigned = (type: ScalarType | ElementType): type is OfKind<"signed"> => kindOf(type) === "signed";
export const isUnsigned = (type: ScalarType): type is OfKind<"unsigned"> => kindOf(type) === "unsigned";
export const isInteger = (type: ScalarType): type is IntegerType => type !== "bool" && ELEMENTS[type].kind !== "float";

/** A float of 32 bits. */
export const isSingle = (type: ScalarType | ElementType): type is "f32" => type === "f32";
/** A float of 64 bits. */
export const isDouble = (type: ScalarType | ElementType): type is "f64" => type === "f64";
/** True of integers of 64 bits, whose values are bigints. */
export const isWide = (type: ScalarType | ElementType): type is WideType => type === "i64" || type === "u64";
/** True of integers of 32 bits. */
export const isWord = (type: ScalarType): type is "i32" | "u32" => type === "i32" || type === "u32";
/** True of the type of indices, extents and counts. */
export const isIndex = (type: ScalarType): type is "i32" => type === "i32";

/** True of elements that are narrower in memory than the values that are computed with. */
export const isPacked = (element: ElementType): element is PackedType => ELEMENTS[element].value !== element;

/** Floats of 16 bits, which are rounded when they are stored. */
export type HalfType = "f16" | "bf16";
export const isHalf = (element: ElementType): element is HalfType => element === "f16" || element === "bf16";

/** The type of the numbers that host arrays, and files, have for such elements: f32 for floats of 16 bits. */
export function hostType(element: NumberElement): Exclude<NumberElement, HalfType>;
export function hostType(element: ElementType): Exclude<ElementType, HalfType>;
export function hostType(element: ElementType): Exclude<ElementType, HalfType> {
  return isHalf(element) ? "f32" : element;
}

/** How values of the element lie in memory; undefined where a typed array holds the values themselves. */
export const codingOf = (element: ElementType): Coding | undefined => (ELEMENTS[element] as Element).coding;

/** The type in which an element of a view is computed with. */
export function valueType(element: NumberElement): NumberType;
export function valueType(element: ElementType): NumericType;
export function valueType(element: ElementType): NumericType {
  return ELEMENTS[element].value;
}

/** Rounds or wraps the exact result of an operation to a value of its type. */
export const wrap = (type: NumberType, x: number): number => ELEMENTS[type].wrap(x);

/** The same for integers of 64 bits. */
export const wrapWide = (type: WideType, x: bigint): bigint => ELEMENTS[type].wrap(x);

/** Writes what `storage` holds of an element. */
export function putValue(data: DataView, type: ElementType, at: number, value: number | bigint | boolean): void {
  if (isWide(type)) data[ELEMENTS[type].set](at, BigInt(value), true);
  else data[ELEMENTS[type].set](at, Number(value), true);
}

/** A value of the host rounded or wrapped to the type; for i64 and u64 from a bigint or a whole number. */
export const typedValue = (type: NumericType, value: number | bigint | boolean): number | bigint =>
  isWide(type) ? wrapWide(type, BigInt(value)) : wrap(type, Number(value));

/** A whole number as a value of the type. */
export const valueIn = (type: NumericType, whole: number): number | bigint => (isWide(type) ? BigInt(whole) : whole);
