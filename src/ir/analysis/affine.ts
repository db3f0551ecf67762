import { own } from "../../base/own.js";
import { unreachable } from "../../base/unreachable.js";
import type { BinaryFn, Expr, Stmt } from "../types.js";
import { assignedLocals, walkStmts } from "../walk.js";

/**
 * constant + sum of coefficient * atom, with no zero coefficients. Atoms are named `index:0` (a policy index), `local:k` (a loop variable
 * or member index; a local assigned once from a linear form is seen through), `param:n` (an i32 scalar parameter), `extent:x:0` (an extent
 * of a view), `teamSize`. The form equals the i32 expression modulo 2^32, so it equals it wherever the form's value fits an i32.
 */
export interface Affine {
  constant: number;
  terms: Record<string, number>;
}

/**
 * Known locals: the expression of one that keeps its first value, `undefined` for a loop variable (an atom).
 * Locals that are not in the map change, and are part of no linear form.
 */
export type Definitions = ReadonlyMap<string, Expr | undefined>;

/** An inclusive interval of integers. */
export type Interval = readonly [low: number, high: number];

/** Loop variables, and locals that are given a value by their declaration and never again. */
export function definitionsOf(body: readonly Stmt[]): Map<string, Expr | undefined> {
  const assigned = assignedLocals(body);
  const definitions = new Map<string, Expr | undefined>();
  walkStmts(body, (stmt) => {
    if (stmt.kind === "for" || stmt.kind === "teamFor" || stmt.kind === "teamReduce") definitions.set(stmt.name, undefined);
    if (stmt.kind === "let" && stmt.init && !assigned.has(stmt.name)) definitions.set(stmt.name, stmt.init);
  });
  return definitions;
}

/** The i32 expression as a linear form; undefined if it is not one. */
export function affineOf(expr: Expr, definitions: Definitions = new Map()): Affine | undefined {
  if (expr.type !== "i32") return undefined;
  switch (expr.op) {
    case "const":
      return affineConstant(expr.value as number);
    case "index":
      return atom(`index:${expr.axis}`);
    case "param":
      return atom(`param:${expr.name}`);
    case "extent":
      return atom(`extent:${expr.view}:${expr.axis}`);
    case "teamSize":
      return atom("teamSize");
    case "local": {
      if (!definitions.has(expr.name)) return undefined;
      const definition = definitions.get(expr.name);
      return definition ? definedForm(expr.name, definition, definitions) : atom(`local:${expr.name}`);
    }
    case "unary": {
      const a = expr.fn === "neg" ? affineOf(expr.a, definitions) : undefined;
      return a && scaleAffine(a, -1);
    }
    case "binary": {
      if (!["add", "sub", "mul", "shl"].includes(expr.fn)) return undefined;
      const a = affineOf(expr.a, definitions);
      const b = a && affineOf(expr.b, definitions);
      if (!b) return undefined;
      return exact(combined(expr.fn, a, b));
    }
    case "load":
    case "element":
    case "table":
    case "select":
    case "cast":
    case "call":
    case "checked":
      return undefined;
    default:
      return unreachable(expr);
  }
}

function combined(fn: BinaryFn, a: Affine, b: Affine): Affine | undefined {
  if (fn === "add") return addAffine(a, b);
  if (fn === "sub") return addAffine(a, scaleAffine(b, -1));
  if (fn === "shl") return isConstant(b) ? scaleAffine(a, 2 ** (b.constant & 31)) : undefined;
  return isConstant(a) ? scaleAffine(b, a.constant) : isConstant(b) ? scaleAffine(a, b.constant) : undefined;
}

/** A form whose numbers are exact; products of large factors are rounded. */
const exact = (form: Affine | undefined): Affine | undefined =>
  form && [form.constant, ...Object.values(form.terms)].every(Number.isSafeInteger) ? form : undefined;

/** The forms of locals that have been asked for. Where there is none yet, there may be one later: definitions may become atoms. */
const forms = new WeakMap<Definitions, Map<string, Affine>>();

function definedForm(name: string, definition: Expr, definitions: Definitions): Affine | undefined {
  let known = forms.get(definitions);
  if (!known) forms.set(definitions, (known = new Map()));
  let form = known.get(name);
  if (!form) {
    form = affineOf(definition, definitions);
    if (form) known.set(name, form);
  }
  return form;
}

