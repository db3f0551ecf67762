import { ELEMENTS, isHalf, type ElementType } from "./scalars.js";
import { simplify } from "./simplify.js";
import type { Expr } from "./types.js";

/** The value that an element has after a store of `value`; undefined where only memory gives it: the operators round to no float of 16 bits. */
export function heldValue(element: ElementType, value: Expr): Expr | undefined {
  const { kind, bytes, value: type } = ELEMENTS[element];
  if (type === element) return value;
  if (isHalf(element)) return undefined;
  const word = (x: number): Expr => ({ op: "const", type: "i32", value: x });
  if (kind === "unsigned") return simplify({ op: "binary", type: "i32", fn: "and", a: value, b: word(2 ** (8 * bytes) - 1) });
  const left = word(32 - 8 * bytes);
  return simplify({
    op: "binary",
    type: "i32",
    fn: "shr",
    a: simplify({ op: "binary", type: "i32", fn: "shl", a: value, b: left }),
    b: left,
  });
}
