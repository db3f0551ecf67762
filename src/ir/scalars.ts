/*
 * The types that kernels store and compute with, a row each: what holds of a type on every device. How a language spells it stands in that
 * language's emitter, in a record that wants an entry for each type.
 */

interface Element {
  readonly kind: "float" | "signed" | "unsigned";
  /** In memory. */
  readonly bytes: number;
  /** The type in which an element is computed with; narrower elements have another than their own. */
  readonly value: string;
  readonly least: number;
  readonly greatest: number;
  /** Rounds or wraps the exact result of an operation to a value of the type. */
  readonly wrap: (x: number) => number;
  /** The class of host arrays with such elements. */
  readonly array:
    | Float64ArrayConstructor
    | Float32ArrayConstructor
    | Int32ArrayConstructor
    | Uint32ArrayConstructor
    | Uint8ArrayConstructor;
  /** The method of a DataView that writes one. */
  readonly set: "setFloat64" | "setFloat32" | "setInt32" | "setUint32" | "setUint8";
}

/** The types that arrays hold, with their sizes, ranges and host arrays. */
export const ELEMENTS = {
  f64: {
    kind: "float",
    bytes: 8,
    value: "f64",
    least: -Infinity,
    greatest: Infinity,
    wrap: (x) => x,
    array: Float64Array,
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
    set: "setFloat32",
  },
  i32: {
    kind: "signed",
    bytes: 4,
    value: "i32",
    least: -0x80000000,
    greatest: 0x7fffffff,
    wrap: (x) => x | 0,
    array: Int32Array,
    set: "setInt32",
  },
  u32: {
    kind: "unsigned",
    bytes: 4,
    value: "u32",
    least: 0,
    greatest: 0xffffffff,
    wrap: (x) => x >>> 0,
    array: Uint32Array,
    set: "setUint32",
  },
  u8: { kind: "unsigned", bytes: 1, value: "i32", least: 0, greatest: 255, wrap: (x) => x & 255, array: Uint8Array, set: "setUint8" },
} as const satisfies Record<string, Element>;

/** Types that a view may store; `u8` is read as `i32` and written from `i32` modulo 256. */
export type ElementType = keyof typeof ELEMENTS;
/** The types of numbers in a kernel. */
export type NumericType = (typeof ELEMENTS)[ElementType]["value"];
/** The types of values in a kernel. */
export type ScalarType = NumericType | "bool";
export type FloatType = OfKind<"float">;
export type IntegerType = OfKind<"signed" | "unsigned">;

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
/** True of the type of indices, extents and counts. */
export const isIndex = (type: ScalarType): type is "i32" => type === "i32";

/** True of elements that are narrower in memory than the values that are computed with. */
export const isPacked = (element: ElementType): element is Exclude<ElementType, NumericType> => ELEMENTS[element].value !== element;

/** The type in which an element of a view is computed with. */
export const valueType = (element: ElementType): NumericType => ELEMENTS[element].value;

/** Rounds or wraps the exact result of an operation to a value of its type. */
export const wrap = (type: NumericType, x: number): number => ELEMENTS[type].wrap(x);
