import type { Expr, Stmt } from "../../ir/types.js";
import { affineOf } from "../../ir/analysis/affine.js";
import { shareFloatLoads } from "../../ir/passes/share-loads.js";
import { interiorOf, type Interior } from "../../ir/passes/interior.js";
import { assignedLocals, children, declares, exprsOf, sizeOf, someExpr, walkExprs, walkStmts, changeOf, readOf } from "../../ir/walk.js";
import { REDUCTION_LANES } from "../../ir/types.js";
import type { Gap } from "./encoder.js";
import { type KernelCode, valType } from "./kernel-code.js";
import { addPair } from "./pairs.js";
import type { Reduce } from "./pairs.js";
import { shapeOfFolds } from "./loop-folds.js";
import { Pointers, exprKey } from "./linear-address.js";
import type { LoopTerms, Pointer } from "./linear-address.js";
import { Accumulator } from "./reduction.js";
import type { LoopShape } from "./loop-shape.js";
import { ScalarCode } from "./scalar.js";
import { vectorsSideBySide } from "./side-by-side.js";
import { isVectorVariable, Variance } from "./variance.js";
import type { VectorVariable } from "./variance.js";
import { VectorCode } from "./vector.js";
import { VectorStatements } from "./vector-statements.js";

/** Statements and expressions of a body so small that a turn waits for the sum of the one before. */
const SMALL = 30;

/** Vectors that hold two sums each, with the copy of the body that they belong to. */
type PairRegisters = Map<string, { local: number; copy: number; targets: string[] }>;

/**
 * The innermost loop over elements (or members of a team): in vectors where it pays, and one by one for the rest. Addresses that are linear
 * in the loop variable become pointers that move along; values that do not change are computed before it.
 */
export class InnerLoop {
  /** Local of the loop variable's value; of the first lane's in a vectorised loop. */
  readonly index: number;
  readonly variable: VectorVariable;
  readonly pointers = new Pointers();
  readonly terms: LoopTerms;
  /** Code before the loop. */
  prologue!: Gap;
  private readonly body: readonly Stmt[];
  /** Names declared in the body whose values change from element to element. */
  private readonly inner = new Set<string>();
  private readonly hoisted = new Set<Stmt>();
  private readonly variance: Variance;
  private readonly interior: Interior | undefined;

  constructor(
    private readonly code: KernelCode,
    private readonly shape: LoopShape,
  ) {
    ({ variable: this.variable, body: this.body } = shape);
    this.index = code.fn.local("i32");
    this.terms = {
      variable: this.variable.op === "index" ? `index:${this.variable.axis}` : `local:${this.variable.name}`,
      isFixed: (atom) => !atom.startsWith("local:") || !this.inner.has(atom.slice("local:".length)),
    };
    walkStmts(this.body, (stmt) => declares(stmt).forEach((name) => this.inner.add(name)));
    this.hoist();
    this.noteAccesses();
    this.interior = this.findInterior();
    const customs = [...shape.accumulators.values()].flatMap(({ fold }) => (fold.combine ? [fold.combine.a, fold.combine.b] : []));
    this.variance = new Variance([...this.body, ...(this.interior?.body ?? [])], this.variable, customs);
  }

  /** The interior of what changes from element to element. Loads that were the sides of choices are made always there, so they can be shared. */
  private findInterior(): Interior | undefined {
    const changing = this.body.filter((stmt) => !this.hoisted.has(stmt));
    const interior = interiorOf(changing, (e) => this.isVariable(e));
    const { ir, disjointMemory } = this.code.spec;
    if (!interior || !disjointMemory) return interior;
    const body = shareFloatLoads(ir, interior.body);
    walkStmts(body, (stmt) => declares(stmt).forEach((name) => this.inner.add(name)));
    return { ...interior, body };
  }

  isVariable(e: Expr): boolean {
    return isVectorVariable(e, this.variable);
  }
  isHoisted(stmt: Stmt): boolean {
    return this.hoisted.has(stmt);
  }

  /** True for a value that is the same for all iterations and touches no memory. */
  isInvariant(e: Expr): boolean {
    return !someExpr(e, (x) => this.changes(x) || x.op === "load");
  }

  private changes(x: Expr): boolean {
    return (
      this.isVariable(x) || x.op === "element" || x.op === "checked" || x.op === "failed" || (x.op === "local" && this.inner.has(x.name))
    );
  }

