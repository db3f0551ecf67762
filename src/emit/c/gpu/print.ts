import { EmitError } from "../../../base/errors.js";
import { noFetch } from "../fetch.js";
import { unreachable } from "../../../base/unreachable.js";
import { isPacked, type FloatType, type NumericType } from "../../../ir/scalars.js";
import { valueType } from "../../../schedule/build.js";
import type { Expr, Memory, Place, Stmt, Target, Type } from "../../../schedule/nodes.js";
import { commentText } from "../../text.js";
import { formatted } from "../printf.js";
import type { Code } from "../code.js";
import { chosen, compared, constantOf, Expressions, logicalText } from "../expressions.js";
import type { Helpers } from "../helpers.js";
import { at, infix, Precedence, OPERATORS, type Text } from "../operators.js";
import { packed, unpacked } from "../packed.js";
import { bitsOf } from "../tables.js";
import type { GpuDialect } from "./dialect.js";
import { isScalar, PLACES, scalar, shortText, typeText } from "./types.js";
import { spellWord } from "./words.js";

/** Parts of a source that its functions share while they are printed: helpers and definitions that they need. */
export interface SourceParts {
  readonly dialect: GpuDialect;
  readonly helpers: Helpers;
  readonly definitions: Set<string>;
  /** Name of the kernel, for messages. */
  readonly kernel: string;
  /** Comments that stand before the code of a line of the source. */
  readonly comments?: ReadonlyMap<number, readonly string[]>;
}

/** Prints statements of the scheduled IR in a language of C's family. It knows nothing of kernels, policies or schedules. */
export class Printer {
  private readonly expressions: Expressions;
  private lastLine = 0;
  /** Lines whose comments have been printed. */
  private readonly commented = new Set<number>();
  /** Labels for `continue` in the loops at hand, innermost last; undefined if `continue` itself will do. */
  private readonly continues: { label: string | undefined; used: boolean }[] = [];

  constructor(
    private readonly parts: SourceParts,
    private readonly code: Code,
    /** A name that nothing else has. */
    private readonly fresh: (wish: string) => string,
  ) {
    this.expressions = new Expressions(parts.dialect, parts.helpers);
  }

  private get dialect(): GpuDialect {
    return this.parts.dialect;
  }

  type(type: Type): string {
    return typeText(type, this.dialect);
  }

  value(e: Expr): string {
    return this.expr(e)[0];
  }

  /** An address as a sum of its pointer and the terms of its offset. */
  pointed(e: Expr): string {
    if (e.op !== "address") throw new Error(`an address is wanted, not ${e.op}`);
    return e.offset ? `${e.of.id} + ${at(this.expr(e.offset), Precedence.Sum)}` : e.of.id;
  }

  /* Expressions. */

  private expr(e: Expr): Text {
    switch (e.op) {
      case "const":
      case "local":
      case "number":
      case "place":
      case "read":
      case "address":
      case "table":
        return this.leaf(e);
      case "shuffle":
      case "exchange":
      case "fetch":
      case "next":
      case "word":
      case "apply":
        return [this.call(e), Precedence.Term];
      // Any other expression is an operation.
      default:
        return this.operation(e);
    }
  }

  private leaf(e: Extract<Expr, { op: "const" | "local" | "number" | "place" | "read" | "address" | "table" }>): Text {
    switch (e.op) {
      case "const":
        return e.short ? shortText(Number(e.value)) : this.expressions.literal(scalar(e.type), e.value);
      case "local":
      case "number":
        return [e.id, Precedence.Term];
      case "place":
        return [this.dialect[PLACES[e.of]](e.axis), Precedence.Term];
      case "read": {
        const place = this.element(e.from, e.offset);
        const { element } = e.from;
        return element !== "long" && isPacked(element)
          ? unpacked(element, place, this.dialect, this.parts.helpers)
          : [place, Precedence.Term];
      }
      case "address":
        return e.offset ? [`&${this.element(e.of, e.offset)}`, Precedence.Prefix] : [e.of.id, Precedence.Term];
      case "table": {
        const element = e.id + e.indices.map((index) => `[${this.value(index)}]`).join("");
        return [bitsOf(e.table, this.dialect)?.value(element) ?? element, Precedence.Term];
      }
      default:
        return unreachable(e);
    }
  }

