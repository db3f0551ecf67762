import type { Location } from "../../ir/types.js";
import type { Clause, Directive, DoConcurrent, Expr, ReductionOp, Stmt } from "../tree/index.js";
import { isReadBehind } from "./behind.js";
import { blockVariables } from "./blocks.js";
import { orderOfForall } from "./forall.js";
import { find, findNamed, findProcedure, ownerOf, partsOf, type Scope } from "./symbols.js";
import { bodiesOf, eachStatement, mentions, namesIn } from "./visit.js";
import { nameOf, walkExpr } from "./walk.js";
import { blockThreads, gridThreads, SHARED_BYTES, sizeName, threadIndices } from "./thread-index.js";
import { accumulation, readFirst, writesOf } from "./writes.js";

/** A loop nest whose iterations run at the same time, or the body of a `global` procedure. */
export interface Region {
  readonly name: string;
  readonly scope: Scope;
  readonly at: Location;
  /** Outermost first. */
  readonly axes: readonly Axis[];
  readonly body: readonly Stmt[];
  /** Iterations that `do concurrent` leaves out have it false. */
  readonly mask?: Expr;
  readonly reductions: readonly Reduction[];
  /** Scalars that the body assigns and whose first access is a read: they start with the value from before. */
  readonly carried: ReadonlySet<string>;
  readonly written: ReadonlySet<string>;
  /** Arrays that each element has for itself, by a clause. */
  readonly privates: ReadonlySet<string>;
  readonly stream?: Expr;
  /** The statement that launches it; undefined for a `global` procedure. */
  readonly stmt?: Stmt;
  readonly launchBounds?: readonly Expr[];
  /** One element for each thread of a launch, whatever its size. */
  readonly ofGrid?: true;
  /** Threads of a block share memory, or wait for each other: one element for each block of a launch. */
  readonly ofBlocks?: true;
  /** Nothing says that its iterations are independent. */
  readonly isOpen?: true;
}

export interface Axis {
  readonly variable: string;
  readonly start: Expr;
  /** Undefined if a launch's grid tells. */
  readonly stop?: Expr;
  readonly step?: Expr;
}

export interface Reduction {
  readonly name: string;
  readonly op: ReductionOp;
  /** Whether no clause names it. */
  readonly inferred: boolean;
}

const present = (region: Region | undefined): Region[] => (region ? [region] : []);

/** The regions of a procedure, in order. */
export function regionsOf(scope: Scope): Region[] {
  const { unit } = scope;
  if (unit.kind === "module") return [];
  if (unit.kind === "procedure" && unit.attributes.includes("global")) return present(globalRegion(scope));
  if (unit.kind === "procedure" && unit.attributes.includes("device") && !unit.attributes.includes("host")) return [];
  const found: Omit<Region, "name">[] = [];
  const look = (list: readonly Stmt[], around: readonly Clause[]): void => {
    for (const stmt of list) {
      const region = regionOf(scope, stmt, around);
      if (region) found.push(region);
      // Variables of `parallel` are those of the loops in it.
      const clauses = stmt.kind === "directed" ? stmt.directive.clauses.filter((clause) => "names" in clause) : [];
      if (!region) for (const body of bodiesOf(stmt)) look(body, [...around, ...clauses]);
    }
  };
  look(unit.body, []);
  return found.map((region, n) => ({ ...region, name: found.length === 1 ? unit.name : `${unit.name}#${n + 1}` }));
}

/** Whether iterations run one after the other: by `seq`, or by `ordered`, which lets parts of them wait. */
export const isSequential = (clauses: readonly Clause[]): boolean =>
  clauses.some((clause) => (clause.kind === "level" && clause.level === "seq") || (clause.kind === "other" && clause.name === "ordered"));

export const isParallel = ({ sentinel, words, clauses }: Directive): boolean => {
  if (words[0] === "end" || isSequential(clauses)) return false;
  if (sentinel === "cuf") return words[0] === "kernel";
  return words.includes("loop") || words.includes("do") || words.includes("distribute") || (sentinel === "acc" && words[0] === "kernels");
};

const isOfKernels = ({ sentinel, words }: Directive): boolean => sentinel === "acc" && words[0] === "kernels";

/** Whether nothing says that iterations are independent: `kernels` leaves it to be found out. */
export const isOpen = (directive: Directive, clauses: readonly Clause[]): boolean =>
  isOfKernels(directive) && !clauses.some((clause) => clause.kind === "level" && clause.level === "independent");

