import { unreachable } from "../base/unreachable.js";
import { BINARY, COMPARE } from "./operators.js";
import { evaluateBinary, evaluateCall, evaluateCast, evaluateComparison, evaluateUnary } from "./evaluate.js";
import { inclusiveStop, isExact } from "./loop-stops.js";
import { isFloat, isInteger, isWide, wrap, type IntegerType } from "./scalars.js";
import type { PlainValue } from "./evaluate.js";
import type { BinaryFn, Expr, NumberType, NumericType, ScalarType } from "./types.js";
import { walkExpr } from "./walk.js";

export type Const = Extract<Expr, { op: "const" }>;
type Unary = Extract<Expr, { op: "unary" }>;
type Binary = Extract<Expr, { op: "binary" }>;
type Call = Extract<Expr, { op: "call" }>;

export const literal = (type: ScalarType, value: PlainValue): Const => ({ op: "const", type, value });

/**
 * The simplest form of an expression whose children are simple, with the same bits in every case: float arithmetic keeps what NaN,
 * infinities and the signs of zeros make of it (x + 0 and x * 0 stay).
 */
export function simplify(expr: Expr): Expr {
  switch (expr.op) {
    case "unary":
      return simplifyUnary(expr);
    case "binary": {
      const { fn, a, b } = expr;
      const type = expr.type as NumericType;
      if (isExact(expr)) return inclusiveStop(a, fn === "add" ? 1 : -1);
      if (a.op === "const" && b.op === "const") return literal(type, evaluateBinary(fn, type, a.value as number, b.value as number));
      return isFloat(type) ? simplifyFloat(expr) : simplifyInteger(expr);
    }
    case "compare":
      return expr.a.op === "const" && expr.b.op === "const"
        ? literal("bool", evaluateComparison(expr.fn, expr.a.value, expr.b.value))
        : expr;
    case "cast":
      return simplifyCast(expr);
    case "call":
      return simplifyCall(expr);
    case "const":
    case "local":
    case "param":
    case "index":
    case "teamSize":
    case "load":
    case "element":
    case "table":
    case "extent":
    case "logical":
    case "select":
    case "checked":
    case "failed":
      return expr;
    default:
      return unreachable(expr);
  }
}

function simplifyUnary(expr: Unary): Expr {
  const { a, fn } = expr;
  if (a.op === "const") return literal(expr.type, evaluateUnary(fn, expr.type, a.value));
  if (a.op === "unary" && a.fn === fn && (fn === "neg" || fn === "not" || fn === "bitnot")) return a.a;
  // With a NaN both < and >= are false, so only == and != have an inverse on floats.
  if (fn === "not" && a.op === "compare" && (!isFloat(a.a.type) || a.fn === "eq" || a.fn === "ne"))
    return { ...a, fn: COMPARE[a.fn].inverse };
  return expr;
}

const isNumber = (side: Expr, value: number): boolean =>
  side.op === "const" && (typeof side.value === "bigint" ? side.value === BigInt(value) : Object.is(side.value, value));

/** The operand whose negative a side is, with the same bits: x for -x, 2 * x for -2 * x. */
function negated(side: Expr): Expr | undefined {
  if (side.op === "unary" && side.fn === "neg") return side.a;
  if (side.op !== "binary" || side.fn !== "mul") return undefined;
  const [a, b] = [side.a, side.b].map((factor) =>
    factor.op === "const" && (factor.value as number) < 0 ? literal(factor.type, -(factor.value as number)) : undefined,
  );
  if (a) return { ...side, a };
  return b && { ...side, b };
}

const negative = (a: Expr): Expr => simplify({ op: "unary", type: a.type, fn: "neg", a });

const isNaNLiteral = (side: Expr): boolean => side.op === "const" && Number.isNaN(side.value);

