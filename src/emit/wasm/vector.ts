import { HALF } from "../../ir/exact.js";
import { BINARY } from "../../ir/operators.js";
import { unreachable } from "../../base/unreachable.js";
import { isDouble, isFloat, isPacked, isIndex, isSingle, isUnsigned, isWide, type FloatType } from "../../ir/scalars.js";
import type { BinaryFn, Expr, MathFn, ScalarType, Stmt } from "../../ir/types.js";
import { alwaysEvaluated, someExpr } from "../../ir/walk.js";
import type { Loop } from "./parts.js";
import type { KernelCode } from "./kernel-code.js";
import { emitExtremum } from "./extrema.js";
import { exprKey } from "./linear-address.js";
import { VectorMemory } from "./vector-memory.js";
import { ScalarCode } from "./scalar.js";
import { pairOf } from "./sines.js";
import { comparison, floatBinary, floatUnary, signed } from "./scalar-operators.js";
import type { Variance } from "./variance.js";

const SHAPES = { f64: "f64x2", f32: "f32x4", i32: "i32x4", u32: "i32x4", bool: "i32x4" } as const;

/** The SIMD shape that computes on values of a type. */
export function vectorShape(type: ScalarType): string {
  if (isWide(type)) throw new Error(`vectors of ${type}`);
  return SHAPES[type];
}

const SPLATS = { f64: "v128.load64_splat", f32: "v128.load32_splat" } as const;

/** The sign bit of a float, in the upper word. */
const SIGN = -2147483648;
/** The sign bits of a vector of floats. */
const SIGNS = { f64: [0, SIGN, 0, SIGN], f32: [SIGN, SIGN, SIGN, SIGN] } as const;

const ALL_ONES = [-1, -1, -1, -1] as const;

/**
 * Emits expressions for `width` elements at a time; each leaves one v128 on the stack.
 *
 * Four lanes hold 32-bit values. Two lanes are for kernels with 64-bit values: those fill the vector, 32-bit ones lie in its low half.
 * A mask (a bool that varies) is all ones or all zeros in each lane, 64-bit lanes where there are two.
 */
export class VectorCode {
  readonly scalar: ScalarCode;
  /** Lanes that are active; undefined if all are. */
  mask: number | undefined;
  /** Which of several elements' vectors in an unrolled loop. */
  copy = 0;
  /** Vectors that go through the statements side by side, each with locals of its own. */
  abreast = 1;
  /** Locals of values that vectors side by side have in common, by what they are. */
  private readonly common = new Map<string, number>();
  private readonly hoisted = new Map<string, number>();
  /** Integer locals that are held lane by lane, as they serve as indices. */
  private readonly split = new Map<string, number[]>();
  private readonly memory: VectorMemory;

  constructor(
    readonly code: KernelCode,
    readonly loop: Loop,
    readonly variance: Variance,
    readonly width: 2 | 4,
  ) {
    this.scalar = new ScalarCode(code, loop);
    this.memory = new VectorMemory(this);
  }

  private get fn() {
    return this.code.fn;
  }

  /** True where values of the type lie in the low half of the vector. */
  isNarrow(type: ScalarType): boolean {
    return this.width === 2 && !isDouble(type) && type !== "bool";
  }

  /** The WebAssembly local of a kernel's local that varies. */
  localOf(name: string): number {
    return this.code.localOf(name, "v128", this.abreast > 1 ? `${this.copy} ` : "");
  }

  /** Emits what each of the vectors side by side does with `values`; what these read for all of them is read once. */
  each(values: readonly Expr[], emit: () => void): void {
    if (this.abreast === 1) return emit();
    for (const value of values) this.readCommon(value);
    for (; this.copy < this.abreast; this.copy++) emit();
    this.copy = 0;
    this.code.release("v128", ...this.common.values());
    this.common.clear();
  }

  private readCommon(e: Expr): void {
    if (this.variance.varies(e)) return alwaysEvaluated(e).forEach((child) => this.readCommon(child));
    const key = exprKey(e);
    if (this.common.has(key) || this.loop.isInvariant(e)) return;
    this.uniform(e);
    const local = this.code.temp("v128");
    this.fn.set(local);
    this.common.set(key, local);
  }

