import { unreachable } from "../../base/unreachable.js";
import { isDouble, isInteger, isWide } from "../../ir/scalars.js";
import type { AccessAnalysis } from "../../ir/analysis/access.js";
import type {
  ElementType,
  KernelIR,
  NumericType,
  ReduceParam,
  ScalarType,
  ScatterOp,
  ScatterParam,
  Stmt,
  ViewParam,
  TeamResult,
} from "../../ir/types.js";
import { EmitError } from "../../base/errors.js";
import { NO_PRINT, PRINT_LIMIT, recordOf } from "../../ir/print-records.js";
import { Code } from "../c/code.js";
import { Names } from "../../base/names.js";
import { WgslBodyWriter, closed, wgslTable } from "./body.js";
import { noteFailure } from "./faults.js";
import type { ShaderFrame, WgslStmtOf } from "./frame.js";
import { WgslHelpers } from "./helpers.js";
import { Accessors, declaredType } from "./memory.js";
import { slotText, type WgslSlot } from "../../schedule/slots.js";
import {
  SHADER_INPUTS,
  groupOf,
  TEMPORARY,
  WGSL_TYPES,
  viewPlace,
  zeroVariable,
  type ShaderEntry,
  type EntryBuffer,
  type LaunchField,
  type BoundArray,
  type Representation,
  type ScatterCode,
  type WgslAssumptions,
} from "./shader-program.js";
import { originText } from "../text.js";

/** State shared by the entries of one program: the kernel and its assumptions. */
export class ProgramWriter {
  constructor(
    readonly ir: KernelIR,
    readonly access: AccessAnalysis,
    readonly assumptions: WgslAssumptions,
  ) {}

  get reduces(): ReduceParam[] {
    return this.ir.params.filter((p) => p.kind === "reduce");
  }

  arrays(): (ViewParam | ScatterParam)[] {
    return this.ir.params.filter((p) => p.kind === "view" || p.kind === "scatter");
  }

  array(name: string): ViewParam | ScatterParam {
    return this.arrays().find((p) => p.name === name)!;
  }

  scatters(code: ScatterCode): ScatterParam[] {
    return this.ir.params.filter((p): p is ScatterParam => p.kind === "scatter" && this.assumptions.scatter[p.name] === code);
  }

  /** One invocation runs it all. */
  get serial(): boolean {
    return this.scatters("serial").length > 0;
  }
}

/** Folds values before they go to a scatter target. */
interface TargetCache {
  update(body: WgslBodyWriter, stmt: WgslStmtOf<"scatter">, offset: string, value: string): void;
}

/** Writes one compute shader: collects the buffers and numbers that its code mentions, and frames the kernel's body. */
export abstract class EntryWriter implements ShaderFrame<WgslBodyWriter> {
  readonly code = new Code();
  readonly names = new Names();
  readonly helpers: WgslHelpers;
  readonly accessors: Accessors;
  readonly body: WgslBodyWriter;
  protected abstract readonly indexNames: readonly string[];
  private readonly fields = new Map<string, { slot: WgslSlot; name: string; type: ScalarType }>();
  private readonly buffers = new Map<number, { name: string; written: boolean }>();
  private readonly workgroup: string[] = [];
  private workgroupBytes = 0;
  /** The function that notes an index that is outside. */
  private noteName: string | undefined;

  constructor(
    readonly program: ProgramWriter,
    readonly name: string,
  ) {
    this.helpers = new WgslHelpers(program.assumptions);
    this.accessors = new Accessors(program.assumptions.strict);
    this.body = new WgslBodyWriter(
      this.code,
      program.ir,
      this,
      this.names,
      this.helpers,
      program.assumptions.strict,
      program.assumptions.sizes,
    );
  }

  get ir(): KernelIR {
    return this.program.ir;
  }

  /* The launch's numbers. */

  /** A number of the launch; it joins the block on first use, with a name like `wish`. */
  field(slot: WgslSlot, type: ScalarType = "i32", wish = slotText(slot)): string {
    const key = slotText(slot);
    let known = this.fields.get(key);
    if (!known) {
      known = { slot, name: "name" in slot ? this.names.fresh(wish) : wish.replace(":", "_"), type };
      this.fields.set(key, known);
    }
    return type === "bool" ? `(launch.${known.name} != 0u)` : `launch.${known.name}`;
  }

