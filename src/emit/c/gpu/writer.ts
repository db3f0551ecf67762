import { unreachable } from "../../../base/unreachable.js";
import type { ElementType, KernelIR, NumericType, ReduceParam, ScatterParam, Stmt, ViewParam } from "../../../ir/types.js";
import type { Tunables } from "../../../ir/tuning.js";
import type { AccessAnalysis } from "../../../ir/analysis/access.js";
import { turnsOf } from "../../../ir/analysis/turns.js";
import { BodyWriter } from "../body.js";
import { slotText, type GpuSlot } from "../../slots.js";
import { Code } from "../code.js";
import type { Dialect, Frame } from "../dialect.js";
import { Helpers } from "../helpers.js";
import { Names, wordOf } from "../../names.js";
import { readAfterWrite } from "./coherence.js";
import { finalThreads, type BlockShape, type Declared, type GpuDialect, type Space } from "./dialect.js";
import { NOTE_FAILURE, noteFailure } from "./faults.js";
import { canSend } from "./mailbox.js";
import type { Entry, GpuAssumptions, KernelParam, ParamType, ScatterCode, ValueParam } from "./program.js";

export type StmtOf<K extends Stmt["kind"]> = Extract<Stmt, { kind: K }>;

/** Folds values before they go to a scatter target. */
export interface TargetCache {
  update(body: BodyWriter, stmt: StmtOf<"scatter">, offset: string, value: string): void;
}

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

/** A C identifier for a kernel's name, apart from the library's functions. */
export function entryName(kernel: string): string {
  return `${wordOf(kernel)}_kernel`;
}

/** State shared by the entries of one program: the kernel, its assumptions, helper functions. */
export class ProgramWriter {
  readonly helpers: Helpers;
  readonly definitions = new Set<string>();
  /** Element types of views that are read after they were written. */
  readonly readAfterWrite: ReadonlySet<ElementType>;

  constructor(
    readonly ir: KernelIR,
    readonly access: AccessAnalysis,
    readonly assumptions: GpuAssumptions,
    readonly dialect: GpuDialect,
  ) {
    this.readAfterWrite = new Set([...readAfterWrite(ir)].map((name) => this.array(name).element));
    this.helpers = new Helpers(dialect);
  }

  get reduces(): ReduceParam[] {
    return this.ir.params.filter((p) => p.kind === "reduce");
  }

  arrays(): (ViewParam | ScatterParam)[] {
    return this.ir.params.filter((p) => p.kind === "view" || p.kind === "scatter");
  }

  array(name: string): ViewParam | ScatterParam {
    return this.arrays().find((p) => p.name === name)!;
  }

  scatterCode(name: string): ScatterCode {
    return this.assumptions.scatter[name] ?? (this.assumptions.strict ? "serial" : "atomic");
  }

  scatters(code: ScatterCode): ScatterParam[] {
    return this.ir.params.filter((p): p is ScatterParam => p.kind === "scatter" && this.scatterCode(p.name) === code);
  }

  /** Folds keep the order of strict mode. */
  get ordered(): boolean {
    return this.assumptions.strict || this.assumptions.ordered === true;
  }

  /** Blocks of the finish fold partials from several places, and bring their totals together: where they do not, entries fold step by step. */
  get reducesInOneKernel(): boolean {
    const { length } = this.reduces;
    return length > 0 && !this.ordered && finalThreads(this.dialect) > 0 && (!this.dialect.peerAccess || canSend(length));
  }

  /** One thread runs it all. */
  get serial(): boolean {
    return this.scatters("serial").length > 0;
  }
}

/** Writes one entry: collects the parameters that its code mentions, and frames the kernel's body. */
export abstract class EntryWriter implements Frame<BodyWriter> {
  readonly code = new Code();
  readonly names = new Names();
  readonly body: BodyWriter;
  /** By `slotText`; the block's memory has no slot. */
  private readonly params = new Map<string, Declared & { slot?: GpuSlot; element?: ValueParam["element"] }>();
  /** Declarations of the block's memory, which OpenCL wants before anything else. */
  private readonly sharedArrays: string[] = [];
  /** Code that need not wait for the kernels before, whatever the `opening`: it reads nothing that they write. */
  readonly early = new Code();

  /** `withBody`: the function has the kernel's scalars and arrays as parameters. */
  constructor(
    readonly program: ProgramWriter,
    readonly name: string,
    withBody: boolean,
  ) {
    this.body = new BodyWriter(this.code, program.ir, program.dialect, this, this.names, program.helpers, program.assumptions.sizes);
    if (program.ir.checks) this.names.fresh(NOTE_FAILURE);
    // The kernel's own names come first, so that they stay as they are.
    for (const table of program.ir.tables) this.names.of("table", table.name);
    for (const param of withBody ? program.ir.params : [])
      if (param.kind === "scalar") this.scalar(param.name);
      else if (param.kind !== "reduce") this.pointer(param.name);
  }

