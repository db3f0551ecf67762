import { atomParts } from "../../ir/analysis/affine.js";

import { lastOf } from "../../ir/loop-stops.js";
import { unreachable } from "../../base/unreachable.js";
import type { Expr, Stmt } from "../../ir/types.js";
import { BYTES, isFloat, isPacked, isSingle, type FloatType } from "../../ir/scalars.js";
import type { Label } from "./encoder.js";
import { type KernelCode, valType } from "./kernel-code.js";
import type { Loop } from "./parts.js";
import type { LinearAddress } from "./linear-address.js";
import { emitFetch } from "./atomic.js";
import { emitPrint } from "./print-lines.js";
import { areReducePair, areScatterPair, emitScatterPair } from "./pairs.js";
import type { Reduce } from "./pairs.js";
import { emitProductSum } from "./product-sums.js";
import { loadPacked, storePacked } from "./packed.js";
import { comparison, ScalarOperators, signed } from "./scalar-operators.js";
import { emitUpdate } from "./scatter.js";

export type MemberLoop = Extract<Stmt, { kind: "teamFor" | "teamReduce" }>;

/** Surroundings on which the code of some statements depends. */
interface Surroundings {
  /** Folds the value that `value` leaves on the stack. */
  reduce?: (target: string, value: () => void) => void;
  /** The same of values for parameters that fold jointly. */
  reduceJointly?: (targets: readonly string[], values: readonly (() => void)[]) => void;
  /** Folds two values at once, or returns false. */
  reducePair?: (first: Reduce, second: Reduce) => boolean;
  memberLoop?: (stmt: MemberLoop) => void;
  /** Emits a loop in vectors of its turns, or returns false. */
  folds?: (stmt: Extract<Stmt, { kind: "for" }>) => boolean;
}

/** Emits statements and expressions for one element at a time. Each expression leaves its value on the stack. */
export class ScalarCode extends ScalarOperators {
  /** Which of several elements in an unrolled loop. */
  copy = 0;
  private readonly loops: { exit: Label; next: Label }[] = [];

  constructor(
    code: KernelCode,
    /** The vectorised loop around, whose pointers serve the accesses. */
    readonly loop?: Loop,
    private readonly around: Surroundings = {},
  ) {
    super(code);
  }

  expr(e: Expr): void {
    const { fn, code } = this;
    switch (e.op) {
      case "const":
        return this.constant(e.type, e.value);
      case "local":
        return this.loop?.isVariable(e) ? this.loopVariable() : fn.get(code.localOf(e.name, valType(e.type)));
      case "param":
        return fn.get(code.scalarParam(e.name));
      case "index":
        return this.loop?.isVariable(e) ? this.loopVariable() : fn.get(code.localOf(e.axis, "i32", "index"));
      case "teamSize":
        return fn.i32(1);
      case "extent":
        return fn.i32(code.spec.views[e.view].shape[e.axis]);
      case "load":
        return this.load(e.view, e.indices);
      case "element":
        return this.load(e.array, [e.index]);
      case "table":
        return this.load(e.table, e.indices);
      case "unary":
        this.expr(e.a);
        return this.unary(e.fn, e.type);
      case "binary":
        return this.binaryExpr(e);
      case "compare":
        this.expr(e.a);
        this.expr(e.b);
        return fn.op(`${valType(e.a.type)}.${comparison(e.fn, e.a.type)}`);
      case "logical":
        this.expr(e.a);
        fn.if("i32");
        if (e.fn === "and") this.expr(e.b);
        else fn.i32(1);
        fn.else();
        if (e.fn === "and") fn.i32(0);
        else this.expr(e.b);
        return fn.end();
      case "select":
        this.expr(e.cond);
        fn.if(valType(e.type));
        this.expr(e.a);
        fn.else();
        this.expr(e.b);
        return fn.end();
      case "cast":
        this.expr(e.a);
        return this.cast(e.a.type, e.type);
      case "call":
        if (e.fn === "powi") {
          for (const arg of e.args) this.expr(arg);
          return fn.call(code.powi(e.type as FloatType));
        }
        for (const arg of e.args) {
          this.expr(arg);
          if (isSingle(e.type)) fn.op("f64.promote_f32");
        }
        fn.call(code.math(e.fn, e.args.length));
        if (isSingle(e.type)) fn.op("f32.demote_f64");
        return;
      case "checked":
        return this.checked(e);
      case "failed":
        fn.get(code.fault!.site);
        fn.i32(0);
        return fn.op("i32.ne");
      default:
        return unreachable(e);
    }
  }

