import { type Identifier, Names, wordOf } from "../base/names.js";
import { own } from "../base/own.js";
import { unreachable } from "../base/unreachable.js";
import { turnsOf } from "../ir/analysis/turns.js";
import { BYTES, isSigned } from "../ir/scalars.js";
import type { Tunables } from "../ir/tuning.js";
import type { ElementType, KernelIR, NumericType, ReduceParam } from "../ir/types.js";
import { Body, type FoldOp } from "./body.js";
import {
  add,
  assign,
  cast,
  declare,
  div,
  element,
  fixed,
  increase,
  inBlock,
  local,
  mul,
  num,
  perform,
  rem,
  valueOf,
  variable,
} from "./build.js";
import { failureNote } from "./faults.js";
import type { Features } from "./features.js";
import type { Frame, StmtOf } from "./frame.js";
import type { Program } from "./kernel-program.js";
import type { BlockShape, Element, Expr, Memory, Place, Stmt, Type } from "./nodes.js";
import { Output } from "./output.js";
import type { ValueType } from "./program.js";
import { slotText, type GpuSlot } from "./slots.js";

/** Threads of a block that works on chunks or partials, and the most that a block of a range has. */
export const BLOCK = 256;

/** Blocks of a multiprocessor to try. */
const RESIDENTS = [1, 2, 4, 8] as const;

/**
 * A turn of a loop that reads many values wants registers for them, unless sums take these: with the few that the compiler takes by itself, loads
 * wait for each other. Threads of a multiprocessor that leave each 128: pushes of particles take 0.60 of the time on an H100; kernels that keep 64 sums
 * take 1.2 to 1.4 times as long.
 */
const MANY_LOADS = { loads: 12, kept: 16, threads: 512 };

/** An identifier for a kernel's name, apart from the functions of any library; of another entry with a suffix. */
export const entryName = (kernel: string, suffix?: string): Identifier =>
  (suffix === undefined ? `${wordOf(kernel)}_kernel` : `${wordOf(kernel)}_kernel_${wordOf(suffix)}`) as Identifier;

/** A parameter of an entry: a number, or memory; the block's own memory, whose size the launch decides in units of 8 bytes, has no slot. */
export type Param =
  | {
      readonly kind: "number";
      readonly slot: GpuSlot;
      readonly type: Exclude<ValueType, "pointer">;
      readonly id: Identifier;
      /** Power of two that divides it. */
      readonly multipleOf?: number;
    }
  | MemoryParam
  | { readonly kind: "dynamic"; readonly memory: Memory };

interface MemoryParam {
  readonly kind: "memory";
  readonly slot: GpuSlot;
  readonly memory: Memory;
  readonly constant: boolean;
  readonly apart: boolean;
  /** Bytes that its address is a multiple of. */
  readonly multipleOf?: number;
}

/** A function that a launch can start, as its schedule has made it. */
export interface ScheduledEntry {
  readonly id: Identifier;
  readonly names: Names;
  /** In the order in which they stand. */
  readonly params: readonly Param[];
  /** Arrays in the block's memory. */
  readonly shared: readonly SharedArray[];
  /** Threads of a block at most, and its shape where that is the same for all launches. */
  readonly most: number;
  readonly block: BlockShape | undefined;
  /** Blocks that a multiprocessor is to hold. */
  readonly resident: number | undefined;
  /** Statements that need not wait for the kernels before: they read nothing that those write. */
  readonly early: readonly Stmt[];
  readonly body: readonly Stmt[];
  /** The next entry may be started early. */
  readonly startsNext: boolean;
}

interface SharedArray {
  readonly memory: Memory;
  readonly length: number;
}

/** Schedules one entry: collects the parameters that it mentions, and frames the kernel's body. */
export abstract class EntrySchedule implements Frame<Body> {
  readonly out = new Output();
  /** Statements that need not wait for the kernels before. */
  readonly early = new Output();
  readonly names = new Names();
  readonly body: Body;
  /** By `slotText`. */
  private readonly params = new Map<string, Param>();
  private readonly shared: SharedArray[] = [];

  /** `withBody`: the entry has the kernel's scalars and arrays as parameters, first and in their order. */
  constructor(
    readonly program: Program,
    readonly id: Identifier,
    withBody: boolean,
  ) {
    const { ir, assumptions } = program;
    this.body = new Body(this.out, ir, this, this.names, assumptions);
    // The kernel's own names come first, so that they stay as they are.
    for (const table of ir.tables) this.names.of("table", table.name);
    for (const param of withBody ? ir.params : [])
      if (param.kind === "scalar") this.scalar(param.name);
      else if (param.kind !== "reduce") this.memory(param.name);
  }

  /** Variables of the policy's indices. */
  protected abstract readonly indexNames: readonly Identifier[];

