import { unreachable } from "../../../base/unreachable.js";
import type { FloatType, NumericType, ScalarType } from "../../../ir/scalars.js";
import type { Expr, Memory, Place, Stmt, Target, Type } from "../../../schedule/nodes.js";
import { formatted } from "../print.js";
import type { Code } from "../code.js";
import { chosen, compared, constantOf, Expressions, logical } from "../expressions.js";
import type { Helpers } from "../helpers.js";
import { at, infix, Level, OPERATORS, type Text } from "../operators.js";
import { bitsOf } from "../tables.js";
import type { GpuDialect } from "./dialect.js";
import { spellWord } from "./words.js";

/** What one source's functions have in common while they are printed: helpers and definitions that they need. */
export interface SourceParts {
  readonly dialect: GpuDialect;
  readonly helpers: Helpers;
  readonly definitions: Set<string>;
  /** Name of the kernel, for messages. */
  readonly kernel: string;
}

const FORMS = { add: OPERATORS.add, sub: OPERATORS.sub } as const;

/** Prints statements of the scheduled IR in a language of C's family. It knows nothing of kernels, policies or schedules. */
export class Printer {
  private readonly expressions: Expressions;
  private lastLine = 0;
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
    if (e.op !== "address") throw new Error(`${e.op} is no address`);
    return e.offset ? `${e.of.name} + ${at(this.expr(e.offset), Level.Sum)}` : e.of.name;
  }

  /* Expressions. */

  private expr(e: Expr): Text {
    switch (e.op) {
      case "const":
        return e.short ? shortText(Number(e.value)) : this.expressions.literal(scalar(e.type), e.value);
      case "local":
      case "number":
        return [e.name, Level.Term];
      case "place":
        return [this.dialect[PLACES[e.of]](e.axis), Level.Term];
      case "read": {
        const place = this.element(e.from, e.offset);
        return e.from.element === "u8" ? [`(${this.dialect.types.i32})${place}`, Level.Prefix] : [place, Level.Term];
      }
      case "address":
        return e.offset ? [`&${this.element(e.of, e.offset)}`, Level.Prefix] : [e.of.name, Level.Term];
      case "table": {
        const element = e.name + e.indices.map((index) => `[${this.value(index)}]`).join("");
        return [bitsOf(e.table, this.dialect)?.value(element) ?? element, Level.Term];
      }
      case "unary":
        return this.expressions.unary(e.fn, scalar(e.type), this.expr(e.a));
      case "binary":
        return e.plain ? this.plain(e) : this.expressions.arithmetic(e.fn, e.type as NumericType, this.expr(e.a), this.expr(e.b), constantOf(e.b));
      case "compare":
        return compared(e.fn, this.expr(e.a), this.expr(e.b));
      case "logical":
        return logical(e, (x) => this.expr(x));
      case "select":
        return chosen(this.expr(e.cond), this.expr(e.a), this.expr(e.b));
      case "cast":
        return this.cast(e.a.type, e.type, this.expr(e.a));
      case "call":
        return this.expressions.call(
          e.fn,
          e.type as FloatType,
          e.args.map((arg) => this.value(arg)),
        );
      case "shuffle":
      case "exchange":
      case "next":
      case "word":
      case "apply":
        return [this.call(e), Level.Term];
      default:
        return unreachable(e);
    }
  }

  private call(e: Extract<Expr, { op: "shuffle" | "exchange" | "next" | "word" | "apply" }>): string {
    const { dialect } = this;
    switch (e.op) {
      case "shuffle": {
        const { shuffle } = dialect;
        if (!shuffle) throw new Error(`${dialect.name} has no shuffles`);
        const [value, by] = [this.value(e.value), this.value(e.by)];
        return e.among ? shuffle.group.xor(value, Number(by), this.value(e.among)) : shuffle[e.how](value, by);
      }
      case "exchange": {
        const plain = e.at.volatile ? `(${this.pointerType(e.at).trimEnd()})${e.at.name}` : this.pointerTo(e.at, e.offset);
        return `${dialect.exchange}(${plain}, ${this.value(e.seen)}, ${this.value(e.wanted)})`;
      }
      case "next":
        return dialect.next(this.pointerTo(e.at, e.offset));
      case "word":
        return spellWord(e, this, this.parts);
      case "apply":
        return `${e.fn.name}(${e.args.map((arg) => this.value(arg)).join(", ")})`;
      default:
        return unreachable(e);
    }
  }

  /** An operator of the language itself. */
  private plain({ fn, a, b }: Extract<Expr, { op: "binary" }>): Text {
    if (fn === "min" || fn === "max" || fn === "mulhi" || fn === "copysign") throw new Error(`${fn} is no operator`);
    const [sign, level] = OPERATORS[fn];
    const [left, right] = [this.expr(a), this.expr(b)];
    if (fn === "add" && right[0].startsWith("-") && right[1] >= Level.Product) return [`${at(left, level)} - ${right[0].slice(1)}`, level];
    if (fn in FORMS || level === Level.Product) return infix(sign, level, left, right);
    return [`${at(left, Level.Prefix)} ${sign} ${at(right, Level.Prefix)}`, level];
  }

  private cast(from: Type, to: Type, a: Text): Text {
    if (this.type(from) === this.type(to)) return a;
    if (isScalar(from) && isScalar(to)) return this.expressions.cast(from, to, a);
    return [`(${this.type(to)})${at(a, Level.Prefix)}`, Level.Prefix];
  }

  private element(memory: Memory, offset: Expr): string {
    return `${memory.name}[${this.value(offset)}]`;
  }

  private pointerTo(memory: Memory, offset: Expr): string {
    return constantOf(offset) === 0 ? memory.name : `&${this.element(memory, offset)}`;
  }

  private pointerType({ space, element }: Memory): string {
    return this.dialect.pointer(space === "block" ? "shared" : "global", element);
  }

  private place(place: Place): string {
    if ("name" in place) return place.name;
    const { memory, offset, type } = place;
    const own = memory.element === "u8" ? "i32" : memory.element;
    if (this.type(own) === this.type(type)) return this.element(memory, offset);
    const n = constantOf(offset);
    const pointer = this.pointerType({ ...memory, element: type as NumericType }).trimEnd();
    return `*(${pointer})(${memory.name} + ${n ?? this.value(offset)})`;
  }

  /* Statements. */

  statements(list: readonly Stmt[]): void {
    for (const stmt of list) this.statement(stmt);
  }

  private statement(stmt: Stmt): void {
    const { code, dialect } = this;
    switch (stmt.kind) {
      case "let":
        return this.declaration(stmt);
      case "assign":
        return this.line(stmt, `${this.place(stmt.to)} = ${this.stored(stmt.to, stmt.value)};`);
      case "increase":
        return this.line(stmt, `${this.increased(this.place(stmt.to), stmt.by)};`);
      case "append":
        return this.line(stmt, `${stmt.to.name}[${this.place(stmt.at)}++] = ${this.value(stmt.value)};`);
      case "array":
        return this.array(stmt);
      case "pointer":
        return this.pointer(stmt);
      case "point":
        return this.line(stmt, `${stmt.memory.name} = ${this.target(stmt.memory, stmt.to)};`);
      case "atomic":
        return this.line(stmt, `${this.atomic(stmt)};`);
      case "if":
        return this.branch(stmt, "if");
      case "loop":
        return this.loop(stmt);
      case "while":
        return this.conditional(stmt);
      case "repeat": {
        this.line(stmt, "do {");
        this.turn(stmt.body);
        return void code.line(`} while (${at(this.expr(stmt.again), Level.BitOr)} && (${stmt.name} += ${stmt.by}, true));`);
      }
      case "block":
        return void code.block("", () => this.statements(stmt.body));
      case "break":
      case "return":
        return this.line(stmt, `${stmt.kind};`);
      case "continue": {
        const target = this.continues.at(-1)!;
        target.used = true;
        return this.line(stmt, target.label ? `goto ${target.label};` : "continue;");
      }
      case "barrier":
        return void code.line(`${dialect.barrier};`);
      case "lanesBarrier":
        return void code.line(`${dialect.shuffle!.group.fence(this.value(stmt.lanes))};`);
      case "fence":
        return void code.line(`${stmt.scope === "device" ? dialect.fence : dialect.peerAccess!.fence};`);
      case "do":
        return this.line(stmt, `${this.value(stmt.call)};`);
      case "print": {
        const items = stmt.items.map((item) => (typeof item === "string" ? item : { type: scalar(item.type), value: this.value(item) }));
        return this.line(stmt, formatted(this.parts.kernel, items, dialect));
      }
      case "foldRun":
        for (const line of dialect.runs!.body(this.value(stmt.folded), this.type((stmt.value as { type: Type }).type), dialect.types.index))
          code.line(line);
        return;
      default:
        return unreachable(stmt);
    }
  }

  /** A line for a statement, with the number of its source line where that is a new one. */
  private line({ line = 0 }: Stmt, text: string): void {
    const note = line !== this.lastLine && line > 0 ? `  // line ${line}` : "";
    if (line > 0) this.lastLine = line;
    this.code.line(text + note);
  }

  private declaration(stmt: Extract<Stmt, { kind: "let" }>): void {
    const { name, type, value, fixed, ifUsed } = stmt;
    const text = `${fixed ? "const " : ""}${this.type(type)} ${name}${value ? ` = ${this.value(value)}` : ""};`;
    if (ifUsed) this.code.declaration(name, text);
    else this.line(stmt, text);
  }

  /** The text of a value that is stored: packed elements are cut. */
  private stored(to: Place, value: Expr): string {
    const packed = "memory" in to && to.memory.element === "u8";
    return packed ? `(${this.dialect.types.u8})${at(this.expr(value), Level.Term)}` : this.value(value);
  }

  private increased(place: string, by: Expr): string {
    const n = by.op === "const" && by.short ? Number(by.value) : undefined;
    if (n === 1) return `${place}++`;
    return n !== undefined && n < 0 ? `${place} -= ${-n}` : `${place} += ${this.value(by)}`;
  }

  private array(stmt: Extract<Stmt, { kind: "array" }>): void {
    const { memory, length, fill } = stmt;
    const values = fill === undefined ? "" : fill === "zero" ? " = {0}" : ` = {${Array(length).fill(this.value(fill)).join(", ")}}`;
    this.line(stmt, `${this.type(memory.element as Type)} ${memory.name}[${length}]${values};`);
  }

  private pointer(stmt: Extract<Stmt, { kind: "pointer" }>): void {
    const { memory, to, fixed, constant } = stmt;
    const type = `${constant ? "const " : ""}${memory.volatile ? "volatile " : ""}${this.pointerType(memory)}`;
    this.line(stmt, `${type}${fixed ? "const " : ""}${memory.name} = ${to ? this.target(memory, to, constant) : "0"};`);
  }

  private target(memory: Memory, to: Target, constant?: true): string {
    // Without parentheses around sums: these are added to the pointer one after the other, which makes other machine code.
    const moved = (base: string) =>
      to.offset ? `${base} + ${at(this.expr(to.offset), Level.Sum)}` : to.before ? `${base} - ${at(this.expr(to.before), Level.Product)}` : base;
    const cast = `(${constant ? "const " : ""}${this.pointerType(memory).trimEnd()})`;
    if ("address" in to) return moved(`${cast}${at(this.expr(to.address), Level.Prefix)}`);
    if (to.of.element === memory.element) return moved(to.of.name);
    return `${cast}${to.offset ? `(${moved(to.of.name)})` : to.of.name}`;
  }

  private atomic({ fn, at: memory, offset, value }: Extract<Stmt, { kind: "atomic" }>): string {
    const { helpers, definitions } = this.parts;
    const { name, definition, helper } = this.dialect.atomic(fn, memory.element as NumericType, memory.space === "block" ? "shared" : "global");
    if (helper) helpers.use(helper);
    if (definition) definitions.add(definition);
    return `${name}(&${this.element(memory, offset)}, ${this.value(value)})`;
  }

  private branch(stmt: Extract<Stmt, { kind: "if" }>, word: string): void {
    const { code } = this;
    this.line(stmt, `${word} (${this.value(stmt.cond)}) {`);
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
    const { name, type, start, cond, step, unroll } = stmt;
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

const PLACES = { thread: "thread", block: "block", threads: "threads", blocks: "blocks" } as const;

const isScalar = (type: Type): type is ScalarType => type !== "int" && type !== "index" && type !== "i64";

/** The type of the kernel's IR that a value has in expressions of its operators. */
const scalar = (type: Type): ScalarType => (isScalar(type) ? type : "i32");

const shortText = (value: number): Text => [String(value), value < 0 ? Level.Prefix : Level.Term];

/** How a type is spelled. */
export const typeText = (type: Type, dialect: Pick<GpuDialect, "types" | "i64">): string =>
  type === "int" ? dialect.types.i32 : type === "i64" ? dialect.i64 : dialect.types[type];
