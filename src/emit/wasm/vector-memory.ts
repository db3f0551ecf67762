import { rangeOf, atomParts } from "../../ir/analysis/affine.js";
import type { Expr, ScalarType } from "../../ir/types.js";
import { BYTES, isDouble, isHalf, isInteger, isPacked, isSigned, isSingle } from "../../ir/scalars.js";
import { type ArrayInfo, SLOT } from "./kernel-code.js";
import type { LinearAddress } from "./linear-address.js";
import { fromHalves, loadWord, storeWord, toHalves } from "./packed.js";
import { emitUpdate } from "./scatter.js";
import type { VectorParts } from "./parts.js";

/** Bytes around an array that may be read though they are not its own. */
const MARGIN = 32768;

/** The addresses of a vector's elements. */
interface Lanes {
  /** Local of the address that all have in common. */
  base: number;
  /** The instruction's offset, at least 0. */
  offset: number;
  /** Bytes from one lane's element to the next, besides `varying`. */
  step: number;
  /** Locals of vectors of indices, with the bytes that each counts. */
  vectors: readonly { local: number; stride: number }[];
  /** Distances that each lane computes for itself. */
  own: readonly Distance[];
}

interface Distance {
  expr: Expr;
  stride: number;
}

/** Loads and stores of vectors: contiguous, strided, gathered, under masks, and in private arrays. */
export class VectorMemory {
  constructor(private readonly vector: VectorParts) {}

  private get fn() {
    return this.vector.code.fn;
  }
  private get code() {
    return this.vector.code;
  }

  load(array: string, indices: readonly Expr[]): void {
    const { fn, code, vector } = this;
    const info = code.arrays.get(array)!;
    const linear = code.linearAddress(array, indices, vector.loop.terms);
    if (this.isContiguous(linear, info)) return this.loadContiguous(info, this.contiguousAddress(array, indices, linear));
    const lanes = this.lanes(array, indices, linear);
    if (vector.mask !== undefined && !this.staysNear(linear)) {
      const result = code.temp("v128");
      fn.v128([0, 0, 0, 0]);
      fn.set(result);
      this.eachActiveLane((lane) => {
        this.loadLane(info, lanes, lane, () => fn.get(result));
        fn.set(result);
      });
      fn.get(result);
      code.release("v128", result);
    } else {
      this.loadLane(info, lanes, 0);
      const value = code.temp("v128");
      for (let lane = 1; lane < vector.width; lane++) {
        fn.set(value);
        this.loadLane(info, lanes, lane, () => fn.get(value));
      }
      code.release("v128", value);
    }
    this.releaseLanes(lanes);
    if (isHalf(info.type)) fromHalves(code, info.type);
  }

  store(array: string, indices: readonly Expr[], value: Expr): void {
    const { fn, code, vector } = this;
    const info = code.arrays.get(array)!;
    const linear = code.linearAddress(array, indices, vector.loop.terms);
    const masked = vector.mask !== undefined;
    if (this.isContiguous(linear, info) && (!masked || (!isPacked(info.type) && vector.loop.ownsLanes(array)))) {
      const offset = this.contiguousAddress(array, indices, linear);
      if (!masked) {
        vector.expr(value);
        return this.storeContiguous(info, offset, value.type);
      }
      const address = code.temp(code.address.type);
      fn.tee(address);
      vector.expr(value);
      vector.blend(() => {
        fn.get(address);
        this.loadContiguous(info, offset);
      }, value.type);
      code.release(code.address.type, address);
      return this.storeContiguous(info, offset, value.type);
    }
    const values = code.temp("v128");
    vector.expr(value);
    if (isHalf(info.type)) toHalves(code, info.type);
    fn.set(values);
    const lanes = this.lanes(array, indices, linear);
    this.eachActiveLane((lane) => {
      const offset = this.laneAddress(lanes, lane);
      fn.get(values);
      if (isPacked(info.type)) {
        fn.lane("i32x4.extract_lane", lane);
        storeWord(code, info.type, offset);
      } else fn.memoryLane(`v128.store${8 * BYTES[info.type]}_lane`, offset, lane);
    });
    this.releaseLanes(lanes);
    code.release("v128", values);
  }

