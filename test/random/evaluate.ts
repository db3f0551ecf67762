import type { Expr, KernelIR, NumberType, ReduceParam, ScalarType, Stmt, TeamResult } from "../../src/ir/types.js";
import { teamRows } from "../../src/ir/analysis/teams.js";
import { lastOf } from "../../src/ir/loop-stops.js";
import type { Policy } from "../../src/device/launch/policy.js";
import { foldChunk } from "../../src/testing/strict-fold.js";
import { elementsOf, grid, offsetOf, rounded, type Memory } from "./memory.js";
import { CHANGES } from "./atomics.js";
import { foldGroups } from "../../src/ir/joint.js";
import { Contributions, foldPartials, namedParts, type Fold, type Folded } from "./reductions.js";

/*
 * The reference: a kernel's IR walked node by node. It shares nothing with the emitters or the passes, and its only aim is to be
 * plainly right: every operator is the sentence of src/ir/types.ts about it.
 */

type Scalar = number | boolean;

/** Runs a kernel over `memory`, which it changes, in strict order. Returns the results of its reductions. */
export function evaluate(ir: KernelIR, policy: Policy, memory: Memory, scalars: Readonly<Record<string, Scalar>>): Record<string, number> {
  const reductions = foldGroups(ir.params.filter((p): p is ReduceParam => p.kind === "reduce")).map((parts) => ({
    names: parts.map(({ name }) => name),
    fold: foldOf(parts),
    identity: parts[0].joint ? { parts: parts.map(({ identity }) => identity as number) } : (parts[0].identity as number),
  }));
  const results: Record<string, number> = {};
  const tell = (names: readonly string[], value: Folded): void => void Object.assign(results, Object.fromEntries(namedParts(names, value)));
  steps = 0;
  if (policy.kind === "range") {
    const folded = Object.fromEntries(reductions.map(({ names }) => [names[0], new Contributions(policy)]));
    for (const { index, line, place } of elementsOf(policy))
      new Run(ir, memory, scalars, index, (target, value) => folded[target].add(line, place, value)).block(ir.body);
    for (const { names, fold, identity } of reductions) tell(names, folded[names[0]].fold(fold, identity));
  } else {
    const rows = teamRows(ir).map(({ name, element, teamLength }) => {
      const length = new Run(ir, memory, scalars, [], () => undefined).number(teamLength);
      return [name, grid(element, [1, length])];
    });
    const all: Memory = { ...memory, ...Object.fromEntries(rows) };
    const partials = Object.fromEntries(reductions.map(({ names, identity }) => [names[0], Array<Folded>(policy.league).fill(identity)]));
    const folds = Object.fromEntries(reductions.map(({ names, fold }) => [names[0], fold]));
    for (let team = 0; team < policy.league; team++)
      new Run(
        ir,
        all,
        scalars,
        [team, 0],
        (target, value) => (partials[target][team] = folds[target](partials[target][team], value)),
      ).block(ir.body);
    for (const { names, fold, identity } of reductions) tell(names, foldPartials(partials[names[0]], fold, identity));
  }
  return results;
}

/** Statements that an evaluation may run, and has run. */
let most = Infinity;
let steps = 0;

/** From now on an evaluation that runs more statements than these ends with an error. */
export function limitSteps(limit: number): void {
  most = limit;
}

/** f32 below 2^-126 become zero. */
let flushing = false;

/** The same for a device that flushes subnormal numbers. */
export function evaluateFlushed(...call: Parameters<typeof evaluate>): Record<string, number> {
  flushing = true;
  try {
    return evaluate(...call);
  } finally {
    flushing = false;
  }
}

function foldOf(parts: readonly ReduceParam[]): Fold {
  const [{ op, combine, joint, type }] = parts;
  if (op !== "custom" && op !== "joint") return (a, b) => binary(op === "sum" ? "add" : op, type as NumberType, a as number, b as number);
  const alone = new Run(
    { name: "fold", policy: { kind: "team" }, params: [], tables: [], body: [], location: { file: "", line: 0, column: 0 } },
    {},
    {},
    [0],
    () => undefined,
  );
  if (joint)
    return (a, b) => {
      const sides = [
        [joint.a, a],
        [joint.b, b],
      ] as const;
      for (const [names, value] of sides) for (const [name, part] of namedParts(names, value)) alone.locals.set(name, part);
      return { parts: joint.bodies.map((body) => alone.number(body)) };
    };
  return (a, b) => {
    alone.locals.set(combine!.a, a as number).set(combine!.b, b as number);
    return alone.number(combine!.body);
  };
}

