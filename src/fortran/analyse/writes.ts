import { own as owned } from "../../base/own.js";
import type { Expr, Stmt, Designator as Target } from "../tree/index.js";
import { controlFlow, readsPart } from "./flow.js";
import { find, findNamed, findProcedure, ownerOf, proceduresSeen, type UnitScope, type Variable } from "./symbols.js";
import { bare, expressionsOf, variableName, namesInExpr, visitExpr } from "./walk.js";
import { assignedUnread, bodiesOf, eachStatement, namesInTree } from "./visit.js";

/* Assignments of statements, through the procedures that they call; and the scalars that they read first. */

const OF_PROCEDURES = new WeakMap<UnitScope, Set<string>>();

/** Dummies and module variables that a procedure assigns. */
export function writtenBy(procedure: UnitScope): Set<string> {
  const known = OF_PROCEDURES.get(procedure);
  if (known) return known;
  const written = new Set<string>();
  OF_PROCEDURES.set(procedure, written);
  const { unit } = procedure;
  if (unit.kind === "module") return written;
  for (const name of writesOf(procedure, unit.body)) {
    const variable = findNamed(procedure, name);
    if (!variable || ownerOf(variable) !== procedure || (variable.dummy && !variable.attributes.has("value"))) written.add(name);
  }
  return written;
}

/** Names that statements assign, of scalars and arrays. */
export function writesOf(scope: UnitScope, stmts: readonly Stmt[]): Set<string> {
  const written = new Set<string>();
  eachStatement(stmts, (stmt) => {
    for (const name of ownWrites(scope, stmt)) written.add(name);
  });
  return written;
}

/** Scalars that statements assign themselves, not by calls. */
export function assignedPlainly(stmts: readonly Stmt[]): Set<string> {
  const found = new Set<string>();
  eachStatement(stmts, (stmt) => void (stmt.kind === "assign" && stmt.target.kind === "name" && found.add(stmt.target.name)));
  return found;
}

/** The variables that statements assign, also in procedures that they call. */
export function assignedIn(scope: UnitScope, stmts: readonly Stmt[]): Variable[] {
  const found = new Map<UnitScope, Map<string, Variable>>();
  const add = (variable: Variable | undefined): void => {
    if (!variable) return;
    const owner = ownerOf(variable);
    found.set(owner, (found.get(owner) ?? new Map<string, Variable>()).set(variable.name, variable));
  };
  for (const name of writesOf(scope, stmts)) add(findNamed(scope, name));
  for (const called of calledBy(scope, stmts))
    for (const name of writtenBy(called)) {
      const variable = findNamed(called, name);
      if (variable && !variable.dummy) add(variable);
    }
  return [...found.values()].flatMap((of) => [...of.values()]);
}

/** Names in statements of variables that procedures called there assign, by whatever name. */
export function assignedByCalls(scope: UnitScope, stmts: readonly Stmt[]): Set<string> {
  const assigned = [...calledBy(scope, stmts)].flatMap((called) => [...writtenBy(called)].flatMap((name) => findNamed(called, name) ?? []));
  const isAssigned = (variable: Variable): boolean =>
    assigned.some((other) => !other.dummy && other.name === variable.name && ownerOf(other) === ownerOf(variable));
  return new Set([...namesInTree(stmts)].filter((name) => [findNamed(scope, name)].some((variable) => variable && isAssigned(variable))));
}

/** The procedures that statements call, and those that these do. */
export function calledBy(scope: UnitScope, stmts: readonly Stmt[], found = new Set<UnitScope>()): Set<UnitScope> {
  const add = (name: string): void => {
    const called = find(scope, name)?.dims ? undefined : findProcedure(scope, name);
    if (called?.unit.kind !== "procedure" || found.has(called)) return;
    found.add(called);
    calledBy(called, called.unit.body, found);
  };
  eachStatement(stmts, (stmt) => {
    if (stmt.kind === "call" && stmt.procedure.kind === "name") add(stmt.procedure.name);
    for (const root of expressionsOf(stmt)) visitExpr(root, (e) => void (e.kind === "apply" && e.base.kind === "name" && add(e.base.name)));
  });
  return found;
}

