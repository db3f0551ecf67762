import * as meaning from "../../ir/evaluate.js";
import type { PlainValue } from "../../ir/operators.js";
import type { Expr, NumberType, Stmt } from "../../ir/types.js";
import { unreachable } from "../../base/unreachable.js";

/* Runs scalar code of the IR on the host, with the bits that kernels have. */

export interface HostValues {
  param(name: string): PlainValue;
  extent(view: string, axis: number): number;
  /** An element of an array, by its indices in the view. */
  element(view: string, indices: readonly number[]): PlainValue;
}

/** The value of an expression without arrays. */
export function evaluate(e: Expr, known: HostValues, locals: ReadonlyMap<string, PlainValue> = new Map()): PlainValue {
  const of = (part: Expr): PlainValue => evaluate(part, known, locals);
  switch (e.op) {
    case "const":
      return e.value;
    case "local":
      return locals.get(e.name) ?? (e.type === "bool" ? false : 0);
    case "param":
      return known.param(e.name);
    case "extent":
      return known.extent(e.view, e.axis);
    case "unary":
      return meaning.evaluateUnary(e.fn, e.a.type, of(e.a));
    case "binary":
      return meaning.evaluateBinary(e.fn, e.type as NumberType, Number(of(e.a)), Number(of(e.b)));
    case "compare":
      return meaning.evaluateComparison(e.fn, of(e.a), of(e.b));
    case "logical":
      return e.fn === "and" ? of(e.a) && of(e.b) : of(e.a) || of(e.b);
    case "select":
      return of(e.cond) ? of(e.a) : of(e.b);
    case "cast":
      return meaning.evaluateCast(e.type, e.a.type, of(e.a));
    case "call":
      return meaning.evaluateCall(
        e.fn,
        e.type,
        e.args.map((arg) => Number(of(arg))),
      );
    case "load":
      return known.element(
        e.view,
        e.indices.map((index) => Number(of(index))),
      );
    case "index":
    case "teamSize":
    case "element":
    case "table":
    case "checked":
    case "failed":
      throw new Error(`${e.op} on the host`);
    default:
      return unreachable(e);
  }
}

/** Runs statements without arrays; gives their locals. */
export function run(stmts: readonly Stmt[], known: HostValues): Map<string, PlainValue> {
  const locals = new Map<string, PlainValue>();
  block(stmts, known, locals);
  return locals;
}

function block(stmts: readonly Stmt[], known: HostValues, locals: Map<string, PlainValue>): "break" | "continue" | undefined {
  for (const stmt of stmts) {
    switch (stmt.kind) {
      case "let":
        locals.set(stmt.name, stmt.init ? evaluate(stmt.init, known, locals) : stmt.type === "bool" ? false : 0);
        break;
      case "assign":
        locals.set(stmt.name, evaluate(stmt.value, known, locals));
        break;
      case "if": {
        const jump = block(evaluate(stmt.cond, known, locals) ? stmt.then : stmt.else, known, locals);
        if (jump) return jump;
        break;
      }
      case "for": {
        const [start, stop] = [stmt.start, stmt.stop].map((e) => Number(evaluate(e, known, locals)));
        for (let n = start; stmt.step > 0 ? n < stop : n > stop; n += stmt.step) {
          locals.set(stmt.name, n);
          if (block(stmt.body, known, locals) === "break") break;
        }
        break;
      }
      case "while":
        while (evaluate(stmt.cond, known, locals)) {
          if (block(stmt.body, known, locals) === "break") break;
          block(stmt.update, known, locals);
        }
        break;
      case "break":
      case "continue":
        return stmt.kind;
      case "array":
      case "setElement":
      case "store":
      case "scatter":
      case "atomic":
      case "reduce":
      case "reduceJointly":
      case "print":
      case "teamFor":
      case "teamReduce":
      case "single":
        throw new Error(`${stmt.kind} on the host`);
      default:
        return unreachable(stmt);
    }
  }
  return undefined;
}