  scalar(name: string): string {
    const param = this.ir.params.find((p) => p.name === name);
    if (param?.kind !== "scalar") throw new Error(`kernel "${this.ir.name}" has no scalar "${name}"`);
    return this.field({ kind: "scalar", name }, param.type);
  }

  extent(view: string, axis: number): string {
    return this.field({ kind: "extent", name: view, axis });
  }

  strides(view: string): readonly string[] {
    const units = this.program.assumptions.unitStrides[view];
    return Array.from({ length: this.program.array(view).rank }, (_, axis) =>
      units?.[axis] ? "1" : this.field({ kind: "stride", name: view, axis }),
    );
  }

  base(view: string): string | undefined {
    return this.program.assumptions.atStart[view] ? undefined : this.field({ kind: "base", name: view });
  }

  /* Memory. */

  /** The variable of the buffer in which `place` lies, and how it is declared. */
  buffer(place: BoundArray, write: boolean): { name: string; representation: Representation } {
    const { groups, representations } = this.program.assumptions;
    const group = groupOf(groups, place)!;
    let known = this.buffers.get(group);
    if (!known) {
      const { views, outputs, temporary } = groups;
      const inside = [...Object.values(views), ...Object.values(outputs), temporary].filter((other) => other === group);
      const own = place.kind === "view" ? place.name : place.kind === "output" ? `output_${place.name}` : place.kind;
      const wish = inside.length === 1 ? own : "memory";
      known = { name: this.names.fresh(wish), written: false };
      this.buffers.set(group, known);
    }
    known.written ||= write;
    return { name: known.name, representation: representations[group] };
  }

  /** The element of type `type` at `offset` of a place. */
  read(place: BoundArray, type: ElementType, offset: string): string {
    const { name, representation } = this.buffer(place, representationIsAtomic(this.program.assumptions, place));
    return this.accessors.load(name, representation, type, offset);
  }

  /** A statement that stores there. */
  write(place: BoundArray, type: ElementType, offset: string, value: string): string {
    const { name, representation } = this.buffer(place, true);
    return this.accessors.store(name, representation, type, offset, value);
  }

  load(view: string, offset: string): string {
    return this.read(viewPlace(view), this.program.array(view).element, offset);
  }

  store(body: WgslBodyWriter, stmt: WgslStmtOf<"store">, offset: string, value: string): void {
    body.line(stmt, this.write(viewPlace(stmt.view), this.program.array(stmt.view).element, offset, value));
  }

  fetch({ target, fn, type }: WgslStmtOf<"atomic">, offset: string, operands: readonly string[]): string {
    const { name, representation } = this.buffer(viewPlace(target), true);
    return this.accessors.fetch(name, representation, type, fn, offset, operands);
  }

  setElement(body: WgslBodyWriter, stmt: WgslStmtOf<"setElement">, place: string, value: string): void {
    body.line(stmt, `${place} = ${value};`);
  }

  array(body: WgslBodyWriter, stmt: WgslStmtOf<"array">): void {
    body.line(stmt, zeroVariable(body.local(stmt.name), `array<${WGSL_TYPES[stmt.type]}, ${stmt.length}>`));
  }

  arrayName(body: WgslBodyWriter, name: string): string {
    return body.local(name);
  }

  /** A variable in the workgroup's memory. */
  shared(wish: string, type: string): string {
    return this.declareShared(this.names.fresh(wish), type);
  }

  protected declareShared(name: string, type: string): string {
    const [, element, length] = /^array<(.*), (\d+)>$/.exec(type) ?? [undefined, type, "1"];
    this.workgroupBytes += Number(length) * (element === WGSL_TYPES.f64 ? 8 : 4);
    this.workgroup.push(`var<workgroup> ${name}: ${type};`);
    return name;
  }

  /* Indices that are outside. */

  fault(_body: WgslBodyWriter, _site: number, _at: string): void {
    throw new Error(`${this.name} checks no indices`);
  }

  failed(): string {
    throw new Error(`${this.name} checks no indices`);
  }

