import { unreachable } from "../base/unreachable.js";
import { IRError } from "../base/errors.js";
import { isIndex, valueType } from "./scalars.js";
import { isExact, isInclusive } from "./loop-stops.js";
import { printExpr } from "./kernel-text.js";
import { typeProblem } from "./type-rules.js";
import type { Expr, JointFold, KernelIR, NumericType, Param, ScalarType, Stmt } from "./types.js";
import { blocksOf, children, declares, exprsOf, walkExpr, walkStmts } from "./walk.js";

/**
 * Checks what every pass and emitter relies on: types, scopes, unique names, ranks, targets, and where `break` and the statements of teams
 * may stand. Throws IRError, which names the node: it is a mistake of a front end or a pass, not of the user.
 */
export function verify(ir: KernelIR): void {
  new Verifier(ir).run();
}

export type Local = { what: "local" | "counter"; type: ScalarType } | { what: "array"; type: NumericType };

/** Declarations of a block, and of the blocks around it. */
export class Locals {
  private readonly own = new Map<string, Local>();

  constructor(private readonly around?: Locals) {}

  get(name: string): Local | undefined {
    return this.own.get(name) ?? this.around?.get(name);
  }

  set(name: string, local: Local): this {
    this.own.set(name, local);
    return this;
  }
}

/** Surroundings of a statement. */
export interface Context {
  locals: Locals;
  inLoop: boolean;
  /** Who runs it: the whole team, one of its members, one of a member's lanes. */
  level: "team" | "member" | "lane";
  /** Results of the enclosing teamReduce. */
  results: ReadonlyMap<string, NumericType>;
}

/** Surroundings of a kernel's first statement. */
export const outermost = (): Context => ({ locals: new Locals(), inLoop: false, level: "team", results: new Map() });

/** Checks a kernel: the whole, or statement by statement as it is built. */
export class Verifier {
  private readonly params: Map<string, Param>;
  private readonly tables;

  constructor(private readonly ir: KernelIR) {
    this.params = new Map(ir.params.map((param) => [param.name, param]));
    this.tables = new Map(ir.tables.map((table) => [table.name, table]));
  }

  run(): void {
    this.uniqueNames();
    for (const table of this.ir.tables)
      this.require(
        table.values.length === table.shape.reduce((a, b) => a * b, 1),
        `table ${table.name} has ${table.values.length} values for shape [${table.shape}]`,
      );
    for (const param of this.ir.params) this.param(param);
    this.block(this.ir.body, outermost());
  }

  /** Checks a declaration by itself. Throws IRError. */
  param(param: Param): void {
    if (param.kind === "view" && param.teamLength) {
      this.expr(param.teamLength, new Locals());
      this.require(isIndex(param.teamLength.type), `the length of ${param.name} is ${param.teamLength.type}`);
    }
    if (param.kind === "view" && param.bounds) {
      this.require(param.bounds.length === param.rank, `${param.name} of rank ${param.rank} has bounds for ${param.bounds.length} axes`);
      for (const { lower, upper } of param.bounds)
        for (const bound of upper ? [lower, upper] : [lower]) {
          this.expr(bound, new Locals());
          this.require(isIndex(bound.type), `a bound of ${param.name} is ${bound.type}`);
        }
    }
    if (param.kind !== "reduce") return;
    this.require((param.op === "custom") === (param.combine !== undefined), `reduction ${param.name} is ${param.op}, with the wrong fold`);
    this.require((param.op === "joint") === (param.joint !== undefined), `reduction ${param.name} is ${param.op}, with the wrong fold`);
    if (param.combine) this.combine(param.combine, param.type);
    if (param.joint) this.joint(param.name, param.joint);
  }

  private require(condition: boolean, problem: string, stmt?: Stmt): asserts condition {
    if (condition) return;
    throw new IRError(this.ir.name, stmt?.location, problem);
  }

  private uniqueNames(): void {
    const seen = new Set<string>();
    const take = (name: string, stmt?: Stmt) => {
      this.require(!seen.has(name), `the name ${name} is declared twice`, stmt);
      seen.add(name);
    };
    for (const { name } of [...this.ir.params, ...this.ir.tables]) take(name);
    walkStmts(this.ir.body, (stmt) => declares(stmt).forEach((name) => take(name, stmt)));
  }

