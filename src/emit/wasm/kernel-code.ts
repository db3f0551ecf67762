import type { InexactFn } from "../../ir/operators.js";
import { definitionsOf, atomParts, type Interval } from "../../ir/analysis/affine.js";
import { integerRanges, type IntegerRanges } from "../../ir/analysis/integer-ranges.js";
import type { ElementType, Expr, KernelIR, NumericType, ReduceParam, ScalarType, ScatterParam, Stmt } from "../../ir/types.js";
import { walkExpr, walkExprs, changedIn } from "../../ir/walk.js";
import { foldsJointly } from "../../ir/joint.js";
import { recordedAxes } from "../../ir/passes/check-indices.js";
import type { Policy, Precision, ScatterStrategy } from "../../ir/launch.js";
import { BYTES, isFloat, putValue, type FloatType } from "../../ir/scalars.js";
import { scatterCacheBytes } from "../../ir/cache-lines.js";
import { slotText, type WasmSlot } from "../../schedule/slots.js";
import type { FunctionBuilder, Gap, ValType } from "./encoder.js";
import { Address, addressType } from "./address.js";
import { ModuleBuilder } from "./encoder.js";
import { linearAddress } from "./linear-address.js";
import type { LoopTerms, LinearAddress } from "./linear-address.js";

/** Properties on which a module is specialised. Base addresses, scalars and results pass through the argument block. */
export interface WasmSpec {
  ir: KernelIR;
  /** With `anyRange`, a range that encloses each launch's. */
  policy: Policy;
  /** Begins and extents of the range are arguments, for ranges without tiles in kernels without scatter. */
  anyRange?: boolean;
  precision: Precision;
  /** Reductions come in the order of strict mode, which in it they always do. */
  ordered?: boolean;
  /** Types, shapes and strides (in elements) of view and scatter parameters. */
  views: Record<string, { element: ElementType; shape: readonly number[]; strides: readonly number[] }>;
  scatter: Record<string, ScatterStrategy>;
  /** No written view shares memory with another argument. */
  disjointMemory: boolean;
  /** The engine has relaxed SIMD; used in fast mode. */
  relaxed: boolean;
  /** The memory is shared between threads. */
  shared: boolean;
  /** The memory has 64-bit addresses. */
  wide: boolean;
}

/** An array that code can address: a view, a table, or private memory. */
export interface ArrayInfo {
  type: ElementType;
  /** Strides in bytes. */
  strides: number[];
  /** Local that holds the address of its first element. */
  base: number;
  /** Bytes from `base` to it, 0 for views. */
  offset: number;
}

const VAL_TYPES = {
  f64: "f64",
  f32: "f32",
  i32: "i32",
  u32: "i32",
  i64: "i64",
  u64: "i64",
  u8: "i32",
  i8: "i32",
  u16: "i32",
  i16: "i32",
  f16: "f32",
  bf16: "f32",
  bool: "i32",
} as const satisfies Record<ScalarType | ElementType, ValType>;

/** The type of a value on WebAssembly's stack. */
export const valType = <T extends ScalarType | ElementType>(type: T): (typeof VAL_TYPES)[T] => VAL_TYPES[type];

/** An entry of the argument block, 8 bytes from `offset` on. */
export interface BlockEntry {
  readonly slot: WasmSlot;
  readonly offset: number;
}

/** Parameters of `slice`, as locals. */
export const SLICE_PARAMS = { args: 0, worker: 1, first: 2, end: 3 } as const;

/** Bytes of one element of private memory inside a vectorised loop: a vector of whatever type. */
export const SLOT = 16;

/** Numbers that the registers of an x86 hold beside what is computed. */
const FEW_NUMBERS = 8;

/**
 * The state of one module while it is emitted: its functions, the argument block, where arrays and locals lie.
 *
 * `run(args, worker, workers)` shares the work out and calls `slice(args, worker, first, end)` again and again, so that an engine that
 * optimises functions between calls can do so while the kernel runs.
 */