type Jump = "break" | "continue" | undefined;

/** One element of a range, or one team. */
class Run {
  readonly locals = new Map<string, Scalar>();
  private readonly arrays = new Map<string, (number | undefined)[]>();
  /** What the members, or lanes, of the enclosing teamReduce fold, by result. */
  private members = new Map<string, number[]>();
  /** Places of teams' scratch of level 1 that have a value. */
  private readonly rows: ReadonlyMap<string, Set<number>>;

  constructor(
    private readonly ir: KernelIR,
    private readonly memory: Memory,
    private readonly scalars: Readonly<Record<string, Scalar>>,
    private readonly index: readonly number[],
    private readonly fold: (target: string, value: Folded) => void,
  ) {
    this.rows = new Map(teamRows(ir).map(({ name }) => [name, new Set<number>()]));
  }

  number(expr: Expr): number {
    return this.value(expr) as number;
  }

  value(expr: Expr): Scalar {
    switch (expr.op) {
      case "const":
        return expr.value as Scalar;
      case "local":
        return defined(this.locals.get(expr.name), expr.name);
      case "param":
        return defined(this.scalars[expr.name], expr.name);
      case "index":
        return this.index[expr.axis];
      case "teamSize":
        return 1;
      case "load": {
        const view = this.memory[expr.view];
        const at = offsetOf(
          view,
          expr.view,
          expr.indices.map((e) => this.number(e)),
        );
        if (this.rows.get(expr.view)?.has(at) === false) throw new Error(`element ${at} of ${expr.view} is read before it has a value`);
        return view.data[at];
      }
      case "element":
        return defined(
          defined(this.arrays.get(expr.array), expr.array)[this.number(expr.index)],
          `${expr.array}[${this.number(expr.index)}]`,
        );
      case "table": {
        const table = this.ir.tables.find((t) => t.name === expr.table)!;
        const at = expr.indices.reduce((sum, e, axis) => sum * table.shape[axis] + this.number(e), 0);
        return defined(table.values[at] as number, `${expr.table}[${at}]`);
      }
      case "extent":
        return this.memory[expr.view].shape[expr.axis];
      case "unary":
        return expr.fn === "not" ? !this.value(expr.a) : unary(expr.fn, expr.type as NumberType, this.number(expr.a));
      case "binary":
        return binary(expr.fn, expr.type as NumberType, this.number(expr.a), this.number(expr.b));
      case "compare":
        return compare(expr.fn, this.value(expr.a), this.value(expr.b));
      case "logical":
        return expr.fn === "and" ? this.value(expr.a) && this.value(expr.b) : this.value(expr.a) || this.value(expr.b);
      case "select":
        return this.value(expr.cond) ? this.value(expr.a) : this.value(expr.b);
      case "cast":
        return cast(expr.type, expr.a.type, this.value(expr.a));
      case "checked":
      case "failed":
        throw new Error(`${expr.op}: random kernels are evaluated as they are before their indices are checked`);
      case "call":
        if (expr.fn === "powi") return powi(expr.type as NumberType, this.number(expr.args[0]), this.number(expr.args[1]));
        return fit(expr.type as NumberType, mathematics(expr.fn)(...expr.args.map((arg) => this.number(arg))));
    }
  }

  block(stmts: readonly Stmt[]): Jump {
    for (const stmt of stmts) {
      const jump = this.statement(stmt);
      if (jump) return jump;
    }
    return undefined;
  }