function simplifyFloat(expr: Binary): Expr {
  const { fn, a, b } = expr;
  if (fn === "copysign" && b.op === "const") {
    const size = simplify({ op: "unary", type: expr.type, fn: "abs", a });
    return (b.value as number) < 0 || Object.is(b.value, -0) ? negative(size) : size;
  }
  // Left to PoCL, floor and exp of such a NaN have no value at all.
  if (isNaNLiteral(a) || isNaNLiteral(b)) return literal(expr.type, NaN);
  switch (fn) {
    case "mul":
      if (isNumber(a, 1) || isNumber(b, 1)) return isNumber(a, 1) ? b : a;
      if (isNumber(a, -1) || isNumber(b, -1)) return negative(isNumber(a, -1) ? b : a);
      return expr;
    case "div": {
      if (isNumber(b, 1)) return a;
      const reciprocal = b.op === "const" ? exactReciprocal(b.value as number) : undefined;
      return reciprocal === undefined ? expr : { ...expr, fn: "mul", b: literal(expr.type, reciprocal) };
    }
    case "add": {
      if (isNumber(a, -0)) return b;
      if (isNumber(b, -0)) return a;
      const [minusA, minusB] = [negated(a), negated(b)];
      if (minusB) return { ...expr, fn: "sub", b: minusB };
      return minusA ? { ...expr, fn: "sub", a: b, b: minusA } : expr;
    }
    case "sub": {
      if (isNumber(b, 0)) return a;
      const minusB = negated(b);
      return minusB ? { ...expr, fn: "add", b: minusB } : expr;
    }
    case "min":
    case "max":
      // LLVM takes -0 > x ? -0 : x for an instruction that gives either zero, and x > -0 ? x : -0 not.
      return a.op === "const" ? { ...expr, a: b, b: a } : expr;
    case "rem":
    case "copysign":
    case "and":
    case "or":
    case "xor":
    case "shl":
    case "shr":
    case "mulhi":
      return expr;
    default:
      return unreachable(fn);
  }
}

/** 1/x where x is a power of two of moderate size, so that it is exact and normal in f32, too. */
function exactReciprocal(x: number): number | undefined {
  const exponent = Math.round(Math.log2(Math.abs(x)));
  return Math.abs(exponent) <= 100 && Math.abs(x) === 2 ** exponent ? 1 / x : undefined;
}

const ZERO_LEAVES: readonly BinaryFn[] = ["add", "sub", "or", "xor", "shl", "shr"];
const ZERO_WINS: readonly BinaryFn[] = ["mul", "and", "mulhi"];

function simplifyInteger(expr: Binary): Expr {
  const { fn, a, b } = expr;
  if (isNumber(b, 0) && ZERO_LEAVES.includes(fn)) return a;
  if (isNumber(b, 0) && ZERO_WINS.includes(fn)) return b;
  if (isNumber(a, 0) && ZERO_WINS.includes(fn)) return a;
  if (isNumber(a, 0) && (fn === "add" || fn === "or" || fn === "xor")) return b;
  if (isNumber(b, 1) && (fn === "mul" || fn === "div")) return a;
  if (isNumber(a, 1) && fn === "mul") return b;
  return isWide(expr.type) ? shortCount(expr) : gatherConstants(expr);
}

/** A shift of 64 bits by a constant from 0 to 63. */
function shortCount(expr: Binary): Expr {
  const { fn, a, b } = expr;
  if ((fn !== "shl" && fn !== "shr") || b.op !== "const") return expr;
  const count = BigInt.asUintN(6, b.value as bigint);
  return count === 0n ? a : count === b.value ? expr : { ...expr, b: literal(expr.type, count) };
}

/** Small powers become products, which are within the 2 ulp of functions (1.5 ulp for a cube). */
function simplifyCall(expr: Call): Expr {
  const values = expr.args.flatMap((arg) => (arg.op === "const" ? [arg.value as number] : []));
  if (values.length === expr.args.length) return literal(expr.type, evaluateCall(expr.fn, expr.type, values));
  if (expr.fn !== "powi" && expr.fn !== "pow") return expr;
  const [base, exponent] = expr.args as [Expr, Expr];
  if (expr.fn === "powi") return (exponent.op === "const" && product(base, exponent.value as number)) || expr;
  if (!cheap(base)) return expr;
  const times = (x: Expr, y: Expr): Expr => ({ op: "binary", type: expr.type, fn: "mul", a: x, b: y });
  if (isNumber(exponent, 1)) return base;
  if (isNumber(exponent, 2)) return times(base, base);
  return isNumber(exponent, 3) ? times(times(base, base), base) : expr;
}