  /** True where the elements of a vector that a masked store leaves alone are nobody else's: all stores to the array have one linear index. */
  ownsLanes(array: string): boolean {
    const keys = new Set<string>();
    let views = 0;
    walkStmts(this.body, (stmt) => {
      if (stmt.kind === "store" && stmt.view === array) keys.add(exprKey(this.code.linearAddress(array, stmt.indices, this.terms)));
      if (stmt.kind === "setElement" && stmt.array === array) keys.add(exprKey(this.code.linearAddress(array, [stmt.index], this.terms)));
      if (stmt.kind === "store") views++;
    });
    return keys.size === 1 && (views === 0 || this.code.spec.disjointMemory);
  }

  /** Locals at the body's top level that keep one value are computed before the loop. */
  private hoist(): void {
    const { code } = this;
    const assigned = assignedLocals(this.body);
    const readable = (view: string): boolean => code.spec.disjointMemory && !code.written.has(view);
    for (const stmt of this.body) {
      if (stmt.kind !== "let" || !stmt.init || assigned.has(stmt.name)) continue;
      if (someExpr(stmt.init, (x) => this.changes(x) || (x.op === "load" && !readable(x.view)))) continue;
      this.hoisted.add(stmt);
      this.inner.delete(stmt.name);
      if (!affineOf(stmt.init, code.definitions)) code.definitions.set(stmt.name, undefined);
    }
  }

  private noteAccesses(): void {
    const { code, pointers, terms } = this;
    const note = (array: string, indices: readonly Expr[], always: boolean): void => {
      if (code.arrays.has(array)) pointers.note(code.linearAddress(array, indices, terms), always);
    };
    const expr = (e: Expr, always: boolean): void => {
      const read = readOf(e);
      if (read && read.kind !== "table") note(read.name, read.indices, always);
      children(e).forEach((child, n) => expr(child, always && (n === 0 || (e.op !== "select" && e.op !== "logical"))));
    };
    const block = (body: readonly Stmt[], always: boolean): void => {
      for (const stmt of body) {
        if (stmt.kind === "let" && this.hoisted.has(stmt)) continue;
        for (const e of exprsOf(stmt)) expr(e, always);
        const change = changeOf(stmt);
        if (change) note(change.name, change.indices, always);
        if (stmt.kind === "if") [stmt.then, stmt.else].forEach((b) => block(b, false));
        if (stmt.kind === "for") block(stmt.body, false);
        if (stmt.kind === "while") [stmt.body, stmt.update].forEach((b) => block(b, false));
      }
    };
    block(this.body, true);
    pointers.assign(() => code.fn.local(code.address.type));
  }

  /** Emits the loop over `count` values from `from`; both are locals. */
  emit(from: number, count: number): void {
    const { code, index } = this;
    const { fn } = code;
    const { accumulators, width } = this.shape;
    fn.get(from);
    fn.set(index);
    const outer = new ScalarCode(code);
    for (const stmt of this.hoisted)
      if (stmt.kind === "let") {
        outer.expr(stmt.init!);
        fn.set(code.localOf(stmt.name, valType(stmt.type)));
      }
    this.startPointers(outer, from);
    this.prologue = fn.gap();
    const left = code.temp("i32");
    fn.get(count);
    fn.set(left);
    const vector = width > 1 ? new VectorCode(code, this, this.variance, width as 2 | 4) : undefined;
    const abreast = vector ? this.abreast(vector) : 1;
    const copies = abreast > 1 ? abreast : this.copies();
    for (const a of accumulators.values()) {
      if (!a.carries && copies * width < REDUCTION_LANES) a.clear();
      a.clearRegisters(copies, vector);
    }
    if (vector) vector.abreast = abreast;
    if (copies > 0) this.rounds(vector, copies, left);
    if (vector) vector.abreast = 1;
    if (copies > 1 && (accumulators.size === 0 || this.shape.short)) this.rounds(vector, 1, left);
    for (const a of accumulators.values()) a.spill(vector);
    if (copies * width !== 1) this.rest(from, left);
    code.release("i32", left);
  }

  /** Vectors that go side by side through loops in the body. */
  private abreast(vector: VectorCode): number {
    const { accumulators, body } = this.shape;
    if (accumulators.size > 0 || this.interior) return 1;
    const count = vectorsSideBySide(body, this.variance, (load) => vector.isContiguous(load));
    if (count > 1) this.code.remarks.push(`${count} vectors side by side through its loops`);
    return count;
  }