  index(axis: number): Expr {
    return local(this.indexNames[axis]!, "index");
  }

  get ir(): KernelIR {
    return this.program.ir;
  }
  get features(): Features {
    return this.program.features;
  }

  /** The number of this slot; it joins the parameters on first use. */
  number(slot: GpuSlot, type: Exclude<ValueType, "pointer">, wish: string, as: Type = type === "i32" ? "int" : type): Expr {
    const key = slotText(slot);
    const known = this.params.get(key);
    const name = known?.kind === "number" ? known.id : this.names.fresh(wish);
    const multipleOf = this.multipleOf(slot);
    if (!known) this.params.set(key, { kind: "number", slot, type, id: name, multipleOf });
    return { op: "number", type: as, id: name };
  }

  private multipleOf(slot: GpuSlot): number | undefined {
    if (slot.kind === "stride") return this.vectorOf(slot.name);
    return slot.kind === "alignedBegin" && this.program.assumptions.pairs ? 2 : undefined;
  }

  /** A number of the type `index`. */
  indexNumber(slot: GpuSlot, wish: string): Expr {
    return this.number(slot, this.program.assumptions.wide ? "long" : "i32", wish, "index");
  }

  /** Memory of the device that the launch gives; `constant` memory is only read, and memory `apart` reached in no other way. */
  given(slot: GpuSlot, wish: string, of: Element, { constant = false, apart = false } = {}): Memory {
    const known = this.params.get(slotText(slot));
    if (known?.kind === "memory") return known.memory;
    return this.give(slot, this.names.fresh(wish), of, constant, apart);
  }

  private give(slot: GpuSlot, name: Identifier, of: Element, constant: boolean, apart: boolean): Memory {
    const memory: Memory = { id: name, element: of, space: "device" };
    const vector = slot.kind === "view" ? this.vectorOf(slot.name) : undefined;
    const multipleOf = vector && vector * BYTES[of as ElementType];
    this.params.set(slotText(slot), { kind: "memory", slot, memory, constant, apart, multipleOf });
    return memory;
  }

  /** Elements of a view that a load may take at once; undefined if no more than one. */
  private vectorOf(view: string): number | undefined {
    const { vectors } = this.program.assumptions;
    return vectors && own(vectors, view);
  }

  /** A new array in the block's memory. */
  sharedArray(name: Identifier, type: NumericType, length: number): Memory {
    const memory: Memory = { id: name, element: type, space: "block" };
    this.shared.push({ memory, length });
    return memory;
  }

  /** The block's memory whose size the launch decides, in units of 8 bytes. */
  dynamicShared(wish: string): Memory {
    const memory: Memory = { id: this.names.fresh(wish), element: "f64", space: "block" };
    this.params.set("dynamic", { kind: "dynamic", memory });
    return memory;
  }

  scalar(name: string): Expr {
    const param = this.ir.params.find((p) => p.name === name);
    if (param?.kind !== "scalar") throw new Error(`kernel "${this.ir.name}" has no scalar "${name}"`);
    const identifier = this.names.of("param", name);
    const slot: GpuSlot = { kind: "scalar", name };
    if (!this.params.has(slotText(slot))) this.params.set(slotText(slot), { kind: "number", slot, type: param.type, id: identifier });
    return { op: "number", type: param.type, id: identifier };
  }

  memory(view: string): Memory {
    const slot: GpuSlot = { kind: "view", name: view };
    const known = this.params.get(slotText(slot));
    if (known?.kind === "memory") return known.memory;
    const name = this.names.of("view", view);
    if (view === this.ir.checks?.record) return this.give(slot, name, "i32", false, false);
    const { restrict } = this.program.assumptions;
    const written = this.program.isWritten(view);
    return this.give(slot, name, this.program.array(view).element, !written, restrict && !this.program.isStale(view));
  }

  strides(view: string): readonly Expr[] {
    const units = this.program.assumptions.unitStrides[view];
    const far = this.far(view);
    return this.axes(view).map((axis) => {
      const [slot, wish] = [{ kind: "stride", name: view, axis } as const, `${view}_stride${axis}`];
      return units?.[axis] ? num(1, "index") : far?.[axis] ? this.number(slot, "long", wish) : this.indexNumber(slot, wish);
    });
  }

  far(view: string): readonly boolean[] | undefined {
    return this.program.assumptions.far?.[view];
  }

  extent(view: string, axis: number): Expr {
    return this.number({ kind: "extent", name: view, axis }, "i32", `${view}_extent${axis}`, "i32");
  }

  private axes(view: string): number[] {
    return [...Array(this.program.array(view).rank).keys()];
  }

  teamSize(): Expr {
    return { op: "const", type: "i32", value: 1 };
  }

