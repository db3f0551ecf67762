import type { ElementType, KernelIR, NumericType, ReduceParam, ScatterParam, Stmt, ViewParam } from "../../../ir/types.js";
import type { AccessAnalysis } from "../../../ir/access.js";
import { BodyWriter } from "../body.js";
import { Code } from "../code.js";
import type { Dialect, Frame } from "../dialect.js";
import { Helpers } from "../helpers.js";
import { Names } from "../names.js";
import { readAfterWrite } from "./coherence.js";
import { atomicCall, atomicDefinition, cudaDialect } from "./dialect.js";
import type { CudaAssumptions, Entry, KernelParam, ParamType, ScatterCode } from "./program.js";

export type StmtOf<K extends Stmt["kind"]> = Extract<Stmt, { kind: K }>;

/** Threads of a block that works on chunks or partials, and the most that a block of a range has. */
export const BLOCK = 256;

/** A C identifier for a kernel's name, apart from the library's functions. */
export function entryName(kernel: string): string {
  return `${kernel.replace(/\W/g, "_").replace(/^(?=\d)/, "k")}_kernel`;
}

/** What the entries of one program share: the kernel, its assumptions, helper functions. */
export class ProgramWriter {
  readonly dialect: Dialect;
  readonly helpers: Helpers;
  readonly definitions = new Set<string>();
  /** Element types of views that are read after they were written. */
  readonly readAfterWrite: ReadonlySet<ElementType>;

  constructor(
    readonly ir: KernelIR,
    readonly access: AccessAnalysis,
    readonly assumptions: CudaAssumptions,
  ) {
    this.readAfterWrite = new Set([...readAfterWrite(ir)].map((name) => this.array(name).element));
    this.dialect = cudaDialect(assumptions.wide);
    this.helpers = new Helpers(this.dialect);
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

  /** One thread runs it all. */
  get serial(): boolean {
    return this.scatters("serial").length > 0;
  }
}

/** Writes one `__global__` function: collects the parameters that its code mentions, and frames the kernel's body. */
export abstract class EntryWriter implements Frame {
  readonly code = new Code();
  readonly names: Names;
  readonly body: BodyWriter;
  private readonly params = new Map<string, { type: ParamType; declaration: string; identifier: string }>();

