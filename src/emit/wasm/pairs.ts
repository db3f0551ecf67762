import { isDouble } from "../../ir/scalars.js";
import type { Expr, Stmt } from "../../ir/types.js";
import { exprKey } from "./linear-address.js";
import type { ScalarParts } from "./parts.js";

/*
 * Two f64 values of one element side by side in a vector (superword-level parallelism: Larsen and Amarasinghe, PLDI 2000). It serves loops
 * that are not vectorised along their elements because each element's data lie together, such as the rows of a matrix.
 */

type Binary = Extract<Expr, { op: "binary" }>;
export type Reduce = Extract<Stmt, { kind: "reduce" }>;
type Scatter = Extract<Stmt, { kind: "scatter" }>;

/** True if two values are computed alike, at least in part from an element and the one after it. */
export function isPair(scalar: ScalarParts, p: Expr, q: Expr): boolean {
  if (isNextLoad(scalar, p, q)) return true;
  const both = alike(p, q);
  return both !== undefined && (isPair(scalar, both[0].a, both[1].a) || isPair(scalar, both[0].b, both[1].b));
}

/** Leaves two f64 values on the stack as a vector. */
export function emitPair(scalar: ScalarParts, p: Expr, q: Expr): void {
  const { code } = scalar;
  const { fn } = code;
  const both = alike(p, q);
  if (both) {
    emitPair(scalar, both[0].a, both[1].a);
    emitPair(scalar, both[0].b, both[1].b);
    return fn.op(`f64x2.${both[0].fn}`);
  }
  if (exprKey(p) === exprKey(q)) {
    scalar.expr(p);
    return fn.op("f64x2.splat");
  }
  if (p.op !== "load" || q.op !== "load") {
    scalar.expr(p);
    fn.op("f64x2.splat");
    scalar.expr(q);
    return fn.lane("f64x2.replace_lane", 1);
  }
  const offset = scalar.address(p.view, p.indices);
  if (isNextLoad(scalar, p, q)) return fn.memory("v128.load", offset);
  const low = code.temp("v128");
  fn.memory("v128.load64_zero", offset);
  fn.set(low);
  const second = scalar.address(q.view, q.indices);
  fn.get(low);
  fn.memoryLane("v128.load64_lane", second, 1);
  code.release("v128", low);
}

/** Adds a pair of values to the vector that `sum` leaves on the stack; with one rounding where that is allowed and they are products. */
export function addPair(scalar: ScalarParts, sum: () => void, p: Expr, q: Expr): void {
  const { code } = scalar;
  const both = alike(p, q);
  if (!code.strict && code.spec.relaxed && both?.[0].fn === "mul") {
    emitPair(scalar, both[0].a, both[1].a);
    emitPair(scalar, both[0].b, both[1].b);
    sum();
    return code.fn.op("f64x2.relaxed_madd");
  }
  sum();
  emitPair(scalar, p, q);
  code.fn.op("f64x2.add");
}

/** True for folds of a pair of values, which one vector can take. */
export function areReducePair(scalar: ScalarParts, first: Stmt, second: Stmt | undefined): second is Reduce {
  return (
    first.kind === "reduce" && second?.kind === "reduce" && first.target !== second.target && isPair(scalar, first.value, second.value)
  );
}

/** True for plain updates of an element and the one after it. */
export function areScatterPair(scalar: ScalarParts, first: Stmt, second: Stmt | undefined): second is Scatter {
  if (first.kind !== "scatter" || second?.kind !== "scatter" || first.target !== second.target) return false;
  const { spec } = scalar.code;
  const param = spec.ir.params.find((p) => p.name === first.target);
  const own = spec.scatter[first.target] !== "atomic" && spec.scatter[first.target] !== "cached";
  const plain = param?.kind === "scatter" && param.op === "sum" && isDouble(param.element) && own;
  return plain && spec.disjointMemory && isNext(scalar, first.target, first.indices, second.indices);
}

/** Both updates at once: neither element's order of updates changes. */
export function emitScatterPair(scalar: ScalarParts, first: Scatter, second: Scatter): void {
  const { code } = scalar;
  const { fn } = code;
  const { type } = code.address;
  const address = code.temp(type);
  const offset = scalar.address(first.target, first.indices);
  fn.tee(address);
  addPair(
    scalar,
    () => {
      fn.get(address);
      fn.memory("v128.load", offset);
    },
    first.value,
    second.value,
  );
  fn.memory("v128.store", offset);
  code.release(type, address);
}

/** The operations whose operands can be paired. */
function alike(p: Expr, q: Expr): [Binary, Binary] | undefined {
  if (p.op !== "binary" || q.op !== "binary" || !isDouble(p.type) || p.fn !== q.fn || exprKey(p) === exprKey(q)) return undefined;
  return p.fn === "add" || p.fn === "sub" || p.fn === "mul" ? [p, q] : undefined;
}

function isNextLoad(scalar: ScalarParts, p: Expr, q: Expr): boolean {
  return p.op === "load" && q.op === "load" && isDouble(p.type) && p.view === q.view && isNext(scalar, p.view, p.indices, q.indices);
}

/** True if the second f64 element directly follows the first. */
function isNext({ code, loop }: ScalarParts, array: string, p: readonly Expr[], q: readonly Expr[]): boolean {
  const [a, b] = [p, q].map((indices) => code.linearAddress(array, indices, loop?.terms));
  return b.constant === a.constant + 8 && exprKey({ ...a, constant: 0 }) === exprKey({ ...b, constant: 0 });
}
