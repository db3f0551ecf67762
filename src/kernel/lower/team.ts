import type * as acorn from "acorn";
import { definitionsOf } from "../../ir/analysis/affine.js";
import { NUMERIC_TYPES } from "../../ir/scalars.js";
import type { Expr, NumericType, Stmt, TeamResult } from "../../ir/types.js";
import { mapChildren, someExpr } from "../../ir/walk.js";
import { knownConstant } from "./constant.js";
import { declareArray } from "./expressions.js";
import type { Lowering } from "./lowering.js";
import { stringOf } from "../read/syntax.js";
import type { Scope, LoweredValue, LocalVariable } from "./values.js";
import { scalarOperand, scalarOf } from "./operands.js";
import { inline } from "./inline.js";
import { startHeld } from "./held.js";
import { int } from "../../ir/expressions.js";

const VOID: LoweredValue = { kind: "void" };
const OPS: readonly string[] = ["sum", "min", "max"];
const SINGLE = "team.single";

/** Owner of a shared loop, and the argument of its function after the index. */
interface Level {
  readonly of: "team" | "lanes";
  readonly rest: readonly LoweredValue[];
}
const MEMBERS: Level = { of: "team", rest: [{ kind: "lanes" }] };
const LANES: Level = { of: "lanes", rest: [] };

/** A call of a method of the team: a loop that its members share, memory that they share, or work for one of them. */
export function teamMethod(cx: Lowering, name: string, node: acorn.CallExpression, scope: Scope): LoweredValue {
  if (cx.shared.length > 0)
    return cx.fail(
      node,
      `team.${name} inside ${cx.shared[0]}`,
      cx.shared[0] === SINGLE
        ? "end it before the next step of the team"
        : "share the work of one member out among its lanes: (j, lanes) => ...",
    );
  switch (name) {
    case "single": {
      const { stmts } = cx.collect(() => callback(cx, node, 0, scope, [], SINGLE));
      cx.out.push({ kind: "single", body: stmts, location: cx.at(node) });
      return VOID;
    }
    case "scratch":
      return scratch(cx, node, scope);
    // Any other name is a shared loop's, or is refused.
    default:
      return (
        sharedLoop(cx, name, node, scope, MEMBERS) ??
        cx.fail(node, `a team has no method "${name}"`, "it has range, sum, min, max, reduce, single, scratch, index and size")
      );
  }
}

/** A call of a method of the lanes of a member: a loop that they share. */
export function lanesMethod(cx: Lowering, name: string, node: acorn.CallExpression, scope: Scope): LoweredValue {
  if (cx.shared.length > 1) return cx.fail(node, `lanes.${name} inside ${cx.shared[1]}`, "a lane runs alone: write a loop");
  return (
    sharedLoop(cx, name, node, scope, LANES) ?? cx.fail(node, `lanes have no method "${name}"`, "they have range, sum, min, max and reduce")
  );
}

/** A loop that members of a team share, or lanes of a member; undefined for other methods. */
function sharedLoop(cx: Lowering, name: string, node: acorn.CallExpression, scope: Scope, level: Level): LoweredValue | undefined {
  switch (name) {
    case "range":
      return sharedRange(cx, node, scope, level);
    case "sum":
    case "min":
    case "max":
      return sharedFold(cx, name, node, scope, level);
    case "reduce":
      return sharedReduce(cx, node, scope, level);
    // Any other name is left to the caller.
    default:
      return undefined;
  }
}

function sharedRange(cx: Lowering, node: acorn.CallExpression, scope: Scope, level: Level): LoweredValue {
  const count = countOf(cx, node, scope);
  const { name, index } = member(cx);
  const { stmts } = cx.collect(() => callback(cx, node, 1, scope, [index, ...level.rest], `${level.of}.range`));
  cx.out.push({ kind: "teamFor", name, count, body: stmts, location: cx.at(node) });
  return VOID;
}

function sharedFold(cx: Lowering, op: TeamResult["op"], node: acorn.CallExpression, scope: Scope, level: Level): LoweredValue {
  const location = cx.at(node);
  const count = countOf(cx, node, scope);
  const { name, index } = member(cx);
  const result = resultVariable(cx, node, op, "");
  const { stmts } = cx.collect(() => {
    const value = scalarOperand(cx, callback(cx, node, 1, scope, [index, ...level.rest], `${level.of}.${op}`), node);
    cx.out.push({ kind: "reduce", target: result.name, value: cx.fit(value, result, node), location });
  });
  cx.out.push({ kind: "teamReduce", name, count, results: [teamResult(result, op)], body: stmts, location });
  return result;
}

