import { unreachable } from "../base/unreachable.js";
import { evaluateBinary, evaluateCall, evaluateCast, evaluateComparison, evaluateUnary, type PlainValue } from "./evaluate.js";
import type { Expr, NumericType, ReduceParam } from "./types.js";

/**
 * The fold of a custom reduction as a function, made of what its operators mean: for the few values that the host folds, and for pages that
 * may not compile JavaScript.
 */
export function combineFunction({ a, body }: NonNullable<ReduceParam["combine"]>): (x: number, y: number) => number {
  type Part = (x: number, y: number) => PlainValue;
  const made = (e: Expr): Part => {
    switch (e.op) {
      case "const": {
        const value = evaluateCast(e.type, e.type, e.value);
        return () => value;
      }
      case "local":
        return e.name === a ? (x) => x : (_, y) => y;
      case "unary": {
        const of = made(e.a);
        return (x, y) => evaluateUnary(e.fn, e.type, of(x, y));
      }
      case "cast": {
        const of = made(e.a);
        return (x, y) => evaluateCast(e.type, e.a.type, of(x, y));
      }
      case "binary": {
        const [left, right] = [made(e.a), made(e.b)];
        return (x, y) => evaluateBinary(e.fn, e.type as NumericType, left(x, y) as number, right(x, y) as number);
      }
      case "compare": {
        const [left, right] = [made(e.a), made(e.b)];
        return (x, y) => evaluateComparison(e.fn, left(x, y), right(x, y));
      }
      case "logical": {
        const [left, right] = [made(e.a), made(e.b)];
        return e.fn === "and" ? (x, y) => left(x, y) && right(x, y) : (x, y) => left(x, y) || right(x, y);
      }
      case "select": {
        const [cond, yes, no] = [made(e.cond), made(e.a), made(e.b)];
        return (x, y) => (cond(x, y) ? yes : no)(x, y);
      }
      case "call": {
        const args = e.args.map(made);
        return (x, y) =>
          evaluateCall(
            e.fn,
            e.type as NumericType,
            args.map((of) => of(x, y) as number),
          );
      }
      case "param":
      case "index":
      case "teamSize":
      case "load":
      case "element":
      case "table":
      case "extent":
      case "checked":
      case "failed":
        throw new Error("a fold may use its two arguments only");
      default:
        return unreachable(e);
    }
  };
  return made(body) as (x: number, y: number) => number;
}
