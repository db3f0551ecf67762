import type { NumericType, ScatterOp, ScatterParam } from "./types.js";

const LIMITS: Record<NumericType, readonly [least: number, greatest: number]> = {
  f64: [-Infinity, Infinity],
  f32: [-Infinity, Infinity],
  i32: [-0x80000000, 0x7fffffff],
  u32: [0, 0xffffffff],
};

/** The value that changes nothing when it is folded by `op`. */
export function identityOf(op: ScatterOp, type: NumericType): number {
  return op === "sum" ? 0 : LIMITS[type][op === "min" ? 1 : 0];
}

/** False where updates of a scatter target give the same bits in any order. */
export const orderMatters = ({ op, element }: Pick<ScatterParam, "op" | "element">): boolean =>
  op === "sum" && (element === "f64" || element === "f32");
