import type { NumberElement, Location } from "../../ir/types.js";
import { isReadBehind } from "../analyse/behind.js";
import { ownOf } from "../analyse/own.js";
import { isParallel, regionsOf, type ParallelRegion } from "../analyse/regions.js";
import { beginsByRun, findAllocation } from "../analyse/allocations.js";
import { asBranches } from "../analyse/cases.js";
import { isOutput } from "../analyse/outputs.js";
import {
  dim3Parts,
  find,
  findNamed,
  findProcedure,
  NOT_KNOWN,
  procedureProblem,
  isSaved,
  nestedComponents,
  namedVariable,
  type UnitScope,
  type Variable as Declared,
} from "../analyse/symbols.js";
import { isTextNumber } from "../analyse/texts.js";
import { bodiesOf, eachStatement, nameLeft } from "../analyse/visit.js";
import { expressionsOf, variableName, visitExpr, withExpressions } from "../analyse/walk.js";
import { writtenBy } from "../analyse/writes.js";
import type {
  Allocate,
  Apply,
  ActualArgument,
  Assign,
  CallStatement,
  Deallocate,
  Directed,
  Directive,
  Expr,
  Name,
  ComponentRef,
  Print,
  Stmt,
  Designator,
} from "../tree/index.js";
import { givenComponent, matched, objectGiven } from "../lower/calls.js";
import { lowerSequence, lowerShape, lowerValue, type LoweredSequence } from "../lower/kernels.js";
import { isToldByOpenMP } from "../lower/runtime.js";
import { elementType, treeName, Unlowerable } from "../lower/values.js";
import { clausesIn, conditionsOf, dataKind, isCompute, isHosts, type DataItem } from "../data/items.js";
import { dataSteps, itemsByName, type DataStep } from "./data-steps.js";
import { withElements } from "./elements.js";

/* A step of a routine's host side, in order. */

export type HostStep =
  /** `items`: clauses of data, by arrays; `isHosts`: the loop is one of the host's threads. */
  | {
      readonly kind: "launch";
      readonly region: ParallelRegion;
      readonly items: ReadonlyMap<string, DataItem>;
      readonly isHosts: boolean;
      /** Otherwise it is one of the host, too. */
      readonly condition?: LoweredSequence;
    }
  | { readonly kind: "sequence"; readonly sequence: LoweredSequence; readonly onDevice?: boolean }
  | DataStep<Extract<Actual, { kind: "array" }>>
  | {
      readonly kind: "call";
      readonly procedure: UnitScope;
      readonly args: ReadonlyMap<string, Actual>;
      readonly grid?: readonly Expr[];
      /** The variable that takes a function's result. */
      readonly result?: string;
      /** The bytes of shared memory. */
      readonly shared?: LoweredSequence;
      readonly at: Location;
    }
  | {
      readonly kind: "if";
      readonly branches: readonly { readonly cond: LoweredSequence; readonly steps: readonly HostStep[] }[];
      readonly otherwise: readonly HostStep[];
    }
  | {
      readonly kind: "do";
      readonly variable: string;
      readonly start: LoweredSequence;
      readonly stop: LoweredSequence;
      readonly step?: LoweredSequence;
      readonly body: readonly HostStep[];
      readonly name?: string;
    }
  | { readonly kind: "while"; readonly cond?: LoweredSequence; readonly body: readonly HostStep[]; readonly name?: string }
  /** A line: texts, numbers, and variables that stand for texts. */
  | { readonly kind: "print"; readonly items: readonly PrintItem[]; readonly at: Location }
  /** A construct that an `exit` leaves by its name. */
  | { readonly kind: "construct"; readonly name: string; readonly body: readonly HostStep[] }
  | { readonly kind: "jump"; readonly jump: "return" | "exit" | "cycle"; readonly loop?: string }
  | {
      readonly kind: "allocate";
      readonly name: string;
      readonly type: NumberElement;
      readonly bounds: readonly { readonly lower?: LoweredSequence; readonly upper: LoweredSequence }[];
      /** A component of an array of objects, which may begin with a value. */
      readonly variable?: Declared;
      /** The array whose lower bounds it takes. */
      readonly like?: Extract<Actual, { kind: "array" }>;
    }
  /** Without `to`, the pointer points nowhere; with bounds, it has these extents; with lower bounds, it begins there. */
  | {
      readonly kind: "point";
      readonly name: string;
      readonly to?: Extract<Actual, { kind: "array" }>;
      readonly bounds?: Extract<HostStep, { kind: "allocate" }>["bounds"];
      readonly lowers?: readonly (LoweredSequence | undefined)[];
    }
  | { readonly kind: "free"; readonly name: string }
  /** Random numbers for a scalar variable or an array. */
  | { readonly kind: "random"; readonly type: "f64" | "f32"; readonly to: string | Extract<Actual, { kind: "array" }> }
  | { readonly kind: "stop"; readonly at: Location };

