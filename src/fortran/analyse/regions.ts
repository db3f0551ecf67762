import { derive } from "../../cache/derive.js";
import type { Location } from "../../ir/types.js";
import type { Clause, Directive, DoConcurrent, Expr, ReductionOp, Stmt } from "../tree/index.js";
import { areReadBehind, isReadBehind } from "./behind.js";
import { blockVariables, withNamesApart } from "./blocks.js";
import { orderOfForall } from "./forall.js";
import { shortLaunch, type ShortLaunch } from "./launches.js";
import { assignedBesideLoops, leftBy, type Left } from "./left.js";
import { isAssignedExclusively, keepsIndex, listedNames, sharingOf, type Sharing } from "./sharing.js";
import { find, findNamed, findProcedure, ownerOf, nestedComponents, type UnitScope, type Variable } from "./symbols.js";
import { bodiesOf, eachStatement, mentionsName, namesInTree } from "./visit.js";
import { variableName, visitExpr } from "./walk.js";
import { blockThreads, gridThreads, SHARED_BYTES, sizeName, threadIndices } from "./thread-index.js";
import { accumulation, readFirst, writesOf } from "./writes.js";

/** A loop nest whose iterations run at the same time, or the body of a `global` procedure. */
export interface ParallelRegion {
  readonly name: string;
  readonly scope: UnitScope;
  readonly at: Location;
  /** Outermost first. */
  readonly axes: readonly LoopAxis[];
  readonly body: readonly Stmt[];
  /** Name of the innermost of its loops, by which `cycle` may call it. */
  readonly loopName?: string;
  /** Iterations that `do concurrent` leaves out have it false. */
  readonly mask?: Expr;
  readonly reductions: readonly Reduction[];
  /** Scalars whose values come back otherwise. */
  readonly left: readonly Left[];
  /** Other variables that it assigns and that are read after it: they keep the values from before. */
  readonly kept: readonly string[];
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
  /** A launch that does not agree with the kernel's guard, and makes it one of the grid. */
  readonly short?: ShortLaunch;
  /** Threads of a block share memory, or wait for each other: one element for each block of a launch. */
  readonly ofBlocks?: true;
  /** Nothing says that its iterations are independent. */
  readonly isOpen?: true;
}

export interface LoopAxis {
  readonly variable: string;
  readonly start: Expr;
  /** Undefined if a launch's grid tells. */
  readonly stop?: Expr;
  readonly step?: Expr;
  /** Axis of the launch whose threads are its elements, for a `global` procedure. */
  readonly axis?: "x" | "y" | "z";
}

interface Reduction {
  readonly name: string;
  readonly op: ReductionOp;
  /** Whether no clause names it. */
  readonly inferred: boolean;
}

const present = (region: ParallelRegion | undefined): ParallelRegion[] => (region ? [region] : []);

/** The regions of a procedure, in order; their problems are told once. */
export const regionsOf = (scope: UnitScope): readonly ParallelRegion[] => derive(scope, findRegions);