export class KernelCode {
  readonly module: ModuleBuilder;
  readonly fn: FunctionBuilder;
  readonly address: Address;
  /** Entries of the argument block, by `slotText`. */
  private readonly block = new Map<string, BlockEntry>();
  readonly arrays = new Map<string, ArrayInfo>();
  readonly definitions: Map<string, Expr | undefined>;
  /** Values of the kernel's integers. */
  readonly ranges: IntegerRanges;
  readonly strict: boolean;
  /** Reductions keep the order of strict mode. */
  readonly ordered: boolean;
  readonly remarks: string[] = [];
  /** Local of `slice` with the address of the worker's private memory. */
  readonly scratch: number;
  /** Code that computes values which depend on scalar parameters alone. */
  readonly entry: Gap;
  /** More different numbers than registers: vectors of them are better loaded than made. */
  readonly manyNumbers: boolean;
  /** In code with checked indices: locals of an element's first failure (its site from 1, 0 for none; the index), and what notes it. */
  readonly fault?: {
    readonly record: string;
    readonly note: number;
    readonly axes: readonly number[];
    readonly site: number;
    readonly index: number;
  };
  /** Bytes of private memory of each worker. */
  scratchBytes = 0;
  /** Values in the tables' memory, with the byte at which each is. */
  private readonly tableValues: { type: NumericType; value: number | bigint; at: number }[] = [];
  private tableEnd = 0;
  /** Locals of `slice` with the address of the worker's scatter cache, by target. */
  readonly caches = new Map<string, number>();
  /** Functions that the slice calls, by name. */
  readonly helpers = new Map<string, FunctionBuilder>();
  private readonly scalars = new Map<string, number>();
  private readonly locals = new Map<string, number>();
  private readonly free = new Map<ValType, number[]>();

  constructor(readonly spec: WasmSpec) {
    const { ir } = spec;
    this.strict = spec.precision === "strict";
    this.ordered = this.strict || spec.ordered === true || foldsJointly(spec.ir);
    this.module = new ModuleBuilder(spec.shared, spec.wide);
    this.definitions = definitionsOf(ir.body);
    this.ranges = integerRanges(ir, "any", (leaf) => knownIn(spec, leaf));
    this.importMath(ir);
    const axes = recordedAxes(ir);
    const address = addressType(spec.wide);
    const ints = Array<ValType>(2 + axes.length).fill("i32");
    const note = ir.checks && this.module.import("env", "fault", [address, ...ints], []);
    this.fn = this.module.function("slice", [addressType(spec.wide), "i32", "i32", "i32"]);
    this.address = new Address(this.fn, spec.wide);
    const { fn } = this;
    if (ir.checks) this.fault = { record: ir.checks.record, note: note!, axes, site: fn.local("i32"), index: fn.local("i32") };
    for (const param of ir.params)
      if (param.kind === "scalar") {
        const local = fn.local(valType(param.type));
        this.loadArgument({ kind: "scalar", name: param.name }, param.type);
        fn.set(local);
        this.scalars.set(param.name, local);
      } else if (param.kind === "reduce") this.slot({ kind: "partials", name: param.name });
      else {
        const { element, strides } = spec.views[param.name];
        const base = this.loadBase(param.name);
        this.arrays.set(param.name, { type: element, strides: strides.map((s) => s * BYTES[element]), base, offset: 0 });
      }
    for (const { name } of this.cached) {
      const cache = fn.local(this.address.type);
      this.loadCache(name);
      fn.set(cache);
      this.caches.set(name, cache);
    }
    this.layTables(ir);
    this.manyNumbers = numbersIn(ir.body) > FEW_NUMBERS;
    this.scratch = fn.local(this.address.type);
    this.loadAddress({ kind: "scratch" });
    fn.get(SLICE_PARAMS.worker);
    // The stride is known only at the end, so it is an argument too.
    this.loadArgument({ kind: "scratchStride" }, "i32");
    fn.op("i32.mul");
    this.address.widen();
    this.address.add();
    fn.set(this.scratch);
    this.entry = fn.gap();
  }

