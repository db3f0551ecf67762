/* Calls of the runtime that keeps arrays on the device (runtime.ts), in Fortran. */

import { isSaved, namedVariable, ownerOf, type Variable } from "../../analyse/symbols.js";
import { expressionText } from "../../print/expressions.js";
import type { ActualArgument, CallStatement, Expr, Name, Stmt } from "../../tree/index.js";
import type { Location } from "../../../ir/types.js";
import type { NamedArray, DataPlace } from "../../data/arrays.js";

type Runtime = "enter" | "exit" | "update";

/** Names of procedures outside of Fortran that a unit calls to keep data. */
export type Called = Set<string>;

const named = (name: string, at: Location): Name => ({ kind: "name", name, at });
const number = (n: number, at: Location): Expr => ({ kind: "literal", type: "integer", text: String(n), at });
const given = (value: Expr, keyword?: string): ActualArgument => ({ kind: "value", value, ...(keyword !== undefined && { keyword }) });
const apply = (name: string, at: Location, ...args: readonly Expr[]): Expr => ({
  kind: "apply",
  base: named(name, at),
  args: args.map((e) => given(e)),
  at,
});

/** Whether elements are certain to be adjacent. */
function isContiguous({ whole, variable }: NamedArray): boolean {
  const { attributes, dims, dummy } = variable;
  if (attributes.has("contiguous") || attributes.has("allocatable")) return true;
  const isOpen = dims!.some(({ upper }) => !upper);
  // A component may be a pointer.
  return !isOpen || (whole.kind === "name" && !dummy && !attributes.has("pointer"));
}

/** The arguments of a call; `action` is what is done: "enter copyin". */
function argumentsFor(action: string, array: NamedArray, place: DataPlace): ActualArgument[] {
  const { whole, section, variable, at } = array;
  const { file, line } = at;
  const text = `${action}: ${expressionText(whole)} at ${file.replace(/^.*[\\/]/s, "")}:${line}`;
  const literal: Expr = { kind: "literal", type: "character", text, at };
  const told = given({ kind: "binary", op: "//", a: literal, b: named("c_null_char", at), at });
  const bits = apply("storage_size", at, whole);
  const checked = isContiguous(array) ? bits : apply("merge", at, bits, number(-1, at), apply("is_contiguous", at, whole));
  if (section) return [given(whole), given(checked), ...boundsOf(array, section, place).map((e) => given(e)), told];
  if (variable.dims!.at(-1)!.upper === "*")
    place.problems.add(
      at,
      expressionText(whole),
      "nothing says where the array ends",
      "name its elements, as in `copy(a(1:n))`, or declare its size",
    );
  const count: Expr = { kind: "apply", base: named("size", at), args: [given(whole), given(named("c_size_t", at), "kind")], at };
  return [given(whole), given(checked), given(count), told];
}

/** Action and array of a call of the runtime; undefined of other calls. */
export function actionOf({ procedure, args }: CallStatement): { readonly array: string; readonly transfer: string } | undefined {
  if (procedure.kind !== "name" || !/^isoform_(enter|exit|update)(_part)?$/.test(procedure.name)) return undefined;
  const told = args.at(-1);
  const literal = told?.kind === "value" && told.value.kind === "binary" ? told.value.a : undefined;
  const [, action, array] = (literal?.kind === "literal" && /^(.*?): (.*) at /.exec(literal.text)) || [];
  if (action === undefined) return undefined;
  const of = procedure.name.startsWith("isoform_update")
    ? "update "
    : procedure.name.startsWith("isoform_exit") && !action.startsWith("exit")
      ? "exit "
      : "";
  return { array, transfer: of + action };
}

/** Rank, lower bounds and extents of an array, and both ends of a section. */
function boundsOf({ whole, variable, at }: NamedArray, section: readonly ActualArgument[], { problems }: DataPlace): Expr[] {
  const bound = (fn: string, axis: number): Expr => apply(fn, at, whole, number(axis + 1, at));
  const list = (items: readonly Expr[]): Expr => ({
    kind: "constructor",
    type: { type: "integer", text: "integer(c_int)", at },
    items,
    at,
  });
  const isOpen = variable.dims!.at(-1)!.upper === "*";
  if (isOpen && section.at(-1)!.kind === "section" && !(section.at(-1) as { upper?: Expr }).upper)
    problems.add(at, expressionText(whole), "nothing says where the section ends", "write its last index");
  const extents = isOpen
    ? list(section.map((_, axis) => (axis === section.length - 1 ? number(1, at) : bound("size", axis))))
    : apply("shape", at, whole);
  const lower = section.map((arg, axis) => (arg.kind === "value" ? arg.value : (arg.lower ?? bound("lbound", axis))));
  const upper = section.map((arg, axis) => (arg.kind === "value" ? arg.value : (arg.upper ?? bound("ubound", axis))));
  return [number(section.length, at), apply("lbound", at, whole), extents, list(lower), list(upper)];
}

/** `call isoform_enter(u, storage_size(u), size(u), "copyin: u at heat.f90:12")` */
export function dataCall(of: Runtime, action: string, array: NamedArray, place: DataPlace, called: Called): Stmt {
  const { at, section } = array;
  const name = `isoform_${of}${section ? "_part" : ""}`;
  called.add(name);
  return { kind: "call", procedure: named(name, at), args: argumentsFor(action, array, place), at };
}

/** The device's address of an array that has been entered. */
export function deviceAddress({ whole, at }: NamedArray, called: Called): Expr {
  called.add(ADDRESS);
  return apply(ADDRESS, at, whole);
}
const ADDRESS = "isoform_address";

/** Lines of the interface to what is called. */
export function dataInterfaces(called: Called): string[] {
  return [...called].sort().flatMap((name) => {
    if (name === ADDRESS)
      return [
        `  type(c_ptr) function ${name}(base) bind(c, name="${name}")`,
        "    use, intrinsic :: iso_c_binding",
        "    type(*), dimension(*), intent(in) :: base",
        `  end function ${name}`,
      ];
    if (!name.startsWith("isoform_")) return [];
    const isPart = name.endsWith("_part");
    const given = isPart ? "bits, rank, lbounds, extents, lower, upper" : "bits, count";
    return [
      `  subroutine ${name}(base, ${given}, text) bind(c, name="${name}")`,
      "    use, intrinsic :: iso_c_binding",
      "    type(*), dimension(*) :: base",
      `    integer(c_int), value :: bits${isPart ? ", rank" : ""}`,
      isPart ? "    integer(c_int), dimension(*), intent(in) :: lbounds, extents, lower, upper" : "    integer(c_size_t), value :: count",
      "    character(kind=c_char), dimension(*), intent(in) :: text",
      `  end subroutine ${name}`,
    ];
  });
}

/** Whether an array exists as long as the program. */
export const isLasting = (variable: Variable): boolean =>
  ownerOf(variable).unit.kind !== "procedure" || isSaved(variable) || variable.attributes.has("save");

/** The array that an expression names. */
export function wholeArray(e: Expr, { scope }: DataPlace): NamedArray | undefined {
  if (e.kind !== "name" && e.kind !== "part") return undefined;
  const variable = namedVariable(scope, e);
  return variable?.dims ? { whole: e, variable, at: e.at } : undefined;
}
