import { affineOf, add, constant, definitionsOf, scale, split, substitute, type Affine, type Definitions } from "../../ir/affine.js";
import {
  REDUCTION_LANES,
  type Expr,
  type Location,
  type NumericType,
  type ReduceParam,
  type ScatterParam,
  type Stmt,
  type TeamResult,
} from "../../ir/types.js";
import { hasJump, sizeOf, walkStmts } from "../../ir/walk.js";
import { emitExpr, P, type ExprScope } from "./expr.js";
import { Names } from "./names.js";
import type { JsTarget } from "./target.js";

/** Lines of code, without their common indentation. */
export type Lines = string[];
export const indent = (lines: Lines): Lines => lines.map((line) => "  " + line);
/** `head { ... }`, on one line where it is short. */
const braced = (head: string, lines: Lines): Lines =>
  lines.length <= 2 && lines.join("").length < 100 ? [`${head}{ ${lines.join(" ")} }`] : [`${head}{`, ...indent(lines), "}"];

/** Bodies up to this many nodes are written out several times: copies keep lanes in variables and save loop overhead. */
const SMALL_BODY = 40;
/** Element offsets below it are computed with 32-bit integers. */
const NARROW = 2 ** 31;

/** A result being folded: a reduce parameter, or a result of a teamReduce. */
export type Folded = ReduceParam | TeamResult;

/** Statements and expressions of one kernel; the loops around them are kernel.ts's. */
export class Body implements ExprScope {
  readonly names = new Names();
  /** Declarations that the code needs once, before the kernel's function: private arrays, lanes. */
  readonly declarations: Lines = [];
  private readonly definitions: Definitions;
  /** Parts of addresses that stay the same in the innermost loop, by their text. */
  private rows = new Map<string, string>();
  /** Where `reduce` statements fold to at this point. */
  private readonly accumulators = new Map<string, { folded: Folded; place: string }>();
  private readonly arrays = new Map<string, { place: string; length: number }>();
  private readonly assigned: ReadonlySet<string>;
  private location: Location;

  constructor(readonly target: JsTarget) {
    this.definitions = definitionsOf(target.ir.body);
    this.assigned = assignedOrUnset(target.ir.body);
    this.location = target.ir.location;
    for (const param of target.ir.params) this.names.of(param.name);
    for (const table of target.ir.tables) this.names.of(table.name);
  }

  /* Expressions. */

  local(name: string): string {
    const identifier = this.names.of(name);
    return this.target.checked && this.assigned.has(name) ? `$set(${identifier}, "${name}", ${this.where()})` : identifier;
  }

  param(name: string): string {
    return this.names.of(name);
  }

  index(axis: number): string {
    return `$i${axis}`;
  }

  extent(view: string, axis: number): number {
    return this.target.views[view].shape[axis];
  }

  load(e: Extract<Expr, { op: "load" }>): string {
    return `${this.names.of(e.view)}[${this.viewOffset(e.view, e.indices, e.location)}]`;
  }

  table(e: Extract<Expr, { op: "table" }>): string {
    const { shape } = this.target.ir.tables.find((t) => t.name === e.table)!;
    const strides = shape.map((_, axis) => shape.slice(axis + 1).reduce((a, b) => a * b, 1));
    return `${this.names.of(e.table)}[${this.offset(e.table, e.indices, shape, strides)}]`;
  }

  element(e: Extract<Expr, { op: "element" }>): string {
    return this.arrayElement(e.array, e.index, e.location);
  }

  checkInteger(exact: string, e: Expr): string | undefined {
    if (!this.target.checked || ((e.op === "binary" || e.op === "unary") && e.wraps)) return undefined;
    return `$fits(${exact}, "${e.type}", ${this.where()})`;
  }

  expr(e: Expr, precedence = 0): string {
    return emitExpr(e, this, precedence);
  }

  private arrayElement(array: string, index: Expr, location?: Location): string {
    const { place, length } = this.arrays.get(array)!;
    return `${place}[${this.offset(array, [index], [length], [1], location)}]`;
  }

  private viewOffset(name: string, indices: readonly Expr[], location?: Location): string {
    const { shape, strides } = this.target.views[name];
    return this.offset(name, indices, shape, strides, location);
  }

