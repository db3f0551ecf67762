/* Bounds of loops and extents of arrays as C++ of the host. */

import type { Expr } from "../../../ir/types.js";
import { Unlowerable } from "../../lower/values.js";
import { CPP_TYPES } from "./types.js";

/** Text for names. */
interface HostNames {
  param(name: string): string;
  extent(view: string, axis: number): string;
}

const OPERATORS: ReadonlyMap<string, string> = new Map([
  ["add", "+"],
  ["sub", "-"],
  ["mul", "*"],
  ["div", "/"],
  ["rem", "%"],
  ["eq", "=="],
  ["ne", "!="],
  ["lt", "<"],
  ["le", "<="],
  ["gt", ">"],
  ["ge", ">="],
  ["and", "&&"],
  ["or", "||"],
]);

/** An expression of parameters. @throws Unlowerable if the host has no such value */
export function hostText(e: Expr, names: HostNames, at: Unlowerable["at"]): string {
  const of = (part: Expr): string => hostText(part, names, at);
  const refuse = (why: string, remedy: string): never => {
    throw new Unlowerable(at, "bounds", why, remedy);
  };
  switch (e.op) {
    case "const":
      return Number(e.value) < 0 ? `(${e.value})` : String(e.value);
    case "param":
      return names.param(e.name);
    case "extent":
      return names.extent(e.view, e.axis);
    case "unary":
      if (e.fn === "neg") return `(-${of(e.a)})`;
      break;
    case "binary":
    case "compare":
    case "logical":
      if (e.fn === "min" || e.fn === "max") return `f::${e.fn}(${of(e.a)}, ${of(e.b)})`;
      if (OPERATORS.has(e.fn)) return `(${of(e.a)} ${OPERATORS.get(e.fn)!} ${of(e.b)})`;
      break;
    case "select":
      return `(${of(e.cond)} ? ${of(e.a)} : ${of(e.b)})`;
    case "cast":
      return `${CPP_TYPES[e.type]}(${of(e.a)})`;
    case "load":
      return refuse("the bounds of a parallel loop, or of an array, are in an array", "copy them to variables");
    // Any other operation is refused.
    default:
      break;
  }
  return refuse("they need a function", "compute them before the loop");
}

/** The whole expression without the parentheses around it. */
export const withoutParentheses = (text: string): string => (/^\([^()]*\)$/.test(text) ? text.slice(1, -1) : text);