function ownWrites(scope: UnitScope, stmt: Stmt): string[] {
  const calls = expressionsOf(stmt).flatMap((root) => {
    const names: string[] = [];
    visitExpr(root, (e) => {
      if (e.kind === "apply" && e.base.kind === "name") names.push(...writesOfCall(scope, e.base.name, e.args));
    });
    return names;
  });
  switch (stmt.kind) {
    case "assign":
    case "pointer-assign":
      return [variableName(stmt.target), ...calls];
    case "do":
      return [stmt.variable, ...calls];
    case "do-concurrent":
      return [...stmt.axes.map(({ variable }) => variable), ...calls];
    case "call":
      return [...(stmt.procedure.kind === "name" ? writesOfCall(scope, stmt.procedure.name, stmt.args) : []), ...calls];
    case "associate": {
      const inner = writesOf(scope, stmt.body);
      const behind = stmt.names.flatMap(({ name, value }) => (isTarget(value) ? renamed(inner, name, variableName(value)) : []));
      return [...behind, ...calls];
    }
    case "unsupported":
      return [assignedUnread(stmt) ?? [], calls].flat();
    // Any other statement assigns by its calls alone.
    default:
      return calls;
  }
}

function writesOfCall(scope: UnitScope, name: string, args: Extract<Expr, { kind: "apply" }>["args"]): string[] {
  if (find(scope, name)?.dims) return [];
  const procedure = findProcedure(scope, name);
  if (procedure?.unit.kind !== "procedure") return [];
  const written = writtenBy(procedure);
  const { dummies } = procedure.unit;
  const isDummy = (other: string): boolean => findNamed(procedure, other)?.dummy === true;
  const own = new Set([...written].filter(isDummy));
  const through = args.flatMap((arg, n) =>
    arg.kind === "value" && isTarget(arg.value) ? renamed(own, arg.keyword ?? dummies[n], variableName(arg.value)) : [],
  );
  return [...through, ...[...written].filter((other) => !own.has(other))];
}

/** A name and the names of its components, under another name. */
const renamed = (names: ReadonlySet<string>, from: string, to: string): string[] =>
  [...names].flatMap((name) => (name === from || name.startsWith(`${from}_`) ? [to + name.slice(from.length)] : []));

const isTarget = (e: Expr): e is Target => e.kind === "name" || e.kind === "part" || e.kind === "apply";

/** Names that some path reads before it assigns them: their values come from before. */
export function readFirst(scope: UnitScope, stmts: readonly Stmt[], names: ReadonlySet<string>): Set<string> {
  const flow = controlFlow(stmts, proceduresSeen(scope));
  return new Set([...names].filter((name) => (findNamed(scope, name)?.component ? readsPart(flow, name) : flow.readFirst.has(name))));
}

/** Names of `max` and `min` for one type of arguments. */
export const EXTREMES: Readonly<Record<string, "max" | "min">> = {
  max: "max",
  amax1: "max",
  dmax1: "max",
  max0: "max",
  min: "min",
  amin1: "min",
  dmin1: "min",
  min0: "min",
};

/** Whether `s` occurs only as an accumulation: `s = s + e`, `s = max(s, e)`, `if (e > s) s = e`; by which operation. */
export function accumulation(name: string, stmts: readonly Stmt[]): string | undefined {
  const ops = new Set<string>();
  const reads = (e: Expr): number => {
    let count = 0;
    visitExpr(e, (at) => void (at.kind === "name" && at.name === name && count++));
    return count;
  };
  const visit = (stmt: Stmt): void => {
    if (stmt.kind === "assign" && stmt.target.kind === "name" && stmt.target.name === name) {
      const op = reads(stmt.value) === 1 ? opOf(name, bare(stmt.value)) : undefined;
      ops.add(op ?? "?");
      return;
    }
    const compared = stmt.kind === "if" ? comparedOp(name, stmt) : undefined;
    if (compared) {
      ops.add(compared);
      return;
    }
    if (stmt.kind === "do" && stmt.variable === name) ops.add("?");
    if (expressionsOf(stmt).some((e) => reads(e) > 0)) ops.add("?");
    for (const block of bodiesOf(stmt)) block.forEach(visit);
  };
  stmts.forEach(visit);
  return ops.size === 1 && !ops.has("?") ? [...ops][0] : undefined;
}

