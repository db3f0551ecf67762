import { unreachable } from "../../ir/unreachable.js";
import { isFloat, type FloatType } from "../../ir/scalars.js";
import type { BinaryFn, CompareFn, Expr, KernelIR, NumericType, ScalarType, Stmt, Table } from "../../ir/types.js";
import { assignedLocals, children, someExpr } from "../../ir/walk.js";
import type { Code } from "./code.js";
import type { Dialect, Frame } from "./dialect.js";
import type { Helpers } from "./helpers.js";
import type { Helper } from "./dialect.js";
import type { Names } from "../names.js";
import { writePrint } from "./print.js";

/** Binding strength of C's operators, as far as they are used. */
const enum Level {
  Comma,
  Assign,
  Select,
  Or,
  And,
  BitOr,
  BitXor,
  BitAnd,
  Equal,
  Order,
  Shift,
  Sum,
  Product,
  Prefix,
  Term,
}

/** A C expression and the strength of its outermost operator. */
type Text = readonly [text: string, level: Level];

/** Operators that C has; the others are functions. */
const OPERATORS: Record<Exclude<BinaryFn, "min" | "max" | "mulhi" | "copysign">, readonly [string, Level]> = {
  add: ["+", Level.Sum],
  sub: ["-", Level.Sum],
  mul: ["*", Level.Product],
  div: ["/", Level.Product],
  rem: ["%", Level.Product],
  and: ["&", Level.BitAnd],
  or: ["|", Level.BitOr],
  xor: ["^", Level.BitXor],
  shl: ["<<", Level.Shift],
  shr: [">>", Level.Shift],
};
const COMPARISONS: Record<CompareFn, readonly [string, Level]> = {
  eq: ["==", Level.Equal],
  ne: ["!=", Level.Equal],
  lt: ["<", Level.Order],
  le: ["<=", Level.Order],
  gt: [">", Level.Order],
  ge: [">=", Level.Order],
};

/** Writes the statements of a kernel's body in a C-like language; what depends on the surroundings goes through the frame. */
export class BodyWriter {
  /** Loop variables and member indices, which have the `index` type. */
  private readonly counters = new Set<string>();
  /** Labels for `continue` in the loops being written, innermost last; undefined where `continue` itself will do. */
  private readonly continues: { label: string | undefined; used: boolean }[] = [];
  private readonly assigned: ReadonlySet<string>;
  /** Whether an expression checks indices. */
  private readonly checking = new WeakMap<Expr, boolean>();
  /** Variables that hold operands, where those are told to be evaluated one after the other. */
  private readonly ready = new Map<Expr, string>();
  private lastLine = 0;

  constructor(
    readonly code: Code,
    readonly ir: KernelIR,
    readonly dialect: Dialect,
    readonly frame: Frame<BodyWriter>,
    readonly names: Names,
    readonly helpers: Helpers,
  ) {
    this.assigned = assignedLocals(ir.body);
  }

  /** The value of an expression, in its own type. */
  value(e: Expr): string {
    return this.expr(e)[0];
  }

  /** The same, in parentheses unless it is a single term. */
  term(e: Expr): string {
    return at(this.expr(e), Level.Term);
  }

  /** Marks `name` as a variable of the `index` type and gives its identifier. */
  counter(name: string): string {
    this.counters.add(name);
    return this.local(name);
  }

  local(name: string): string {
    return this.names.of("local", name);
  }

  /** An integer expression in the `index` type: exact where no intermediate value leaves the type's range. */
  address(e: Expr): string {
    return this.wide(e)[0];
  }

