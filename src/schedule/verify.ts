import { IRError } from "../base/errors.js";
import type { ScheduledEntry } from "./entry.js";
import type { Expr, Func, Memory, Place, Stmt, Target, Type } from "./nodes.js";
import { valueType } from "./build.js";
import { Uniformity } from "./uniformity.js";
import { innerLists, ownExpressions, operands } from "./walk.js";

type Known = { readonly type: Type } | { readonly memory: Memory };

/** Declarations of a block and of those around it. */
class Scope {
  /** Made for the first declaration: most blocks have none. */
  private own: Map<string, Known> | undefined;
  /** The nearest block around it that has declarations. */
  private readonly around: Scope | undefined;

  constructor(around?: Scope) {
    this.around = around && !around.own ? (around.around ?? around) : around;
  }

  get(id: string): Known | undefined {
    return this.own?.get(id) ?? this.around?.get(id);
  }

  declares(id: string): boolean {
    return this.own?.has(id) === true;
  }

  set(id: string, known: Known): void {
    (this.own ??= new Map()).set(id, known);
  }
}

/**
 * Checks what printers of a kernel's entries and functions rely on: variables, arrays and numbers are declared, once, and used by their types;
 * conditions are true or false; operands have the type of their operation; all threads of a block come to each barrier. Throws IRError: it is a
 * mistake of a schedule, not of the user.
 */
export function verifySchedule(kernel: string, entries: readonly (ScheduledEntry | undefined)[], functions: readonly Func[]): void {
  for (const entry of entries) if (entry) verifyEntry(kernel, entry);
  for (const fn of functions) verifyFunction(kernel, fn);
}

function verifyEntry(kernel: string, { id, params, shared, early, body }: ScheduledEntry): void {
  const scope = new Scope();
  for (const param of params) {
    if (param.kind === "number") scope.set(param.id, { type: param.type });
    else scope.set(param.memory.id, { memory: param.memory });
  }
  for (const { memory } of shared) scope.set(memory.id, { memory });
  const verifier = new Verifier(kernel, id);
  verifier.list(early, scope);
  verifier.list(body, scope);
  const apart = new Uniformity([...early, ...body]).barrierApart();
  if (apart) verifier.fail("a barrier to which only some threads of a block may come", apart.line);
}

function verifyFunction(kernel: string, fn: Func): void {
  const scope = new Scope();
  for (const param of fn.params) {
    if ("memory" in param) scope.set(param.memory.id, { memory: param.memory });
    else scope.set(param.id, { type: param.type });
  }
  new Verifier(kernel, fn.id).list(fn.body, scope);
}

class Verifier {
  constructor(
    private readonly kernel: string,
    private readonly place: string,
  ) {}

  fail(problem: string, line?: number): never {
    throw new IRError(this.kernel, undefined, `${this.place} has ${problem}${line ? `, line ${line}` : ""}`);
  }

  list(list: readonly Stmt[], scope: Scope): void {
    for (const stmt of list) this.statement(stmt, scope);
  }

  private statement(stmt: Stmt, scope: Scope): void {
    if (stmt.kind === "loop") return this.loop(stmt, scope);
    // Its values belong to threads, and the language names them.
    if (stmt.kind === "foldRun") return;
    for (const e of ownExpressions(stmt)) this.expr(e, scope);
    this.places(stmt, scope);
    if (stmt.kind === "if" || stmt.kind === "while") this.condition(stmt.cond);
    if (stmt.kind === "repeat") {
      this.declared(stmt.id, scope);
      this.condition(stmt.again);
    }
    for (const list of innerLists(stmt)) this.list(list, new Scope(scope));
  }

  /** Variables and arrays that a statement declares or changes. */
  private places(stmt: Stmt, scope: Scope): void {
    if (stmt.kind === "let") {
      if (stmt.value) this.same(stmt.value.type, stmt.type, stmt.id);
      this.declare(stmt.id, { type: stmt.type }, scope);
    } else if (stmt.kind === "assign") this.change(stmt.to, stmt.value, scope);
    else if (stmt.kind === "increase") this.change(stmt.to, stmt.by, scope);
    else if (stmt.kind === "array") this.declare(stmt.memory.id, { memory: stmt.memory }, scope);
    else if (stmt.kind === "append") {
      this.memory(stmt.to, scope);
      this.to(stmt.at, scope);
    } else if (stmt.kind === "pointer") {
      if (stmt.to) this.target(stmt.to, scope);
      this.declare(stmt.memory.id, { memory: stmt.memory }, scope);
    } else if (stmt.kind === "point") {
      this.target(stmt.to, scope);
      this.memory(stmt.memory, scope);
    } else if (stmt.kind === "atomic") {
      this.memory(stmt.at, scope);
      this.same(stmt.value.type, valueType(stmt.at), stmt.at.id);
    }
  }