const isName = (e: Expr, name: string): boolean => bare(e).kind === "name" && (bare(e) as { name: string }).name === name;

/** The operation of `s op e`, where `s` may stand at the left of a chain of additions. */
function opOf(name: string, value: Expr): string | undefined {
  if (value.kind === "binary") {
    const { op, a, b } = value;
    if (op === "+" && isName(b, name)) return "+";
    if (op === "+" || op === "-") return isName(a, name) || (a.kind === "binary" && opOf(name, a) === "+") ? "+" : undefined;
    if (["*", ".and.", ".or.", ".eqv.", ".neqv."].includes(op)) return isName(a, name) || isName(b, name) ? op : undefined;
  }
  if (value.kind !== "apply" || value.base.kind !== "name") return undefined;
  const op = ["iand", "ior", "ieor"].includes(value.base.name) ? value.base.name : owned(EXTREMES, value.base.name);
  return value.args.some((arg) => arg.kind === "value" && isName(arg.value, name)) ? op : undefined;
}

/** `if (e > s) s = e`, also `if (c .and. e > s) s = e`. */
const comparedOp = (name: string, stmt: Extract<Stmt, { kind: "if" }>): string | undefined => extremeBranch(name, stmt)?.op;

/** Branch that keeps the greater or lesser of two values, and the other conditions around it. */
export function extremeBranch(
  name: string,
  stmt: Extract<Stmt, { kind: "if" }>,
): { readonly op: "max" | "min"; readonly others: readonly Expr[] } | undefined {
  const [branch] = stmt.branches;
  const [only, ...more] = branch.body.filter(({ kind }) => kind !== "comment");
  const simple = stmt.branches.length === 1 && !stmt.otherwise?.length && more.length === 0;
  if (!simple || only?.kind !== "assign" || !isName(only.target, name)) return undefined;
  const conditions = conjuncts(branch.cond);
  const compared = conditions.map((cond) => extremeOf(name, cond, only.value));
  const op = compared.find((each) => each !== undefined);
  const others = conditions.filter((_, n) => compared[n] === undefined);
  const reads = [only.value, ...others].some((e) => namesInExpr(e).has(name));
  return op && !reads && others.length === conditions.length - 1 ? { op, others } : undefined;
}

/** Extremum kept by `e > s` or the like, where `value` is `e`. */
function extremeOf(name: string, compared: Expr, value: Expr): "max" | "min" | undefined {
  const cond = bare(compared);
  if (cond.kind !== "binary") return undefined;
  const same = (e: Expr): boolean => text(e) === text(value);
  const greater = cond.op === ">" || cond.op === ">=";
  if (!greater && cond.op !== "<" && cond.op !== "<=") return undefined;
  if (isName(cond.b, name) && same(cond.a)) return greater ? "max" : "min";
  if (isName(cond.a, name) && same(cond.b)) return greater ? "min" : "max";
  return undefined;
}

/** The conditions that all hold if an expression is true. */
export function conjuncts(e: Expr): Expr[] {
  const inner = bare(e);
  return inner.kind === "binary" && inner.op === ".and." ? [...conjuncts(inner.a), ...conjuncts(inner.b)] : [inner];
}

/** An expression without its places, to compare two. */
export const text = (e: Expr): string => JSON.stringify(bare(e), (key, value: unknown) => (key === "at" ? undefined : value));