  /** The offset of an element: the sum of index times stride, strides as given by the frame. */
  offset(view: string, indices: readonly Expr[]): string {
    const strides = this.frame.strides(view);
    const isFar = this.frame.far?.(view);
    let constant = 0;
    const [near, far]: string[][] = [[], []];
    indices.forEach((index, axis) => {
      const literal = Number(strides[axis]);
      if (index.op === "const" && (index.value === 0 || !Number.isNaN(literal)))
        constant += index.value ? Number(index.value) * literal : 0;
      else if (strides[axis] === "1") near.push(at(this.wide(index), Level.Sum));
      else (isFar?.[axis] ? far : near).push(`${at(this.wide(index, true), Level.Product)} * ${strides[axis]}`);
    });
    if (constant !== 0 || near.length + far.length === 0) near.push(String(constant));
    // Elements at one place share the sum of 32 bits.
    if (far.length > 0 && near.length > 1) near.splice(0, near.length, `(${near.join(" + ")})`);
    return [...far, ...near].join(" + ").replaceAll("+ -", "- ");
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
    if (op === "sum") return this.arithmetic("add", type, [a, Level.Term], [b, Level.Term])[0];
    if (typeof op === "string") return `${this.helpers.use(`${op}_${type}`)}(${a}, ${b})`;
    const inner = new BodyWriter(this.code, this.ir, this.dialect, this.frame, this.names, this.helpers);
    inner.local = (name) => (name === op.a ? a : name === op.b ? b : this.local(name));
    return inner.value(op.body);
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
      case "let": {
        if (stmt.init && this.isIndex(stmt.name, stmt.init)) {
          const init = this.address(stmt.init);
          return this.line(stmt, `const ${d.types.index} ${this.counter(stmt.name)} = ${init};`);
        }
        const init = stmt.init ? ` = ${this.value(stmt.init)}` : "";
        return this.line(stmt, `${d.types[stmt.type]} ${this.local(stmt.name)}${init};`);
      }
      case "assign":
        return this.line(stmt, `${this.local(stmt.name)} = ${this.value(stmt.value)};`);
      case "array": {
        if (frame.array) return frame.array(this, stmt);
        const zero = stmt.space === "private" ? " = {0}" : "";
        return this.line(stmt, `${d.types[stmt.type]} ${this.local(stmt.name)}[${stmt.length}]${zero};`);
      }
      case "setElement": {
        const place = `${this.local(stmt.array)}[${this.address(stmt.index)}]`;
        const value = this.value(stmt.value);
        return frame.setElement ? frame.setElement(this, stmt, place, value) : this.line(stmt, `${place} = ${value};`);
      }
      case "store": {
        const place = this.place(stmt.view, stmt.indices);
        const { element } = this.viewParam(stmt.view);
        const value = element === "u8" ? `(${d.types.u8})${this.term(stmt.value)}` : this.value(stmt.value);
        return frame.store ? frame.store(this, stmt, place, value) : this.line(stmt, `${place} = ${value};`);
      }
      case "scatter":
        return frame.scatter(this, stmt, this.offset(stmt.target, stmt.indices), this.value(stmt.value));
      case "reduce":
        return frame.reduce(this, stmt, this.value(stmt.value));
      case "print":
        return writePrint(this, stmt, frame, d);
      case "if":
        return this.branch(stmt, `if (${this.value(stmt.cond)})`);
      case "for":
        return this.counted(stmt, () => this.loop(stmt.body, this.frame.turn?.(stmt)));
      case "while":
        return this.whileLoop(stmt);
      case "break":
        return this.line(stmt, "break;");
      case "continue": {
        const target = this.continues.at(-1)!;
        target.used = true;
        return this.line(stmt, target.label ? `goto ${target.label};` : "continue;");
      }
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
    this.continues.push({ label: undefined, used: false });
    if (first !== undefined) this.code.indented(() => this.code.line(first));
    this.nested(body);
    this.continues.pop();
  }

  /** A counted loop around what `inside` writes. */
  counted(stmt: Extract<Stmt, { kind: "for" }>, inside: () => void): void {
    const start = this.address(stmt.start);
    let stop = at(this.wide(stmt.stop), Level.Shift);
    const name = this.counter(stmt.name);
    const index = this.dialect.types.index;
    if (!/^[-\w ]+$/.test(stop)) {
      const hoisted = this.names.fresh(`${name}_stop`);
      this.code.line(`const ${index} ${hoisted} = ${stop};`);
      stop = hoisted;
    }
    const step = stmt.step === 1 ? `${name}++` : stmt.step === -1 ? `${name}--` : `${name} += ${stmt.step}`;
    this.line(stmt, `for (${index} ${name} = ${start}; ${name} ${stmt.step > 0 ? "<" : ">"} ${stop}; ${step}) {`);
    inside();
    this.code.line("}");
  }

