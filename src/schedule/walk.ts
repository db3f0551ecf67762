import { unreachable } from "../base/unreachable.js";
import type { Expr, Place, Stmt, Target } from "./nodes.js";

const NONE: readonly never[] = [];

/** Operands of an expression, in order. */
export function operands(e: Expr): readonly Expr[] {
  switch (e.op) {
    case "const":
    case "local":
    case "number":
    case "place":
      return NONE;
    case "read":
      return [e.offset];
    case "address":
      return e.offset ? [e.offset] : NONE;
    case "table":
      return e.indices;
    case "unary":
    case "cast":
    case "agreed":
      return [e.a];
    case "binary":
    case "compare":
    case "logical":
      return [e.a, e.b];
    case "select":
      return [e.cond, e.a, e.b];
    case "call":
    case "word":
    case "apply":
      return e.args;
    case "shuffle":
      return e.among ? [e.value, e.by, e.among] : [e.value, e.by];
    case "exchange":
      return [e.offset, e.seen, e.wanted];
    case "next":
      return [e.offset];
    default:
      return unreachable(e);
  }
}

const ofPlace = (place: Place): readonly Expr[] => ("memory" in place ? [place.offset] : NONE);
const ofTarget = (to: Target): readonly Expr[] =>
  ["address" in to ? to.address : undefined, to.offset, to.before].filter((e) => e !== undefined);

/** Expressions that a statement evaluates itself, not those of statements inside of it. */
export function expressionsOf(stmt: Stmt): readonly Expr[] {
  switch (stmt.kind) {
    case "let":
      return stmt.value ? [stmt.value] : NONE;
    case "assign":
      return [...ofPlace(stmt.to), stmt.value];
    case "increase":
      return [...ofPlace(stmt.to), stmt.by];
    case "append":
      return [...ofPlace(stmt.at), stmt.value];
    case "array":
      return stmt.fill && stmt.fill !== "zero" ? [stmt.fill] : NONE;
    case "pointer":
      return stmt.to ? ofTarget(stmt.to) : NONE;
    case "point":
      return ofTarget(stmt.to);
    case "atomic":
      return [stmt.offset, stmt.value];
    case "if":
    case "while":
      return [stmt.cond];
    case "loop":
      return [stmt.start, stmt.cond, stmt.step?.by].filter((e) => e !== undefined);
    case "repeat":
      return [stmt.again];
    case "lanesBarrier":
      return [stmt.lanes];
    case "do":
      return [stmt.call];
    case "foldRun":
      return [...ofPlace(stmt.value), stmt.folded];
    case "print":
      return stmt.items.filter((item) => typeof item !== "string");
    case "block":
    case "break":
    case "continue":
    case "return":
    case "barrier":
    case "fence":
      return NONE;
    default:
      return unreachable(stmt);
  }
}

/** Lists of statements inside of a statement. */
export function blocksOf(stmt: Stmt): readonly (readonly Stmt[])[] {
  switch (stmt.kind) {
    case "if":
      return [stmt.then, stmt.else];
    case "while":
      return [stmt.body, stmt.update];
    case "loop":
    case "repeat":
    case "block":
      return [stmt.body];
    default:
      return NONE;
  }
}