  /** Byte of the argument block where a slot's value is; it joins the block on first use. */
  slot(slot: WasmSlot): number {
    const text = slotText(slot);
    let entry = this.block.get(text);
    if (!entry) this.block.set(text, (entry = { slot, offset: 8 * this.block.size }));
    return entry.offset;
  }

  get slots(): readonly BlockEntry[] {
    return [...this.block.values()];
  }

  /** Address of a view; for the private copies of a scatter target, of the worker's copy. */
  private loadBase(name: string): number {
    const { fn } = this;
    const base = fn.local(this.address.type);
    this.loadAddress({ kind: "view", name });
    fn.set(base);
    if (this.spec.scatter[name] !== "duplicated") return base;
    fn.get(SLICE_PARAMS.worker);
    fn.if();
    this.loadAddress({ kind: "copies", name });
    fn.get(SLICE_PARAMS.worker);
    fn.i32(1);
    fn.op("i32.sub");
    this.address.widen();
    this.loadAddress({ kind: "copyStride", name });
    fn.op(`${this.address.type}.mul`);
    this.address.add();
    fn.set(base);
    fn.end();
    return base;
  }

  /** A local of `slice` that holds an argument from its start on. To be called before other code is written. */
  argument(slot: WasmSlot, type: ScalarType): number {
    const local = this.fn.local(valType(type));
    this.loadArgument(slot, type);
    this.fn.set(local);
    return local;
  }

  private loadArgument(slot: WasmSlot, type: ScalarType): void {
    this.fn.get(SLICE_PARAMS.args);
    this.fn.memory(`${valType(type)}.load`, this.slot(slot));
  }
  /** Leaves an address or distance from the argument block on the stack. */
  loadAddress(slot: WasmSlot): void {
    this.fn.get(SLICE_PARAMS.args);
    this.fn.memory(`${this.address.type}.load`, this.slot(slot));
  }

  /** Leaves the address of the worker's scatter cache of a target on the stack of `slice`, or of a function with the same first parameters. */
  loadCache(target: string, fn = this.fn): void {
    const address = new Address(fn, this.spec.wide);
    fn.get(SLICE_PARAMS.args);
    fn.memory(`${address.type}.load`, this.slot({ kind: "caches", name: target }));
    fn.get(SLICE_PARAMS.worker);
    fn.i32(scatterCacheBytes(this.spec.views[target].element as NumericType));
    fn.op("i32.mul");
    address.widen();
    address.add();
  }

  private layTables(ir: KernelIR): void {
    if (ir.tables.length === 0) return;
    const base = this.fn.local(this.address.type);
    this.loadAddress({ kind: "tables" });
    this.fn.set(base);
    for (const { name, type, shape, values } of ir.tables) {
      const size = BYTES[type];
      const offset = this.tableEnd;
      values.forEach((value, n) => this.tableValues.push({ type, value, at: offset + n * size }));
      const strides = shape.map((_, axis) => shape.slice(axis + 1).reduce((a, b) => a * b, size));
      this.arrays.set(name, { type, strides, base, offset });
      this.tableEnd += 8 * values.length;
    }
  }

  /** Initial content of the tables' memory. */
  get tableBytes(): Uint8Array {
    const bytes = new Uint8Array(this.tableEnd);
    const view = new DataView(bytes.buffer);
    for (const { type, value, at } of this.tableValues) putValue(view, type, at, value);
    return bytes;
  }

  /** Bytes from the tables' address to a number that is stored after them. */
  numberInMemory(type: "f64" | "f32", value: number): number {
    const at = this.tableEnd;
    this.tableValues.push({ type, value, at });
    this.tableEnd += 8;
    return at;
  }

  /** Private memory of the worker for an array; `slot` is the distance between its elements. */
  allocateArray(name: string, type: NumericType, length: number, slot: number): void {
    this.arrays.set(name, { type, strides: [slot], base: this.scratch, offset: this.reserve(length * slot) });
  }