  private statement(stmt: Stmt): Jump {
    if (++steps > most) throw new Error(`it takes more than ${most} statements`);
    switch (stmt.kind) {
      case "let":
        if (stmt.init) this.locals.set(stmt.name, this.value(stmt.init));
        else this.locals.delete(stmt.name);
        return undefined;
      case "assign":
        this.locals.set(stmt.name, this.value(stmt.value));
        return undefined;
      case "array":
        this.arrays.set(stmt.name, Array<number | undefined>(stmt.length).fill(stmt.space === "private" ? 0 : undefined));
        return undefined;
      case "setElement": {
        const array = defined(this.arrays.get(stmt.array), stmt.array),
          at = this.number(stmt.index);
        if (!(at >= 0 && at < array.length)) throw new RangeError(`index ${at} of ${stmt.array}, which has ${array.length} elements`);
        array[at] = this.number(stmt.value);
        return undefined;
      }
      case "store": {
        const view = this.memory[stmt.view];
        const at = offsetOf(
          view,
          stmt.view,
          stmt.indices.map((e) => this.number(e)),
        );
        view.data[at] = rounded(view.type, this.number(stmt.value));
        this.rows.get(stmt.view)?.add(at);
        return undefined;
      }
      case "atomic": {
        const view = this.memory[stmt.target];
        const at = offsetOf(
          view,
          stmt.target,
          stmt.indices.map((e) => this.number(e)),
        );
        view.data[at] = CHANGES[stmt.fn](view.data[at], this.number(stmt.value!));
        return undefined;
      }
      case "scatter": {
        const view = this.memory[stmt.target];
        const param = this.ir.params.find((p) => p.name === stmt.target);
        if (param?.kind !== "scatter") throw new Error(`${stmt.target} is no scatter target`);
        const at = offsetOf(
          view,
          stmt.target,
          stmt.indices.map((e) => this.number(e)),
        );
        view.data[at] = binary(param.op === "sum" ? "add" : param.op, param.element as NumberType, view.data[at], this.number(stmt.value));
        return undefined;
      }
      case "reduce": {
        const member = this.members.get(stmt.target);
        if (member) member.push(this.number(stmt.value));
        else this.fold(stmt.target, this.number(stmt.value));
        return undefined;
      }
      case "reduceJointly":
        this.fold(stmt.targets[0], { parts: stmt.values.map((value) => this.number(value)) });
        return undefined;
      case "if":
        return this.block(this.value(stmt.cond) ? stmt.then : stmt.else);
      case "for": {
        const last = lastOf(stmt.stop);
        const stop = last ? this.number(last) + Math.sign(stmt.step) : this.number(stmt.stop);
        for (let k = this.number(stmt.start); stmt.step > 0 ? k < stop : k > stop; k += stmt.step) {
          this.locals.set(stmt.name, k);
          if (this.block(stmt.body) === "break") break;
        }
        return undefined;
      }
      case "while":
        for (let turns = 0; this.value(stmt.cond); turns++) {
          if (turns > 1e6) throw new Error("a loop does not end");
          if (this.block(stmt.body) === "break") break;
          this.block(stmt.update);
        }
        return undefined;
      case "break":
      case "continue":
        return stmt.kind;
      case "teamFor": {
        const count = this.number(stmt.count);
        for (let j = 0; j < count; j++) {
          this.locals.set(stmt.name, j);
          this.block(stmt.body);
        }
        return undefined;
      }
      case "teamReduce": {
        const count = this.number(stmt.count);
        const values = new Map<TeamResult, number[][]>(stmt.results.map((r) => [r, []]));
        const outer = this.members;
        for (let j = 0; j < count; j++) {
          this.locals.set(stmt.name, j);
          this.members = new Map(stmt.results.map((r) => [r.name, []]));
          this.block(stmt.body);
          for (const r of stmt.results) values.get(r)!.push(this.members.get(r.name)!);
        }
        this.members = outer;
        for (const r of stmt.results)
          this.locals.set(
            r.name,
            foldChunk(values.get(r)!, (a, b) => binary(r.op === "sum" ? "add" : r.op, r.type as NumberType, a, b), identityOf(r)),
          );
        return undefined;
      }
      case "single":
        this.block(stmt.body);
        return undefined;
    }
  }
}

function defined<T>(value: T | undefined, name: string): T {
  if (value === undefined) throw new Error(`${name} is read before it has a value`);
  return value;
}

const LIMITS: Record<NumberType, readonly [least: number, greatest: number]> = {
  f64: [-Infinity, Infinity],
  f32: [-Infinity, Infinity],
  i32: [-(2 ** 31), 2 ** 31 - 1],
  u32: [0, 2 ** 32 - 1],
};
const identityOf = ({ op, type }: TeamResult): number => (op === "sum" ? 0 : LIMITS[type as NumberType][op === "min" ? 1 : 0]);

