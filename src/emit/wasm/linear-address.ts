import { addAffine, affineOf, affineConstant, isConstant, scaleAffine, scaleModulo } from "../../ir/analysis/affine.js";
import type { Affine, Definitions } from "../../ir/analysis/affine.js";
import type { IntegerRanges } from "../../ir/analysis/integer-ranges.js";
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
  /** The sum may leave i32 although the index is inside: only addresses that wrap, too, find the element, which offsets of instructions do not. */
  wraps?: true;
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

/**
 * `expr` as a linear form plus leaves. With `ranges`, where addresses do not wrap as indices do, products that may leave i32 are leaves, and so is
 * an index whose sum may name another element than the i32 does.
 */
function split(expr: Expr, definitions: Definitions, ranges?: IntegerRanges): Split {
  if (!ranges) return splitFreely(expr, definitions);
  if (ranges.fits(expr)) return splitFreely(expr, definitions);
  return ranges.names(ranges.summed(expr))
    ? splitSums(expr, definitions, ranges)
    : { form: affineConstant(0), leaves: [{ expr, stride: 1 }] };
}

function splitSums(expr: Expr, definitions: Definitions, ranges: IntegerRanges): Split {
  if (ranges.fits(expr)) return splitFreely(expr, definitions);
  if (expr.op === "binary" && (expr.fn === "add" || expr.fn === "sub")) {
    const [a, b] = [splitSums(expr.a, definitions, ranges), splitSums(expr.b, definitions, ranges)];
    const sign = expr.fn === "add" ? 1 : -1;
    return { form: addAffine(a.form, scaleAffine(b.form, sign)), leaves: [...a.leaves, ...scaled(b.leaves, sign)] };
  }
  return { form: affineConstant(0), leaves: [{ expr, stride: 1 }] };
}

function splitFreely(expr: Expr, definitions: Definitions): Split {
  const whole = affineOf(expr, definitions);
  if (whole) return { form: whole, leaves: [] };
  if (expr.op === "binary" && (expr.fn === "add" || expr.fn === "sub")) {
    const [a, b] = [splitFreely(expr.a, definitions), splitFreely(expr.b, definitions)];
    const sign = expr.fn === "add" ? 1 : -1;
    return { form: addAffine(a.form, scaleAffine(b.form, sign)), leaves: [...a.leaves, ...scaled(b.leaves, sign)] };
  }
  if (expr.op === "binary" && expr.fn === "mul") {
    const [a, b] = [affineOf(expr.a, definitions), affineOf(expr.b, definitions)];
    const factor = a && isConstant(a) ? a.constant : b && isConstant(b) ? b.constant : undefined;
    if (factor !== undefined) {
      const inner = splitFreely(a && isConstant(a) ? expr.b : expr.a, definitions);
      return { form: scaleAffine(inner.form, factor), leaves: scaled(inner.leaves, factor) };
    }
  }
  return { form: affineConstant(0), leaves: [{ expr, stride: 1 }] };
}

const scaled = (leaves: LinearAddress["leaves"], factor: number) => leaves.map(({ expr, stride }) => ({ expr, stride: stride * factor }));

/** Inputs of the search for an element's place. */
interface Surroundings {
  readonly array: string;
  readonly definitions: Definitions;
  /** Resolves the extents of views, which are constants here. */
  extents(atom: string): number | undefined;
  readonly ranges: IntegerRanges;
  /** Addresses are wider than indices. */
  readonly wide: boolean;
  readonly loop?: LoopTerms;
}

/** The place of an element; `strides` in bytes. */
export function linearAddress(
  strides: readonly number[],
  indices: readonly Expr[],
  { array, definitions, extents, ranges, wide, loop }: Surroundings,
): LinearAddress {
  const linear: LinearAddress = { array, constant: 0, step: 0, fixed: {}, moving: {}, leaves: [] };
  indices.forEach((index, axis) => {
    const { form: whole, leaves } = split(index, definitions, wide ? ranges : undefined);
    if (!wide && !ranges.names(ranges.summed(index))) linear.wraps = true;
    linear.leaves.push(...scaled(leaves, strides[axis]));
    const form = (wide ? scaleAffine : scaleModulo)(whole, strides[axis]);
    linear.constant += form.constant;
    for (const [atom, c] of Object.entries(form.terms)) {
      const extent = extents(atom);
      if (extent !== undefined) linear.constant += c * extent;
      else if (atom === loop?.variable) linear.step += c;
      else {
        const terms = loop?.isFixed(atom) ? linear.fixed : linear.moving;
        terms[atom] = (terms[atom] ?? 0) + c;
      }
    }
  });
  if (!wide && Math.abs(linear.step) >= FAR && indices.some((index) => !ranges.fits(index))) linear.wraps = true;
  return linear;
}

/** Bytes from one turn to the next with which an index that wraps may come back into an array. */
const FAR = 65536;

/** A pointer that several accesses of a loop share: they differ from it by constants that are not negative. */
export interface Pointer {
  array: string;
  bias: number;
  step: number;
  fixed: Record<string, number>;
  local: number;
}

/** Bytes before every array that are memory still, less what a vector may reach too far. */
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
    if (linear.wraps) return;
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
    if (linear.wraps) return undefined;
    const pointer = this.seen.get(keyOf(linear))?.pointers.findLast((p) => p.bias <= linear.constant);
    return pointer && { pointer, offset: linear.constant - pointer.bias };
  }
}

const keyOf = ({ array, step, fixed, moving, leaves }: LinearAddress): string =>
  exprKey([array, step, Object.entries(fixed).sort(), Object.entries(moving).sort(), leaves]);

/** Equal for expressions that are written alike, wherever they stand. */
export const exprKey = (value: unknown): string =>
  JSON.stringify(value, (name, part: unknown) => (name === "location" ? undefined : exact(part)));

/** Keeps -0 values that are not finite and bigints, which JSON lacks. */
const exact = (part: unknown): unknown =>
  typeof part === "number" && (Object.is(part, -0) || !Number.isFinite(part))
    ? `number ${Object.is(part, -0) ? "-0" : part}`
    : typeof part === "bigint"
      ? `${part}n`
      : part;
