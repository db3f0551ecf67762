/* Fortran that gives a launch the values of a kernel's parameters. */

import { find, namedVariable, ownerOf, type UnitScope, type Variable } from "../../analyse/symbols.js";
import type { ParamSource } from "../../lower/lowering.js";
import { Unlowerable } from "../../lower/values.js";
import type { ComponentRef, Expr, Name } from "../../tree/index.js";
import { unitKey } from "../../tree/keys.js";

type At = Expr["at"];

/** A variable as the host writes it, or a part of a complex one. */
export interface HostVariable {
  readonly expr: Expr;
  readonly variable: Variable;
  /** For a complex scalar: the part that is meant. */
  readonly part?: "re" | "im";
}

const apply = (name: string, ...args: readonly Expr[]): Expr => ({
  kind: "apply",
  base: { kind: "name", name, at: args[0].at },
  args: args.map((value) => ({ kind: "value", value })),
  at: args[0].at,
});
const whole = (n: number, at: At): Expr => ({ kind: "literal", type: "integer", text: String(n), at });

/** The variable or component that kernels know by a name: `p%nx` is `p_nx`. */
function designated(scope: UnitScope, name: string, at: At): Name | ComponentRef | undefined {
  if (find(scope, name)) return { kind: "name", name, at };
  for (let n = name.indexOf("_", 1); n > 0; n = name.indexOf("_", n + 1)) {
    const base = designated(scope, name.slice(0, n), at);
    const part: ComponentRef | undefined = base && { kind: "part", base, name: name.slice(n + 1), at };
    if (part && namedVariable(scope, part)) return part;
  }
  return undefined;
}

/** The variable of the program that a parameter comes from. @throws Unlowerable if the procedure of the loop does not see it */
export function actualOf(scope: UnitScope, { name, variable: meant }: ParamSource, at: At): HostVariable {
  const plain = designated(scope, name, at);
  const found = plain && namedVariable(scope, plain);
  if (found && isSame(found, meant, found.name)) return { expr: plain, variable: found };
  const [, object, part] = /^(.*?)__?(re|im)$/.exec(name) ?? [];
  const complex = object === undefined ? undefined : designated(scope, object, at);
  const pair = complex && namedVariable(scope, complex);
  if (pair?.complex && isSame(pair, meant, meant.name)) return { expr: complex!, variable: pair, part: part as "re" | "im" };
  throw new Unlowerable(
    at,
    name,
    `it is a variable of ${ownerOf(meant).unit.name}, which the procedure of the loop does not see`,
    "make it known there by `use`",
  );
}

/** The trees of kernels have units and variables of their own where complex numbers have become pairs. */
const isSame = (a: Variable, b: Variable, name: string): boolean =>
  name === b.name && unitKey(ownerOf(a).unit) === unitKey(ownerOf(b).unit);

/** A scalar by its value. */
export function scalarValue({ expr, variable, part }: HostVariable): Expr {
  if (part) return apply(part === "re" ? "real" : "aimag", expr);
  if (variable.type === "bool" && !variable.refused) return apply("logical", expr, { kind: "name", name: "c_bool", at: expr.at });
  return variable.byte ? apply("int", expr) : expr;
}

/** A scalar that takes a result. */
export const resultPlace = ({ expr, part }: HostVariable): Expr => (part ? { kind: "part", base: expr, name: part, at: expr.at } : expr);

/** The address of an array. Dummies whose heading stands in other places, too, do not know of `target` there, which c_loc needs. */
export const arrayAddress = ({ expr, variable }: HostVariable): Expr => (isSeenElsewhere(expr, variable) ? expr : apply("c_loc", expr));

function isSeenElsewhere(expr: Expr, variable: Variable): boolean {
  const { unit, parent } = ownerOf(variable);
  if (!variable.dummy || expr.kind !== "name" || unit.kind !== "procedure") return false;
  return !parent || unit.prefixes.includes("module");
}

/** `size(a, 1)`, `lbound(a, 1)`: `axis` counts from 0 among `rank` axes. The two parts of complex numbers are an axis in front. */
export function boundOf(fn: "size" | "lbound", { expr, variable }: HostVariable, axis: number, rank: number): Expr {
  const own = axis - (rank - variable.dims!.length);
  if (own < 0) return whole(fn === "size" ? 2 : 1, expr.at);
  return apply(fn, expr, whole(own + 1, expr.at));
}