  /** Code of an element, with the recording of its first failure. */
  element(body: readonly Stmt[]): void {
    const { code, fn } = this;
    const { fault } = code;
    if (!fault) return this.statements(body);
    fn.i32(0);
    fn.set(fault.site);
    this.statements(body);
    fn.get(fault.site);
    fn.if();
    fn.get(code.arrays.get(fault.record)!.base);
    fn.get(fault.site);
    fn.i32(1);
    fn.op("i32.sub");
    fn.get(fault.index);
    for (const axis of fault.axes) this.expr({ op: "index", type: "i32", axis });
    fn.call(fault.note);
    fn.end();
  }

  private checked({ index, extent, otherwise, site }: Extract<Expr, { op: "checked" }>): void {
    const { code, fn } = this;
    const { fault } = code;
    const at = code.temp("i32");
    this.expr(index);
    fn.tee(at);
    this.expr(extent);
    fn.op("i32.lt_u");
    fn.if("i32");
    fn.get(at);
    fn.else();
    fn.get(fault!.site);
    fn.op("i32.eqz");
    fn.if();
    fn.i32(site + 1);
    fn.set(fault!.site);
    fn.get(at);
    fn.set(fault!.index);
    fn.end();
    fn.i32(otherwise);
    fn.end();
    code.release("i32", at);
  }

  private loopVariable(): void {
    const { fn } = this;
    fn.get(this.loop!.index);
    if (this.copy === 0) return;
    fn.i32(this.copy);
    fn.op("i32.add");
  }

  /** Puts the value of the loop around into the local that code in a loop inside reads. */
  keepVariable(): void {
    if (!this.loop) return;
    const { variable } = this.loop;
    this.loopVariable();
    this.fn.set(variable.op === "index" ? this.code.localOf(variable.axis, "i32", "index") : this.code.localOf(variable.name, "i32"));
  }

  private binaryExpr(e: Extract<Expr, { op: "binary" }>): void {
    this.expr(e.a);
    this.expr(e.b);
    const divisor = e.b.op === "const" ? e.b.value : undefined;
    if ((e.fn === "div" || e.fn === "rem") && !isFloat(e.type) && divisor !== undefined && Number(divisor) !== 0 && Number(divisor) !== -1)
      return this.fn.op(`${valType(e.type)}.${signed(e.fn, e.type)}`);
    this.binary(e.fn, e.type);
  }

  private load(array: string, indices: readonly Expr[]): void {
    const offset = this.address(array, indices);
    const { type } = this.code.arrays.get(array)!;
    if (isPacked(type)) loadPacked(this.code, type, offset);
    else this.fn.memory(`${valType(type)}.load`, offset);
  }

  /** Leaves an address on the stack; returns what the instruction's offset must add. */
  address(array: string, indices: readonly Expr[]): number {
    const { fn, code } = this;
    const linear = code.linearAddress(array, indices, this.loop?.terms);
    const shared = this.loop?.pointers.find(linear);
    const unrolled = this.copy * linear.step;
    if (shared) {
      fn.get(shared.pointer.local);
      this.terms(linear.moving);
      this.leaves(linear);
      if (unrolled >= 0) return shared.offset + unrolled;
      code.address.advance(unrolled);
      return shared.offset;
    }
    const { base, offset } = code.arrays.get(array)!;
    fn.get(base);
    if (linear.step) {
      this.loopVariable();
      code.address.scale(linear.step);
      code.address.add();
    }
    this.terms(linear.fixed);
    this.terms(linear.moving);
    this.leaves(linear);
    code.address.advance(linear.constant + offset);
    return 0;
  }

  /** Adds coefficient * atom for each term to the address on the stack. */
  terms(terms: Record<string, number>): void {
    for (const [atom, coefficient] of Object.entries(terms)) {
      this.atom(atom);
      this.code.address.scale(coefficient);
      this.code.address.add();
    }
  }