function sharedReduce(cx: Lowering, node: acorn.CallExpression, scope: Scope, level: Level): LoweredValue {
  const count = countOf(cx, node, scope);
  const { name, index } = member(cx);
  const location = cx.at(node);
  const results = [...resultOps(cx, node, scope)].map(([field, { op, components }]) => ({
    field,
    op,
    components,
    variables: Array.from({ length: components ?? 1 }, (_, k) =>
      resultVariable(cx, node, components === undefined ? field : `${field}_${k}`, `.${field}`),
    ),
  }));
  const { stmts } = cx.collect(() => {
    const last: Stmt[] = [];
    const fields = results.map(({ field, op, components, variables }): [string, LoweredValue] => {
      const [variable] = variables;
      const type = variable.type as NumericType;
      if (components === undefined) return [field, { kind: "reduce", name: variable.name, type, op, result: variable }];
      const array = startHeld(cx, field, { type, op }, components, location);
      for (const [k, { name: target }] of variables.entries())
        last.push({ kind: "reduce", target, value: { op: "element", type, array, index: int(k) }, location });
      return [field, { kind: "reduceEach", name: field, type, op, array, result: variable }];
    });
    callback(cx, node, 2, scope, [index, { kind: "record", fields: new Map(fields) }, ...level.rest], `${level.of}.reduce`);
    cx.out.push(...last);
  });
  const all = results.flatMap(({ op, variables }) => variables.map((variable) => teamResult(variable, op)));
  cx.out.push({ kind: "teamReduce", name, count, results: all, body: stmts, location });
  return { kind: "record", fields: new Map(results.map((result) => [result.field, resultValue(cx, node, result)])) };
}

/** A result after the loop: its variable, or a private array of its components. */
function resultValue(
  cx: Lowering,
  node: acorn.Node,
  { components, variables }: { readonly components?: number; readonly variables: readonly LocalVariable[] },
): LoweredValue {
  const [first] = variables;
  if (components === undefined) return first;
  const array = declareArray(cx, node, first.type as NumericType, components, "private");
  for (const [k, { name, type }] of variables.entries())
    cx.out.push({ kind: "setElement", array: array.name, index: int(k), value: { op: "local", type, name }, location: cx.at(node) });
  return array;
}

function scratch(cx: Lowering, node: acorn.CallExpression, scope: Scope): LoweredValue {
  const [type, length, options] = node.arguments;
  const element = scratchType(cx, type ?? cx.fail(node, "a type is missing"), scope);
  if (element === undefined || !(NUMERIC_TYPES as readonly string[]).includes(element))
    return cx.fail(
      node,
      "the type of scratch must be written as a string, or be an array type that is a parameter",
      'team.scratch("f64", 64)',
    );
  const { level, disjoint } = scratchOptions(cx, options);
  if (level === 1) return teamRow(cx, node, element as NumericType, disjoint, scope);
  const elements = knownConstant(cx, scalarOf(cx, length ?? cx.fail(node, "a length is missing"), scope).expr);
  if (typeof elements !== "number" || !Number.isInteger(elements) || elements < 1)
    return cx.fail(node, "the length of scratch must be constant", "use a number or a fixed(i32) parameter, or { level: 1 }");
  return declareArray(cx, node, element as NumericType, elements, "scratch", disjoint);
}

/** Reads `{ level: 1, disjoint: true }`, or one of these. */
function scratchOptions(cx: Lowering, node: acorn.Expression | acorn.SpreadElement | undefined): { level: 0 | 1; disjoint: boolean } {
  const options = { level: 0 as 0 | 1, disjoint: false };
  if (!node) return options;
  const fail = (): never => cx.fail(node, "the options of scratch are { level: 0 } or { level: 1 }, and { disjoint: true }");
  if (node.type !== "ObjectExpression") return fail();
  for (const option of node.properties) {
    if (option.type !== "Property" || option.computed || option.key.type !== "Identifier" || option.value.type !== "Literal") return fail();
    const { value } = option.value;
    if (option.key.name === "level" && (value === 0 || value === 1)) options.level = value;
    else if (option.key.name === "disjoint" && typeof value === "boolean") options.disjoint = value;
    else fail();
  }
  return options;
}

/** Scratch of level 1: the team's row of a view that the launch allocates. */
function teamRow(cx: Lowering, node: acorn.CallExpression, element: NumericType, disjoint: boolean, scope: Scope): LoweredValue {
  const first = node.arguments[1];
  const definitions = definitionsOf(cx.out);
  const known = (e: Expr): Expr => {
    const definition = e.op === "local" ? definitions.get(e.name) : undefined;
    return definition ? known(definition) : mapChildren(e, known);
  };
  const teamLength = known(cx.converted(scalarOf(cx, first, scope), "i32", first, "a length must be i32"));
  if (someExpr(teamLength, ({ op }) => !["const", "param", "extent", "unary", "binary", "cast", "select", "compare"].includes(op)))
    cx.fail(first, "the length of scratch on level 1 must be known at the launch", "compute it from scalars and extents alone");
  const name = cx.unique("scratch");
  cx.ir.params.push({ kind: "view", name, element, rank: 2, disjoint, teamLength });
  return { kind: "view", name, element, rank: 2, prefix: [{ op: "index", type: "i32", axis: 1 }] };
}

