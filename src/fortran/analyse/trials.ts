import { own } from "../../base/own.js";
import { unreachable } from "../../base/unreachable.js";
import type { Apply, ActualArgument, Expr, Stmt } from "../tree/index.js";
import { findAllocation } from "./allocations.js";
import { findNamed, findProcedure, ownerOf, namedVariable, type UnitScope, type Variable } from "./symbols.js";
import { bodiesOf, eachStatement, namesInTree } from "./visit.js";
import { variableName } from "./walk.js";
import { writesOf } from "./writes.js";

/*
 * Integers that routines work out on the host, for values of their variables that are drawn at random: two formulas that agree in all trials, such
 * as the formulas of a launch and of a guard, are taken to be the same.
 */

/** A number; `isReal` says how it is divided. */
interface Value {
  readonly n: number;
  readonly isReal: boolean;
}

const integer = (n: number): Value => ({ n: Math.trunc(n), isReal: false });
const real = (n: number): Value => ({ n, isReal: true });

/** Arguments of a procedure, by its dummies, as the code has them that calls it. */
interface Call {
  readonly procedure: UnitScope;
  readonly args: ReadonlyMap<string, Expr>;
  readonly caller: UnitScope;
}

/** Sizes are small, middling, large, or beyond what a grid is cut off at. */
const LIMITS = [9, 300, 3000, 1e9];

export class TrialRun {
  /** Values of variables by key, and of expressions that cannot be worked out by text. */
  private values = new Map<string, Value>();
  private state: number;

  constructor(seed: number) {
    this.state = seed * 7919 + 1;
  }

  /** An integer of 1 or more. */
  private draw(): number {
    const next = (): number => (this.state = (this.state * 48271) % 2147483647);
    return 1 + (next() % LIMITS[next() % LIMITS.length]);
  }

  private unknown(key: string, isReal = false): Value {
    const known = this.values.get(key) ?? { n: this.draw(), isReal };
    this.values.set(key, known);
    return known;
  }

  /** Goes through statements that launch kernels; `visit` sees each with the values that variables have there. */
  run(scope: UnitScope, body: readonly Stmt[], visit: (s: Stmt) => void): void {
    for (const s of body) {
      visit(s);
      const variable = s.kind === "assign" && s.target.kind !== "apply" ? namedVariable(scope, s.target) : undefined;
      if (s.kind === "assign" && variable && !variable.dims) {
        this.assign(scope, s.target as Exclude<typeof s.target, Apply>, s.value);
        continue;
      }
      if (launchesIn(s)) {
        const isLoop = s.kind === "do" || s.kind === "do-while" || s.kind === "do-concurrent";
        if (isLoop) this.forget(scope, s);
        const before = this.values;
        for (const inner of bodiesOf(s)) {
          this.values = new Map(before);
          this.run(scope, inner, visit);
        }
        this.values = before;
      }
      this.forget(scope, s);
    }
  }

  private assign(scope: UnitScope, target: Extract<Expr, { kind: "name" | "part" }>, e: Expr): void {
    const sizes = e.kind === "apply" && variableName(e) === "dim3" ? e.args : undefined;
    const { at } = target;
    const parts = sizes ? ["x", "y", "z"].map((name): Expr => ({ kind: "part", base: target, name, at })) : [target];
    const values = sizes ? parts.map((_, n) => (sizes[n] ? this.argument(scope, sizes[n]) : integer(1))) : [this.value(scope, e)];
    parts.forEach((part, n) => {
      const variable = namedVariable(scope, part);
      if (variable) this.values.set(keyOf(variable), variable.type === "i32" ? integer(values[n].n) : values[n]);
    });
  }

  /** Forgets the values that a statement may assign. */
  private forget(scope: UnitScope, s: Stmt): void {
    for (const name of changedBy(scope, s))
      for (const [key, value] of this.values)
        if (key.endsWith(` ${name}`) || key.includes(` ${name}(`) || key.includes(` ${name}_`))
          this.values.set(key, { ...value, n: this.draw() });
  }

  private argument(scope: UnitScope, arg: ActualArgument, call?: Call): Value {
    return arg.kind === "value" ? this.value(scope, arg.value, call) : this.unknown("section");
  }

  /** Value of an expression in a scope; with `call`, in a procedure that is called here. */
  value(scope: UnitScope, e: Expr, call?: Call): Value {
    switch (e.kind) {
      case "literal":
        return e.type === "real" ? real(Number(e.text.replace(/d/i, "e"))) : integer(Number(e.text));
      case "group":
        return this.value(scope, e.a, call);
      case "unary": {
        const { n, isReal } = this.value(scope, e.a, call);
        return { n: e.op === "-" ? -n : n, isReal };
      }
      case "binary": {
        const [a, b] = [this.value(scope, e.a, call), this.value(scope, e.b, call)];
        const n = own(COMPUTE, e.op)?.(a.n, b.n);
        if (n === undefined) return this.unknown(textOf(e, a, b));
        return a.isReal || b.isReal ? real(n) : integer(n);
      }
      case "name":
      case "part":
        return this.variable(scope, e, call);
      case "apply":
        return this.applied(scope, e, call);
      case "complex":
        return this.unknown("a complex number");
      case "constructor":
        return integer(NaN);
      default:
        return unreachable(e);
    }
  }