  private leaves(linear: LinearAddress): void {
    for (const { expr, stride } of linear.leaves) {
      this.expr(expr);
      this.code.address.scale(stride);
      this.code.address.add();
    }
  }

  private atom(atom: string): void {
    const [kind, name] = atomParts(atom);
    if (kind === "index") this.expr({ op: "index", type: "i32", axis: Number(name) });
    else if (kind === "param") this.expr({ op: "param", type: "i32", name });
    else this.expr({ op: "local", type: "i32", name });
  }

  statements(body: readonly Stmt[]): void {
    for (let n = 0; n < body.length; n++) {
      const done = this.paired(body, n);
      if (done > 0) {
        n += done - 1;
        continue;
      }
      this.statement(body[n]);
      if (body[n].kind === "break" || body[n].kind === "continue") return;
    }
  }

  /** Emits statements from number `n` on that go in pairs; returns how many. */
  private paired(body: readonly Stmt[], n: number): number {
    const [first, second] = [body[n], body[n + 1]];
    if (first.kind === "scatter" && areScatterPair(this, first, second)) {
      emitScatterPair(this, first, second);
      return 2;
    }
    if (first.kind === "reduce" && this.around.reducePair && areReducePair(this, first, second) && this.around.reducePair(first, second))
      return 2;
    return this.code.strict ? 0 : emitProductSum(this, body, n);
  }

  statement(stmt: Stmt): void {
    const { fn, code } = this;
    switch (stmt.kind) {
      case "let":
        if (!stmt.init || this.loop?.isHoisted(stmt)) return;
        this.expr(stmt.init);
        return fn.set(code.localOf(stmt.name, valType(stmt.type)));
      case "assign":
        this.expr(stmt.value);
        return fn.set(code.localOf(stmt.name, valType(stmt.value.type)));
      case "array": {
        this.declareArray(stmt);
        if (stmt.space === "private") clearArray(code, stmt.name, stmt.length);
        return;
      }
      case "setElement":
        return this.store(stmt.array, [stmt.index], () => this.expr(stmt.value));
      case "store":
        return this.store(stmt.view, stmt.indices, () => this.expr(stmt.value));
      case "scatter":
        code.address.advance(this.address(stmt.target, stmt.indices));
        this.expr(stmt.value);
        return emitUpdate(this, stmt.target);
      case "atomic":
        return this.atomic(stmt);
      case "reduce":
        return this.around.reduce!(stmt.target, () => this.expr(stmt.value));
      case "reduceJointly":
        return this.around.reduceJointly!(
          stmt.targets,
          stmt.values.map((value) => () => this.expr(value)),
        );
      case "print":
        return emitPrint(code, stmt, (e) => this.expr(e));
      case "if":
        this.expr(stmt.cond);
        return this.branch(() => this.statements(stmt.then), stmt.else.length > 0 ? () => this.statements(stmt.else) : undefined);
      case "for":
        if (this.around.folds?.(stmt)) return;
        return this.counted(stmt, () => this.statements(stmt.body));
      case "while":
        return this.conditional(
          () => this.expr(stmt.cond),
          () => this.statements(stmt.body),
          () => this.statements(stmt.update),
        );
      case "break":
        return fn.br(this.loops.at(-1)!.exit);
      case "continue":
        return fn.br(this.loops.at(-1)!.next);
      case "teamFor":
      case "teamReduce":
        return this.around.memberLoop!(stmt);
      case "single":
        return this.statements(stmt.body);
      default:
        return unreachable(stmt);
    }
  }

  private atomic({ target, indices, fn: operation, type, expected, value, result }: Extract<Stmt, { kind: "atomic" }>): void {
    const { fn, code } = this;
    code.address.advance(this.address(target, indices));
    for (const operand of [expected, value]) if (operand) this.expr(operand);
    emitFetch(code, operation, type);
    return result === undefined ? fn.op("drop") : fn.set(code.localOf(result, "i32"));
  }

  declareArray(stmt: Extract<Stmt, { kind: "array" }>): void {
    if (!this.code.arrays.has(stmt.name)) this.code.allocateArray(stmt.name, stmt.type, stmt.length, BYTES[stmt.type]);
  }