  /** A statement that notes a failure in the record; `element` are terms. */
  protected noteFailure(site: string, index: string, element: readonly string[]): string {
    const { record } = this.ir.checks!;
    const { name, representation } = this.buffer(viewPlace(record), true);
    this.noteName ??= this.names.fresh("note_failure");
    this.accessors.define(this.noteName, noteFailure(this.noteName, name, representation, this.base(record) ?? "0"));
    return `${this.noteName}(${[site, index, ...[...element, "0", "0", "0"].slice(0, 4)].join(", ")});`;
  }

  /** See `recordPrints`. Throws EmitError if the kernel keeps no records: the language itself cannot print. */
  print(body: WgslBodyWriter, stmt: WgslStmtOf<"print">): void {
    const { prints, name } = this.ir;
    if (!prints) throw new EmitError(name, "WGSL", ...NO_PRINT);
    const { code } = body;
    code.block("", () => {
      const records = recordOf(this.ir, stmt).map((record) => {
        const value = this.names.fresh("printed");
        code.line(`let ${value} = ${body.value(record.value)};`);
        return { ...record, value };
      });
      const line = this.names.fresh("line");
      const { name: counter } = this.buffer(viewPlace(prints.count), true);
      body.line(stmt, `let ${line} = bitcast<u32>(atomicAdd(&${counter}[${this.base(prints.count) ?? 0}], 1));`);
      code.block(`if ${line} < ${PRINT_LIMIT}u`, () => {
        for (const { view, type, width, at, value } of records) {
          const base = this.base(view);
          const offset = `${base === undefined ? "" : `${base} + `}i32(${line}) * ${width} + ${at}`;
          code.line(this.write(viewPlace(view), type, offset, value));
        }
      });
    });
  }

  /* Statements that depend on the policy. */

  index(axis: number): string {
    return this.indexNames[axis];
  }

  teamSize(): string {
    return "1";
  }

  uniform(_body: WgslBodyWriter, _stmt: Stmt, _type: "bool" | "i32", value: string): string {
    return value;
  }

  scatter(body: WgslBodyWriter, stmt: WgslStmtOf<"scatter">, offset: string, value: string): void {
    const target = this.program.array(stmt.target) as ScatterParam;
    const code = this.program.assumptions.scatter[stmt.target];
    switch (code) {
      case "atomic": {
        const { name, representation } = this.buffer(viewPlace(stmt.target), true);
        return body.line(stmt, this.atomic(name, representation, target.op, target.element, offset, value));
      }
      case "shared":
        return body.line(stmt, this.atomicCopy(target, this.rowMajor(body, stmt), value));
      case "cached":
        return this.cacheOf(stmt.target).update(body, stmt, offset, value);
      case "sorted": {
        const slot = this.slotOf(stmt.target);
        this.contribute(body, stmt, value, slot);
        return void body.code.line(`${slot} += 1;`);
      }
      case "serial": {
        const at = this.names.fresh("at");
        return void body.code.block("", () => {
          body.line(stmt, `let ${at} = ${offset};`);
          const sum = body.fold(target.op, target.element, this.read(viewPlace(target.name), target.element, at), value);
          body.code.line(this.write(viewPlace(target.name), target.element, at, sum));
        });
      }
      default:
        return unreachable(code);
    }
  }

  /** A statement that folds `value` into an element, whatever other invocations do there. */
  atomic(buffer: string, representation: Representation, op: ScatterOp, type: NumericType, offset: string, value: string): string {
    if (isDouble(type)) return this.atomicSum(buffer, offset, value);
    if (isWide(type)) throw new Error(`an atomic ${op} of ${type}`);
    const word = representation === "atomic_i32" ? "i32" : "u32";
    const fits = type === word;
    if (op === "sum" && isInteger(type)) return `atomicAdd(&${buffer}[${offset}], ${fits ? value : `bitcast<${word}>(${value})`});`;
    if (fits) return `atomic${op === "min" ? "Min" : "Max"}(&${buffer}[${offset}], ${value});`;
    const name = `${buffer}_fold_${op}`;
    const folded = this.body.fold(op, type, `bitcast<${WGSL_TYPES[type]}>(seen)`, "value");
    this.accessors.define(
      name,
      [
        `fn ${name}(i: i32, value: ${WGSL_TYPES[type]}) {`,
        `  var seen = atomicLoad(&${buffer}[i]);`,
        ...exchange(`${buffer}[i]`, "wanted", `let wanted = bitcast<${word}>(${folded});`, "if wanted == seen { break; }"),
        `}`,
      ].join("\n"),
    );
    return `${name}(${offset}, ${value});`;
  }

