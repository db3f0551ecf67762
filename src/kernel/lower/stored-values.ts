import { ELEMENTS, isHalf, type ElementType, type NumberElement, type NumericType, type ScalarType } from "../../ir/scalars.js";
import type { Expr, KernelIR, Stmt } from "../../ir/types.js";
import { FreshNames } from "../../ir/passes/copy.js";
import { mapBlocks, mapExpr, mapOwnExprs } from "../../ir/walk.js";
import type { ElementMeaning } from "../declare/storage.js";

/* Views whose elements mean something else than what they hold: truth values in bytes, numbers times a scale. The body is lowered as if it saw the values. */

/** The type of values in a body. Loads of truth values have a type that no load has in the end: `withStoredValues` replaces them. */
export const meantType = (element: ElementType, meaning: ElementMeaning | undefined): NumericType =>
  meaning === "truth" ? ("bool" as ScalarType as NumericType) : meaning ? "f32" : ELEMENTS[element].value;

/** The kernel with what its views hold in place of the values that the body reads and writes. */
export function withStoredValues<IR extends KernelIR>(ir: IR, meanings: ReadonlyMap<string, ElementMeaning>): IR {
  if (meanings.size === 0) return ir;
  const elements = new Map(ir.params.flatMap((param) => (param.kind === "view" ? [[param.name, param.element]] : [])));
  const read = (node: Expr): Expr => {
    const meaning = node.op === "load" ? meanings.get(node.view) : undefined;
    if (node.op !== "load" || meaning === undefined) return node;
    const element = elements.get(node.view)!;
    return valueOf({ ...node, type: ELEMENTS[element].value }, meaning);
  };
  const names = new FreshNames(ir);
  const block = (stmts: readonly Stmt[]): Stmt[] =>
    stmts.flatMap((stmt) => {
      const mapped = mapBlocks(
        mapOwnExprs(stmt, (expr) => mapExpr(expr, read)),
        block,
      );
      const meaning = mapped.kind === "store" ? meanings.get(mapped.view) : undefined;
      if (mapped.kind !== "store" || meaning === undefined) return mapped;
      const { view, location } = mapped;
      const before: Stmt[] = [];
      const local = (init: Expr): Expr => {
        const name = names.fresh(`${view}_stored`);
        before.push({ kind: "let", name, type: init.type, init, location });
        return { op: "local", type: init.type, name };
      };
      const value = held(mapped.value, meaning, elements.get(view)!, local);
      return [...before, { ...mapped, value }];
    });
  return { ...ir, body: block(ir.body) };
}

const single = (value: number): Expr => ({ op: "const", type: "f32", value });
const whole = (value: number): Expr => ({ op: "const", type: "i32", value });
const float = (fn: "add" | "sub" | "mul" | "min" | "max", a: Expr, b: Expr): Expr => ({ op: "binary", type: "f32", fn, a, b });

function valueOf(load: Expr, meaning: ElementMeaning): Expr {
  if (meaning === "truth") return { op: "compare", type: "bool", fn: "ne", a: load, b: whole(0) };
  const value: Expr = load.type === "f32" ? load : { op: "cast", type: "f32", a: load };
  return meaning.scale === 1 ? value : float("mul", value, single(meaning.scale));
}

/** @param local gives an expression that is used more than once a name */
function held(value: Expr, meaning: ElementMeaning, element: ElementType, local: (init: Expr) => Expr): Expr {
  if (meaning === "truth") return { op: "select", type: "i32", cond: value, a: whole(1), b: whole(0) };
  const scaled = meaning.scale === 1 ? value : float("mul", value, single(1 / meaning.scale));
  if (isHalf(element)) return scaled;
  const { least, greatest } = ELEMENTS[element as NumberElement];
  const inside = local(float("min", float("max", scaled, single(least)), single(greatest)));
  const floor = (a: Expr): Expr => ({ op: "unary", type: "f32", fn: "floor", a });
  const compare = (fn: "gt" | "eq" | "ne", a: Expr, b: Expr): Expr => ({ op: "compare", type: "bool", fn, a, b });
  const both = (fn: "and" | "or", a: Expr, b: Expr): Expr => ({ op: "logical", type: "bool", fn, a, b });
  const below = local(floor(inside));
  const rest = local(float("sub", inside, below));
  const half = float("mul", below, single(0.5));
  // Ties go to the even one of two whole numbers.
  const up = both("or", compare("gt", rest, single(0.5)), both("and", compare("eq", rest, single(0.5)), compare("ne", floor(half), half)));
  const nearest = float("add", below, { op: "select", type: "f32", cond: up, a: single(1), b: single(0) });
  return { op: "cast", type: "i32", a: nearest };
}
