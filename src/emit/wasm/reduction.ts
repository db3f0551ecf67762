import type { Expr, JointFold, NumericType, ReduceOp } from "../../ir/types.js";
import { choiceOf } from "../../ir/joint-choice.js";
import { foldGroups } from "../../ir/joint.js";
import { REDUCTION_LANES } from "../../ir/types.js";
import { BYTES, isFloat, isInteger, isSigned } from "../../ir/scalars.js";
import { RunningExtremum } from "./extrema.js";
import { type KernelCode, SLICE_PARAMS, valType } from "./kernel-code.js";
import { ScalarCode } from "./scalar.js";
import { type VectorCode, vectorShape } from "./vector.js";

/** Bytes that each worker has for its lanes of a reduction in fast mode: all that registers hold. */
export const LANE_BYTES = 64;

/** Values to fold. */
export interface FoldedValues {
  name: string;
  type: NumericType;
  op: ReduceOp;
  identity: number | bigint;
  combine?: { a: string; b: string; body: Expr };
  joint?: JointFold;
}

/**
 * The running value of a reduction: REDUCTION_LANES lanes in private memory, and registers that hold them while a loop runs
 * (docs/determinism.md). The element with relative index j goes to lane j mod REDUCTION_LANES.
 */
export class Accumulator {
  protected readonly registers: number[] = [];
  protected readonly scalar: ScalarCode;
  /** Folds floats in few instructions where the order is free. */
  protected extremum: RunningExtremum | undefined;

  constructor(
    protected readonly code: KernelCode,
    readonly fold: FoldedValues,
    /** Local of the address of the lanes in memory, and an offset to it. */
    private readonly base: number,
    private readonly memory: number,
    /** The lanes in memory hold earlier values, to be kept. */
    readonly carries: boolean,
  ) {
    this.scalar = new ScalarCode(code);
  }

  protected get fn() {
    return this.code.fn;
  }
  private get size(): number {
    return BYTES[this.fold.type];
  }

  /** Sets all lanes in memory to the identity. */
  clear(): void {
    for (let lane = 0; lane < REDUCTION_LANES; lane++) this.storeLane(lane, () => this.scalar.constant(this.fold.type, this.fold.identity));
  }

  /** Makes `count` registers, vectors if there is vector code, and sets them to the identity. */
  clearRegisters(count: number, vector?: VectorCode): void {
    const { fn } = this;
    const { op, type, identity } = this.fold;
    while (this.registers.length < count) this.registers.push(fn.local(vector ? "v128" : valType(type)));
    if (vector && !this.code.strict && (op === "min" || op === "max") && isFloat(type))
      this.extremum = new RunningExtremum(this.code, op, type);
    this.extremum?.clear();
    for (const local of this.registers) {
      this.scalar.constant(type, identity);
      vector?.splat(type);
      fn.set(local);
    }
  }

  /** Folds a vector of values into register `n`, in the active lanes. */
  foldVector(n: number, vector: VectorCode, value: Expr): void {
    const { fn } = this;
    const { op, type } = this.fold;
    const local = this.registers[n];
    const get = (): void => fn.get(local);
    if (op === "custom") {
      vector.expr(value);
      this.combineVectors(vector, get);
    } else if (this.extremum) {
      vector.expr(value);
      this.extremum.fold(vector, local);
    } else if (op !== "sum" || !vector.contract(value, "add", get)) {
      get();
      vector.expr(value);
      this.vectorOp();
    }
    vector.blend(get, type);
    fn.set(local);
  }

  /** Folds a scalar into register `n`. */
  foldScalar(n: number, value: () => void): void {
    const local = this.registers[n];
    emitFold(this.scalar, this.fold, () => this.fn.get(local), value);
    this.fn.set(local);
  }

  /** Puts the registers into the lanes in memory. */
  spill(vector?: VectorCode): void {
    const { fn } = this;
    const type = valType(this.fold.type);
    const narrow = vector?.isNarrow(this.fold.type) ?? false;
    const width = vector?.width ?? 1;
    this.settle();
    const kept = this.carries ? this.registers.length : Math.min(this.registers.length, REDUCTION_LANES / width);
    this.foldBeyond(kept, vector);
    this.registers.slice(0, kept).forEach((local, n) => {
      const offset = this.memory + n * width * this.size;
      const old = (): void => {
        fn.get(this.base);
        fn.memory(!vector ? `${type}.load` : narrow ? "v128.load64_zero" : "v128.load", offset);
      };
      fn.get(this.base);
      if (!this.carries) fn.get(local);
      else if (!vector) emitFold(this.scalar, this.fold, old, () => fn.get(local));
      else if (this.fold.op === "custom") {
        fn.get(local);
        this.combineVectors(vector, old);
      } else {
        old();
        fn.get(local);
        this.vectorOp();
      }
      if (narrow) fn.memoryLane("v128.store64_lane", offset, 0);
      else fn.memory(vector ? "v128.store" : `${type}.store`, offset);
    });
  }