export const affineConstant = (value: number): Affine => ({ constant: value, terms: {} });
export const atom = (name: string): Affine => ({ constant: 0, terms: { [name]: 1 } });

export function addAffine(a: Affine, b: Affine): Affine {
  if (isConstant(b)) return { constant: a.constant + b.constant, terms: a.terms };
  const terms = new Map(Object.entries(a.terms));
  for (const [name, coefficient] of Object.entries(b.terms)) {
    const total = (terms.get(name) ?? 0) + coefficient;
    if (total === 0) terms.delete(name);
    else terms.set(name, total);
  }
  return { constant: a.constant + b.constant, terms: Object.fromEntries(terms) };
}

export function scaleAffine(form: Affine, factor: number): Affine {
  if (factor === 0) return affineConstant(0);
  const terms = Object.fromEntries(Object.entries(form.terms).map(([name, c]) => [name, c * factor]));
  return { constant: form.constant * factor, terms };
}

/** The same modulo 2^32, for arithmetic of 32 bits: numbers stay as they are where they fit an i32. */
export function scaleModulo(form: Affine, factor: number): Affine {
  const times = (c: number): number => (Math.abs(c * factor) < 2 ** 31 ? c * factor : Math.imul(c, factor));
  const terms = Object.entries(form.terms).map(([name, c]) => [name, times(c)] as const);
  return { constant: times(form.constant), terms: Object.fromEntries(terms.filter(([, c]) => c !== 0)) };
}

export const coefficient = (form: Affine, name: string): number => own(form.terms, name) ?? 0;

export function isConstant(form: Affine): boolean {
  for (const name in form.terms) if (Object.hasOwn(form.terms, name)) return false;
  return true;
}

export function equal(a: Affine, b: Affine): boolean {
  const difference = addAffine(a, scaleAffine(b, -1));
  return difference.constant === 0 && isConstant(difference);
}

/** The form with `by` in place of the atom. */
export const substitute = (form: Affine, name: string, by: Affine): Affine =>
  Object.hasOwn(form.terms, name) ? addAffine(without(form, name), scaleAffine(by, form.terms[name]!)) : form;

/** The form less its term in the atom. */
export function without(form: Affine, name: string): Affine {
  const { [name]: _, ...terms } = form.terms;
  return { constant: form.constant, terms };
}

/** Remainder of a form modulo `period`: its constant from 0, and the terms that are not multiples. */
export const modulo = (form: Affine, period: number): Affine => ({
  constant: ((form.constant % period) + period) % period,
  terms: Object.fromEntries(Object.entries(form.terms).filter(([, c]) => c % period !== 0)),
});

/** The two parts of a form: terms whose atoms satisfy `test` (with constant 0), and the rest. */
export function split(form: Affine, test: (name: string) => boolean): [chosen: Affine, rest: Affine] {
  const entries = Object.entries(form.terms);
  return [
    { constant: 0, terms: Object.fromEntries(entries.filter(([name]) => test(name))) },
    { constant: form.constant, terms: Object.fromEntries(entries.filter(([name]) => !test(name))) },
  ];
}

/** Least and greatest value, given the ranges of the atoms; undefined if an atom's range is unknown. */
export function rangeOf(form: Affine, ranges: (name: string) => Interval | undefined): Interval | undefined {
  let [low, high] = [form.constant, form.constant];
  for (const [name, c] of Object.entries(form.terms)) {
    const range = ranges(name);
    if (!range) return undefined;
    low += c * range[c > 0 ? 0 : 1];
    high += c * range[c > 0 ? 1 : 0];
  }
  return [low, high];
}

/** An atom's kind, name and, of an extent, axis; names may have any characters. */
export function atomParts(atom: string): Parts {
  const known = parts.get(atom);
  if (known) return known;
  if (parts.size >= MOST_PARTS) parts.clear();
  const found = divide(atom);
  parts.set(atom, found);
  return found;
}

type Parts = readonly [kind: string, name: string, axis: string];

/** Parts of atoms so far: launches ask for the same few again and again. */
const parts = new Map<string, Parts>();
const MOST_PARTS = 4096;

function divide(atom: string): Parts {
  const kind = atom.split(":", 1)[0]!;
  const end = kind === "extent" ? atom.lastIndexOf(":") : atom.length;
  return [kind, atom.slice(kind.length + 1, end), atom.slice(end + 1)];
}