  /**
   * Adds an emulated f64 to two words that others change meanwhile: the upper parts by compare and exchange, with the error of that sum
   * known exactly and added to the lower parts. What comes of it is renormalised afterwards, as the lower part may have grown.
   */
  private atomicSum(buffer: string, offset: string, value: string): string {
    const name = `${buffer}_add`;
    for (const helper of ["exact_sum", "is_finite"] as const) this.helpers.use(helper);
    this.accessors.define(
      name,
      [
        `fn ${name}(i: i32, value: vec2<f32>) {`,
        `  var sum = vec2<f32>();`,
        `  var seen = atomicLoad(&${buffer}[2 * i]);`,
        ...exchange(`${buffer}[2 * i]`, "bitcast<u32>(sum.x)", "sum = exact_sum(bitcast<f32>(seen), value.x);"),
        `  let rest = select(0.0, sum.y + value.y, is_finite(sum.x));`,
        `  seen = atomicLoad(&${buffer}[2 * i + 1]);`,
        ...exchange(`${buffer}[2 * i + 1]`, "bitcast<u32>(bitcast<f32>(seen) + rest)"),
        `}`,
      ].join("\n"),
    );
    return `${name}(${offset}, ${value});`;
  }

  protected atomicCopy(_target: ScatterParam, _position: string, _value: string): string {
    throw new Error(`${this.name} has no copies`);
  }

  protected cacheOf(_target: string): TargetCache {
    throw new Error(`${this.name} has no scatter caches`);
  }

  /** The variable with the next slot of a sorted scatter. */
  protected slotOf(_target: string): string {
    throw new Error(`${this.name} writes no contributions`);
  }

  /** Writes the target of a contribution, one above its position so that zero means no target, and the contribution. */
  protected contribute(body: WgslBodyWriter, stmt: WgslStmtOf<"scatter">, value: string, slot: string): void {
    const { target } = stmt;
    const { element } = this.program.array(target);
    body.line(
      stmt,
      this.write(TEMPORARY, "u32", `${this.field({ kind: "keys", name: target })} + ${slot}`, `u32(${this.rowMajor(body, stmt)}) + 1u`),
    );
    body.code.line(this.write(TEMPORARY, element, `${this.field({ kind: "values", name: target })} + ${slot}`, value));
  }

  /** Position of a scattered element in row-major order of its target. */
  protected rowMajor(body: WgslBodyWriter, stmt: WgslStmtOf<"scatter">): string {
    return stmt.indices
      .map((index) => body.value(index))
      .reduce((sum, index, axis) => (axis === 0 ? index : `(${sum}) * ${this.extent(stmt.target, axis)} + ${closed(index)}`));
  }

  /** The offset of the element at a row-major `position`, an i32 term; declares what it needs. */
  protected offsetOf(view: string, position: string): string {
    const strides = this.strides(view);
    const base = this.base(view);
    const start = base === undefined ? "" : `${base} + `;
    if (strides.length === 1) return strides[0] === "1" ? `${start}${position}` : `${start}${position} * ${strides[0]}`;
    const [rest, offset] = [this.names.fresh("rest"), this.names.fresh("offset")];
    this.code.line(`var ${rest} = ${position};`);
    this.code.line(`var ${offset} = ${base ?? "0"};`);
    for (let axis = strides.length - 1; axis >= 0; axis--) {
      const by = strides[axis] === "1" ? "" : ` * ${strides[axis]}`;
      if (axis === 0) this.code.line(`${offset} += ${rest}${by};`);
      else {
        this.code.line(`${offset} += (${rest} % ${this.extent(view, axis)})${by};`);
        this.code.line(`${rest} /= ${this.extent(view, axis)};`);
      }
    }
    return offset;
  }

  abstract reduce(body: WgslBodyWriter, stmt: WgslStmtOf<"reduce">, value: string): void;

  reduceJointly(_body: WgslBodyWriter, _stmt: WgslStmtOf<"reduceJointly">, _values: readonly string[]): void {
    throw new Error("only elements and teams reduce");
  }