  /** Lane by lane, so that lanes with one target follow each other. */
  scatter(target: string, indices: readonly Expr[], value: Expr): void {
    const { fn, code, vector } = this;
    const values = code.temp("v128");
    vector.expr(value);
    fn.set(values);
    const lanes = this.lanes(target, indices, code.linearAddress(target, indices, vector.loop.terms));
    this.eachActiveLane((lane) => {
      code.address.advance(this.laneAddress(lanes, lane));
      fn.get(values);
      fn.lane(`${isDouble(value.type) ? "f64x2" : isSingle(value.type) ? "f32x4" : "i32x4"}.extract_lane`, lane);
      emitUpdate(vector.scalar, target);
    });
    this.releaseLanes(lanes);
    code.release("v128", values);
  }

  /** An element of an array that each lane has of its own. */
  loadSlot(array: string, index: Expr, type: ScalarType): void {
    const { fn, code, vector } = this;
    if (!vector.variance.varies(index)) return fn.memory("v128.load", this.slotAddress(array, index));
    const { base, offset } = code.arrays.get(array)!;
    const distances = this.slotDistances(index);
    const value = code.temp("v128");
    fn.v128([0, 0, 0, 0]);
    for (let lane = 0; lane < vector.width; lane++) {
      fn.set(value);
      this.slotLane(base, distances, lane);
      fn.get(value);
      fn.memoryLane(`v128.load${8 * laneBytes(type)}_lane`, offset + lane * laneBytes(type), lane);
    }
    code.release("v128", value, distances);
  }

  storeSlot(array: string, index: Expr, value: Expr, blend: boolean): void {
    const { fn, code, vector } = this;
    if (!vector.variance.varies(index)) {
      const address = code.temp(code.address.type);
      const offset = this.slotAddress(array, index);
      fn.tee(address);
      vector.expr(value);
      if (blend)
        vector.blend(() => {
          fn.get(address);
          fn.memory("v128.load", offset);
        }, value.type);
      fn.memory("v128.store", offset);
      return code.release(code.address.type, address);
    }
    const values = code.temp("v128");
    vector.expr(value);
    fn.set(values);
    const { base, offset } = code.arrays.get(array)!;
    const distances = this.slotDistances(index);
    this.eachActiveLane((lane) => {
      this.slotLane(base, distances, lane);
      fn.get(values);
      fn.memoryLane(`v128.store${8 * laneBytes(value.type)}_lane`, offset + lane * laneBytes(value.type), lane);
    });
    code.release("v128", values, distances);
  }

  private slotAddress(array: string, index: Expr): number {
    const { fn } = this;
    const { base, offset } = this.code.arrays.get(array)!;
    fn.get(base);
    if (index.op === "const") return offset + (index.value as number) * SLOT;
    this.vector.scalar.expr(index);
    this.code.address.scale(SLOT);
    this.code.address.add();
    return offset;
  }

  /** Local of the byte distances of the active lanes' slots. */
  private slotDistances(index: Expr): number {
    const { fn, vector } = this;
    const distances = this.code.temp("v128");
    vector.expr(index);
    if (vector.mask !== undefined) {
      vector.maskAs("i32");
      fn.op("v128.and");
    }
    fn.i32(Math.log2(SLOT));
    fn.op("i32x4.shl");
    fn.set(distances);
    return distances;
  }

  private slotLane(base: number, distances: number, lane: number): void {
    const { fn } = this;
    fn.get(base);
    fn.get(distances);
    fn.lane("i32x4.extract_lane", lane);
    this.code.address.widen();
    this.code.address.add();
  }

  /**
   * True where a load may be done for any element of the range without leaving the memory: a linear address
   * within or near the view.
   */
  mayLoadAnywhere(e: Extract<Expr, { op: "load" }>): boolean {
    const { code, vector } = this;
    const { policy, views } = code.spec;
    const linear = code.linearAddress(e.view, e.indices, vector.loop.terms);
    if (policy.kind !== "range" || linear.leaves.length > 0) return false;
    const axis = vector.loop.variable.op === "index" ? vector.loop.variable.axis : -1;
    const terms = { ...linear.fixed, ...linear.moving, ...(linear.step ? { [`index:${axis}`]: linear.step } : {}) };
    const range = rangeOf({ constant: linear.constant, terms }, (atom) => {
      const [kind, n] = atomParts(atom);
      return kind === "index" ? [policy.begin[Number(n)], policy.begin[Number(n)] + policy.extents[Number(n)] - 1] : undefined;
    });
    const { shape, strides, element } = views[e.view];
    const last = shape.reduce((at, extent, a) => at + (extent - 1) * strides[a], 0) * BYTES[element];
    return range !== undefined && range[0] >= -MARGIN && range[1] <= last + MARGIN;
  }

