import type { Expr, Stmt } from "../../ir/types.js";
import { exprKey } from "./places.js";
import type { ScalarCode } from "./scalar.js";

type Product = Extract<Expr, { op: "binary" }>;

/** A run of statements that add products to one local: `s = base + a0 * b0; s = s + a1 * b1; ...`. */
interface ProductSum {
  local: string;
  base: Expr;
  products: Product[];
  statements: number;
}

/** Shorter sums gain nothing. */
const LEAST_PRODUCTS = 4;

/**
 * In fast mode, emits a sum of f64 products that begins at statement `at` with two of them at a time in a vector, as the rows of a
 * matrix ask for: their coefficients lie side by side. Returns the number of statements that were done, 0 where there is no such sum.
 */
export function emitProductSum(scalar: ScalarCode, body: readonly Stmt[], at: number): number {
  const sum = productSum(body, at);
  if (!sum || sum.products.length < LEAST_PRODUCTS) return 0;
  const pairs: [Product, Product][] = [];
  for (let n = 0; n + 1 < sum.products.length; n += 2) pairs.push([sum.products[n], sum.products[n + 1]]);
  const sideBySide = pairs.filter(([p, q]) => isNext(scalar, p.a, q.a) || isNext(scalar, p.b, q.b));
  if (2 * sideBySide.length < pairs.length) return 0;

  const { fn } = scalar.code;
  const vector = scalar.code.temp("v128");
  pairs.forEach(([p, q], n) => {
    const contracts = n > 0 && scalar.code.spec.relaxed;
    if (n > 0 && !contracts) fn.get(vector);
    emitPair(scalar, p.a, q.a);
    emitPair(scalar, p.b, q.b);
    if (contracts) {
      fn.get(vector);
      fn.op("f64x2.relaxed_madd");
    } else {
      fn.op("f64x2.mul");
      if (n > 0) fn.op("f64x2.add");
    }
    fn.set(vector);
  });
  scalar.expr(sum.base);
  for (const lane of [0, 1]) {
    fn.get(vector);
    fn.lane("f64x2.extract_lane", lane);
    fn.op("f64.add");
  }
  if (sum.products.length % 2) {
    scalar.expr(sum.products.at(-1)!);
    fn.op("f64.add");
  }
  fn.set(scalar.code.localOf(sum.local, "f64"));
  scalar.code.release("v128", vector);
  return sum.statements;
}

function productSum(body: readonly Stmt[], at: number): ProductSum | undefined {
  const first = addition(body[at]);
  if (!first) return undefined;
  const sum: ProductSum = { ...first, products: [first.product], statements: 1 };
  for (let next = addition(body[at + 1]); next; next = addition(body[at + sum.statements])) {
    if (next.local !== sum.local || next.base.op !== "local" || next.base.name !== sum.local) break;
    sum.products.push(next.product);
    sum.statements++;
  }
  return sum;
}

/** The parts of `local = base + a * b`. */
function addition(stmt: Stmt | undefined): { local: string; base: Expr; product: Product } | undefined {
  if (stmt?.kind !== "let" && stmt?.kind !== "assign") return undefined;
  const value = stmt.kind === "let" ? stmt.init : stmt.value;
  if (value?.op !== "binary" || value.fn !== "add" || value.type !== "f64") return undefined;
  if (value.b.op !== "binary" || value.b.fn !== "mul") return undefined;
  return { local: stmt.name, base: value.a, product: value.b };
}

/** True for loads of an element and the one behind it. */
function isNext({ code, loop }: ScalarCode, p: Expr, q: Expr): boolean {
  if (p.op !== "load" || q.op !== "load" || p.view !== q.view) return false;
  const [a, b] = [p, q].map((load) => code.place(load.view, load.indices, loop?.terms));
  return b.constant === a.constant + 8 && exprKey({ ...a, constant: 0 }) === exprKey({ ...b, constant: 0 });
}

/** Leaves two values on the stack as a vector. */
function emitPair(scalar: ScalarCode, p: Expr, q: Expr): void {
  const { fn } = scalar.code;
  if (p.op !== "load" || q.op !== "load") {
    scalar.expr(p);
    fn.op("f64x2.splat");
    scalar.expr(q);
    return fn.lane("f64x2.replace_lane", 1);
  }
  if (isNext(scalar, p, q)) return fn.memory("v128.load", scalar.address(p.view, p.indices));
  const low = scalar.code.temp("v128");
  fn.memory("v128.load64_zero", scalar.address(p.view, p.indices));
  fn.set(low);
  const offset = scalar.address(q.view, q.indices);
  fn.get(low);
  fn.memoryLane("v128.load64_lane", offset, 1);
  scalar.code.release("v128", low);
}