  /** Puts NaN that was noted aside into the first register. */
  protected settle(): void {
    if (!this.extremum) return;
    this.fn.get(this.registers[0]);
    this.extremum.settle();
    this.fn.set(this.registers[0]);
  }

  /** Folds the registers from number `kept` on into those before: fast mode has more of them than fill private lanes. */
  protected foldBeyond(kept: number, vector?: VectorCode): void {
    const { fn } = this;
    for (let n = kept; n < this.registers.length; n++) {
      const into = this.registers[n % kept];
      const [a, b] = [into, this.registers[n]].map((local) => () => fn.get(local));
      if (!vector) emitFold(this.scalar, this.fold, a, b);
      else if (this.fold.op === "custom") {
        b();
        this.combineVectors(vector, a);
      } else {
        a();
        b();
        this.vectorOp();
      }
      fn.set(into);
    }
  }

  private vectorOp(): void {
    const { op, type } = this.fold;
    const name = op === "sum" ? "add" : op;
    this.fn.op(`${vectorShape(type)}.${name}${name !== "add" && isInteger(type) ? (isSigned(type) ? "_s" : "_u") : ""}`);
  }

  /** With `b` on the stack. */
  private combineVectors(vector: VectorCode, a: () => void): void {
    const { combine } = this.fold;
    this.fn.set(this.code.localOf(combine!.b, "v128"));
    a();
    this.fn.set(this.code.localOf(combine!.a, "v128"));
    vector.expr(combine!.body);
  }

  /** Folds a scalar into the lane whose number `lane` leaves on the stack. */
  foldLane(lane: () => void, value: () => void): void {
    const { fn, code } = this;
    const address = code.temp(code.address.type);
    lane();
    code.address.scale(this.size);
    fn.get(this.base);
    code.address.add();
    fn.tee(address);
    emitFold(
      this.scalar,
      this.fold,
      () => {
        fn.get(address);
        fn.memory(`${valType(this.fold.type)}.load`, this.memory);
      },
      value,
    );
    fn.memory(`${valType(this.fold.type)}.store`, this.memory);
    code.release(code.address.type, address);
  }

  /** Folds the lanes in memory into one and leaves it on the stack. */
  result(): void {
    for (let step = REDUCTION_LANES / 2; step > 0; step >>= 1)
      for (let lane = 0; lane < step; lane++)
        this.storeLane(lane, () =>
          emitFold(
            this.scalar,
            this.fold,
            () => this.loadLane(lane),
            () => this.loadLane(lane + step),
          ),
        );
    this.loadLane(0);
  }

  /** Folds values into lanes, or registers, of the parts of a joint reduction: `places` are one for each part. */
  static foldJointly(parts: readonly Accumulator[], places: readonly Lane[], values: readonly (() => void)[]): void {
    const folds = parts.map(({ fold }) => fold);
    emitJointFold(
      parts[0].scalar,
      folds,
      places.map(({ load }) => load),
      values,
    );
    places.forEach(({ store }, n) => store(() => parts[0].fn.get(partLocal(parts[0].code, folds[n], "a"))));
  }

  /** Folds the lanes in memory into the first, of the parts of a joint reduction. */
  static foldLanesJointly(parts: readonly Accumulator[]): void {
    for (let step = REDUCTION_LANES / 2; step > 0; step >>= 1)
      for (let lane = 0; lane < step; lane++)
        Accumulator.foldJointly(
          parts,
          parts.map((part) => part.inMemory(lane)),
          parts.map((part) => () => part.loadLane(lane + step)),
        );
  }

  /** The register `n`. */
  inRegister(n: number): Lane {
    const local = this.registers[n];
    return {
      load: () => this.fn.get(local),
      store: (value) => {
        value();
        this.fn.set(local);
      },
    };
  }

  private inMemory(lane: number): Lane {
    return { load: () => this.loadLane(lane), store: (value) => this.storeLane(lane, value) };
  }

  /** The lane whose number `lane` leaves on the stack; `address` is a local that takes its address. */
  laneAt(lane: () => void, address: number): Lane {
    const { fn, code } = this;
    lane();
    code.address.scale(this.size);
    fn.get(this.base);
    code.address.add();
    fn.set(address);
    return {
      load: () => {
        fn.get(address);
        fn.memory(`${valType(this.fold.type)}.load`, this.memory);
      },
      store: (value) => {
        fn.get(address);
        value();
        fn.memory(`${valType(this.fold.type)}.store`, this.memory);
      },
    };
  }

