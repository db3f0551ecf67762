import type { Location } from "../../ir/types.js";
import { isParallel, regionsOf, type Region } from "../analyse/regions.js";
import { dim3Parts, find, findProcedure, type Scope } from "../analyse/symbols.js";
import { bodiesOf } from "../analyse/visit.js";
import { nameOf, walkStatements } from "../analyse/walk.js";
import type { Allocate, Argument, Bound, Call, Deallocate, Expr, SelectCase, Stmt, Variable } from "../tree/index.js";
import { lowerSequence, lowerValue, type LoweredSequence } from "../lower/kernels.js";
import { treeName, Unlowerable } from "../lower/values.js";

/* What the host's side of a routine does, in order. */

export type Step =
  | { readonly kind: "launch"; readonly region: Region }
  | { readonly kind: "sequence"; readonly sequence: LoweredSequence }
  | {
      readonly kind: "call";
      readonly procedure: Scope;
      readonly args: ReadonlyMap<string, Actual>;
      readonly grid?: readonly Expr[];
      readonly at: Location;
    }
  | {
      readonly kind: "if";
      readonly branches: readonly { readonly cond: LoweredSequence; readonly steps: readonly Step[] }[];
      readonly otherwise: readonly Step[];
    }
  | {
      readonly kind: "do";
      readonly variable: string;
      readonly start: LoweredSequence;
      readonly stop: LoweredSequence;
      readonly step?: LoweredSequence;
      readonly body: readonly Step[];
      readonly name?: string;
    }
  | { readonly kind: "while"; readonly cond?: LoweredSequence; readonly body: readonly Step[]; readonly name?: string }
  | { readonly kind: "jump"; readonly jump: "return" | "exit" | "cycle"; readonly loop?: string }
  | {
      readonly kind: "allocate";
      readonly name: string;
      readonly bounds: readonly { readonly lower?: LoweredSequence; readonly upper: LoweredSequence }[];
    }
  | { readonly kind: "free"; readonly name: string }
  | { readonly kind: "stop"; readonly at: Location };

/** What is given for a dummy argument. */
export type Actual =
  | {
      readonly kind: "scalar";
      readonly value: LoweredSequence;
      /** A scalar variable, which takes what the procedure assigns. */ readonly name?: string;
    }
  | { readonly kind: "object"; readonly name: string }
  | {
      readonly kind: "array";
      readonly name: string;
      readonly axes?: readonly ActualAxis[];
      readonly lowers: readonly (LoweredSequence | undefined)[];
    };
export type ActualAxis =
  | { readonly kind: "index"; readonly at: LoweredSequence }
  | { readonly kind: "section"; readonly lower?: LoweredSequence; readonly upper?: LoweredSequence; readonly step?: LoweredSequence };

const LEFT_OUT = /^(cuda\w*|acc_\w+|omp_\w+)$/;

/** Whether a procedure launches, or calls what does. */
function launches(scope: Scope, seen = new Set<Scope>()): boolean {
  if (seen.has(scope) || scope.unit.kind === "module") return false;
  seen.add(scope);
  let found = false;
  walkStatements(scope.unit.body, (stmt) => void (found ||= startsWork(scope, stmt, seen)));
  return found;
}

function startsWork(scope: Scope, stmt: Stmt, seen: Set<Scope>): boolean {
  if (stmt.kind === "directed") return isParallel(stmt.directive);
  if (stmt.kind === "do-concurrent" || stmt.kind === "allocate" || stmt.kind === "deallocate") return true;
  if (stmt.kind !== "call") return false;
  const procedure = stmt.procedure.kind === "name" ? findProcedure(scope, stmt.procedure.name) : undefined;
  return !procedure || stmt.launch !== undefined || launches(procedure, seen);
}

/** Whether control may go from inside of the statement to somewhere else. */
function leaves(stmt: Stmt, loops: readonly (string | undefined)[] = []): boolean {
  if (stmt.kind === "return" || stmt.kind === "stop") return true;
  if (stmt.kind === "exit" || stmt.kind === "cycle") return stmt.loop === undefined ? loops.length === 0 : !loops.includes(stmt.loop);
  const inner = stmt.kind === "do" || stmt.kind === "do-while" ? [...loops, stmt.name] : loops;
  return bodiesOf(stmt).some((block) => block.some((s) => leaves(s, inner)));
}