  private operation(e: Extract<Expr, { op: "unary" | "binary" | "compare" | "logical" | "select" | "cast" | "agreed" | "call" }>): Text {
    switch (e.op) {
      case "unary":
        return this.expressions.unary(e.fn, scalar(e.type), this.expr(e.a));
      case "binary":
        if (e.plain) return this.plain(e);
        return this.expressions.arithmetic(e.fn, e.type as NumericType, this.expr(e.a), this.expr(e.b), constantOf(e.b));
      case "compare":
        return compared(e.fn, this.expr(e.a), this.expr(e.b));
      case "logical":
        return logicalText(e, (x) => this.expr(x));
      case "select":
        return chosen(this.expr(e.cond), this.expr(e.a), this.expr(e.b));
      case "cast":
        return this.cast(e.a.type, e.type, this.expr(e.a));
      case "agreed":
        return this.expr(e.a);
      case "call": {
        const args = e.args.map((arg) => this.value(arg));
        return this.expressions.call(e.fn, e.type as FloatType, args);
      }
      default:
        return unreachable(e);
    }
  }

  private call(e: Extract<Expr, { op: "shuffle" | "exchange" | "fetch" | "next" | "word" | "apply" }>): string {
    const { dialect } = this;
    switch (e.op) {
      case "shuffle": {
        const { shuffle } = dialect;
        if (!shuffle) throw new Error(`${dialect.name} has no shuffles`);
        const [value, by] = [this.value(e.value), this.value(e.by)];
        return e.among ? shuffle.group.xor(value, Number(by), this.value(e.among)) : shuffle[e.how](value, by);
      }
      case "exchange": {
        const plain = e.at.volatile ? `(${this.pointerType(e.at).trimEnd()})${e.at.id}` : this.pointerTo(e.at, e.offset);
        return `${dialect.exchange}(${plain}, ${this.value(e.seen)}, ${this.value(e.wanted)})`;
      }
      case "fetch": {
        const pointer = `&${this.element(e.at, e.offset)}`;
        if (!dialect.fetch) throw new EmitError(this.parts.kernel, dialect.name, ...noFetch(e.array));
        return dialect.fetch(
          e.fn,
          e.type,
          pointer,
          e.operands.map((operand) => this.value(operand)),
          (helper) => this.parts.helpers.use(helper),
        );
      }
      case "next":
        return dialect.next(this.pointerTo(e.at, e.offset));
      case "word":
        return spellWord(e, this, this.parts);
      case "apply":
        return `${e.fn.id}(${e.args.map((arg) => this.value(arg)).join(", ")})`;
      default:
        return unreachable(e);
    }
  }

  /** An operator of the language itself. */
  private plain({ fn, a, b }: Extract<Expr, { op: "binary" }>): Text {
    if (fn === "min" || fn === "max" || fn === "mulhi" || fn === "copysign") throw new Error(`an operator cannot be ${fn}`);
    const [sign, level] = OPERATORS[fn];
    const [left, right] = [this.expr(a), this.expr(b)];
    if (fn === "add" && right[0].startsWith("-") && right[1] >= Precedence.Product)
      return [`${at(left, level)} - ${right[0].slice(1)}`, level];
    if (level === Precedence.Sum || level === Precedence.Product) return infix(sign, level, left, right);
    return [`${at(left, Precedence.Prefix)} ${sign} ${at(right, Precedence.Prefix)}`, level];
  }