  private loop(stmt: Extract<Stmt, { kind: "loop" }>, scope: Scope): void {
    const inside = new Scope(scope);
    if (stmt.start) {
      this.expr(stmt.start, scope);
      this.same(stmt.start.type, stmt.type, stmt.id);
      inside.set(stmt.id, { type: stmt.type });
    } else if (stmt.id !== "") this.declared(stmt.id, scope);
    if (stmt.cond) {
      this.expr(stmt.cond, inside);
      this.condition(stmt.cond);
    }
    if (stmt.step) {
      this.expr(stmt.step.by, inside);
      // Numbers of blocks and threads are steps as they are.
      if (stmt.step.by.type !== "u32") this.same(stmt.step.by.type, stmt.type, stmt.id);
    }
    this.list(stmt.body, inside);
  }

  private declare(id: string, known: Known, scope: Scope): void {
    if (scope.declares(id)) this.fail(`two declarations of ${id}`);
    scope.set(id, known);
  }

  private change(to: Place, value: Expr, scope: Scope): void {
    this.to(to, scope);
    this.same(value.type, to.type, "id" in to ? to.id : to.memory.id);
  }

  private to(place: Place, scope: Scope): void {
    if ("memory" in place) this.memory(place.memory, scope);
    else this.same(place.type, this.declared(place.id, scope), place.id);
  }

  private target(to: Target, scope: Scope): void {
    if ("of" in to) this.memory(to.of, scope);
  }

  private declared(id: string, scope: Scope): Type {
    const known = scope.get(id);
    if (!known || !("type" in known)) return this.fail(`no variable ${id}`);
    return known.type;
  }

  private memory(memory: Memory, scope: Scope): void {
    const known = scope.get(memory.id);
    if (!known || !("memory" in known)) return this.fail(`no memory ${memory.id}`);
    if (known.memory.element !== memory.element)
      this.fail(`elements of ${memory.id} that are ${memory.element} and ${known.memory.element}`);
  }

  private expr(e: Expr, scope: Scope): void {
    if (e.op === "const" || e.op === "place") return;
    if (e.op === "local") return this.same(e.type, this.declared(e.id, scope), e.id);
    if (e.op === "number") return this.number(e, scope);
    if (e.op === "binary" || e.op === "compare" || e.op === "logical") {
      this.expr(e.a, scope);
      this.expr(e.b, scope);
      return this.operation(e);
    }
    for (const operand of operands(e)) this.expr(operand, scope);
    if (e.op === "read") this.memory(e.from, scope);
    else if (e.op === "address") this.memory(e.of, scope);
    else if (e.op === "exchange" || e.op === "fetch" || e.op === "next") this.memory(e.at, scope);
    else this.composed(e);
  }

  private operation(e: Extract<Expr, { op: "binary" | "compare" | "logical" }>): void {
    if (e.op === "logical") {
      this.condition(e.a);
      return this.condition(e.b);
    }
    if (e.op === "binary") this.same(e.a.type, e.type, "an operand");
    // Schedules add numbers from 0 on to a u32 as they are: a conversion of its own makes other machine code of some kernels.
    const asItIs = e.op === "binary" && e.plain && e.type === "u32" && e.b.type === "int";
    if (e.fn !== "shl" && e.fn !== "shr" && !asItIs) this.same(e.b.type, e.a.type, "an operand");
  }

  private composed(e: Expr): void {
    if (e.op === "unary" && e.fn !== "clz") this.same(e.a.type, e.type, "an operand");
    else if (e.op === "shuffle") this.same(e.value.type, e.type, "a value that is exchanged");
    else if (e.op === "apply" && e.args.length !== e.fn.params.length) this.fail(`${e.args.length} arguments for ${e.fn.id}`);
    else if (e.op === "select") {
      this.condition(e.cond);
      this.same(e.a.type, e.type, "a choice");
      this.same(e.b.type, e.type, "a choice");
    }
  }

  /** A number of the launch: whole ones are given in 32 or 64 bits, whichever arithmetic they are for. */
  private number({ id, type }: Extract<Expr, { op: "number" }>, scope: Scope): void {
    const given = this.declared(id, scope);
    const whole = given === "i32" ? ["int", "index", "i32"] : given === "long" ? ["index", "long"] : [given];
    if (!whole.includes(type)) this.fail(`a number ${id} of type ${given} as ${type}`);
  }

  private condition(e: Expr): void {
    if (e.type !== "bool") this.fail(`a condition that is ${e.type}`);
  }

  private same(found: Type, wanted: Type, what: string): void {
    if (found !== wanted) this.fail(`${found} where ${wanted} is wanted: ${what}`);
  }
}
