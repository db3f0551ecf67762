import { unreachable } from "../../base/unreachable.js";
import type { ScatterStrategy } from "../../ir/launch.js";
import { lastOf } from "../../ir/loop-stops.js";
import { PRINT_LIMIT, recordOf } from "../../ir/print-records.js";
import { recordedAxes } from "../../ir/passes/check-indices.js";
import { reachOf } from "../../ir/reach.js";
import { boundsText, declaredBounds } from "../../ir/declared-bounds.js";
import type { Checks, ElementType, Expr, Location, ScatterParam, Stmt } from "../../ir/types.js";
import { hasJump, sizeOf, walkStmts } from "../../ir/walk.js";
import { stringText } from "../text.js";
import { RowAddresses } from "./addresses.js";
import { ARRAY } from "./arrays.js";
import { emitExpr, P, type ExprScope } from "./expr.js";
import { loadedText, storedText } from "./half.js";
import { braced, indent, type Lines } from "./lines.js";
import { JsNames } from "./names.js";
import { combineText, FoldLanes, foldJointly, type Folded } from "./reduction.js";
import { atomicUpdate, cachedUpdate, fetchText, plainUpdate } from "./scatter.js";
import type { JsTarget } from "./target.js";
import { zeroText } from "./wide.js";

/** Bodies up to this many nodes are written out several times: copies keep lanes in variables and save loop overhead. */
const SMALL_BODY = 40;
/** Statements and expressions of one kernel; the loops around them are kernel.ts's. */
export class JsBody implements ExprScope {
  readonly names = new JsNames();
  /** Declarations that the code needs once, before the kernel's function: private arrays, lanes. */
  readonly declarations: Lines = [];
  private readonly addresses: RowAddresses;
  /** Targets of `reduce` statements at this point. */
  private readonly accumulators = new Map<string, { folded: Folded; variable: string }>();
  private readonly arrays = new Map<string, { place: string; length: number }>();
  private readonly assigned: ReadonlySet<string>;
  /** Variables of the element for indices that are checked. */
  private places: string[] = [];
  private location: Location;
  private readonly elements: ReadonlyMap<string, ElementType>;

  constructor(readonly target: JsTarget) {
    this.elements = new Map(target.ir.params.flatMap((param) => (param.kind === "view" ? [[param.name, param.element]] : [])));
    this.addresses = new RowAddresses(this);
    this.assigned = assignedOrUnset(target.ir.body);
    this.location = target.ir.location;
    for (const param of target.ir.params) this.names.of(param.name);
    for (const table of target.ir.tables) this.names.of(table.name);
  }

  /* Expressions. */

  local(name: string): string {
    const identifier = this.names.of(name);
    return this.target.checked && this.assigned.has(name) ? `$set(${identifier}, ${stringText(name)}, ${this.where()})` : identifier;
  }

  param(name: string): string {
    return this.names.of(name);
  }

  index(axis: number): string {
    return `$i${axis}`;
  }

  extent(view: string, axis: number): number | string {
    return this.target.views[view].shape[axis];
  }

  load(e: Extract<Expr, { op: "load" }>): string {
    const place = `${this.names.of(e.view)}[${this.viewOffset(e.view, e.indices, e.location)}]`;
    return loadedText(this.elements.get(e.view)!, place);
  }

  table(e: Extract<Expr, { op: "table" }>): string {
    const { shape } = this.target.ir.tables.find((t) => t.name === e.table)!;
    const strides = shape.map((_, axis) => shape.slice(axis + 1).reduce((a, b) => a * b, 1));
    return `${this.names.of(e.table)}[${this.offset(e.table, e.indices, shape, strides, e.location)}]`;
  }

  element(e: Extract<Expr, { op: "element" }>): string {
    return this.arrayElement(e.array, e.index, e.location);
  }

  checked({ index, extent, otherwise, site }: Extract<Expr, { op: "checked" }>): string {
    const text = this.expr(index);
    const place = /^[$\w]+$/.test(text) ? text : this.names.fresh("at");
    if (place !== text) this.places.push(place);
    const first = place === text ? place : `(${place} = ${text})`;
    const fault = `($failed === 0 && ($failed = ${site + 1}, $index = ${place}), ${otherwise})`;
    return `${first} >>> 0 < ${this.expr(extent, P.relation + 1)} ? ${place} : ${fault}`;
  }

  failed(): string {
    return "$failed > 0";
  }