  private whileLoop(stmt: Extract<Stmt, { kind: "while" }>): void {
    const assigns = stmt.update.filter((s) => s.kind === "assign");
    const cond = this.value(stmt.cond);
    if (assigns.length === stmt.update.length) {
      const updates = assigns.map((s) => `${this.local(s.name)} = ${this.value(s.value)}`).join(", ");
      this.line(stmt, updates ? `for (; ${cond}; ${updates}) {` : `while (${cond}) {`);
      this.loop(stmt.body);
    } else {
      this.line(stmt, `while (${cond}) {`);
      const target = { label: this.names.fresh("next"), used: false };
      this.continues.push(target);
      this.code.indented(() => {
        this.code.block("", () => this.statements(stmt.body));
        if (target.used) this.code.line(`${target.label}:;`);
        this.continues.pop();
        this.statements(stmt.update);
      });
    }
    this.code.line("}");
  }

  private viewParam(name: string): { element: string } {
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
        return this.literal(e.type, e.value);
      case "local":
        return this.counters.has(e.name) ? this.narrow(this.local(e.name)) : [this.local(e.name), Level.Term];
      case "param":
        return [this.names.of("param", e.name), Level.Term];
      case "index":
        return this.narrow(frame.index(e.axis));
      case "teamSize":
        return [frame.teamSize(), Level.Term];
      case "load": {
        const place = this.place(e.view, e.indices);
        return this.viewParam(e.view).element === "u8" ? [`(${d.types.i32})${place}`, Level.Prefix] : [place, Level.Term];
      }
      case "element":
        return [`${this.local(e.array)}[${this.address(e.index)}]`, Level.Term];
      case "table":
        return [this.names.of("table", e.table) + e.indices.map((i) => `[${this.address(i)}]`).join(""), Level.Term];
      case "extent":
        return [frame.extent(e.view, e.axis), Level.Term];
      case "unary":
        return this.unary(e);
      case "binary":
        return this.arithmetic(e.fn, e.type as NumericType, this.expr(e.a), this.expr(e.b), e.b);
      case "compare": {
        const [sign, level] = COMPARISONS[e.fn];
        return [`${at(this.expr(e.a), level + 1)} ${sign} ${at(this.expr(e.b), level + 1)}`, level];
      }
      case "logical": {
        const [sign, level] = e.fn === "and" ? (["&&", Level.And] as const) : (["||", Level.Or] as const);
        // An `and` inside an `or` is put in parentheses for the reader.
        const inner = e.fn === "and" ? Level.And : Level.BitOr;
        return [
          [e.a, e.b].map((x) => (x.op === "logical" && x.fn === e.fn ? this.value(x) : at(this.expr(x), inner))).join(` ${sign} `),
          level,
        ];
      }
      case "select":
        return [`${at(this.expr(e.cond), Level.Or)} ? ${at(this.expr(e.a), Level.Or)} : ${at(this.expr(e.b), Level.Select)}`, Level.Select];
      case "cast":
        return this.cast(e);
      case "call": {
        const fn =
          e.fn === "pow" || e.fn === "powi" ? this.helpers.use(`${e.fn}_${e.type as FloatType}`) : d.math(e.fn, e.type as FloatType);
        return [`${fn}(${e.args.map((a) => this.value(a)).join(", ")})`, Level.Term];
      }
      case "checked":
        return this.checked(e);
      case "failed":
        return [frame.failed(), Level.Term];
      default:
        return unreachable(e);
    }
  }

  private checked({ index, extent, otherwise, site }: Extract<Expr, { op: "checked" }>): Text {
    const { u32 } = this.dialect.types;
    const value = this.value(index);
    const place = this.variable("i32", "at");
    const inside = `(${u32})${place} < (${u32})${at(this.expr(extent), Level.Prefix)}`;
    const expected = this.dialect.likely?.(inside) ?? inside;
    return [`(${place} = ${value}, ${expected} ? ${place} : (${this.frame.fault(this, site, place)}, ${otherwise}))`, Level.Term];
  }

  /** Declares a variable in front of the statement that is being written. */
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
    if (known !== undefined) return [known, Level.Term];
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
    return [`(${[...assignments, text].join(", ")})`, Level.Term];
  }

  private checks(e: Expr): boolean {
    if (!this.ir.checks) return false;
    let found = this.checking.get(e);
    if (found === undefined) this.checking.set(e, (found = e.op === "checked" || children(e).some((child) => this.checks(child))));
    return found;
  }

  /** A counter as an i32. */
  private narrow(name: string): Text {
    const { index, i32 } = this.dialect.types;
    return index === i32 ? [name, Level.Term] : [`(${i32})${name}`, Level.Prefix];
  }

  private literal(type: ScalarType, value: number | boolean): Text {
    const v = Number(value);
    if (type === "bool") return [v ? "true" : "false", Level.Term];
    if (type === "i32") return v === -2147483648 ? ["-2147483647 - 1", Level.Sum] : [String(v), v < 0 ? Level.Prefix : Level.Term];
    if (type === "u32") return [`${v >>> 0}u`, Level.Term];
    const sign = v < 0 || Object.is(v, -0) ? "-" : "";
    const level = sign ? Level.Prefix : Level.Term;
    if (!Number.isFinite(v)) {
      const name = Number.isNaN(v) ? this.dialect.nan : this.dialect.infinity;
      return type === "f32" ? [`(${this.dialect.types.f32})${sign}${name}`, Level.Prefix] : [sign + name, level];
    }
    const digits = String(Math.abs(v));
    return [sign + (/[.e]/.test(digits) ? digits : `${digits}.0`) + (type === "f32" ? "f" : ""), level];
  }

  private unary(e: Extract<Expr, { op: "unary" }>): Text {
    const { types } = this.dialect;
    const a = this.expr(e.a);
    const type = e.type;
    switch (e.fn) {
      case "neg":
        if (type === "i32" && !this.dialect.signedWraps) return [`(${types.i32})(0u - (${types.u32})${at(a, Level.Prefix)})`, Level.Prefix];
        // A term, or `- -x` would be read as `--x`.
        return [`-${at(a, Level.Term)}`, Level.Prefix];
      case "not":
        return [`!${at(a, Level.Prefix)}`, Level.Prefix];
      case "bitnot":
        return [`~${at(a, Level.Prefix)}`, Level.Prefix];
      case "abs":
        if (type === "u32") return a;
        return [`${isFloat(type) ? this.dialect.math("fabs", type) : this.helpers.use("abs_i32")}(${a[0]})`, Level.Term];
      case "clz":
        return [`${this.helpers.use("clz_u32")}(${a[0]})`, Level.Term];
      case "floor":
      case "trunc":
      case "ceil":
      case "sqrt":
        return [`${this.dialect.math(e.fn, type as FloatType)}(${a[0]})`, Level.Term];
      default:
        return unreachable(e.fn);
    }
  }

  private arithmetic(fn: BinaryFn, type: NumericType, a: Text, b: Text, divisor?: Expr): Text {
    const { types, signedWraps } = this.dialect;
    const call = (helper: Helper): Text => [`${this.helpers.use(helper)}(${a[0]}, ${b[0]})`, Level.Term];
    if (fn === "min" || fn === "max") return call(`${fn}_${type}`);
    if (fn === "mulhi") return call("mulhi_u32");
    if (fn === "copysign") return call(`copysign_${type as FloatType}`);
    if (fn === "rem" && isFloat(type)) return [`${this.dialect.math("fmod", type)}(${a[0]}, ${b[0]})`, Level.Term];
    if (fn === "div" && type === "f32" && this.dialect.roughDivision) return call("div_f32");
    const [sign, level] = OPERATORS[fn];
    if ((fn === "rem" || fn === "div") && !isFloat(type)) {
      const safe = divisor?.op === "const" && divisor.value !== 0 && divisor.value !== -1;
      return safe ? infix(sign, level, a, b) : call(`${fn}_${type}`);
    }
    if (fn === "shl" || fn === "shr") {
      const by: Text =
        divisor?.op === "const" ? [String(Number(divisor.value) & 31), Level.Term] : [`(${at(b, Level.Prefix)} & 31)`, Level.Term];
      return fn === "shl" && type === "i32"
        ? [`(${types.i32})((${types.u32})${at(a, Level.Prefix)} << ${by[0]})`, Level.Prefix]
        : [`${at(a, Level.Term)} ${sign} ${by[0]}`, level];
    }
    if (type === "i32" && !signedWraps && (fn === "add" || fn === "sub" || fn === "mul")) {
      const unsigned = (x: Text): Text => [`(${types.u32})${at(x, Level.Prefix)}`, Level.Prefix];
      return [`(${types.i32})(${infix(sign, level, unsigned(a), unsigned(b))[0]})`, Level.Prefix];
    }
    const bits = fn === "and" || fn === "or" || fn === "xor";
    return bits ? [`${at(a, Level.Prefix)} ${sign} ${at(b, Level.Prefix)}`, level] : infix(sign, level, a, b);
  }

  private cast(e: Extract<Expr, { op: "cast" }>): Text {
    const from = e.a.type;
    const a = this.expr(e.a);
    if (from === e.type) return a;
    if (isFloat(from) && !isFloat(e.type)) return [`${this.helpers.use(`${e.type}_from_${from}`)}(${a[0]})`, Level.Term];
    if (e.type === "bool") return [`${at(a, Level.Equal + 1)} != 0`, Level.Equal];
    return [`(${this.dialect.types[e.type]})${at(a, Level.Prefix)}`, Level.Prefix];
  }

  /**
   * True for a local that is better kept in the `index` type: a constant one, computed from a counter by steps that are exact there. Its
   * value as an i32 is the same, and addresses made of it can be followed from one turn of a loop to the next.
   */
  private isIndex(name: string, init: Expr): boolean {
    const { index, i32 } = this.dialect.types;
    const counts = (e: Expr) => e.op === "index" || (e.op === "local" && this.counters.has(e.name));
    return index !== i32 && init.op === "binary" && isLinear(init) && someExpr(init, counts) && !this.assigned.has(name);
  }

  /** `inside`: the result is an operand, so an i32 must be widened before it takes part. */
  private wide(e: Expr, inside = false): Text {
    const { index, i32 } = this.dialect.types;
    if (e.op === "const") return this.literal("i32", e.value);
    if (e.op === "index") return [this.frame.index(e.axis), Level.Term];
    if (e.op === "local" && this.counters.has(e.name)) return [this.local(e.name), Level.Term];
    if (e.op === "binary" && isLinear(e)) {
      const [sign, level] = OPERATORS[e.fn];
      return this.inOrder(e, () => infix(sign, level, this.wide(e.a, true), this.wide(e.b, true)));
    }
    const text = this.expr(e);
    return index === i32 || !inside ? text : [`(${index})${at(text, Level.Prefix)}`, Level.Prefix];
  }
}

