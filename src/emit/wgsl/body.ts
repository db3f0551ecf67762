import { IntegerRanges, type KnownIntegers } from "../../ir/analysis/integer-ranges.js";
import { lastOf } from "../../ir/loop-stops.js";
import { isFloatBinary, type BinaryFn } from "../../ir/operators.js";
import { unreachable } from "../../base/unreachable.js";
import { isDouble, isFloat, isSingle, isUnsigned, isWide, type FloatType, type WideType } from "../../ir/scalars.js";
import { choiceOf } from "../../ir/joint-choice.js";
import type {
  CompareFn,
  Expr,
  KernelIR,
  NumberType,
  NumericType,
  ReduceParam,
  ScalarType,
  ScatterOp,
  Stmt,
  Table,
  UnaryFn,
} from "../../ir/types.js";
import { assignedLocals, someExpr } from "../../ir/walk.js";
import type { Code } from "../c/code.js";
import type { Names } from "../../base/names.js";
import type { ShaderFrame } from "./frame.js";
import type { HelperName, WgslHelpers } from "./helpers.js";
import { WGSL_TYPES, zeroVariable } from "./shader-program.js";

/** Binding strength, as far as WGSL lets operators meet without parentheses. */
const enum Level {
  Weak,
  Sum,
  Product,
  Prefix,
  Term,
}

/** A WGSL expression and the strength of its outermost operator. */
type Text = readonly [text: string, level: Level];

const SIGNS: Record<Exclude<BinaryFn, "min" | "max" | "mulhi" | "copysign">, readonly [string, Level]> = {
  add: ["+", Level.Sum],
  sub: ["-", Level.Sum],
  mul: ["*", Level.Product],
  div: ["/", Level.Product],
  rem: ["%", Level.Product],
  and: ["&", Level.Weak],
  or: ["|", Level.Weak],
  xor: ["^", Level.Weak],
  shl: ["<<", Level.Weak],
  shr: [">>", Level.Weak],
};
const COMPARISONS: Record<CompareFn, string> = { eq: "==", ne: "!=", lt: "<", le: "<=", gt: ">", ge: ">=" };

/** Both sides are evaluated as long as they are cheap, as nothing can fail: branches cost more, and drivers take long to compile many of them. */
function signOf({ fn, b }: Extract<Expr, { op: "logical" }>): string {
  const sign = fn === "and" ? "&" : "|";
  return someExpr(b, (part) => part.op === "call") ? sign + sign : sign;
}

/** Writes the statements of a kernel's body in WGSL; what depends on the surroundings goes through the frame. */
export class WgslBodyWriter {
  private readonly assigned: ReadonlySet<string>;
  /** Values of the integers that have been written so far. */
  private readonly ranges: IntegerRanges;
  private lastLine = 0;
  /** Factors of products of emulated f64, by the product's text. */
  private readonly products = new Map<string, readonly [string, string]>();

  constructor(
    readonly code: Code,
    readonly ir: KernelIR,
    readonly frame: ShaderFrame<WgslBodyWriter>,
    readonly names: Names,
    readonly helpers: WgslHelpers,
    /** f32 operations are kept from being contracted and regrouped. */
    private readonly strict: boolean,
    /** Sizes in the launches that run the code. */
    private readonly sizes: KnownIntegers,
  ) {
    this.assigned = assignedLocals(ir.body);
    this.ranges = new IntegerRanges(sizes, this.assigned, ir.tables);
  }

  /** The value of an expression. */
  value(e: Expr): string {
    return this.expr(e)[0];
  }

  local(name: string): string {
    return this.names.of("local", name);
  }

  constant(type: ScalarType, value: number | bigint | boolean): string {
    return this.literal(type, value)[0];
  }

  /** The offset of an element from the start of its buffer: what the view begins with, and the sum of index times stride. */
  offset(view: string, indices: readonly Expr[]): string {
    const strides = this.frame.strides(view);
    const base = this.frame.base(view);
    const terms = base === undefined ? [] : [base];
    indices.forEach((index, axis) => {
      if (index.op === "const" && index.value === 0) return;
      const text = this.expr(index);
      terms.push(strides[axis] === "1" ? at(text, Level.Sum) : `${at(text, Level.Product)} * ${strides[axis]}`);
    });
    return terms.length === 0 ? "0" : terms.join(" + ");
  }

