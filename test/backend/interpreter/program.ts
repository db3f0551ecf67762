import {
  chunksPerLine,
  foldLanes,
  foldOf,
  foldOfParam,
  codingOf,
  hostArray,
  noteFault,
  partialCount,
  PRINT_LIMIT,
  recordOf,
  type Binding,
} from "isoform/backend";
import {
  changedBy,
  evaluate,
  foldGroups,
  identityOf,
  jointFunction,
  lastOf,
  REDUCTION_CHUNK,
  REDUCTION_LANES,
  type Expr,
  type NumericType,
  type ReduceParam,
  type Stmt,
} from "isoform/ir";

type Value = evaluate.Value;
type Fold = (a: number, b: number) => number;
/** An expression or a statement, ready to be called; a statement tells how it leaves its block. */
type Evaluate = () => Value;
type Jump = "break" | "continue" | undefined;
type Run = () => Jump;

/** A local, a counter or an entry of a private array. */
interface Cell {
  value: Value;
}

/** What `reduce` statements fold into: the lane of the element that runs. */
interface Accumulator {
  /** Undefined for a part of a joint reduction. */
  readonly fold: Fold | undefined;
  readonly identity: number;
  readonly lanes: number[];
  lane: number;
}

/** The code of one launch, as functions of functions. */
export class Program {
  /** Indices of the element, or the team's rank and its place in scratch. */
  private readonly at = [0, 0, 0, 0];
  private readonly cells = new Map<string, Cell>();
  private readonly arrays = new Map<string, number[]>();
  private readonly accumulators = new Map<string, Accumulator>();
  private readonly reductions: ReduceParam[];
  private readonly body: () => void;
  /** The first index of the element, or team, that was outside. */
  private failure: { site: number; index: number } | undefined;

  constructor(private readonly binding: Binding) {
    this.reductions = binding.ir.params.filter((param) => param.kind === "reduce");
    for (const param of this.reductions)
      this.accumulators.set(param.name, accumulator(param.joint ? undefined : (foldOfParam(param) as Fold), param.identity as number));
    this.body = this.element(this.block(binding.ir.body));
  }

  /** Runs it to the end; gives the partial results of each reduction, a new list. */
  run(): [ReduceParam, Float64Array][] {
    const { policy } = this.binding;
    const partials = this.reductions.map((param): [ReduceParam, Float64Array] => [param, new Float64Array(partialCount(policy))]);
    if (policy.kind === "range") this.range(policy, partials);
    else
      for (let team = 0; team < policy.league; team++) {
        this.at[0] = team;
        this.start();
        this.body();
        // A team folds into one place, without lanes.
        for (const [{ name }, list] of partials) list[team] = this.accumulators.get(name)!.lanes[0];
      }
    return partials;
  }

  /** Line by line along the last axis, each in chunks, whose elements fold into lanes. */
  private range({ begin, extents }: { begin: number[]; extents: number[] }, partials: readonly [ReduceParam, Float64Array][]): void {
    const last = extents.length - 1;
    const lines = extents.slice(0, last).reduce((a, b) => a * b, 1);
    const chunks = chunksPerLine(extents[last]);
    for (let line = 0; line < lines; line++) {
      for (let axis = last - 1, rest = line; axis >= 0; rest = Math.floor(rest / extents[axis--]))
        this.at[axis] = begin[axis] + (rest % extents[axis]);
      for (let chunk = 0; chunk < chunks; chunk++) {
        this.start();
        const end = Math.min(extents[last], (chunk + 1) * REDUCTION_CHUNK);
        for (let n = chunk * REDUCTION_CHUNK; n < end; n++) {
          this.at[last] = begin[last] + n;
          for (const folded of this.accumulators.values()) folded.lane = n % REDUCTION_LANES;
          this.body();
        }
        const totals = this.totals();
        for (const [{ name }, list] of partials) list[line * chunks + chunk] = totals.get(name)!;
      }
    }
  }

  /** The lanes of each reduction, folded to one value; those of a joint one together. */
  private totals(): Map<string, number> {
    return new Map(
      foldGroups(this.reductions).flatMap((params) => {
        const parts = params.map(({ name }) => this.accumulators.get(name)!);
        const [{ name, joint }] = params;
        if (!joint) return [[name, total(parts[0])] as const];
        const lanes = parts[0].lanes.map((_, k) => parts.map((part) => part.lanes[k]));
        return foldLanes(lanes, jointFunction(joint)).map((value, n) => [params[n].name, value] as const);
      }),
    );
  }

  /** The body, with what notes a failure. */
  private element(body: Run): () => void {
    const { checks, policy } = this.binding.ir;
    if (!checks) return body;
    const record = hostArray(this.binding.views[checks.record]) as Int32Array;
    const rank = policy.kind === "team" ? 1 : policy.rank;
    return () => {
      this.failure = undefined;
      body();
      const failure = this.failure as { site: number; index: number } | undefined;
      if (failure) noteFault(record, failure.site, failure.index, ...this.at.slice(0, rank));
    };
  }

  private start(): void {
    for (const { name } of this.reductions) clear(this.accumulators.get(name)!);
  }

