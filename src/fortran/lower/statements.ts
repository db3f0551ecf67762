import { isIndex } from "../../ir/scalars.js";
import { binary, cast, compare, constant, not, select } from "../../ir/expressions.js";
import { barrier } from "./block-threads.js";
import { inclusiveStop } from "../../ir/loop-stops.js";
import { labelled, leave, type Jump } from "../../ir/structure.js";
import type { Expr, Location, Stmt } from "../../ir/types.js";
import { unreachable } from "../../base/unreachable.js";
import { asBranches } from "../analyse/cases.js";
import { orderOfForall } from "../analyse/forall.js";
import { isBarrier } from "../analyse/regions.js";
import { isOutput } from "../analyse/outputs.js";
import { findNamed, findProcedure, NOT_KNOWN, procedureProblem, type UnitScope } from "../analyse/symbols.js";
import { isTextNumber } from "../analyse/texts.js";
import { eachStatement, nameLeft } from "../analyse/visit.js";
import { bare, expressionsOf, namesIn, visitExpr } from "../analyse/walk.js";
import { calledBy, extremeBranch } from "../analyse/writes.js";
import type { Assign, Do, DoConcurrent, DoWhile, Expr as Tree, If, Print, SelectCase, Stmt as TreeStmt } from "../tree/index.js";
import { withoutAssigned } from "./associates.js";
import { assignArray, where } from "./array-assignment.js";
import { exclusive, isExclusive } from "./atomic.js";
import { fortranConstant } from "./constants.js";
import { designated, indexOf, value, valueAs, withName } from "./expressions.js";
import { variableIn, type ProcedureFrame, type FortranLowering, type Meaning } from "./lowering.js";
import { converted, ONE, signedByte, treeName, Unlowerable } from "./values.js";
import { checkWide } from "./wide.js";

/* Statements. */

export function lowerBody(cx: FortranLowering, list: readonly TreeStmt[], frame: ProcedureFrame): void {
  for (const stmt of list) {
    cx.location = stmt.at;
    const name = nameLeft(stmt);
    if (name === undefined) statement(cx, stmt, frame);
    else leftByName(cx, stmt, name, frame);
  }
}

/** A construct that `exit` leaves by its name: a loop that runs once. */
function leftByName(cx: FortranLowering, stmt: TreeStmt, name: string, frame: ProcedureFrame): void {
  const label = cx.unique(name);
  const { at: location } = stmt;
  frame.loops.push({ name, label, isLoop: false });
  try {
    const list = cx.collect(() => statement(cx, stmt, frame));
    const leaves: Stmt = { kind: "break", location };
    cx.push(labelled({ kind: "while", cond: constant("bool", true), body: [...list, leaves], update: [], location }, label));
  } finally {
    frame.loops.pop();
  }
}