  expr(e: Expr): void {
    const { fn } = this;
    if (!this.variance.varies(e)) return this.uniform(e);
    switch (e.op) {
      case "local":
        if (this.loop.isVariable(e)) return this.loopVariable();
        return fn.get(this.localOf(e.name));
      case "index":
        return this.loopVariable();
      case "load":
        return this.memory.load(e.view, e.indices);
      case "element":
        return this.variance.isVaryingArray(e.array)
          ? this.memory.loadSlot(e.array, e.index, e.type)
          : this.memory.load(e.array, [e.index]);
      case "table":
        return this.memory.load(e.table, e.indices);
      case "unary":
        return this.unary(e);
      case "binary":
        return this.binary(e);
      case "compare":
        return this.compare(e);
      case "logical":
        return this.logical(e);
      case "select":
        return this.select(e);
      case "cast":
        return this.cast(e);
      case "call":
        return this.call(e, e.fn);
      case "const":
      case "param":
      case "teamSize":
      case "extent":
        throw new Error(`${e.op} does not vary`);
      case "checked":
      case "failed":
        throw new Error(`${e.op} in a vector`);
      default:
        return unreachable(e);
    }
  }

  statement(stmt: Extract<Stmt, { kind: "store" | "setElement" | "scatter" }>, blend: boolean): void {
    switch (stmt.kind) {
      case "store":
        return this.memory.store(stmt.view, stmt.indices, stmt.value);
      case "scatter":
        return this.memory.scatter(stmt.target, stmt.indices, stmt.value);
      case "setElement":
        if (this.variance.isVaryingArray(stmt.array)) return this.memory.storeSlot(stmt.array, stmt.index, stmt.value, blend);
        return this.memory.store(stmt.array, [stmt.index], stmt.value);
      default:
        return unreachable(stmt);
    }
  }

  /** True of a value in memory whose lanes lie side by side. */
  isContiguous(e: Expr): boolean {
    if (e.op === "element") return !this.variance.isVaryingArray(e.array) && this.memory.readsInOrder(e.array, [e.index]);
    return e.op === "load" && this.memory.readsInOrder(e.view, e.indices);
  }

  /** Sets a local to the value on the stack, in the active lanes only where it must be `blend`ed. */
  assign(local: number, type: ScalarType, blend: boolean): void {
    if (blend) this.blend(() => this.fn.get(local), type);
    this.fn.set(local);
  }

  /** With a value on the stack: takes it in active lanes, and `old` in the others. */
  blend(old: () => void, type: ScalarType): void {
    if (this.mask === undefined) return;
    old();
    this.maskAs(type);
    this.fn.op("v128.bitselect");
  }

  /**
   * Declares an integer local from loaded values lane by lane, if all lanes are active: as an index it is needed in general registers.
   * The vector is made too, for other uses. Returns false where that is not possible.
   */
  declareSplit(name: string, init: Expr): boolean {
    if (
      !isIndex(init.type) ||
      this.mask !== undefined ||
      this.abreast > 1 ||
      !this.code.definitions.has(name) ||
      !someExpr(init, (x) => x.op === "load") ||
      !this.isLanewise(init)
    )
      return false;
    const { fn } = this;
    if (!this.split.has(name))
      this.split.set(
        name,
        Array.from({ length: this.width }, () => fn.local("i32")),
      );
    this.split.get(name)!.forEach((local, lane) => {
      this.lane(init, lane);
      fn.set(local);
    });
    this.split.get(name)!.forEach((local, lane) => {
      fn.get(local);
      if (lane === 0) fn.op("i32x4.splat");
      else fn.lane("i32x4.replace_lane", lane);
    });
    fn.set(this.localOf(name));
    return true;
  }

  /** True for an integer that `lane` can compute for one lane without going through vectors. */
  isLanewise(e: Expr): boolean {
    if (!this.variance.varies(e)) return true;
    if (this.loop.isVariable(e)) return true;
    switch (e.op) {
      case "local":
        return this.split.has(e.name);
      case "load":
        return this.mask === undefined && this.memory.isLanewise(e);
      case "binary":
        return isIndex(e.type) && BINARY[e.fn].sameBits && this.isLanewise(e.a) && this.isLanewise(e.b);
      case "const":
      case "param":
      case "index":
      case "teamSize":
      case "element":
      case "table":
      case "extent":
      case "unary":
      case "compare":
      case "logical":
      case "select":
      case "cast":
      case "call":
      case "checked":
      case "failed":
        return false;
      default:
        return unreachable(e);
    }
  }

