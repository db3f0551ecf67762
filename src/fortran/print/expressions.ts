/* Expressions as Fortran. Parentheses of the source stand in the tree; others are added where a changed tree needs them. */

import { unreachable } from "../../base/unreachable.js";
import type { ActualArgument, BinaryOp, Expr, Literal } from "../tree/index.js";

const STRENGTH: Readonly<Record<BinaryOp, number>> = {
  ".eqv.": 1,
  ".neqv.": 1,
  ".or.": 2,
  ".and.": 3,
  "==": 5,
  "/=": 5,
  "<": 5,
  "<=": 5,
  ">": 5,
  ">=": 5,
  "//": 6,
  "+": 7,
  "-": 7,
  "*": 8,
  "/": 8,
  "**": 9,
};
const NOT = 4;
const SUM = 7;
const PRODUCT = 8;
const POWER = 9;
const RELATION = 5;

const DOTTED: Partial<Record<BinaryOp, string>> = { "<": ".lt.", "<=": ".le.", ">": ".gt.", ">=": ".ge.", "==": ".eq.", "/=": ".ne." };

/** `tight`: without blanks around signs, as in subscripts. */
export function expressionText(e: Expr, tight = false): string {
  switch (e.kind) {
    case "literal":
      return literalText(e);
    case "name":
      return e.name;
    case "part":
      return `${expressionText(e.base, true)}%${e.name}`;
    case "apply":
      return `${expressionText(e.base, true)}(${argumentsText(e.args)})`;
    case "complex":
      return `(${expressionText(e.re)}, ${expressionText(e.im)})`;
    case "group":
      return `(${expressionText(e.a, tight)})`;
    case "unary":
      return e.op === ".not." ? `.not. ${operand(e.a, NOT, tight)}` : `${e.op}${operand(e.a, PRODUCT, tight)}`;
    case "binary": {
      const strength = STRENGTH[e.op];
      const [left, right] = e.op === "**" ? [POWER + 1, POWER] : [strength === RELATION ? RELATION + 1 : strength, strength + 1];
      const op = e.dotted ? DOTTED[e.op] : e.op;
      const blank = e.dotted || strength <= RELATION || (strength === SUM && !tight) ? " " : "";
      return `${operand(e.a, left, tight)}${blank}${op}${blank}${rightOperand(e.b, right, tight)}`;
    }
    case "constructor":
      return `[${e.type ? `${e.type.text} :: ` : ""}${e.items.map((item) => (item.kind === "implied-do" ? impliedText(item) : expressionText(item))).join(", ")}]`;
    default:
      return unreachable(e);
  }
}

const strengthOf = (e: Expr): number =>
  e.kind === "binary" ? STRENGTH[e.op] : e.kind === "unary" ? (e.op === ".not." ? NOT : SUM) : POWER + 1;

function operand(e: Expr, least: number, tight: boolean): string {
  const text = expressionText(e, tight);
  return strengthOf(e) >= least ? text : `(${text})`;
}

/** A sign may follow an operator, `a*-b`, as the parser and gfortran accept it. */
function rightOperand(e: Expr, least: number, tight: boolean): string {
  const signed = e.kind === "unary" && e.op !== ".not." && least > SUM && strengthOf(e.a) >= POWER;
  return signed ? expressionText(e, tight) : operand(e, least, tight);
}

export const argumentsText = (args: readonly ActualArgument[]): string => args.map(argumentText).join(",");

function argumentText(a: ActualArgument): string {
  if (a.kind === "value") return (a.keyword === undefined ? "" : `${a.keyword}=`) + expressionText(a.value, true);
  const [lower, upper, step] = [a.lower, a.upper, a.step].map((part) => (part ? expressionText(part, true) : ""));
  return `${lower}:${upper}${step && `:${step}`}`;
}

function literalText({ type, text, suffix }: Literal): string {
  if (type !== "character") return suffix === undefined ? text : `${text}_${suffix}`;
  const quote = text.includes("'") && !text.includes('"') ? '"' : "'";
  return `${suffix === undefined ? "" : `${suffix}_`}${quote}${text.replaceAll(quote, quote + quote)}${quote}`;
}

function impliedText({
  items,
  variable,
  start,
  stop,
  step,
}: Extract<Extract<Expr, { kind: "constructor" }>["items"][number], { kind: "implied-do" }>): string {
  return `(${[...items, undefined].map((item) => (item ? expressionText(item) : `${variable} = ${rangeText(start, stop, step)}`)).join(", ")})`;
}

/** `1,n` */
export const rangeText = (start: Expr, stop: Expr, step?: Expr): string =>
  [start, stop, ...(step ? [step] : [])].map((e) => expressionText(e, true)).join(",");