function statement(cx: FortranLowering, stmt: TreeStmt, frame: ProcedureFrame): void {
  const refuse = (construct: string, why: string, remedy?: string): never => {
    throw new Unlowerable(stmt.at, construct, why, remedy);
  };
  switch (stmt.kind) {
    case "assign":
      return assignment(cx, stmt, frame);
    case "if":
      return branches(cx, stmt, frame);
    case "do":
      return counted(cx, stmt, frame);
    case "do-while":
      return whileLoop(cx, stmt, frame);
    case "do-concurrent":
      return concurrent(cx, stmt, frame);
    case "select":
      return selection(cx, stmt, frame);
    case "where":
      return where(cx, stmt, frame);
    case "directed":
      return cx.parallel && isExclusive(stmt) ? exclusive(cx, stmt, frame) : lowerBody(cx, stmt.body, frame);
    case "block":
      return lowerBody(cx, stmt.body, frame);
    case "associate": {
      const meanings = new Map(frame.meanings);
      const objects = new Map(frame.objects);
      const { names, body } = withoutAssigned(stmt, frame);
      for (const { name, value: of } of names) {
        const isObject = (of.kind === "name" || of.kind === "part") && variableIn(frame, of)?.derived;
        objects.delete(name);
        if (isObject) objects.set(name, { frame, of });
        else meanings.set(name, associate(cx, of, frame));
      }
      return lowerBody(cx, body, { ...frame, meanings, objects });
    }
    case "call": {
      const { procedure } = stmt;
      const known = procedure.kind === "name" ? findProcedure(frame.scope, procedure.name) : undefined;
      if (isBarrier(treeName(procedure))) {
        if (cx.ofBlocks) return cx.push(barrier(stmt.at));
        return refuse(
          `call ${treeName(procedure)}`,
          "only threads of a block can wait for each other",
          "call it in an attributes(global) procedure",
        );
      }
      if (!known) {
        const { why, remedy } = procedureProblem(frame.scope, treeName(procedure)) ?? NOT_KNOWN;
        return refuse(`call ${treeName(procedure)}`, why, remedy);
      }
      cx.parts.inline(cx, frame, known, stmt.args, stmt.at);
      return;
    }
    case "exit":
    case "cycle": {
      const loop = frame.loops.findLast(({ name, isLoop }) => (stmt.loop === undefined ? isLoop : name === stmt.loop));
      const isOwn = stmt.loop === undefined || stmt.loop === frame.element?.loopName;
      if (!loop && stmt.kind === "cycle" && isOwn && frame.element) return cx.push(leave(stmt.at) as unknown as Stmt);
      if (!loop)
        return refuse(stmt.kind, stmt.loop === undefined ? "it is not inside a loop" : `it is not inside a loop named ${stmt.loop}`);
      const jump: Jump = { kind: stmt.kind === "exit" ? "break" : "continue", of: loop.label, location: stmt.at };
      return cx.push(jump as unknown as Stmt);
    }
    case "return":
      return cx.push(leave(stmt.at) as unknown as Stmt);
    case "continue":
    case "comment":
      return;
    case "print":
      return print(cx, stmt, frame);
    case "stop":
      return refuse("stop", "a kernel cannot end the program", "set a flag in an array, and check it on the host");
    case "pointer-assign":
      return refuse("=>", "kernels have no pointers", "index the array itself");
    case "allocate":
    case "deallocate":
      return refuse(stmt.kind, "kernels cannot allocate memory", "declare an array with constant bounds");
    case "unsupported":
      if (isOutput(frame.scope, stmt)) return void cx.dropped.push({ at: stmt.at, what: stmt.construct });
      return refuse(stmt.construct, "it is not part of the supported Fortran", remedyFor(stmt.construct));
    default:
      return unreachable(stmt);
  }
}

function remedyFor(construct: string): string | undefined {
  if (construct === "go to") return "write do, if, exit and cycle";
  return construct.startsWith(".") ? "call the operator's function by its name" : undefined;
}

/** `print *, "cell", i, x(i)`. Left out are formats, and items that are neither texts written out nor scalars of kernels. */
function print(cx: FortranLowering, { format, items, at }: Print, frame: ProcedureFrame): void {
  const leaveOut = (): void => void cx.dropped.push({ at, what: "print" });
  if (!cx.parallel || format !== "*") return leaveOut();
  const item = (tree: Tree): string | Expr => {
    if (tree.kind === "literal" && tree.type === "character") return tree.text;
    const found = designated(cx, frame, tree);
    if (found && !("cell" in found)) throw new Unlowerable(at, treeName(tree), "an array is printed", "print its elements");
    const isText = tree.kind === "name" && [variableIn(frame, tree)].some((variable) => variable && isTextNumber(variable));
    if (isText) throw new Unlowerable(at, treeName(tree), "kernels have no character strings", "print it on the host");
    const e = value(cx, frame, tree);
    return e.op === "const" ? String(e.value) : e;
  };
  try {
    let printed: (string | Expr)[] = [];
    const before = cx.collect(() => void (printed = items.map(item)));
    for (const stmt of before) cx.push(stmt);
    cx.push({ kind: "print", items: printed, location: at });
  } catch (error) {
    if (!(error instanceof Unlowerable)) throw error;
    leaveOut();
  }
}

