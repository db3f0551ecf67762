import { type Identifier, type Names } from "../base/names.js";
import { unreachable } from "../base/unreachable.js";
import { IntegerRanges, type KnownIntegers } from "../ir/analysis/integer-ranges.js";
import { choiceOf } from "../ir/joint-choice.js";
import { lastOf } from "../ir/loop-stops.js";
import { PRINT_LIMIT, recordOf } from "../ir/print-records.js";
import type { Expr as KernelExpr, KernelIR, NumericType, ReduceParam, ScatterOp, Stmt as KernelStmt } from "../ir/types.js";
import { assignedLocals } from "../ir/walk.js";
import { Addresses } from "./addresses.js";
import {
  add,
  assign,
  cast,
  declare,
  fixed,
  ge,
  gt,
  inBlock,
  le,
  local,
  lt,
  mul,
  num,
  read,
  sub,
  valueOf,
  variable,
  when,
  write,
} from "./build.js";
import type { Frame, StmtOf } from "./frame.js";
import type { Expr, Memory, Place, Stmt } from "./nodes.js";
import type { Output } from "./output.js";

/** Operation of a fold: one by name, or a function of the author's. */
export type FoldOp = ScatterOp | { readonly a: string; readonly b: string; readonly body: KernelExpr };

/** Facts of the launches that run the code: their sizes, and whether addresses have 64 bits. */
interface Launches {
  readonly sizes: KnownIntegers;
  readonly wide: boolean;
}

/** Lowers the statements of a kernel's body to the scheduled IR; what depends on the surroundings goes through the frame. */
export class Body {
  /** Loop variables and member indices, which have the type `index`. */
  readonly counters = new Set<string>();
  readonly assigned: ReadonlySet<string>;
  /** Values of the integers that have been lowered so far. */
  readonly ranges: IntegerRanges;
  private readonly addresses: Addresses;
  /** Arrays of threads and blocks, and their lengths. */
  private readonly arrays = new Map<string, { readonly memory: Memory; readonly length: number }>();

  constructor(
    readonly out: Output,
    readonly ir: KernelIR,
    readonly frame: Frame<Body>,
    readonly names: Names,
    private readonly launches: Launches,
    /** Values in place of locals. */
    private readonly bound: ReadonlyMap<string, Expr> = new Map(),
  ) {
    this.assigned = assignedLocals(ir.body);
    this.ranges = new IntegerRanges(launches.sizes, this.assigned, ir.tables);
    this.addresses = new Addresses(this);
  }

  /** Addresses have 64 bits. */
  get wide(): boolean {
    return this.launches.wide;
  }

  index(axis: number): Expr {
    return this.frame.index(axis);
  }

  counterOf(name: string): Expr {
    return local(this.local(name), "index");
  }

  local(name: string): Identifier {
    return this.names.of("local", name);
  }

  /** Marks `name` as a variable of the type `index` and gives its identifier. It takes values of `like`. */
  counter(name: string, like: KernelExpr): Identifier {
    this.ranges.define(name, like);
    this.counters.add(name);
    return this.local(name);
  }

  /** Marks the counter of a loop that is about to be lowered, and gives its identifier. */
  enter(loop: Parameters<IntegerRanges["enter"]>[0]): Identifier {
    this.ranges.enter(loop);
    this.counters.add(loop.name);
    return this.local(loop.name);
  }

  /** The value of an i32 expression, of the type `index`. */
  integer(e: KernelExpr): Expr {
    return this.addresses.integer(e);
  }

  /** An index of an array, of the type `index`: the value of the i32 expression wherever that is inside the array. */
  address(e: KernelExpr, extent?: number): Expr {
    return this.addresses.address(e, extent);
  }

  /** The offset of an element: the sum of index times stride, strides as given by the frame. */
  offset(view: string, indices: readonly KernelExpr[]): Expr {
    const strides = this.frame.strides(view);
    const isFar = this.frame.far(view);
    let constant = 0;
    const near: Expr[] = [];
    const far: Expr[] = [];
    indices.forEach((index, axis) => {
      const stride = strides[axis]!;
      if (index.op === "const" && (index.value === 0 || stride.op === "const")) constant += Number(index.value);
      else if (stride.op === "const") near.push(this.addresses.address(index));
      else (isFar?.[axis] ? far : near).push(mul(cast(this.addresses.address(index), stride.type), stride));
    });
    if (constant !== 0 || near.length + far.length === 0) near.push(num(constant, "index"));
    if (far.length === 0) return flatSum(near);
    // Elements at one place share the sum of 32 bits.
    return near.length === 0 ? flatSum(far) : add(flatSum(far), cast(flatSum(near), "long"));
  }

