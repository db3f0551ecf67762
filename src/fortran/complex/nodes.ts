import type { Location } from "../../ir/types.js";
import type { ActualArgument, Apply, Expr, Literal } from "../tree/index.js";

/* Trees that stand for complex numbers in kernels. No name of a program has a blank. */

/** Which of the two reals. */
export type ComplexPart = "re" | "im";

/** Functions that lower/complex computes: of one complex expression, a real one. */
export const REAL_PART = "real part";
export const IMAGINARY_PART = "imaginary part";
export const MODULUS = "modulus of complex";

/** The right side of an assignment to a whole array of pairs. */
export const BOTH_PARTS = "both parts";

/** A complex number to the power of another. */
export const COMPLEX_POWER = "complex power";

/** An expression that is refused if it is lowered. */
export const REFUSED = "refused complex";

export const isOfComplex = (name: string): boolean => name === REAL_PART || name === IMAGINARY_PART || name === MODULUS || name === REFUSED;

/** Whether a function has the axes of its first argument, a complex expression. */
export const isAsLargeAsFirst = (name: string): boolean =>
  (isOfComplex(name) && name !== REFUSED) || name === COMPLEX_POWER || name === "conjg";

export const applied = (name: string, args: readonly Expr[], at: Location): Apply => ({
  kind: "apply",
  base: { kind: "name", name, at },
  args: args.map((value): ActualArgument => ({ kind: "value", value })),
  at,
});

const textLiteral = (of: string, at: Location): Literal => ({ kind: "literal", type: "character", text: of, at });
export const wholeLiteral = (n: number, at: Location): Literal => ({ kind: "literal", type: "integer", text: String(n), at });
export const zero = (at: Location): Literal => ({ kind: "literal", type: "real", text: "0.0", at });

/** `construct` cannot be written with pairs of reals. */
export const refusedTree = (construct: string, why: string, remedy: string, at: Location): Apply =>
  applied(
    REFUSED,
    [construct, why, remedy].map((each) => textLiteral(each, at)),
    at,
  );