  fault(_body: Body, _site: number, _at: Expr): void {
    throw new Error(`${this.id} checks no indices`);
  }
  failed(): Expr {
    throw new Error(`${this.id} checks no indices`);
  }

  /** Puts what notes a failure in the record; `of` are the element's indices. */
  protected noteFailure(site: Expr, index: Expr, of: readonly Expr[]): void {
    const axes = [...of.map((at) => cast(at, "int")), num(0), num(0), num(0)].slice(0, 4);
    const record = this.memory(this.ir.checks!.record);
    const fn = this.program.function("note_failure", failureNote);
    this.out.put(perform({ op: "apply", type: "bool", fn, args: [{ op: "address", type: "long", of: record }, site, index, ...axes] }));
  }

  /* Statements of the kernel. */

  store(body: Body, stmt: StmtOf<"store">, offset: Expr, value: Expr): void {
    body.out.put(assign(element(this.memory(stmt.view), offset), value));
  }

  setElement(body: Body, _stmt: StmtOf<"setElement">, memory: Memory, offset: Expr, value: Expr): void {
    body.out.put(assign(element(memory, offset), value));
  }

  array(body: Body, stmt: StmtOf<"array">): Memory {
    const memory: Memory = { id: body.local(stmt.name), element: stmt.type, space: "thread" };
    body.out.put({ kind: "array", memory, length: stmt.length, fill: stmt.space === "private" ? "zero" : undefined });
    return memory;
  }

  scatter(body: Body, stmt: StmtOf<"scatter">, offset: Expr, value: Expr): void {
    const target = this.program.target(stmt.target);
    const code = this.program.scatterCode(stmt.target);
    switch (code) {
      case "atomic":
        return void body.out.put({ kind: "atomic", fn: target.op, at: this.memory(stmt.target), offset, value });
      case "shared":
        return void body.out.put({ kind: "atomic", fn: target.op, at: this.copyOf(stmt.target), offset: this.rowMajor(body, stmt), value });
      case "cached":
        return this.intoCache(stmt.target, offset, value);
      case "sorted":
        return this.contribute(body, stmt, value, this.slotOf(stmt.target), "append");
      case "serial":
        return this.foldInto(body, target.op, target.element, element(this.memory(stmt.target), offset), value);
      default:
        return unreachable(code);
    }
  }

  /** Position of a scattered element in row-major order of its target. */
  private rowMajor(body: Body, stmt: StmtOf<"scatter">): Expr {
    return stmt.indices
      .map((index) => body.address(index))
      .reduce((sum, index, axis) => add(mul(sum, cast(this.extent(stmt.target, axis), "index")), index));
  }

  /** The offset of an element by its indices, which are exact. */
  offsetAt(view: string, indices: readonly Expr[]): Expr {
    const strides = this.strides(view);
    const type = this.far(view)?.some((isFar) => isFar) ? "long" : "index";
    return indices
      .map((index, axis) => (strides[axis]!.op === "const" ? index : mul(cast(index, strides[axis]!.type), strides[axis]!)))
      .reduce((sum, term) => add(cast(sum, type), cast(term, type)));
  }

  /** The offset of element `position`, a row-major position. Puts what it needs. */
  offsetOf(view: string, position: Expr): Expr {
    const strides = this.strides(view);
    const isUnit = (stride: Expr) => stride.op === "const";
    if (strides.length === 1) return isUnit(strides[0]!) ? position : mul(cast(cast(position, "index"), strides[0]!.type), strides[0]!);
    const [rest, offset] = [this.names.fresh("rest"), this.names.fresh("offset")];
    const left = local(rest, "u32");
    this.out.put(declare(rest, "u32", position), declare(offset, "index", num(0, "index")));
    for (const axis of this.axes(view).reverse()) {
      const extent = cast(this.extent(view, axis), "u32");
      const at = cast(axis === 0 ? left : rem(left, extent), "index");
      const stride = strides[axis]!;
      this.out.put(increase(variable(offset, "index"), isUnit(stride) ? at : mul(at, stride)));
      if (axis > 0) this.out.put({ kind: "assign", to: variable(rest, "u32"), value: div(left, extent) });
    }
    return local(offset, "index");
  }

  protected copyOf(_target: string): Memory {
    throw new Error(`${this.id} has no shared copies`);
  }

  protected intoCache(_target: string, _offset: Expr, _value: Expr): void {
    throw new Error(`${this.id} has no scatter caches`);
  }

  /** The variable with the next slot of a sorted scatter. */
  protected slotOf(_target: string): Place {
    throw new Error(`${this.id} writes no contributions`);
  }