type PrintItem =
  | string
  | { readonly value: LoweredSequence; readonly isText: boolean }
  | { readonly array: Extract<Actual, { kind: "array" }> };

/** Actual argument for a dummy argument. */
export type Actual =
  | {
      readonly kind: "scalar";
      readonly value: LoweredSequence;
      /** A scalar variable, which takes what the procedure assigns. */ readonly name?: string;
    }
  | { readonly kind: "object"; readonly name: string; readonly of: Name | ComponentRef }
  | {
      readonly kind: "array";
      readonly name: string;
      readonly axes?: readonly ActualAxis[];
      readonly rank: number;
      readonly lowers: readonly (LoweredSequence | undefined)[];
      /** The variable, if only the run tells its lower bounds. */
      readonly asked?: Declared;
    };
type ActualAxis =
  | { readonly kind: "index"; readonly at: LoweredSequence }
  | { readonly kind: "section"; readonly lower?: LoweredSequence; readonly upper?: LoweredSequence; readonly step?: LoweredSequence };

/** Calls of runtimes of GPUs and threads, and of clocks, which stand still. */
const LEFT_OUT = /^(cuda\w*|acc_\w+|omp_\w+|cpu_time|system_clock|date_and_time)$/;

/** Procedures of compilers that end the program. */
const ENDS: readonly string[] = ["exit", "abort"];

/** Whether a procedure launches, keeps values from call to call, or calls what does. */
function launches(scope: UnitScope, seen = new Set<UnitScope>()): boolean {
  if (seen.has(scope) || scope.unit.kind === "module") return false;
  seen.add(scope);
  let found = [...scope.variables.values()].some(isSaved);
  eachStatement(scope.unit.body, (stmt) => void (found ||= startsWork(scope, stmt, seen)));
  return found;
}

function startsWork(scope: UnitScope, stmt: Stmt, seen: Set<UnitScope>): boolean {
  if (stmt.kind === "directed") return isParallel(stmt.directive);
  if (stmt.kind === "do-concurrent" || stmt.kind === "allocate" || stmt.kind === "deallocate") return true;
  if (stmt.kind === "pointer-assign" || isNullify(stmt)) return true;
  if (expressionsOf(stmt).some((e) => callsAlone(scope, e, false, seen))) return true;
  if (stmt.kind !== "call") return false;
  const procedure = stmt.procedure.kind === "name" ? findProcedure(scope, stmt.procedure.name) : undefined;
  return !procedure || stmt.launch !== undefined || launches(procedure, seen);
}

/** Whether an expression calls functions that have no place in it. */
function callsAlone(scope: UnitScope, e: Expr, assigning: boolean, seen?: Set<UnitScope>): boolean {
  let found = false;
  visitExpr(e, (part) => void (found ||= runsAlone(scope, part, assigning, seen) !== undefined));
  return found;
}

/** The function that an expression calls, if it launches; or, if wanted, assigns what belongs to others. The host calls it before the statement. */
function runsAlone(scope: UnitScope, e: Expr, assigning: boolean, seen = new Set<UnitScope>()): UnitScope | undefined {
  if (e.kind !== "apply" || e.base.kind !== "name" || find(scope, e.base.name)?.dims) return undefined;
  const called = findProcedure(scope, e.base.name);
  if (called?.unit.kind !== "procedure" || called.unit.form !== "function") return undefined;
  const result = resultVariable(called);
  if (!result || result.dims || result.refused || called.unit.prefixes.includes("elemental")) return undefined;
  const assigns = assigning && [...writtenBy(called)].some((name) => !findNamed(called, name)?.dummy);
  return assigns || launches(called, seen) ? called : undefined;
}