  /** `withBody`: the function has the kernel's scalars and arrays as parameters. */
  constructor(
    readonly program: ProgramWriter,
    readonly name: string,
    withBody: boolean,
  ) {
    this.names = new Names([...program.dialect.reserved, name]);
    this.body = new BodyWriter(this.code, program.ir, program.dialect, this, this.names, program.helpers);
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

  get ir(): KernelIR {
    return this.program.ir;
  }
  /** Spellings of the types. */
  get T(): Dialect["types"] {
    return this.program.dialect.types;
  }

  /** The identifier of the parameter with this key; it joins the signature on first use. */
  param(key: string, type: ParamType, wish: string, declaration?: string): string {
    let known = this.params.get(key);
    if (!known) {
      const identifier = this.names.fresh(wish);
      known = { type, identifier, declaration: `${declaration ?? `const ${C_TYPES[type]} `}${identifier}` };
      this.params.set(key, known);
    }
    return known.identifier;
  }

  /** A parameter of the `index` type. */
  indexParam(key: string, wish: string): string {
    return this.param(key, this.program.assumptions.wide ? "i64" : "i32", wish);
  }

  private scalar(name: string): string {
    const param = this.ir.params.find((p) => p.name === name);
    if (param?.kind !== "scalar") throw new Error(`kernel "${this.ir.name}" has no scalar "${name}"`);
    const identifier = this.names.of("param", name);
    if (!this.params.has(`scalar:${name}`))
      this.params.set(`scalar:${name}`, { type: param.type, identifier, declaration: `const ${this.T[param.type]} ${identifier}` });
    return identifier;
  }

  pointer(view: string): string {
    const key = `view:${view}`;
    const identifier = this.names.of("view", view);
    if (!this.params.has(key)) {
      const { kind, element } = this.program.array(view);
      const written = kind === "scatter" || this.program.access.views[view]?.written;
      const stale = !written && this.program.readAfterWrite.has(element);
      const restrict = this.program.assumptions.restrict && !stale ? "__restrict__ " : "";
      this.params.set(key, {
        type: "pointer",
        identifier,
        declaration: `${written ? "" : "const "}${this.T[element]} *${restrict}${identifier}`,
      });
    }
    return identifier;
  }

  strides(view: string): readonly string[] {
    const units = this.program.assumptions.unitStrides[view];
    return this.axes(view).map((axis) => (units?.[axis] ? "1" : this.indexParam(`stride:${view}:${axis}`, `${view}_stride${axis}`)));
  }

  extent(view: string, axis: number): string {
    return this.param(`extent:${view}:${axis}`, "i32", `${view}_extent${axis}`);
  }

  axes(view: string): number[] {
    return [...Array(this.program.array(view).rank).keys()];
  }

  teamSize(): string {
    return "1";
  }

  scatter(body: BodyWriter, stmt: StmtOf<"scatter">, offset: string, value: string): void {
    const target = this.program.array(stmt.target) as ScatterParam;
    const place = `${this.pointer(stmt.target)}[${offset}]`;
    const type = target.element;
    switch (this.program.scatterCode(stmt.target)) {
      case "atomic":
        return void body.code.line(`${this.atomic(target, `&${place}`, value)};`);
      case "shared":
        return void body.code.line(`${this.atomic(target, `&${this.copyOf(stmt.target)}[${this.rowMajor(body, stmt)}]`, value)};`);
      case "recorded": {
        const slot = this.slotOf(stmt.target);
        return this.record(body, stmt, value, slot, `${slot}++`);
      }
      case "serial":
        return this.foldInto(body, target.op, type, place, value);
    }
  }

  /** An expression that folds into memory atomically. */
  atomic(target: ScatterParam, pointer: string, value: string): string {
    if (target.op !== "sum" && (target.element === "f64" || target.element === "f32")) {
      this.program.helpers.use(`${target.op}_${target.element}`);
      this.program.definitions.add(atomicDefinition(target.op, target.element));
    }
    return atomicCall(target.op, target.element, pointer, value);
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

  /** The variable with the next slot of a recorded scatter. */
  protected slotOf(_target: string): string {
    throw new Error(`${this.name} records no contributions`);
  }

  /** Writes where a contribution goes, and the contribution; `last` is the slot's last mention. */
  protected record(body: BodyWriter, stmt: StmtOf<"scatter">, value: string, slot: string, last = slot): void {
    const { target } = stmt;
    const type = this.T[this.program.array(target).element];
    const keys = this.param(`keys:${target}`, "pointer", `${target}_keys`, "unsigned int *__restrict__ ");
    const values = this.param(`values:${target}`, "pointer", `${target}_values`, `${type} *__restrict__ `);
    body.code.line(`${keys}[${slot}] = ${this.rowMajor(body, stmt)};`);
    body.code.line(`${values}[${last}] = ${value};`);
  }

  /** Slots of one element or team. */
  protected slotCount(target: string): string {
    return this.param(`slots:${target}`, "u32", `${target}_slots`);
  }

  abstract reduce(body: BodyWriter, stmt: StmtOf<"reduce">, value: string): void;

  teamFor(_body: BodyWriter, _stmt: StmtOf<"teamFor">): void {
    throw new Error(`kernel "${this.ir.name}" is no team kernel`);
  }
  teamReduce(_body: BodyWriter, _stmt: StmtOf<"teamReduce">): void {
    throw new Error(`kernel "${this.ir.name}" is no team kernel`);
  }
  single(_body: BodyWriter, _stmt: StmtOf<"single">): void {
    throw new Error(`kernel "${this.ir.name}" is no team kernel`);
  }

  /** A constant of `type`. */
  constant(type: NumericType, value: number): string {
    return this.body.value({ op: "const", type, value });
  }

  /** `into = into op value`, with `value` evaluated once. */
  foldInto(body: BodyWriter, op: ReduceParam | "sum" | "min" | "max", type: NumericType, into: string, value: string): void {
    const operation = typeof op === "string" ? op : op.op === "custom" ? op.combine! : op.op;
    if (operation === "sum" && (type === "f64" || type === "f32" || type === "u32")) body.code.line(`${into} += ${value};`);
    else if (operation === "min" || operation === "max") body.code.line(`${into} = ${body.fold(operation, type, into, value)};`);
    else if (/^\w+$/.test(value)) body.code.line(`${into} = ${body.fold(operation, type, into, value)};`);
    else
      body.code.block("", () => {
        const added = this.names.fresh("value");
        body.code.line(`const ${this.T[type]} ${added} = ${value};`);
        body.code.line(`${into} = ${body.fold(operation, type, into, added)};`);
      });
  }

  /** The finished function and its signature. */
  protected finish(bounds: number): { entry: Entry; text: string } {
    const used = [...this.params];
    const params: KernelParam[] = used.map(([key, { type }]) => ({ key, type }));
    const declarations = used.map(([, { declaration }]) => declaration);
    const head = new Code();
    head.line(`extern "C" __global__ void __launch_bounds__(${bounds}) ${this.name}(`);
    head.indented(() => wrap(declarations, 120).forEach((line) => head.line(line)));
    head.block(")", () => head.text(this.code.toString().trimEnd()));
    return { entry: { name: this.name, params }, text: head.toString() };
  }
}

const closed = (text: string): string => (/^\w+$/.test(text) ? text : `(${text})`);

const C_TYPES: Record<ParamType, string> = {
  pointer: "void *",
  f64: "double",
  f32: "float",
  i32: "int",
  u32: "unsigned int",
  i64: "long long",
  bool: "bool",
};

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