  teamFor(_body: WgslBodyWriter, _stmt: WgslStmtOf<"teamFor">): void {
    throw new Error(`kernel "${this.ir.name}" is not a team kernel`);
  }
  teamReduce(_body: WgslBodyWriter, _stmt: WgslStmtOf<"teamReduce">): void {
    throw new Error(`kernel "${this.ir.name}" is not a team kernel`);
  }
  single(_body: WgslBodyWriter, _stmt: WgslStmtOf<"single">): void {
    throw new Error(`kernel "${this.ir.name}" is not a team kernel`);
  }

  /** A statement `into = into op value`. */
  foldInto(op: ReduceParam | TeamResult | ScatterOp, type: NumericType, into: string, value: string): string {
    const operation = typeof op === "string" ? op : op.op === "custom" ? (op as ReduceParam).combine! : (op.op as ScatterOp);
    return `${into} = ${this.body.fold(operation, type, into, value)};`;
  }

  /** Target of partial `n` of a reduction: a view, or memory of the launch. */
  protected writePartial({ name, type }: ReduceParam, n: string, value: string): string {
    const place: BoundArray = this.program.assumptions.partials ? { kind: "output", name } : TEMPORARY;
    return this.write(place, type, `${this.field({ kind: "partials", name })} + ${n}`, value);
  }

  /** The finished shader; `workgroup` are the invocations along x, y and z. */
  protected finish(workgroup: ShaderEntry["workgroup"]): ShaderEntry {
    const text = this.code.toString();
    const helpers = String(this.helpers);
    for (const { kind, type } of HIDDEN) if (this.helpers.needs(kind)) this.field({ kind }, type);
    const fields: LaunchField[] = [...this.fields.values()].map(({ slot, type }) => ({ slot, type }));
    const head = new Code();
    if (/\bsubgroup_(lane|number|count)\b/.test(text)) head.line("enable subgroups;").line("requires subgroup_id;");
    head.line(`// ${originText(this.ir)}.`);
    if (fields.length > 0) {
      head.block("struct Launch", () => {
        for (const { name, type } of this.fields.values()) head.line(`${name}: ${type === "bool" ? "u32" : WGSL_TYPES[type]},`);
      });
      head.line("@group(0) @binding(0) var<uniform> launch: Launch;");
    }
    const buffers: EntryBuffer[] = [...this.buffers].map(([group, { written }]) => ({ group, written }));
    [...this.buffers].forEach(([group, { name, written }], n) => {
      const type = declaredType(this.program.assumptions.representations[group]);
      head.line(`@group(0) @binding(${n + 1}) var<storage, ${written ? "read_write" : "read"}> ${name}: array<${type}>;`);
    });
    for (const line of this.workgroup) head.line(line);
    for (const table of this.ir.tables) {
      const name = this.names.of("table", table.name);
      if (new RegExp(`\\b${name}\\b`).test(text)) head.line(wgslTable(table, name, (type, value) => this.body.constant(type, value)));
    }
    const inputs = SHADER_INPUTS.filter(([, name]) => new RegExp(`\\b${name}\\b`).test(text)).map(
      ([builtin, name, type]) => `@builtin(${builtin}) ${name}: ${type}`,
    );
    const main = new Code();
    main.line(`@compute @workgroup_size(${workgroup.join(", ")})`);
    main.block(`fn main(${inputs.join(", ")})`, () => main.text(text.trimEnd()));
    const source = [head.toString(), helpers, String(this.accessors), main.toString()].filter((part) => part !== "").join("\n");
    return { name: this.name, source, fields, buffers, workgroup, workgroupBytes: this.workgroupBytes };
  }
}

/** Numbers of a launch that are always the same, but that no compiler knows. */
const HIDDEN = [
  { kind: "zero", type: "u32" },
  { kind: "one", type: "f32" },
] as const;

/** Lines that put bits that depend on those `seen` in their `place`, again where others came between; `first` goes before each attempt. */
const exchange = (place: string, bits: string, ...first: string[]): string[] => [
  "  loop {",
  ...first.map((line) => `    ${line}`),
  `    let found = atomicCompareExchangeWeak(&${place}, seen, ${bits});`,
  "    if found.exchanged { break; }",
  "    seen = found.old_value;",
  "  }",
];

/** Even a load of an atomic needs a buffer that can be written. */
const representationIsAtomic = ({ groups, representations }: WgslAssumptions, place: BoundArray): boolean =>
  representations[groupOf(groups, place)!].startsWith("atomic");
