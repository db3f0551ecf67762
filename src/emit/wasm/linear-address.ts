import { add, affineOf, constant, isConstant, scale } from "../../ir/analysis/affine.js";
import type { Affine, Definitions } from "../../ir/analysis/affine.js";
import type { Expr } from "../../ir/types.js";

/**
 * A byte address relative to an array's first element:
 * constant + step * (loop variable) + fixed terms (they keep their values through the loop) + moving terms + leaves.
 */
export interface LinearAddress {
  array: string;
  constant: number;
  /** Bytes from one value of the loop variable to the next. */
  step: number;
  fixed: Record<string, number>;
  moving: Record<string, number>;
  /** Parts that are not linear, such as an index that was loaded, each with its stride in bytes. */
  leaves: { expr: Expr; stride: number }[];
}

/** Which atoms of linear forms are what to a loop; without a loop all terms are moving ones. */
export interface LoopTerms {
  /** The atom of the loop variable. */
  variable: string;
  isFixed(atom: string): boolean;
}

interface Split {
  form: Affine;
  leaves: LinearAddress["leaves"];
}

/** `expr` as a linear form plus leaves. */
function split(expr: Expr, definitions: Definitions): Split {
  const whole = affineOf(expr, definitions);
  if (whole) return { form: whole, leaves: [] };
  if (expr.op === "binary" && (expr.fn === "add" || expr.fn === "sub")) {
    const [a, b] = [split(expr.a, definitions), split(expr.b, definitions)];
    const sign = expr.fn === "add" ? 1 : -1;
    return { form: add(a.form, scale(b.form, sign)), leaves: [...a.leaves, ...scaled(b.leaves, sign)] };
  }
  if (expr.op === "binary" && expr.fn === "mul") {
    const [a, b] = [affineOf(expr.a, definitions), affineOf(expr.b, definitions)];
    const factor = a && isConstant(a) ? a.constant : b && isConstant(b) ? b.constant : undefined;
    if (factor !== undefined) {
      const inner = split(a && isConstant(a) ? expr.b : expr.a, definitions);
      return { form: scale(inner.form, factor), leaves: scaled(inner.leaves, factor) };
    }
  }
  return { form: constant(0), leaves: [{ expr, stride: 1 }] };
}

const scaled = (leaves: LinearAddress["leaves"], factor: number) => leaves.map(({ expr, stride }) => ({ expr, stride: stride * factor }));

/** The place of an element; `strides` in bytes. `extents` resolves the extents of views, which are constants here. */
export function linearAddress(
  array: string,
  strides: readonly number[],
  indices: readonly Expr[],
  definitions: Definitions,
  extents: (atom: string) => number | undefined,
  loop?: LoopTerms,
): LinearAddress {
  const linear: LinearAddress = { array, constant: 0, step: 0, fixed: {}, moving: {}, leaves: [] };
  indices.forEach((index, axis) => {
    const { form, leaves } = split(index, definitions);
    linear.leaves.push(...scaled(leaves, strides[axis]));
    linear.constant += form.constant * strides[axis];
    for (const [atom, c] of Object.entries(form.terms)) {
      const extent = extents(atom);
      if (extent !== undefined) linear.constant += c * extent * strides[axis];
      else if (atom === loop?.variable) linear.step += c * strides[axis];
      else {
        const terms = loop?.isFixed(atom) ? linear.fixed : linear.moving;
        terms[atom] = (terms[atom] ?? 0) + c * strides[axis];
      }
    }
  });
  return linear;
}

/** A pointer that several accesses of a loop share: they differ from it by constants that are not negative. */
export interface Pointer {
  array: string;
  bias: number;
  step: number;
  fixed: Record<string, number>;
  local: number;
}

/** Bytes in front of every array that are memory still, less what a vector may reach too far. */
const SLACK = 60000;

/**
 * Groups places so that each group needs one pointer. Offsets in WebAssembly are unsigned and do not wrap, so a pointer must itself
 * be an address inside the memory whenever one of its places is touched: its bias is the least constant among the places that are
 * touched in every iteration, or lies at most SLACK below any other.
 */
export class Pointers {
  readonly all: Pointer[] = [];
  private readonly seen = new Map<
    string,
    { linear: LinearAddress; constants: { value: number; always: boolean }[]; pointers: Pointer[] }
  >();

  /** To be called for every access before `find`. */
  note(linear: LinearAddress, always: boolean): void {
    const key = keyOf(linear);
    if (!this.seen.has(key)) this.seen.set(key, { linear, constants: [], pointers: [] });
    this.seen.get(key)!.constants.push({ value: linear.constant, always });
  }

  /** Makes the pointers of all places noted. */
  assign(newLocal: () => number): void {
    for (const { linear, constants, pointers } of this.seen.values()) {
      constants.sort((a, b) => a.value - b.value);
      const firm = constants.find((c) => c.always)?.value ?? Infinity;
      for (const { value } of constants) {
        const last = pointers.at(-1);
        if (last && (value <= last.bias + SLACK || (firm <= last.bias + SLACK && firm <= value))) continue;
        const pointer = { array: linear.array, bias: value, step: linear.step, fixed: linear.fixed, local: newLocal() };
        pointers.push(pointer);
        this.all.push(pointer);
      }
    }
  }

  /** The pointer of a noted place, and the place's distance from it. */
  find(linear: LinearAddress): { pointer: Pointer; offset: number } | undefined {
    const pointer = this.seen.get(keyOf(linear))?.pointers.findLast((p) => p.bias <= linear.constant);
    return pointer && { pointer, offset: linear.constant - pointer.bias };
  }
}

const keyOf = ({ array, step, fixed, moving, leaves }: LinearAddress): string =>
  exprKey([array, step, Object.entries(fixed).sort(), Object.entries(moving).sort(), leaves]);

/** Equal for expressions that are written alike, wherever they stand. */
export const exprKey = (value: unknown): string =>
  JSON.stringify(value, (name, part: unknown) => (name === "location" ? undefined : exact(part)));

/** JSON knows neither -0 nor what is not finite. */
const exact = (part: unknown): unknown =>
  typeof part === "number" && (Object.is(part, -0) || !Number.isFinite(part)) ? `number ${Object.is(part, -0) ? "-0" : part}` : part;
