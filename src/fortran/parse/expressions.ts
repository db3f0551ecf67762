/* Expressions by precedence: F2018 10.1.2. */

import type {
  Apply,
  ActualArgument,
  BinaryOp,
  Constructor,
  Expr,
  ImpliedDo,
  Literal,
  Name,
  ComponentRef,
  TypeSpec,
  UnaryOp,
  Designator,
} from "../tree/index.js";
import type { Cursor } from "./cursor.js";

/** Binary operators from weak to strong; `**` and the signs are handled apart. */
const LEVELS: readonly (readonly string[])[] = [
  [".eqv.", ".neqv."],
  [".or."],
  [".and."],
  [],
  ["==", "/=", "<", "<=", ">", ">="],
  ["//"],
  ["+", "-"],
  ["*", "/"],
];
const NOT = 3;
const SUM = 6;
const RELATION = 4;

/** Limits the depth of trees, on which other code recurses: parentheses nest, and operators follow each other, at most this often. */
const MOST_NESTED = 100;
const MOST_OPERATORS = 1000;

const depths = new WeakMap<Cursor, number>();

export function parseExpression(c: Cursor): Expr {
  const depth = (depths.get(c) ?? 0) + 1;
  if (depth > MOST_NESTED) throw c.problem(`expressions nest more than ${MOST_NESTED} deep`, c.token, "put parts into variables");
  depths.set(c, depth);
  const value = operators(c, 0);
  depths.set(c, depth - 1);
  return value;
}

function operators(c: Cursor, level: number): Expr {
  if (level === LEVELS.length) return power(c);
  if (level === NOT) {
    if (!c.is(".not.")) return operators(c, level + 1);
    return prefixed(c, () => operators(c, NOT));
  }
  // A sign belongs to the first term of a sum: `-a*b` is `-(a*b)`.
  const signed = level === SUM && (c.is("+") || c.is("-"));
  let left = signed ? prefixed(c, () => operators(c, level + 1)) : operators(c, level + 1);
  for (let count = 0; c.token.kind === "op" && LEVELS[level].includes(c.token.text); count++) {
    if (count === MOST_OPERATORS)
      throw c.problem(`more than ${MOST_OPERATORS} operators follow each other`, c.token, "put parts into variables");
    const { text, dotted } = c.next();
    const right = operators(c, level + 1);
    left = { kind: "binary", op: text as BinaryOp, ...(dotted && { dotted }), a: left, b: right, at: left.at };
    if (level === RELATION && LEVELS[level].includes(c.token.text))
      throw c.problem("relations do not follow each other", c.token, "join them by `.and.`");
  }
  return left;
}

function prefixed(c: Cursor, operand: () => Expr): Expr {
  const at = c.at();
  const op = c.next().text as UnaryOp;
  const depth = (depths.get(c) ?? 0) + 1;
  if (depth > MOST_NESTED) throw c.problem(`expressions nest more than ${MOST_NESTED} deep`, c.token, "put parts into variables");
  depths.set(c, depth);
  const a = operand();
  depths.set(c, depth - 1);
  return { kind: "unary", op, a, at };
}

/** `a**b**c` is `a**(b**c)`. Signs after an operator, `a*-b`, are accepted as gfortran does. */
function power(c: Cursor): Expr {
  if (c.is("+") || c.is("-")) return prefixed(c, () => power(c));
  const a = primary(c);
  if (!c.is("**")) return a;
  const depth = (depths.get(c) ?? 0) + 1;
  if (depth > MOST_NESTED) throw c.problem(`powers nest more than ${MOST_NESTED} deep`);
  c.next();
  depths.set(c, depth);
  const b = power(c);
  depths.set(c, depth - 1);
  return { kind: "binary", op: "**", a, b, at: a.at };
}

/** A value without operators. */
export function primary(c: Cursor): Expr {
  const { kind, text } = c.token;
  switch (kind) {
    case "integer":
    case "real":
    case "logical":
    case "string":
      return literal(c);
    case "name": {
      const following = c.peek();
      if (following.kind !== "string" || following.from !== c.token.to) return designator(c);
      // `z'ff'`
      if (/^[boz]$/.test(text)) {
        const at = c.at();
        c.n += 2;
        return { kind: "literal", type: "integer", text: text + following.text, at };
      }
      // `kind_"text"`
      if (!text.endsWith("_")) throw c.problem("an operator is missing", following);
      c.next();
      return { ...literal(c), suffix: text.slice(0, -1) };
    }
    // Any other token is punctuation.
    default:
      if (c.is("(")) return group(c);
      if (c.is("[")) return constructor(c, "]");
      if (c.is("(/")) return constructor(c, "/)");
      throw c.problem("a value is missing here");
  }
}

function literal(c: Cursor): Literal {
  const at = c.at();
  const { kind, text, suffix } = c.next();
  const type = kind === "string" ? "character" : (kind as Literal["type"]);
  return { kind: "literal", type, text: kind === "string" ? unquoted(text) : text, ...(suffix && { suffix }), at };
}

const unquoted = (text: string): string => text.slice(1, -1).replaceAll(text[0] + text[0], text[0]);

function group(c: Cursor): Expr {
  const at = c.at();
  c.next();
  const a = parseExpression(c);
  if (c.take(",")) {
    const im = parseExpression(c);
    c.expect(")");
    return { kind: "complex", re: a, im, at };
  }
  c.expect(")");
  return { kind: "group", a, at };
}

