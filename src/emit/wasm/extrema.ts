import { isFloat, type FloatType } from "../../ir/scalars.js";
import type { Expr } from "../../ir/types.js";
import type { KernelCode } from "./kernel-code.js";
import type { VectorParts } from "./parts.js";

/*
 * Least and greatest floats in few instructions. `f64x2.max` keeps NaN and orders zeros by their signs, for which engines need nine instructions on x86,
 * each waiting for the one before. `f64x2.pmax` is one: b where a < b, else a, and so a where one of them is NaN.
 */

type Extremum = Extract<Expr, { op: "binary" }> & { readonly type: FloatType };

const shapeOf = (type: FloatType): string => (type === "f64" ? "f64x2" : "f32x4");

/** Leaves min(a, b) or max(a, b) on the stack; false where only the instruction of that name will do. */
export function emitExtremum(vector: VectorParts, e: Expr): boolean {
  if (e.op !== "binary" || (e.fn !== "min" && e.fn !== "max") || !isFloat(e.type)) return false;
  const { code } = vector;
  const { a, b } = inOrder(e as Extremum);
  const known = b.op === "const" && !Number.isNaN(b.value);
  // In strict mode the sign of a zero counts.
  if (code.strict && !(known && b.value !== 0)) return false;
  const shape = shapeOf(e.type);
  vector.expr(a);
  vector.expr(b);
  if (known) {
    code.fn.op(`${shape}.p${e.fn}`);
    return true;
  }
  const held = code.temp("v128");
  code.fn.tee(held);
  code.fn.op(`${shape}.p${e.fn}`);
  emitUnordered(code, shape, held);
  code.fn.op("v128.or");
  code.release("v128", held);
  return true;
}

/** The operands, a constant last. */
const inOrder = ({ a, b }: Extremum): { a: Expr; b: Expr } => (a.op === "const" ? { a: b, b: a } : { a, b });

/** Leaves all ones, which are a NaN, in lanes of a local that are NaN, and zeros in the others. */
function emitUnordered({ fn }: KernelCode, shape: string, local: number): void {
  fn.get(local);
  fn.get(local);
  fn.op(`${shape}.ne`);
}

/** A running least or greatest value of fast mode; NaN is noted aside. */
export class RunningExtremum {
  /** Local of a vector, all ones in lanes that have met NaN. */
  private readonly unordered: number;
  private readonly shape: string;

  constructor(
    private readonly code: KernelCode,
    private readonly fn: "min" | "max",
    private readonly type: FloatType,
  ) {
    this.unordered = code.fn.local("v128");
    this.shape = shapeOf(type);
  }

  clear(): void {
    this.code.fn.v128([0, 0, 0, 0]);
    this.code.fn.set(this.unordered);
  }

  /** Folds the vector on the stack with the running value in a local, and leaves the result. */
  fold(vector: VectorParts, local: number): void {
    const { code, shape, unordered } = this;
    const { fn } = code;
    const value = code.temp("v128");
    fn.set(value);
    emitUnordered(code, shape, value);
    if (vector.mask !== undefined) {
      vector.maskAs(this.type);
      fn.op("v128.and");
    }
    fn.get(unordered);
    fn.op("v128.or");
    fn.set(unordered);
    fn.get(local);
    fn.get(value);
    fn.op(`${shape}.p${this.fn}`);
    code.release("v128", value);
  }

  /** Makes lanes of the vector on the stack NaN that have met one. */
  settle(): void {
    this.code.fn.get(this.unordered);
    this.code.fn.op("v128.or");
  }
}
