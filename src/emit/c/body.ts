import { unreachable } from "../../base/unreachable.js";
import { IntegerRanges, type KnownIntegers } from "../../ir/analysis/integer-ranges.js";
import { isPacked, type FloatType } from "../../ir/scalars.js";
import type { ElementType, Expr, JointFold, KernelIR, NumericType, ScalarType, Stmt } from "../../ir/types.js";
import { choiceOf } from "../../ir/joint-choice.js";
import { assignedLocals, children } from "../../ir/walk.js";
import { EmitError } from "../../base/errors.js";
import type { Code } from "./code.js";
import type { Dialect, CFrame } from "./dialect.js";
import type { Helpers } from "./helpers.js";
import { noFetch } from "./fetch.js";
import { IndexWriter } from "./indices.js";
import { LoopWriter } from "./loops.js";
import type { Names } from "../../base/names.js";
import { chosen, compared, constantOf, Expressions, logicalText } from "./expressions.js";
import { at, Precedence, type Text } from "./operators.js";
import { packed, unpacked } from "./packed.js";
import { writePrint } from "./printf.js";
import { bitsOf } from "./tables.js";

/** Writes the statements of a kernel's body in a C-like language; what depends on the surroundings goes through the frame. */
export class BodyWriter {
  /** Loop variables and member indices, which have the `index` type. */
  private readonly counters = new Set<string>();
  /** Whether an expression checks indices. */
  private readonly checking = new WeakMap<Expr, boolean>();
  /** Variables that hold operands, where those are told to be evaluated one after the other. */
  private readonly ready = new Map<Expr, string>();
  /** Values of the integers that have been written so far. */
  readonly ranges: IntegerRanges;
  private readonly expressions: Expressions;
  private readonly indices: IndexWriter;
  private readonly loops: LoopWriter;
  /** Lengths of the arrays that have been declared so far. */
  private readonly lengths = new Map<string, number>();
  private lastLine = 0;

  /** @param sizes what is known of the launches that run the code */
  constructor(
    readonly code: Code,
    readonly ir: KernelIR,
    readonly dialect: Dialect,
    readonly frame: CFrame<BodyWriter>,
    readonly names: Names,
    readonly helpers: Helpers,
    private readonly sizes: KnownIntegers,
  ) {
    const assigned = assignedLocals(ir.body);
    this.expressions = new Expressions(dialect, helpers);
    this.ranges = new IntegerRanges(sizes, assigned, ir.tables);
    this.indices = new IndexWriter({
      dialect,
      ranges: this.ranges,
      counters: this.counters,
      assigned,
      local: (name) => this.local(name),
      index: (axis) => frame.index(axis),
      expr: (e) => this.expr(e),
      literal: (type, value) => this.expressions.literal(type, value),
      inOrder: (e, write) => this.inOrder(e, write),
    });
    this.loops = new LoopWriter(this, this.indices);
  }

  /** The value of an expression, in its own type. */
  value(e: Expr): string {
    return this.expr(e)[0];
  }

  /** The same, in parentheses unless it is a single term. */
  term(e: Expr): string {
    return at(this.expr(e), Precedence.Term);
  }

  /** Marks `name` as a variable of the `index` type and gives its identifier. It takes values of `like`, the variable of a loop. */
  counter(name: string, like?: Expr): string {
    if (like) this.ranges.define(name, like);
    this.counters.add(name);
    return this.local(name);
  }

  /** Marks the counter of a loop that is about to be written, and gives its identifier. */
  enter(loop: Parameters<IntegerRanges["enter"]>[0]): string {
    this.ranges.enter(loop);
    return this.counter(loop.name);
  }

  local(name: string): string {
    return this.names.of("local", name);
  }

  /** The value of an i32 expression in the `index` type. */
  integer(e: Expr): string {
    return this.indices.integer(e)[0];
  }

  /** An index of an array in the `index` type: the value of the i32 expression wherever that is inside the array. */
  address(e: Expr, extent?: number): string {
    return this.indices.address(e, false, extent)[0];
  }