function constructor(c: Cursor, close: string): Constructor {
  const at = c.at();
  c.next();
  const typed = c.tokens.findIndex((token, n) => n >= c.n && c.is("::", token));
  const type = typed >= 0 && typed < c.matching(c.n - 1) ? typeSpec(c) : undefined;
  if (type) c.expect("::");
  const items = c.is(close) ? [] : c.list(() => item(c));
  c.expect(close);
  return { kind: "constructor", ...(type && { type }), items, at };
}

function item(c: Cursor): Expr | ImpliedDo {
  if (!c.is("(")) return parseExpression(c);
  // `(x, y, i = 1, n)`: an `=` at the depth of the list
  const [from, close] = [c.n, c.matching(c.n)];
  let depth = 0;
  const implied = c.tokens.slice(from + 1, close).some((token) => {
    if (c.is("(", token) || c.is("[", token)) depth++;
    else if (c.is(")", token) || c.is("]", token)) depth--;
    return depth === 0 && c.is("=", token);
  });
  if (!implied) return parseExpression(c);
  const at = c.at();
  c.next();
  const items: Expr[] = [];
  while (!(c.token.kind === "name" && c.is("=", c.peek()))) {
    items.push(parseExpression(c));
    c.expect(",");
  }
  const variable = c.name();
  c.expect("=");
  const { start, stop, step } = parseRange(c);
  c.expect(")");
  return { kind: "implied-do", items, variable, start, stop, ...(step && { step }), at };
}

/** `real(rkind)`, `character(len=*)`, `type(t)` */
export function typeSpec(c: Cursor): TypeSpec {
  const at = c.at();
  const from = c.token.from;
  let word = c.name();
  if (word === "double" || word === "doubleprecision" || word === "doublecomplex") {
    const isComplex = word === "doublecomplex" || (word === "double" && c.take("complex"));
    if (word === "double" && !isComplex) c.expect("precision");
    word = isComplex ? "double complex" : "double precision";
  }
  let kindOf: Expr | undefined;
  let derived: string | undefined;
  if (word === "type" || word === "class") {
    derived = c.enclosed().toLowerCase();
    word = "derived";
  } else if (word === "character") skipLength(c);
  else if (c.take("*")) kindOf = expressionOfKind(c);
  else if (c.take("(")) {
    if (c.is("kind") && c.is("=", c.peek())) c.n += 2;
    kindOf = parseExpression(c);
    c.expect(")");
  }
  const to = c.tokens[c.n - 1].to;
  return {
    type: word as TypeSpec["type"],
    ...(kindOf && { kindOf }),
    ...(derived !== undefined && { derived }),
    text: c.line.text.slice(from, to).toLowerCase(),
    at,
  };
}

function expressionOfKind(c: Cursor): Expr {
  if (c.token.kind !== "integer") throw c.problem("bytes of the type are missing");
  return parseExpression(c);
}

function skipLength(c: Cursor): void {
  if (c.take("*") && !c.is("(")) return void c.next();
  if (c.is("(")) c.enclosed();
}

/** `start, stop[, step]` */
export function parseRange(c: Cursor): { start: Expr; stop: Expr; step?: Expr } {
  const start = parseExpression(c);
  c.expect(",", "the last value of the loop is missing");
  const stop = parseExpression(c);
  return c.take(",") ? { start, stop, step: parseExpression(c) } : { start, stop };
}

/** A name, its components, elements, sections, or a call. */
export function designator(c: Cursor): Designator {
  const at = c.at();
  let value: Designator = { kind: "name", name: c.name(), at };
  for (let count = 0; ; count++) {
    if (count === MOST_NESTED) throw c.problem(`more than ${MOST_NESTED} components follow each other`);
    if (c.take("%")) value = { kind: "part", base: value, name: c.name("a component's name"), at } satisfies ComponentRef;
    else if (c.is("(")) {
      // `text(i)(1:3)` is a part of a string.
      if (value.kind === "apply") throw c.outside("(…)(…)");
      value = { kind: "apply", base: value as Name | ComponentRef, args: args(c), at } satisfies Apply;
    } else if (c.is("[")) throw c.outside("[…]");
    else return value;
  }
}

/** `(a, key=b, 1:n:2, :)` */
export function args(c: Cursor): ActualArgument[] {
  c.expect("(");
  if (c.take(")")) return [];
  const items = c.list(() => argument(c));
  c.expect(")");
  return items;
}

function argument(c: Cursor): ActualArgument {
  if (c.token.kind === "name" && c.is("=", c.peek())) {
    const keyword = c.name();
    c.next();
    return { kind: "value", keyword, value: parseExpression(c) };
  }
  if (c.is("*")) throw c.outside("*");
  const lower = c.is(":") || c.is("::") ? undefined : parseExpression(c);
  if (!c.is(":") && !c.is("::")) return { kind: "value", value: lower! };
  const both = c.take("::");
  if (!both) c.next();
  const ends = (): boolean => c.is(",") || c.is(")") || c.is(":");
  const upper = both || ends() ? undefined : parseExpression(c);
  const step = both || c.take(":") ? parseExpression(c) : undefined;
  return { kind: "section", ...(lower && { lower }), ...(upper && { upper }), ...(step && { step }) };
}