/** `"f64"`, or a parameter that stands for `Float64Array` or its kin. */
function scratchType(cx: Lowering, node: acorn.CallExpression["arguments"][number], scope: Scope): string | undefined {
  const written = stringOf(node);
  if (written !== undefined) return written;
  const value = cx.expression(node, scope);
  return value.kind === "arrayType" ? value.type : undefined;
}

function countOf(cx: Lowering, node: acorn.CallExpression, scope: Scope): Expr {
  const first = node.arguments[0] ?? cx.fail(node, "a count is missing");
  const count = cx.converted(scalarOf(cx, first, scope), "i32", first, "a count must be i32");
  return cx.materialiseScalar({ kind: "scalar", expr: count }, first, "count").expr;
}

function member(cx: Lowering): { name: string; index: LoweredValue } {
  const name = cx.unique("j");
  return { name, index: { kind: "scalar", expr: { op: "local", type: "i32", name } } };
}

/** How the methods of teams and lanes are called, by where their function stands. */
const SHAPES = [
  "write team.single(() => ...)",
  "write the number of indices, then a function of one: team.sum(n, (k) => x[k])",
  'write team.reduce(n, { a: "sum" }, (k, r) => ...)',
];

/** Inlines the function that stands at `position` among the arguments of `method`. */
function callback(
  cx: Lowering,
  node: acorn.CallExpression,
  position: number,
  scope: Scope,
  args: LoweredValue[],
  method: string,
): LoweredValue {
  const argument = node.arguments[position] ?? cx.fail(node, "a function is missing", SHAPES[position]);
  const fn = cx.expression(argument, scope);
  if (fn.kind !== "function") return cx.fail(argument, "a function is needed here");
  cx.shared.push(method);
  try {
    return inline(cx, fn, args, argument);
  } finally {
    cx.shared.pop();
  }
}

/** Operation of a result, and how many it stands for, where it has components. */
interface ResultSpec {
  readonly op: TeamResult["op"];
  readonly components?: number;
}

/** Components of a result, at most: each is kept by every member. */
const MOST_COMPONENTS = 256;

/** Reads `{ a: "sum", b: "max", c: ["sum", 4] }`. */
function resultOps(cx: Lowering, call: acorn.CallExpression, scope: Scope): Map<string, ResultSpec> {
  const node = call.arguments[1] ?? cx.fail(call, "the results are missing", '{ a: "sum", b: "max" }');
  if (node.type !== "ObjectExpression") return cx.fail(node, "the results must be written as an object", '{ a: "sum", b: "max" }');
  return new Map(
    node.properties.map((p) => {
      if (p.type !== "Property" || p.computed) return cx.fail(p, RESULTS);
      return [p.key.type === "Identifier" ? p.key.name : String((p.key as acorn.Literal).value), resultSpec(cx, p.value, scope)];
    }),
  );
}

const RESULTS = 'a result is "sum", "min" or "max", or ["sum", 4] for several';

function resultSpec(cx: Lowering, node: acorn.Node, scope: Scope): ResultSpec {
  const known = (op: string | undefined): TeamResult["op"] =>
    op !== undefined && OPS.includes(op) ? (op as TeamResult["op"]) : cx.fail(node, RESULTS);
  if (node.type !== "ArrayExpression") return { op: known(stringOf(node)) };
  const [op, length, more] = (node as acorn.ArrayExpression).elements;
  if (!op || !length || more) return cx.fail(node, RESULTS);
  const components = knownConstant(cx, scalarOf(cx, length, scope).expr);
  if (typeof components !== "number" || !Number.isInteger(components) || components < 1 || components > MOST_COMPONENTS)
    return cx.fail(
      length,
      `the number of results must be a constant from 1 to ${MOST_COMPONENTS}`,
      "use a number or a fixed(i32) parameter",
    );
  return { op: known(stringOf(op)), components };
}

/** A result starts as f64, and takes the type of what is folded into it. */
function resultVariable(cx: Lowering, node: acorn.Node, name: string, part: string): LocalVariable {
  const key = `${cx.path}/${node.start}:team${part}`;
  const { type, weak } = cx.knowledge.types.get(key) ?? { type: "f64", weak: "float" };
  return { kind: "variable", name: cx.unique(`${name}_`), type, weak, constant: true, key, open: true };
}

const teamResult = (v: LocalVariable, op: TeamResult["op"]): TeamResult => ({ name: v.name, type: v.type as NumericType, op });