function associate(cx: FortranLowering, e: Tree, frame: ProcedureFrame): Meaning {
  const found = designated(cx, frame, e);
  if (found && !("cell" in found)) return { kind: "array", array: found.array };
  const meaning = e.kind === "name" ? cx.meaning(frame, e) : undefined;
  if (meaning?.kind === "local") return meaning;
  const made = value(cx, frame, e);
  checkWide(cx.wide.has(made) ? "wraps" : undefined, e.at);
  return { kind: "value", expr: cx.stable(made, "associated") };
}

/* Assignments. */

function assignment(cx: FortranLowering, stmt: Assign, frame: ProcedureFrame): void {
  const { target, value: from } = stmt;
  const found = designated(cx, frame, target);
  if (found && "cell" in found) {
    const e = valueAs(cx, frame, found.array.type, from);
    return cx.push(found.cell.store(e, target.at));
  }
  if (found) return assignArray(cx, target, found.array, from, frame);
  if (target.kind === "apply")
    throw new Unlowerable(target.at, treeName(target), "it is not declared as an array", "declare its dimensions");
  const meaning = cx.meaning(frame, target);
  switch (meaning.kind) {
    case "local": {
      const e = valueAs(cx, frame, meaning.type, from);
      return cx.assign(meaning.name, variableIn(frame, target)?.byte ? signedByte(e) : e);
    }
    case "reduction":
      return accumulate(cx, meaning, treeName(target), from, frame);
    case "value":
    case "array":
      throw new Unlowerable(
        target.at,
        treeName(target),
        "it is assigned, and all elements share it",
        "use a variable private to the loop, or a reduction",
      );
    default:
      return unreachable(meaning);
  }
}

/** `s = s + e` and the like: folds `e`. */
function accumulate(
  cx: FortranLowering,
  meaning: Extract<Meaning, { kind: "reduction" }>,
  name: string,
  from: Tree,
  frame: ProcedureFrame,
): void {
  const isIt = (e: Tree): boolean => {
    const inner = bare(e);
    return inner.kind === "name" && inner.name === name;
  };
  const give = (e: Expr): void => {
    const typed = converted(meaning.type, e, from.at);
    cx.push({
      kind: "reduce",
      target: meaning.target,
      value: typed.type === "bool" ? { op: "cast", type: "i32", a: typed } : typed,
      location: cx.location,
    });
  };
  const split = (given: Tree): void => {
    const e = bare(given);
    if (isIt(e)) return;
    if (e.kind === "binary") {
      const left = isIt(e.a) || !isIt(e.b);
      const [own, other] = left ? [e.a, e.b] : [e.b, e.a];
      if (!isIt(own)) split(own);
      const made = value(cx, frame, other);
      return give(e.op === "-" ? { op: "unary", type: made.type, fn: "neg", a: made } : made);
    }
    if (e.kind === "apply") {
      const others = e.args.flatMap((arg) => (arg.kind === "value" && !isIt(arg.value) ? [value(cx, frame, arg.value)] : []));
      return others.forEach(give);
    }
    throw new Unlowerable(from.at, name, "this is not an accumulation", `write ${name} = ${name} + e`);
  };
  split(from);
}

/* Branches. */

function branches(cx: FortranLowering, stmt: If, frame: ProcedureFrame): void {
  for (const [name, meaning] of frame.meanings) {
    const found = meaning.kind === "reduction" ? extremeBranch(name, stmt) : undefined;
    if (!found || meaning.kind !== "reduction") continue;
    const only = stmt.branches[0].body.find((each) => each.kind === "assign")!;
    const fold = (): void =>
      cx.push({ kind: "reduce", target: meaning.target, value: valueAs(cx, frame, meaning.type, only.value), location: stmt.at });
    const guarded = found.others.reduceRight((then, cond) => () => guard(cx, condition(cx, frame, cond), then, stmt.at), fold);
    return guarded();
  }
  const cases = stmt.branches.map((branch) => ({ cond: () => condition(cx, frame, branch.cond), body: branch.body, at: branch.at }));
  chain(cx, cases, stmt.otherwise ?? [], frame);
}