  /** The offset of an element: the sum of index times stride, strides as given by the frame. */
  offset(view: string, indices: readonly Expr[]): string {
    const strides = this.frame.strides(view);
    let constant = 0;
    const terms: string[] = [];
    indices.forEach((index, axis) => {
      const literal = Number(strides[axis]);
      if (index.op === "const" && (index.value === 0 || !Number.isNaN(literal)))
        constant += index.value ? Number(index.value) * literal : 0;
      else if (strides[axis] === "1")
        terms.push(at(this.indices.address(index, index.op === "binary" && indices.length > 1), Precedence.Sum));
      else terms.push(`${at(this.indices.address(index, true), Precedence.Product)} * ${strides[axis]}`);
    });
    if (constant !== 0 || terms.length === 0) terms.push(String(constant));
    return terms.join(" + ").replaceAll("+ -", "- ");
  }

  /** The lvalue of a view's element. */
  place(view: string, indices: readonly Expr[]): string {
    return `${this.frame.pointer(view)}[${this.offset(view, indices)}]`;
  }

  statements(list: readonly Stmt[]): void {
    for (const stmt of list) this.statement(stmt);
  }

  /** All that is done for one element of a range, or one member of a team. */
  element(list: readonly Stmt[]): void {
    if (this.frame.element) this.frame.element(this, list);
    else this.statements(list);
  }

  /** `combine` of a custom reduction, or the operator of another, on two C expressions that are single terms. */
  fold(op: "sum" | "min" | "max" | { a: string; b: string; body: Expr }, type: NumericType, a: string, b: string): string {
    if (op === "sum") return this.expressions.arithmetic("add", type, [a, Precedence.Term], [b, Precedence.Term])[0];
    if (typeof op === "string") return `${this.helpers.use(`${op}_${type}`)}(${a}, ${b})`;
    const inner = new BodyWriter(this.code, this.ir, this.dialect, this.frame, this.names, this.helpers, this.sizes);
    inner.local = (name) => (name === op.a ? a : name === op.b ? b : this.local(name));
    return inner.value(op.body);
  }

  private values(list: readonly Expr[]): string[] {
    return list.map((value) => this.value(value));
  }

  /** Writes the fold of values into the parts of a joint reduction; all are single terms. */
  foldJointly(
    { joint, types }: { joint: JointFold; types: readonly NumericType[] },
    into: readonly string[],
    values: readonly string[],
  ): void {
    const { a, b, bodies } = joint;
    const inner = new BodyWriter(this.code, this.ir, this.dialect, this.frame, this.names, this.helpers, this.sizes);
    inner.local = (name) => (a.includes(name) ? into[a.indexOf(name)] : b.includes(name) ? values[b.indexOf(name)] : this.local(name));
    const keep = (from: readonly string[]) => into.forEach((place, n) => this.code.line(`${place} = ${from[n]};`));
    const choice = choiceOf(joint);
    if (choice) return void this.code.block(`if (${inner.value(choice)})`, () => keep(values));
    const folded = bodies.map(() => this.names.fresh("folded"));
    this.code.block("", () => {
      bodies.forEach((body, n) => this.code.line(`const ${this.dialect.types[types[n]]} ${folded[n]} = ${inner.value(body)};`));
      keep(folded);
    });
  }

  /** A line for a statement, with the number of its source line where that is a new one. */
  line(stmt: Stmt, text: string): void {
    const { line } = stmt.location;
    const note = line !== this.lastLine && line > 0 ? `  // line ${line}` : "";
    this.lastLine = line;
    this.code.line(text + note);
  }