export class Planner {
  /** What the routine launches, by statement. */
  readonly regions: ReadonlyMap<Stmt, Region>;

  constructor(
    private readonly scope: Scope,
    private readonly refuse: (problem: Unlowerable) => void,
  ) {
    this.regions = new Map(regionsOf(scope).flatMap((region) => (region.stmt ? [[region.stmt, region]] : [])));
  }

  steps(list: readonly Stmt[]): Step[] {
    const steps: Step[] = [];
    let pending: Stmt[] = [];
    const flush = (): void => {
      if (pending.length > 0) {
        const stmts = pending;
        this.attempt(() => void steps.push({ kind: "sequence", sequence: lowerSequence(this.scope, stmts) }));
      }
      pending = [];
    };
    for (const stmt of list.flatMap((each) => sizesOf(this.scope, each))) {
      if (stmt.kind === "comment" || stmt.kind === "continue" || stmt.kind === "print" || this.isLeftOut(stmt)) continue;
      if (!this.isHosts(stmt)) pending.push(stmt);
      else {
        flush();
        this.attempt(() => void steps.push(...this.step(stmt)));
      }
    }
    flush();
    return steps;
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
    return stmt.kind === "assign" && stmt.value.kind === "apply" && LEFT_OUT.test(treeName(stmt.value));
  }

  /** Whether a statement is followed by the host, and not worked out as a whole. */
  private isHosts(stmt: Stmt): boolean {
    if (stmt.kind === "call" || stmt.kind === "directed" || leaves(stmt)) return true;
    let found = false;
    walkStatements([stmt], (inner) => void (found ||= startsWork(this.scope, inner, new Set())));
    return found;
  }

  private step(stmt: Stmt): Step[] {
    const { scope } = this;
    const region = this.regions.get(stmt);
    if (region) return [{ kind: "launch", region }];
    switch (stmt.kind) {
      case "call":
        return [this.call(stmt)];
      case "directed":
      case "block":
        return this.steps(stmt.body);
      case "if": {
        const branches = stmt.branches.map(({ cond, body }) => ({ cond: lowerValue(scope, cond, "bool"), steps: this.steps(body) }));
        return [{ kind: "if", branches, otherwise: this.steps(stmt.otherwise ?? []) }];
      }
      case "select":
        return this.step({
          kind: "if",
          branches: casesOf(stmt),
          otherwise: stmt.cases.find(({ ranges }) => !ranges)?.body ?? [],
          oneLine: false,
          at: stmt.at,
        });
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
      case "allocate":
        return [
          ...stmt.arrays.map(({ target, at }): Step => {
            if (target.kind !== "apply") throw new Unlowerable(at, "allocate", "bounds are missing");
            const bounds = target.args.map((arg) => {
              if (arg.kind === "value") return { upper: lowerValue(scope, arg.value, "i32") };
              if (!arg.upper) throw new Unlowerable(at, "allocate", "a bound is missing");
              return { ...(arg.lower && { lower: lowerValue(scope, arg.lower, "i32") }), upper: lowerValue(scope, arg.upper, "i32") };
            });
            return { kind: "allocate", name: nameOf(target), bounds };
          }),
          ...this.succeeded(stmt),
        ];
      case "deallocate":
        return [...stmt.arrays.map((array): Step => ({ kind: "free", name: nameOf(array) })), ...this.succeeded(stmt)];
      // Any other statement is worked out in a sequence, or left out.
      default:
        throw new Unlowerable(
          stmt.at,
          stmt.kind === "unsupported" ? stmt.construct : stmt.kind,
          "routines that are run cannot hold it",
          "move what it holds to a routine of its own",
        );
    }
  }

  /** `stat=` gives 0: what fails ends the run. */
  private succeeded({ options, at }: Allocate | Deallocate): Step[] {
    const zero: Expr = { kind: "literal", type: "integer", text: "0", at };
    return options.flatMap(({ keyword, value }) => {
      if (keyword !== "stat") return [];
      const assignment: Stmt = { kind: "assign", target: value as Variable, value: zero, at };
      return [{ kind: "sequence" as const, sequence: lowerSequence(this.scope, [assignment]) }];
    });
  }