  /** Puts where a contribution goes, and the contribution; `append`: the slot is the next one then. */
  protected contribute(body: Body, stmt: StmtOf<"scatter">, value: Expr, slot: Place, how: "put" | "append"): void {
    const { target } = stmt;
    const { element: type } = this.program.target(target);
    const keys = this.given({ kind: "keys", name: target }, `${target}_keys`, "u32", { apart: true });
    const values = this.given({ kind: "values", name: target }, `${target}_values`, type, { apart: true });
    body.out.put(assign(element(keys, valueOf(slot)), cast(this.rowMajor(body, stmt), "u32")));
    body.out.put(how === "append" ? { kind: "append", to: values, at: slot, value } : assign(element(values, valueOf(slot)), value));
  }

  /** Slots of one element or team. */
  protected slotCount(target: string): Expr {
    return this.number({ kind: "slots", name: target }, "u32", `${target}_slots`);
  }

  abstract reduce(body: Body, stmt: StmtOf<"reduce">, value: Expr): void;
  reduceJointly(_body: Body, _stmt: StmtOf<"reduceJointly">, _values: readonly Expr[]): void {
    throw new Error("only elements and teams reduce");
  }

  teamFor(_body: Body, _stmt: StmtOf<"teamFor">): void {
    throw new Error(`kernel "${this.ir.name}" is not a team kernel`);
  }
  teamReduce(_body: Body, _stmt: StmtOf<"teamReduce">): void {
    throw new Error(`kernel "${this.ir.name}" is not a team kernel`);
  }
  single(_body: Body, _stmt: StmtOf<"single">): void {
    throw new Error(`kernel "${this.ir.name}" is not a team kernel`);
  }

  /* Folds. */

  identity({ type, identity }: ReduceParam): Expr {
    return { op: "const", type, value: identity };
  }

  /** Folds a value, which is evaluated once, into a place. */
  foldInto(body: Body, op: FoldOp | ReduceParam, type: NumericType, into: Place, value: Expr): void {
    const { out } = body;
    const operation = operationOf(op);
    if (operation === "sum" && !isSigned(type)) return void out.put(increase(into, value));
    const once = operation === "min" || operation === "max" || value.op === "local" || value.op === "number";
    if (once) return void out.put(assign(into, body.fold(operation, type, valueOf(into), value)));
    const added = this.names.fresh("value");
    out.put(inBlock([fixed(added, value, type), assign(into, body.fold(operation, type, valueOf(into), local(added, type)))]));
  }

  /** Folds values into places: of one reduction, or of several that fold jointly. Each value is evaluated once. */
  foldAll(body: Body, parts: readonly ReduceParam[], into: readonly Place[], values: readonly Expr[]): void {
    const [param] = parts as [ReduceParam, ...ReduceParam[]];
    if (!param.joint) return this.foldInto(body, param, param.type, into[0]!, values[0]!);
    const taken = parts.map(({ name }) => this.names.fresh(`${name}_value`));
    const inside = body.out.inside(() => {
      parts.forEach(({ type }, n) => body.out.put(fixed(taken[n]!, values[n]!, type)));
      body.foldJointly(
        parts,
        into,
        parts.map(({ type }, n) => local(taken[n]!, type)),
      );
    });
    body.out.put(inBlock(inside));
  }

  /* The finished entry. */

  /** Numbers of blocks on a multiprocessor to try, where they may matter. */
  protected residents(always: boolean): Tunables {
    return this.features.holdsResidents && (always || turnsOf(this.ir.body).loads >= MANY_LOADS.loads) ? { resident: RESIDENTS } : {};
  }

  /** Blocks that a multiprocessor is to hold at least: as tuned, as many as leave registers for many loads, or `byDefault`. */
  protected resident(threads: number, byDefault?: number): number | undefined {
    const { tuning } = this.program.assumptions;
    if (tuning?.resident !== undefined || byDefault !== undefined) return tuning?.resident ?? byDefault;
    const { loads, kept } = turnsOf(this.ir.body);
    if (loads < MANY_LOADS.loads || kept > MANY_LOADS.kept) return undefined;
    return Math.max(1, Math.floor(MANY_LOADS.threads / threads));
  }

  /** The next entry may be started early. */
  protected get startsNext(): boolean {
    return true;
  }

  protected finished(most: number, block?: BlockShape, resident?: number): ScheduledEntry {
    return {
      id: this.id,
      names: this.names,
      params: [...this.params.values()],
      shared: this.shared,
      most,
      block,
      resident,
      early: this.early.statements,
      body: this.out.statements,
      startsNext: this.startsNext,
    };
  }
}

/** The operation of a fold, of a reduction or by itself. */
export const operationOf = (op: FoldOp | ReduceParam): FoldOp =>
  typeof op === "string" || "body" in op ? op : op.op === "custom" ? op.combine! : (op.op as FoldOp);