  private statement(stmt: Stmt): void {
    const { dialect: d, frame } = this;
    switch (stmt.kind) {
      case "let":
        return this.declaration(stmt);
      case "assign":
        return this.line(stmt, `${this.local(stmt.name)} = ${this.value(stmt.value)};`);
      case "array": {
        this.lengths.set(stmt.name, stmt.length);
        if (frame.array) return frame.array(this, stmt);
        const zero = stmt.space === "private" ? " = {0}" : "";
        return this.line(stmt, `${d.types[stmt.type]} ${this.local(stmt.name)}[${stmt.length}]${zero};`);
      }
      case "setElement": {
        const place = `${this.local(stmt.array)}[${this.address(stmt.index, this.lengths.get(stmt.array))}]`;
        const value = this.value(stmt.value);
        return frame.setElement ? frame.setElement(this, stmt, place, value) : this.line(stmt, `${place} = ${value};`);
      }
      case "store": {
        const place = this.place(stmt.view, stmt.indices);
        const { element } = this.viewParam(stmt.view);
        const value = isPacked(element) ? packed(element, this.expr(stmt.value), d, this.helpers) : this.value(stmt.value);
        return frame.store ? frame.store(this, stmt, place, value) : this.line(stmt, `${place} = ${value};`);
      }
      case "scatter":
        return frame.scatter(this, stmt, this.offset(stmt.target, stmt.indices), this.value(stmt.value));
      case "atomic":
        return this.atomic(stmt);
      case "reduce":
        return frame.reduce(this, stmt, this.value(stmt.value));
      case "reduceJointly":
        return frame.reduceJointly(this, stmt, this.values(stmt.values));
      case "print":
        return writePrint(this, stmt, frame, d);
      case "if":
        return this.branch(stmt, `if (${this.value(stmt.cond)})`);
      case "for":
        return this.counted(stmt, () => this.loop(stmt.body, this.frame.turn?.(stmt)), this.frame.lineBefore?.(stmt));
      case "while":
        return this.loops.conditional(stmt);
      case "break":
        return this.line(stmt, "break;");
      case "continue":
        return this.loops.continue(stmt);
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

  private declaration(stmt: Extract<Stmt, { kind: "let" }>): void {
    const { types } = this.dialect;
    if (stmt.init) this.indices.define(stmt.name, stmt.init);
    if (stmt.init && this.indices.isIndex(stmt.name, stmt.init)) {
      const init = this.integer(stmt.init);
      return this.line(stmt, `const ${types.index} ${this.counter(stmt.name)} = ${init};`);
    }
    const init = stmt.init ? ` = ${this.value(stmt.init)}` : "";
    return this.line(stmt, `${types[stmt.type]} ${this.local(stmt.name)}${init};`);
  }

  private atomic(stmt: Extract<Stmt, { kind: "atomic" }>): void {
    const { fn, type, target, indices, expected, value, result } = stmt;
    const { fetch, types, name } = this.dialect;
    if (!fetch) throw new EmitError(this.ir.name, name, ...noFetch(target));
    const pointer = `&${this.place(target, indices)}`;
    const operands = this.values([expected, value].filter((operand) => operand !== undefined));
    const old = fetch(fn, type, pointer, operands, (helper) => this.helpers.use(helper));
    this.line(stmt, result === undefined ? `${old};` : `const ${types[type]} ${this.local(result)} = ${old};`);
  }

  private branch(stmt: Extract<Stmt, { kind: "if" }>, head: string): void {
    const { code } = this;
    this.line(stmt, `${head} {`);
    this.nested(stmt.then);
    if (stmt.else.length === 0) code.line("}");
    else if (stmt.else.length === 1 && stmt.else[0].kind === "if" && !this.checks(stmt.else[0].cond))
      this.branch(stmt.else[0], `} else if (${this.value(stmt.else[0].cond)})`);
    else {
      code.line("} else {");
      this.nested(stmt.else);
      code.line("}");
    }
  }

  private nested(block: readonly Stmt[]): void {
    this.code.indented(() => this.statements(block));
  }

  /** The body of a loop whose `continue` is C's own, with a line before it. */
  loop(body: readonly Stmt[], first?: string): void {
    this.loops.inner(body, first);
  }

  /** A counted loop around what `inside` writes, after the line `before`. */
  counted(stmt: Extract<Stmt, { kind: "for" }>, inside: () => void, before?: string): void {
    this.loops.counted(stmt, inside, before);
  }

  private viewParam(name: string): { readonly element: ElementType } {
    const param = this.ir.params.find((p) => p.name === name);
    if (param?.kind !== "view" && param?.kind !== "scatter") throw new Error(`kernel "${this.ir.name}" has no view "${name}"`);
    return param;
  }

  /* Expressions. */

  private expr(e: Expr): Text {
    return this.inOrder(e, () => this.whole(e));
  }

  private whole(e: Expr): Text {
    const { dialect: d, frame } = this;
    switch (e.op) {
      case "const":
        return this.expressions.literal(e.type, e.value);
      case "local":
        return this.counters.has(e.name) ? this.narrow(this.local(e.name)) : [this.local(e.name), Precedence.Term];
      case "param":
        return [this.names.of("param", e.name), Precedence.Term];
      case "index":
        return this.narrow(frame.index(e.axis));
      case "teamSize":
        return [frame.teamSize(), Precedence.Term];
      case "load": {
        const place = this.place(e.view, e.indices);
        const { element } = this.viewParam(e.view);
        return isPacked(element) ? unpacked(element, place, d, this.helpers) : [place, Precedence.Term];
      }
      case "element":
        return [`${this.local(e.array)}[${this.address(e.index, this.lengths.get(e.array))}]`, Precedence.Term];
      case "table":
        return [this.tableElement(e), Precedence.Term];
      case "extent":
        return [frame.extent(e.view, e.axis), Precedence.Term];
      case "unary":
        return this.expressions.unary(e.fn, e.type, this.expr(e.a));
      case "binary":
        return this.expressions.arithmetic(e.fn, e.type as NumericType, this.expr(e.a), this.expr(e.b), constantOf(e.b));
      case "compare":
        return compared(e.fn, this.expr(e.a), this.expr(e.b));
      case "logical":
        return logicalText(e, (x) => this.expr(x));
      case "select":
        return chosen(this.expr(e.cond), this.expr(e.a), this.expr(e.b));
      case "cast":
        return this.expressions.cast(e.a.type, e.type, this.expr(e.a));
      case "call":
        return this.expressions.call(
          e.fn,
          e.type as FloatType,
          e.args.map((a) => this.value(a)),
        );
      case "checked":
        return this.checked(e);
      case "failed":
        return [frame.failed(), Precedence.Term];
      default:
        return unreachable(e);
    }
  }

  private checked({ index, extent, otherwise, site }: Extract<Expr, { op: "checked" }>): Text {
    const { u32 } = this.dialect.types;
    const value = this.value(index);
    const place = this.variable("i32", "at");
    const inside = `(${u32})${place} < (${u32})${at(this.expr(extent), Precedence.Prefix)}`;
    const expected = this.dialect.likely?.(inside) ?? inside;
    return [`(${place} = ${value}, ${expected} ? ${place} : (${this.frame.fault(this, site, place)}, ${otherwise}))`, Precedence.Term];
  }

  /** Declares a variable before the statement that is being written. */
  private variable(type: ScalarType, wish: string): string {
    const name = this.names.fresh(wish);
    this.code.line(`${this.dialect.types[type]} ${name};`);
    return name;
  }

  /**
   * C leaves open in which order operands are evaluated, but the first index outside is the one that is told: operands that check indices go
   * into variables one after the other, but for the last.
   */
  private inOrder(e: Expr, write: () => Text): Text {
    const known = this.ready.get(e);
    if (known !== undefined) return [known, Precedence.Term];
    const lazy = e.op === "select" || e.op === "logical";
    const first =
      this.ir.checks && !lazy
        ? children(e)
            .filter((child) => this.checks(child))
            .slice(0, -1)
        : [];
    if (first.length === 0) return write();
    const assignments = first.map((child) => {
      const value = this.value(child);
      const variable = this.variable(child.type, "operand");
      this.ready.set(child, variable);
      return `${variable} = ${value}`;
    });
    const [text] = write();
    for (const child of first) this.ready.delete(child);
    return [`(${[...assignments, text].join(", ")})`, Precedence.Term];
  }

  private checks(e: Expr): boolean {
    if (!this.ir.checks) return false;
    let found = this.checking.get(e);
    if (found === undefined) this.checking.set(e, (found = e.op === "checked" || children(e).some((child) => this.checks(child))));
    return found;
  }

  private tableElement({ table: name, indices }: Extract<Expr, { op: "table" }>): string {
    const table = this.ir.tables.find((each) => each.name === name)!;
    const places = indices.map((index, axis) => `[${this.address(index, table.shape[axis])}]`);
    const element = this.names.of("table", name) + places.join("");
    const bits = bitsOf(table, this.dialect);
    return bits ? bits.value(element) : element;
  }

  /** A counter as an i32. */
  private narrow(name: string): Text {
    return [`(${this.dialect.types.i32})${name}`, Precedence.Prefix];
  }
}