  private store(array: string, indices: readonly Expr[], value: () => void): void {
    const offset = this.address(array, indices);
    value();
    const { type } = this.code.arrays.get(array)!;
    if (isPacked(type)) storePacked(this.code, type, offset);
    else this.fn.memory(`${valType(type)}.store`, offset);
  }

  /** With the condition on the stack. */
  branch(then: () => void, otherwise?: () => void): void {
    const { fn } = this;
    fn.if();
    then();
    if (otherwise) {
      fn.else();
      otherwise();
    }
    fn.end();
  }

  /** A loop whose variable and bounds are scalars. */
  counted(stmt: Extract<Stmt, { kind: "for" }>, body: () => void): void {
    const { fn, code } = this;
    const variable = code.localOf(stmt.name, "i32");
    const fits = code.ranges.stepFits(stmt);
    const last = fits ? undefined : lastOf(stmt.stop);
    const end = last ?? stmt.stop;
    let stop: number | undefined;
    if (end.op !== "const") {
      stop = code.localOf(stmt.name, "i32", "stop");
      this.expr(end);
      fn.set(stop);
    }
    this.expr(stmt.start);
    fn.set(variable);
    const getStop = (): void => (stop === undefined ? this.expr(end) : fn.get(stop));
    const inside = (): void => {
      fn.get(variable);
      getStop();
      fn.op(`i32.${stmt.step > 0 ? "l" : "g"}${last ? "e" : "t"}_s`);
    };
    const next = (): void => {
      fn.get(variable);
      fn.i32(stmt.step);
      fn.op("i32.add");
      fn.set(variable);
    };
    const again = (): void => {
      if (!fits) this.hasNext(stmt, () => fn.get(variable), getStop);
      next();
      if (fits) inside();
    };
    // Tested at the end, so that an iteration has one branch.
    inside();
    fn.if();
    this.rounds(body, again);
    fn.end();
  }

  /** Leaves on the stack whether a counter that is not beyond its stop has another value, where the step after its last may wrap. */
  hasNext(stmt: Extract<Stmt, { kind: "for" }>, variable: () => void, stop: () => void): void {
    const { fn } = this;
    const [from, to] = stmt.step > 0 ? [variable, stop] : [stop, variable];
    to();
    from();
    fn.op("i32.sub");
    fn.i32(Math.abs(stmt.step) | 0);
    fn.op(lastOf(stmt.stop) ? "i32.ge_u" : "i32.gt_u");
  }

  /** A loop whose condition is a scalar. */
  conditional(condition: () => void, body: () => void, update: () => void): void {
    const { fn } = this;
    condition();
    fn.if();
    this.rounds(body, () => {
      update();
      condition();
    });
    fn.end();
  }

  /** Runs body, then `again`, which leaves on the stack whether there is another round. */
  private rounds(body: () => void, again: () => void): void {
    const { fn, loops } = this;
    const exit = fn.block();
    const top = fn.loop();
    const next = fn.block();
    loops.push({ exit, next });
    body();
    loops.pop();
    fn.end();
    again();
    fn.brIf(top);
    fn.end();
    fn.end();
  }
}

/** Sets a private array's memory to zero. */
export function clearArray(code: KernelCode, name: string, length: number): void {
  const { fn } = code;
  const { base, offset, strides } = code.arrays.get(name)!;
  const end = Math.ceil((length * strides[0]) / 16) * 16;
  if (end <= 256) {
    for (let at = 0; at < end; at += 16) {
      fn.get(base);
      fn.v128([0, 0, 0, 0]);
      fn.memory("v128.store", offset + at);
    }
    return;
  }
  const at = code.temp("i32");
  fn.i32(end);
  fn.set(at);
  const top = fn.loop();
  fn.get(at);
  fn.i32(16);
  fn.op("i32.sub");
  fn.tee(at);
  code.address.widen();
  fn.get(base);
  code.address.add();
  fn.v128([0, 0, 0, 0]);
  fn.memory("v128.store", offset);
  fn.get(at);
  fn.brIf(top);
  fn.end();
  code.release("i32", at);
}