/** The region that a statement is, if it is one. */
function regionOf(scope: Scope, stmt: Stmt, around: readonly Clause[]): Omit<Region, "name"> | undefined {
  if (stmt.kind === "do-concurrent") return concurrentRegion(scope, stmt);
  if (stmt.kind !== "directed" || !isParallel(stmt.directive)) return undefined;
  const { directive } = stmt;
  const loops = stmt.body.filter(counts);
  // What else `kernels` holds runs in order.
  const isLoop = loops.length === 1 && (loops[0].kind === "do" || (loops[0].kind === "directed" && isParallel(loops[0].directive)));
  if (isOfKernels(directive) && !isLoop) return undefined;
  const axes: Axis[] = [];
  let body: readonly Stmt[] = loops;
  let wanted = count(directive);
  const clauses = [...around, ...directive.clauses];
  for (;;) {
    const [loop] = body;
    if (body.length === 1 && loop.kind === "directed" && isParallel(loop.directive)) {
      wanted = axes.length + count(loop.directive);
      clauses.push(...loop.directive.clauses);
      body = loop.body.filter(counts);
      continue;
    }
    if (axes.length >= wanted || body.length !== 1 || loop.kind !== "do") break;
    const { variable, start, stop, step } = loop;
    if (dependsOn([start, stop, step], axes)) break;
    if (axes.length === 4) break;
    axes.push({ variable, start, stop, step });
    const inner = loop.body.filter(counts);
    body = inner.length === 1 ? inner : loop.body;
  }
  if (axes.length === 0) {
    scope.world.problems.add(stmt.at, directive.words.join(" "), "no do loop follows the directive", "write the loops right behind it");
    return undefined;
  }
  const reductions = clauses.flatMap((clause) =>
    clause.kind === "reduction" ? clause.names.map((name) => ({ name, op: clause.op, inferred: false })) : [],
  );
  const queue = clauses.find((clause) => clause.kind === "async");
  const named = (kind: string): string[] => clauses.flatMap((clause) => ("names" in clause && clause.kind === kind ? clause.names : []));
  // What `parallel` has for itself holds what was assigned in front of the loop.
  const outer = around.flatMap((clause) => ("names" in clause && clause.kind === "private" ? clause.names : []));
  const carried = new Set([...named("firstprivate"), ...readFirst(scope, body, new Set(outer))]);
  const privates = new Set([...named("private"), ...carried, ...named("lastprivate")]);
  const left = new Set(named("lastprivate"));
  if (keepsIndex(directive))
    for (const { variable } of axes)
      if (find(scope, variable)?.scope === scope && isReadBehind(scope, stmt, variable))
        scope.world.problems.add(stmt.at, variable, "the variable of a parallel loop is read behind it", "assign it behind the loop");
  const stream = directive.launch?.stream ?? queue?.queue;
  const rest = { stream, carried, privates, ...(isOpen(directive, clauses) && { isOpen: true as const }) };
  return finished(scope, stmt, axes, body, reductions, rest, left);
}

/** Whether variables of loops keep their values behind a directive; others are private, or undefined then. */
const keepsIndex = ({ sentinel, words }: Directive): boolean =>
  sentinel === "cuf" || (sentinel === "omp" && ["loop", "simd"].includes(words.at(-1)!) && !words.includes("do"));

/** False of what does nothing. */
const counts = ({ kind }: Stmt): boolean => kind !== "continue" && kind !== "comment";

const count = ({ clauses }: Directive): number => clauses.find((clause) => clause.kind === "collapse")?.count ?? 1;

function dependsOn(bounds: readonly (Expr | undefined)[], axes: readonly Axis[]): boolean {
  let depends = false;
  for (const bound of bounds)
    if (bound) walkExpr(bound, (e) => void (e.kind === "name" && axes.some(({ variable }) => variable === e.name) && (depends = true)));
  return depends;
}

function concurrentRegion(scope: Scope, stmt: DoConcurrent): Omit<Region, "name"> | undefined {
  const problem = orderOfForall(stmt);
  if (problem) {
    scope.world.problems.add(problem.at, problem.construct, problem.why, problem.remedy);
    return undefined;
  }
  const reductions = stmt.reduce.flatMap(({ op, names }) => names.map((name) => ({ name, op, inferred: false })));
  // The first index of the list is the innermost one, as in Fortran's arrays.
  const axes = [...stmt.axes].reverse();
  const named = new Set([...stmt.local, ...stmt.localInit, ...stmt.shared, ...reductions.map(({ name }) => name)]);
  const begun = [...stmt.localInit, ...assignedAlike(scope, stmt).filter((name) => !named.has(name))];
  return finished(scope, stmt, axes, stmt.body, reductions, {
    mask: stmt.mask,
    carried: new Set(begun),
    privates: new Set([...stmt.local, ...begun]),
  });
}