  statements(list: readonly KernelStmt[]): void {
    for (const stmt of list) {
      this.out.line = stmt.location.line;
      this.statement(stmt);
    }
    this.out.line = 0;
  }

  /** The statements of a list of the kernel's. */
  nested(list: readonly KernelStmt[]): Stmt[] {
    return this.out.inside(() => this.statements(list));
  }

  /** `combine` of a custom reduction, or the operator of another, on two values that are evaluated as often as it mentions them. */
  fold(op: FoldOp, type: NumericType, a: Expr, b: Expr): Expr {
    if (typeof op === "string") return { op: "binary", type, fn: op === "sum" ? "add" : op, a, b };
    const bound = new Map([
      [op.a, a],
      [op.b, b],
    ]);
    return new Body(this.out, this.ir, this.frame, this.names, this.launches, bound).expr(op.body);
  }

  /** Folds values, which are evaluated as often as the folds mention them, into the parts of a joint reduction. */
  foldJointly(parts: readonly ReduceParam[], into: readonly Place[], values: readonly Expr[]): void {
    const { a, b, bodies } = parts[0]!.joint!;
    const bound = new Map([...a.map((name, n) => [name, valueOf(into[n]!)] as const), ...b.map((name, n) => [name, values[n]!] as const)]);
    const inner = new Body(this.out, this.ir, this.frame, this.names, this.launches, bound);
    const choice = choiceOf(parts[0]!.joint!);
    if (choice) {
      const kept = into.map((place, n) => assign(place, values[n]!));
      return void this.out.put(when(inner.expr(choice), kept));
    }
    const folded = parts.map(({ name }) => this.names.fresh(`${name}_folded`));
    this.out.put(
      inBlock([
        ...parts.map(({ type }, n) => fixed(folded[n]!, inner.expr(bodies[n]!), type)),
        ...parts.map(({ type }, n) => assign(into[n]!, local(folded[n]!, type))),
      ]),
    );
  }

  private statement(stmt: KernelStmt): void {
    const { frame, out } = this;
    switch (stmt.kind) {
      case "let":
        return this.declaration(stmt);
      case "assign":
        return void out.put(assign(variable(this.local(stmt.name), stmt.value.type), this.expr(stmt.value)));
      case "array":
        return void this.arrays.set(stmt.name, { memory: frame.array(this, stmt), length: stmt.length });
      case "setElement": {
        const { memory, length } = this.arrays.get(stmt.array)!;
        return frame.setElement(this, stmt, memory, this.address(stmt.index, length), this.expr(stmt.value));
      }
      case "store":
        return frame.store(this, stmt, this.offset(stmt.view, stmt.indices), this.expr(stmt.value));
      case "scatter":
        return frame.scatter(this, stmt, this.offset(stmt.target, stmt.indices), this.expr(stmt.value));
      case "atomic":
        return this.fetch(stmt);
      case "reduce":
        return frame.reduce(this, stmt, this.expr(stmt.value));
      case "reduceJointly":
        return frame.reduceJointly(
          this,
          stmt,
          stmt.values.map((value) => this.expr(value)),
        );
      case "print":
        return this.print(stmt);
      case "if":
        return void out.put(when(this.expr(stmt.cond), this.nested(stmt.then), this.nested(stmt.else)));
      case "for":
        return this.counted(stmt);
      case "while":
        return void out.put({
          kind: "while",
          cond: this.expr(stmt.cond),
          body: this.nested(stmt.body),
          update: this.nested(stmt.update),
        });
      case "break":
      case "continue":
        return void out.put({ kind: stmt.kind });
      case "teamFor":
        return frame.teamFor(this, stmt);
      case "teamReduce":
        return frame.teamReduce(this, stmt);
      case "single":
        return frame.single(this, stmt);
      default:
        return unreachable(stmt);
    }
  }

  private fetch({ fn, type, target, indices, expected, value, result }: StmtOf<"atomic">): void {
    const { frame, out } = this;
    const offset = this.offset(target, indices);
    const operands = [expected, value].flatMap((operand) => (operand ? [this.expr(operand)] : []));
    const call: Expr = { op: "fetch", array: target, fn, type, at: frame.memory(target), offset, operands };
    out.put(result === undefined ? { kind: "do", call } : declare(this.local(result), type, call));
  }