  private cell(name: string): Cell {
    let cell = this.cells.get(name);
    if (!cell) this.cells.set(name, (cell = { value: 0 }));
    return cell;
  }

  /** Where an element of a view lies in its host array. */
  /** Memory of an array, the place of an element, and how floats of 16 bits lie there. */
  private place(name: string, indices: readonly Expr[]) {
    const view = this.binding.views[name];
    const parts = indices.map((index) => this.number(index));
    const { strides } = view;
    return {
      array: hostArray(view),
      coding: codingOf(view.type),
      at: () => parts.reduce((at, part, axis) => at + part() * strides[axis], 0),
    };
  }

  private number(expr: Expr): () => number {
    return this.expr(expr) as () => number;
  }

  private expr(expr: Expr): Evaluate {
    switch (expr.op) {
      case "const": {
        const { value } = expr;
        return () => value;
      }
      case "local": {
        const cell = this.cell(expr.name);
        return () => cell.value;
      }
      case "param": {
        const value = this.binding.scalars[expr.name];
        return () => value;
      }
      case "index":
        return () => this.at[expr.axis];
      case "teamSize":
        return () => 1;
      case "load": {
        const { array, at, coding } = this.place(expr.view, expr.indices);
        return coding ? () => coding.valueOf(array[at()]) : () => array[at()];
      }
      case "element": {
        const index = this.number(expr.index);
        return () => this.arrays.get(expr.array)![index()];
      }
      case "table": {
        const { shape, values } = this.binding.ir.tables.find(({ name }) => name === expr.table)!;
        const indices = expr.indices.map((index) => this.number(index));
        return () => values[indices.reduce((at, index, axis) => at * shape[axis] + index(), 0)];
      }
      case "extent": {
        const extent = this.binding.views[expr.view].shape[expr.axis];
        return () => extent;
      }
      case "unary": {
        const a = this.expr(expr.a);
        return () => evaluate.unary(expr.fn, expr.type, a());
      }
      case "binary": {
        const [a, b] = [this.number(expr.a), this.number(expr.b)];
        return () => evaluate.binary(expr.fn, expr.type as NumericType, a(), b());
      }
      case "compare": {
        const [a, b] = [this.expr(expr.a), this.expr(expr.b)];
        return () => evaluate.compare(expr.fn, a(), b());
      }
      case "logical": {
        const [a, b] = [this.expr(expr.a), this.expr(expr.b)];
        return expr.fn === "and" ? () => a() && b() : () => a() || b();
      }
      case "select": {
        const [cond, a, b] = [this.expr(expr.cond), this.expr(expr.a), this.expr(expr.b)];
        return () => (cond() ? a() : b());
      }
      case "cast": {
        const a = this.expr(expr.a);
        return () => evaluate.cast(expr.type, expr.a.type, a());
      }
      case "checked": {
        const [index, extent] = [this.number(expr.index), this.number(expr.extent)];
        return () => {
          const at = index();
          if (at >= 0 && at < extent()) return at;
          this.failure ??= { site: expr.site, index: at };
          return expr.otherwise;
        };
      }
      case "failed":
        return () => this.failure !== undefined;
      case "call": {
        const args = expr.args.map((arg) => this.number(arg));
        return () =>
          evaluate.call(
            expr.fn,
            expr.type,
            args.map((arg) => arg()),
          );
      }
    }
  }

  private block(stmts: readonly Stmt[]): Run {
    const steps = stmts.map((stmt) => this.stmt(stmt));
    return () => {
      for (const step of steps) {
        const jump = step();
        if (jump) return jump;
      }
      return undefined;
    };
  }

