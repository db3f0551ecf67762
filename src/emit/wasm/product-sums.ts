import { isDouble } from "../../ir/scalars.js";
import type { Expr, Stmt } from "../../ir/types.js";
import { addPair, emitPair, isPair } from "./pairs.js";
import type { ScalarParts } from "./parts.js";

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
export function emitProductSum(scalar: ScalarParts, body: readonly Stmt[], at: number): number {
  const sum = productSum(body, at);
  if (!sum || sum.products.length < LEAST_PRODUCTS) return 0;
  const pairs: [Product, Product][] = [];
  for (let n = 0; n + 1 < sum.products.length; n += 2) pairs.push([sum.products[n], sum.products[n + 1]]);
  if (2 * pairs.filter(([p, q]) => isPair(scalar, p, q)).length < pairs.length) return 0;

  const { fn } = scalar.code;
  const vector = scalar.code.temp("v128");
  pairs.forEach(([p, q], n) => {
    if (n === 0) emitPair(scalar, p, q);
    else addPair(scalar, () => fn.get(vector), p, q);
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
  if (value?.op !== "binary" || value.fn !== "add" || !isDouble(value.type)) return undefined;
  if (value.b.op !== "binary" || value.b.fn !== "mul") return undefined;
  return { local: stmt.name, base: value.a, product: value.b };
}