function findRegions(scope: UnitScope): ParallelRegion[] {
  const { unit } = scope;
  if (unit.kind === "module") return [];
  if (unit.kind === "procedure" && unit.attributes.includes("global")) return present(globalRegion(scope));
  if (unit.kind === "procedure" && unit.attributes.includes("device") && !unit.attributes.includes("host")) return [];
  const found: Omit<ParallelRegion, "name">[] = [];
  const look = (list: readonly Stmt[], around: readonly Directive[]): void => {
    for (const stmt of list) {
      const region = regionOf(scope, stmt, around);
      if (region) found.push(region);
      const inside = stmt.kind === "directed" ? [...around, stmt.directive] : around;
      if (!region) for (const body of bodiesOf(stmt)) look(body, inside);
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
function regionOf(scope: UnitScope, stmt: Stmt, around: readonly Directive[]): Omit<ParallelRegion, "name"> | undefined {
  if (stmt.kind === "do-concurrent") return concurrentRegion(scope, stmt);
  if (stmt.kind !== "directed" || !isParallel(stmt.directive)) return undefined;
  const { directive } = stmt;
  const loops = stmt.body.filter(counts);
  // Runs the rest of a `kernels` block in order.
  const isLoop = loops.length === 1 && (loops[0].kind === "do" || (loops[0].kind === "directed" && isParallel(loops[0].directive)));
  if (isOfKernels(directive) && !isLoop) return undefined;
  const axes: LoopAxis[] = [];
  let body: readonly Stmt[] = loops;
  let wanted = count(directive);
  const own = [directive];
  let loopName: string | undefined;
  // Adds the variables of `parallel` to the loops in it.
  const clauses = [...around.flatMap((each) => each.clauses.filter((clause) => "names" in clause)), ...directive.clauses];
  for (;;) {
    const [loop] = body;
    if (body.length === 1 && loop.kind === "directed" && isParallel(loop.directive)) {
      wanted = axes.length + count(loop.directive);
      own.push(loop.directive);
      clauses.push(...loop.directive.clauses);
      body = loop.body.filter(counts);
      continue;
    }
    if (axes.length >= wanted || body.length !== 1 || loop.kind !== "do") break;
    const { variable, start, stop, step } = loop;
    if (dependsOn([start, stop, step], axes)) break;
    if (axes.length === 4) break;
    axes.push({ variable, start, stop, step });
    loopName = loop.name;
    const inner = loop.body.filter(counts);
    body = inner.length === 1 ? inner : loop.body;
  }
  if (axes.length === 0) {
    scope.world.problems.add(stmt.at, directive.words.join(" "), "no do loop follows the directive", "write the loops right after it");
    return undefined;
  }
  const reductions = clauses.flatMap((clause) =>
    clause.kind === "reduction" ? clause.names.map((name) => ({ name, op: clause.op, inferred: false })) : [],
  );
  const queue = clauses.find((clause) => clause.kind === "async");
  const named = (kind: string): string[] => clauses.flatMap((clause) => ("names" in clause && clause.kind === kind ? clause.names : []));
  // Carries variables private to `parallel`, which hold values assigned before the loop.
  const outer = around.flatMap((each) => each.clauses.flatMap((clause) => (clause.kind === "private" ? clause.names : [])));
  const carried = new Set([...named("firstprivate"), ...readFirst(scope, body, new Set(outer))]);
  const privates = new Set([...named("private"), ...carried, ...named("lastprivate")]);
  const indices = keptIndices(scope, stmt, axes, keepsIndex(directive), clauses);
  const stream = directive.launch?.stream ?? queue?.queue;
  const sharing = (name: string, variable: Variable): Sharing => sharingOf(variable, name, around, own);
  const rest = { stream, loopName, carried, privates, sharing, ...(isOpen(directive, clauses) && { isOpen: true as const }) };
  const region = finished(scope, stmt, axes, body, reductions, rest);
  return { ...region, kept: [...region.kept, ...indices] };
}

/**
 * Variables of parallel loops that keep the values from before, and are read after the loops; reports those with a value that is not computed.
 *
 * @param isKept whether the directive leaves them with the values from the loop
 */
function keptIndices(scope: UnitScope, stmt: Stmt, axes: readonly LoopAxis[], isKept: boolean, clauses: readonly Clause[]): string[] {
  const { problems } = scope.world;
  const last = clauses.flatMap((clause) => (clause.kind === "lastprivate" ? clause.names : []));
  for (const clause of clauses) {
    if (clause.kind !== "other" || clause.name !== "linear") continue;
    const names = listedNames(clause.text);
    if (names.every((name) => axes.some(({ variable }) => variable === name))) last.push(...names);
    else problems.add(clause.at, "linear", "its variable changes from iteration to iteration", "compute it from the loop's variable");
  }
  return axes.flatMap(({ variable }) => {
    const isLast = last.includes(variable);
    // Variables of others may be read anywhere, so that their uses say nothing.
    if (isKept && !isLast && find(scope, variable)?.scope !== scope) return [];
    if (!isReadBehind(scope, stmt, variable)) return [];
    if (!isKept && !isLast) return [variable];
    problems.add(stmt.at, variable, "the variable of a parallel loop is read after the loop", "assign it after the loop");
    return [];
  });
}

/** False of what does nothing. */
const counts = ({ kind }: Stmt): boolean => kind !== "continue" && kind !== "comment";

const count = ({ clauses }: Directive): number => clauses.find((clause) => clause.kind === "collapse")?.count ?? 1;

function dependsOn(bounds: readonly (Expr | undefined)[], axes: readonly LoopAxis[]): boolean {
  let depends = false;
  for (const bound of bounds)
    if (bound) visitExpr(bound, (e) => void (e.kind === "name" && axes.some(({ variable }) => variable === e.name) && (depends = true)));
  return depends;
}

function concurrentRegion(scope: UnitScope, stmt: DoConcurrent): Omit<ParallelRegion, "name"> | undefined {
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
    loopName: stmt.name,
    carried: new Set(begun),
    privates: new Set([...stmt.local, ...begun]),
    // A variable that one iteration assigns keeps that value; one that several assign is undefined afterwards.
    sharing: (name) => (stmt.local.includes(name) || stmt.localInit.includes(name) ? "private" : "ordered"),
  });
}

/** Arrays with the same elements assigned by all iterations. As iterations may not use each other's values, each has its own array. */
function assignedAlike(scope: UnitScope, stmt: DoConcurrent): string[] {
  const written = writesOf(scope, stmt.body);
  const varying = new Set([...written, ...stmt.axes.map(({ variable }) => variable)]);
  const apart = new Set<string>();
  eachStatement(stmt.body, (each) => {
    if (each.kind === "do" && ![each.start, each.stop, each.step].some((bound) => mentionsName(bound, varying)))
      varying.delete(each.variable);
    const targets = each.kind === "assign" ? [each.target] : each.kind === "call" ? each.args : [];
    for (const target of targets) {
      const [array, ...subscripts] = [...namesInTree(target)];
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
  scope: UnitScope,
  stmt: Stmt,
  axes: readonly LoopAxis[],
  body: readonly Stmt[],
  clauses: readonly Reduction[],
  {
    sharing,
    ...rest
  }: Pick<ParallelRegion, "stream" | "loopName" | "mask" | "carried" | "privates" | "isOpen"> & { readonly sharing: SharingOf },
): Omit<ParallelRegion, "name"> {
  const seen = withNamesApart(body);
  const written = new Set([...writesOf(scope, seen)].filter((name) => !name.endsWith(" ")));
  const scalars = new Set([...written].filter((name) => !findNamed(scope, name)?.dims));
  const first = readFirst(scope, seen, scalars);
  const reductions = reductionsOf(scope, stmt, seen, clauses, first, written);
  const isReduced = (name: string): boolean => reductions.some((reduction) => reduction.name === name);
  const carried = new Set([...first, ...withParts(scope, rest.carried)].filter((name) => !isReduced(name)));
  const privates = new Set([...withParts(scope, rest.privates), ...blockVariables(body)]);
  const region = { scope, at: stmt.at, axes, body, reductions, written, stmt, ...rest, carried, privates };
  const unfolded = [...scalars].filter((name) => !isReduced(name));
  const { left, kept } = leftIn({ ...region, body: seen }, unfolded, first, sharing);
  return { ...region, left, kept: [...kept, ...keptWholes(region, scalars, sharing)] };
}

/** Arrays and objects in clauses that keep their values from before, and are read after the loop; reports arrays whose last values count. */
function keptWholes(region: Omit<ParallelRegion, "name" | "left" | "kept">, scalars: ReadonlySet<string>, sharing: SharingOf): string[] {
  const { scope, written, privates } = region;
  const stmt = region.stmt!;
  return [...privates].filter((name) => {
    const variable = findNamed(scope, name);
    if (!variable || scalars.has(name)) return false;
    const parts = [name, ...nestedComponents(scope, { kind: "name", name, at: stmt.at }).map(variableName)];
    const isRead = variable.dims ? areReadBehind : isReadBehind;
    if (variable.component || !parts.some((part) => written.has(part) && isRead(scope, stmt, part))) return false;
    if (sharing(name, variable) !== "last") return true;
    if (variable.dims)
      scope.world.problems.add(stmt.at, name, "the array of the last iteration is read after the loop", "assign it after the loop");
    return false;
  });
}

type SharingOf = (name: string, variable: Variable) => Sharing;

/** Reductions of clauses, and those that show by how the body uses a variable. */
function reductionsOf(
  scope: UnitScope,
  stmt: Stmt,
  body: readonly Stmt[],
  clauses: readonly Reduction[],
  first: ReadonlySet<string>,
  written: ReadonlySet<string>,
): Reduction[] {
  // Two directives on one loop, of OpenACC and OpenMP, may both name a variable.
  const reductions = [...new Map(clauses.map((clause) => [clause.name, clause])).values()];
  for (const { name, op } of clauses)
    if (written.has(name) && accumulation(name, body) !== op)
      scope.world.problems.add(
        stmt.at,
        `reduction(${op}: ${name})`,
        `the loop also uses ${name} in another way`,
        `write ${name} = ${name} + e, max(${name}, e) or min(${name}, e) only`,
      );
  for (const name of first) {
    if (reductions.some((reduction) => reduction.name === name)) continue;
    const op = accumulation(name, body) as ReductionOp | undefined;
    if (op) reductions.push({ name, op, inferred: true });
  }
  return reductions;
}

/**
 * Way in which a scalar comes back that iterations assign and that is read after the loop; or `kept`: it has its value from before; `lost`: nothing says
 * which value counts; `away`: the device has the value; `unused`: no value is needed.
 */
type Fate = Left["by"] | "kept" | "lost" | "away" | "unused";

/** The scalars that come back as the construct says, except reductions, and those that stay; reports problems of scalars that cannot. */
function leftIn(
  region: Omit<ParallelRegion, "name" | "left" | "kept">,
  scalars: readonly string[],
  first: ReadonlySet<string>,
  sharing: SharingOf,
): Pick<ParallelRegion, "left" | "kept"> {
  const { scope, body } = region;
  const stmt = region.stmt!;
  const assigned = assignedBesideLoops(scope, body);
  const left: Left[] = [];
  const kept: string[] = [];
  for (const name of scalars) {
    const variable = findNamed(scope, name);
    if (!variable || !isReadBehind(scope, stmt, name)) continue;
    const fate = fateOf(region, variable, name, { first, assigned }, sharing(name, variable));
    if (fate === "kept") kept.push(name);
    else if (fate === "lost")
      scope.world.problems.add(stmt.at, name, "the value that iterations leave in it is read after the loop", remedyOf(stmt));
    else if (fate === "away")
      scope.world.problems.add(
        stmt.at,
        name,
        "iterations assign it, its clause leaves that value on the device, and it is read after the loop",
        "write copy(...) or map(tofrom: ...), or make it private",
      );
    else if (fate !== "unused") left.push({ name, by: fate });
  }
  return { left, kept };
}

/** `first`: scalars that an iteration reads before it assigns them; `assigned`: scalars that it assigns otherwise than as variables of loops. */
function fateOf(
  region: Omit<ParallelRegion, "name" | "left" | "kept">,
  variable: Variable,
  name: string,
  { first, assigned }: { readonly first: ReadonlySet<string>; readonly assigned: ReadonlySet<string> },
  said: Sharing,
): Fate {
  const isAxis = region.axes.some((axis) => axis.variable === name);
  const isOwn = region.privates.has(name) || isAxis;
  const isCarried = first.has(name) && !isOwn;
  // Objects are shared, whatever the directive.
  if (variable.component) return !isOwn || said === "last" ? "lost" : "unused";
  if (!assigned.has(name)) {
    // Variables of loops within are private, too.
    const isIndex = !isAxis && (said === "private" || region.stmt?.kind === "directed");
    return said === "last" || isCarried ? "lost" : isIndex ? "kept" : "unused";
  }
  if (said === "private" && (isOwn || !isAssignedExclusively(name, region.body))) return isCarried ? "lost" : "kept";
  return sharedFate(region, name, said, first);
}

/** The fate of a scalar that iterations assign and share. */
function sharedFate(region: Omit<ParallelRegion, "name" | "left" | "kept">, name: string, said: Sharing, first: ReadonlySet<string>): Fate {
  if (said === "kept") return "away";
  return first.has(name) ? "lost" : (leftBy(said === "private" ? "shared" : said, name, region.isOpen, region) ?? "lost");
}

function remedyOf(stmt: Stmt): string {
  if (stmt.kind === "do-concurrent") return "name it in reduce(...), or in local(...)";
  const words = stmt.kind === "directed" && stmt.directive.sentinel === "omp" ? "a reduction clause, in lastprivate" : "a reduction clause";
  return `name it in ${words}, or make it private`;
}

/** Names, with the names of components of objects among them. */
const withParts = (scope: UnitScope, names: Iterable<string>): string[] =>
  [...names].flatMap((name) => [name, ...nestedComponents(scope, { kind: "name", name, at: scope.unit.at }).map(variableName)]);

/** Whether threads of a block share memory or wait for each other, in a kernel or in what it calls. */
function sharesInBlocks(scope: UnitScope, seen = new Set<UnitScope>()): true | undefined {
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

/** Whether a CUDA procedure waits for the other threads of the block, or of the warp, which belong to the block. */
export const isBarrier = (name: string): boolean => name === "syncthreads" || name === "syncwarp";

/** Scalars of the device's memory among names: module variables, and arguments not passed by value. */
const sharedScalars = (scope: UnitScope, names: ReadonlySet<string>): string[] =>
  [...names].filter((name) => {
    const variable = findNamed(scope, name);
    if (!variable || variable.dims || variable.value) return false;
    return variable.dummy ? !variable.attributes.has("value") : ownerOf(variable) !== scope;
  });

/** Whether every assignment of a variable is under `atomic`. */
function isAtomic(name: string, body: readonly Stmt[]): boolean {
  let plainly = false;
  eachStatement(body, (stmt) => {
    if (stmt.kind === "directed" && stmt.directive.words[0] === "atomic") return false;
    plainly ||= stmt.kind === "assign" && stmt.target.kind === "name" && stmt.target.name === name;
    return true;
  });
  return !plainly;
}

function globalRegion(scope: UnitScope): ParallelRegion | undefined {
  const { unit } = scope;
  if (unit.kind !== "procedure") return undefined;
  const ofBlocks = sharesInBlocks(scope);
  const read = ofBlocks ? { axes: [], body: blockThreads(unit), leftOut: [] } : threadIndices(unit);
  // Takes all axes from the launch if guards bound only some.
  const bounded = read?.axes.filter(({ stop }) => stop).length;
  const short = !ofBlocks && read && bounded === read.axes.length ? shortLaunch(scope, read) : undefined;
  const found = read && !short && (ofBlocks || bounded === 0 || bounded === read.axes.length) ? read : gridThreads(unit);
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
    scope.world.problems.add(
      unit.at,
      name,
      "threads share it and assign it",
      "use an array of one element, or update it by atomicadd only",
    );
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
    left: [],
    kept: [],
    carried: readFirst(scope, body, new Set(dummies)),
    privates: new Set(),
    written,
    ...(found !== read && { ofGrid: true }),
    ...(short && { short }),
    ...(ofBlocks && { ofBlocks }),
    ...(unit.launchBounds && { launchBounds: unit.launchBounds }),
  };
}