  get index(): (axis: number) => string {
    return (axis) => this.indexNames[axis];
  }
  /** Variables of the policy's indices. */
  protected abstract readonly indexNames: readonly string[];

  /** The next entry may be started early. */
  protected get startsNext(): boolean {
    return true;
  }

  get ir(): KernelIR {
    return this.program.ir;
  }
  get dialect(): GpuDialect {
    return this.program.dialect;
  }
  /** Spellings of the types. */
  get T(): Dialect["types"] {
    return this.dialect.types;
  }

  /** The identifier of the parameter for this slot; it joins the signature on first use. */
  param(slot: GpuSlot, type: Exclude<ParamType, "pointer" | "shared">, wish: string): string {
    const key = slotText(slot);
    const known = this.params.get(key)?.identifier;
    if (known !== undefined) return known;
    const identifier = this.names.fresh(wish);
    this.params.set(key, { slot, type, identifier, declaration: `const ${this.dialect.paramTypes[type]} ${identifier}` });
    return identifier;
  }

  /** The same for a pointer to memory of the device; `constant` memory is only read, and `restrict` memory reached in no other way. */
  pointerParam(slot: GpuSlot, wish: string, element: ElementType | "i64", how: { constant?: boolean; restrict?: boolean } = {}): string {
    const known = this.params.get(slotText(slot))?.identifier;
    if (known !== undefined) return known;
    const identifier = this.names.fresh(wish);
    this.addPointer(slot, identifier, element, how);
    return identifier;
  }

  private addPointer(
    slot: GpuSlot,
    identifier: string,
    element: ElementType | "i64",
    { constant = false, restrict = false }: { constant?: boolean; restrict?: boolean },
  ): void {
    const { dialect } = this;
    const declaration = `${constant ? "const " : ""}${dialect.pointer("global", element)}${restrict ? `${dialect.restrict} ` : ""}${identifier}`;
    this.params.set(slotText(slot), { slot, type: "pointer", identifier, declaration, element });
  }

  /** A new array in the block's memory. */
  sharedArray(name: string, type: NumericType, length: number): void {
    this.sharedArrays.push(`${this.dialect.sharedPrefix} ${this.T[type]} ${name}[${length}];`);
  }

  /** The block's memory whose size the launch decides, as a pointer to units of 8 bytes. */
  protected dynamicShared(wish: string): string {
    const { dialect } = this;
    const name = this.names.fresh(wish);
    if (dialect.dynamicShared) this.sharedArrays.push(dialect.dynamicShared(name));
    else this.params.set("shared", { type: "shared", identifier: name, declaration: `${dialect.pointer("shared", "i64")}${name}` });
    return name;
  }

  /** A parameter of the `index` type. */
  indexParam(slot: GpuSlot, wish: string): string {
    return this.param(slot, this.program.assumptions.wide ? "i64" : "i32", wish);
  }

  private scalar(name: string): string {
    const param = this.ir.params.find((p) => p.name === name);
    if (param?.kind !== "scalar") throw new Error(`kernel "${this.ir.name}" has no scalar "${name}"`);
    const identifier = this.names.of("param", name);
    const slot: GpuSlot = { kind: "scalar", name };
    if (!this.params.has(slotText(slot)))
      this.params.set(slotText(slot), {
        slot,
        type: param.type,
        identifier,
        declaration: `const ${this.dialect.paramTypes[param.type]} ${identifier}`,
      });
    return identifier;
  }

  pointer(view: string): string {
    const slot: GpuSlot = { kind: "view", name: view };
    const identifier = this.names.of("view", view);
    if (!this.params.has(slotText(slot)) && view === this.ir.checks?.record) this.addPointer(slot, identifier, "i32", {});
    else if (!this.params.has(slotText(slot))) {
      const { kind, element } = this.program.array(view);
      const written = kind === "scatter" || this.program.access.views[view]?.written;
      const stale = !written && this.program.readAfterWrite.has(element);
      this.addPointer(slot, identifier, element, { constant: !written, restrict: this.program.assumptions.restrict && !stale });
    }
    return identifier;
  }

  strides(view: string): readonly string[] {
    const units = this.program.assumptions.unitStrides[view];
    const far = this.far(view);
    return this.axes(view).map((axis) => {
      const [slot, wish] = [{ kind: "stride", name: view, axis } as const, `${view}_stride${axis}`];
      return units?.[axis] ? "1" : far?.[axis] ? this.param(slot, "i64", wish) : this.indexParam(slot, wish);
    });
  }