/** Arrays of which all iterations assign the same elements. As none may use what another one leaves, each has an array of its own. */
function assignedAlike(scope: Scope, stmt: DoConcurrent): string[] {
  const written = writesOf(scope, stmt.body);
  const varying = new Set([...written, ...stmt.axes.map(({ variable }) => variable)]);
  const apart = new Set<string>();
  eachStatement(stmt.body, (each) => {
    if (each.kind === "do" && ![each.start, each.stop, each.step].some((bound) => mentions(bound, varying))) varying.delete(each.variable);
    const targets = each.kind === "assign" ? [each.target] : each.kind === "call" ? each.args : [];
    for (const target of targets) {
      const [array, ...subscripts] = [...namesIn(target)];
      if (subscripts.some((name) => varying.has(name))) apart.add(array);
    }
  });
  return [...written].filter((name) => {
    const variable = find(scope, name);
    if (!variable?.dims || variable.scope !== scope || variable.dummy || apart.has(name) || isReadBehind(scope, stmt, name)) return false;
    return !["allocatable", "pointer", "target", "save", "device", "managed"].some((attribute) => variable.attributes.has(attribute));
  });
}

function finished(
  scope: Scope,
  stmt: Stmt,
  axes: readonly Axis[],
  body: readonly Stmt[],
  clauses: readonly Reduction[],
  rest: { stream?: Expr; mask?: Expr; carried: ReadonlySet<string>; privates: ReadonlySet<string>; isOpen?: true },
  left: ReadonlySet<string> = new Set(),
): Omit<Region, "name"> {
  const written = writesOf(scope, body);
  const scalars = new Set([...written].filter((name) => !findNamed(scope, name)?.dims));
  const first = readFirst(scope, body, scalars);
  // Two directives on one loop, of OpenACC and OpenMP, may both name a variable.
  const reductions = [...new Map(clauses.map((clause) => [clause.name, clause])).values()];
  for (const { name, op } of clauses) {
    const used = accumulation(name, body);
    if (written.has(name) && used !== op)
      scope.world.problems.add(
        stmt.at,
        `reduction(${op}: ${name})`,
        `${name} is used otherwise in the loop`,
        `write ${name} = ${name} + e, max(${name}, e) or min(${name}, e) only`,
      );
  }
  for (const name of first) {
    if (reductions.some((reduction) => reduction.name === name)) continue;
    const op = accumulation(name, body) as ReductionOp | undefined;
    if (op) reductions.push({ name, op, inferred: true });
  }
  const carried = new Set(
    [...first, ...withParts(scope, rest.carried)].filter((name) => !reductions.some((reduction) => reduction.name === name)),
  );
  const privates = new Set([...withParts(scope, rest.privates), ...blockVariables(body)]);
  const own = new Set([...axes.map(({ variable }) => variable), ...reductions.map(({ name }) => name), ...privates]);
  // Objects are shared, whatever the directive.
  const isPart = (name: string): boolean => findNamed(scope, name)?.component !== undefined;
  const isShared = isOfHosts(stmt) ? (name: string) => isAssigned(name, body) : (name: string) => first.has(name);
  for (const name of scalars)
    if ((left.has(name) || (!own.has(name) && (isShared(name) || isPart(name)))) && isReadBehind(scope, stmt, name))
      scope.world.problems.add(
        stmt.at,
        name,
        "what iterations leave in it is read behind the loop",
        "name it in a reduction clause, or make it private",
      );
  return { scope, at: stmt.at, axes, body, reductions, written, stmt, ...rest, carried, privates };
}

/** Names, with those of what objects among them consist of. */
const withParts = (scope: Scope, names: Iterable<string>): string[] =>
  [...names].flatMap((name) => [name, ...partsOf(scope, { kind: "name", name, at: scope.unit.at }).map(nameOf)]);

/** Whether scalars that a loop assigns are shared unless clauses say otherwise: that of OpenMP on the host. */
const isOfHosts = (stmt: Stmt): boolean =>
  stmt.kind === "directed" &&
  stmt.directive.sentinel === "omp" &&
  !stmt.directive.words.includes("target") &&
  !stmt.directive.clauses.some((clause) => clause.kind === "default" && clause.value.endsWith("private"));

