import { valueType } from "./scalars.js";
import { IRError } from "../base/errors.js";
import { constant, operand, subscripts, type ArrayRef, type Operand, type Typed } from "./expressions.js";
import { identityOf } from "./identity.js";
import { isRank, MAX_RANK } from "../base/rank.js";
import { declareName, insideOf, outermost, Locals, Verifier, verify, type Context } from "./verify.js";
import type {
  AtomicFn,
  AtomicType,
  ElementType,
  Expr,
  KernelIR,
  Location,
  NumericType,
  Param,
  ReduceParam,
  ScalarType,
  ScatterOp,
  ScatterParam,
  Stmt,
  Table,
  TeamResult,
  ViewParam,
} from "./types.js";

/** Options of a `KernelBuilder`. */
export interface KernelOptions {
  /** Axes of the range, 1 to 4. Default: 1. */
  rank?: number;
  /** A team kernel instead. */
  team?: true;
  /** Place of the kernel in its source. */
  location?: Location;
}

/** Rows of a constant table. */
export type Rows = readonly (number | Rows)[];

/** The `reduce` statements' target: a parameter, or a result of the enclosing `teamReduce`. */
export type ReduceTarget<T extends NumericType = NumericType> = { readonly name: string; readonly type: T };

/** A local that may be assigned. */
export type LocalRef<T extends ScalarType = ScalarType> = Extract<Expr, { op: "local" }> & { readonly type: T };

type Results = Record<string, TeamResult["op"]>;
const NOWHERE: Location = { file: "unknown", line: 0, column: 0 };
const FINISHED = "it is finished, and nothing can be added";

/**
 * Builds the code of one kernel, statement after statement, as a front end meets them: parameters first, then the body; what stands inside of
 * a branch or a loop is built by a function that is called at once. A statement gets the place that was given last (`at`).
 *
 * Each call is checked: types, ranks, targets, and that locals are in scope. Names of parameters and tables are kept and must be free; locals,
 * arrays and counters get a name like the one that was wished for, as names are unique in a kernel.
 *
 * @throws IRError which names the kernel and the place
 */
export class KernelBuilder {
  private readonly ir: KernelIR;
  private readonly names = new Set<string>();
  /** The last number given to a wish. */
  private readonly numbers = new Map<string, number>();
  private out: Stmt[];
  private context: Context = outermost();
  private location: Location;
  private finished = false;

  constructor(name: string, { rank = 1, team, location = NOWHERE }: KernelOptions = {}) {
    const policy: KernelIR["policy"] = team ? { kind: "team" } : { kind: "range", rank };
    this.ir = { name, policy, params: [], tables: [], body: [], location };
    this.out = this.ir.body;
    this.location = location;
    if (!(Number.isInteger(rank) && rank >= 1 && rank <= 4)) this.fail(`a range of rank ${rank}: ranges have 1 to 4 axes`);
  }

  /** Sets the source location of the statements that follow. */
  at(location: Location): this {
    this.location = location;
    return this;
  }

  /** The whole kernel, checked once more; nothing can be added to it. */
  finish(): KernelIR {
    if (this.out !== this.ir.body) this.fail("it is finished inside of a statement");
    verify(this.ir);
    this.finished = true;
    return this.ir;
  }

  /* Parameters, in the order in which they are declared. */

  scalar<T extends ScalarType>(name: string, type: T): Typed<T> {
    this.param({ kind: "scalar", name, type });
    return { op: "param", type, name } as unknown as Typed<T>;
  }

  /**
   * An array of rank 1 to 7. `disjoint` asserts that no two elements of the range write one location. `bounds` are those that its author has declared,
   * by axis, for messages.
   */
  view<E extends ElementType>(
    name: string,
    element: E,
    rank = 1,
    { disjoint = false, bounds }: Partial<Pick<ViewParam, "disjoint" | "bounds">> = {},
  ): ViewParam & { readonly element: E } {
    return this.param({ kind: "view", name, element, rank: this.rankOf(name, rank), disjoint, ...(bounds && { bounds }) });
  }