/** The variable of a function's result. */
export const resultVariable = ({ unit, variables }: UnitScope): Declared | undefined =>
  unit.kind === "procedure" ? variables.get(unit.result ?? unit.name) : undefined;

const named = (name: string, at: Location): Name => ({ kind: "name", name, at });

const isNullify = (stmt: Stmt): boolean => stmt.kind === "unsupported" && stmt.construct === "nullify";

/** Whether control may go from inside of the statement to somewhere else. */
function leaves(stmt: Stmt, names: readonly string[] = [], isInLoop = false): boolean {
  if (stmt.kind === "return" || stmt.kind === "stop") return true;
  if (stmt.kind === "exit" || stmt.kind === "cycle") return stmt.loop === undefined ? !isInLoop : !names.includes(stmt.loop);
  const isLoop = stmt.kind === "do" || stmt.kind === "do-while";
  const inner = "name" in stmt && stmt.name !== undefined ? [...names, stmt.name] : names;
  return bodiesOf(stmt).some((block) => block.some((s) => leaves(s, inner, isInLoop || isLoop)));
}

const movesData = (s: Stmt): boolean => s.kind === "directed" && dataKind(s.directive) !== undefined;

export class Planner {
  /** Directives that the statement stands in, outermost first. */
  private around: readonly Directive[] = [];
  /** Launches of the routine, by statement. */
  readonly regions: ReadonlyMap<Stmt, ParallelRegion>;

  constructor(
    private readonly scope: UnitScope,
    private readonly refuse: (problem: Unlowerable) => void,
  ) {
    this.regions = new Map(regionsOf(scope).flatMap((region) => (region.stmt ? [[region.stmt, region]] : [])));
  }

  steps(list: readonly Stmt[]): HostStep[] {
    const steps: HostStep[] = [];
    let pending: Stmt[] = [];
    const flush = (): void => {
      if (pending.length > 0) {
        const stmts = pending;
        const onDevice = this.around.some(isCompute);
        this.attempt(() => void steps.push({ kind: "sequence", sequence: lowerSequence(this.scope, stmts), onDevice }));
      }
      pending = [];
    };
    for (const stmt of list.flatMap((each) => sizesOf(this.scope, each))) {
      if (stmt.kind === "print") {
        const made = this.printed(stmt);
        if (made) {
          flush();
          steps.push(made);
        }
        continue;
      }
      if (stmt.kind === "comment" || stmt.kind === "continue" || this.isLeftOut(stmt)) continue;
      if (stmt.kind === "unsupported" && isOutput(this.scope, stmt)) {
        // Sets error codes of statements that are left out to zero.
        for (const [, name] of stmt.text.matchAll(/\biostat\s*=\s*(\w+)/gi)) pending.push(zero({ kind: "name", name, at: stmt.at }));
        continue;
      }
      const calls: HostStep[] = [];
      let rest: Stmt = stmt;
      this.attempt(() => void (rest = this.withoutCalls(stmt, calls)));
      if (calls.length > 0) flush();
      steps.push(...calls);
      if (!this.isHosts(rest)) pending.push(rest);
      else {
        flush();
        this.attempt(() => {
          const name = nameLeft(rest);
          const made = this.step(rest);
          steps.push(...(name === undefined ? made : [{ kind: "construct" as const, name, body: made }]));
        });
      }
    }
    flush();
    return steps;
  }

  /** A statement with the results of functions that the host calls before it. */
  private withoutCalls(stmt: Stmt, calls: HostStep[]): Stmt {
    const { scope } = this;
    const isLoop = stmt.kind === "directed" || stmt.kind === "do-concurrent";
    if (isLoop || !this.isHosts(stmt) || !expressionsOf(stmt).some((e) => callsAlone(scope, e, true))) return stmt;
    const { at } = stmt;
    if (stmt.kind === "do-while") {
      const leave: Stmt = { kind: "if", branches: [{ cond: negated(stmt.cond!), body: [{ kind: "exit", at }], at }], oneLine: true, at };
      return { ...stmt, cond: undefined, body: [leave, ...stmt.body] };
    }
    if (stmt.kind === "if" && stmt.branches.slice(1).some(({ cond }) => callsAlone(scope, cond, true))) {
      const [first, ...others] = stmt.branches;
      return this.withoutCalls({ ...stmt, branches: [first], otherwise: [{ ...stmt, branches: others }] }, calls);
    }
    return withExpressions(stmt, (e) => {
      const called = runsAlone(scope, e, true);
      if (!called || e.kind !== "apply") return e;
      const result = this.temporary(`${variableName(e)}_result`, resultVariable(called)!);
      const call: CallStatement = { kind: "call", procedure: e.base, args: e.args, at: e.at };
      calls.push(...this.callWithElements(call).map((step) => (step.kind === "call" ? { ...step, result } : step)));
      return { kind: "name", name: result, at: e.at };
    });
  }