  /** Offset of an element: what does not change in the innermost loop is taken out of it. */
  private offset(
    name: string,
    indices: readonly Expr[],
    shape: readonly number[],
    strides: readonly number[],
    location?: Location,
  ): string {
    const narrow = shape.reduce((span, extent, axis) => span + Math.max(0, extent - 1) * strides[axis], 1) < NARROW;
    if (this.target.checked) {
      const where = this.where(location);
      const parts = indices.map((e, axis) =>
        times(`$at(${this.expr(e)}, ${shape[axis]}, "${name}", ${axis}, ${where})`, strides[axis], false),
      );
      return parts.join(" + ");
    }
    let form = constant(0);
    const gathered: string[] = [];
    indices.forEach((e, axis) => {
      const index = affineOf(e, this.definitions);
      if (index) form = add(form, scale(index, strides[axis]));
      else gathered.push(times(this.expr(e, strides[axis] === 1 ? P.add + 1 : 0), strides[axis], narrow));
    });
    for (const atom of Object.keys(form.terms)) {
      const [kind, view, axis] = atom.split(":");
      if (kind === "extent") form = substitute(form, atom, constant(this.extent(view, Number(axis))));
      if (kind === "teamSize") form = substitute(form, atom, constant(1));
    }
    const innermost = this.target.policy.kind === "range" ? `index:${this.target.policy.extents.length - 1}` : "";
    const [outer, inner] = split(form, (atom) => !atom.startsWith("local:") && atom !== innermost);
    const parts = [...this.row(outer, narrow), ...this.terms(inner, narrow), ...gathered];
    if (parts.length === 0) return String(form.constant);
    if (form.constant === 0) return sum(parts, narrow);
    return `${sum(parts, false)} ${form.constant < 0 ? "-" : "+"} ${Math.abs(form.constant)}${narrow ? " | 0" : ""}`;
  }

  private row(outer: Affine, narrow: boolean): string[] {
    const terms = this.terms(outer, narrow);
    if (terms.length === 0) return [];
    const text = sum(terms, narrow);
    let name = this.rows.get(text);
    if (name === undefined) this.rows.set(text, (name = this.names.fresh("row")));
    return [name];
  }

  private terms(form: Affine, narrow: boolean): string[] {
    return Object.entries(form.terms).map(([atom, factor]) => {
      const [kind, name] = atom.split(":");
      return times(kind === "index" ? this.index(Number(name)) : this.names.of(name), factor, narrow);
    });
  }

  /** Emits with rows collected, and returns their declarations before what was emitted. */
  withRows(emit: () => Lines): Lines {
    const outside = this.rows;
    this.rows = new Map();
    const lines = emit();
    const rows = [...this.rows].map(([text, name]) => `const ${name} = ${text};`);
    this.rows = outside;
    return [...rows, ...lines];
  }

