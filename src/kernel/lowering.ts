import type * as acorn from "acorn";
import type { Expr, KernelIR, Location, ScalarType, Stmt, Table } from "../ir/types.js";
import { KernelError } from "./errors.js";
import type { FunctionSource } from "./source.js";
import { convert, meet, type Clash, type Met } from "./types.js";
import { Scope, constant, isFloat, isInteger, isLeaf, type ScalarValue, type Value, type Variable } from "./values.js";

/** Thrown when a variable turns out to need another type: the kernel is lowered again with what was learnt. */
export class Restart extends Error {}

/** What is known of a local's type from earlier attempts. */
export interface Learnt {
  type: ScalarType;
  weak?: "int" | "float";
}
/** The shape of what a function returns. */
export type Shape = { kind: "scalar" } | { kind: "void" } | { kind: "tuple"; items: Shape[] } | { kind: "record"; fields: Map<string, Shape> };

export interface Knowledge {
  types: Map<string, Learnt>;
  shapes: Map<string, Shape>;
}

/** A function being inlined, or the kernel itself: where its returns go. */
export interface Frame {
  key: string;
  result?: Value;
  /** Set once the function has returned, where control flow cannot say so. */
  returned?: Variable;
  /** Loops of this function around the current statement. */
  loops: number;
}

/** The state of one attempt to lower one kernel; statements.ts, expressions.ts and calls.ts work on it. */
export class Lowering {
  out: Stmt[] = [];
  readonly tables: Table[] = [];
  private readonly used = new Set<string>();
  /** Functions being inlined, outermost first. */
  readonly stack: string[] = [];
  source: FunctionSource;
  path = "";

  constructor(
    readonly ir: KernelIR,
    readonly knowledge: Knowledge,
    readonly globals: Scope,
    readonly debug: boolean,
    source: FunctionSource,
  ) {
    this.source = source;
    for (const p of ir.params) this.used.add(p.name);
  }

  at(node: acorn.Node): Location {
    return this.source.locate(node);
  }

  fail(node: acorn.Node, problem: string, remedy?: string): never {
    throw new KernelError(this.ir.name, this.at(node), problem, remedy);
  }

  /** A name not yet used in the kernel that is no keyword of a target. */
  unique(wanted: string): string {
    const base = wanted.replace(/[^A-Za-z0-9_]/g, "_").replace(/^(?=\d)/, "_");
    for (let n = 1; ; n++) {
      const name = n === 1 && !KEYWORDS.has(base) ? base : `${base}_${n}`;
      if (!this.used.has(name)) {
        this.used.add(name);
        return name;
      }
    }
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

  /** Declares a local; its type is that of the first value unless an earlier attempt knew better. */
  declare(name: string, node: acorn.Node, init: ScalarValue | undefined, constantName = false, part = ""): Variable {
    const key = `${this.path}/${node.start}:${name}${part}`;
    const learnt = this.knowledge.types.get(key);
    const type = learnt?.type ?? init?.expr.type ?? "f64";
    const weak = learnt ? learnt.weak : init ? init.weak : "float";
    const variable: Variable = { kind: "variable", name: this.unique(name), type, weak, constant: constantName, key, result: part.startsWith(":result") };
    this.out.push({ kind: "let", name: variable.name, type, init: init && this.fit(init, variable, node), location: this.at(node) });
    return variable;
  }

  assign(variable: Variable, value: ScalarValue, node: acorn.Node): void {
    if (variable.constant) this.fail(node, `${variable.name} is assigned but cannot change here`, "declare another variable with let");
    this.out.push({ kind: "assign", name: variable.name, value: this.fit(value, variable, node), location: this.at(node) });
  }

  /** `value` in the type of the variable; widens a variable that has only held literals so far. */
  fit(value: ScalarValue, variable: Variable, node: acorn.Node): Expr {
    if (variable.weak && !value.weak) {
      variable.weak = undefined;
      this.learn(variable.key, { type: value.expr.type }, variable.type !== value.expr.type);
    } else if (variable.weak === "int" && value.weak === "float") {
      this.learn(variable.key, { type: "f64", weak: "float" }, true);
    } else if (!value.weak) {
      const type = this.widened(variable, value.expr.type);
      if (type) this.learn(variable.key, { type }, true);
    }
    return this.converted(value, variable.type, node, `${variable.name} is ${variable.type}`);
  }

  /** A function may return an integer on one path and a float on another, as in plain TypeScript. */
  private widened(variable: Variable, type: ScalarType): ScalarType | undefined {
    if (!variable.result || type === "bool" || variable.type === "bool" || type === variable.type) return undefined;
    const wider = isFloat(type) && (isInteger(variable.type) || type === "f64");
    return wider ? type : undefined;
  }

  private learn(key: string, learnt: Learnt, restart: boolean): void {
    this.knowledge.types.set(key, learnt);
    if (restart) throw new Restart();
  }

  /** `value` as `type`, or an error that begins with `what`. */
  converted(value: ScalarValue, type: ScalarType, node: acorn.Node, what: string): Expr {
    const result = convert(value, type);
    if (isClash(result)) return this.fail(node, `${what}, but here is ${result.problem.replace(/ where .*/, "")}`, result.remedy);
    return result;
  }

  met(a: ScalarValue, b: ScalarValue, node: acorn.Node): Met {
    const result = meet(a, b);
    return "problem" in result ? this.fail(node, result.problem, result.remedy) : result;
  }

  /** An expression that may be used several times: itself if simple, else a new constant local. */
  hold(value: ScalarValue, node: acorn.Node, name = "t"): ScalarValue {
    if (isLeaf(value.expr)) return value;
    const local = this.unique(name);
    this.out.push({ kind: "let", name: local, type: value.expr.type, init: value.expr, location: this.at(node) });
    return { kind: "scalar", expr: { op: "local", type: value.expr.type, name: local }, weak: value.weak };
  }

  flag(name: string, node: acorn.Node): Variable {
    const variable: Variable = { kind: "variable", name: this.unique(name), type: "bool", constant: false, key: `${this.path}/flag` };
    this.out.push({ kind: "let", name: variable.name, type: "bool", init: constant("bool", false), location: this.at(node) });
    return variable;
  }
}

export const isClash = (x: Expr | Clash): x is Clash => "problem" in x;

export const read = (v: Variable): ScalarValue => ({ kind: "scalar", expr: { op: "local", type: v.type, name: v.name }, weak: v.weak });

/** Words that some target keeps for itself. */
const KEYWORDS = new Set(
  ("abs alignas alignof and asm auto bool break case catch char class const constexpr continue decltype default delete device do double else enum " +
    "explicit export extern false float fn for friend goto if inline int kernel let long loop main mutable namespace new not null operator or private protected " +
    "public register restrict return shared short signed sizeof static struct switch template this throw true try typedef typename union unsigned using " +
    "var virtual void volatile while with yield await function import in of super instanceof arguments eval undefined NaN Infinity Math " +
    "blockIdx blockDim threadIdx gridDim warpSize min max sqrt exp log sin cos tan pow floor ceil fabs y0 y1 yn j0 j1 jn gamma signgam").split(" "),
);
