/* Fortran's expressions as C++. Types promote as in Fortran; what differs has a function of the prelude. */

import { own } from "../../../base/own.js";
import type { ScalarType } from "../../../ir/types.js";
import { unreachable } from "../../../base/unreachable.js";
import {
  findProcedure,
  kindBytes,
  procedureProblem,
  suffixBytes,
  namedVariable,
  type UnitScope,
  type Variable,
} from "../../analyse/symbols.js";
import { variableName } from "../../analyse/walk.js";
import { writtenBy } from "../../analyse/writes.js";
import { Unlowerable, treeName } from "../../lower/values.js";
import type { Apply, ActualArgument, Binary, BinaryOp, Expr, Literal, Name, ComponentRef } from "../../tree/index.js";

export const CPP_TYPES: Readonly<Record<ScalarType, string>> = { f64: "double", f32: "float", i32: "int", u32: "unsigned", bool: "bool" };

/** Words that C++, its macros and the run-time systems keep for themselves. */
const KEPT = new Set(
  (
    "alignas alignof and and_eq asm assert auto bitand bitor bool break case catch char class compl concept const consteval constexpr constinit " +
    "const_cast continue co_await co_return co_yield decltype default delete do double dynamic_cast else enum errno explicit export extern false " +
    "float for friend goto i386 if inline int linux long major makedev minor mutable namespace new noexcept not not_eq nullptr operator or or_eq " +
    "private protected public register reinterpret_cast requires return short signed sizeof static static_assert static_cast stderr stdin stdout " +
    "stream struct switch template this thread_local throw true try typedef typeid typename union unix unsigned using virtual void volatile wchar_t while xor xor_eq"
  ).split(" "),
);

/** A name of Fortran as one of C++: different names stay different, and differ from what is made of them with one underscore at the end. */
export const ident = (name: string): string => (KEPT.has(name) || name.endsWith("_") ? `${name}__` : name);

/** Variable that a name or a component stands for. */
export const resolve = (scope: UnitScope, e: Name | ComponentRef): Variable | undefined => namedVariable(scope, e);

export function refuse(e: { readonly at: Expr["at"] }, construct: string, why: string, remedy?: string): never {
  throw new Unlowerable(e.at, construct, why, remedy);
}
export const KERNELS_DO = "use a target that writes kernels, such as c or opencl";

const STRENGTH: Readonly<Record<Exclude<BinaryOp, "**" | "//">, number>> = {
  ".or.": 1,
  ".and.": 2,
  ".eqv.": 3,
  ".neqv.": 3,
  "==": 3,
  "/=": 3,
  "<": 4,
  "<=": 4,
  ">": 4,
  ">=": 4,
  "+": 6,
  "-": 6,
  "*": 7,
  "/": 7,
};
const WORDS: Partial<Record<BinaryOp, string>> = { ".or.": "||", ".and.": "&&", ".eqv.": "==", ".neqv.": "!=", "/=": "!=" };
const UNARY = 8;
const CALL = 9;

const strengthOf = (e: Expr): number =>
  e.kind === "binary" ? (e.op === "**" || e.op === "//" ? CALL : STRENGTH[e.op]) : e.kind === "unary" ? UNARY : CALL;

/** @throws Unlowerable if C++ is not written for it */
export function cpp(scope: UnitScope, e: Expr, least = 0): string {
  const text = printed(scope, e);
  return strengthOf(e) < least ? `(${text})` : text;
}

