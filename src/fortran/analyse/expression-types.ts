import { own } from "../../base/own.js";
import { unreachable } from "../../base/unreachable.js";
import type { ActualArgument, Apply, Binary, Expr, Literal } from "../tree/index.js";
import { findProcedure, find, kindBytes, namedVariable, suffixBytes, type UnitScope, type Variable } from "./symbols.js";

/* Types and ranks of expressions, as overloaded procedures are told apart. */

/** `real8`, `integer4`, `complex4`, `logical`, `character`, or the place and name of a derived type. */
export interface ExpressionType {
  readonly type: string;
  readonly rank: number;
}

/** Type of a variable; undefined if its kind is unknown. */
export function typeOfVariable(variable: Variable): ExpressionType | undefined {
  const rank = variable.dims?.length ?? 0;
  const named = nameOf(variable);
  return named === undefined ? undefined : { type: named, rank };
}

function nameOf({ type, derived, complex, wide, byte, refused, ofElement }: Variable): string | undefined {
  const bytes = type === "f64" ? 8 : 4;
  if (derived !== undefined) return `type ${derived}`;
  if (complex) return `complex${bytes}`;
  if (wide || byte) return `integer${wide ? 8 : 1}`;
  if (refused?.construct === "character") return "character";
  if (refused && !ofElement && !/^(pointer|common)\b/.test(refused.construct)) return undefined;
  return type === "bool" ? "logical" : type === "i32" ? "integer4" : `real${bytes}`;
}

/** The type and rank of an expression, as far as they are certain. */
export function typeOfExpression(scope: UnitScope, e: Expr): ExpressionType | undefined {
  switch (e.kind) {
    case "literal":
      return typeOfLiteral(scope, e);
    case "name":
    case "part": {
      const variable = namedVariable(scope, e);
      return variable && typeOfVariable(variable);
    }
    case "group":
      return typeOfExpression(scope, e.a);
    case "unary":
      return typeOfExpression(scope, e.a);
    case "binary":
      return typeOfBinary(scope, e);
    case "constructor": {
      const [first] = e.items;
      const found = !e.type && first && first.kind !== "implied-do" ? typeOfExpression(scope, first) : undefined;
      return found && { ...found, rank: 1 };
    }
    case "complex": {
      const [re, im] = [e.re, e.im].map((part) => typeOfExpression(scope, part)?.type);
      return re && im ? { type: re === "real8" || im === "real8" ? "complex8" : "complex4", rank: 0 } : undefined;
    }
    case "apply":
      return typeOfApplied(scope, e);
    default:
      return unreachable(e);
  }
}

function typeOfLiteral(scope: UnitScope, { type, text, suffix }: Literal): ExpressionType | undefined {
  if (type === "character" || type === "logical") return { type, rank: 0 };
  const bytes = suffix === undefined ? (type === "real" && /d/i.test(text) ? 8 : 4) : suffixBytes(scope, suffix);
  return bytes === undefined ? undefined : { type: `${type}${bytes}`, rank: 0 };
}

function typeOfBinary(scope: UnitScope, e: Binary): ExpressionType | undefined {
  const [a, b] = [e.a, e.b].map((side) => typeOfExpression(scope, side));
  if (!a || !b || a.type.startsWith("type ") || b.type.startsWith("type ")) return undefined;
  const rank = Math.max(a.rank, b.rank);
  if (/^(==|\/=|[<>]=?|\.\w+\.)$/.test(e.op)) return { type: "logical", rank };
  const type = e.op === "//" ? "character" : promotedType(a.type, b.type);
  return type === undefined ? undefined : { type, rank };
}

const ORDER = ["integer", "real", "complex"];

function promotedType(a: string, b: string): string | undefined {
  if (a === b) return a;
  const [x, y] = [a, b].map((type) => /^(integer|real|complex)(\d)$/.exec(type));
  if (!x || !y) return undefined;
  const [m, n] = [x, y].map(([, kind]) => ORDER.indexOf(kind));
  if (m === n) return x[2] >= y[2] ? a : b;
  const [high, low] = m > n ? [x, y] : [y, x];
  if (low[1] === "integer") return high[0];
  return `${high[1]}${Math.max(Number(high[2]), Number(low[2]))}`;
}

/** Functions of the type and rank of their first argument, and of the type alone. */
const AS_FIRST =
  "abs max min sqrt exp log log10 sin cos tan asin acos atan atan2 sinh cosh tanh sign mod modulo aint anint merge dim".split(" ");
const FOLDS: readonly string[] = ["sum", "product", "maxval", "minval", "dot_product", "norm2"];
const CONVERTS: Readonly<Record<string, string>> = { real: "real4", dble: "real8", int: "integer4", nint: "integer4", floor: "integer4" };
const COUNTS: readonly string[] = ["size", "count", "lbound", "ubound"];

function typeOfApplied(scope: UnitScope, e: Apply): ExpressionType | undefined {
  const variable = namedVariable(scope, e.base);
  if (variable?.dims) {
    const found = typeOfVariable(variable);
    const axes = e.args.map((arg) => (arg.kind === "section" ? 1 : typeOfExpression(scope, arg.value)?.rank));
    return found && axes.every((axis) => axis !== undefined) ? { ...found, rank: axes.reduce((a, b) => a + b, 0) } : undefined;
  }
  if (e.base.kind !== "name") return undefined;
  const { name } = e.base;
  const procedure = findProcedure(scope, name);
  if (procedure) return resultOf(procedure, scope, e.args);
  if (find(scope, name)) return undefined;
  const given = e.args.flatMap((arg) => (arg.kind === "value" ? [arg.value] : []));
  const first = given[0] && typeOfExpression(scope, given[0]);
  if (!first) return undefined;
  if (AS_FIRST.includes(name)) {
    const rank = Math.max(...given.map((arg) => typeOfExpression(scope, arg)?.rank ?? NaN));
    const type = name === "abs" ? first.type.replace("complex", "real") : first.type;
    return Number.isNaN(rank) ? undefined : { type, rank };
  }
  if (FOLDS.includes(name)) return e.args.length === 1 || name === "dot_product" ? { type: first.type, rank: 0 } : undefined;
  if (COUNTS.includes(name)) return e.args.length === 2 || name === "count" || name === "size" ? { type: "integer4", rank: 0 } : undefined;
  return converted(scope, name, e.args, first);
}

function converted(
  scope: UnitScope,
  name: string,
  args: readonly ActualArgument[],
  { type, rank }: ExpressionType,
): ExpressionType | undefined {
  const to = own(CONVERTS, name);
  const kind = args[1];
  if (to === undefined) return undefined;
  if (kind?.kind !== "value") return { type: name === "real" && type === "complex8" ? "real8" : to, rank };
  const bytes = kindBytes(scope, kind.value);
  return bytes === undefined ? undefined : { type: to.replace(/\d/, String(bytes)), rank };
}

function resultOf(procedure: UnitScope, scope: UnitScope, args: readonly ActualArgument[]): ExpressionType | undefined {
  const { unit } = procedure;
  const result = unit.kind === "procedure" ? procedure.variables.get(unit.result ?? unit.name) : undefined;
  const found = result && typeOfVariable(result);
  if (!found || unit.kind !== "procedure" || !unit.prefixes.includes("elemental")) return found;
  const ranks = args.map((arg) => (arg.kind === "value" ? typeOfExpression(scope, arg.value)?.rank : undefined));
  return ranks.every((rank) => rank !== undefined) ? { ...found, rank: Math.max(0, ...ranks) } : undefined;
}