  /** A new scalar variable of the routine, by a name like the one that is wished for. */
  private temporary(wish: string, { type, derived, refused, at }: Declared): string {
    const { scope } = this;
    let name = wish;
    for (let n = 2; find(scope, name); n++) name = `${wish}_${n}`;
    const of = derived !== undefined && { derived, refused };
    scope.variables.set(name, { name, type, ...of, attributes: new Set(), dummy: false, scope, at });
    return name;
  }

  /** A line that is printed; undefined where an item has no value here. */
  private printed({ items, at }: Print): HostStep | undefined {
    const { scope } = this;
    const item = (e: Expr): PrintItem => {
      if (e.kind === "literal" && e.type === "character") return e.text;
      const base = e.kind === "apply" ? e.base : e;
      const variable = base.kind === "name" || base.kind === "part" ? namedVariable(scope, base) : undefined;
      if (variable?.dims && lowerShape(scope, e)) {
        const array = this.actual(e, { ...variable, attributes: new Set() }, at);
        if (array.kind === "array") return { array };
      }
      if (callsAlone(scope, e, true)) throw new Unlowerable(at, "print", "it calls a function that launches");
      return { value: lowerValue(scope, e), isText: e.kind === "name" && variable !== undefined && isTextNumber(variable) };
    };
    try {
      return { kind: "print", items: items.map(item), at };
    } catch (error) {
      if (error instanceof Unlowerable) return undefined;
      throw error;
    }
  }

  private attempt(make: () => void): void {
    try {
      make();
    } catch (error) {
      if (!(error instanceof Unlowerable)) throw error;
      this.refuse(error);
    }
  }

  /** Calls of the GPU's runtime. */
  private isLeftOut(stmt: Stmt): boolean {
    if ((stmt.kind === "assign" || stmt.kind === "call") && stmt.cudaOnly) return true;
    if (stmt.kind === "call") return stmt.procedure.kind === "name" && LEFT_OUT.test(stmt.procedure.name);
    const called = stmt.kind === "assign" && stmt.value.kind === "apply" ? treeName(stmt.value) : "";
    return LEFT_OUT.test(called) && !isToldByOpenMP(called);
  }

  /** Whether a statement is followed by the host, and not worked out as a whole. */
  private isHosts(stmt: Stmt): boolean {
    if (stmt.kind === "call" || stmt.kind === "directed" || leaves(stmt)) return true;
    let found = false;
    eachStatement([stmt], (inner) => void (found ||= movesData(inner) || startsWork(this.scope, inner, new Set())));
    return found;
  }