  private combine({ a, b, body }: { a: string; b: string; body: Expr }, type: NumericType): void {
    this.fold(body, type, new Locals().set(a, { what: "local", type }).set(b, { what: "local", type }));
  }

  /** Checks that the parts are neighbours with one fold, which gives each its type. */
  private joint(name: string, { parts, a, b, bodies }: JointFold): void {
    const first = this.ir.params.findIndex((p) => p.name === parts[0]);
    const params = this.ir.params.slice(first, first + parts.length).filter((p) => p.kind === "reduce");
    const fits = params.length === parts.length && params.every((p, n) => p.name === parts[n] && p.op === "joint");
    this.require(fits && parts.includes(name), `reduction ${name} folds jointly with ${parts.join(", ")}, which are not its neighbours`);
    this.require(
      [a, b, bodies].every(({ length }) => length === parts.length),
      `the fold of ${parts.join(", ")} has the wrong length`,
    );
    const locals = new Locals();
    params.forEach(({ type }, n) => locals.set(a[n]!, { what: "local", type }).set(b[n]!, { what: "local", type }));
    params.forEach(({ type }, n) => this.fold(bodies[n]!, type, locals));
  }

  private fold(body: Expr, type: NumericType, locals: Locals): void {
    this.expr(body, locals);
    this.require(body.type === type, `a fold of ${type} gives ${body.type}`);
    walkExpr(body, (node) =>
      this.require(!["param", "load", "element", "index", "teamSize", "extent"].includes(node.op), `a fold uses ${printExpr(node)}`),
    );
  }

  /** Declarations last to the end of the block. */
  private block(stmts: readonly Stmt[], outer: Context, depth = 0): void {
    this.require(depth <= DEEPEST, `blocks nest more than ${DEEPEST} deep`, stmts[0]);
    const locals = new Locals(outer.locals);
    const context = { ...outer, locals };
    for (const stmt of stmts) {
      this.head(stmt, context);
      blocksOf(stmt).forEach((block, n) => this.block(block, insideOf(stmt, context, n), depth + 1));
      declareName(stmt, locals);
    }
  }

  /** Checks one statement without those inside it. Throws IRError. */
  head(stmt: Stmt, context: Context): void {
    const { locals } = context;
    const need = (condition: boolean, problem: string) => {
      if (!condition) this.require(false, problem, stmt);
    };
    for (const expr of exprsOf(stmt)) this.expr(expr, locals, stmt);
    switch (stmt.kind) {
      case "let":
        need(!stmt.init || stmt.init.type === stmt.type, `local ${stmt.name} of type ${stmt.type} starts as ${stmt.init?.type}`);
        return;
      case "assign": {
        const local = locals.get(stmt.name);
        need(local?.what === "local", `assignment to ${stmt.name}, which is ${local ? `a loop variable or array` : "not declared here"}`);
        need(local!.type === stmt.value.type, `assignment of ${stmt.value.type} to ${stmt.name}, which is ${local!.type}`);
        return;
      }
      case "array":
        need(Number.isInteger(stmt.length) && stmt.length > 0, `array ${stmt.name} of length ${stmt.length}`);
        need(
          stmt.space === "private" || (this.ir.policy.kind === "team" && context.level === "team"),
          `scratch ${stmt.name} outside the team's level`,
        );
        return;
      case "setElement": {
        const array = locals.get(stmt.array);
        need(array?.what === "array", `${stmt.array} is not an array here`);
        need(isIndex(stmt.index.type), `${stmt.array} is indexed by ${stmt.index.type}`);
        need(array!.type === stmt.value.type, `${stmt.value.type} put into ${stmt.array}, an array of ${array!.type}`);
        return;
      }
      case "store":
      case "scatter": {
        const name = stmt.kind === "store" ? stmt.view : stmt.target;
        const type = this.array(name, stmt.indices, stmt.kind === "store" ? "view" : "scatter", stmt);
        need(type === stmt.value.type, `${stmt.kind} of ${stmt.value.type} into ${name}, which takes ${type}`);
        return;
      }
      case "atomic":
        return this.atomic(stmt);
      case "reduce": {
        const param = this.params.get(stmt.target);
        const type = context.results.get(stmt.target) ?? (param?.kind === "reduce" ? param.type : undefined);
        need(type !== undefined, `${stmt.target} is not a reduction here`);
        need(param?.kind !== "reduce" || !param.joint, `${stmt.target} is folded alone, and folds jointly`);
        need(type === stmt.value.type, `${stmt.value.type} folded into ${stmt.target}, which is ${type}`);
        return;
      }
      case "reduceJointly": {
        const params = stmt.targets.map((target) => this.params.get(target));
        const joint = params[0]?.kind === "reduce" ? params[0].joint : undefined;
        need(joint?.parts.join() === stmt.targets.join(), `${stmt.targets.join(", ")} are not one joint reduction`);
        need(stmt.values.length === params.length, `${stmt.values.length} values folded into ${params.length} parts`);
        params.forEach((param, n) => {
          const type = param?.kind === "reduce" ? param.type : undefined;
          need(type === stmt.values[n]!.type, `${stmt.values[n]!.type} folded into ${stmt.targets[n]}, which is ${type}`);
        });
        return;
      }
      case "print":
        return;
      case "if":
      case "while":
        need(stmt.cond.type === "bool", `condition of type ${stmt.cond.type}`);
        return;
      case "for":
        need(isIndex(stmt.start.type) && isIndex(stmt.stop.type), `loop from ${stmt.start.type} to ${stmt.stop.type}`);
        need(Number.isInteger(stmt.step) && stmt.step !== 0, `loop by step ${stmt.step}`);
        need(!isExact(stmt.stop) || isInclusive(stmt.stop, stmt.step), `loop to ${printExpr(stmt.stop)} by step ${stmt.step}`);
        return;
      case "break":
      case "continue":
        need(context.inLoop, `${stmt.kind} outside a loop`);
        return;
      case "teamFor":
      case "teamReduce":
      case "single":
        need(this.ir.policy.kind === "team", `${stmt.kind} in a range kernel`);
        need(context.level === "team" || nests(stmt, context), `${stmt.kind} inside another statement of the team`);
        if (stmt.kind !== "single") need(isIndex(stmt.count.type), `shared loop over ${stmt.count.type}`);
        return;
      default:
        return unreachable(stmt);
    }
  }