  private declaration({ name, type, init }: StmtOf<"let">): void {
    const { out } = this;
    if (init?.op === "checked") return this.checked(name, init);
    if (init && this.addresses.isIndex(name, init)) {
      const value = this.integerDefined(name, init);
      return void out.put(fixed(this.counter(name, init), value));
    }
    if (init) this.ranges.define(name, init);
    const value = init && this.expr(init);
    // Elements one at a time may have a local by another expression than several together.
    this.counters.delete(name);
    out.put(declare(this.local(name), type, value));
  }

  private integerDefined(name: string, init: KernelExpr): Expr {
    this.ranges.define(name, init);
    return this.integer(init);
  }

  /** An index that is checked, which stands in a statement of its own (see `sequenceChecks`). */
  private checked(name: string, e: Extract<KernelExpr, { op: "checked" }>): void {
    const { out } = this;
    this.ranges.define(name, e);
    const wish = this.names.fresh("at");
    const at = local(wish, "i32");
    const checked = variable(this.local(name), "i32");
    out.put(fixed(wish, this.expr(e.index)), declare(this.local(name), "i32"));
    const inside = lt(cast(at, "u32"), cast(this.expr(e.extent), "u32"));
    const outside = out.inside(() => {
      this.frame.fault(this, e.site, at);
      out.put(assign(checked, { op: "const", type: "i32", value: e.otherwise }));
    });
    out.put(when(inside, [assign(checked, at)], outside));
  }

  /* Loops. */

  private counted(stmt: StmtOf<"for">): void {
    if (!this.wide && !this.ranges.stepFits(stmt)) return this.countedToTheEnd(stmt);
    const start = this.integer(stmt.start);
    const stop = this.hoisted(stmt, "stop", this.stop(stmt.stop));
    const name = this.enter(stmt);
    const counter = local(name, "index");
    const cond = stmt.step > 0 ? lt(counter, stop) : gt(counter, stop);
    const body = this.nested(stmt.body);
    const unroll = this.frame.turnsWrittenOut?.(stmt);
    this.out.put({ kind: "loop", id: name, type: "index", start, cond, step: { fn: "add", by: num(stmt.step, "index") }, body, unroll });
  }

  /** The same where the step after the last turn may leave the type of the counter: it is not made. */
  private countedToTheEnd(stmt: StmtOf<"for">): void {
    const { out } = this;
    const last = lastOf(stmt.stop);
    const start = this.hoisted(stmt, "start", this.integer(stmt.start));
    const stop = this.hoisted(stmt, "stop", this.integer(last ?? stmt.stop));
    const name = this.enter(stmt);
    const counter = local(name, "index");
    const [from, to] = stmt.step > 0 ? [counter, stop] : [stop, counter];
    const [low, high] = stmt.step > 0 ? [start, stop] : [stop, start];
    const distance = sub(cast(to, "u32"), cast(from, "u32"));
    const by: Expr = { op: "const", type: "u32", value: Math.abs(stmt.step) };
    const body = this.nested(stmt.body);
    out.put(
      when(
        last ? le(low, high) : lt(low, high),
        out.inside(() =>
          out.put(declare(name, "index", start), {
            kind: "repeat",
            id: name,
            by: stmt.step,
            again: last ? ge(distance, by) : gt(distance, by),
            body,
          }),
        ),
      ),
    );
  }

  /** The value, or a variable with it where it is more than a number or a name. */
  private hoisted(stmt: StmtOf<"for">, wish: string, value: Expr): Expr {
    if (isPlain(value)) return value;
    const name = this.names.fresh(`${this.local(stmt.name)}_${wish}`);
    this.out.put(fixed(name, value, "index"));
    return local(name, "index");
  }

  /** The stop of a loop, which may be one beyond i32 where addresses have 64 bits. */
  private stop(stop: KernelExpr): Expr {
    const last = lastOf(stop);
    if (!last || !this.wide) return this.integer(stop);
    const by = stop.op === "binary" && stop.fn === "add" ? 1 : -1;
    // One beyond i32: as a sum of constants it would be computed in 32 bits.
    if (last.op === "const") return num(Number(last.value) + by, "index");
    return add(this.integer(last), by);
  }

  /* Expressions. */