function printed(scope: UnitScope, e: Expr): string {
  switch (e.kind) {
    case "literal":
      return literal(scope, e);
    case "name":
    case "part": {
      const variable = resolve(scope, e);
      if (!variable) return refuse(e, treeName(e), "it is not declared", "declare it, or give the file with its module");
      if (variable.refused) return refuse(e, variable.refused.construct, variable.refused.why, variable.refused.remedy);
      if (variable.dims) return refuse(e, treeName(e), "a whole array is used where a single number is needed", KERNELS_DO);
      return ident(variableName(e));
    }
    case "group":
      return `(${cpp(scope, e.a)})`;
    case "unary":
      return `${e.op === ".not." ? "!" : e.op}${cpp(scope, e.a, UNARY + 1)}`;
    case "binary":
      return binary(scope, e);
    case "apply":
      return applied(scope, e);
    case "complex":
      return refuse(e, "(…, …)", "loops in C++ have no complex numbers", "use two reals");
    case "constructor":
      return refuse(e, "[…]", "a list is used where a single number is needed", KERNELS_DO);
    default:
      return unreachable(e);
  }
}

function literal(scope: UnitScope, e: Literal): string {
  const { type, text, suffix } = e;
  if (type === "logical") return text === ".true." ? "true" : "false";
  if (type === "character") return refuse(e, `"${text}"`, "kernels have no character strings", "keep it on the host");
  if (type === "integer") {
    if (!/^\d+$/.test(text) || Number(text) > 2147483647) return refuse(e, text, "it is not a 32-bit integer");
    return String(Number(text));
  }
  const bytes = suffix === undefined ? (/d/i.test(text) ? 8 : 4) : suffixBytes(scope, suffix);
  if (bytes !== 4 && bytes !== 8)
    return refuse(e, `${text}_${suffix}`, "its kind is unknown", "give the kind's module, or --kind NAME=f64");
  const digits = text.toLowerCase().replace("d", "e");
  return `${/[.e]/.test(digits) ? digits : `${digits}.`}${bytes === 4 ? "f" : ""}`;
}

function binary(scope: UnitScope, e: Binary): string {
  const { op, a, b } = e;
  if (op === "**") return `f::power(${cpp(scope, a)}, ${cpp(scope, b)})`;
  if (op === "//") return refuse(e, "//", "kernels have no character strings", "keep it on the host");
  const strength = STRENGTH[op];
  // Truth values come as any integer but 0.
  if (op === ".eqv." || op === ".neqv.") return `!${cpp(scope, a, UNARY)} ${WORDS[op]} !${cpp(scope, b, UNARY)}`;
  // Compilers warn of && in || without parentheses, and mean well.
  const least = strength <= 2 ? 3 : strength;
  const left = a.kind === "binary" && a.op === op ? strength : least;
  return `${cpp(scope, a, left)} ${WORDS[op] ?? op} ${cpp(scope, b, strength <= 2 ? 3 : strength + 1)}`;
}

const same = (prefix: string, names: string): Record<string, string> =>
  Object.fromEntries(names.split(" ").map((name) => [name, `${prefix}${name}`]));

/** Functions of the same arguments. */
const FUNCTIONS: Readonly<Record<string, string>> = {
  ...same("std::", "sqrt exp log log10 sin cos tan asin acos atan sinh cosh tanh atan2 hypot"),
  ...same("f::", "max min abs sign mod modulo dim nint floor ceiling huge tiny epsilon"),
  aint: "std::trunc",
  anint: "std::round",
  dsqrt: "std::sqrt",
  dexp: "std::exp",
  dlog: "std::log",
  alog: "std::log",
  dsin: "std::sin",
  dcos: "std::cos",
  dabs: "f::abs",
  iabs: "f::abs",
  dmax1: "f::max",
  dmin1: "f::min",
};
const CASTS: Readonly<Record<string, "f64" | "f32" | "i32">> = {
  int: "i32",
  ifix: "i32",
  real: "f32",
  float: "f32",
  sngl: "f32",
  dble: "f64",
};

/** Whether a second argument is a kind. */
export const isCast = (name: string): boolean => own(CASTS, name) !== undefined;