  far(view: string): readonly boolean[] | undefined {
    return this.program.assumptions.far?.[view];
  }

  extent(view: string, axis: number): string {
    return this.param({ kind: "extent", name: view, axis }, "i32", `${view}_extent${axis}`);
  }

  axes(view: string): number[] {
    return [...Array(this.program.array(view).rank).keys()];
  }

  teamSize(): string {
    return "1";
  }

  fault(_body: BodyWriter, _site: number, _at: string): string {
    throw new Error(`${this.name} checks no indices`);
  }

  failed(): string {
    throw new Error(`${this.name} checks no indices`);
  }

  /** A call that notes a failure in the record; `element` are terms. */
  protected noteFailure(site: string, index: string, element: readonly string[]): string {
    this.program.definitions.add(noteFailure(this.dialect));
    const axes = [...element.map((term) => `(int)${term}`), "0", "0", "0"].slice(0, 4);
    return `${NOTE_FAILURE}(${[this.pointer(this.ir.checks!.record), site, index, ...axes].join(", ")})`;
  }

  scatter(body: BodyWriter, stmt: StmtOf<"scatter">, offset: string, value: string): void {
    const target = this.program.array(stmt.target) as ScatterParam;
    const place = `${this.pointer(stmt.target)}[${offset}]`;
    const type = target.element;
    const code = this.program.scatterCode(stmt.target);
    switch (code) {
      case "atomic":
        return body.line(stmt, `${this.atomic(target, "global", `&${place}`, value)};`);
      case "shared":
        return body.line(stmt, `${this.atomic(target, "shared", `&${this.copyOf(stmt.target)}[${this.rowMajor(body, stmt)}]`, value)};`);
      case "cached":
        return this.cacheOf(stmt.target).update(body, stmt, offset, value);
      case "sorted": {
        const slot = this.slotOf(stmt.target);
        return this.contribute(body, stmt, value, slot, `${slot}++`);
      }
      case "serial":
        return this.foldInto(body, target.op, type, place, value, stmt);
      default:
        return unreachable(code);
    }
  }

  /** An expression that folds into memory atomically. */
  atomic(target: ScatterParam, space: Space, pointer: string, value: string): string {
    const { name, definition, helper } = this.dialect.atomic(target.op, target.element, space);
    if (helper) this.program.helpers.use(helper);
    if (definition) this.program.definitions.add(definition);
    return `${name}(${pointer}, ${value})`;
  }

  /** Position of a scattered element in row-major order of its target. */
  private rowMajor(body: BodyWriter, stmt: StmtOf<"scatter">): string {
    return stmt.indices
      .map((index) => body.address(index))
      .reduce((sum, index, axis) => (axis === 0 ? index : `${closed(sum)} * ${this.extent(stmt.target, axis)} + ${closed(index)}`), "");
  }

  /** The offset of element `position`, a row-major position. Declares what it needs. */
  offsetOf(view: string, position: string): string {
    const strides = this.strides(view);
    if (strides.length === 1) return strides[0] === "1" ? position : `(${this.T.index})${position} * ${strides[0]}`;
    const rest = this.names.fresh("rest");
    const offset = this.names.fresh("offset");
    this.code.line(`unsigned int ${rest} = ${position};`);
    this.code.line(`${this.T.index} ${offset} = 0;`);
    for (const axis of this.axes(view).reverse()) {
      const extent = this.extent(view, axis);
      const by = strides[axis] === "1" ? "" : ` * ${strides[axis]}`;
      if (axis === 0) this.code.line(`${offset} += (${this.T.index})${rest}${by};`);
      else {
        this.code.line(`${offset} += (${this.T.index})(${rest} % ${extent})${by};`);
        this.code.line(`${rest} /= ${extent};`);
      }
    }
    return offset;
  }

  protected copyOf(_target: string): string {
    throw new Error(`${this.name} has no shared copies`);
  }

  protected cacheOf(_target: string): TargetCache {
    throw new Error(`${this.name} has no scatter caches`);
  }

  /** The variable with the next slot of a sorted scatter. */
  protected slotOf(_target: string): string {
    throw new Error(`${this.name} writes no contributions`);
  }

  /** Writes where a contribution goes, and the contribution; `last` is the slot's last mention. */
  protected contribute(body: BodyWriter, stmt: StmtOf<"scatter">, value: string, slot: string, last = slot): void {
    const { target } = stmt;
    const { element } = this.program.array(target);
    const keys = this.pointerParam({ kind: "keys", name: target }, `${target}_keys`, "u32", { restrict: true });
    const values = this.pointerParam({ kind: "values", name: target }, `${target}_values`, element, { restrict: true });
    body.code.line(`${keys}[${slot}] = ${this.rowMajor(body, stmt)};`);
    body.line(stmt, `${values}[${last}] = ${value};`);
  }