  /** Leaves one lane's value of a lanewise integer on the stack. */
  lane(e: Expr, lane: number): void {
    const { fn } = this;
    if (!this.variance.varies(e)) return this.scalar.expr(e);
    if (this.loop.isVariable(e)) {
      fn.get(this.loop.index);
      fn.i32(this.copy * this.width + lane);
      return fn.op("i32.add");
    }
    if (e.op === "local") return fn.get(this.split.get(e.name)![lane]);
    if (e.op === "load") return this.memory.loadScalar(e, lane);
    if (e.op !== "binary") throw new Error(`${e.op} of one lane`);
    this.lane(e.a, lane);
    this.lane(e.b, lane);
    this.scalar.binary(e.fn, e.type);
  }

  /** The active lanes' mask in the lanes of a type. */
  maskAs(type: ScalarType): void {
    if (this.mask === undefined) return this.fn.v128(ALL_ONES);
    this.fn.get(this.mask);
    if (this.isNarrow(type)) this.narrow();
  }

  /** The index vector <i, i+1, ...>. */
  private loopVariable(): void {
    const { fn } = this;
    fn.get(this.loop.index);
    fn.op("i32x4.splat");
    const first = this.copy * this.width;
    fn.v128([first, first + 1, first + 2, first + 3]);
    fn.op("i32x4.add");
  }

  private uniform(e: Expr): void {
    const { fn, code } = this;
    if (this.loop.isInvariant(e)) {
      const key = exprKey(e);
      let local = this.hoisted.get(key);
      if (local === undefined) {
        local = code.fn.local("v128");
        this.hoisted.set(key, local);
        const target = local;
        const fixed = !someExpr(e, (x) => x.op === "index" || x.op === "local");
        fn.within(fixed ? code.entry : this.loop.prologue, () => {
          if (!this.loadNumber(e)) {
            this.scalar.expr(e);
            this.splat(e.type);
          }
          fn.set(target);
        });
      }
      return fn.get(local);
    }
    const common = this.common.size > 0 ? this.common.get(exprKey(e)) : undefined;
    if (common !== undefined) return fn.get(common);
    if (e.op === "load" && isFloat(e.type) && !isPacked(this.code.arrays.get(e.view)!.type)) {
      const offset = this.scalar.address(e.view, e.indices);
      return fn.memory(SPLATS[e.type], offset);
    }
    this.scalar.expr(e);
    this.splat(e.type);
  }

  /** A vector of a number out of memory, where there are many: V8 would make those anew in every block that uses them. */
  private loadNumber(e: Expr): boolean {
    const { fn, code } = this;
    if (e.op !== "const" || !isFloat(e.type) || e.value === 0 || !code.manyNumbers) return false;
    code.loadAddress({ kind: "tables" });
    fn.memory(SPLATS[e.type], code.numberInMemory(e.type, e.value as number));
    return true;
  }

  /** From the scalar on the stack. */
  splat(type: ScalarType): void {
    const { fn } = this;
    if (type === "bool") {
      fn.i32(-1);
      fn.op("i32.mul");
    }
    fn.op(`${vectorShape(type)}.splat`);
  }

  /** From a mask of 64-bit lanes to one of 32-bit lanes. */
  narrow(): void {
    const m = this.code.temp("v128");
    this.fn.tee(m);
    this.fn.get(m);
    this.fn.shuffle([0, 1, 2, 3, 8, 9, 10, 11, 0, 1, 2, 3, 8, 9, 10, 11]);
    this.code.release("v128", m);
  }

  /** From a comparison's result in the lanes of `type` to a mask. */
  private widen(type: ScalarType): void {
    if (this.isNarrow(type)) this.fn.op("i64x2.extend_low_i32x4_s");
  }

