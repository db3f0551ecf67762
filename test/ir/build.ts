import type {
  BinaryFn,
  CompareFn,
  ElementType,
  Expr,
  KernelIR,
  Location,
  MathFn,
  NumericType,
  Param,
  ScalarType,
  Stmt,
  Table,
  TeamResult,
  UnaryFn,
} from "../../src/ir/types.js";

/* Short names for building kernels by hand. Every statement made gets the next line, so that errors can be told apart. */

let line = 0;
const location = (): Location => ({ file: "kernel.ts", line: ++line, column: 1 });

export const f = (value: number): Expr => ({ op: "const", type: "f64", value });
export const n = (value: number): Expr => ({ op: "const", type: "i32", value });
export const c = (type: ScalarType, value: number | boolean): Expr => ({ op: "const", type, value });
export const index = (axis: number): Expr => ({ op: "index", type: "i32", axis });
export const [i, j, k] = [index(0), index(1), index(2)];
export const local = (name: string, type: ScalarType = "f64"): Expr => ({ op: "local", type, name });
export const scalar = (name: string, type: ScalarType = "f64"): Expr => ({ op: "param", type, name });
export const extent = (view: string, axis = 0): Expr => ({ op: "extent", type: "i32", view, axis });
export const teamSize: Expr = { op: "teamSize", type: "i32" };
export const load = (view: string, indices: Expr[], type: NumericType = "f64"): Expr => ({ op: "load", type, view, indices });
export const element = (array: string, at: Expr, type: NumericType = "f64"): Expr => ({ op: "element", type, array, index: at });
export const entry = (table: string, indices: Expr[], type: NumericType = "f64"): Expr => ({ op: "table", type, table, indices });
export const un = (fn: UnaryFn, a: Expr, type: ScalarType = a.type): Expr => ({ op: "unary", type, fn, a });
export const bin = (fn: BinaryFn, a: Expr, b: Expr): Expr => ({ op: "binary", type: a.type, fn, a, b });
export const add = (a: Expr, b: Expr): Expr => bin("add", a, b);
export const sub = (a: Expr, b: Expr): Expr => bin("sub", a, b);
export const mul = (a: Expr, b: Expr): Expr => bin("mul", a, b);
export const div = (a: Expr, b: Expr): Expr => bin("div", a, b);
export const cmp = (fn: CompareFn, a: Expr, b: Expr): Expr => ({ op: "compare", type: "bool", fn, a, b });
export const and = (a: Expr, b: Expr): Expr => ({ op: "logical", type: "bool", fn: "and", a, b });
export const or = (a: Expr, b: Expr): Expr => ({ op: "logical", type: "bool", fn: "or", a, b });
export const select = (cond: Expr, a: Expr, b: Expr): Expr => ({ op: "select", type: a.type, cond, a, b });
export const cast = (type: ScalarType, a: Expr): Expr => ({ op: "cast", type, a });
export const call = (fn: MathFn, ...args: Expr[]): Expr => ({ op: "call", type: args[0].type as NumericType, fn, args });

export const define = (name: string, init: Expr): Stmt => ({ kind: "let", name, type: init.type, init, location: location() });
export const declare = (name: string, type: ScalarType = "f64"): Stmt => ({ kind: "let", name, type, location: location() });
export const assign = (name: string, value: Expr): Stmt => ({ kind: "assign", name, value, location: location() });
export const array = (name: string, length: number, space: "private" | "scratch" = "private", type: NumericType = "f64"): Stmt => ({
  kind: "array",
  name,
  type,
  length,
  space,
  location: location(),
});
export const setElement = (name: string, at: Expr, value: Expr): Stmt => ({
  kind: "setElement",
  array: name,
  index: at,
  value,
  location: location(),
});
export const store = (view: string, indices: Expr[], value: Expr): Stmt => ({ kind: "store", view, indices, value, location: location() });
export const scatter = (target: string, indices: Expr[], value: Expr): Stmt => ({
  kind: "scatter",
  target,
  indices,
  value,
  location: location(),
});
export const reduce = (target: string, value: Expr): Stmt => ({ kind: "reduce", target, value, location: location() });
export const when = (cond: Expr, then: Stmt[], otherwise: Stmt[] = []): Stmt => ({
  kind: "if",
  cond,
  then,
  else: otherwise,
  location: location(),
});
export const loop = (name: string, start: Expr, stop: Expr, body: Stmt[], step = 1): Stmt => ({
  kind: "for",
  name,
  start,
  stop,
  step,
  body,
  location: location(),
});
export const loopWhile = (cond: Expr, body: Stmt[], update: Stmt[] = []): Stmt => ({
  kind: "while",
  cond,
  body,
  update,
  location: location(),
});
export const leave = (): Stmt => ({ kind: "break", location: location() });
export const skip = (): Stmt => ({ kind: "continue", location: location() });
export const teamFor = (name: string, count: Expr, body: Stmt[]): Stmt => ({ kind: "teamFor", name, count, body, location: location() });
export const teamReduce = (name: string, count: Expr, results: TeamResult[], body: Stmt[]): Stmt => ({
  kind: "teamReduce",
  name,
  count,
  results,
  body,
  location: location(),
});
export const single = (body: Stmt[]): Stmt => ({ kind: "single", body, location: location() });

export const value = (name: string, type: ScalarType = "f64"): Param => ({ kind: "scalar", name, type });
export const view = (name: string, rank = 1, element: ElementType = "f64", disjoint = false): Param => ({
  kind: "view",
  name,
  element,
  rank,
  disjoint,
});
export const target = (name: string, rank = 1, element_: NumericType = "f64"): Param => ({
  kind: "scatter",
  name,
  element: element_,
  rank,
  op: "sum",
});
export const total = (name: string, type: NumericType = "f64"): Param => ({ kind: "reduce", name, type, op: "sum", identity: 0 });
export const table = (name: string, values: number[], shape = [values.length], type: NumericType = "f64"): Table => ({
  name,
  type,
  shape,
  values,
});

/** A range kernel of the given rank. */
export const kernel = (params: Param[], body: Stmt[], { rank = 1, tables = [] as Table[] } = {}): KernelIR => ({
  name: "test",
  policy: { kind: "range", rank },
  params,
  tables,
  body,
  location: location(),
});
export const teamKernel = (params: Param[], body: Stmt[]): KernelIR => ({
  name: "test",
  policy: { kind: "team" },
  params,
  tables: [],
  body,
  location: location(),
});