  private step(stmt: Stmt): HostStep[] {
    const { scope } = this;
    const region = this.regions.get(stmt);
    if (region) return [this.launch(region, stmt)];
    switch (stmt.kind) {
      case "call":
        if (stmt.procedure.kind === "name" && ENDS.includes(stmt.procedure.name) && !findProcedure(scope, stmt.procedure.name))
          return [{ kind: "stop", at: stmt.at }];
        return this.random(stmt) ?? this.callWithElements(stmt);
      case "directed": {
        const { at } = stmt;
        const own = this.keptBy(stmt).map((name) => [name, this.temporary(name, find(scope, name)!)]);
        const assigned = (to: string, from: string): Stmt => ({ kind: "assign", target: named(to, at), value: named(from, at), at });
        const before = own.map(([name, kept]) => assigned(kept, name));
        const { around } = this;
        this.around = [...around, stmt.directive];
        const steps = this.steps([...before, ...stmt.body, ...own.map(([name, kept]) => assigned(name, kept))]);
        this.around = around;
        const { before: entered, after } = dataSteps(stmt, scope, (e, variable) => {
          const array = this.actual(e, { ...variable, attributes: new Set() }, at);
          return array.kind === "array" ? array : undefined;
        });
        return [...entered, ...steps, ...after];
      }
      case "block":
        return this.steps(stmt.body);
      case "if": {
        const branches = stmt.branches.map(({ cond, body }) => ({ cond: lowerValue(scope, cond, "bool"), steps: this.steps(body) }));
        return [{ kind: "if", branches, otherwise: this.steps(stmt.otherwise ?? []) }];
      }
      case "select":
        return this.step(asBranches(stmt));
      case "do": {
        const [start, stop, step] = [stmt.start, stmt.stop, stmt.step].map((e) => e && lowerValue(scope, e, "i32"));
        return [
          {
            kind: "do",
            variable: stmt.variable,
            start: start!,
            stop: stop!,
            ...(step && { step }),
            body: this.steps(stmt.body),
            ...(stmt.name && { name: stmt.name }),
          },
        ];
      }
      case "do-while":
        return [
          {
            kind: "while",
            ...(stmt.cond && { cond: lowerValue(scope, stmt.cond, "bool") }),
            body: this.steps(stmt.body),
            ...(stmt.name && { name: stmt.name }),
          },
        ];
      case "return":
        return [{ kind: "jump", jump: "return" }];
      case "exit":
      case "cycle":
        return [{ kind: "jump", jump: stmt.kind, ...(stmt.loop !== undefined && { loop: stmt.loop }) }];
      case "stop":
        return [{ kind: "stop", at: stmt.at }];
      case "pointer-assign": {
        const { target, value } = stmt;
        const name = variableName(target);
        if (value.kind === "apply" && treeName(value) === "null") return [{ kind: "point", name }];
        const pointer = namedVariable(scope, target.kind === "apply" ? target.base : target);
        if (!pointer?.dims || pointer.derived)
          throw new Unlowerable(stmt.at, `${name} =>`, "only pointers to arrays are supported", "use the variable itself");
        const to = this.actual(value, { ...pointer, attributes: new Set() }, stmt.at);
        if (to.kind !== "array")
          throw new Unlowerable(stmt.at, `${name} =>`, "only pointers to arrays are supported", "use the variable itself");
        // `p(0:) => a` changes the bounds alone.
        const sized = target.kind === "apply" && target.args.every((arg) => arg.kind === "section" && arg.upper);
        const lower = (arg: ActualArgument): Expr | undefined => (arg.kind === "section" ? arg.lower : undefined);
        const lowers = target.kind === "apply" && target.args.map(lower).map((e) => e && lowerValue(scope, e, "i32"));
        return [{ kind: "point", name, to, ...(sized && { bounds: this.bounds(target.args, stmt.at) }), ...(lowers && { lowers }) }];
      }
      case "unsupported":
        if (!isNullify(stmt)) return this.refused(stmt);
        return [...stmt.text.replace(/^nullify/i, "").matchAll(/[a-z][\w%]*/gi)].map(([name]) => ({
          kind: "point",
          name: name.toLowerCase().replaceAll("%", "_"),
        }));
      case "allocate": {
        const model = stmt.options.find(({ keyword }) => keyword === "source" || keyword === "mold");
        const steps = stmt.arrays.flatMap(({ target, at }) => this.allocated(target, model, at));
        return [...steps, ...this.succeeded(stmt)];
      }
      case "deallocate":
        return [...stmt.arrays.flatMap((array) => this.freed(array)), ...this.succeeded(stmt)];
      // Any other statement is worked out in a sequence, or left out.
      default:
        return this.refused(stmt);
    }
  }

  private launch(region: ParallelRegion, stmt: Stmt): HostStep {
    const clauses = clausesIn(stmt);
    const isOfHost = stmt.kind === "do-concurrent" || (stmt.kind === "directed" && isHosts(stmt, this.around));
    const [onDevice] = conditionsOf([...this.around.filter(isCompute).flatMap((each) => each.clauses), ...clauses]);
    const condition = onDevice?.kind === "condition" && { condition: lowerValue(this.scope, onDevice.value, "bool") };
    return { kind: "launch", region, items: itemsByName({ clauses }), isHosts: isOfHost, ...condition };
  }