  statements(list: readonly Stmt[]): void {
    for (const stmt of list) this.statement(stmt);
  }

  /** `combine` of a custom reduction, or the operator of another, on two values. */
  fold(op: ScatterOp | { a: string; b: string; body: Expr }, type: NumericType, a: string, b: string): string {
    const [first, second] = [closed(a), closed(b)];
    if (typeof op === "string") return this.arithmetic(op === "sum" ? "add" : op, type, [first, Level.Term], [second, Level.Term])[0];
    const inner = new WgslBodyWriter(this.code, this.ir, this.frame, this.names, this.helpers, this.strict, this.sizes);
    inner.local = (name) => (name === op.a ? first : name === op.b ? second : this.local(name));
    return inner.value(op.body);
  }

  /** Writes the fold of values into the parts of a joint reduction; all are evaluated as often as the folds mention them. */
  foldJointly(parts: readonly ReduceParam[], into: readonly string[], values: readonly string[]): void {
    const { a, b, bodies } = parts[0].joint!;
    const [first, second] = [into.map(closed), values.map(closed)];
    const inner = new WgslBodyWriter(this.code, this.ir, this.frame, this.names, this.helpers, this.strict, this.sizes);
    inner.local = (name) => (a.includes(name) ? first[a.indexOf(name)] : b.includes(name) ? second[b.indexOf(name)] : this.local(name));
    const keep = (from: readonly string[]) => into.forEach((place, n) => this.code.line(`${place} = ${from[n]};`));
    const choice = choiceOf(parts[0].joint!);
    if (choice) return void this.code.block(`if ${inner.value(choice)}`, () => keep(values));
    const folded = parts.map(({ name }) => this.names.fresh(`${name}_folded`));
    this.code.block("", () => {
      parts.forEach(({ type }, n) => this.code.line(`let ${folded[n]}: ${WGSL_TYPES[type]} = ${inner.value(bodies[n])};`));
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
    const { frame } = this;
    switch (stmt.kind) {
      case "let": {
        const name = this.local(stmt.name);
        if (stmt.init) this.ranges.define(stmt.name, stmt.init);
        if (!stmt.init) return this.line(stmt, zeroVariable(name, WGSL_TYPES[stmt.type]));
        if (stmt.init.op === "checked") return this.checked(stmt, name, stmt.init);
        return this.line(
          stmt,
          `${this.assigned.has(stmt.name) ? "var" : "let"} ${name}: ${WGSL_TYPES[stmt.type]} = ${this.value(stmt.init)};`,
        );
      }
      case "assign":
        return this.line(stmt, `${this.local(stmt.name)} = ${this.value(stmt.value)};`);
      case "array":
        return frame.array(this, stmt);
      case "setElement":
        return frame.setElement(this, stmt, `${frame.arrayName(this, stmt.array)}[${this.value(stmt.index)}]`, this.value(stmt.value));
      case "store":
        return frame.store(this, stmt, this.offset(stmt.view, stmt.indices), this.value(stmt.value));
      case "scatter":
        return frame.scatter(this, stmt, this.offset(stmt.target, stmt.indices), this.value(stmt.value));
      case "atomic": {
        const operands = [stmt.expected, stmt.value].flatMap((operand) => (operand ? [this.value(operand)] : []));
        const old = frame.fetch(stmt, this.offset(stmt.target, stmt.indices), operands);
        const name = stmt.result === undefined ? "_" : `let ${this.local(stmt.result)}: ${stmt.type}`;
        return this.line(stmt, `${name} = ${old};`);
      }
      case "reduce":
        return frame.reduce(this, stmt, this.value(stmt.value));
      case "reduceJointly":
        return frame.reduceJointly(
          this,
          stmt,
          stmt.values.map((value) => this.value(value)),
        );
      case "print":
        return frame.print(this, stmt);
      case "if":
        return this.branch(stmt, `if ${frame.uniform(this, stmt, "bool", this.value(stmt.cond))}`);
      case "for":
        return this.countedLoop(stmt);
      case "while":
        return this.whileLoop(stmt);
      case "break":
        return this.line(stmt, "break;");
      case "continue":
        return this.line(stmt, "continue;");
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

  /** An index that is checked, which stands in a statement of its own (see `sequenceChecks`). */
  private checked(stmt: Stmt, name: string, { index, extent, otherwise, site }: Extract<Expr, { op: "checked" }>): void {
    this.line(stmt, `var ${name}: i32 = ${this.value(index)};`);
    this.code.block(`if u32(${name}) >= u32(${this.value(extent)})`, () => {
      this.frame.fault(this, site, name);
      this.code.line(`${name} = ${otherwise};`);
    });
  }

  private branch(stmt: Extract<Stmt, { kind: "if" }>, head: string): void {
    const { code } = this;
    this.line(stmt, `${head} {`);
    code.indented(() => this.statements(stmt.then));
    const [next, ...others] = stmt.else;
    // Blocks nest 127 deep at most. What makes a condition of a team uniform stands before it.
    if (next?.kind === "if" && others.length === 0 && this.ir.policy.kind !== "team")
      return this.branch(next, `} else if ${this.value(next.cond)}`);
    if (next) {
      code.line("} else {");
      code.indented(() => this.statements(stmt.else));
    }
    code.line("}");
  }

  private countedLoop(stmt: Extract<Stmt, { kind: "for" }>): void {
    const { frame } = this;
    this.ranges.enter(stmt);
    if (!this.ranges.stepFits(stmt)) return this.loopToTheEnd(stmt);
    const name = this.local(stmt.name);
    const start = frame.uniform(this, stmt, "i32", this.value(stmt.start));
    let stop = frame.uniform(this, stmt, "i32", this.value(stmt.stop));
    if (!/^-?\w+$/.test(stop)) {
      const hoisted = this.names.fresh(`${name}_stop`);
      this.code.line(`let ${hoisted} = ${stop};`);
      stop = hoisted;
    }
    const step = stmt.step > 0 ? `${name} += ${stmt.step}` : `${name} -= ${-stmt.step}`;
    this.line(stmt, `for (var ${name}: i32 = ${start}; ${name} ${stmt.step > 0 ? "<" : ">"} ${stop}; ${step}) {`);
    this.code.indented(() => this.statements(stmt.body));
    this.code.line("}");
  }

  /** Writes a counted loop whose counter may wrap after the last turn: the loop ends before that step. */
  private loopToTheEnd(stmt: Extract<Stmt, { kind: "for" }>): void {
    const { frame } = this;
    const name = this.local(stmt.name);
    const last = lastOf(stmt.stop);
    const hoisted = (wish: string, e: Expr): string => {
      const text = this.names.fresh(`${name}_${wish}`);
      this.code.line(`let ${text}: i32 = ${frame.uniform(this, stmt, "i32", this.value(e))};`);
      return text;
    };
    const start = hoisted("start", stmt.start);
    const stop = hoisted("stop", last ?? stmt.stop);
    const rises = stmt.step > 0;
    const [low, high] = rises ? [start, stop] : [stop, start];
    const distance = rises ? `${stop} - ${name}` : `${name} - ${stop}`;
    this.line(stmt, `if ${low} ${last ? "<=" : "<"} ${high} {`);
    this.code.indented(() => {
      this.code.line(`var ${name}: i32 = ${start};`);
      this.code.block("loop", () => {
        this.code.block("", () => this.statements(stmt.body));
        this.code.block("continuing", () => {
          const more = this.names.fresh("more");
          this.code.line(`let ${more} = u32(${distance}) ${last ? ">=" : ">"} ${Math.abs(stmt.step)}u;`);
          this.code.line(`${name} ${rises ? "+=" : "-="} ${Math.abs(stmt.step)};`);
          this.code.line(`break if !${more};`);
        });
      });
    });
    this.code.line("}");
  }

  private whileLoop(stmt: Extract<Stmt, { kind: "while" }>): void {
    this.line(stmt, "loop {");
    this.code.indented(() => {
      const cond = this.frame.uniform(this, stmt, "bool", this.value(stmt.cond));
      this.code.line(`if !(${cond}) { break; }`);
      // Puts the body in a block if `continuing` follows, which must not see declarations that a `continue` may skip.
      if (stmt.update.length === 0) this.statements(stmt.body);
      else {
        this.code.block("", () => this.statements(stmt.body));
        this.code.block("continuing", () => this.statements(stmt.update));
      }
    });
    this.code.line("}");
  }

  /* Expressions. */

  private expr(e: Expr): Text {
    const { frame } = this;
    switch (e.op) {
      case "const":
        return this.literal(e.type, e.value);
      case "local":
        return [this.local(e.name), Level.Term];
      case "param":
        return [frame.scalar(e.name), Level.Term];
      case "index":
        return [frame.index(e.axis), Level.Term];
      case "teamSize":
        return [frame.teamSize(), Level.Term];
      case "load":
        return [frame.load(e.view, this.offset(e.view, e.indices)), Level.Term];
      case "element":
        return [`${frame.arrayName(this, e.array)}[${this.value(e.index)}]`, Level.Term];
      case "table":
        return this.table(e);
      case "extent":
        return [frame.extent(e.view, e.axis), Level.Term];
      case "unary":
        return this.unary(e);
      case "binary":
        return this.arithmetic(e.fn, e.type as NumericType, this.expr(e.a), this.expr(e.b), e.b);
      case "compare":
        return this.compare(e);
      case "logical":
        return [`(${at(this.expr(e.a), Level.Prefix)} ${signOf(e)} ${at(this.expr(e.b), Level.Prefix)})`, Level.Term];
      case "select":
        return [`select(${this.value(e.b)}, ${this.value(e.a)}, ${this.value(e.cond)})`, Level.Term];
      case "cast":
        return this.cast(e);
      case "call":
        return this.call(`${e.fn}_${e.type as FloatType}`, ...e.args.map((a) => this.value(a)));
      case "checked":
        throw new Error("a checked index is outside of a statement");
      case "failed":
        return [frame.failed(), Level.Term];
      default:
        return unreachable(e);
    }
  }

  private call(helper: HelperName, ...args: string[]): Text {
    return [`${this.helpers.use(helper)}(${args.join(", ")})`, Level.Term];
  }

  private table(e: Extract<Expr, { op: "table" }>): Text {
    const table = this.ir.tables.find(({ name }) => name === e.table)!;
    const index = e.indices
      .map((i) => this.expr(i))
      .reduce((sum, i, axis) => [`${at(sum, Level.Product)} * ${table.shape[axis]} + ${at(i, Level.Product)}`, Level.Sum]);
    const element = `${this.names.of("table", e.table)}[${index[0]}]`;
    return [isBits(table) ? `bitcast<${WGSL_TYPES[table.type]}>(${element})` : element, Level.Term];
  }

  private compare(e: Extract<Expr, { op: "compare" }>): Text {
    const [a, b] = [this.expr(e.a), this.expr(e.b)];
    // Compilers take != of floats to be false of NaN.
    if (isSingle(e.a.type) && e.fn === "ne") return [`!(${at(a, Level.Sum)} == ${at(b, Level.Sum)})`, Level.Prefix];
    if (isWide(e.a.type)) return this.compareWide(e.fn, e.a.type, a, b);
    if (!isDouble(e.a.type)) return [`(${at(a, Level.Sum)} ${COMPARISONS[e.fn]} ${at(b, Level.Sum)})`, Level.Term];
    const less = (x: Text, y: Text) => this.call("less_f64", x[0], y[0])[0];
    const equal = () => this.call("equal_f64", a[0], b[0])[0];
    switch (e.fn) {
      case "eq":
        return [equal(), Level.Term];
      case "ne":
        return [`!${equal()}`, Level.Prefix];
      case "lt":
        return [less(a, b), Level.Term];
      case "gt":
        return [less(b, a), Level.Term];
      case "le":
        return [`(${less(a, b)} || ${equal()})`, Level.Term];
      case "ge":
        return [`(${less(b, a)} || ${equal()})`, Level.Term];
      default:
        return unreachable(e.fn);
    }
  }

  private compareWide(fn: CompareFn, type: WideType, a: Text, b: Text): Text {
    const less = (x: Text, y: Text): string => this.call(`less_${type}`, x[0], y[0])[0];
    switch (fn) {
      case "eq":
        return [`all(${at(a, Level.Sum)} == ${at(b, Level.Sum)})`, Level.Term];
      case "ne":
        return [`any(${at(a, Level.Sum)} != ${at(b, Level.Sum)})`, Level.Term];
      case "lt":
        return [less(a, b), Level.Term];
      case "gt":
        return [less(b, a), Level.Term];
      case "le":
        return [`!${less(b, a)}`, Level.Prefix];
      case "ge":
        return [`!${less(a, b)}`, Level.Prefix];
      default:
        return unreachable(fn);
    }
  }

  private literal(type: ScalarType, value: number | bigint | boolean): Text {
    const v = Number(value);
    switch (type) {
      case "bool":
        return [v ? "true" : "false", Level.Term];
      case "i32":
        return v === -2147483648 ? ["i32(-2147483648)", Level.Term] : [String(v), v < 0 ? Level.Prefix : Level.Term];
      case "u32":
        return [`${v >>> 0}u`, Level.Term];
      case "f32":
        return this.float(Math.fround(v));
      case "i64":
      case "u64": {
        const bits = BigInt.asUintN(64, BigInt(value));
        return [`vec2<u32>(${bits & 0xffffffffn}u, ${bits >> 32n}u)`, Level.Term];
      }
      case "f64": {
        const [high, low] = pair(v);
        return [`vec2<f32>(${this.float(high)[0]}, ${this.float(low)[0]})`, Level.Term];
      }
      default:
        return unreachable(type);
    }
  }

  private float(v: number): Text {
    const sign = v < 0 || Object.is(v, -0) ? "-" : "";
    const level = sign ? Level.Prefix : Level.Term;
    if (Number.isNaN(v)) return this.call("not_a_number");
    if (!Number.isFinite(v)) return [sign + this.call("infinity")[0], level];
    const size = Math.abs(v);
    // Calls functions for constants that compilers do not keep: the sign of zeros, subnormals.
    if (v === 0 && sign) return this.call("negative_zero");
    if (v !== 0 && size < 2 ** -126) return [`bitcast<f32>(${storageWord(v)})`, Level.Term];
    const digits = String(size);
    return [`${sign}${/[.e]/.test(digits) ? digits : `${digits}.0`}f`, level];
  }

  private unary(e: Extract<Expr, { op: "unary" }>): Text {
    const a = this.expr(e.a);
    const { type } = e;
    if (isWide(type)) return this.unaryWide(e.fn, type, a);
    switch (e.fn) {
      case "neg":
        return isUnsigned(type) ? [`0u - ${at(a, Level.Term)}`, Level.Sum] : [`-${at(a, Level.Term)}`, Level.Prefix];
      case "not":
        return [`!${at(a, Level.Term)}`, Level.Prefix];
      case "bitnot":
        return [`~${at(a, Level.Term)}`, Level.Prefix];
      case "abs":
        if (isUnsigned(type)) return a;
        return isDouble(type) ? this.call("abs_f64", a[0]) : [`abs(${a[0]})`, Level.Term];
      case "clz":
        return isUnsigned(e.a.type) ? [`i32(countLeadingZeros(${a[0]}))`, Level.Term] : [`countLeadingZeros(${a[0]})`, Level.Term];
      case "round":
        return this.call(`round_${type as FloatType}`, a[0]);
      case "floor":
      case "trunc":
      case "ceil":
      case "sqrt":
        if (e.fn === "sqrt" && this.strict) return this.call(`sqrt_${type as FloatType}`, a[0]);
        return isDouble(type) ? this.call(`${e.fn}_f64`, a[0]) : [`${e.fn}(${a[0]})`, Level.Term];
      default:
        return unreachable(e.fn);
    }
  }

  private unaryWide(fn: UnaryFn, type: WideType, a: Text): Text {
    if (fn === "bitnot") return [`~${at(a, Level.Term)}`, Level.Prefix];
    if (fn === "neg") return this.call("sub_wide", "vec2<u32>()", a[0]);
    return type === "i64" ? this.call("abs_i64", a[0]) : a;
  }

  private arithmetic(fn: BinaryFn, type: NumericType, first: Text, second: Text, divisor?: Expr): Text {
    return isWide(type) ? this.wide(fn, type, first, second, divisor) : this.machineArithmetic(fn, type, first, second, divisor);
  }

  private machineArithmetic(fn: BinaryFn, type: NumberType, first: Text, second: Text, divisor?: Expr): Text {
    const [a, b] = this.strict ? [this.hidden(first), this.hidden(second)] : [first, second];
    if (isDouble(type)) return this.emulated(fn, a, b);
    if (fn === "mulhi") return this.call("mulhi_u32", a[0], b[0]);
    if (fn === "rem" || fn === "copysign") if (isSingle(type)) return this.call(`${fn}_f32`, a[0], b[0]);
    if (fn === "copysign") throw new Error(`${fn} of ${type}`);
    if (fn === "min" || fn === "max") return isSingle(type) ? this.call(`${fn}_f32`, a[0], b[0]) : [`${fn}(${a[0]}, ${b[0]})`, Level.Term];
    if (!isSingle(type) && (fn === "div" || fn === "rem")) {
      const safe = divisor?.op === "const" && divisor.value !== 0 && divisor.value !== -1;
      return safe ? infix(fn, a, b) : this.call(`${fn}_${type}`, a[0], b[0]);
    }
    if (fn === "shl" || fn === "shr") {
      const by = divisor?.op === "const" ? `${Number(divisor.value) & 31}u` : `(u32(${b[0]}) & 31u)`;
      return [`${at(a, Level.Term)} ${SIGNS[fn][0]} ${by}`, Level.Weak];
    }
    if (isSingle(type) && fn === "div" && this.strict) return this.call("div_f32", a[0], b[0]);
    const text = infix(fn, a, b);
    return isSingle(type) && this.strict ? this.call("rounded", text[0]) : text;
  }

  /** Pairs of words. Devices refuse divisions before. */
  private wide(fn: BinaryFn, type: WideType, a: Text, b: Text, count?: Expr): Text {
    const by = (): string => (count?.op === "const" ? `${Number(BigInt.asUintN(6, count.value as bigint))}u` : `${at(b, Level.Term)}.x`);
    switch (fn) {
      case "add":
      case "sub":
      case "mul":
        return this.call(`${fn}_wide`, a[0], b[0]);
      case "and":
      case "or":
      case "xor":
        return infix(fn, a, b);
      case "shl":
        return this.call("shl_wide", a[0], by());
      case "shr":
        return this.call(`shr_${type}`, a[0], by());
      case "min":
      case "max": {
        const less = this.call(`less_${type}`, ...(fn === "min" ? [a[0], b[0]] : [b[0], a[0]]));
        return [`select(${b[0]}, ${a[0]}, ${less[0]})`, Level.Term];
      }
      case "div":
      case "rem":
      case "copysign":
      case "mulhi":
        throw new Error(`${fn} of ${type}`);
      default:
        return unreachable(fn);
    }
  }

  /** Fast mode contracts a product and a sum. */
  private emulated(fn: BinaryFn, a: Text, b: Text): Text {
    const [first, second] = [this.products.get(a[0]), this.products.get(b[0])];
    if (second && (fn === "add" || fn === "sub"))
      return this.call("fma_f64", fn === "add" ? second[0] : `-${closed(second[0])}`, second[1], a[0]);
    if (first && (fn === "add" || fn === "sub")) return this.call("fma_f64", ...first, fn === "add" ? b[0] : `-${closed(b[0])}`);
    if (!isFloatBinary(fn)) throw new Error(`${fn} of f64`);
    const text = this.call(`${fn}_f64`, a[0], b[0]);
    if (fn === "mul" && !this.strict) for (const product of [text[0], closed(text[0])]) this.products.set(product, [a[0], b[0]]);
    return text;
  }

  /** A zero that compilers do not see: they take its products for zero and its sums for the other term, infinite or none as that may be. */
  private hidden(text: Text): Text {
    if (text[0] === "0.0f") return this.call("positive_zero");
    return text[0] === "vec2<f32>(0.0f, 0.0f)" ? [`vec2<f32>(${this.call("positive_zero")[0]}, 0.0f)`, Level.Term] : text;
  }

  private cast(e: Extract<Expr, { op: "cast" }>): Text {
    const [from, to] = [e.a.type, e.type];
    const a = this.expr(e.a);
    if (from === to) return a;
    if (isWide(from)) {
      if (isWide(to)) return a;
      if (to === "bool") return [`any(${at(a, Level.Sum)} != vec2<u32>())`, Level.Term];
      return [`${WGSL_TYPES[to]}(${at(a, Level.Term)}.x)`, Level.Term];
    }
    if (isWide(to)) return from === "i32" ? this.call("wide_from_i32", a[0]) : [`vec2<u32>(u32(${a[0]}), 0u)`, Level.Term];
    if (isDouble(from))
      return isSingle(to)
        ? [`${at(a, Level.Term)}.x`, Level.Term]
        : this.call(`${to as Exclude<typeof to, "f64" | WideType>}_from_f64`, a[0]);
    if (isDouble(to)) return this.call(`f64_from_${from as Exclude<typeof from, WideType>}`, a[0]);
    if (isSingle(from)) return this.call(`${to as Exclude<typeof to, "f32">}_from_f32`, a[0]);
    if (isSingle(to) && this.strict && from !== "bool") return this.call(`f32_from_${from}`, a[0]);
    if (to === "bool") return [`(${at(a, Level.Sum)} != ${isUnsigned(from) ? "0u" : "0"})`, Level.Term];
    return [`${WGSL_TYPES[to]}(${a[0]})`, Level.Term];
  }
}

/** A constant table at module scope: flat, and of bits where values are not what every compiler keeps of constants. */
export function wgslTable(table: Table, name: string, literal: (type: NumericType, value: number | bigint) => string): string {
  const bits = isBits(table);
  const type = bits ? (isDouble(table.type) ? "vec2<u32>" : "u32") : WGSL_TYPES[table.type];
  const value = (v: number | bigint): string => {
    if (!bits) return literal(table.type, v);
    const words = (isDouble(table.type) ? pair(Number(v)) : [Number(v)]).map(storageWord);
    return words.length === 1 ? words[0] : `${type}(${words.join(", ")})`;
  };
  return `const ${name} = array<${type}, ${table.values.length}>(${table.values.map(value).join(", ")});`;
}

const isBits = ({ type, values }: Table): boolean => isFloat(type) && !values.every((v) => isPlain(Number(v)));
const isPlain = (v: number): boolean => Number.isFinite(Math.fround(v)) && !Object.is(v, -0) && (v === 0 || Math.abs(v) >= 2 ** -126);

/** The bits of an f32, as a literal of type u32. */
export const storageWord = (v: number): string => `${new Uint32Array(new Float32Array([v]).buffer)[0]}u`;

/** An f64 as the sum of two f32, the first of them the f64 rounded. */
export function pair(v: number): [high: number, low: number] {
  const high = Math.fround(v);
  return [high, Number.isFinite(high) ? Math.fround(v - high) : 0];
}

/** The text, in parentheses if it binds less than `level`. */
function at([text, level]: Text, least: Level): string {
  return level >= least ? text : `(${text})`;
}

/** Any expression as a single term. */
export const closed = (text: string): string => (/^[\w.]+(\[[\w +]+\]|\([^()]*\))?$/.test(text) ? text : `(${text})`);

/** A left-associative operator. */
function infix(fn: keyof typeof SIGNS, a: Text, b: Text): Text {
  const [sign, level] = SIGNS[fn];
  const least = level === Level.Weak ? Level.Prefix : level;
  return [`${at(a, least)} ${sign} ${at(b, least + 1)}`, level];
}