  /** An array that `fetch` alone reaches. */
  atomic<E extends AtomicType>(name: string, element: E, rank = 1): ViewParam & { readonly element: E } {
    return this.param({ kind: "view", name, element, rank: this.rankOf(name, rank), disjoint: false, atomic: true });
  }

  /** An array that many elements fold into, and none reads. */
  scatter<T extends NumericType>(name: string, element: T, rank = 1, op: ScatterOp = "sum"): ScatterParam & { readonly element: T } {
    return this.param({ kind: "scatter", name, element, rank: this.rankOf(name, rank), op });
  }

  /** One result, folded over all elements. */
  reduce<T extends NumericType>(name: string, type: T, op: ScatterOp = "sum"): ReduceParam & { readonly type: T } {
    return this.param({ kind: "reduce", name, type, op, identity: identityOf(op, type) });
  }

  /** A fold of one's own: an associative expression of its two arguments, with its neutral element. */
  reducer<T extends NumericType>(
    name: string,
    type: T,
    identity: number,
    combine: (a: Typed<T>, b: Typed<T>) => Operand,
  ): ReduceParam & { readonly type: T } {
    const [a, b] = [this.fresh("a"), this.fresh("b")];
    const arg = (of: string): Typed<T> => ({ op: "local", type, name: of }) as unknown as Typed<T>;
    const body = this.value(type, combine(arg(a), arg(b)));
    return this.param({ kind: "reduce", name, type, op: "custom", identity: this.number(type, identity), combine: { a, b, body } });
  }

  /** Scratch of level 1, which a launch allocates for each team; `length` is an expression of scalars and extents. */
  teamRows<T extends NumericType>(name: string, element: T, length: Operand): ViewParam & { readonly element: T } {
    if (this.ir.policy.kind !== "team") this.fail(`scratch ${name} in a range kernel`);
    return this.param({ kind: "view", name, element, rank: 2, disjoint: false, teamLength: this.value("i32", length) });
  }

  /** A constant table; rows of one length within rows. */
  table<T extends NumericType>(name: string, type: T, rows: Rows): Table & { readonly type: T } {
    const shape: number[] = [];
    for (let level: Rows | number = rows; typeof level !== "number"; level = level[0]!) {
      if (level.length === 0) this.fail(`table ${name} has an empty row`);
      shape.push(level.length);
    }
    const flat = (level: Rows | number, axis: number): number[] => {
      if (typeof level === "number") return axis === shape.length ? [level] : this.fail(`table ${name} has rows of different depths`);
      if (level.length !== shape[axis]) this.fail(`table ${name} has rows of ${shape[axis]} and of ${level.length}`);
      return level.flatMap((row) => flat(row, axis + 1));
    };
    const values = flat(rows, 0).map((value) => this.number(type, value));
    const table = { name: this.take(name), type, shape, values };
    this.ir.tables.push(table);
    return table;
  }

  /* Statements. */

  /** A new local with its first value. */
  let<T extends ScalarType>(name: string, init: Typed<T>): LocalRef<T> {
    const own = this.fresh(name);
    this.push({ kind: "let", name: own, type: init.type, init, location: this.location });
    return { op: "local", type: init.type, name: own } as LocalRef<T>;
  }

  /** A new local without a value until it is assigned. */
  declare<T extends ScalarType>(name: string, type: T): LocalRef<T> {
    const own = this.fresh(name);
    this.push({ kind: "let", name: own, type, location: this.location });
    return { op: "local", type, name: own } as LocalRef<T>;
  }

  assign(local: LocalRef, value: Operand): void {
    this.push({ kind: "assign", name: local.name, value: this.value(local.type, value), location: this.location });
  }

  /** An array of constant length: `private`, zero each time the statement runs, or `scratch` that a team shares, undefined at first. */
  array<T extends NumericType>(name: string, type: T, length: number, space: "private" | "scratch" = "private"): ArrayRef<T> {
    const own = this.fresh(name);
    this.push({ kind: "array", name: own, type, length, space, location: this.location });
    return { name: own, type, length };
  }

