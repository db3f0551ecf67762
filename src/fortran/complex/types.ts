import { unreachable } from "../../base/unreachable.js";
import { find, findProcedure, namedVariable, type UnitScope, type Variable } from "../analyse/symbols.js";
import type { Apply, ComponentRef, Expr, Name } from "../tree/index.js";

/* Which expressions are complex. */

/** Names that an `associate` around gives: whether they are complex, and their axes. */
type Associated = ReadonlyMap<string, { readonly complex: boolean; readonly rank: number }>;

/** The names around an expression. */
export interface PairPlace {
  readonly scope: UnitScope;
  readonly associated: Associated;
  /** Names of the two reals of a scalar. */
  readonly pair: (name: string) => readonly [string, string];
}

const MAKES: ReadonlySet<string> = new Set(["cmplx", "dcmplx"]);
/** Complex if their first argument is. */
const KEEPS = ["exp", "log", "sqrt", "sin", "cos", "tan", "sinh", "cosh", "tanh"] as const;
/** Functions that are computed part by part. */
export const BY_PARTS: readonly string[] = ["sum", "merge", "spread", "reshape", "transpose", "cshift", "conjg"];
const OTHERS: readonly string[] = ["product", "matmul", "dot_product", "eoshift", "pack", "unpack", "asin", "acos", "atan"];
const KEEP: ReadonlySet<string> = new Set([...KEEPS, ...BY_PARTS, ...OTHERS]);

/** Function by a specific name, `cdexp`, by its general one. */
export function generalName(name: string): string {
  const [, specific] = /^(?:cd|c|z)(exp|log|sqrt|sin|cos|abs)$/.exec(name) ?? [];
  if (specific !== undefined) return specific;
  if (name === "dconjg") return "conjg";
  return name === "dimag" || name === "imag" || name === "imagpart" ? "aimag" : name === "realpart" || name === "dreal" ? "real" : name;
}

/** Whether a function of the language computes with complex numbers by pairs. */
export const isFunctionOfPairs = (name: string): boolean => (KEEPS as readonly string[]).includes(name);

/** A complex variable: its axes, and whether it is the result of the function around, which is an array of both parts. */
export function complexVariable({ scope, associated }: PairPlace, e: Name | ComponentRef): { rank: number; isResult: boolean } | undefined {
  const known = e.kind === "name" ? associated.get(e.name) : undefined;
  if (known) return known.complex ? { rank: known.rank, isResult: false } : undefined;
  const variable = namedVariable(scope, e);
  if (!variable?.complex || (e.kind === "name" && !variable.dims && isOtherFunction(scope, e.name, variable))) return undefined;
  return { rank: variable.dims?.length ?? 0, isResult: isResult(variable) };
}

/** Whether a name with a type is a function that is defined elsewhere. */
export const isOtherFunction = (scope: UnitScope, name: string, variable: Variable): boolean =>
  !isResult(variable) && findProcedure(scope, name) !== undefined;

export function isResult({ scope, name, component }: Variable): boolean {
  const { unit } = scope;
  return component === undefined && unit.kind === "procedure" && unit.form === "function" && (unit.result ?? unit.name) === name;
}

/** The procedure that an expression calls. */
export function procedureCalled({ scope, associated }: PairPlace, { base }: Apply): UnitScope | undefined {
  if (base.kind !== "name" || associated.has(base.name) || find(scope, base.name)?.dims) return undefined;
  return findProcedure(scope, base.name);
}

/** The function's result. */
export function functionResult(procedure: UnitScope): Variable | undefined {
  const { unit } = procedure;
  return unit.kind === "procedure" && unit.form === "function" ? find(procedure, unit.result ?? unit.name) : undefined;
}

export function isComplex(place: PairPlace, e: Expr): boolean {
  switch (e.kind) {
    case "complex":
      return true;
    case "literal":
      return false;
    case "name":
    case "part":
      return complexVariable(place, e) !== undefined;
    case "group":
    case "unary":
      return isComplex(place, e.a);
    case "binary":
      return ["+", "-", "*", "/", "**"].includes(e.op) && (isComplex(place, e.a) || isComplex(place, e.b));
    case "constructor":
      return e.type?.type === "complex" || e.items.some((item) => item.kind !== "implied-do" && isComplex(place, item)) || loops(place, e);
    case "apply":
      return isComplexApplied(place, e);
    default:
      return unreachable(e);
  }
}

function isComplexApplied(place: PairPlace, e: Apply): boolean {
  const procedure = procedureCalled(place, e);
  if (procedure) return functionResult(procedure)?.complex === true;
  if (complexVariable(place, e.base)) return true;
  const name = e.base.kind === "name" && !namedVariable(place.scope, e.base) ? generalName(e.base.name) : "";
  const given = KEEP.has(name) ? e.args.slice(0, 2) : [];
  return MAKES.has(name) || given.some((arg) => arg.kind === "value" && isComplex(place, arg.value));
}

const loops = (place: PairPlace, e: Extract<Expr, { kind: "constructor" }>): boolean =>
  e.items.some((item) => item.kind === "implied-do" && item.items.some((each) => isComplex(place, each)));
