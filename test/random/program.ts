import { copysign, mulhi, powi, span } from "../../src/kernel/declare/builtins.js";
import { complex } from "../../src/kernel/declare/complex.js";
import { mat2, mat3f } from "../../src/kernel/declare/matrices.js";
import { array } from "../../src/kernel/declare/private-arrays.js";
import { quat } from "../../src/kernel/declare/quaternions.js";
import { vec2, vec2i, vec3, vec3f } from "../../src/kernel/declare/vectors.js";
import type { Captures } from "../../src/kernel/declare/captures.js";
import { kernel, teamKernel, type Kernel } from "../../src/kernel/declare/kernel.js";
import type { NumberElement } from "../../src/ir/types.js";
import type { RandomScalar } from "./scalars.js";
import type { Policy } from "../../src/device/launch/policy.js";
import type { LayoutName } from "../../src/device/memory/view.js";
import type { ParamToken, Params } from "../../src/kernel/declare/params.js";
import { minified, Renaming, squeezed, type Style } from "./styles.js";

/*
 * A random kernel as a tree of text: whatever a node's type, its parts written one after the other are its source. So one printer and
 * one way to shrink serve the whole language.
 */

export interface Expr {
  kind: "expr";
  type: RandomScalar;
  /** Its type does not hang on what it meets: not a bare literal. */
  strong: boolean;
  parts: readonly (string | Expr)[];
}
export interface Block {
  kind: "block";
  stmts: readonly Stmt[];
}
export interface Stmt {
  kind: "stmt";
  parts: readonly Part[];
}
export type Part = string | Expr | Block;

/** Functions of Isoform's own, by the names of parameters. */
export const BUILTINS: Readonly<Record<string, (...args: never[]) => unknown>> = { mulhi, powi, copysign, span };

/** Types of values of several numbers. */
export const COMPOSITES = { vec2, vec3, vec3f, vec2i, mat2, mat3f, quat, complex };
export type CompositeName = keyof typeof COMPOSITES;

/** What kernels list as captures. */
const TYPES: Readonly<Record<string, (...args: never[]) => unknown>> = { ...COMPOSITES, array };

export type Declared =
  | {
      kind: "view" | "scatter";
      token: ParamToken;
      element: NumberElement;
      shape: readonly number[];
      layout: LayoutName | "strided";
      indices: boolean;
    }
  | { kind: "scalar" | "fixed"; token: ParamToken; type: RandomScalar; value: number | boolean }
  | { kind: "reduce" | "table"; token: ParamToken }
  | { kind: "builtin" }
  | { kind: "helper"; parts: readonly Part[] };

export interface Program {
  params: ReadonlyMap<string, Declared>;
  /** Names of the arguments after the parameters. */
  indices: readonly string[];
  body: Block;
  policy: Policy;
  /** Seed of the contents of views. */
  data: number;
  /** It means the same when called as plain TypeScript. */
  faithful: boolean;
  style: Style;
}

type Node = { readonly parts: readonly Part[] };

function write(parts: readonly Part[], indent: string): string {
  return parts.map((p) => (typeof p === "string" ? p : p.kind === "block" ? writeBlock(p, indent) : write(p.parts, indent))).join("");
}
function writeBlock({ stmts }: Block, indent: string): string {
  const inner = `${indent}  `;
  return `{\n${stmts.map((s) => `${inner}${write(s.parts, inner)}\n`).join("")}${indent}}`;
}

/** The statements of a program's body. */
export const bodyOf = (program: Program): string => writeBlock(program.body, "").slice(1, -1);

/** A program's text: its helpers by name, and its body. */
interface Written {
  readonly params: readonly string[];
  readonly helpers: ReadonlyMap<string, string>;
  readonly body: string;
}

const written = new WeakMap<Program, Written>();

function textOf(program: Program): Written {
  let text = written.get(program);
  if (!text) written.set(program, (text = writeProgram(program)));
  return text;
}

function writeProgram(program: Program): Written {
  const { style } = program;
  const body = writeBlock(style === "minified" ? minified(program.body) : program.body, "");
  const words = new Set(body.match(/[\w$]+/g));
  const params = [...program.params.keys()].filter((name) => words.has(name));
  const finish = (text: string): string => (style === "minified" ? squeezed(text) : text);
  const names = new Renaming(style, new Set(params), program.data, new Set(Object.keys(TYPES)));
  const pattern = params.map((name) => names.pattern(name)).join(", ");
  return {
    params,
    body: finish(`({ ${pattern} }, ${program.indices.join(", ")}) => ${names.text(body)}`),
    helpers: new Map(
      params.flatMap((name) => {
        const param = program.params.get(name)!;
        return param.kind === "helper" ? [[name, finish(new Renaming(style, new Set(), program.data).text(write(param.parts, "")))]] : [];
      }),
    ),
  };
}

/** The program as it would stand in a file. */
export function sourceOf(program: Program): string {
  const { policy } = program;
  const { params: used, helpers, body } = textOf(program);
  const params = used.map((name) => `  ${name}: ${helpers.get(name) ?? describe(program.params.get(name)!)},`);
  const launch =
    policy.kind === "team"
      ? `teams(${policy.league}${policy.abreast === undefined ? "" : ", { size: 8, abreast: 4 }"})`
      : `range(${policy.extents.map((n, a) => (policy.begin[a] ? `[${policy.begin[a]}, ${policy.begin[a] + n}]` : n)).join(", ")})`;
  return `${policy.kind === "team" ? "teamKernel" : "kernel"}("random", {\n${params.join("\n")}\n}, ${body});\n${launch}, contents from seed ${program.data}`;
}

