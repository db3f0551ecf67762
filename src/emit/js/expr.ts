import { unreachable } from "../../base/unreachable.js";
import { isFloat, isInteger, isSigned, isUnsigned, isWide, wrap as wrapped, type FloatType } from "../../ir/scalars.js";
import type { BinaryFn, CompareFn, Expr, ScalarType } from "../../ir/types.js";
import { cutWide, WIDE_HELPERS, wideBinary, wideCast, wideUnary } from "./wide.js";

/** Precedence of JavaScript's operators, as far as they are emitted. */
export const P = {
  select: 2,
  or: 3,
  and: 4,
  bitor: 5,
  bitxor: 6,
  bitand: 7,
  equal: 8,
  relation: 9,
  shift: 10,
  add: 11,
  multiply: 12,
  unary: 14,
  atom: 20,
} as const;

/** JavaScript text with the precedence of its outermost operator. */
interface Code {
  text: string;
  precedence: number;
}

/** Scope on which the text of an expression depends: names, addresses, and (in checked code) checks. */
export interface ExprScope {
  local(name: string): string;
  param(name: string): string;
  index(axis: number): string;
  /** A number, or the name of a variable. */
  extent(view: string, axis: number): number | string;
  /** The element of a view, table or array. */
  load(e: Extract<Expr, { op: "load" }>): string;
  table(e: Extract<Expr, { op: "table" }>): string;
  element(e: Extract<Expr, { op: "element" }>): string;
  /** A `checked` node, and whether one has failed. */
  checked(e: Extract<Expr, { op: "checked" }>): string;
  failed(): string;
  /** Called for each integer operation whose exact value may not fit its type; `exact` is its text, of any precedence. */
  checkInteger?(exact: string, e: Expr): string | undefined;
}

/** The helpers whose names occur in the text. */
export function helpersIn(text: string, helpers: Record<string, string>): string[] {
  return Object.entries(helpers)
    .filter(([name]) => new RegExp(`\\${name}\\b`).test(text))
    .map(([, code]) => code);
}

/** The function `powi` of ir/exact.ts, for values of one type. */
export const powiText = (round: (exact: string) => string): string => `(x, n) => {
  let product = n & 1 ? x : 1;
  for (let rest = (n < 0 ? -n : n) >>> 1; rest > 0; rest >>>= 1) {
    x = ${round("x * x")};
    if (rest & 1) product = ${round("product * x")};
  }
  return n < 0 ? ${round("1 / product")} : product;
}`;

/** Rounding of a number to the type. */
export const ROUNDED: Record<FloatType, (exact: string) => string> = { f64: (x) => x, f32: (x) => `Math.fround(${x})` };

/** Functions that emitted code may call, by their names. */
export const HELPERS: Record<string, string> = {
  ...WIDE_HELPERS,
  $toI32: "const $toI32 = (x) => (x >= 2147483647 ? 2147483647 : x <= -2147483648 ? -2147483648 : x | 0);",
  $toU32: "const $toU32 = (x) => (x >= 4294967295 ? 4294967295 : x <= 0 ? 0 : x >>> 0);",
  $isTrue: "const $isTrue = (x) => x < 0 || x > 0;",
  $copysign: "const $copysign = (a, b) => (b < 0 || (b === 0 && 1 / b < 0) ? -Math.abs(a) : Math.abs(a));",
  $powi: `const $powi = ${powiText(ROUNDED.f64)};`,
  $powif: `const $powif = ${powiText(ROUNDED.f32)};`,
  $mulhi: `const $mulhi = (a, b) => {
  const low = (a & 65535) * (b & 65535), m1 = (a >>> 16) * (b & 65535) + (low >>> 16), m2 = (a & 65535) * (b >>> 16) + (m1 & 65535);
  return ((a >>> 16) * (b >>> 16) + (m1 >>> 16) + (m2 >>> 16)) >>> 0;
};`,
};

/** JavaScript for an expression, exact by the rules of ir/types.ts. `precedence` is the strength of the operator around it. */
export function emitExpr(e: Expr, scope: ExprScope, precedence = 0): string {
  return wrap(code(e, scope), precedence);
}

const wrap = (c: Code, precedence: number): string => (c.precedence < precedence ? `(${c.text})` : c.text);