  /**
   * Elements, or vectors of them, in one round of the loop: as many as fill the lanes of a strict reduction; else more than one only for
   * small bodies, and where there are many pointers. 0 where a large body folds into the lanes in memory, one element at a time.
   */
  private copies(): number {
    const { accumulators, width } = this.shape;
    const body = this.interior?.body ?? this.body;
    const size = sizeOf(body);
    if (this.shape.short) return size < SMALL ? 4 : 1;
    if (accumulators.size > 0) {
      if (this.code.ordered) return width > 1 || size < 60 ? REDUCTION_LANES / width : 0;
      return size >= 120 ? 1 : accumulators.size <= 2 ? 4 : width === 1 ? 2 : 1;
    }
    if (width === 1 && !this.code.fault) return 1;
    let accesses = 0;
    let control = false;
    walkExprs(body, (e) => void (e.op === "load" && accesses++));
    walkStmts(body, (stmt) => {
      if (stmt.kind === "store") accesses++;
      if (stmt.kind === "for" || stmt.kind === "while" || stmt.kind === "array") control = true;
      if (stmt.kind === "if" && !this.code.fault) control = true;
    });
    if (control) return 1;
    if (accesses <= 4 && size <= 80) return 4;
    // Moving the pointers takes as long as the accesses if each access has its own.
    return 2 * this.moving.length > accesses ? 2 : 1;
  }

  /** Pointers that move along. */
  private get moving(): readonly Pointer[] {
    return this.pointers.all.filter((p) => p.step !== 0);
  }

  private startPointers(outer: ScalarCode, from: number): void {
    const { fn, address } = this.code;
    for (const { array, bias, step, fixed, local } of this.pointers.all) {
      const { base, offset } = this.code.arrays.get(array)!;
      fn.get(base);
      outer.terms(fixed);
      if (step !== 0) {
        fn.get(from);
        address.scale(step);
        address.add();
      }
      address.advance(bias + offset);
      fn.set(local);
    }
  }

  /** Runs as many rounds of `copies` vectors or elements as fit into the local `left`, and leaves the rest there. */
  private rounds(vector: VectorCode | undefined, copies: number, left: number): void {
    const { accumulators, width, reduce } = this.shape;
    const { fn } = this.code;
    const elements = copies * width;
    const pairs: PairRegisters = new Map();
    const scalar: ScalarCode = new ScalarCode(this.code, this, {
      reduce: (target, value) =>
        accumulators.has(target) ? accumulators.get(target)!.foldScalar(scalar.copy, value) : reduce!(target, value),
      reduceJointly: (targets, values) => {
        const parts = targets.map((target) => accumulators.get(target)!);
        const places = parts.map((part) => part.inRegister(scalar.copy));
        Accumulator.foldJointly(parts, places, values);
      },
      reducePair: (p, q) => this.foldPair(scalar, pairs, p, q),
      folds: (loop) => emitFolds(scalar, loop),
    });
    const lanes =
      vector && new VectorStatements(vector, (target, { value }) => accumulators.get(target)!.foldVector(vector.copy, vector, value));
    const rounds = this.code.temp("i32");
    fn.get(left);
    if (elements > 1) {
      fn.i32(Math.log2(elements));
      fn.op("i32.shr_u");
    }
    fn.tee(rounds);
    fn.if();
    const round = (body: readonly Stmt[]): void => {
      for (let copy = 0; copy < copies; copy += vector?.abreast ?? 1) {
        (vector ?? scalar).copy = copy;
        if (lanes) lanes.statements(body);
        else this.element(scalar, body);
      }
    };
    this.loop(rounds, elements, () => {
      if (!this.interior || !vector) return round(this.body);
      this.within(this.interior, elements);
      fn.if();
      round(this.interior.body);
      fn.else();
      round(this.body);
      fn.end();
    });
    for (const { local, copy, targets } of pairs.values())
      targets.forEach((target, lane) =>
        accumulators.get(target)!.foldScalar(copy, () => {
          fn.get(local);
          fn.lane("f64x2.extract_lane", lane);
        }),
      );
    fn.get(left);
    fn.i32(elements - 1);
    fn.op("i32.and");
    fn.set(left);
    fn.end();
    if (vector) vector.copy = 0;
    this.code.release("i32", rounds);
  }

  /** An element of the range, or what is a part of a team's work. */
  private element(scalar: ScalarCode, body: readonly Stmt[]): void {
    if (this.variable.op === "index") scalar.element(body);
    else scalar.statements(body);
  }