/** The products of powi, in its order; undefined if they would write the base too often. */
function product(base: Expr, n: number): Expr | undefined {
  const { type } = base;
  if (n === 0) return literal(type, 1);
  if (!cheap(base) || Math.abs(n) * nodesOf(base) > MOST_FACTORS) return undefined;
  const times = (a: Expr, b: Expr): Expr => ({ op: "binary", type, fn: "mul", a, b });
  let power = base;
  let result = n & 1 ? base : undefined;
  for (let rest = Math.abs(n) >>> 1; rest > 0; rest >>>= 1) {
    power = times(power, power);
    if (rest & 1) result = result ? times(result, power) : power;
  }
  return n < 0 ? simplify({ op: "binary", type, fn: "div", a: literal(type, 1), b: result! }) : result;
}

/** Most nodes that a power is expanded to; compilers find the equal ones among them. */
const MOST_FACTORS = 32;

function nodesOf(expr: Expr): number {
  let nodes = 0;
  walkExpr(expr, () => nodes++);
  return nodes;
}

/** True if computing the expression again costs less than a function call. */
function cheap(expr: Expr): boolean {
  let nodes = 0;
  walkExpr(expr, (node) => {
    const slow = node.op === "call" || (node.op === "unary" && node.fn === "sqrt") || (node.op === "binary" && node.fn === "div");
    nodes += slow ? Infinity : 1;
  });
  return nodes <= 16;
}

/** (x + 2) - 3 becomes x - 1: integer sums wrap, so they may be regrouped. The constant goes to the right, without a sign. */
function gatherConstants(expr: Binary): Expr {
  const { fn, type, a, b } = expr;
  if (fn === "add" && a.op === "const") return gatherConstants({ ...expr, a: b, b: a });
  const outer = shiftOf(expr);
  if (outer === undefined) return expr;
  const inner = a.op === "binary" ? shiftOf(a) : undefined;
  const base = inner === undefined ? a : (a as typeof expr).a;
  const total = (outer + (inner ?? 0)) | 0;
  if (total === 0) return base;
  const minus = total < 0 && total !== -2147483648;
  if (inner === undefined && fn === (minus ? "sub" : "add")) return expr;
  return minus
    ? { ...expr, fn: "sub", a: base, b: literal(type, -total) }
    : { ...expr, fn: "add", a: base, b: literal(type, wrap(type as NumberType, total)) };
}

/** s of x + s or x - (-s), as a signed number. */
function shiftOf({ fn, b }: Binary): number | undefined {
  if (b.op !== "const" || (fn !== "add" && fn !== "sub")) return undefined;
  return ((fn === "add" ? 1 : -1) * (b.value as number)) | 0;
}

function simplifyCast(expr: Extract<Expr, { op: "cast" }>): Expr {
  const { type, a } = expr;
  if (a.type === type) return a;
  if (a.op === "const") return literal(type, evaluateCast(type, a.type, a.value));
  // i32 -> f64 -> i32 and the like: the wider type holds every value of the narrower.
  if (a.op === "cast" && a.a.type === type && a.type === "f64" && type !== "bool" && !isWide(type)) return a.a;
  return isInteger(type) && isInteger(a.type) && isWide(type) === isWide(a.type) ? (reinterpret(a, type) ?? expr) : expr;
}

/** An integer expression done in the other signedness, where its bits are the same and no cast is left in it. */
function reinterpret(expr: Expr, type: IntegerType): Expr | undefined {
  if (expr.op === "const") return literal(type, evaluateCast(type, expr.type, expr.value));
  if (expr.op === "cast") return expr.a.type === type ? expr.a : undefined;
  if (expr.op !== "binary" || !BINARY[expr.fn].sameBits) return undefined;
  const a = reinterpret(expr.a, type);
  const b = a && reinterpret(expr.b, type);
  return b && simplify({ ...expr, type, a, b });
}