function code(e: Expr, scope: ExprScope): Code {
  const at = (part: Expr, precedence: number): string => wrap(code(part, scope), precedence);
  switch (e.op) {
    case "const":
      return literal(e.value, e.type);
    case "local":
      return atom(scope.local(e.name));
    case "param":
      return atom(scope.param(e.name));
    case "index":
      return atom(scope.index(e.axis));
    case "teamSize":
      return atom("1");
    case "extent":
      return atom(String(scope.extent(e.view, e.axis)));
    case "load":
      return atom(scope.load(e));
    case "element":
      return atom(scope.element(e));
    case "table":
      return atom(scope.table(e));
    case "compare": {
      const equality = e.fn === "eq" || e.fn === "ne";
      const precedence = equality ? P.equal : P.relation;
      return { text: `${at(e.a, precedence)} ${COMPARE[e.fn]} ${at(e.b, precedence + 1)}`, precedence };
    }
    case "logical": {
      const precedence = e.fn === "and" ? P.and : P.or;
      return { text: `${at(e.a, precedence)} ${e.fn === "and" ? "&&" : "||"} ${at(e.b, precedence + 1)}`, precedence };
    }
    case "select":
      return { text: `${at(e.cond, P.select + 1)} ? ${at(e.a, P.select)} : ${at(e.b, P.select)}`, precedence: P.select };
    case "cast":
      return cast(e.a.type, e.type, code(e.a, scope));
    case "call": {
      const args = e.args.map((arg) => at(arg, 0));
      if (e.fn === "powi") return atom(`${POWI[e.type as FloatType]}(${args.join(", ")})`);
      const call = e.fn === "exp2" ? `Math.pow(2, ${args[0]})` : mathCall(e.fn, ...args);
      return round(atom(call), e.type);
    }
    case "unary":
      return unary(e, scope);
    case "binary":
      return binary(e, scope);
    case "checked":
      return { text: scope.checked(e), precedence: P.select };
    case "failed":
      return { text: scope.failed(), precedence: P.relation };
    default:
      return unreachable(e);
  }
}

const mathCall = (fn: keyof Math & string, ...args: string[]): string => `Math.${fn}(${args.join(", ")})`;

const atom = (text: string): Code => ({ text, precedence: P.atom });

const COMPARE: Record<CompareFn, string> = { eq: "===", ne: "!==", lt: "<", le: "<=", gt: ">", ge: ">=" };

/** A number or bigint as JavaScript reads it back; `String` loses the sign of -0. */
export const numberText = (value: number | bigint): string =>
  typeof value === "bigint" ? `${value}n` : Object.is(value, -0) ? "-0" : String(value);

const POWI: Readonly<Record<FloatType, string>> = { f64: "$powi", f32: "$powif" };

function literal(value: number | bigint | boolean, type: ScalarType): Code {
  if (typeof value === "boolean") return atom(String(value));
  const text = numberText(isFloat(type) ? wrapped(type, Number(value)) : value);
  return { text, precedence: text.startsWith("-") ? P.unary : P.atom };
}

/** Brings an exact (or double) result back into `type`. */
function round(exact: Code, type: ScalarType): Code {
  switch (type) {
    case "f32":
      return atom(`Math.fround(${exact.text})`);
    case "i32":
      return { text: `${wrap(exact, P.bitor)} | 0`, precedence: P.bitor };
    case "u32":
      return { text: `${wrap(exact, P.shift)} >>> 0`, precedence: P.shift };
    case "i64":
    case "u64":
      return atom(cutWide(type, exact.text));
    case "f64":
    case "bool":
      return exact;
    default:
      return unreachable(type);
  }
}

