import { unreachable } from "../../base/unreachable.js";
import { lastOf } from "../../ir/loop-stops.js";
import type { ScalarType, Stmt } from "../../ir/types.js";
import { blocksOf, hasJump, sizeOf, walkExprs, walkStmts } from "../../ir/walk.js";
import { SLICE_PARAMS, SLOT } from "./kernel-code.js";
import { clearArray } from "./scalar.js";
import { type Segment, segmentsOf } from "./statement-segments.js";
import type { VectorCode } from "./vector.js";

/** A divergent loop that is being emitted. */
interface Divergent {
  /** Local of the lanes that have not left the loop. */
  live: number;
  /** Local of the lanes that are still in this iteration. */
  iteration: number;
}

/** Statements and expressions of a block that cost less than a wrong guess of the processor. */
const SHORT = 16;

/** True of a block that may run with no active lane, and costs little. */
function isShort(block: readonly Stmt[]): boolean {
  let plain = sizeOf(block) <= SHORT;
  for (const { kind } of block) plain &&= kind === "let" || kind === "assign" || kind === "reduce";
  walkExprs(block, ({ op }) => void (plain &&= op !== "call" && op !== "load" && op !== "table" && op !== "element"));
  return plain;
}

/** Emits statements for a vector of elements: uniform control flow as it stands, varying control flow under masks. */
export class VectorStatements {
  /** Around the current statement, innermost last; undefined for loops that all lanes leave together. */
  private readonly loops: (Divergent | undefined)[] = [];
  private depth = 0;
  /** Locals whose values inactive lanes get back at the end of the masked block that is being emitted. */
  private merged: ReadonlySet<string> = new Set();

  constructor(
    private readonly vector: VectorCode,
    /** Folds the vector that `value` leaves on the stack. */
    private readonly reduce?: (target: string, value: Extract<Stmt, { kind: "reduce" }>) => void,
  ) {}

  private get fn() {
    return this.vector.code.fn;
  }
  private get code() {
    return this.vector.code;
  }

  statements(body: readonly Stmt[]): void {
    const segments = this.vector.abreast > 1 ? [] : segmentsOf(body, (local) => this.vector.variance.isVarying(local));
    for (const [n, stmt] of body.entries()) {
      if (segments.some(({ from }) => from === n)) this.beginSegment();
      this.statement(stmt);
      const ended = segments.find(({ to }) => to === n + 1);
      if (ended) this.endSegment(ended);
      if (stmt.kind === "break" || stmt.kind === "continue") return;
      if (n + 1 < body.length && this.mayEmptyMask(stmt)) {
        this.dropLanesThatLeft();
        this.fn.get(this.vector.mask!);
        this.fn.op("v128.any_true");
        this.fn.if();
        this.statements(body.slice(n + 1));
        this.fn.end();
        return;
      }
    }
  }

  /** A block of its own, under a condition that is true. */
  private beginSegment(): void {
    this.fn.get(SLICE_PARAMS.end);
    this.fn.if();
  }

  /** Gives locals that outlive the segment a value in the else branch, too, so that engines do not keep the previous element's. */
  private endSegment({ outliving }: Segment): void {
    const { fn } = this;
    if (outliving.length > 0) fn.else();
    for (const name of outliving) {
      fn.v128([0, 0, 0, 0]);
      fn.set(this.vector.localOf(name));
    }
    fn.end();
  }

  /** True for an `if` in a divergent loop in which lanes may leave. */
  private mayEmptyMask(stmt: Stmt): boolean {
    return stmt.kind === "if" && this.loops.at(-1) !== undefined && blocksOf(stmt).some(hasJump);
  }

  private dropLanesThatLeft(): void {
    const { fn } = this;
    const { iteration } = this.loops.at(-1)!;
    const mask = this.vector.mask!;
    if (mask === iteration) return;
    fn.get(mask);
    fn.get(iteration);
    fn.op("v128.and");
    fn.set(mask);
  }