  /** Slots of one element or team. */
  protected slotCount(target: string): string {
    return this.param({ kind: "slots", name: target }, "u32", `${target}_slots`);
  }

  abstract reduce(body: BodyWriter, stmt: StmtOf<"reduce">, value: string): void;

  teamFor(_body: BodyWriter, _stmt: StmtOf<"teamFor">): void {
    throw new Error(`kernel "${this.ir.name}" is not a team kernel`);
  }
  teamReduce(_body: BodyWriter, _stmt: StmtOf<"teamReduce">): void {
    throw new Error(`kernel "${this.ir.name}" is not a team kernel`);
  }
  single(_body: BodyWriter, _stmt: StmtOf<"single">): void {
    throw new Error(`kernel "${this.ir.name}" is not a team kernel`);
  }

  /** A constant of `type`. */
  constant(type: NumericType, value: number): string {
    return this.body.value({ op: "const", type, value });
  }

  /** `into = into op value`, with `value` evaluated once; `stmt` is what the line comes from. */
  foldInto(body: BodyWriter, op: ReduceParam | "sum" | "min" | "max", type: NumericType, into: string, value: string, stmt?: Stmt): void {
    const line = (text: string) => (stmt ? body.line(stmt, text) : void body.code.line(text));
    const operation = typeof op === "string" ? op : op.op === "custom" ? op.combine! : op.op;
    if (operation === "sum" && (type === "f64" || type === "f32" || type === "u32")) line(`${into} += ${value};`);
    else if (operation === "min" || operation === "max" || /^\w+$/.test(value))
      line(`${into} = ${body.fold(operation, type, into, value)};`);
    else
      body.code.block("", () => {
        const added = this.names.fresh("value");
        line(`const ${this.T[type]} ${added} = ${value};`);
        body.code.line(`${into} = ${body.fold(operation, type, into, added)};`);
      });
  }

  /** Numbers of such blocks to try, where they may matter. */
  protected residents(always: boolean): Tunables {
    return this.dialect.holdsResidents && (always || turnsOf(this.ir.body).loads >= MANY_LOADS.loads) ? { resident: RESIDENTS } : {};
  }

  /** Blocks that a multiprocessor is to hold at least: as tuned, as many as leave registers for many loads, or `byDefault`. */
  protected resident(threads: number, byDefault?: number): number | undefined {
    const { tuning } = this.program.assumptions;
    if (tuning?.resident !== undefined || byDefault !== undefined) return tuning?.resident ?? byDefault;
    const { loads, kept } = turnsOf(this.ir.body);
    if (loads < MANY_LOADS.loads || kept > MANY_LOADS.kept) return undefined;
    return Math.max(1, Math.floor(MANY_LOADS.threads / threads));
  }

  /** The finished function and its signature. */
  protected finish(most: number, block?: BlockShape, resident?: number): { entry: Entry; text: string } {
    const used = [...this.params.values()];
    const params = used.map(({ slot, type, element }): KernelParam =>
      slot === undefined || type === "shared" ? { type: "shared" } : { slot, type, element },
    );
    const spelled = used.map((param) => this.dialect.parameter(param, (wish) => this.names.fresh(wish)));
    const declarations = spelled.flatMap((param) => param.declarations);
    const head = new Code();
    head.line(`${this.dialect.entry(this.name, most, block, resident)}(`);
    head.indented(() => wrap(declarations, 120).forEach((line) => head.line(line)));
    head.block(")", () => {
      for (const line of [...this.sharedArrays, ...spelled.flatMap(({ opening }) => opening)]) head.line(line);
      const early = this.early.toString().trimEnd();
      if (early !== "") head.text(early);
      if (this.dialect.startNext && this.startsNext) head.line(this.dialect.startNext);
      if (this.dialect.opening) head.line(this.dialect.opening);
      head.text(this.code.toString().trimEnd());
    });
    return { entry: { name: this.name, params, waits: this.dialect.opening !== undefined }, text: head.toString() };
  }
}

const closed = (text: string): string => (/^\w+$/.test(text) ? text : `(${text})`);

/** Joined by commas into lines of at most `width` characters. */
function wrap(items: readonly string[], width: number): string[] {
  const lines: string[] = [];
  items.forEach((item, n) => {
    const text = item + (n < items.length - 1 ? "," : "");
    const last = lines.at(-1);
    if (last !== undefined && last.length + 1 + text.length <= width) lines[lines.length - 1] = `${last} ${text}`;
    else lines.push(text);
  });
  return lines;
}