  /** A new array, by its bounds or like another one. */
  private allocated(target: Designator, model: Allocate["options"][number] | undefined, at: Location): HostStep[] {
    const { scope } = this;
    const shape = model && target.kind !== "apply" ? lowerShape(scope, model.value) : undefined;
    if (target.kind !== "apply" && !shape) throw new Unlowerable(at, "allocate", "bounds are missing", "write allocate(a(n))");
    const bounds = shape?.map((upper) => ({ upper })) ?? this.bounds((target as Apply).args, at);
    const whole = target.kind === "apply" ? target.base : target;
    const objects = this.allocatedObjects(whole, bounds);
    if (objects) return objects;
    const filled: HostStep[] =
      model?.keyword === "source" ? [this.sequence({ kind: "assign", target: whole, value: model.value, at })] : [];
    const variable = namedVariable(scope, whole);
    const like = shape && variable && this.likeWhole(model!.value, variable);
    return [{ kind: "allocate", name: variableName(target), type: variable ? elementType(variable) : "f64", bounds, ...like }, ...filled];
  }

  /** The array whose lower bounds a new one has; another expression begins at 1. */
  private likeWhole(e: Expr, variable: Declared): Pick<Extract<HostStep, { kind: "allocate" }>, "like"> | undefined {
    const like = e.kind === "name" || e.kind === "part" ? this.actual(e, { ...variable, attributes: new Set() }, e.at) : undefined;
    return like?.kind === "array" ? { like } : undefined;
  }

  /** Arrays for the components of a new array of objects; undefined of other arrays. */
  private allocatedObjects(whole: Name | ComponentRef, bounds: Extract<HostStep, { kind: "allocate" }>["bounds"]): HostStep[] | undefined {
    const { scope } = this;
    if (namedVariable(scope, whole)?.derived === undefined) return undefined;
    return numberComponents(scope, whole).map((part): HostStep => {
      const variable = namedVariable(scope, part)!;
      const own = variable.dims!.slice(0, variable.dims!.length - bounds.length);
      const fixed = own.map(({ lower, upper }) => ({
        ...(lower && { lower: lowerValue(scope, lower, "i32") }),
        upper: lowerValue(scope, upper as Expr, "i32"),
      }));
      return { kind: "allocate", name: variableName(part), type: elementType(variable), bounds: [...fixed, ...bounds], variable };
    });
  }

  private freed(array: Designator): HostStep[] {
    const free = (of: Designator): HostStep => ({ kind: "free", name: variableName(of) });
    const isOfObjects = array.kind !== "apply" && namedVariable(this.scope, array)?.derived !== undefined;
    return isOfObjects ? numberComponents(this.scope, array).map(free) : [free(array)];
  }

  /** The scalars that a construct has for itself, though statements in it assign them: they keep the values from before. */
  private keptBy(stmt: Directed): string[] {
    const { scope } = this;
    return ownOf(scope, stmt, this.around, (s) => this.regions.get(s)).filter((name) => {
      const variable = find(scope, name);
      if (variable && !variable.dims && !variable.derived && !variable.refused) return true;
      if (isReadBehind(scope, stmt, name))
        throw new Unlowerable(
          stmt.at,
          `private(${name})`,
          "the construct has it for itself, and only a scalar keeps the value from before",
          "use another variable inside the construct",
        );
      return false;
    });
  }

  private refused(stmt: Stmt): never {
    const construct = stmt.kind === "unsupported" ? stmt.construct : stmt.kind;
    throw new Unlowerable(stmt.at, construct, "routines run on the host cannot contain it", "move its contents to a routine of its own");
  }

  private sequence(stmt: Stmt): HostStep {
    return { kind: "sequence", sequence: lowerSequence(this.scope, [stmt]) };
  }

  private bounds(args: readonly ActualArgument[], at: Location): Extract<HostStep, { kind: "allocate" }>["bounds"] {
    const bound = (e: Expr): LoweredSequence => lowerValue(this.scope, e, "i32");
    return args.map((arg) => {
      if (arg.kind === "value") return { upper: bound(arg.value) };
      if (!arg.upper) throw new Unlowerable(at, "bounds", "a bound is missing", "write both, a(0:n)");
      return { ...(arg.lower && { lower: bound(arg.lower) }), upper: bound(arg.upper) };
    });
  }