/** Whether statements assign a variable otherwise than as that of a loop. */
function isAssigned(name: string, body: readonly Stmt[]): boolean {
  let assigned = false;
  eachStatement(body, (stmt) => void (assigned ||= stmt.kind === "assign" && stmt.target.kind === "name" && stmt.target.name === name));
  return assigned;
}

/** Whether threads of a block share memory or wait for each other, in a kernel or in what it calls. */
function sharesInBlocks(scope: Scope, seen = new Set<Scope>()): true | undefined {
  const { unit } = scope;
  if (seen.has(scope) || unit.kind !== "procedure") return undefined;
  seen.add(scope);
  if ([...scope.variables.values()].some(({ attributes }) => attributes.has("shared"))) return true;
  let found: true | undefined;
  eachStatement(unit.body, (stmt) => {
    if (stmt.kind !== "call" || stmt.procedure.kind !== "name") return;
    const { name } = stmt.procedure;
    const called = findProcedure(scope, name);
    if (isBarrier(name) || (called && sharesInBlocks(called, seen))) found = true;
  });
  return found;
}

/** Whether a procedure of CUDA waits for the other threads of the block; those of a warp are among them. */
export const isBarrier = (name: string): boolean => name === "syncthreads" || name === "syncwarp";

/** Scalars of the device's memory among names: those of modules, and arguments that are no values. */
const sharedScalars = (scope: Scope, names: ReadonlySet<string>): string[] =>
  [...names].filter((name) => {
    const variable = findNamed(scope, name);
    if (!variable || variable.dims || variable.value) return false;
    return variable.dummy ? !variable.attributes.has("value") : ownerOf(variable) !== scope;
  });

/** Whether a variable is assigned behind `atomic` alone. */
function isAtomic(name: string, body: readonly Stmt[]): boolean {
  let plainly = false;
  eachStatement(body, (stmt) => {
    if (stmt.kind === "directed" && stmt.directive.words[0] === "atomic") return false;
    plainly ||= stmt.kind === "assign" && stmt.target.kind === "name" && stmt.target.name === name;
    return true;
  });
  return !plainly;
}

function globalRegion(scope: Scope): Region | undefined {
  const { unit } = scope;
  if (unit.kind !== "procedure") return undefined;
  const ofBlocks = sharesInBlocks(scope);
  const read = ofBlocks ? { axes: [], body: blockThreads(unit), leftOut: [] } : threadIndices(unit);
  // Where guards bound some axes alone, all are those of the launch.
  const bounded = read?.axes.filter(({ stop }) => stop).length;
  const found = read && (ofBlocks || bounded === 0 || bounded === read.axes.length) ? read : gridThreads(unit);
  for (const axis of ["x", "y", "z"])
    for (const name of [sizeName("grid", axis), sizeName("block", axis), SHARED_BYTES])
      scope.variables.set(name, { name, type: "i32", attributes: new Set(), dummy: true, scope, at: unit.at });
  const { body, leftOut } = found;
  const either = leftOut.reduce<Expr | undefined>((a, b) => (a ? { kind: "binary", op: ".or.", a, b, at: b.at } : b), undefined);
  const mask: Expr | undefined = either && { kind: "unary", op: ".not.", a: either, at: either.at };
  const written = writesOf(scope, body);
  const dummies = [...written].filter((name) => {
    const variable = findNamed(scope, name);
    return variable?.dummy && !variable.dims;
  });
  const reductions = sharedScalars(scope, written).flatMap((name): Reduction[] => {
    const op = accumulation(name, body) as ReductionOp | undefined;
    if (op && isAtomic(name, body)) return [{ name, op, inferred: true }];
    scope.world.problems.add(unit.at, name, "threads share it, and assign it", "give an array of one element, or call atomicadd alone");
    return [];
  });
  return {
    name: unit.name,
    scope,
    at: unit.at,
    axes: [...found.axes].reverse(),
    body,
    ...(mask && { mask }),
    reductions,
    carried: readFirst(scope, body, new Set(dummies)),
    privates: new Set(),
    written,
    ...(found !== read && { ofGrid: true }),
    ...(ofBlocks && { ofBlocks }),
    ...(unit.launchBounds && { launchBounds: unit.launchBounds }),
  };
}