  private cast(from: Type, to: Type, a: Text): Text {
    if (this.type(from) === this.type(to)) return a;
    if (isScalar(from) && isScalar(to)) return this.expressions.cast(from, to, a);
    return [`(${this.type(to)})${at(a, Precedence.Prefix)}`, Precedence.Prefix];
  }

  private element(memory: Memory, offset: Expr): string {
    return `${memory.id}[${this.value(offset)}]`;
  }

  private pointerTo(memory: Memory, offset: Expr): string {
    return constantOf(offset) === 0 ? memory.id : `&${this.element(memory, offset)}`;
  }

  private pointerType({ space, element }: Memory): string {
    return this.dialect.pointer(space === "block" ? "shared" : "global", element);
  }

  private place(place: Place): string {
    if ("id" in place) return place.id;
    const { memory, offset, type } = place;
    const own = valueType(memory);
    if (this.type(own) === this.type(type)) return this.element(memory, offset);
    const n = constantOf(offset);
    const pointer = this.pointerType({ ...memory, element: type as NumericType }).trimEnd();
    return `*(${pointer})(${memory.id} + ${n ?? this.value(offset)})`;
  }

  /* Statements. */

  statements(list: readonly Stmt[]): void {
    for (const stmt of list) this.statement(stmt);
  }

  private statement(stmt: Stmt): void {
    if (isSimple(stmt)) return this.line(stmt, this.simple(stmt));
    switch (stmt.kind) {
      case "let":
        return this.declaration(stmt);
      case "array":
        return this.array(stmt);
      case "pointer":
        return this.pointer(stmt);
      case "point":
        return this.line(stmt, `${stmt.memory.id} = ${this.target(stmt.memory, stmt.to)};`);
      case "print": {
        const items = stmt.items.map((item) => (typeof item === "string" ? item : { type: scalar(item.type), value: this.value(item) }));
        return this.line(stmt, formatted(this.parts.kernel, items, this.dialect));
      }
      case "barrier":
      case "lanesBarrier":
      case "fence":
        return void this.code.line(`${this.wait(stmt)};`);
      case "if":
      case "loop":
      case "while":
      case "repeat":
      case "block":
      case "continue":
      case "foldRun":
        return this.control(stmt);
      default:
        return unreachable(stmt);
    }
  }

  private wait(stmt: Extract<Stmt, { kind: "barrier" | "lanesBarrier" | "fence" }>): string {
    const { dialect } = this;
    if (stmt.kind === "barrier") return dialect.barrier;
    if (stmt.kind === "lanesBarrier") return dialect.shuffle!.group.fence(this.value(stmt.lanes));
    return stmt.scope === "device" ? dialect.fence : dialect.peerAccess!.fence;
  }

  private control(stmt: Extract<Stmt, { kind: "if" | "loop" | "while" | "repeat" | "block" | "continue" | "foldRun" }>): void {
    const { code, dialect } = this;
    switch (stmt.kind) {
      case "if":
        return this.branch(stmt, "if");
      case "loop":
        return this.loop(stmt);
      case "while":
        return this.conditional(stmt);
      case "repeat":
        this.line(stmt, "do {");
        this.turn(stmt.body);
        return void code.line(`} while (${at(this.expr(stmt.again), Precedence.BitOr)} && (${stmt.id} += ${stmt.by}, true));`);
      case "block":
        return void code.block("", () => this.statements(stmt.body));
      case "continue": {
        const target = this.continues.at(-1)!;
        target.used = true;
        return this.line(stmt, target.label ? `goto ${target.label};` : "continue;");
      }
      case "foldRun":
        for (const line of dialect.runs!.body(this.value(stmt.folded), this.type(stmt.value.type), dialect.types.index)) code.line(line);
        return;
      default:
        return unreachable(stmt);
    }
  }