  /** Leaves the first lane on the stack. */
  firstLane(): void {
    this.loadLane(0);
  }

  private loadLane(lane: number): void {
    this.fn.get(this.base);
    this.fn.memory(`${valType(this.fold.type)}.load`, this.memory + lane * this.size);
  }
  private storeLane(lane: number, value: () => void): void {
    this.fn.get(this.base);
    value();
    this.fn.memory(`${valType(this.fold.type)}.store`, this.memory + lane * this.size);
  }
}

/** A place of a running value. */
interface Lane {
  load(): void;
  store(value: () => void): void;
}

/** The local for a part of one of the two values that fold jointly. */
const partLocal = (code: KernelCode, { name, type, joint }: FoldedValues, side: "a" | "b"): number =>
  code.localOf(joint![side][joint!.parts.indexOf(name)], valType(type));

/** Leaves the fold of values of several parts in the locals of the first value. */
function emitJointFold(scalar: ScalarCode, folds: readonly FoldedValues[], a: readonly (() => void)[], b: readonly (() => void)[]): void {
  const { code } = scalar;
  const { bodies } = folds[0].joint!;
  const take = (values: readonly (() => void)[], side: "a" | "b"): void =>
    values.forEach((value, n) => {
      value();
      code.fn.set(partLocal(code, folds[n], side));
    });
  take(b, "b");
  take(a, "a");
  const choice = choiceOf(folds[0].joint!);
  if (choice) {
    scalar.expr(choice);
    code.fn.if();
    for (const fold of folds) {
      code.fn.get(partLocal(code, fold, "b"));
      code.fn.set(partLocal(code, fold, "a"));
    }
    return code.fn.end();
  }
  for (const body of bodies) scalar.expr(body);
  for (const fold of folds.toReversed()) code.fn.set(partLocal(code, fold, "a"));
}

/** Folds values into locals of the parts of a joint reduction. */
export function foldLocalsJointly(
  scalar: ScalarCode,
  parts: readonly { readonly fold: FoldedValues; readonly local: number }[],
  values: readonly (() => void)[],
): void {
  const { code } = scalar;
  const folds = parts.map(({ fold }) => fold);
  emitJointFold(
    scalar,
    folds,
    parts.map(
      ({ local }) =>
        () =>
          code.fn.get(local),
    ),
    values,
  );
  parts.forEach(({ fold, local }) => {
    code.fn.get(partLocal(code, fold, "a"));
    code.fn.set(local);
  });
}

/** Leaves the fold of two values on the stack. */
export function emitFold(scalar: ScalarCode, { op, type, combine }: FoldedValues, a: () => void, b: () => void): void {
  const { code } = scalar;
  if (op !== "custom") {
    a();
    b();
    return scalar.binary(op === "sum" ? "add" : (op as "min" | "max"), type);
  }
  b();
  code.fn.set(code.localOf(combine!.b, valType(type)));
  a();
  code.fn.set(code.localOf(combine!.a, valType(type)));
  scalar.expr(combine!.body);
}

/** Lanes that live for one chunk or one team. */
export function privateLanes(code: KernelCode, fold: FoldedValues): Accumulator {
  return new Accumulator(code, fold, code.scratch, code.reserve(REDUCTION_LANES * BYTES[fold.type]), false);
}

/** Lanes of the worker that live for the whole run, in the memory for partials. */
export function workersLanes(code: KernelCode, fold: FoldedValues): Accumulator {
  const { fn, address } = code;
  const base = fn.local(address.type);
  code.loadAddress({ kind: "partials", name: fold.name });
  fn.get(SLICE_PARAMS.worker);
  address.scale(LANE_BYTES);
  address.add();
  fn.set(base);
  return new Accumulator(code, fold, base, 0, true);
}

/** Stores a value as the partial whose number the local `index` holds. */
export function storePartial(code: KernelCode, { name, type }: FoldedValues, index: number, value: () => void): void {
  const { fn, address } = code;
  code.loadAddress({ kind: "partials", name });
  fn.get(index);
  address.scale(BYTES[type]);
  address.add();
  value();
  fn.memory(`${valType(type)}.store`, 0);
}

/** Folds the lanes of reductions of several parts into their first lanes. */
export function foldAccumulators(all: Iterable<Accumulator>): void {
  const list = [...all].filter(({ fold }) => fold.joint);
  for (const parts of foldGroups(list.map(({ fold }) => fold)))
    Accumulator.foldLanesJointly(parts.map((part) => list.find(({ fold }) => fold === part)!));
}