  checkInteger(exact: string, e: Expr): string | undefined {
    if (!this.target.checked || ((e.op === "binary" || e.op === "unary") && e.wraps)) return undefined;
    return `$fits(${exact}, "${e.type}", ${this.where()})`;
  }

  expr(e: Expr, precedence = 0): string {
    return emitExpr(e, this, precedence);
  }

  /** Emits, and puts the parts of addresses that were taken out of the innermost loop before it. */
  withRows(emit: () => Lines): Lines {
    return this.addresses.withRows(emit);
  }

  private arrayElement(array: string, index: Expr, location?: Location): string {
    const { place, length } = this.arrays.get(array)!;
    return `${place}[${this.offset(array, [index], [length], [1], location)}]`;
  }

  protected viewOffset(name: string, indices: readonly Expr[], location?: Location): string {
    const { shape, strides } = this.target.views[name];
    return this.offset(name, indices, shape, strides, location);
  }

  /** JavaScript for the offset of an element of the view, table or array `name`. */
  protected offset(
    name: string,
    indices: readonly Expr[],
    shape: readonly number[],
    strides: readonly number[],
    location?: Location,
  ): string {
    if (!this.target.checked) return this.addresses.offset(indices, shape, strides);
    const where = this.where(location);
    const below = shape.includes(0) ? 0 : reachOf(shape, strides).below;
    const terms = indices.map((e, axis) => {
      const bounds = declaredBounds(this.target.ir, name, axis);
      const words = bounds ? `, ${this.expr(bounds.lower)}, ${stringText(boundsText(bounds) ?? "")}` : "";
      return `$at(${this.expr(e)}, ${shape[axis]}, ${stringText(name)}, ${bounds?.axis ?? axis}, ${where}${words}) * ${strides[axis]}`;
    });
    return [...(below > 0 ? [String(below)] : []), ...terms].join(" + ");
  }

  private where(location = this.location): string {
    return stringText(`${location.file}:${location.line}:${location.column}`);
  }

  /* Statements. */

  block(stmts: readonly Stmt[]): Lines {
    return stmts.flatMap((stmt) => this.stmt(stmt));
  }

  private stmt(s: Stmt): Lines {
    this.location = s.location;
    switch (s.kind) {
      case "let": {
        const name = this.names.of(s.name);
        if (!s.init) return [`let ${name}${this.target.checked ? "" : ` = ${zeroText(s.type)}`};`];
        return [`${this.assigned.has(s.name) ? "let" : "const"} ${name} = ${this.expr(s.init)};`];
      }
      case "assign":
        return [`${this.names.of(s.name)} = ${this.expr(s.value)};`];
      case "array":
        return this.array(s);
      case "setElement":
        return [`${this.arrayElement(s.array, s.index)} = ${this.expr(s.value)};`];
      case "store":
        return [`${this.names.of(s.view)}[${this.viewOffset(s.view, s.indices)}] = ${this.storedValue(s)};`];
      case "scatter":
        return [this.scatter(s)];
      case "atomic":
        return this.atomic(s);
      case "reduce": {
        const { folded, variable } = this.accumulators.get(s.target)!;
        return [`${variable} = ${combineText(this, folded, variable, this.expr(s.value, folded.op === "sum" ? P.add + 1 : 0))};`];
      }
      case "reduceJointly":
        return this.reduceJointly(s);
      case "print":
        return this.print(s);
      case "if":
        return this.ifElse(s);
      case "for":
        return this.counted(s);
      case "while":
        return this.loop(s);
      case "break":
        return ["break;"];
      case "continue":
        return ["continue;"];
      case "single":
        return ["{", ...indent(this.block(s.body)), "}"];
      case "teamFor": {
        const name = this.names.of(s.name);
        const count = this.names.fresh("count");
        return [
          `const ${count} = ${this.expr(s.count)};`,
          `for (let ${name} = 0; ${name} < ${count}; ${name}++) {`,
          ...indent(this.block(s.body)),
          "}",
        ];
      }
      case "teamReduce":
        return this.teamReduce(s);
      default:
        return unreachable(s);
    }
  }

  private teamReduce(s: Extract<Stmt, { kind: "teamReduce" }>): Lines {
    const count = this.names.fresh("count");
    const lanes = new FoldLanes(this, s.results, s.body, () => this.block(s.body));
    return [
      `const ${count} = ${this.expr(s.count)};`,
      ...lanes.start,
      ...lanes.loop(this.names.of(s.name), "0", count),
      ...s.results.map((r) => `const ${this.names.of(r.name)} = ${lanes.result(r)};`),
    ];
  }

