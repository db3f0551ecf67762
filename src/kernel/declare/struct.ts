import { describe } from "../../base/describe.js";
import { LaunchError } from "../../base/errors.js";
import { requireOwnNames } from "../../base/own.js";
import { isWide, wrap, wrapWide, type NumericType, type ValueIn } from "../../ir/scalars.js";
import { componentsOfValue, compositeOf, type AnyComposite, type ComponentType, type CompositeToken } from "./composite.js";
import { callSite } from "./location.js";

/* Records of numbers, vectors and other records, which in arrays lie field by field. */

/** The type of a field: a number, a vector or the like, another record. */
type StructField = { readonly kind: "scalar"; readonly type: NumericType } | AnyComposite | AnyStruct;
/** Fields of a record, by name. */
export type StructFields = Readonly<Record<string, StructField>>;

/** A token of any type of records. */
export interface AnyStruct {
  (value: never): unknown;
  readonly kind: "struct";
  readonly struct: StructType;
}

/** A type of records, and their constructor. */
export interface StructToken<F extends StructFields = StructFields> {
  (value: StructValue<F>): StructValue<F>;
  readonly kind: "struct";
  readonly struct: StructType<F>;
}
export interface StructType<F extends StructFields = StructFields> {
  readonly name: string;
  readonly fields: F;
}

type FieldValue<T> =
  T extends CompositeToken<infer V, unknown, ComponentType, never> ? V : T extends StructToken<infer F> ? StructValue<F> : FieldNumber<T>;
type FieldPlace<T> =
  T extends CompositeToken<unknown, infer P, ComponentType, never> ? P : T extends StructToken<infer F> ? StructPlace<F> : FieldNumber<T>;
type FieldNumber<T> = T extends { readonly type: infer N extends NumericType } ? ValueIn<N> : number;
/** A record, which does not change: `{ ...ray, t: 0 }` is another one. */
export type StructValue<F extends StructFields> = { readonly [K in keyof F]: FieldValue<F[K]> };
/** An element of an array of records, whose fields may be assigned one by one. */
export type StructPlace<F extends StructFields> = { -readonly [K in keyof F]: FieldPlace<F[K]> };

/** The type of records that a token stands for; undefined for all else. */
export const structOf = (token: unknown): StructType | undefined =>
  (token as Partial<AnyStruct> | null | undefined)?.kind === "struct" ? (token as AnyStruct).struct : undefined;

/** True for a type of vectors and the like, or of records: as a parameter it is a value, as a capture its constructor. */
export const isValueType = (token: unknown): boolean => compositeOf(token) !== undefined || structOf(token) !== undefined;

/**
 * A type of records: `const Ray = struct("Ray", { o: vec3, d: vec3, t: f64 })`, then `view(Ray)`, a parameter `ray: Ray`, and `Ray({ o, d, t: 0 })`, for which kernels
 * list it as a capture. Fields are numbers, vectors and the like, and other records. Throws LaunchError for anything else.
 */
export function struct<const F extends StructFields>(name: string, fields: F): StructToken<F> {
  const refuse = (problem: string): never => {
    throw new LaunchError(`struct("${name}", ...) ${problem}`);
  };
  if (typeof fields !== "object" || fields === null || Object.keys(fields).length === 0)
    refuse(`is given ${describe(fields)} for its fields; write { x: f64 }`);
  requireOwnNames(Object.keys(fields), name, callSite(struct));
  for (const [field, token] of Object.entries(fields) as [string, { kind?: string; type?: string } | undefined][])
    if (!isValueType(token) && (token?.kind !== "scalar" || token.type === "bool"))
      refuse(
        `has the field ${field} of ${describe(token)}; use f64, f32, i32, u32, i64, u64, a type of vectors or the like, or another struct`,
      );
  const type: StructType<F> = { name, fields };
  const make = (value: StructValue<F>): StructValue<F> => plainRecord(type, value) as StructValue<F>;
  return Object.assign(make, { kind: "struct", struct: type } as const);
}

/** The record of a plain object with the same fields. Throws LaunchError where one is missing, too many, or of another type. */
export function plainRecord({ name, fields }: StructType, value: unknown): object {
  const given = (typeof value === "object" && value !== null ? value : {}) as Record<string, unknown>;
  const names = Object.keys(fields);
  const others = Object.keys(given).filter((field) => !names.includes(field));
  if (others.length > 0 || names.some((field) => !Object.hasOwn(given, field)))
    throw new LaunchError(`a ${name} has the fields ${names.join(", ")}, and is given ${Object.keys(given).join(", ") || describe(value)}`);
  return Object.freeze(
    Object.fromEntries(names.map((field) => [field, plainField(`${field} of ${name} is`, fields[field], given[field])])),
  );
}

function plainField(what: string, token: StructField, value: unknown): unknown {
  const composite = compositeOf(token);
  if (composite) {
    componentsOfValue(composite, value, what);
    return value;
  }
  const record = structOf(token);
  if (record) return plainRecord(record, value);
  const { type } = token as { type: NumericType };
  if (isWide(type)) {
    if (typeof value !== "bigint") throw new LaunchError(`${what} a bigint, and is given ${describe(value)}`);
    return wrapWide(type, value);
  }
  if (typeof value !== "number") throw new LaunchError(`${what} a number, and is given ${describe(value)}`);
  return wrap(type, value);
}