  /** True where lanes read what lies side by side. */
  readsInOrder(array: string, indices: readonly Expr[]): boolean {
    const { code, vector } = this;
    return this.isContiguous(code.linearAddress(array, indices, vector.loop.terms), code.arrays.get(array)!);
  }

  private isContiguous(linear: LinearAddress, info: ArrayInfo): boolean {
    return (
      linear.step === BYTES[info.type] &&
      linear.leaves.every(({ expr }) => !this.vector.variance.varies(expr)) &&
      this.isUniform(linear.moving)
    );
  }

  /** False where a term's atom differs between the lanes. */
  private isUniform(terms: LinearAddress["moving"]): boolean {
    return Object.keys(terms).every((atom) => {
      const [kind, name] = atomParts(atom);
      return kind !== "local" || !this.vector.variance.isVarying(name);
    });
  }

  /** Leaves the address on the stack; returns the offset. */
  private contiguousAddress(array: string, indices: readonly Expr[], linear: LinearAddress): number {
    return this.vector.scalar.address(array, indices) + this.vector.copy * this.vector.width * linear.step;
  }

  private loadContiguous({ type }: ArrayInfo, offset: number): void {
    const { fn, vector } = this;
    if (isPacked(type)) {
      const sign = isSigned(type) ? "s" : "u";
      if (BYTES[type] === 2 && vector.width === 4) fn.memory(`v128.load16x4_${sign}`, offset);
      else {
        fn.memory("v128.load32_zero", offset);
        if (BYTES[type] === 1) fn.op(`i16x8.extend_low_i8x16_${sign}`);
        fn.op(`i32x4.extend_low_i16x8_${sign}`);
      }
      if (isHalf(type)) fromHalves(this.code, type);
      return;
    }
    fn.memory(vector.isNarrow(type) ? "v128.load64_zero" : "v128.load", offset);
  }

  /** With the address and the value on the stack. */
  private storeContiguous({ type }: ArrayInfo, offset: number, valueType: ScalarType): void {
    const { fn, vector } = this;
    if (!isPacked(type)) {
      if (vector.isNarrow(valueType)) return fn.memoryLane("v128.store64_lane", offset, 0);
      return fn.memory("v128.store", offset);
    }
    if (isHalf(type)) {
      toHalves(this.code, type);
      const words = this.code.temp("v128");
      fn.tee(words);
      fn.get(words);
      fn.op("i16x8.narrow_i32x4_u");
      this.code.release("v128", words);
    } else {
      fn.v128([0, 0, 0, 0]);
      fn.shuffle(Array.from({ length: 16 }, (_, n) => (n < 4 * BYTES[type] ? 4 * Math.floor(n / BYTES[type]) + (n % BYTES[type]) : 16)));
    }
    fn.memoryLane(`v128.store${8 * BYTES[type] * vector.width}_lane`, offset, 0);
  }

  /** True where no lane's address can be far from an active lane's. */
  private staysNear(linear: LinearAddress): boolean {
    const gathered = linear.leaves.some(({ expr }) => this.vector.variance.varies(expr)) || !this.isUniform(linear.moving);
    return gathered ? linear.step === 0 && Math.abs(linear.constant) < MARGIN : Math.abs(linear.step) * this.vector.width < MARGIN;
  }

  private lanes(array: string, indices: readonly Expr[], linear: LinearAddress): Lanes {
    const { fn, code, vector } = this;
    const { scalar } = vector;
    const shared = vector.loop.pointers.find(linear);
    const info = code.arrays.get(array)!;
    const { address } = code;
    const base = code.temp(address.type);
    fn.get(shared ? shared.pointer.local : info.base);
    if (!shared) {
      if (linear.step) {
        fn.get(vector.loop.index);
        address.scale(linear.step);
        address.add();
      }
      scalar.terms(linear.fixed);
    }
    let offset = shared ? shared.offset : linear.constant + info.offset;
    const unrolled = vector.copy * vector.width * linear.step;
    if (linear.step >= 0 && shared) offset += unrolled;
    else {
      address.advance((shared ? 0 : offset) + unrolled);
      if (!shared) offset = 0;
    }
    const isVarying = (atom: string): boolean => !this.isUniform({ [atom]: 1 });
    const moving = Object.entries(linear.moving);
    scalar.terms(Object.fromEntries(moving.filter(([atom]) => !isVarying(atom))));
    const distances: Distance[] = [
      ...linear.leaves,
      ...moving.filter(([atom]) => isVarying(atom)).map(([atom, stride]) => ({ expr: localOf(atom), stride })),
    ];
    for (const { expr, stride } of distances.filter((d) => !vector.variance.varies(d.expr))) {
      scalar.expr(expr);
      address.scale(stride);
      address.add();
    }
    fn.set(base);
    const varying = distances.filter((d) => vector.variance.varies(d.expr));
    const isOwn = ({ expr }: Distance): boolean => vector.mask === undefined && vector.isLanewise(expr);
    const vectors = varying.filter((d) => !isOwn(d)).map((d) => ({ local: this.activeIndices(d.expr), stride: d.stride }));
    return { base, offset, step: linear.step, vectors, own: varying.filter(isOwn) };
  }