  private variable(scope: UnitScope, e: Extract<Expr, { kind: "name" | "part" }>, call?: Call): Value {
    const given = call && substituted(scope, e, call);
    if (given) return this.value(call.caller, given);
    const variable = namedVariable(scope, e);
    if (!variable) return this.unknown(`? ${variableName(e)}`);
    if (variable.value) return this.value(variable.scope, variable.value);
    return this.unknown(keyOf(variable), variable.type !== "i32");
  }

  private applied(scope: UnitScope, e: Apply, call?: Call): Value {
    const name = variableName(e);
    const array = namedVariable(scope, e.base);
    if (!array?.dims && !findProcedure(scope, name)) {
      if (name === "size" && e.args[0]?.kind === "value") return this.size(scope, e, call);
      const args = e.args.map((arg) => this.argument(scope, arg, call));
      const of = args.some(({ isReal }) => isReal) ? real : integer;
      const [a, b] = args.map(({ n }) => n);
      const convert = own(CONVERT, name);
      if (convert) return convert(a);
      if (name === "max" || name === "min") return of(Math[name](...args.map(({ n }) => n)));
      if (name === "mod") return of(a % b);
      if (name === "abs") return of(Math.abs(a));
    }
    const given = call && array ? substituted(scope, e.base, call) : undefined;
    const actual = given && (given.kind === "name" || given.kind === "part") ? namedVariable(call!.caller, given) : array;
    const args = e.args.map((arg) => this.argument(scope, arg, call).n).join();
    return this.unknown(`${actual ? keyOf(actual) : `? ${name}`}(${args})`, actual ? actual.type !== "i32" : false);
  }

  /** `size(a)`, `size(a, 2)` of an array whose declaration or `allocate` tells it. */
  private size(scope: UnitScope, { args, at }: Apply, call?: Call): Value {
    const [of, which] = args.map((arg) => (arg.kind === "value" ? arg.value : undefined));
    if (!of || (of.kind !== "name" && of.kind !== "part")) return this.unknown(`size ${at.line}:${at.column}`);
    const given = call && substituted(scope, of, call);
    const array = namedVariable(scope, of);
    const isOpen = array?.dims?.every(({ upper }) => !upper || upper === "*") ?? true;
    if (given && isOpen) {
      const there: Apply = {
        kind: "apply",
        base: { kind: "name", name: "size", at },
        args: [{ kind: "value", value: given }, ...args.slice(1)],
        at,
      };
      return this.size(call.caller, there);
    }
    const allocation = array && findAllocation(array);
    const bounds = allocation?.bounds ?? array?.dims ?? [];
    const home = allocation?.scope ?? (array?.dummy ? scope : (array?.scope ?? scope));
    const axis = which ? this.value(scope, which, call).n : undefined;
    const extents = bounds.map(({ lower, upper }, n) => {
      if (!upper || upper === "*") return this.unknown(`${keyOf(array!)}(size ${n})`).n;
      const inner = home === scope ? call : undefined;
      return this.value(home, upper, inner).n - (lower ? this.value(home, lower, inner).n : 1) + 1;
    });
    return integer(axis === undefined ? extents.reduce((a, b) => a * b, 1) : (extents[axis - 1] ?? NaN));
  }
}

const LAUNCHING = new WeakMap<Stmt, boolean>();

/** Whether a statement holds launches. */
function launchesIn(s: Stmt): boolean {
  const known = LAUNCHING.get(s);
  if (known !== undefined) return known;
  let found = false;
  eachStatement([s], (inner) => void (found ||= inner.kind === "call" && inner.launch !== undefined));
  LAUNCHING.set(s, found);
  return found;
}

const CHANGED = new WeakMap<Stmt, readonly string[]>();

/** Names that a statement may assign, here or where they are declared; a procedure that is not read assigns all its arguments. */
function changedBy(scope: UnitScope, s: Stmt): readonly string[] {
  const known = CHANGED.get(s);
  if (known) return known;
  const written = writesOf(scope, [s]);
  eachStatement([s], (call) => {
    if (call.kind !== "call" || (call.procedure.kind === "name" && findProcedure(scope, call.procedure.name))) return;
    for (const name of namesInTree(call.args)) written.add(name);
  });
  const names = [...written].flatMap((name) => [name, findNamed(scope, name)?.name ?? name]);
  CHANGED.set(s, names);
  return names;
}

const COMPUTE: Readonly<Record<string, (a: number, b: number) => number>> = {
  "+": (a, b) => a + b,
  "-": (a, b) => a - b,
  "*": (a, b) => a * b,
  "/": (a, b) => a / b,
  "**": (a, b) => a ** b,
};

const CONVERT: Readonly<Record<string, (a: number) => Value>> = {
  ceiling: (a) => integer(Math.ceil(a)),
  floor: (a) => integer(Math.floor(a)),
  int: integer,
  nint: (a) => integer(Math.sign(a) * Math.round(Math.abs(a))),
  real,
  dble: real,
  float: real,
};

const textOf = ({ op }: { readonly op: string }, a: Value, b: Value): string => `${a.n} ${op} ${b.n}`;

/** Tells variables apart; ends in the name. */
const keyOf = (variable: Variable): string => `${variable.scope.world.scopes.indexOf(ownerOf(variable))} ${variable.name}`;

/** The actual argument, or its component, that a dummy or a component of one stands for. */
function substituted(scope: UnitScope, e: Expr, { procedure, args }: Call): Expr | undefined {
  if (scope !== procedure) return undefined;
  if (e.kind === "name") return args.get(e.name);
  const base = e.kind === "part" ? substituted(scope, e.base, { procedure, args, caller: scope }) : undefined;
  return base && ({ ...e, base } as Expr);
}