  setElement(array: ArrayRef, at: Operand, value: Operand): void {
    const [index] = this.indices(array.name, 1, at);
    this.push({ kind: "setElement", array: array.name, index: index!, value: this.value(array.type, value), location: this.location });
  }

  store(view: ViewParam, at: Operand | readonly Operand[], value: Operand): void {
    const indices = this.indices(view.name, view.rank, at);
    const type = valueType(view.element);
    this.push({ kind: "store", view: view.name, indices, value: this.value(type, value), location: this.location });
  }

  /** Folds a value into an element of a scatter parameter. */
  scatterTo(target: ScatterParam, at: Operand | readonly Operand[], value: Operand): void {
    const indices = this.indices(target.name, target.rank, at);
    const folded = this.value(target.element, value);
    this.push({ kind: "scatter", target: target.name, indices, value: folded, location: this.location });
  }

  /** Replaces an element of an atomic array, and gives what was there: by a value, after the expected one of an exchange that has one; `load` has none. */
  fetch<E extends AtomicType>(
    fn: AtomicFn,
    target: ViewParam & { readonly element: E },
    at: Operand | readonly Operand[],
    ...operands: readonly Operand[]
  ): LocalRef<E> {
    const type = target.element;
    const indices = this.indices(target.name, target.rank, at);
    const given = operands.map((each) => this.value(type, each));
    const value = given.at(-1);
    const result = this.fresh(`${target.name}_before`);
    const expected = given.length > 1 && { expected: given[0] };
    this.push({
      kind: "atomic",
      target: target.name,
      indices,
      fn,
      type,
      ...(value && { value }),
      ...expected,
      result,
      location: this.location,
    });
    return { op: "local", type, name: result } as LocalRef<E>;
  }

  /** Folds a value into a reduction. */
  reduceTo(target: ReduceTarget, value: Operand): void {
    this.push({ kind: "reduce", target: target.name, value: this.value(target.type, value), location: this.location });
  }

  /** Prints a line of texts and values, with spaces between. */
  print(...items: (string | Expr)[]): void {
    this.push({ kind: "print", items, location: this.location });
  }

  if(cond: Operand, then: () => void, otherwise?: () => void): void {
    const stmt = this.push({ kind: "if", cond: this.value("bool", cond), then: [], else: [], location: this.location });
    this.inside(stmt, 0, stmt.then, then);
    if (otherwise) this.inside(stmt, 1, stmt.else, otherwise);
  }

  /** A counted loop from `start` by a constant step while below `stop` (above, where the step is negative); neither changes in it. */
  for(name: string, start: Operand, stop: Operand, body: (counter: Typed<"i32">) => void, step = 1): void {
    const own = this.fresh(name);
    const bounds = { start: this.value("i32", start), stop: this.value("i32", stop) };
    const stmt = this.push({ kind: "for", name: own, ...bounds, step, body: [], location: this.location });
    this.inside(stmt, 0, stmt.body, () => body({ op: "local", type: "i32", name: own }));
  }

  /** Any other loop; `update` runs after the body and after `continue`. */
  while(cond: Operand, body: () => void, update?: () => void): void {
    const stmt = this.push({ kind: "while", cond: this.value("bool", cond), body: [], update: [], location: this.location });
    this.inside(stmt, 0, stmt.body, body);
    if (update) this.inside(stmt, 1, stmt.update, update);
  }

  break(): void {
    this.push({ kind: "break", location: this.location });
  }

  continue(): void {
    this.push({ kind: "continue", location: this.location });
  }

  /** Members of a team share out 0 .. count-1; inside of such a loop, the lanes of a member. */
  teamFor(name: string, count: Operand, body: (member: Typed<"i32">) => void): void {
    const own = this.fresh(name);
    const stmt = this.push({ kind: "teamFor", name: own, count: this.value("i32", count), body: [], location: this.location });
    this.inside(stmt, 0, stmt.body, () => body({ op: "local", type: "i32", name: own }));
  }