function guard(cx: FortranLowering, cond: Expr, then: () => void, location: Location): void {
  cx.push({ kind: "if", cond, then: cx.collect(then), else: [], location });
}

const condition = (cx: FortranLowering, frame: ProcedureFrame, e: Tree): Expr => {
  const made = value(cx, frame, e);
  if (made.type !== "bool")
    throw new Unlowerable(e.at, treeName(e), "a number is used where a logical value is needed", "compare it: n /= 0");
  return made;
};

interface Case {
  readonly cond: () => Expr;
  readonly body: readonly TreeStmt[];
  readonly at: Location;
}

function chain(cx: FortranLowering, [first, ...rest]: readonly Case[], otherwise: readonly TreeStmt[], frame: ProcedureFrame): void {
  if (!first) return lowerBody(cx, otherwise, frame);
  cx.location = first.at;
  const cond = first.cond();
  // Leaves out branches that a constant excludes: they may name arguments that are absent.
  if (cond.op === "const") return cond.value ? lowerBody(cx, first.body, frame) : chain(cx, rest, otherwise, frame);
  const then = cx.collect(() => lowerBody(cx, first.body, frame));
  const other = cx.collect(() => chain(cx, rest, otherwise, frame));
  cx.push({ kind: "if", cond, then, else: other, location: first.at });
}

function selection(cx: FortranLowering, stmt: SelectCase, frame: ProcedureFrame): void {
  // No name of a program has a blank.
  const name = "value selected";
  const inner = withName(frame, name, cx.kept("selected", value(cx, frame, stmt.value)));
  branches(cx, asBranches({ ...stmt, value: { kind: "name", name, at: stmt.value.at } }), inner);
}

/* Loops. */

function body(cx: FortranLowering, frame: ProcedureFrame, name: string | undefined, list: readonly TreeStmt[], label: string): Stmt[] {
  frame.loops.push({ ...(name !== undefined && { name }), label, isLoop: true });
  try {
    return cx.collect(() => lowerBody(cx, list, frame));
  } finally {
    frame.loops.pop();
  }
}

function counted(cx: FortranLowering, stmt: Do, frame: ProcedureFrame): void {
  const label = cx.unique("loop");
  const meaning = cx.meaning(frame, { kind: "name", name: stmt.variable, at: stmt.at });
  if (meaning.kind !== "local" || !isIndex(meaning.type))
    throw new Unlowerable(
      stmt.at,
      `do ${stmt.variable}`,
      "the variable of a loop has to be an integer of its own",
      "declare integer :: " + stmt.variable,
    );
  const start = indexOf(cx, frame, stmt.start);
  const stop = indexOf(cx, frame, stmt.stop);
  const step = stmt.step ? indexOf(cx, frame, stmt.step) : ONE;
  const by = fortranConstant(step);
  if (by === 0) throw new Unlowerable(stmt.at, `do ${stmt.variable}`, "its step is 0");
  if (typeof by === "number" && !usedBehind(frame, stmt) && !usedByCalled(cx, frame, stmt)) {
    const first = cx.stable(start, "start");
    const last = inclusiveStop(cx.stable(stop, "stop"), by);
    const name = cx.unique(stmt.variable);
    const inner: ProcedureFrame = { ...frame, meanings: new Map(frame.meanings) };
    inner.meanings.set(stmt.variable, { kind: "value", expr: { op: "local", type: "i32", name } });
    const list = body(cx, inner, stmt.name, stmt.body, label);
    return cx.push(labelled({ kind: "for", name, start: first, stop: last, step: by, body: list, location: stmt.at }, label));
  }
  const stride = cx.stable(step, "step");
  const trips = cx.local("trips", "u32", tripsOf(cx.stable(start, "start"), cx.stable(stop, "stop"), stride));
  const left: Expr = { op: "local", type: "u32", name: trips.name };
  const now: Expr = { op: "local", type: "i32", name: meaning.name };
  cx.assign(meaning.name, start);
  const list = body(cx, frame, stmt.name, stmt.body, label);
  cx.location = stmt.at;
  const update = cx.collect(() => {
    cx.assign(meaning.name, binary("add", now, stride));
    cx.assign(trips.name, binary("sub", left, 1));
  });
  cx.push(labelled({ kind: "while", cond: compare("ne", left, 0), body: list, update, location: stmt.at }, label));
}