  /** `stat=` gives 0: what fails ends the run. */
  private succeeded({ options }: Allocate | Deallocate): HostStep[] {
    return options.flatMap(({ keyword, value }) => (keyword === "stat" ? [this.sequence(zero(value as Designator))] : []));
  }

  /** `random_number(x)`, `random_seed(size = n)`; undefined of other calls. */
  private random(stmt: CallStatement): HostStep[] | undefined {
    const { procedure, args, at } = stmt;
    const name = procedure.kind === "name" && !findProcedure(this.scope, procedure.name) ? procedure.name : "";
    if (name === "random_seed") {
      // The numbers are the same in each process, whatever the seed.
      const size = args.find((arg) => arg.kind === "value" && arg.keyword === "size");
      return size?.kind === "value" ? [this.sequence(whole(size.value as Designator, "1"))] : [];
    }
    const [arg] = args;
    if (name !== "random_number" || arg?.kind !== "value") return undefined;
    const e = arg.value;
    const base = e.kind === "apply" ? e.base : e;
    const variable = base.kind === "name" || base.kind === "part" ? namedVariable(this.scope, base) : undefined;
    const type = variable?.type;
    if (!variable || (type !== "f64" && type !== "f32"))
      throw new Unlowerable(at, name, "it takes variables of type real only", "pass a real variable");
    if (lowerShape(this.scope, e)) {
      // An array of the routine's own begins with its first use in code.
      const to = this.actual(e, { ...variable, attributes: new Set() }, at);
      if (to.kind === "array") return [this.sequence(zero(e as Designator)), { kind: "random", type, to }];
    }
    if (e.kind !== "apply") return [{ kind: "random", type, to: variableName(e as Name) }];
    const one = this.temporary("random", { ...variable, dims: undefined });
    return [{ kind: "random", type, to: one }, this.sequence({ kind: "assign", target: e as Designator, value: named(one, at), at })];
  }

  /** A call, between copies of the elements of arrays that it assigns as scalars. */
  private callWithElements(stmt: CallStatement): HostStep[] {
    const { before, call, after } = withElements(this.scope, stmt, (wish, declared) => this.temporary(wish, declared));
    const sequence = (list: readonly Stmt[]): HostStep[] =>
      list.length > 0 ? [{ kind: "sequence", sequence: lowerSequence(this.scope, list) }] : [];
    return [...sequence(before), this.call(call), ...sequence(after)];
  }

  private call(stmt: CallStatement): Extract<HostStep, { kind: "call" }> {
    const { scope } = this;
    const procedure = stmt.procedure.kind === "name" ? findProcedure(scope, stmt.procedure.name) : undefined;
    const { at } = stmt;
    if (procedure?.unit.kind !== "procedure") {
      const { why, remedy } = procedureProblem(scope, treeName(stmt.procedure)) ?? NOT_KNOWN;
      throw new Unlowerable(at, `call ${treeName(stmt.procedure)}`, why, remedy);
    }
    const args = new Map<string, Actual>();
    for (const [dummy, actual] of matched(procedure.unit, stmt.args, at)) {
      const variable = procedure.variables.get(dummy);
      if (!variable) continue;
      if (variable.derived !== undefined && variable.dims) {
        this.objectsGiven(procedure, variable, actual).forEach(([name, component]) => args.set(name, component));
        continue;
      }
      const of = variable.derived === undefined ? undefined : objectGiven(procedure, variable, actual);
      const taken =
        of &&
        nestedComponents(this.scope, of)
          .map(variableName)
          .find((name) => find(this.scope, name));
      if (taken) throw new Unlowerable(at, taken, "a variable has the name of the component", "rename the variable");
      args.set(dummy, of ? { kind: "object", name: variableName(of), of } : this.actual(actual, variable, at));
    }
    const { grid, block, shared } = stmt.launch ?? {};
    const bytes = shared && opensShared(procedure) ? { shared: lowerValue(this.scope, shared, "i32") } : {};
    return { kind: "call", procedure, args, at, ...(grid && block && { grid: [grid, block] }), ...bytes };
  }