  /** Bytes of the worker's private memory, from the returned offset on. */
  reserve(bytes: number): number {
    const offset = this.scratchBytes;
    this.scratchBytes += Math.ceil(bytes / 64) * 64;
    return offset;
  }

  scalarParam(name: string): number {
    return this.scalars.get(name)!;
  }

  /** The WebAssembly local of a kernel's local; each name has one for scalars and one for vectors. */
  localOf(name: string | number, type: ValType, what = ""): number {
    const key = `${what}${type === "v128" ? "vector" : "scalar"}:${name}`;
    let local = this.locals.get(key);
    if (local === undefined) this.locals.set(key, (local = this.fn.local(type)));
    return local;
  }

  /** A local for the moment, to be given back by `release`. */
  temp(type: ValType): number {
    return this.free.get(type)?.pop() ?? this.fn.local(type);
  }
  release(type: ValType, ...locals: number[]): void {
    this.free.set(type, [...(this.free.get(type) ?? []), ...locals]);
  }

  linearAddress(array: string, indices: readonly Expr[], loop?: LoopTerms): LinearAddress {
    return linearAddress(this.arrays.get(array)!.strides, indices, {
      array,
      definitions: this.definitions,
      extents: (atom) => this.extentOf(atom),
      ranges: this.ranges,
      wide: this.spec.wide,
      loop,
    });
  }

  /** The constant value of an atom: an extent of a view, or the size of a team. */
  private extentOf(atom: string): number | undefined {
    if (atom === "teamSize") return 1;
    const [kind, name, axis] = atomParts(atom);
    return kind === "extent" ? this.spec.views[name].shape[Number(axis)] : undefined;
  }

  get reductions(): ReduceParam[] {
    return this.spec.ir.params.filter((p): p is ReduceParam => p.kind === "reduce");
  }

  /** Index of the imported function. */
  math(name: InexactFn | "fmod", args: number): number {
    const helper = name === "fmod" || name === "exp2";
    return this.module.import(helper ? "math" : "Math", helper ? name : (name satisfies keyof Math), Array<ValType>(args).fill("f64"), [
      "f64",
    ]);
  }

  /** The same of powi. */
  powi(type: FloatType): number {
    return this.module.import("math", `powi_${type}`, [type, "i32"], [type]);
  }

  private importMath(ir: KernelIR): void {
    const visit = (e: Expr): void => {
      if (e.op === "call") void (e.fn === "powi" ? this.powi(e.type as FloatType) : this.math(e.fn, e.args.length));
      if (e.op === "binary" && e.fn === "rem" && isFloat(e.type)) this.math("fmod", 2);
    };
    walkExprs(ir.body, visit);
    for (const { combine, joint } of this.reductions)
      for (const body of joint?.bodies ?? (combine ? [combine.body] : [])) walkExpr(body, visit);
  }

  get cached(): ScatterParam[] {
    return this.spec.ir.params.filter((p): p is ScatterParam => p.kind === "scatter" && this.spec.scatter[p.name] === "cached");
  }

  /** Views that some statement changes. */
  get written(): Set<string> {
    return changedIn(this.spec.ir.body, "view", "scatter");
  }
}

/** Values of an index of the policy, or of an extent. */
function knownIn({ policy, views }: WasmSpec, leaf: Expr): Interval | undefined {
  if (leaf.op === "extent") return [views[leaf.view].shape[leaf.axis], views[leaf.view].shape[leaf.axis]];
  if (leaf.op !== "index") return undefined;
  if (policy.kind === "team") return [0, Math.max(0, policy.league - 1)];
  return [policy.begin[leaf.axis], policy.begin[leaf.axis] + Math.max(0, policy.extents[leaf.axis] - 1)];
}

function numbersIn(body: readonly Stmt[]): number {
  const numbers = new Set<unknown>();
  walkExprs(body, (e) => void (e.op === "const" && isFloat(e.type) && numbers.add(e.value)));
  return numbers.size;
}