  /** The same with results of one type, which `body` folds into with `reduceTo`, and which are locals afterwards. */
  teamReduce<T extends NumericType, R extends Results>(
    name: string,
    count: Operand,
    type: T,
    results: R,
    body: (member: Typed<"i32">, results: { [K in keyof R]: ReduceTarget<T> }) => void,
  ): { [K in keyof R]: Typed<T> } {
    const own = this.fresh(name);
    const folded = Object.entries(results).map(([wish, op]): [string, TeamResult] => [wish, { name: this.fresh(wish), type, op }]);
    const list = folded.map(([, result]) => result);
    const stmt = this.push({
      kind: "teamReduce",
      name: own,
      count: this.value("i32", count),
      results: list,
      body: [],
      location: this.location,
    });
    const targets = Object.fromEntries(folded) as unknown as { [K in keyof R]: ReduceTarget<T> };
    this.inside(stmt, 0, stmt.body, () => body({ op: "local", type: "i32", name: own }, targets));
    this.known(stmt);
    const locals = folded.map(([wish, result]) => [wish, { op: "local", type, name: result.name }]);
    return Object.fromEntries(locals) as { [K in keyof R]: Typed<T> };
  }

  /** One member runs the body. */
  single(body: () => void): void {
    const stmt = this.push({ kind: "single", body: [], location: this.location });
    this.inside(stmt, 0, stmt.body, body);
  }

  private param<P extends Param>(param: P): P {
    this.take(param.name);
    this.located(() => new Verifier(this.ir).param(param));
    this.ir.params.push(param);
    return param;
  }

  private push<S extends Stmt>(stmt: S): S {
    if (this.finished) this.fail(FINISHED);
    new Verifier(this.ir).head(stmt, this.context);
    this.out.push(stmt);
    if (stmt.kind !== "teamReduce") this.known(stmt);
    return stmt;
  }

  /** Makes the statement's declarations known to the statements that follow. */
  private known(stmt: Stmt): void {
    declareName(stmt, this.context.locals);
  }

  /** Builds one block of a statement. */
  private inside(stmt: Stmt, block: number, into: Stmt[], build: () => void): void {
    const { out, context, location } = this;
    const inner = insideOf(stmt, context, block);
    this.out = into;
    this.context = { ...inner, locals: new Locals(inner.locals) };
    try {
      build();
    } finally {
      Object.assign(this, { out, context, location });
    }
  }

  private rankOf(name: string, rank: number): number {
    return isRank(rank) ? rank : this.fail(`${name} has rank ${rank}: arrays have 1 to ${MAX_RANK} axes`);
  }

  private take(name: string): string {
    if (this.finished) this.fail(FINISHED);
    if (typeof name !== "string" || name === "") this.fail("a name is empty");
    if (this.names.has(name)) this.fail(`the name ${name} is declared twice`);
    this.names.add(name);
    return name;
  }

  /** A name like the wished one that nothing else has. */
  private fresh(wish: string): string {
    let name = wish;
    let n = this.numbers.get(wish) ?? 1;
    while (this.names.has(name)) name = `${wish}_${++n}`;
    this.numbers.set(wish, n);
    return this.take(name);
  }

  private value<T extends ScalarType>(type: T, given: Operand): Typed<T> {
    return this.located(() => operand(type, given));
  }

  /** A number as the type holds it. */
  private number(type: NumericType, given: number): number {
    const made: Expr = this.located(() => constant(type, given));
    return made.op === "const" ? (made.value as number) : given;
  }

  private indices(name: string, rank: number, at: Operand | readonly Operand[]): Expr[] {
    return this.located(() => subscripts(name, rank, at));
  }

  /** Adds the kernel and the place to errors that have none. */
  private located<T>(build: () => T): T {
    try {
      return build();
    } catch (error) {
      if (error instanceof IRError && error.location === undefined) this.fail(error.problem);
      throw error;
    }
  }

  private fail(problem: string): never {
    throw new IRError(this.ir.name, this.location, problem);
  }
}