function applied(scope: UnitScope, e: Apply): string {
  const { base, args } = e;
  const name = variableName(base);
  const variable = resolve(scope, base);
  const values = args.map((arg) =>
    arg.kind === "value" ? arg.value : refuse(e, name, "a section of an array is used where a single number is needed", KERNELS_DO),
  );
  if (variable?.dims) {
    if (values.length !== variable.dims.length) refuse(e, name, `${values.length} indices for an array of ${variable.dims.length} axes`);
    return `${ident(name)}(${values.map((value) => cpp(scope, value)).join(", ")})`;
  }
  const procedure = base.kind === "name" ? findProcedure(scope, base.name) : undefined;
  if (procedure) return deviceCall(scope, procedure, e);
  const problem = procedureProblem(scope, name);
  if (problem) return refuse(e, name, problem.why, problem.remedy);
  const cast = own(CASTS, name);
  if (cast && values.length > 0) {
    const bytes = values[1] && kindBytes(scope, values[1]);
    return `${CPP_TYPES[bytes === 8 && cast === "f32" ? "f64" : cast]}(${cpp(scope, values[0])})`;
  }
  if (name === "merge" && values.length === 3) {
    const [yes, no, mask] = values.map((value) => cpp(scope, value));
    return `(${mask} ? ${yes} : ${no})`;
  }
  const fn = own(FUNCTIONS, name);
  if (!fn) return refuse(e, name, "this function is not supported in C++", KERNELS_DO);
  return `${fn}(${values.map((value) => cpp(scope, value)).join(", ")})`;
}

/** A procedure's name in C++, to which more is added: with the names of the units around it where other units have a procedure of that name. */
export function uniqueName({ unit, parent, world }: UnitScope): string {
  const isAlone = world.scopes.every((other) => other.unit === unit || other.unit.kind !== "procedure" || other.unit.name !== unit.name);
  const around: string[] = [];
  for (let scope = isAlone ? undefined : parent; scope; scope = scope.parent) around.unshift(scope.unit.name);
  return [...around, unit.name].join("_");
}

export const deviceName = (scope: UnitScope): string => `${uniqueName(scope)}_device_`;

/** A call of a procedure in device code. */
export function deviceCall(
  scope: UnitScope,
  procedure: UnitScope,
  { args, at }: { readonly args: readonly ActualArgument[]; readonly at: Expr["at"] },
): string {
  const { unit } = procedure;
  if (unit.kind !== "procedure") throw new Unlowerable(at, unit.name, "it is not a procedure");
  const written = writtenBy(procedure);
  const texts = unit.dummies.map((dummy, n) => {
    const arg = args.find((each) => each.kind === "value" && each.keyword === dummy) ?? args[n];
    if (arg?.kind !== "value") return refuse({ at }, unit.name, `its argument ${dummy} is not given as a number or an array`, KERNELS_DO);
    const variable = procedure.variables.get(dummy);
    if (!variable) return refuse(unit, dummy, "a dummy argument without a declaration", "declare its type");
    const { value } = arg;
    if (!variable.dims) {
      const isVariable = value.kind === "name" || (value.kind === "apply" && resolve(scope, value.base)?.dims);
      if (written.has(dummy) && !isVariable)
        refuse(value, unit.name, `the procedure assigns ${dummy}, and this argument is not a variable`);
      return cpp(scope, value);
    }
    const of = value.kind === "name" || value.kind === "part" ? value : value.kind === "apply" ? value.base : undefined;
    const actual = of && resolve(scope, of);
    if (!of || !actual?.dims)
      return refuse(value, unit.name, `an expression is given for the array ${dummy}`, "assign it to an array first");
    if (value.kind === "apply") return `&${cpp(scope, value)}`;
    const first = `${ident(variableName(of))}.data`;
    const open = variable.dims.flatMap(({ assumed }, axis) => (assumed ? [`${ident(variableName(of))}.extent[${axis}]`] : []));
    if (open.length > 0 && variable.dims.length !== actual.dims.length)
      refuse(value, unit.name, `${dummy} and ${variableName(of)} have different numbers of axes`);
    return [first, ...open].join(", ");
  });
  return `${deviceName(procedure)}(${texts.join(", ")})`;
}