  private stmt(stmt: Stmt): Run {
    switch (stmt.kind) {
      case "let": {
        const cell = this.cell(stmt.name);
        const init = stmt.init ? this.expr(stmt.init) : () => 0;
        return does(() => (cell.value = init()));
      }
      case "assign": {
        const cell = this.cell(stmt.name);
        const value = this.expr(stmt.value);
        return does(() => (cell.value = value()));
      }
      case "array":
        return does(() => this.arrays.set(stmt.name, Array<number>(stmt.length).fill(0)));
      case "setElement": {
        const [index, value] = [this.number(stmt.index), this.number(stmt.value)];
        return does(() => {
          this.arrays.get(stmt.array)![index()] = value();
        });
      }
      case "store": {
        const { array, at, coding } = this.place(stmt.view, stmt.indices);
        const value = this.number(stmt.value);
        return does(() => (array[at()] = coding ? coding.bitsOf(value()) : value()));
      }
      case "atomic":
        return this.atomic(stmt);
      case "scatter":
        return this.scatter(stmt);
      case "reduce": {
        const value = this.number(stmt.value);
        return does(() => {
          const { fold, lanes, lane } = this.accumulators.get(stmt.target)!;
          lanes[lane] = fold!(lanes[lane], value());
        });
      }
      case "reduceJointly": {
        const values = stmt.values.map((value) => this.number(value));
        const fold = jointFunction(this.reductions.find(({ name }) => name === stmt.targets[0])!.joint!);
        return does(() => {
          const parts = stmt.targets.map((target) => this.accumulators.get(target)!);
          const folded = fold(
            parts.map(({ lanes, lane }) => lanes[lane]),
            values.map((value) => value()),
          );
          parts.forEach((part, n) => (part.lanes[part.lane] = folded[n]));
        });
      }
      case "print": {
        // The lines are recorded, and the host makes text of them: see docs/backend-guide.md.
        const { ir, views } = this.binding;
        const places = recordOf(ir, stmt).map(({ view, width, at, value }) => ({
          array: hostArray(views[view]),
          width,
          at,
          value: this.expr(value),
        }));
        const count = hostArray(views[ir.prints!.count]);
        return does(() => {
          const values = places.map(({ value }) => value());
          const line = count[0]++;
          if (line < PRINT_LIMIT) places.forEach(({ array, width, at }, n) => (array[line * width + at] = Number(values[n])));
        });
      }
      case "if": {
        const cond = this.expr(stmt.cond);
        const [then, otherwise] = [this.block(stmt.then), this.block(stmt.else)];
        return () => (cond() ? then() : otherwise());
      }
      case "for":
        return this.counted(stmt);
      case "while": {
        const cond = this.expr(stmt.cond);
        const [body, update] = [this.block(stmt.body), this.block(stmt.update)];
        return does(() => {
          while (cond() && body() !== "break") update();
        });
      }
      case "break":
      case "continue":
        return () => stmt.kind;
      case "teamFor":
        return this.shared(stmt, () => {});
      case "teamReduce":
        return this.teamReduce(stmt);
      case "single": {
        const body = this.block(stmt.body);
        return does(body);
      }
    }
  }

  private scatter(stmt: Extract<Stmt, { kind: "scatter" }>): Run {
    const param = this.binding.ir.params.find(({ name }) => name === stmt.target)!;
    if (param.kind !== "scatter") throw new Error(`${stmt.target} is no scatter parameter`);
    const fold = foldOf(param.op, param.element);
    const { array, at } = this.place(stmt.target, stmt.indices);
    const value = this.number(stmt.value);
    return does(() => {
      const place = at();
      array[place] = fold(array[place], value()) as number;
    });
  }

  private atomic({ fn, type, target, indices, expected, value, result }: Extract<Stmt, { kind: "atomic" }>): Run {
    const { array, at } = this.place(target, indices);
    const operands = [expected, value].filter((operand) => operand !== undefined).map((operand) => this.number(operand));
    const cell = result === undefined ? undefined : this.cell(result);
    return does(() => {
      const place = at();
      const old = array[place];
      array[place] = changedBy(
        fn,
        type,
        old,
        operands.map((operand) => operand()),
      );
      if (cell) cell.value = old;
    });
  }

  private counted(stmt: Extract<Stmt, { kind: "for" }>): Run {
    const cell = this.cell(stmt.name);
    // The stop of a loop that runs for its last value, too, may be above the greatest i32.
    const last = lastOf(stmt.stop);
    const [start, value, body] = [this.number(stmt.start), this.number(last ?? stmt.stop), this.block(stmt.body)];
    const stop = last ? () => value() + Math.sign(stmt.step) : value;
    const goesOn: (n: number, end: number) => boolean = stmt.step > 0 ? (n, end) => n < end : (n, end) => n > end;
    return does(() => {
      const end = stop();
      for (let n = start(); goesOn(n, end); n += stmt.step) {
        cell.value = n;
        if (body() === "break") break;
      }
    });
  }

  /** A loop that members of a team share: here is one, who does all of it. */
  private shared(stmt: Extract<Stmt, { kind: "teamFor" | "teamReduce" }>, before: (n: number) => void): Run {
    const cell = this.cell(stmt.name);
    const [count, body] = [this.number(stmt.count), this.block(stmt.body)];
    return does(() => {
      const end = count();
      for (let n = 0; n < end; n++) {
        cell.value = n;
        before(n);
        body();
      }
    });
  }

  private teamReduce(stmt: Extract<Stmt, { kind: "teamReduce" }>): Run {
    const results = stmt.results.map(({ name, op, type }) => {
      const folded = accumulator(foldOf(op, type) as Fold, identityOf(op, type) as number);
      this.accumulators.set(name, folded);
      return { cell: this.cell(name), folded };
    });
    const loop = this.shared(stmt, (n) => {
      for (const { folded } of results) folded.lane = n % REDUCTION_LANES;
    });
    return does(() => {
      for (const { folded } of results) clear(folded);
      loop();
      for (const { cell, folded } of results) cell.value = total(folded);
    });
  }
}

const does =
  (work: () => unknown): Run =>
  () => {
    work();
    return undefined;
  };

const accumulator = (fold: Fold | undefined, identity: number): Accumulator => ({
  fold,
  identity,
  lanes: Array<number>(REDUCTION_LANES).fill(identity),
  lane: 0,
});

function clear(folded: Accumulator): void {
  folded.lanes.fill(folded.identity);
  folded.lane = 0;
}

/** The lanes folded to one value. */
const total = ({ lanes, fold }: Accumulator): number => foldLanes(lanes, fold!);
