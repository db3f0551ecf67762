import { isDouble, isFloat, isInteger, isSigned, isUnsigned, isWide } from "../../ir/scalars.js";
import type * as acorn from "acorn";
import type { Expr, KernelIR, Location, ScalarType, Stmt, Table } from "../../ir/types.js";
import { KernelError } from "../../base/errors.js";
import { REMEDY } from "../read/depth.js";
import { mayLackPlus } from "../read/lost-plus.js";
import type { CompositeType } from "../declare/composite.js";
import type { FunctionSource } from "../read/source.js";
import { convert, asF64, unify, type Unified } from "./types.js";
import { Scope, constantExpr, isLeaf, type FunctionValue, type ScalarValue, type LoweredValue, type LocalVariable } from "./values.js";

/** Knowledge of a local's type from earlier attempts. */
interface Learnt {
  type: ScalarType;
  weak?: "int" | "float";
}
/** The shape of what a function returns. */
export type ReturnShape =
  | { kind: "scalar" }
  | { kind: "void" }
  | { kind: "tuple"; items: ReturnShape[] }
  | { kind: "record"; of?: CompositeType; fields: Map<string, ReturnShape> };

/**
 * Knowledge that attempts to lower a kernel leave to the next one. The text is read from top to bottom, but a variable's type may become known below
 * its first use; then the kernel is lowered again.
 */
export class Knowledge {
  readonly types = new Map<string, Learnt>();
  readonly shapes = new Map<string, ReturnShape>();
  /** Loops that look counted, but whose body changes what they count to. */
  readonly uncounted = new Set<string>();
  /** Something was learnt in this attempt: its code and its errors mean nothing. */
  fresh = false;
}

/** A function being inlined, or the kernel itself: where its returns go. */
export interface CallFrame {
  key: string;
  result?: LoweredValue;
  /** `bare`: there is a return without a value. */
  returns: { bare?: boolean };
  /** The `switch` that a `break` without a label leaves; undefined where that is a loop. */
  leaves?: string;
}

export type ExpressionNode = acorn.Expression | acorn.PrivateIdentifier | acorn.SpreadElement | acorn.Super;

/** Lowers nodes of every kind. */
interface Dispatch {
  expression(cx: Lowering, node: ExpressionNode, scope: Scope): LoweredValue;
  effect(cx: Lowering, node: acorn.Expression, scope: Scope): void;
  statement(cx: Lowering, node: acorn.Statement, scope: Scope, frame: CallFrame): void;
}

/** Nodes inside each other over all functions that are inlined; one function has up to 400 (see depth.ts). */
const DEEPEST = 500;

type Kept = Extract<Stmt, { kind: "let" }>;

/** The state of one attempt to lower one kernel. */
export class Lowering {
  out: Stmt[] = [];
  /** Functions being inlined, outermost first; the kernel's own is the first. */
  readonly stack: FunctionValue[] = [];
  /** Methods of a team, and of the lanes of a member, whose functions are being inlined: at most two. */
  readonly shared: string[] = [];
  source: FunctionSource;
  /** Tells apart the places where one function is inlined. */
  path = "";
  /** Locals that operands are kept in, by name. */
  private readonly kept = new Map<string, Kept>();
  /** The function of `c.march` is being inlined. */
  marching = false;
  /** The variable that is being declared, which a new array is named after. */
  arrayName: string | undefined;
  private readonly used: Set<string>;
  /** The last number given to a wish. */
  private readonly numbers = new Map<string, number>();
  private maskName: string | undefined;
  /** Nodes that are being lowered, each inside of the one before it or in a function that this calls. */
  private depth = 0;
  private readonly mutable = new Set<string>();

  constructor(
    readonly ir: KernelIR,
    readonly knowledge: Knowledge,
    readonly globals: Scope,
    readonly debug: boolean,
    /** The body of a container, not a kernel. */
    private readonly container: boolean,
    source: FunctionSource,
    private readonly dispatch: Dispatch,
  ) {
    this.source = source;
    this.used = new Set([...ir.params, ...ir.tables].map((p) => p.name));
  }

  get tables(): Table[] {
    return this.ir.tables;
  }

  /** Lowers an expression. What it does besides giving a value goes before the statement in which it stands. */
  expression(node: ExpressionNode, scope: Scope): LoweredValue {
    this.enter(node);
    const value = this.dispatch.expression(this, node, scope);
    this.depth--;
    return value;
  }

  /** An expression that stands as a statement. */
  effect(node: acorn.Expression, scope: Scope): void {
    this.dispatch.effect(this, node, scope);
  }

  statement(node: acorn.Statement, scope: Scope, frame: CallFrame): void {
    this.enter(node);
    this.dispatch.statement(this, node, scope, frame);
    this.depth--;
  }