/** The nearest value of the type, or for integers the value modulo 2^32. The argument is exact, or correctly rounded to f64. */
function fit(type: NumberType, x: number): number {
  if (type === "f64") return x;
  if (type === "f32") return flushing && Math.abs(x) < 2 ** -126 ? 0 * x : Math.fround(x);
  return type === "i32" ? x | 0 : x >>> 0;
}

/** By the bits of the exponent, as a text of ones and zeros. */
function powi(type: NumberType, x: number, n: number): number {
  let [square, result] = [x, 1];
  for (const [place, bit] of [...Math.abs(n).toString(2)].reverse().entries()) {
    if (place > 0) square = fit(type, square * square);
    if (bit === "1") result = fit(type, result * square);
  }
  return n < 0 ? fit(type, 1 / result) : result;
}

/** The engine's functions: others may differ from them by some units in the last place. */
const mathematics = (fn: Exclude<Extract<Expr, { op: "call" }>["fn"], "powi">): ((...args: number[]) => number) =>
  fn === "exp2" ? (x) => 2 ** x : Math[fn];

type UnaryFn = Exclude<Extract<Expr, { op: "unary" }>["fn"], "not">;
function unary(fn: UnaryFn, type: NumberType, a: number): number {
  switch (fn) {
    case "neg":
      return fit(type, -a);
    case "bitnot":
      return fit(type, ~a);
    case "abs":
      return fit(type, Math.abs(a));
    case "sqrt":
      return fit(type, Math.sqrt(a));
    case "floor":
      return Math.floor(a);
    case "ceil":
      return Math.ceil(a);
    case "trunc":
      return Math.trunc(a);
    case "round":
      return Math.round(a);
    case "clz":
      return Math.clz32(a);
  }
}

function binary(fn: Extract<Expr, { op: "binary" }>["fn"], type: NumberType, a: number, b: number): number {
  const integer = type === "i32" || type === "u32";
  switch (fn) {
    case "add":
      return fit(type, a + b);
    case "sub":
      return fit(type, a - b);
    case "mul":
      return integer ? fit(type, Number(BigInt.asIntN(32, BigInt(a) * BigInt(b)))) : fit(type, a * b);
    case "div":
      if (integer && b === 0) return 0;
      return integer ? fit(type, Math.trunc(a / b)) : fit(type, a / b);
    case "rem":
      if (integer && b === 0) return 0;
      return integer ? fit(type, a % b) : a % b;
    case "min":
    case "max": {
      if (a !== a || b !== b) return NaN;
      if (a === 0 && b === 0) return fn === "min" ? (Object.is(a, -0) ? a : b) : Object.is(a, -0) ? b : a;
      return (fn === "min" ? a < b : a > b) ? a : b;
    }
    case "and":
      return fit(type, a & b);
    case "or":
      return fit(type, a | b);
    case "xor":
      return fit(type, a ^ b);
    case "shl":
      return fit(type, a << (b & 31));
    case "shr":
      return type === "u32" ? a >>> (b & 31) : a >> (b & 31);
    case "copysign":
      return Math.abs(a) * (Math.sign(b) < 0 || 1 / b === -Infinity ? -1 : 1);
    case "mulhi":
      return Number((BigInt(a) * BigInt(b)) >> 32n);
  }
}

function compare(fn: Extract<Expr, { op: "compare" }>["fn"], a: Scalar, b: Scalar): boolean {
  switch (fn) {
    case "eq":
      return a === b;
    case "ne":
      return a !== b;
    case "lt":
      return a < b;
    case "le":
      return a <= b;
    case "gt":
      return a > b;
    case "ge":
      return a >= b;
  }
}

function cast(to: ScalarType, from: ScalarType, value: Scalar): Scalar {
  if (to === "bool") return typeof value === "boolean" ? value : !(value === 0 || value !== value);
  const x = Number(value);
  const saturates = (from === "f64" || from === "f32") && (to === "i32" || to === "u32");
  if (!saturates) return fit(to as NumberType, x);
  if (x !== x) return 0;
  const [least, greatest] = LIMITS[to];
  const whole = Math.trunc(x);
  return whole < least ? least : whole > greatest ? greatest : whole + 0;
}
