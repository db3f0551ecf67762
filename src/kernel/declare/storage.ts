import { describe } from "../../base/describe.js";
import { LaunchError } from "../../base/errors.js";
import { requireOptions } from "../../base/own.js";
import type { PackedType } from "../../ir/scalars.js";
import { callSite } from "./location.js";
import { originalPosition } from "#source-map";

/* Types that arrays store and kernels do not compute with. */

/** A type of elements that is narrower than what kernels compute with. */
export interface StorageToken<T extends PackedType = PackedType> {
  readonly kind: "storage";
  readonly type: T;
}

/** A whole number from 0 to 255, read as i32 and stored modulo 2^8. */
export const u8: StorageToken<"u8"> = { kind: "storage", type: "u8" };
/** A whole number from -128 to 127, read as i32 and stored modulo 2^8. */
export const i8: StorageToken<"i8"> = { kind: "storage", type: "i8" };
/** A whole number from 0 to 65535, read as i32 and stored modulo 2^16. */
export const u16: StorageToken<"u16"> = { kind: "storage", type: "u16" };
/** A whole number from -32768 to 32767, read as i32 and stored modulo 2^16. */
export const i16: StorageToken<"i16"> = { kind: "storage", type: "i16" };
/** A number of half precision, 16 bits with 11 of them for digits: read as f32, rounded to nearest, ties to even, when it is stored. */
export const f16: StorageToken<"f16"> = { kind: "storage", type: "f16" };
/** The upper 16 bits of an f32, with 8 for digits and its range: read as f32, rounded to nearest, ties to even, when it is stored. */
export const bf16: StorageToken<"bf16"> = { kind: "storage", type: "bf16" };

/** Meaning of a view's elements, where it is not what they hold: truth values, or numbers to multiply by a power of two. */
export type ElementMeaning = "truth" | { readonly scale: number };

/** A storage type whose elements are multiplied by a scale when they are read: see `stored`. */
export interface StoredToken<T extends PackedType = PackedType> {
  readonly kind: "stored";
  readonly element: T;
  readonly scale: number;
}

/**
 * A storage type with a scale, for `view(...)`: the body's value is an f32, what is stored times the scale. Floats are rounded to nearest, ties to even; whole numbers also,
 * and clamped to what the type holds, NaN to 0. Arrays hold what is stored: `device.array(f16, n)`.
 * @param options.scale a power of two, such as 2 ** -15, so that products are exact
 * @throws LaunchError for another type or scale
 */
export function stored<T extends PackedType>(type: StorageToken<T>, options: { readonly scale: number }): StoredToken<T> {
  const { file, line } = originalPosition(callSite(stored));
  const refuse = (problem: string): never => {
    throw new LaunchError(`stored(...) (${file}:${line}) ${problem}`);
  };
  if ((type as typeof type | undefined)?.kind !== "storage")
    refuse(`is given ${describe(type)} for a type; use f16, bf16, i16, u16, i8 or u8`);
  requireOptions("stored(...)", options, ["scale"]);
  const problem = scaleProblem(options.scale);
  if (problem !== undefined) refuse(`is given ${describe(options.scale)} for its scale: ${problem}`);
  return { kind: "stored", element: type.type, scale: options.scale };
}

/** Says why a number is not a scale; undefined for one whose products and quotients with f32 are exact. */
export function scaleProblem(scale: unknown): string | undefined {
  const exponent = typeof scale === "number" ? Math.log2(scale) : NaN;
  if (!Number.isInteger(exponent) || 2 ** exponent !== scale) return "a scale is a power of two, so that strict bits hold: 2 ** -15";
  return Math.abs(exponent) <= 100 ? undefined : "give one from 2 ** -100 to 2 ** 100";
}