  private atomic(stmt: Extract<Stmt, { kind: "atomic" }>): void {
    const { target, indices, fn, value, expected } = stmt;
    const type = this.array(target, indices, "atomic", stmt);
    this.require(type === stmt.type, `atomic ${fn} of ${stmt.type} on ${target}, which has ${type}`, stmt);
    const isRight = (value === undefined) === (fn === "load") && (expected !== undefined) === (fn === "compareExchange");
    this.require(isRight, `atomic ${fn} with the wrong operands`, stmt);
    for (const operand of [expected, value])
      this.require(!operand || operand.type === type, `atomic ${fn} with ${operand?.type} on ${target}, which has ${type}`, stmt);
  }

  /** The type of values that an element of the view or scatter array takes. */
  private array(name: string, indices: readonly Expr[], kind: "view" | "scatter" | "atomic", stmt?: Stmt): NumericType {
    const param = this.params.get(name);
    this.require(
      (param?.kind === "view" && kind === (param.atomic ? "atomic" : "view")) || (param?.kind === "scatter" && kind === "scatter"),
      `${name} is not ${kind === "atomic" ? "an atomic view" : `a ${kind}`}`,
      stmt,
    );
    this.require(indices.length === param.rank, `${indices.length} indices of ${name}, which has rank ${param.rank}`, stmt);
    for (const index of indices) this.require(isIndex(index.type), `${name} is indexed by ${index.type}`, stmt);
    return valueType(param.element);
  }

  private expr(node: Expr, locals: Locals, stmt?: Stmt, depth = 0): void {
    if (depth > DEEPEST) this.require(false, `an expression nests more than ${DEEPEST} deep; put parts into locals`, stmt);
    const operands = children(node);
    const problem = this.problem(node, operands, locals, stmt);
    if (problem) this.require(false, `${printExpr(node)}: ${problem}`, stmt);
    for (const operand of operands) this.expr(operand, locals, stmt, depth + 1);
  }