  /** Whether `elements` elements from the current one on lie in the interior. */
  private within({ begin, end }: Interior, elements: number): void {
    const { fn } = this.code;
    fn.get(this.index);
    fn.i32(Math.max(begin, -(2 ** 31)));
    fn.op("i32.ge_s");
    fn.get(this.index);
    fn.i32(Math.max(Math.min(end - elements, 2 ** 31 - 1), -(2 ** 31)));
    fn.op("i32.le_s");
    fn.op("i32.and");
  }

  /** Folds two sums in one register, which `pairs` collects; false where these are other folds. */
  private foldPair(scalar: ScalarCode, pairs: PairRegisters, first: Reduce, second: Reduce): boolean {
    const { fn } = this.code;
    const targets = [first.target, second.target];
    if (!targets.every((target) => this.shape.accumulators.get(target)?.fold.op === "sum")) return false;
    const key = `${targets} ${scalar.copy}`;
    if (!pairs.has(key)) {
      const local = fn.local("v128");
      pairs.set(key, { local, copy: scalar.copy, targets });
      fn.within(this.prologue, () => {
        fn.v128([0, 0, 0, 0]);
        fn.set(local);
      });
    }
    const { local } = pairs.get(key)!;
    addPair(scalar, () => fn.get(local), first.value, second.value);
    fn.set(local);
    return true;
  }

  /** The elements that fill no round, one at a time; folds go to the lanes in memory. */
  private rest(from: number, left: number): void {
    const { fn } = this.code;
    const { accumulators, reduce } = this.shape;
    const lane = (): void => {
      fn.get(this.index);
      fn.get(from);
      fn.op("i32.sub");
      fn.i32(REDUCTION_LANES - 1);
      fn.op("i32.and");
    };
    const scalar: ScalarCode = new ScalarCode(this.code, this, {
      reduce: (target, value) => (accumulators.has(target) ? accumulators.get(target)!.foldLane(lane, value) : reduce!(target, value)),
      reduceJointly: (targets, values) => this.foldLanesJointly(targets, lane, values),
      folds: (loop) => emitFolds(scalar, loop),
    });
    fn.get(left);
    fn.if();
    this.loop(left, 1, () => this.element(scalar, this.body));
    fn.end();
  }

  private foldLanesJointly(targets: readonly string[], lane: () => void, values: readonly (() => void)[]): void {
    const { code } = this;
    const { type } = code.address;
    const parts = targets.map((target) => this.shape.accumulators.get(target)!);
    const addresses = parts.map(() => code.temp(type));
    const places = parts.map((part, n) => part.laneAt(lane, addresses[n]));
    Accumulator.foldJointly(parts, places, values);
    code.release(type, ...addresses);
  }

  /** `rounds` > 0 rounds, after each of which index and pointers move on by `elements`. The bound is a pointer's end where there is one. */
  private loop(rounds: number, elements: number, body: () => void): void {
    const { fn, address } = this.code;
    const { moving } = this;
    const pointer = moving[0];
    const type = pointer ? address.type : "i32";
    const bound = pointer?.local ?? this.index;
    const end = this.code.temp(type);
    fn.get(bound);
    fn.get(rounds);
    if (pointer) address.scale(pointer.step * elements);
    else {
      fn.i32(elements);
      fn.op("i32.mul");
    }
    fn.op(`${type}.add`);
    fn.set(end);
    const top = fn.loop();
    body();
    fn.get(this.index);
    fn.i32(elements);
    fn.op("i32.add");
    fn.set(this.index);
    for (const { local, step } of moving) {
      fn.get(local);
      address.advance(step * elements);
      fn.set(local);
    }
    fn.get(bound);
    fn.get(end);
    fn.op(`${type}.ne`);
    fn.brIf(top);
    fn.end();
    this.code.release(type, end);
  }
}

/** Emits a serial loop in vectors of its turns; false where these go one by one. */
function emitFolds(scalar: ScalarCode, stmt: Extract<Stmt, { kind: "for" }>): boolean {
  const { code } = scalar;
  const shape = shapeOfFolds(code, stmt);
  if (!shape) return false;
  const { fn } = code;
  scalar.keepVariable();
  const [from, count] = [fn.local("i32"), fn.local("i32")];
  scalar.expr(stmt.start);
  fn.set(from);
  scalar.expr(stmt.stop);
  fn.get(from);
  fn.op("i32.sub");
  fn.set(count);
  fn.get(from);
  scalar.expr(stmt.stop);
  fn.op("i32.lt_s");
  fn.if();
  new InnerLoop(code, shape).emit(from, count);
  fn.end();
  return true;
}