  private statement(stmt: Stmt): void {
    const { vector, code } = this;
    const { scalar, variance } = vector;
    switch (stmt.kind) {
      case "let":
      case "assign": {
        if (!variance.isVarying(stmt.name)) return scalar.statement(stmt);
        const value = stmt.kind === "let" ? stmt.init : stmt.value;
        if (!value || (stmt.kind === "let" && vector.declareSplit(stmt.name, value))) return;
        return vector.each([value], () => {
          vector.expr(value);
          const blend = stmt.kind === "assign" && this.depth > variance.depthOf(stmt.name) && !this.merged.has(stmt.name);
          vector.assign(vector.localOf(stmt.name), value.type, blend);
        });
      }
      case "array":
        if (!code.arrays.has(stmt.name)) code.allocateArray(stmt.name, stmt.type, stmt.length, SLOT);
        return clearArray(code, stmt.name, stmt.length);
      case "store":
        return vector.each([stmt.value], () => vector.statement(stmt, true));
      case "scatter":
        return vector.statement(stmt, true);
      case "setElement":
        return vector.each([stmt.value], () => vector.statement(stmt, this.depth > variance.depthOf(stmt.array)));
      case "reduce":
        return this.reduce!(stmt.target, stmt);
      case "if":
        return this.branch(stmt);
      case "for":
        return this.counted(stmt);
      case "while":
        return this.conditional(stmt);
      case "break":
      case "continue":
        return this.jump(stmt);
      case "atomic":
      case "reduceJointly":
      case "print":
      case "teamFor":
      case "teamReduce":
      case "single":
        throw new Error(`${stmt.kind} inside of a vectorised loop`);
      default:
        return unreachable(stmt);
    }
  }

  private branch(stmt: Extract<Stmt, { kind: "if" }>): void {
    const { vector, code, fn } = this;
    if (!vector.variance.varies(stmt.cond)) {
      vector.scalar.expr(stmt.cond);
      return vector.scalar.branch(() => this.statements(stmt.then), stmt.else.length > 0 ? () => this.statements(stmt.else) : undefined);
    }
    const [then, otherwise] = [code.temp("v128"), code.temp("v128")];
    vector.expr(stmt.cond);
    fn.tee(then);
    fn.op("v128.not");
    fn.set(otherwise);
    this.depth++;
    const block = (lanes: number, stmts: readonly Stmt[]): void => {
      if (stmts.length > 0) vector.under(lanes, () => this.masked(stmts), isShort(stmts));
    };
    block(then, stmt.then);
    block(otherwise, stmt.else);
    this.depth--;
    code.release("v128", then, otherwise);
  }

  /** A block under a mask. What it assigns more than once is merged at its end, not each time, unless lanes leave on the way. */
  private masked(block: readonly Stmt[]): void {
    const { vector, code, fn } = this;
    const counts = new Map<string, { type: ScalarType; times: number }>();
    walkStmts(block, (stmt) => {
      if (stmt.kind !== "assign" || this.depth <= vector.variance.depthOf(stmt.name)) return;
      counts.set(stmt.name, { type: stmt.value.type, times: (counts.get(stmt.name)?.times ?? 0) + 1 });
    });
    const often = hasJump(block) ? [] : [...counts].filter(([, { times }]) => times > 1);
    const before = often.map(([name]) => {
      const saved = code.temp("v128");
      fn.get(vector.localOf(name));
      fn.set(saved);
      return saved;
    });
    const outer = this.merged;
    this.merged = new Set(often.map(([name]) => name));
    this.statements(block);
    this.merged = outer;
    often.forEach(([name, { type }], n) => {
      const local = vector.localOf(name);
      fn.get(local);
      vector.blend(() => fn.get(before[n]), type);
      fn.set(local);
    });
    code.release("v128", ...before);
  }

  private jump(stmt: Extract<Stmt, { kind: "break" | "continue" }>): void {
    const { vector, fn } = this;
    const loop = this.loops.at(-1);
    if (!loop) return vector.scalar.statement(stmt);
    for (const lanes of stmt.kind === "break" ? [loop.live, loop.iteration] : [loop.iteration]) {
      fn.get(lanes);
      vector.maskAs("bool");
      fn.op("v128.andnot");
      // The mask may be the iteration's own, so it goes last.
      fn.set(lanes);
    }
  }