  private reduceJointly(s: Extract<Stmt, { kind: "reduceJointly" }>): Lines {
    const parts = s.targets.map((target) => this.accumulators.get(target)!);
    const values = s.values.map((value) => ({ name: this.names.fresh("part"), text: this.expr(value) }));
    return braced("", [
      ...values.map(({ name, text }) => `const ${name} = ${text};`),
      ...foldJointly(
        this,
        parts.map(({ folded }) => folded),
        parts.map(({ variable }) => variable),
        values.map(({ name }) => name),
      ),
    ]);
  }

  private storedValue({ view, value }: Extract<Stmt, { kind: "store" }>): string {
    const element = this.elements.get(view)!;
    const text = storedText(element, this.expr(value));
    if (!this.target.checked || element !== "f16") return text;
    return `$finite(${this.expr(value)}, ${text}, ${stringText(view)}, ${this.where()})`;
  }

  private array(s: Extract<Stmt, { kind: "array" }>): Lines {
    const place = this.names.of(s.name);
    if (!this.arrays.has(s.name)) {
      this.arrays.set(s.name, { place, length: s.length });
      this.declarations.push(`const ${place} = new ${ARRAY[s.type]}(${s.length});`);
    }
    return s.space === "private" ? [`${place}.fill(${zeroText(s.type)});`] : [];
  }

  private scatter(s: Extract<Stmt, { kind: "scatter" }>): string {
    const param = this.target.ir.params.find((p): p is ScatterParam => p.kind === "scatter" && p.name === s.target)!;
    const name = this.names.of(s.target);
    const at = this.viewOffset(s.target, s.indices);
    const value = this.expr(s.value);
    const update = UPDATES[this.target.scatter[s.target].strategy] ?? plainUpdate;
    return update(param, name, at, value);
  }

  private atomic({ target, indices, fn, expected, value, result }: Extract<Stmt, { kind: "atomic" }>): Lines {
    const operands = [expected, value].flatMap((operand) => (operand ? [this.expr(operand)] : []));
    const old = fetchText(fn, this.names.of(target), this.viewOffset(target, indices), operands);
    return [result === undefined ? `${old};` : `const ${this.names.of(result)} = ${old};`];
  }

  /** Records a line where the kernel does that, or prints it. */
  private print(s: Extract<Stmt, { kind: "print" }>): Lines {
    const { ir } = this.target;
    if (!ir.prints)
      return [`console.log(${s.items.map((item) => (typeof item === "string" ? stringText(item) : this.expr(item))).join(", ")});`];
    const [records, line] = [recordOf(ir, s), this.names.fresh("line")];
    const values = records.map(() => this.names.fresh("printed"));
    return [
      ...records.map(({ value }, n) => `const ${values[n]} = ${this.expr(value)};`),
      `const ${line} = Atomics.add(${this.names.of(ir.prints.count)}, 0, 1) >>> 0;`,
      `if (${line} < ${PRINT_LIMIT}) {`,
      ...indent(records.map(({ view, width, at }, n) => `${this.names.of(view)}[${line} * ${width} + ${at}] = ${values[n]};`)),
      "}",
    ];
  }

  private ifElse(s: Extract<Stmt, { kind: "if" }>): Lines {
    const lines = [`if (${this.expr(s.cond)}) {`, ...indent(this.block(s.then))];
    if (s.else.length === 0) return [...lines, "}"];
    const rest = this.block(s.else);
    return s.else.length === 1 && s.else[0].kind === "if"
      ? [...lines, `} else ${rest[0]}`, ...rest.slice(1)]
      : [...lines, "} else {", ...indent(rest), "}"];
  }

  private counted(s: Extract<Stmt, { kind: "for" }>): Lines {
    const name = this.names.of(s.name);
    const simple = s.stop.op === "const" || s.stop.op === "local" || s.stop.op === "param" || s.stop.op === "extent";
    const last = lastOf(s.stop);
    const stop = simple ? this.expr(s.stop) : this.names.fresh("stop");
    // JavaScript's numbers hold what is one beyond an i32.
    const value = last ? `${this.expr(last, P.add)} ${s.step > 0 ? "+" : "-"} 1` : this.expr(s.stop);
    const step = s.step === 1 ? `${name}++` : s.step === -1 ? `${name}--` : s.step > 0 ? `${name} += ${s.step}` : `${name} -= ${-s.step}`;
    return [
      ...(simple ? [] : [`const ${stop} = ${value};`]),
      `for (let ${name} = ${this.expr(s.start)}; ${name} ${s.step > 0 ? "<" : ">"} ${stop}; ${step}) {`,
      ...indent(this.block(s.body)),
      "}",
    ];
  }