function describe(param: Declared): string {
  switch (param.kind) {
    case "helper":
    case "builtin":
      return param.kind;
    case "view":
      if ("atomic" in (param.token as object))
        return `atomic(${param.element}, ${param.shape.length}) /* [${param.shape}] ${param.layout} */`;
      return `view(${param.element}, ${param.shape.length}) /* [${param.shape}] ${param.layout} */`;
    case "scatter":
      return `scatter(${param.element}, ${param.shape.length}, "${(param.token as { op: string }).op}") /* [${param.shape}] */`;
    case "scalar":
      return `${param.type} /* ${param.value} */`;
    case "fixed":
      return `fixed(${param.type}) /* ${param.value} */`;
    default:
      return JSON.stringify(param.token, (_, v: unknown) => (typeof v === "function" ? String(v) : v));
  }
}

const made = new WeakMap<Program, Kernel>();

/** The kernel itself, its functions made from their text. Throws SyntaxError for text that is no TypeScript (after shrinking). */
export function kernelOf(program: Program): Kernel {
  let kernel = made.get(program);
  if (!kernel) made.set(program, (kernel = makeKernel(program)));
  return kernel;
}

function makeKernel(program: Program): Kernel {
  const params: Params = {};
  const { params: used, helpers, body: text } = textOf(program);
  for (const name of used) {
    const param = program.params.get(name)!;
    params[name] = param.kind === "helper" ? functionOf(helpers.get(name)!) : param.kind === "builtin" ? BUILTINS[name] : param.token;
  }
  const body = functionOf(text) as never;
  const types = Object.keys(TYPES).filter((name) => new RegExp(`(?<![\\w$.])${name}\\b`).test(text));
  const captures = types.length > 0 ? (functionOf(`() => [${types.join(", ")}]`) as Captures) : undefined;
  return program.policy.kind === "team" ? teamKernel("random", params, body, captures) : kernel("random", params, body, captures);
}

// oxlint-disable-next-line typescript/no-implied-eval
const functionOf = (text: string): ((...args: never[]) => unknown) =>
  new Function(...Object.keys(KNOWN), `return (${text});`)(...Object.values(KNOWN)) as (...args: never[]) => unknown;
const KNOWN = { ...BUILTINS, ...TYPES };

/** Smaller programs, the boldest cuts first. Some are no kernels any more: a name's declaration may be gone. */
export function* smaller(program: Program): Generator<Program> {
  const { policy } = program;
  if (program.style !== "plain") yield { ...program, style: "plain" };
  for (const body of smallerBlock(program.body)) yield { ...program, body };
  for (const [name, param] of program.params)
    if (param.kind === "helper")
      for (const parts of smallerParts(param)) yield { ...program, params: new Map(program.params).set(name, { ...param, parts }) };
  if (policy.kind === "team") {
    for (const league of fewer(policy.league)) yield { ...program, policy: { ...policy, league } };
  } else
    for (const [axis, extent] of policy.extents.entries())
      for (const n of fewer(extent)) yield { ...program, policy: { ...policy, extents: policy.extents.with(axis, n) } };
}

function* fewer(n: number): Generator<number> {
  for (const m of [1, n >> 1, n - 1]) if (m >= 1 && m < n) yield m;
}

function* smallerBlock(block: Block): Generator<Block> {
  const { stmts } = block;
  for (let size = stmts.length; size >= 1; size >>= 1)
    for (let at = 0; at + size <= stmts.length; at += size) yield { ...block, stmts: [...stmts.slice(0, at), ...stmts.slice(at + size)] };
  for (const [n, stmt] of stmts.entries()) {
    for (const part of stmt.parts)
      if (typeof part !== "string" && part.kind === "block")
        yield { ...block, stmts: [...stmts.slice(0, n), ...part.stmts, ...stmts.slice(n + 1)] };
    for (const parts of smallerParts(stmt)) yield { ...block, stmts: stmts.with(n, { ...stmt, parts }) };
  }
}

function* smallerParts<T extends Part>(node: Node & { readonly parts: readonly T[] }): Generator<T[]> {
  for (const [n, part] of node.parts.entries()) {
    if (typeof part === "string") continue;
    for (const next of part.kind === "block" ? smallerBlock(part) : smallerExpr(part)) yield node.parts.with(n, next as T) as T[];
  }
}

const SIMPLEST: Record<RandomScalar, string> = { f64: "+(1)", f32: "Math.fround(1)", i32: "(1 | 0)", u32: "(1 >>> 0)", bool: "true" };

function* smallerExpr(expr: Expr): Generator<Expr> {
  if (!expr.parts.some((p) => typeof p !== "string")) return;
  yield { kind: "expr", type: expr.type, strong: true, parts: [SIMPLEST[expr.type]] };
  yield* within(expr, expr.type, 3);
  for (const parts of smallerParts(expr)) yield { ...expr, parts };
}

/** Expressions of a type inside another, down to some depth. */
function* within(expr: Expr, type: RandomScalar, depth: number): Generator<Expr> {
  for (const part of expr.parts) {
    if (typeof part === "string") continue;
    if (part.type === type && (part.strong || !expr.strong)) yield part;
    if (depth > 1) yield* within(part, type, depth - 1);
  }
}