  /** True for a load of i32 whose address each lane can compute for itself. */
  isLanewise(e: Extract<Expr, { op: "load" }>): boolean {
    const { code, vector } = this;
    const linear = code.linearAddress(e.view, e.indices, vector.loop.terms);
    return isInteger(e.type) && this.isUniform(linear.moving) && linear.leaves.every(({ expr }) => vector.isLanewise(expr));
  }

  /** One lane's value of such a load. */
  loadScalar(e: Extract<Expr, { op: "load" }>, lane: number): void {
    const { fn, code, vector } = this;
    const lanes = this.lanes(e.view, e.indices, code.linearAddress(e.view, e.indices, vector.loop.terms));
    const { type } = code.arrays.get(e.view)!;
    const offset = this.laneAddress(lanes, lane);
    if (isPacked(type)) loadWord(code, type, offset);
    else fn.memory("i32.load", offset);
    this.releaseLanes(lanes);
  }

  /** Local of a vector of indices, 0 in lanes that are not active. */
  private activeIndices(index: Expr): number {
    const { fn, vector } = this;
    vector.expr(index);
    if (vector.mask !== undefined) {
      vector.maskAs("i32");
      fn.op("v128.and");
    }
    const local = this.code.temp("v128");
    fn.set(local);
    return local;
  }

  private releaseLanes({ base, vectors }: Lanes): void {
    this.code.release(this.code.address.type, base);
    this.code.release("v128", ...vectors.map(({ local }) => local));
  }

  /** Leaves a lane's address on the stack; returns the offset. */
  private laneAddress({ base, offset, step, vectors, own }: Lanes, lane: number): number {
    const { fn, vector } = this;
    const { address } = this.code;
    fn.get(base);
    for (const { expr, stride } of own) {
      vector.lane(expr, lane);
      address.scale(stride);
      address.add();
    }
    for (const { local, stride } of vectors) {
      fn.get(local);
      fn.lane("i32x4.extract_lane", lane);
      address.scale(stride);
      address.add();
    }
    if (step >= 0) return offset + lane * step;
    address.advance(lane * step);
    return offset;
  }

  /** Loads one lane's element into the vector that `into` leaves on the stack, or into a new one. */
  private loadLane({ type }: ArrayInfo, lanes: Lanes, lane: number, into?: () => void): void {
    const { fn } = this;
    if (isPacked(type)) {
      into?.();
      const offset = this.laneAddress(lanes, lane);
      loadWord(this.code, type, offset);
      if (into) fn.lane("i32x4.replace_lane", lane);
      else fn.op("i32x4.splat");
      return;
    }
    const bits = 8 * BYTES[type];
    const offset = this.laneAddress(lanes, lane);
    if (!into) return fn.memory(`v128.load${bits}_zero`, offset);
    into();
    fn.memoryLane(`v128.load${bits}_lane`, offset, lane);
  }

  /** Emits code for each lane, run where the lane is active. */
  private eachActiveLane(emit: (lane: number) => void): void {
    const { fn, vector } = this;
    if (vector.mask === undefined) {
      for (let lane = 0; lane < vector.width; lane++) emit(lane);
      return;
    }
    const bits = this.code.temp("i32");
    fn.get(vector.mask);
    fn.op(vector.width === 2 ? "i64x2.bitmask" : "i32x4.bitmask");
    fn.set(bits);
    for (let lane = 0; lane < vector.width; lane++) {
      fn.get(bits);
      fn.i32(1 << lane);
      fn.op("i32.and");
      fn.if();
      emit(lane);
      fn.end();
    }
    this.code.release("i32", bits);
  }
}

/** Bytes of a lane; masks have lanes of 32 bits. */
const laneBytes = (type: ScalarType): number => (type === "bool" ? 4 : BYTES[type]);

const localOf = (atom: string): Expr => ({ op: "local", type: "i32", name: atomParts(atom)[1] });