  private loop(s: Extract<Stmt, { kind: "while" }>): Lines {
    const condition = this.expr(s.cond);
    const update = this.block(s.update);
    const body = this.block(s.body);
    if (update.length === 0) return [`while (${condition}) {`, ...indent(body), "}"];
    if (s.update.every((u) => u.kind === "assign"))
      return [`for (; ${condition}; ${update.map((line) => line.replace(/;$/, "")).join(", ")}) {`, ...indent(body), "}"];
    if (!hasJump(s.body)) return [`while (${condition}) {`, ...indent([...body, ...update]), "}"];
    const first = this.names.fresh("first");
    return [
      `for (let ${first} = true; ; ${first} = false) {`,
      ...indent([`if (!${first}) {`, ...indent(update), "}", `if (!(${condition})) break;`, ...body]),
      "}",
    ];
  }

  /* Reductions. */

  foldName(folded: Folded): string {
    return `$fold_${this.names.of(folded.name)}`;
  }

  /** Makes `reduce` statements emitted by `emit` fold into the places of the results. */
  withAccumulators<T>(results: readonly Folded[], variableOf: (r: Folded) => string, emit: () => T): T {
    for (const folded of results) this.accumulators.set(folded.name, { folded, variable: variableOf(folded) });
    const emitted = emit();
    for (const folded of results) this.accumulators.delete(folded.name);
    return emitted;
  }

  /** Code for one element of a range, or one team. */
  elementBody(): Lines {
    const { ir, policy, checked } = this.target;
    if (ir.checks) return this.noting(ir.checks);
    if (!checked || policy.kind === "team") return this.block(ir.body);
    return [`$element = [${policy.extents.map((_, axis) => this.index(axis)).join(", ")}];`, ...this.block(ir.body)];
  }

  /** The statements with what notes the element's first failure. */
  private noting({ record }: Checks): Lines {
    const { ir } = this.target;
    this.places = [];
    const lines = this.block(ir.body);
    const element = recordedAxes(ir)
      .map((axis) => this.index(axis))
      .join(", ");
    return [
      `let ${["$failed = 0, $index = 0", ...this.places].join(", ")};`,
      ...lines,
      `if ($failed !== 0) noteFault(${this.names.of(record)}, $failed - 1, $index, ${element});`,
    ];
  }

  /** True if a loop's body is small enough to be written out several times. */
  unrolls(body: readonly Stmt[], copies = 1): boolean {
    return !this.target.checked && sizeOf(body) * copies <= SMALL_BODY && !containsLoop(body);
  }

  /** A loop over the innermost index of a range, unrolled where the body is small. */
  innerLoop(index: string, first: string, end: string): Lines {
    const code = this.elementBody();
    if (!this.unrolls(this.target.ir.body)) return [`for (let ${index} = ${first}; ${index} < ${end}; ${index}++) {`, ...indent(code), "}"];
    const copies = [0, 1, 2, 3];
    return [
      `let $n = ${first};`,
      `for (const $last = ${end} - ${copies.length - 1}; $n < $last; $n += ${copies.length}) {`,
      ...indent(copies.flatMap((k) => braced("", [`const ${index} = ${k === 0 ? "$n" : `$n + ${k} | 0`};`, ...code]))),
      "}",
      ...braced(`for (; $n < ${end}; $n++) `, [`const ${index} = $n;`, ...code]),
    ];
  }
}

const UPDATES: Readonly<Partial<Record<ScatterStrategy, typeof plainUpdate>>> = { atomic: atomicUpdate, cached: cachedUpdate };

const containsLoop = (body: readonly Stmt[]): boolean => {
  let found = false;
  walkStmts(body, (s) => (found ||= s.kind === "for" || s.kind === "while" || s.kind === "teamReduce" || s.kind === "teamFor"));
  return found;
};

/** Locals that some statement assigns, or that start without a value. */
function assignedOrUnset(body: readonly Stmt[]): Set<string> {
  const names = new Set<string>();
  walkStmts(body, (s) => {
    if (s.kind === "assign" || (s.kind === "let" && !s.init)) names.add(s.name);
  });
  return names;
}