function unary(e: Extract<Expr, { op: "unary" }>, scope: ExprScope): Code {
  const a = code(e.a, scope);
  if (isWide(e.type)) return atom(wideUnary(e, wrap(a, P.unary + 1), (exact) => scope.checkInteger?.(exact, e)));
  const operand = (): string => (a.text.startsWith("-") ? `(${a.text})` : wrap(a, P.unary));
  switch (e.fn) {
    case "neg": {
      const exact: Code = { text: `-${operand()}`, precedence: P.unary };
      return isInteger(e.type) ? integer(exact, e, scope) : exact;
    }
    case "not":
      return { text: `!${operand()}`, precedence: P.unary };
    case "bitnot": {
      const exact: Code = { text: `~${operand()}`, precedence: P.unary };
      return isUnsigned(e.type) ? round(exact, e.type) : exact;
    }
    case "abs":
      return isUnsigned(e.type) ? a : isSigned(e.type) ? integer(atom(`Math.abs(${a.text})`), e, scope) : atom(`Math.abs(${a.text})`);
    case "clz":
      return atom(`Math.clz32(${a.text})`);
    case "sqrt":
      return round(atom(`Math.sqrt(${a.text})`), e.type);
    case "floor":
    case "trunc":
    case "ceil":
    case "round":
      return atom(mathCall(e.fn, a.text));
    default:
      return unreachable(e.fn);
  }
}

const OPERATORS: Record<Exclude<BinaryFn, "min" | "max" | "mulhi" | "copysign">, [text: string, precedence: number]> = {
  add: ["+", P.add],
  sub: ["-", P.add],
  mul: ["*", P.multiply],
  div: ["/", P.multiply],
  rem: ["%", P.multiply],
  and: ["&", P.bitand],
  or: ["|", P.bitor],
  xor: ["^", P.bitxor],
  shl: ["<<", P.shift],
  shr: [">>", P.shift],
};

function binary(e: Extract<Expr, { op: "binary" }>, scope: ExprScope): Code {
  const a = code(e.a, scope);
  const b = code(e.b, scope);
  if (isWide(e.type))
    return atom(wideBinary(e.fn, e.type, wrap(a, P.unary + 1), wrap(b, P.unary + 1), (exact) => scope.checkInteger?.(exact, e)));
  const whole = isInteger(e.type);
  switch (e.fn) {
    case "min":
    case "max":
      return atom(mathCall(e.fn, a.text, b.text));
    case "copysign":
      return atom(`$copysign(${a.text}, ${b.text})`);
    case "mulhi":
      return atom(`$mulhi(${a.text}, ${b.text})`);
    case "mul":
      if (whole) {
        const checked = scope.checkInteger?.(`${wrap(a, P.multiply)} * ${wrap(b, P.multiply + 1)}`, e);
        const product = atom(`Math.imul(${a.text}, ${b.text})`);
        return checked ? atom(checked) : isUnsigned(e.type) ? round(product, e.type) : product;
      }
      break;
    case "shr":
      if (isUnsigned(e.type)) return { text: `${wrap(a, P.shift)} >>> ${wrap(b, P.shift + 1)}`, precedence: P.shift };
      break;
    case "add":
    case "sub":
    case "div":
    case "rem":
    case "and":
    case "or":
    case "xor":
    case "shl":
      break;
    default:
      return unreachable(e.fn);
  }
  const [operator, precedence] = OPERATORS[e.fn];
  const exact: Code = { text: `${wrap(a, precedence)} ${operator} ${wrap(b, precedence + 1)}`, precedence };
  const bitwise = e.fn === "and" || e.fn === "or" || e.fn === "xor" || e.fn === "shl" || e.fn === "shr";
  if (bitwise) return isUnsigned(e.type) ? round(exact, e.type) : exact;
  return integer(exact, e, scope, whole && e.fn === "div" ? `Math.trunc(${exact.text})` : exact.text);
}

/** Brings an exact result into the type, in checked code after a look at whether `value` fits. */
function integer(exact: Code, e: Expr, scope: ExprScope, value = exact.text): Code {
  const checked = isInteger(e.type) ? scope.checkInteger?.(value, e) : undefined;
  return checked ? atom(checked) : round(exact, e.type);
}

function cast(from: ScalarType, to: ScalarType, a: Code): Code {
  if (from === to) return a;
  if (isWide(from) || isWide(to)) return atom(wideCast(from, to, wrap(a, P.unary + 1)));
  if (to === "bool") return isInteger(from) ? { text: `${wrap(a, P.equal)} !== 0`, precedence: P.equal } : atom(`$isTrue(${a.text})`);
  // Engines compile it to a number without a branch, unlike a choice of 1 and 0.
  if (from === "bool") return atom(`Number(${a.text})`);
  if (isFloat(to)) return round(a, to);
  return isInteger(from) ? round(a, to) : atom(`$to${to.toUpperCase()}(${a.text})`);
}