type Binary = Extract<Expr, { op: "binary" }>;

/** An i32 sum, difference, or product with something that stays the same: what index arithmetic is made of. */
function isLinear(e: Binary): e is Binary & { fn: "add" | "sub" | "mul" } {
  const same = (x: Expr) => x.op === "const" || x.op === "param" || x.op === "extent";
  return e.type === "i32" && (e.fn === "add" || e.fn === "sub" || (e.fn === "mul" && (same(e.a) || same(e.b))));
}

/** The text, in parentheses if it binds less than `level`. */
function at([text, level]: Text, least: Level): string {
  return level >= least ? text : `(${text})`;
}

/** A left-associative operator; subtraction and division keep the right operand apart, and so does everything in floating point. */
function infix(sign: string, level: Level, a: Text, b: Text): Text {
  return [`${at(a, level)} ${sign} ${at(b, level + 1)}`, level];
}

/** A constant table at file scope. */
export function writeTable(
  code: Code,
  table: Table,
  dialect: Dialect,
  names: Names,
  literal: (type: NumericType, value: number) => string,
): void {
  const [first, ...rest] = table.shape;
  const size = rest.reduce((a, b) => a * b, 1);
  const nest = (shape: readonly number[], from: number): string => {
    if (shape.length === 0) return literal(table.type, table.values[from]);
    const stride = shape.slice(1).reduce((a, b) => a * b, 1);
    return `{${Array.from({ length: shape[0] }, (_, i) => nest(shape.slice(1), from + i * stride)).join(", ")}}`;
  };
  const head = `${dialect.tablePrefix} ${dialect.types[table.type]} ${names.of("table", table.name)}${table.shape.map((n) => `[${n}]`).join("")}`;
  if (rest.length === 0) code.line(`${head} = ${nest(table.shape, 0)};`);
  else
    code.block(
      `${head} =`,
      () => {
        for (let i = 0; i < first; i++) code.line(`${nest(rest, i * size)},`);
      },
      ";",
    );
}