  expr(e: KernelExpr): Expr {
    const { frame } = this;
    switch (e.op) {
      case "const":
        return { op: "const", type: e.type, value: e.value };
      case "local":
        return this.variable(e);
      case "param":
        return frame.scalar(e.name);
      case "index":
        return cast(frame.index(e.axis), "i32");
      case "teamSize":
        return frame.teamSize();
      case "load":
        return this.load(e);
      case "element":
        return this.element(e);
      case "table":
        return this.table(e);
      case "extent":
        return frame.extent(e.view, e.axis);
      case "unary":
        return { op: "unary", type: e.type, fn: e.fn, a: this.expr(e.a) };
      case "binary":
        return { op: "binary", type: e.type, fn: e.fn, a: this.expr(e.a), b: this.expr(e.b) };
      case "compare":
        return { op: "compare", type: "bool", fn: e.fn, a: this.expr(e.a), b: this.expr(e.b) };
      case "logical":
        return { op: "logical", type: "bool", fn: e.fn, a: this.expr(e.a), b: this.expr(e.b) };
      case "select":
        return { op: "select", type: e.type, cond: this.expr(e.cond), a: this.expr(e.a), b: this.expr(e.b) };
      case "cast":
        return cast(this.expr(e.a), e.type);
      case "call":
        return { op: "call", type: e.type, fn: e.fn, args: e.args.map((arg) => this.expr(arg)) };
      case "checked":
        throw new Error("a checked index is outside of a statement");
      case "failed":
        return frame.failed();
      default:
        return unreachable(e);
    }
  }

  private load(e: Extract<KernelExpr, { op: "load" }>): Expr {
    return this.frame.readBefore?.(e) ?? read(this.frame.memory(e.view), this.offset(e.view, e.indices), e.type);
  }

  private variable({ name, type }: Extract<KernelExpr, { op: "local" }>): Expr {
    const bound = this.bound.get(name);
    if (bound) return bound;
    return this.counters.has(name) ? cast(this.counterOf(name), "i32") : local(this.local(name), type);
  }

  private element({ array, index, type }: Extract<KernelExpr, { op: "element" }>): Expr {
    const { memory, length } = this.arrays.get(array)!;
    return read(memory, this.address(index, length), type);
  }

  private table(e: Extract<KernelExpr, { op: "table" }>): Expr {
    const table = this.ir.tables.find(({ name }) => name === e.table)!;
    const indices = e.indices.map((index, axis) => this.address(index, table.shape[axis]));
    return { op: "table", type: e.type, table, id: this.names.of("table", e.table), indices };
  }

  /* Prints. */

  /** A line's record where the kernel keeps such (`recordPrints`); elsewhere the language prints it. */
  private print(stmt: StmtOf<"print">): void {
    const { ir, out, names, frame } = this;
    if (!ir.prints) {
      const items = stmt.items.map((item) => (typeof item === "string" ? item : this.expr(item)));
      return void out.put({ kind: "print", items });
    }
    const { count } = ir.prints;
    const body = out.inside(() => {
      const records = recordOf(ir, stmt).map((record) => {
        const value = this.expr(record.value);
        if (value.op === "const") return { ...record, value };
        const printed = names.fresh("printed");
        out.put(fixed(printed, value));
        return { ...record, value: local(printed, value.type) };
      });
      const line = names.fresh("line");
      out.put(fixed(line, { op: "next", type: "u32", at: frame.memory(count), offset: num(0, "index") }));
      const number = local(line, "u32");
      const writes = records.map(({ view, width, at, value }) => write(frame.memory(view), add(mul(number, width), num(at, "u32")), value));
      out.put(when(lt(number, { op: "const", type: "u32", value: PRINT_LIMIT }), writes));
    });
    out.put({ kind: "block", body });
  }
}

/** A sum whose terms are added one after the other, whatever sums they are themselves: parentheses of addresses decide machine code. */
function flatSum(terms: readonly Expr[]): Expr {
  const join = (sum: Expr, term: Expr): Expr =>
    term.op === "binary" && (term.fn === "add" || term.fn === "sub") && term.type === sum.type
      ? { ...term, a: join(sum, term.a) }
      : add(sum, term);
  return terms.slice(1).reduce(join, terms[0]!);
}

/** Whether a value is a number, a name, or a difference of such. */
export const isPlain = (e: Expr): boolean =>
  e.op === "const" ||
  e.op === "local" ||
  e.op === "number" ||
  (e.op === "cast" && e.type === "index" && isPlain(e.a)) ||
  (e.op === "binary" && e.fn === "sub" && e.type === "index" && isPlain(e.a) && isPlain(e.b));