  private where(location = this.location): string {
    return JSON.stringify(`${location.file}:${location.line}:${location.column}`);
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
        if (!s.init) return [`let ${name}${this.target.checked ? "" : s.type === "bool" ? " = false" : " = 0"};`];
        return [`${this.assigned.has(s.name) ? "let" : "const"} ${name} = ${this.expr(s.init)};`];
      }
      case "assign":
        return [`${this.names.of(s.name)} = ${this.expr(s.value)};`];
      case "array":
        return this.array(s);
      case "setElement":
        return [`${this.arrayElement(s.array, s.index)} = ${this.expr(s.value)};`];
      case "store":
        return [`${this.names.of(s.view)}[${this.viewOffset(s.view, s.indices)}] = ${this.expr(s.value)};`];
      case "scatter":
        return [this.scatter(s)];
      case "reduce": {
        const { folded, place } = this.accumulators.get(s.target)!;
        return [`${place} = ${this.combine(folded, place, this.expr(s.value, folded.op === "sum" ? P.add + 1 : 0))};`];
      }
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
      case "teamReduce": {
        const count = this.names.fresh("count");
        const lanes = this.lanes(s.results, s.body);
        return [
          `const ${count} = ${this.expr(s.count)};`,
          ...lanes.start,
          ...lanes.loop(this.names.of(s.name), "0", count),
          ...s.results.map((r) => `const ${this.names.of(r.name)} = ${lanes.result(r)};`),
        ];
      }
    }
  }

  private array(s: Extract<Stmt, { kind: "array" }>): Lines {
    const place = this.names.of(s.name);
    if (!this.arrays.has(s.name)) {
      this.arrays.set(s.name, { place, length: s.length });
      this.declarations.push(`const ${place} = new ${ARRAY[s.type]}(${s.length});`);
    }
    return s.space === "private" ? [`${place}.fill(0);`] : [];
  }

  private scatter(s: Extract<Stmt, { kind: "scatter" }>): string {
    const { op, element } = this.target.ir.params.find((p): p is ScatterParam => p.kind === "scatter" && p.name === s.target)!;
    const name = this.names.of(s.target);
    const at = this.viewOffset(s.target, s.indices);
    const value = this.expr(s.value);
    if (this.target.scatter[s.target].strategy === "atomic") {
      if (op === "sum" && (element === "i32" || element === "u32")) return `Atomics.add(${name}, ${at}, ${value});`;
      return `$update_${element}(${name}, ${at}, ${op === "sum" ? "$add" : `Math.${op}`}, ${value});`;
    }
    if (op === "sum") return `${name}[${at}] += ${value};`;
    return `{ const $place = ${at}; ${name}[$place] = Math.${op}(${name}[$place], ${value}); }`;
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
    const stop = simple ? this.expr(s.stop) : this.names.fresh("stop");
    const step = s.step === 1 ? `${name}++` : s.step === -1 ? `${name}--` : s.step > 0 ? `${name} += ${s.step}` : `${name} -= ${-s.step}`;
    return [
      ...(simple ? [] : [`const ${stop} = ${this.expr(s.stop)};`]),
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

  /** The fold of two operands. */
  private combine(folded: Folded, a: string, b: string): string {
    switch (folded.op) {
      case "min":
      case "max":
        return `Math.${folded.op}(${a}, ${b})`;
      case "custom":
        return `${this.foldName(folded)}(${a}, ${b})`;
      case "sum":
        return SUM[folded.type](a, b);
    }
  }

  foldName(folded: Folded): string {
    return `$fold_${this.names.of(folded.name)}`;
  }

  /** Makes `reduce` statements emitted by `emit` fold into `place`. */
  withAccumulator<T>(folded: Folded, place: string, emit: () => T): T {
    this.accumulators.set(folded.name, { folded, place });
    const result = emit();
    this.accumulators.delete(folded.name);
    return result;
  }

  /**
   * A loop over an element's or a member's body that folds into lanes: index n from its first folds into lane n mod 8. `start` sets the lanes to the identity, `loop` may be
   * used again with the same lanes, `result` folds the lanes to one value.
   */
  lanes(
    results: readonly Folded[],
    body?: readonly Stmt[],
  ): { start: Lines; loop(index: string, first: string, end: string): Lines; result(r: Folded): string } {
    const stems = new Map(results.map((r) => [r.name, this.names.fresh(`lane_${r.name}`)]));
    const small = this.unrolls(body ?? this.target.ir.body, results.length);
    const lane = (r: Folded, k: number): string => (small ? `${stems.get(r.name)}_${k}` : `${stems.get(r.name)}[${k}]`);
    const all = [...Array(REDUCTION_LANES).keys()];
    const inLane = (at: (r: Folded) => string): Lines =>
      results.reduce<() => Lines>(
        (emit, r) => () => this.withAccumulator(r, at(r), emit),
        () => (body ? this.block(body) : this.elementBody()),
      )();

    const start = results.map((r) =>
      small ? `let ${all.map((k) => `${lane(r, k)} = ${identityText(r)}`).join(", ")};` : `${stems.get(r.name)}.fill(${identityText(r)});`,
    );
    if (!small) for (const r of results) this.declarations.push(`const ${stems.get(r.name)} = new Float64Array(${REDUCTION_LANES});`);

    const loop = (index: string, first: string, end: string): Lines => {
      if (!small) {
        const k = this.names.fresh("k");
        return [
          `for (let ${index} = ${first}, ${k} = 0; ${index} < ${end}; ${index}++, ${k} = ${k} + 1 & ${REDUCTION_LANES - 1}) {`,
          ...indent(inLane((r) => `${stems.get(r.name)}[${k}]`)),
          "}",
        ];
      }
      const n = this.names.fresh("n");
      const last = this.names.fresh("last");
      const copy = (k: number): Lines => [`const ${index} = ${k === 0 ? n : `${n} + ${k} | 0`};`, ...inLane((r) => lane(r, k))];
      return [
        `let ${n} = ${first};`,
        `for (const ${last} = ${end} - ${REDUCTION_LANES - 1} | 0; ${n} < ${last}; ${n} += ${REDUCTION_LANES}) {`,
        ...indent(all.flatMap((k) => braced("", copy(k)))),
        "}",
        ...all.slice(0, -1).flatMap((k) => braced(`if (${n}${k ? ` + ${k}` : ""} < ${end}) `, copy(k))),
      ];
    };
    const result = (r: Folded): string => {
      let parts = all.map((k) => lane(r, k));
      for (let step = REDUCTION_LANES / 2; step >= 1; step /= 2)
        parts = parts.slice(0, step).map((a, k) => this.combine(r, operand(a), operand(parts[k + step])));
      return parts[0];
    };
    return { start, loop, result };
  }

  /** What is done for one element of a range. */
  private elementBody(): Lines {
    const { ir, policy, checked } = this.target;
    if (!checked || policy.kind === "team") return this.block(ir.body);
    return [`$element = [${policy.extents.map((_, axis) => this.index(axis)).join(", ")}];`, ...this.block(ir.body)];
  }

  private unrolls(body: readonly Stmt[], copies = 1): boolean {
    return !this.target.checked && sizeOf(body) * copies <= SMALL_BODY && !containsLoop(body);
  }

  /** A loop over the innermost index of a range, unrolled where the body is small. */
  innerLoop(index: string, first: string, end: string): Lines {
    const code = this.elementBody();
    if (!this.unrolls(this.target.ir.body)) return [`for (let ${index} = ${first}; ${index} < ${end}; ${index}++) {`, ...indent(code), "}"];
    const copies = [0, 1, 2, 3];
    return [
      `let $n = ${first};`,
      `for (const $last = ${end} - ${copies.length - 1} | 0; $n < $last; $n += ${copies.length}) {`,
      ...indent(copies.flatMap((k) => braced("", [`const ${index} = ${k === 0 ? "$n" : `$n + ${k} | 0`};`, ...code]))),
      "}",
      ...braced(`for (; $n < ${end}; $n++) `, [`const ${index} = $n;`, ...code]),
    ];
  }
}

export const ARRAY = { f64: "Float64Array", f32: "Float32Array", i32: "Int32Array", u32: "Uint32Array", u8: "Uint8Array" } as const;

const SUM: Record<NumericType, (a: string, b: string) => string> = {
  f64: (a, b) => `${a} + ${b}`,
  f32: (a, b) => `Math.fround(${a} + ${b})`,
  i32: (a, b) => `${a} + ${b} | 0`,
  u32: (a, b) => `${a} + ${b} >>> 0`,
};

const operand = (text: string): string => (/^[\w$.]+(\[[\w$]+\])?$/.test(text) ? text : `(${text})`);

const IDENTITY = {
  sum: { f64: "0", f32: "0", i32: "0", u32: "0" },
  min: { f64: "Infinity", f32: "Infinity", i32: "2147483647", u32: "4294967295" },
  max: { f64: "-Infinity", f32: "-Infinity", i32: "-2147483648", u32: "0" },
};

/** The identity of a fold, as text. */
export function identityText(folded: Folded): string {
  if (folded.op === "custom") return emitConstant(folded.identity);
  return IDENTITY[folded.op][folded.type];
}

const emitConstant = (value: number): string => (Object.is(value, -0) ? "-0" : String(value));

function times(text: string, factor: number, narrow: boolean): string {
  if (factor === 1) return text;
  return narrow ? `Math.imul(${text}, ${factor})` : `${/^[\w$]+$/.test(text) ? text : `(${text})`} * ${factor}`;
}

const sum = (parts: readonly string[], narrow: boolean): string => parts.join(" + ") + (narrow && parts.length > 1 ? " | 0" : "");

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
