import {
  addAffine,
  affineOf,
  affineConstant,
  definitionsOf,
  scaleAffine,
  scaleModulo,
  split,
  substitute,
  type Affine,
  type Definitions,
  atomParts,
} from "../../ir/analysis/affine.js";
import { integerRanges, type IntegerRanges } from "../../ir/analysis/integer-ranges.js";
import { reachOf, spanOf } from "../../ir/reach.js";
import type { Expr } from "../../ir/types.js";
import { P } from "./expr.js";
import type { Lines } from "./lines.js";
import type { JsNames } from "./names.js";
import type { JsTarget } from "./target.js";

/** Element offsets below it are computed with 32-bit integers. */
const NARROW = 2 ** 31;

/** The body whose elements they are. */
interface Indexing {
  readonly target: JsTarget;
  readonly names: JsNames;
  /** The variable of an axis of the range. */
  index(axis: number): string;
  expr(e: Expr, precedence: number): string;
}

/** Offsets of elements. What stays the same in the innermost loop of the range (a row) is computed once, before it. */
export class RowAddresses {
  private readonly definitions: Definitions;
  private readonly ranges: IntegerRanges;
  private readonly innermost: string | undefined;
  /** Names of the rows in use, by their text. */
  private rows = new Map<string, string>();

  constructor(private readonly body: Indexing) {
    const { ir, policy } = body.target;
    this.definitions = definitionsOf(ir.body);
    this.ranges = integerRanges(ir, "any", () => undefined);
    this.innermost = policy.kind === "range" ? `index:${policy.extents.length - 1}` : undefined;
  }

  /** JavaScript for the offset, in elements, of an element of an array, from its lowest. */
  offset(indices: readonly Expr[], shape: readonly number[], strides: readonly number[]): string {
    const narrow = spanOf({ shape, strides }) < NARROW;
    let form = affineConstant(shape.includes(0) ? 0 : reachOf(shape, strides).below);
    const gathered: string[] = [];
    indices.forEach((e, axis) => {
      // Offsets of 32 bits wrap as indices do, others are exact.
      const index = narrow || this.ranges.names(this.ranges.unwrapped(e)) ? affineOf(e, this.definitions) : undefined;
      if (index) form = addAffine(form, (narrow ? scaleModulo : scaleAffine)(index, strides[axis]));
      else gathered.push(times(this.body.expr(e, strides[axis] === 1 ? P.add + 1 : 0), strides[axis], narrow));
    });
    const [outer, inner] = split(this.withoutSizes(form), (atom) => !atom.startsWith("local:") && atom !== this.innermost);
    const parts = [...this.row(outer, narrow), ...this.terms(inner, narrow), ...gathered];
    if (parts.length === 0) return String(inner.constant);
    if (inner.constant === 0) return sum(parts, narrow);
    return `${sum(parts, false)} ${inner.constant < 0 ? "-" : "+"} ${Math.abs(inner.constant)}${narrow ? " | 0" : ""}`;
  }

  /** Emits, and returns the declarations of the rows that were met before what was emitted. */
  withRows(emit: () => Lines): Lines {
    const outside = this.rows;
    this.rows = new Map();
    const lines = emit();
    const declarations = [...this.rows].map(([text, name]) => `const ${name} = ${text};`);
    this.rows = outside;
    return [...declarations, ...lines];
  }

  private withoutSizes(form: Affine): Affine {
    return Object.keys(form.terms).reduce((rest, atom) => {
      const [kind, view, axis] = atomParts(atom);
      if (kind === "extent") return substitute(rest, atom, affineConstant(this.body.target.views[view].shape[Number(axis)]));
      return kind === "teamSize" ? substitute(rest, atom, affineConstant(1)) : rest;
    }, form);
  }

  private row(form: Affine, narrow: boolean): string[] {
    const terms = this.terms(form, narrow);
    if (terms.length === 0) return [];
    const text = sum(terms, narrow);
    let name = this.rows.get(text);
    if (name === undefined) this.rows.set(text, (name = this.body.names.fresh("row")));
    return [name];
  }

  private terms(form: Affine, narrow: boolean): string[] {
    return Object.entries(form.terms).map(([atom, factor]) => {
      const [kind, name] = atomParts(atom);
      return times(kind === "index" ? this.body.index(Number(name)) : this.body.names.of(name), factor, narrow);
    });
  }
}

function times(text: string, factor: number, narrow: boolean): string {
  if (factor === 1) return text;
  return narrow ? `Math.imul(${text}, ${factor})` : `${/^[\w$]+$/.test(text) ? text : `(${text})`} * ${factor}`;
}

const sum = (parts: readonly string[], narrow: boolean): string => parts.join(" + ") + (narrow && parts.length > 1 ? " | 0" : "");