  private unary(e: Extract<Expr, { op: "unary" }>): void {
    const { fn } = this;
    if (e.fn === "clz") return this.lanewise([e.a], "i32", () => fn.op("i32.clz"));
    this.expr(e.a);
    if (isFloat(e.type)) return e.fn === "round" ? this.round(e.type) : fn.op(`${SHAPES[e.type]}.${floatUnary(e.fn)}`);
    switch (e.fn) {
      case "not":
      case "bitnot":
        return fn.op("v128.not");
      case "neg":
        return fn.op("i32x4.neg");
      case "abs":
        return isUnsigned(e.type) ? undefined : fn.op("i32x4.abs");
      case "sqrt":
      case "floor":
      case "ceil":
      case "trunc":
      case "round":
        throw new Error(`${e.fn} of ${e.type}`);
      default:
        return unreachable(e.fn);
    }
  }

  private binary(e: Extract<Expr, { op: "binary" }>): void {
    const { fn } = this;
    if (isFloat(e.type)) {
      if (e.fn === "rem") return this.lanewise([e.a, e.b], e.type, () => this.scalar.binary("rem", e.type));
      if (e.fn === "copysign") return this.copysign(e, e.type);
      if (emitExtremum(this, e) || this.contracted(e)) return;
      return this.both(e, `${SHAPES[e.type]}.${floatBinary(e.fn)}`);
    }
    switch (e.fn) {
      case "div":
      case "rem":
        return this.lanewise([e.a, e.b], e.type, () => this.scalar.binary(e.fn, e.type));
      case "min":
      case "max":
        return this.both(e, `i32x4.${signedSuffix(e.fn, e.type)}`);
      case "and":
      case "or":
      case "xor":
        return this.both(e, `v128.${e.fn}`);
      case "mulhi":
        return this.upperHalf(e);
      case "copysign":
        throw new Error(`${e.fn} of ${e.type}`);
      case "shl":
      case "shr":
        if (this.variance.varies(e.b)) return this.lanewise([e.a, e.b], e.type, () => this.scalar.binary(e.fn, e.type));
        this.expr(e.a);
        this.scalar.expr(e.b);
        return fn.op(`i32x4.${e.fn === "shl" ? "shl" : signedSuffix("shr", e.type)}`);
      case "add":
      case "sub":
      case "mul":
        return this.both(e, `i32x4.${e.fn}`);
      default:
        return unreachable(e.fn);
    }
  }

  private call({ args, type }: { args: Expr[]; type: ScalarType }, name: MathFn): void {
    const { fn, code } = this;
    if (name === "powi") return this.lanewise(args, type, () => fn.call(code.powi(type as FloatType)));
    if (!code.strict && (name === "sin" || name === "cos")) return this.inPairs(args[0], name);
    return this.lanewise(args, type, () => fn.call(code.math(name, args.length)), isSingle(type));
  }

  /** Sines and cosines of two values at a time. */
  private inPairs(arg: Expr, name: "sin" | "cos"): void {
    const { fn, code } = this;
    const pair = (): void => {
      code.loadAddress({ kind: "tables" });
      fn.call(pairOf(code, name).index);
    };
    this.expr(arg);
    if (isDouble(arg.type)) return pair();
    const halves = this.width === 2 ? [0] : [0, 8];
    const given = code.temp("v128");
    fn.set(given);
    for (const half of halves) {
      fn.get(given);
      fn.get(given);
      fn.shuffle(Array.from({ length: 16 }, (_, n) => (n + half) % 16));
      fn.op("f64x2.promote_low_f32x4");
      pair();
      fn.op("f32x4.demote_f64x2_zero");
    }
    if (halves.length > 1) fn.shuffle([0, 1, 2, 3, 4, 5, 6, 7, 16, 17, 18, 19, 20, 21, 22, 23]);
    code.release("v128", given);
  }

  /** All bits of a but the sign, which comes from b; the sign of a NaN counts as +. */
  private copysign(e: { a: Expr; b: Expr }, type: FloatType): void {
    const { fn, code } = this;
    const [a, b] = [code.temp("v128"), code.temp("v128")];
    this.expr(e.a);
    this.expr(e.b);
    fn.set(b);
    fn.set(a);
    fn.get(b);
    fn.get(b);
    fn.get(b);
    fn.op(`${SHAPES[type]}.eq`);
    fn.op("v128.and");
    fn.get(a);
    fn.v128(SIGNS[type]);
    fn.op("v128.bitselect");
    code.release("v128", a, b);
  }