  /** Arguments for the components of an array of objects. */
  private objectsGiven(procedure: UnitScope, dummy: Declared, actual: Expr): [string, Actual][] {
    if (
      dummy.attributes.has("intent(out)") &&
      componentsOfNumbers(procedure, dummy).some((part) => namedVariable(procedure, part)!.initial)
    )
      throw new Unlowerable(actual.at, dummy.name, "it has initial values from its type", "make it intent(inout), and assign them");
    return componentsOfNumbers(procedure, dummy).map((part) => {
      const given = givenComponent(this.scope, part, actual);
      return [variableName(part), this.actual(given, namedVariable(procedure, part)!, actual.at)];
    });
  }

  private actual(
    e: Expr,
    dummy: Pick<Declared, "type" | "dims" | "derived" | "name"> & { attributes?: Declared["attributes"] },
    at: Location,
  ): Actual {
    const { scope } = this;
    const name = e.kind === "name" || e.kind === "part" ? variableName(e) : undefined;
    if (!dummy.dims)
      return { kind: "scalar", value: lowerValue(scope, e, dummy.type), ...(name !== undefined && !find(scope, name)?.value && { name }) };
    const base = e.kind === "apply" ? e.base : e;
    if (base.kind !== "name" && base.kind !== "part")
      throw new Unlowerable(at, treeName(e), `an expression is given for the array ${dummy.name}`, "assign it to an array first");
    const array = namedVariable(scope, base);
    const asked = array && beginsByRun(array, scope) ? { asked: array } : undefined;
    const bounds = asked ? [] : ((array && findAllocation(array)?.bounds) ?? array?.dims ?? []);
    if (
      dummy.attributes &&
      (dummy.attributes.has("allocatable") || dummy.attributes.has("pointer")) &&
      !findAllocation(dummy as Declared) &&
      bounds.some(({ lower }) => lower && !isOne(lower))
    )
      throw new Unlowerable(at, treeName(e), `${dummy.name} takes its bounds from the argument`, `give ${dummy.name} bounds of its own`);
    const lowers = bounds.map(({ lower }) => lower && lowerValue(scope, lower, "i32"));
    if (e.kind !== "apply") return { kind: "array", name: variableName(base), lowers, rank: array?.dims?.length ?? 0, ...asked };
    const axes = e.args.map((part): ActualAxis => {
      if (part.kind === "value") return { kind: "index", at: lowerValue(scope, part.value, "i32") };
      const [lower, upper, step] = [part.lower, part.upper, part.step].map((bound) => bound && lowerValue(scope, bound, "i32"));
      return { kind: "section", ...(lower && { lower }), ...(upper && { upper }), ...(step && { step }) };
    });
    return { kind: "array", name: variableName(base), axes, lowers, rank: axes.filter(({ kind }) => kind === "section").length, ...asked };
  }
}

/** The components of an array of objects, and of objects in it, that are numbers. */
const numberComponents = (scope: UnitScope, array: Name | ComponentRef): ComponentRef[] =>
  nestedComponents(scope, array).filter((part) => {
    const variable = namedVariable(scope, part);
    return variable && variable.derived === undefined && (!variable.refused || variable.byte);
  });

const componentsOfNumbers = (scope: UnitScope, { name, at }: Declared): ComponentRef[] => numberComponents(scope, named(name, at));

/** Whether the launch says how much memory the threads of a block share. */
const opensShared = ({ variables }: UnitScope): boolean =>
  [...variables.values()].some(({ attributes, dims }) => attributes.has("shared") && dims?.some(({ upper }) => upper === "*"));

/** `grid = dim3(a, b, c)` as assignments of its components; any other statement as it is. */
function sizesOf(scope: UnitScope, stmt: Stmt): Stmt[] {
  if (stmt.kind !== "assign") return [stmt];
  const [targets, values] = [stmt.target, stmt.value].map((e) => dim3Parts(scope, e));
  return targets && values ? targets.map((target, n) => ({ ...stmt, target: target as Designator, value: values[n] })) : [stmt];
}

const negated = (a: Expr): Expr => ({ kind: "unary", op: ".not.", a: { kind: "group", a, at: a.at }, at: a.at });

const isOne = (e: Expr): boolean => e.kind === "literal" && e.text === "1";

const zero = (target: Designator): Assign => whole(target, "0");

const whole = (target: Designator, text: string): Assign => ({
  kind: "assign",
  target,
  value: { kind: "literal", type: "integer", text, at: target.at },
  at: target.at,
});
