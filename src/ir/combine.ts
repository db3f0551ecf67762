import { unreachable } from "../base/unreachable.js";
import { evaluateBinary, evaluateCall, evaluateCast, evaluateComparison, evaluateUnary, type PlainValue } from "./evaluate.js";
import type { Expr, JointFold, NumericType, ReduceParam } from "./types.js";

/** A part of a fold of two values of type V. */
type Part<V> = (x: V, y: V) => PlainValue;

/**
 * The fold of a custom reduction as a function, made of what its operators mean: for the few values that the host folds, and for pages that
 * may not compile JavaScript.
 */
export function combineFunction<V extends number | bigint = number>({ a, body }: NonNullable<ReduceParam["combine"]>): (x: V, y: V) => V {
  return partOf<V>(body, (name) => (name === a ? (x) => x : (_, y) => y)) as (x: V, y: V) => V;
}

/** The same for reductions that fold jointly: of the parts of two values, in the order of the parameters. */
export function jointFunction({ a, b, bodies }: JointFold): (x: readonly number[], y: readonly number[]) => number[] {
  const local = (name: string): Part<readonly number[]> => {
    const [first, second] = [a.indexOf(name), b.indexOf(name)];
    return first >= 0 ? (x) => x[first]! : (_, y) => y[second]!;
  };
  const parts = bodies.map((body) => partOf(body, local));
  return (x, y) => parts.map((part) => part(x, y) as number);
}

function partOf<V>(body: Expr, local: (name: string) => Part<V>): Part<V> {
  const made = (e: Expr): Part<V> => {
    switch (e.op) {
      case "const": {
        const value = evaluateCast(e.type, e.type, e.value);
        return () => value;
      }
      case "local":
        return local(e.name);
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
  return made(body);
}
