import { unreachable } from "../../base/unreachable.js";
import { isFloat } from "../../ir/scalars.js";
import type { Field, Container } from "../../domain/grid/grid.js";
import { evaluateBinary } from "../../ir/evaluate.js";
import type { BinaryFn, Expr, NumberType } from "../../ir/types.js";

/** A known number, a zero of either sign, or some finite number. */
type Known = number | "zero" | "finite";

/**
 * True if a container that maps own cells, run over a cell in which all fields have their fill values, gives `field` its fill value,
 * whatever the scalars are, as long as they and all intermediate results are finite.
 */
export function keepsFillValue(container: Container, field: Field): boolean {
  const { ir } = container;
  const fields = new Map(container.uses.map((use) => [use.param, use.field]));
  const locals = new Map<string, Known | undefined>();
  /** Components that have been written, by view; undefined stands for one that is not constant. */
  const stored = new Map<string, Set<number | undefined>>();
  const overwritten = (view: string, indices: readonly Expr[]): boolean => {
    const [written, k] = [stored.get(view), componentOf(indices)];
    return written !== undefined && (k === undefined || written.has(k) || written.has(undefined));
  };
  const evaluate = (expr: Expr): Known | undefined => {
    switch (expr.op) {
      case "const":
        return typeof expr.value === "number" ? expr.value : undefined;
      case "local":
        return locals.get(expr.name);
      case "param":
        return isFloat(expr.type) ? "finite" : undefined;
      case "load": {
        const read = fields.get(expr.view);
        return read ? (overwritten(expr.view, expr.indices) ? undefined : read.fillValue) : "finite";
      }
      case "unary":
        return expr.fn === "neg" ? negative(evaluate(expr.a)) : undefined;
      case "binary": {
        const [a, b] = [evaluate(expr.a), evaluate(expr.b)];
        return a === undefined || b === undefined ? undefined : combine(expr.fn, expr.type as NumberType, a, b);
      }
      case "select":
        return either(evaluate(expr.a), evaluate(expr.b));
      case "index":
      case "teamSize":
      case "element":
      case "table":
      case "extent":
      case "compare":
      case "logical":
      case "cast":
      case "call":
      case "checked":
      case "failed":
        return undefined;
      default:
        return unreachable(expr);
    }
  };
  for (const stmt of ir.body) {
    if (stmt.kind === "let") locals.set(stmt.name, stmt.init && evaluate(stmt.init));
    else if (stmt.kind === "assign") locals.set(stmt.name, evaluate(stmt.value));
    else if (stmt.kind === "store") {
      const value = evaluate(stmt.value);
      if (fields.get(stmt.view) === field && !Object.is(value, field.fillValue)) return false;
      stored.set(stmt.view, new Set([...(stored.get(stmt.view) ?? []), componentOf(stmt.indices)]));
    } else if (stmt.kind !== "reduce") return false;
  }
  return true;
}

/** The last index, where it is constant. */
function componentOf(indices: readonly Expr[]): number | undefined {
  const k = indices[indices.length - 1];
  return k.op === "const" ? (k.value as number) : undefined;
}

const isZero = (x: Known): boolean => x === 0 || x === "zero";

function negative(x: Known | undefined): Known | undefined {
  return typeof x === "number" ? -x : x;
}

/** One of the two. */
function either(a: Known | undefined, b: Known | undefined): Known | undefined {
  if (a === undefined || b === undefined) return undefined;
  if (Object.is(a, b)) return a;
  if ([a, b].some((x) => typeof x === "number" && !Number.isFinite(x))) return undefined;
  return isZero(a) && isZero(b) ? "zero" : "finite";
}

function combine(fn: BinaryFn, type: NumberType, a: Known, b: Known): Known | undefined {
  if (typeof a === "number" && typeof b === "number") return evaluateBinary(fn, type, a, b);
  const infinite = [a, b].some((x) => typeof x === "number" && !Number.isFinite(x));
  if (!isFloat(type) || infinite) return undefined;
  switch (fn) {
    case "mul":
      return isZero(a) || isZero(b) ? "zero" : "finite";
    case "div":
      return isZero(a) && b !== 0 ? "zero" : "finite";
    case "add":
    case "sub": {
      // x + (-0) and x + (+0) are x unless x is a zero; +0 + (+-0) and +0 - (+-0) are +0.
      if (b === "zero" && typeof a === "number" && !Object.is(a, -0)) return a;
      if (fn === "add" && a === "zero" && typeof b === "number" && !Object.is(b, -0)) return b;
      return isZero(a) && isZero(b) ? "zero" : "finite";
    }
    case "min":
    case "max":
    case "rem":
    case "copysign":
    case "and":
    case "or":
    case "xor":
    case "shl":
    case "shr":
    case "mulhi":
      return undefined;
    default:
      return unreachable(fn);
  }
}