  /** Describes what is wrong with one node; undefined if it is valid. */
  private problem(node: Expr, operands: readonly Expr[], locals: Locals, stmt?: Stmt): string | undefined {
    const { type } = node;
    const unless = (condition: boolean, text: string) => (condition ? undefined : text);
    switch (node.op) {
      case "const":
        return typeProblem(node);
      case "local": {
        const local = locals.get(node.name);
        if (local !== undefined && local.what !== "array" && local.type === type) return undefined;
        return local ? `a ${local.what} of ${local.type} used as ${type}` : "not declared here";
      }
      case "param": {
        const param = this.params.get(node.name);
        return param?.kind === "scalar" && param.type === type ? undefined : `no scalar parameter of ${type}`;
      }
      case "index":
        return unless(node.axis >= 0 && node.axis < (this.ir.policy.kind === "team" ? 2 : this.ir.policy.rank), "no such axis");
      case "teamSize":
        return unless(this.ir.policy.kind === "team", "not a team kernel");
      case "load": {
        const element = this.array(node.view, node.indices, "view", stmt);
        return element === type ? undefined : `an element of ${element} read as ${type}`;
      }
      case "element": {
        const array = locals.get(node.array);
        return unless(
          array?.what === "array" && array.type === type && isIndex(node.index.type),
          "not an array here, or its type or the type of its index is wrong",
        );
      }
      case "table": {
        const table = this.tables.get(node.table);
        return unless(
          table?.type === type && table.shape.length === node.indices.length && areInts(operands),
          "not a table, or its type, its rank or the type of an index is wrong",
        );
      }
      case "extent": {
        const param = this.params.get(node.view);
        return unless(
          (param?.kind === "view" || param?.kind === "scatter") && node.axis >= 0 && node.axis < param.rank,
          "not an array with this axis",
        );
      }
      case "unary":
      case "binary":
      case "compare":
      case "logical":
      case "select":
      case "cast":
      case "call":
        return typeProblem(node);
      case "checked":
        return unless(areInts(operands) && this.ir.checks?.sites[node.site] !== undefined, "not a check, or its type is wrong");
      case "failed":
        return unless(this.ir.checks !== undefined, "the kernel has no checks");
      default:
        return unreachable(node);
    }
  }
}

const areInts = (operands: readonly Expr[]): boolean => operands.every(({ type }) => isIndex(type));

/** A loop of the lanes of a member. */
const nests = ({ kind }: Stmt, { level }: Context): boolean => kind !== "single" && level === "member";

const resultsIn = (stmt: Extract<Stmt, { kind: "teamFor" | "teamReduce" }>, { results }: Context): Context["results"] =>
  stmt.kind === "teamReduce" ? new Map(stmt.results.map((r) => [r.name, r.type])) : results;

/** Surroundings of the statements in block number `block` of `blocksOf(stmt)`. */
export function insideOf(stmt: Stmt, context: Context, block: number): Context {
  const counted = (name: string): Locals => new Locals(context.locals).set(name, { what: "counter", type: "i32" });
  switch (stmt.kind) {
    case "while":
      return { ...context, inLoop: block === 0 };
    case "for":
      return { ...context, inLoop: true, locals: counted(stmt.name) };
    case "single":
      return { ...context, inLoop: false, level: "lane" };
    case "teamFor":
    case "teamReduce": {
      const level = nests(stmt, context) ? "lane" : "member";
      return { locals: counted(stmt.name), inLoop: false, level, results: resultsIn(stmt, context) };
    }
    case "if":
    case "let":
    case "assign":
    case "array":
    case "setElement":
    case "store":
    case "scatter":
    case "atomic":
    case "reduce":
    case "reduceJointly":
    case "print":
    case "break":
    case "continue":
      return context;
    default:
      return unreachable(stmt);
  }
}

/** Adds a statement's declarations for the statements after it in its block. */
export function declareName(stmt: Stmt, locals: Locals): void {
  if (stmt.kind === "let") locals.set(stmt.name, { what: "local", type: stmt.type });
  if (stmt.kind === "array") locals.set(stmt.name, { what: "array", type: stmt.type });
  if (stmt.kind === "atomic" && stmt.result !== undefined) locals.set(stmt.result, { what: "local", type: stmt.type });
  if (stmt.kind === "teamReduce") for (const r of stmt.results) locals.set(r.name, { what: "local", type: r.type });
}

/** Nodes inside each other in one expression, and blocks inside each other, at most: passes and emitters recurse on them. */
const DEEPEST = 500;