  /** Lowering is given up at its first error: an engine that has no stack left may end the process instead of throwing one. */
  private enter(node: acorn.Node): void {
    if (++this.depth > DEEPEST) this.fail(node, "calls of functions nest too deep", REMEDY);
  }

  at(node: acorn.Node): Location {
    return this.source.locate(node);
  }

  fail(node: acorn.Node, problem: string, remedy?: string): never {
    const inside = this.source.found || this.stack.length < 2 ? "" : `in ${this.stack[this.stack.length - 1].name || "a function"}: `;
    throw new KernelError(this.ir.name, this.at(node), inside + problem, remedy);
  }

  /** How to list something that the code captures. */
  declaration(name: string): string {
    const [call, element] = this.container ? ["container", "c"] : this.ir.policy.kind === "team" ? ["teamKernel", "team"] : ["kernel", "i"];
    return `${call}(name, { ... }, ({ ... }, ${element}) => ..., () => [${name}])`;
  }

  /** A name not yet used in the kernel, and not a keyword of a target. */
  unique(wanted: string): string {
    const base = wanted.replace(/[^A-Za-z0-9_]/g, "_").replace(/^(?=\d)/, "_");
    for (let n = (this.numbers.get(base) ?? 0) + 1; ; n++) {
      const name = n === 1 && !KEYWORDS.has(base) ? base : `${base}_${n}`;
      if (!this.used.has(name)) {
        this.used.add(name);
        this.numbers.set(base, n);
        return name;
      }
    }
  }

  /** The view that tells which cells of the grid are active; declared at first use. */
  mask(): string {
    if (this.maskName === undefined) {
      this.maskName = this.unique("active");
      const rank = this.ir.policy.kind === "range" ? this.ir.policy.rank : 0;
      this.ir.params.push({ kind: "view", name: this.maskName, element: "u8", rank, disjoint: false });
    }
    return this.maskName;
  }

  /** Runs `body` with its statements going to a list of their own. */
  collect<T>(body: () => T): { stmts: Stmt[]; value: T } {
    const outer = this.out;
    this.out = [];
    try {
      const value = body();
      return { stmts: this.out, value };
    } finally {
      this.out = outer;
    }
  }

  /**
   * Runs `parts` one after the other. Where the statements of a later one have effects, the values of earlier ones are first put where
   * those cannot change them: an expression reads its operands from left to right.
   */
  inOrder<T>(parts: readonly (() => T)[], materialise: (value: T, part: number) => T): T[] {
    const values: T[] = [];
    for (const part of parts) {
      const { stmts, value } = this.collect(part);
      if (stmts.some((s) => s.kind !== "let")) values.forEach((v, n) => (values[n] = materialise(v, n)));
      this.out.push(...stmts);
      values.push(value);
    }
    return values;
  }

  /** Declares a local that can be assigned; its type comes from the first value unless an earlier attempt knew better. */
  declare(name: string, node: acorn.Node, init?: ScalarValue): LocalVariable {
    const key = `${this.path}/${node.start}:${name}`;
    const learnt = this.knowledge.types.get(key);
    const { type, weak } = learnt ?? { type: init?.expr.type ?? "i32", weak: init ? init.weak : "int" };
    const variable: LocalVariable = {
      kind: "variable",
      name: this.unique(name),
      type,
      weak,
      constant: false,
      key,
      open: !!(learnt ?? weak),
      ...(init ? {} : { later: true as const }),
    };
    this.mutable.add(variable.name);
    this.out.push({ kind: "let", name: variable.name, type, init: init && this.fit(init, variable, node), location: this.at(node) });
    return variable;
  }

  assign(variable: LocalVariable, value: ScalarValue, node: acorn.Node): void {
    if (variable.constant) this.fail(node, `${variable.name} is assigned but cannot change here`, "declare another variable with let");
    this.out.push({ kind: "assign", name: variable.name, value: this.fit(value, variable, node), location: this.at(node) });
  }

  /** `value` in the type of the variable; fixes the type of a variable that has only held literals so far. */
  fit(value: ScalarValue, variable: LocalVariable, node: acorn.Node): Expr {
    const { type } = value.expr;
    if (variable.weak && !value.weak) this.learn(variable, { type });
    else if (variable.weak === "int" && value.weak === "float") this.learn(variable, { type: "f64", weak: "float" });
    else if (variable.weak === "int" && value.expr.op === "const" && isUnsigned(type) && isSigned(variable.type))
      this.learn(variable, { type, weak: "int" });
    else if (!value.weak && widens(variable, type)) this.learn(variable, { type });
    return this.converted(value, variable.type, node, `${variable.name} is ${variable.type}`);
  }

  private learn(variable: LocalVariable, learnt: Learnt): void {
    Object.assign(variable, { weak: undefined, ...learnt });
    this.knowledge.types.set(variable.key, learnt);
    this.knowledge.fresh = true;
  }