  /** A statement of one line. */
  private simple(stmt: Simple): string {
    switch (stmt.kind) {
      case "assign":
        return `${this.assignment(stmt)};`;
      case "increase":
        return `${this.increased(this.place(stmt.to), stmt.by)};`;
      case "append":
        return `${stmt.to.id}[${this.place(stmt.at)}++] = ${this.value(stmt.value)};`;
      case "atomic":
        return `${this.atomic(stmt)};`;
      case "do":
        return `${this.value(stmt.call)};`;
      case "break":
      case "return":
        return `${stmt.kind};`;
      default:
        return unreachable(stmt);
    }
  }

  /** A line for a statement, with the number of its source line where that is a new one. */
  private line({ line = 0 }: Stmt, text: string): void {
    const isNew = line !== this.lastLine && line > 0;
    const note = isNew ? `  // line ${line}` : "";
    if (isNew && !this.commented.has(line)) {
      this.commented.add(line);
      for (const comment of this.parts.comments?.get(line) ?? []) this.code.line(`// ${commentText(comment)}`);
    }
    if (line > 0) this.lastLine = line;
    this.code.line(text + note);
  }

  private declaration(stmt: Extract<Stmt, { kind: "let" }>): void {
    const { id: name, type, value, fixed, ifUsed } = stmt;
    const text = `${fixed ? "const " : ""}${this.type(type)} ${name}${value ? ` = ${this.value(value)}` : ""};`;
    if (ifUsed) this.code.declaration(name, text);
    else this.line(stmt, text);
  }

  private assignment({ to, value }: Extract<Stmt, { kind: "assign" }>): string {
    const isQuotient = "id" in to && value.op === "binary" && value.plain && value.fn === "div" && value.a.op === "local";
    if (isQuotient && value.a.id === to.id) return `${to.id} /= ${this.value(value.b)}`;
    return `${this.place(to)} = ${this.stored(to, value)}`;
  }

  /** The text of a value that is stored: packed elements are cut. */
  private stored(to: Place, value: Expr): string {
    const element = "memory" in to ? to.memory.element : "long";
    if (element === "long" || !isPacked(element)) return this.value(value);
    return packed(element, this.expr(value), this.dialect, this.parts.helpers);
  }

  private increased(place: string, by: Expr): string {
    const n = by.op === "const" && by.short ? Number(by.value) : undefined;
    if (n === 1) return `${place}++`;
    return n !== undefined && n < 0 ? `${place} -= ${-n}` : `${place} += ${this.value(by)}`;
  }

  private array(stmt: Extract<Stmt, { kind: "array" }>): void {
    const { memory, length, fill } = stmt;
    const values = fill === undefined ? "" : fill === "zero" ? " = {0}" : ` = {${Array(length).fill(this.value(fill)).join(", ")}}`;
    this.line(stmt, `${this.type(memory.element as Type)} ${memory.id}[${length}]${values};`);
  }

  private pointer(stmt: Extract<Stmt, { kind: "pointer" }>): void {
    const { memory, to, fixed, constant } = stmt;
    const type = `${constant ? "const " : ""}${memory.volatile ? "volatile " : ""}${this.pointerType(memory)}`;
    this.line(stmt, `${type}${fixed ? "const " : ""}${memory.id} = ${to ? this.target(memory, to, constant) : "0"};`);
  }

  private target(memory: Memory, to: Target, constant?: true): string {
    // Without parentheses around sums: these are added to the pointer one after the other, which makes other machine code.
    const moved = (base: string) =>
      to.offset
        ? `${base} + ${at(this.expr(to.offset), Precedence.Sum)}`
        : to.before
          ? `${base} - ${at(this.expr(to.before), Precedence.Product)}`
          : base;
    const cast = `(${constant ? "const " : ""}${this.pointerType(memory).trimEnd()})`;
    if ("address" in to) return moved(`${cast}${at(this.expr(to.address), Precedence.Prefix)}`);
    if (to.of.element === memory.element) return moved(to.of.id);
    return `${cast}${to.offset ? `(${moved(to.of.id)})` : to.of.id}`;
  }