  private call(stmt: Call): Step {
    const { scope } = this;
    const procedure = stmt.procedure.kind === "name" ? findProcedure(scope, stmt.procedure.name) : undefined;
    const { at } = stmt;
    if (procedure?.unit.kind !== "procedure")
      throw new Unlowerable(at, `call ${treeName(stmt.procedure)}`, "the procedure is not known", "give the file that has it");
    const { dummies } = procedure.unit;
    const args = new Map<string, Actual>();
    stmt.args.forEach((arg, n) => {
      const dummy = (arg.kind === "value" ? arg.keyword : undefined) ?? dummies[n];
      const variable = dummy === undefined ? undefined : procedure.variables.get(dummy);
      if (!variable)
        throw new Unlowerable(at, `call ${procedure.unit.name}`, `${stmt.args.length} arguments, and it takes ${dummies.length}`);
      args.set(dummy, this.actual(arg, variable, at));
    });
    const { grid, block } = stmt.launch ?? {};
    return { kind: "call", procedure, args, at, ...(grid && block && { grid: [grid, block] }) };
  }

  private actual(
    arg: Argument,
    dummy: { type: LoweredSequence["results"][number]["type"]; dims?: readonly Bound[]; derived?: string; name: string },
    at: Location,
  ): Actual {
    const { scope } = this;
    if (arg.kind !== "value") throw new Unlowerable(at, dummy.name, "a section stands where an argument is wanted");
    const e = arg.value;
    if (dummy.derived) return { kind: "object", name: treeName(e) };
    const name = e.kind === "name" || e.kind === "part" ? nameOf(e) : undefined;
    if (!dummy.dims)
      return { kind: "scalar", value: lowerValue(scope, e, dummy.type), ...(name !== undefined && !find(scope, name)?.value && { name }) };
    const base = e.kind === "apply" ? e.base : e;
    if (base.kind !== "name" && base.kind !== "part")
      throw new Unlowerable(at, treeName(e), `an expression is given for the array ${dummy.name}`, "assign it to an array first");
    const array = find(scope, nameOf(base));
    const lowers = (array?.dims ?? []).map(({ lower }) => lower && lowerValue(scope, lower, "i32"));
    if (e.kind !== "apply") return { kind: "array", name: nameOf(base), lowers };
    const axes = e.args.map((part): ActualAxis => {
      if (part.kind === "value") return { kind: "index", at: lowerValue(scope, part.value, "i32") };
      const [lower, upper, step] = [part.lower, part.upper, part.step].map((bound) => bound && lowerValue(scope, bound, "i32"));
      return { kind: "section", ...(lower && { lower }), ...(upper && { upper }), ...(step && { step }) };
    });
    return { kind: "array", name: nameOf(base), axes, lowers };
  }
}

/** `grid = dim3(a, b, c)` as assignments of its components; any other statement as it is. */
function sizesOf(scope: Scope, stmt: Stmt): Stmt[] {
  if (stmt.kind !== "assign") return [stmt];
  const [targets, values] = [stmt.target, stmt.value].map((e) => dim3Parts(scope, e));
  return targets && values ? targets.map((target, n) => ({ ...stmt, target: target as Variable, value: values[n] })) : [stmt];
}

/** The cases of a `select` as conditions. */
function casesOf({ value, cases }: SelectCase): { cond: Expr; body: readonly Stmt[]; at: Location }[] {
  const relation = (op: "==" | ">=" | "<=", b: Expr): Expr => ({ kind: "binary", op, a: value, b, at: b.at });
  const both =
    (op: ".and." | ".or.") =>
    (a: Expr, b: Expr): Expr => ({ kind: "binary", op, a, b, at: a.at });
  return cases.flatMap(({ ranges, body, at }) => {
    if (!ranges) return [];
    const tests = ranges.map(({ lower, upper }) => {
      if (lower !== undefined && lower === upper) return relation("==", lower);
      return [...(lower ? [relation(">=", lower)] : []), ...(upper ? [relation("<=", upper)] : [])].reduce(both(".and."));
    });
    return [{ cond: tests.reduce(both(".or.")), body, at }];
  });
}