  /** `value` as `type`, or an error that begins with `what`. */
  converted(value: ScalarValue, type: ScalarType, node: acorn.Node, what: string): Expr {
    const result = convert(value, type);
    return "found" in result ? this.fail(node, `${what}, but here is ${result.found}`, result.remedy) : this.widened(result, node);
  }

  /** Widens operands for minifiers, which drop the plus of `+n * 3`: if an integer becomes f64, so do the sums and products that made it. */
  private widened(expr: Expr, node: acorn.Node): Expr {
    const isWidened = expr.op === "cast" && isDouble(expr.type) && isInteger(expr.a.type);
    return isWidened && mayLackPlus(this.source, node) ? asF64(expr.a) : expr;
  }

  /** `value` in the type of the array that takes it. */
  stored(value: ScalarValue, type: ScalarType, node: acorn.Node, array: string): Expr {
    const result = convert(value, type);
    if ("found" in result) return this.fail(node, `${array} holds ${type}, and ${result.found} is stored into it`, result.remedy);
    return this.widened(result, node);
  }

  unified(a: ScalarValue, b: ScalarValue, node: acorn.Node): Unified {
    const result = unify(a, b);
    if ("problem" in result) return this.fail(node, result.problem, result.remedy);
    return { ...result, a: this.widened(result.a, node), b: this.widened(result.b, node) };
  }

  /** The value as it is now: itself if nothing can change it, else a new constant local. */
  materialiseScalar(value: ScalarValue, node: acorn.Node, name = "t"): ScalarValue {
    const { expr } = value;
    if (isLeaf(expr) && !(expr.op === "local" && this.mutable.has(expr.name))) return value;
    const local = this.unique(name);
    const kept: Kept = { kind: "let", name: local, type: expr.type, init: expr, location: this.at(node) };
    this.kept.set(local, kept);
    this.out.push(kept);
    return { kind: "scalar", expr: { op: "local", type: expr.type, name: local }, weak: value.weak };
  }

  /** Changes the value of a local that an operand was kept in. */
  reviseKept(name: string, revise: (init: Expr) => Expr): void {
    const kept = this.kept.get(name);
    if (kept?.init) kept.init = revise(kept.init);
  }

  /** The same for values of all kinds: a row of a view keeps the indices that it has now. */
  materialise(value: LoweredValue, node: acorn.Node, name = "t"): LoweredValue {
    switch (value.kind) {
      case "scalar":
        return this.materialiseScalar(value, node, name);
      case "variable":
        return value.constant ? value : this.materialiseScalar(readVariable(value), node, name);
      case "view":
      case "table":
        return { ...value, prefix: value.prefix.map((e) => this.materialiseScalar({ kind: "scalar", expr: e }, node, "at").expr) };
      case "components":
        return { ...value, cell: value.cell.map((e) => this.materialiseScalar({ kind: "scalar", expr: e }, node, "at").expr) };
      case "record":
        if (value.variable === undefined && !value.lazy) return value;
        return {
          kind: "record",
          of: value.of,
          fields: new Map([...value.fields].map(([field, part]) => [field, this.materialise(part, node, `${name}_${field}`)])),
        };
      // Any other value does not change, and is its own copy.
      default:
        return value;
    }
  }

  /** A truth value of the lowering's own, declared here. */
  flag(wish: string, node: acorn.Node, value: boolean): LocalVariable {
    const name = this.unique(wish);
    this.out.push({ kind: "let", name, type: "bool", init: constantExpr("bool", value), location: this.at(node) });
    return { kind: "variable", name, type: "bool", constant: false, key: `${this.path}:${wish}`, open: false };
  }
}

/** `let s = 0` may hold an integer on one path and a float on another, as in plain TypeScript. */
function widens(variable: LocalVariable, type: ScalarType): boolean {
  if (!variable.open || type === "bool" || variable.type === "bool" || type === variable.type) return false;
  if (isWide(variable.type)) return false;
  return isFloat(type) && (isInteger(variable.type) || isDouble(type));
}

export const readVariable = (v: LocalVariable): ScalarValue => ({
  kind: "scalar",
  expr: { op: "local", type: v.type, name: v.name },
  weak: v.weak,
});

/** Words that some target keeps for itself. */
const KEYWORDS = new Set(
  (
    "abs alignas alignof and asm auto bool break case catch char class const constexpr continue decltype default delete device do double else enum " +
    "explicit export extern false float fn for friend goto if inline int kernel let long loop main mutable namespace new not null operator or private protected " +
    "public register restrict return shared short signed sizeof static struct switch template this throw true try typedef typename union unsigned using " +
    "var virtual void volatile while with yield await function import in of super instanceof arguments eval undefined NaN Infinity Math " +
    "blockIdx blockDim threadIdx gridDim warpSize min max sqrt exp log sin cos tan pow floor ceil fabs y0 y1 yn j0 j1 jn gamma signgam"
  ).split(" "),
);