  /** To the nearest whole number, halves up; the sign of a zero is the operand's. */
  private round(type: FloatType): void {
    const { fn, code } = this;
    const a = code.temp("v128");
    fn.set(a);
    fn.get(a);
    fn.get(a);
    for (const part of HALF[type]) {
      this.scalar.constant(type, part);
      this.splat(type);
      fn.op(`${SHAPES[type]}.add`);
    }
    fn.op(`${SHAPES[type]}.floor`);
    fn.v128(SIGNS[type]);
    fn.op("v128.bitselect");
    code.release("v128", a);
  }

  private both(e: { a: Expr; b: Expr }, op: string): void {
    this.expr(e.a);
    this.expr(e.b);
    this.fn.op(op);
  }

  /** a * b + c and c - a * b in one rounding, in fast mode. */
  private contracted(e: Extract<Expr, { op: "binary" }>): boolean {
    if (e.fn !== "add" && e.fn !== "sub") return false;
    if (this.contract(e.b, e.fn, () => this.expr(e.a))) return true;
    return e.fn === "add" && this.contract(e.a, "add", () => this.expr(e.b));
  }

  /** Leaves other + product, or other - product, on the stack if `product` is one and contraction is allowed. */
  contract(product: Expr, fn: "add" | "sub", other: () => void): boolean {
    if (this.code.strict || !this.code.spec.relaxed) return false;
    if (product.op !== "binary" || product.fn !== "mul" || !isFloat(product.type) || !this.variance.varies(product)) return false;
    this.expr(product.a);
    this.expr(product.b);
    other();
    this.fn.op(`${vectorShape(product.type)}.relaxed_${fn === "add" ? "madd" : "nmadd"}`);
    return true;
  }

  /** Upper 32 bits of the products of u32 lanes. */
  private upperHalf(e: Extract<Expr, { op: "binary" }>): void {
    const { fn, code } = this;
    const [a, b] = [code.temp("v128"), code.temp("v128")];
    this.expr(e.a);
    this.expr(e.b);
    fn.set(b);
    fn.tee(a);
    fn.get(b);
    fn.op("i64x2.extmul_low_i32x4_u");
    fn.get(a);
    fn.get(b);
    fn.op(`i64x2.extmul_${this.isNarrow("u32") ? "low" : "high"}_i32x4_u`);
    fn.shuffle([4, 5, 6, 7, 12, 13, 14, 15, 20, 21, 22, 23, 28, 29, 30, 31]);
    code.release("v128", a, b);
  }

  private compare(e: Extract<Expr, { op: "compare" }>): void {
    const { fn } = this;
    const { type } = e.a;
    this.expr(e.a);
    this.expr(e.b);
    if (type === "bool") {
      fn.op("v128.xor");
      if (e.fn === "eq") fn.op("v128.not");
      return;
    }
    fn.op(`${vectorShape(type)}.${comparison(e.fn, type)}`);
    this.widen(type);
  }

  /** Short circuit matters only where `b` must not be evaluated for lanes that `a` decides. */
  private logical(e: Extract<Expr, { op: "logical" }>): void {
    const { fn, code } = this;
    if (this.harmless(e.b)) return this.both(e, `v128.${e.fn}`);
    const result = code.temp("v128");
    const open = code.temp("v128");
    this.expr(e.a);
    fn.tee(result);
    if (e.fn === "or") fn.op("v128.not");
    fn.set(open);
    this.under(open, () => {
      this.expr(e.b);
      fn.get(result);
      fn.op(`v128.${e.fn}`);
      fn.set(result);
    });
    fn.get(result);
    code.release("v128", result, open);
  }

  private select(e: Extract<Expr, { op: "select" }>): void {
    const { fn, code } = this;
    if (!this.variance.varies(e.cond)) {
      this.scalar.expr(e.cond);
      fn.if("v128");
      this.expr(e.a);
      fn.else();
      this.expr(e.b);
      return fn.end();
    }
    const condition = code.temp("v128");
    if (this.harmless(e.a) && this.harmless(e.b)) {
      this.expr(e.cond);
      fn.set(condition);
      this.expr(e.a);
      this.expr(e.b);
      fn.get(condition);
    } else {
      const [a, b, other] = [code.temp("v128"), code.temp("v128"), code.temp("v128")];
      this.expr(e.cond);
      fn.tee(condition);
      fn.op("v128.not");
      fn.set(other);
      this.guarded(e.a, condition, a);
      this.guarded(e.b, other, b);
      fn.get(a);
      fn.get(b);
      fn.get(condition);
      code.release("v128", a, b, other);
    }
    if (this.isNarrow(e.type)) this.narrow();
    fn.op("v128.bitselect");
    code.release("v128", condition);
  }