  private atomic({ fn, at: memory, offset, value }: Extract<Stmt, { kind: "atomic" }>): string {
    const { helpers, definitions } = this.parts;
    const { name, definition, helper } = this.dialect.atomic(
      fn,
      memory.element as NumericType,
      memory.space === "block" ? "shared" : "global",
    );
    if (helper) helpers.use(helper);
    if (definition) definitions.add(definition);
    return `${name}(&${this.element(memory, offset)}, ${this.value(value)})`;
  }

  private branch(stmt: Extract<Stmt, { kind: "if" }>, word: string): void {
    const { code } = this;
    const head = `${word} (${this.value(stmt.cond)})`;
    const [only, ...more] = stmt.then;
    // A schedule's own; statements of the kernel stand as its author wrote them.
    const isShort = word === "if" && stmt.else.length === 0 && only && more.length === 0 && only.line === undefined;
    if (isShort && isSimple(only)) return this.line(stmt, `${head} ${this.simple(only)}`);
    this.line(stmt, `${head} {`);
    code.indented(() => this.statements(stmt.then));
    const [first, ...others] = stmt.else;
    if (first?.kind === "if" && others.length === 0) return this.branch(first, "} else if");
    if (first) {
      code.line("} else {");
      code.indented(() => this.statements(stmt.else));
    }
    code.line("}");
  }

  /** The body of a loop whose `continue` is the language's own. */
  private turn(body: readonly Stmt[]): void {
    this.continues.push({ label: undefined, used: false });
    this.code.indented(() => this.statements(body));
    this.continues.pop();
  }

  private loop(stmt: Extract<Stmt, { kind: "loop" }>): void {
    const { code } = this;
    const { id: name, type, start, cond, step, unroll } = stmt;
    if (unroll !== undefined) code.line(`#pragma unroll ${unroll}`);
    if (!cond) this.line(stmt, "for (;;) {");
    else {
      const first = start ? `${this.type(type)} ${name} = ${this.value(start)}` : "";
      this.line(stmt, `for (${first}; ${this.value(cond)};${step ? ` ${this.stepped(name, step)}` : ""}) {`);
    }
    this.turn(stmt.body);
    code.line("}");
  }

  private stepped(name: string, { fn, by }: NonNullable<Extract<Stmt, { kind: "loop" }>["step"]>): string {
    const n = constantOf(by);
    if (fn === "div") return `${name} /= ${this.value(by)}`;
    return n === 1 ? `${name}++` : n === -1 ? `${name}--` : `${name} += ${this.value(by)}`;
  }

  /** A loop with a condition, and updates that each turn ends with. */
  private conditional(stmt: Extract<Stmt, { kind: "while" }>): void {
    const { code } = this;
    const { update } = stmt;
    const cond = this.value(stmt.cond);
    const assigns = update.flatMap((each) => (each.kind === "assign" ? [`${this.place(each.to)} = ${this.value(each.value)}`] : []));
    if (assigns.length === update.length) {
      this.line(stmt, update.length > 0 ? `for (; ${cond}; ${assigns.join(", ")}) {` : `while (${cond}) {`);
      this.turn(stmt.body);
    } else {
      this.line(stmt, `while (${cond}) {`);
      const target = { label: this.fresh("next"), used: false };
      this.continues.push(target);
      code.indented(() => {
        code.block("", () => this.statements(stmt.body));
        if (target.used) code.line(`${target.label}:;`);
        this.continues.pop();
        this.statements(update);
      });
    }
    code.line("}");
  }
}

type Simple = Extract<Stmt, { kind: (typeof SIMPLE)[number] }>;
const SIMPLE = ["assign", "increase", "append", "atomic", "do", "break", "return"] as const satisfies readonly Stmt["kind"][];
const isSimple = (stmt: Stmt): stmt is Simple => (SIMPLE as readonly string[]).includes(stmt.kind);