  private counted(stmt: Extract<Stmt, { kind: "for" }>): void {
    const { vector, code, fn } = this;
    const { scalar, variance } = vector;
    if (!variance.isDivergent(stmt)) {
      this.loops.push(undefined);
      scalar.counted(stmt, () => this.statements(stmt.body));
      this.loops.pop();
      return;
    }
    const varying = variance.isVarying(stmt.name);
    const fits = code.ranges.stepFits(stmt);
    const last = fits ? undefined : lastOf(stmt.stop);
    const emit = (e: typeof stmt.start): void => (varying ? vector.expr(e) : scalar.expr(e));
    const type = varying ? "v128" : "i32";
    const shape = varying ? "i32x4" : "i32";
    const [variable, stop] = [code.localOf(stmt.name, type), code.temp(type)];
    const asMask = (): void => {
      if (!varying) vector.splat("bool");
      else if (vector.width === 2) fn.op("i64x2.extend_low_i32x4_s");
    };
    emit(last ?? stmt.stop);
    fn.set(stop);
    emit(stmt.start);
    fn.set(variable);
    this.divergent(
      () => {
        fn.get(variable);
        fn.get(stop);
        fn.op(`${shape}.${stmt.step > 0 ? "l" : "g"}${last ? "e" : "t"}_s`);
        asMask();
      },
      stmt.body,
      (live) => {
        if (!fits) {
          // Lanes whose counter would go beyond the stop, and might wrap, have ended.
          fn.get(stmt.step > 0 ? stop : variable);
          fn.get(stmt.step > 0 ? variable : stop);
          fn.op(`${shape}.sub`);
          fn.i32(Math.abs(stmt.step) | 0);
          if (varying) fn.op("i32x4.splat");
          fn.op(`${shape}.${lastOf(stmt.stop) ? "ge" : "gt"}_u`);
          asMask();
          fn.get(live);
          fn.op("v128.and");
          fn.set(live);
        }
        fn.get(variable);
        fn.i32(stmt.step);
        if (varying) fn.op("i32x4.splat");
        fn.op(`${shape}.add`);
        fn.set(variable);
      },
    );
    code.release(type, stop);
  }

  private conditional(stmt: Extract<Stmt, { kind: "while" }>): void {
    const { vector } = this;
    if (!vector.variance.isDivergent(stmt)) {
      this.loops.push(undefined);
      vector.scalar.conditional(
        () => vector.scalar.expr(stmt.cond),
        () => this.statements(stmt.body),
        () => this.statements(stmt.update),
      );
      this.loops.pop();
      return;
    }
    this.divergent(
      () => vector.expr(stmt.cond),
      stmt.body,
      () => this.statements(stmt.update),
    );
  }

  /** Runs until no lane is left. `condition` leaves a mask on the stack. */
  private divergent(condition: () => void, body: readonly Stmt[], update: (live: number) => void): void {
    const { vector, code, fn } = this;
    const { mask: outer } = vector;
    const { merged } = this;
    this.merged = new Set();
    const loop: Divergent = { live: code.temp("v128"), iteration: code.temp("v128") };
    const leaveIfNone = (): void => {
      fn.get(loop.live);
      fn.op("v128.any_true");
      fn.op("i32.eqz");
      fn.brIf(exit);
    };
    vector.maskAs("bool");
    fn.set(loop.live);
    const exit = fn.block();
    const top = fn.loop();
    this.depth++;
    vector.mask = loop.live;
    condition();
    fn.get(loop.live);
    fn.op("v128.and");
    fn.tee(loop.live);
    fn.set(loop.iteration);
    leaveIfNone();
    vector.mask = loop.iteration;
    this.loops.push(loop);
    this.statements(body);
    this.loops.pop();
    vector.mask = loop.live;
    if (hasJump(body)) leaveIfNone();
    this.loops.push(undefined);
    update(loop.live);
    this.loops.pop();
    fn.br(top);
    fn.end();
    fn.end();
    vector.mask = outer;
    this.merged = merged;
    this.depth--;
    code.release("v128", loop.live, loop.iteration);
  }
}