  /** Sets `result` to `e` where lanes of `condition` are active; evaluates it only if some are. */
  private guarded(e: Expr, condition: number, result: number): void {
    const evaluate = (): void => {
      this.expr(e);
      this.fn.set(result);
    };
    if (this.harmless(e)) evaluate();
    else this.under(condition, evaluate);
  }

  /**
   * Emits code that runs with the lanes of `condition` among the active ones; if there are none, only where it is to run `anyhow`. Changes the mask in
   * the local.
   */
  under(condition: number, emit: () => void, anyhow = false): void {
    const { fn } = this;
    const outer = this.mask;
    if (outer !== undefined) {
      fn.get(condition);
      fn.get(outer);
      fn.op("v128.and");
      fn.set(condition);
    }
    this.mask = condition;
    if (!anyhow) {
      fn.get(condition);
      fn.op("v128.any_true");
      fn.if();
    }
    emit();
    if (!anyhow) fn.end();
    this.mask = outer;
  }

  /** True where evaluating it for lanes that do not ask for it does no harm. */
  private harmless(e: Expr): boolean {
    return !someExpr(e, (x) => {
      if (x.op === "call") return true;
      if (x.op === "table") return this.variance.varies(x);
      if (x.op === "element") return this.variance.varies(x.index);
      return x.op === "load" && !this.memory.mayLoadAnywhere(x);
    });
  }

  private cast(e: Extract<Expr, { op: "cast" }>): void {
    const { fn } = this;
    const [from, to] = [e.a.type, e.type];
    this.expr(e.a);
    if (from === to) return;
    if (to === "bool") {
      if (isFloat(from)) fn.op(`${SHAPES[from]}.abs`);
      fn.v128([0, 0, 0, 0]);
      fn.op(`${vectorShape(from)}.${isFloat(from) ? "gt" : "ne"}`);
      return this.widen(from);
    }
    if (from === "bool") {
      if (this.isNarrow(to)) this.narrow();
      this.scalar.constant(to, 1);
      this.splat(to);
      return fn.op("v128.and");
    }
    const wide = this.width === 2 && isDouble(from);
    if (isDouble(to)) return fn.op(isSingle(from) ? "f64x2.promote_low_f32x4" : signed("f64x2.convert_low_i32x4", from));
    if (isSingle(to)) return fn.op(wide ? "f32x4.demote_f64x2_zero" : signed("f32x4.convert_i32x4", from));
    if (isFloat(from)) fn.op(wide ? `${signed("i32x4.trunc_sat_f64x2", to)}_zero` : signed("i32x4.trunc_sat_f32x4", to));
  }

  /** A function without a SIMD form: `emit` turns scalars on the stack into one, for each lane. `promote`: it is an f64 function of f32 values. */
  private lanewise(args: readonly Expr[], type: ScalarType, emit: () => void, promote = false): void {
    const { fn, code } = this;
    const vectors = args.map((arg) => {
      this.expr(arg);
      const vector = code.temp("v128");
      fn.set(vector);
      return vector;
    });
    for (let lane = 0; lane < this.width; lane++) {
      args.forEach((arg, n) => {
        fn.get(vectors[n]);
        fn.lane(`${vectorShape(arg.type)}.extract_lane`, lane);
        if (promote) fn.op("f64.promote_f32");
      });
      emit();
      if (promote) fn.op("f32.demote_f64");
      if (lane === 0) fn.op(`${vectorShape(type)}.splat`);
      else fn.lane(`${vectorShape(type)}.replace_lane`, lane);
    }
    code.release("v128", ...vectors);
  }
}

const signedSuffix = (fn: BinaryFn, type: ScalarType): string => `${fn}_${isUnsigned(type) ? "u" : "s"}`;