/** Number of turns of a loop. Distances between two i32 fit a u32. */
function tripsOf(start: Expr, stop: Expr, stride: Expr): Expr {
  const by = fortranConstant(stride);
  const distance = (from: Expr, to: Expr): Expr => binary("sub", cast("u32", to), cast("u32", from));
  const rising = select(compare("le", start, stop), binary("add", binary("div", distance(start, stop), cast("u32", stride)), 1), 0);
  const falling = select(
    compare("ge", start, stop),
    binary("add", binary("div", distance(stop, start), binary("sub", constant("u32", 0), cast("u32", stride))), 1),
    0,
  );
  return typeof by === "number" ? (by > 0 ? rising : falling) : select(compare("gt", stride, 0), rising, falling);
}

/** Whether the variable of a loop is read outside of loops that have it, or given to a procedure that assigns it. */
function usedBehind(frame: ProcedureFrame, loop: Do): boolean {
  let used = false;
  const visit = (list: readonly TreeStmt[]): void =>
    eachStatement(list, (stmt) => {
      const own = expressionsOf(stmt);
      for (const e of own) visitExpr(e, (node) => void (node.kind === "name" && node.name === loop.variable && (used = true)));
      return !(stmt.kind === "do" && stmt.variable === loop.variable);
    });
  visit(frame.body);
  return used;
}

/** Whether a procedure that statements in order call reads the variable of a loop. */
function usedByCalled(cx: FortranLowering, { scope, body }: ProcedureFrame, { variable: name }: Do): boolean {
  const variable = findNamed(scope, name);
  if (!variable || !cx.now(variable).has(variable.name)) return false;
  const isRead = (called: UnitScope): boolean =>
    namesIn(called.unit.kind === "module" ? [] : called.unit.body).has(name) && findNamed(called, name) === variable;
  return [...calledBy(scope, body)].some(isRead);
}

function whileLoop(cx: FortranLowering, stmt: DoWhile, frame: ProcedureFrame): void {
  const label = cx.unique("loop");
  let cond: Expr = constant("bool", true);
  const before = cx.collect(() => {
    if (stmt.cond) cond = condition(cx, frame, stmt.cond);
  });
  const list = body(cx, frame, stmt.name, stmt.body, label);
  const location = stmt.at;
  if (before.length === 0) return cx.push(labelled({ kind: "while", cond, body: list, update: [], location }, label));
  const leaves: Stmt = { kind: "if", cond: not(cond), then: [{ kind: "break", location }], else: [], location };
  cx.push(labelled({ kind: "while", cond: constant("bool", true), body: [...before, leaves, ...list], update: [], location }, label));
}

/** A `do concurrent` inside of a kernel: loops in order. */
function concurrent(cx: FortranLowering, stmt: DoConcurrent, frame: ProcedureFrame): void {
  const problem = orderOfForall(stmt);
  if (problem) throw new Unlowerable(problem.at, problem.construct, problem.why, problem.remedy);
  const { at } = stmt;
  const inner: readonly TreeStmt[] = stmt.mask
    ? [{ kind: "if", branches: [{ cond: stmt.mask, body: stmt.body, at }], oneLine: false, at }]
    : stmt.body;
  const nest = stmt.axes.reduce<readonly TreeStmt[]>((list, axis) => [{ kind: "do", ...axis, body: list, at }], inner);
  lowerBody(cx, nest, frame);
}
