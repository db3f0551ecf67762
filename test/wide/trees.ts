import { f64, i32, i64, table, u64, view } from "../../src/kernel/declare/params.js";
import { kernel, type Kernel } from "../../src/kernel/declare/kernel.js";
import { sequence } from "../random/data.js";

/*
 * Random expressions of integers of 64 bits, as text for a kernel and as a function that computes them by BigInt. Each operation of the function is the sentence
 * of docs/language.md about it, and shares nothing with the compiler.
 */

type Value = bigint | number | boolean;
type Type = "i64" | "u64" | "i32" | "u32" | "f64" | "bool";

/** What one element reads. */
export interface Element {
  readonly i: number;
  readonly x: bigint;
  readonly y: bigint;
  readonly u: bigint;
  readonly w: bigint;
  readonly c: number;
}

interface Tree {
  readonly text: string;
  value(at: Element): Value;
}

/** What a device, or a way to call the kernel, allows. */
export interface Allowed {
  /** Floats of 64 bits, and conversions. */
  readonly floats: boolean;
  readonly division: boolean;
  /** The text says each wrap, and divides by no zero, so that the function itself gives the same as plain JavaScript. */
  readonly faithful: boolean;
}

export const SCALARS = { p: -0x123456789abcdefn, q: 0xfedcba9876543210n };
const TABLE = [1n, -1n, 0x7fffffffffffffffn, -0x8000000000000000n, 0x100000000n];
const INT_LITERALS = [0n, 1n, -1n, 2n, 63n, -64n, 0x7fffffffn, -0x80000000n, 0xffffffffn, 0x7fffffffffffffffn, -0x8000000000000000n];
const UINT_LITERALS = [0n, 1n, 3n, 63n, 0xffffffffn, 0x100000000n, 0x8000000000000000n, 0xffffffffffffffffn];

const cut = (type: "i64" | "u64", value: bigint): bigint => (type === "i64" ? BigInt.asIntN(64, value) : BigInt.asUintN(64, value));
const cutText = (type: "i64" | "u64", text: string): string => `BigInt.as${type === "i64" ? "Int" : "Uint"}N(64, ${text})`;
const saturated = (type: "i64" | "u64", x: number): bigint => {
  const [least, most] = type === "i64" ? [-(2n ** 63n), 2n ** 63n - 1n] : [0n, 2n ** 64n - 1n];
  const whole = BigInt(Math.trunc(x));
  return whole < least ? least : whole > most ? most : whole;
};

class Writer {
  private readonly next: () => number;

  constructor(
    seed: number,
    private readonly allowed: Allowed,
  ) {
    this.next = sequence(seed);
  }

  below(n: number): number {
    return Math.floor(this.next() * n);
  }

  private pick<T>(list: readonly T[]): T {
    return list[this.below(list.length)];
  }

  of(type: Type, depth: number): Tree {
    if (type === "bool") return this.truth(depth);
    if (type === "f64") return this.float(depth);
    if (type === "i32" || type === "u32") return this.word(type, depth);
    return depth === 0 || this.below(8) === 0 ? this.leaf(type) : this.wide(type, depth - 1);
  }

  private leaf(type: "i64" | "u64"): Tree {
    const signed = type === "i64";
    switch (this.below(5)) {
      case 0: {
        const value = this.pick(signed ? INT_LITERALS : UINT_LITERALS);
        // A literal alone is an i64, so it is written with its type.
        return { text: `${cutText(type, `${value}n`)}`, value: () => value };
      }
      case 1:
        return signed ? { text: "p", value: () => SCALARS.p } : { text: "q", value: () => SCALARS.q };
      case 2:
        if (signed) return { text: "T[i % 5]", value: ({ i }) => TABLE[i % 5] };
        return { text: "w[i]", value: ({ w }) => w };
      case 3:
        return signed ? { text: "y[i]", value: ({ y }) => y } : { text: "w[i]", value: ({ w }) => w };
      default:
        return signed ? { text: "x[i]", value: ({ x }) => x } : { text: "u[i]", value: ({ u }) => u };
    }
  }

  private wide(type: "i64" | "u64", depth: number): Tree {
    const said = (text: string): string => (this.allowed.faithful || this.below(2) ? cutText(type, text) : `(${text})`);
    const [a, strong] = [this.of(type, depth), this.of(type, depth)];
    // A literal takes the type of what it meets.
    const literal = this.pick(type === "i64" ? INT_LITERALS : UINT_LITERALS);
    const b: Tree = this.below(4) > 0 ? strong : { text: literal < 0n ? `(${literal}n)` : `${literal}n`, value: () => literal };
    const big = (tree: Tree, at: Element): bigint => tree.value(at) as bigint;
    switch (this.below(this.allowed.division ? 16 : 14)) {
      case 0:
      case 1:
        return { text: said(`${a.text} + ${b.text}`), value: (at) => cut(type, big(a, at) + big(b, at)) };
      case 2:
      case 3:
        return { text: said(`${a.text} - ${b.text}`), value: (at) => cut(type, big(a, at) - big(b, at)) };
      case 4:
      case 5:
        return { text: said(`${a.text} * ${b.text}`), value: (at) => cut(type, big(a, at) * big(b, at)) };
      case 6: {
        const operator = this.pick(["&", "|", "^"] as const);
        const of = { "&": (s: bigint, t: bigint) => s & t, "|": (s: bigint, t: bigint) => s | t, "^": (s: bigint, t: bigint) => s ^ t }[
          operator
        ];
        return { text: `(${a.text} ${operator} ${b.text})`, value: (at) => of(big(a, at), big(b, at)) };
      }
      case 7:
      case 8:
        return this.shift(type, a, strong, said);
      case 9:
        if (type === "u64") return { text: cutText(type, `~${a.text}`), value: (at) => cut(type, ~big(a, at)) };
        return this.below(2)
          ? { text: `(~${a.text})`, value: (at) => ~big(a, at) }
          : { text: said(`-${a.text}`), value: (at) => cut(type, -big(a, at)) };
      case 10: {
        const cond = this.of("bool", depth);
        return { text: `(${cond.text} ? ${a.text} : ${b.text})`, value: (at) => big(cond.value(at) ? a : b, at) };
      }
      case 11:
        return this.converted(type, depth);
      case 12: {
        const bits = 1 + this.below(64);
        const from = this.of(this.pick(["i64", "u64"]), depth);
        const cutBits = type === "i64" ? BigInt.asIntN : BigInt.asUintN;
        return { text: `BigInt.as${type === "i64" ? "Int" : "Uint"}N(${bits}, ${from.text})`, value: (at) => cutBits(bits, big(from, at)) };
      }
      case 13:
        return {
          text: `${type === "i64" ? "mixed" : "mixedUnsigned"}(${a.text}, ${b.text})`,
          value: (at) => cut(type, (big(a, at) ^ big(b, at)) * 3n),
        };
      default: {
        const remainder = this.below(2) === 0;
        const divisor: Tree = this.allowed.faithful ? { text: `(${b.text} | ${cutText(type, "1n")})`, value: (at) => big(b, at) | 1n } : b;
        return {
          text: said(`${a.text} ${remainder ? "%" : "/"} ${divisor.text}`),
          value: (at) => {
            const by = big(divisor, at);
            return by === 0n ? 0n : cut(type, remainder ? big(a, at) % by : big(a, at) / by);
          },
        };
      }
    }
  }

  private shift(type: "i64" | "u64", a: Tree, b: Tree, said: (text: string) => string): Tree {
    const known = BigInt(this.below(64));
    const isKnown = this.below(2) === 0;
    const masked = this.allowed.faithful || this.below(2) === 0 || !/^[xyuw]\[i\]$/.test(b.text);
    const count = isKnown ? `${known}n` : masked ? `(${b.text} & 63n)` : b.text;
    const countAt = (at: Element): bigint => (isKnown ? known : BigInt.asUintN(6, b.value(at) as bigint));
    return this.below(2)
      ? { text: said(`${a.text} << ${count}`), value: (at) => cut(type, (a.value(at) as bigint) << countAt(at)) }
      : { text: `(${a.text} >> ${count})`, value: (at) => (a.value(at) as bigint) >> countAt(at) };
  }

  /** From a type of another kind. */
  private converted(type: "i64" | "u64", depth: number): Tree {
    const from = this.pick(["i64", "u64", "i32", "u32", "f64"] as const);
    if (from === "f64" && (!this.allowed.floats || this.allowed.faithful)) return this.leaf(type);
    const a = this.of(from, depth);
    if (from === "f64") {
      // BigInt gives an i64.
      const whole = (at: Element): bigint => saturated("i64", a.value(at) as number);
      return { text: cutText(type, `BigInt(Math.trunc(${a.text}))`), value: (at) => cut(type, whole(at)) };
    }
    const text = from === "i64" || from === "u64" ? a.text : `BigInt(${a.text})`;
    return { text: cutText(type, text), value: (at) => cut(type, BigInt(a.value(at) as bigint | number)) };
  }

  private word(type: "i32" | "u32", depth: number): Tree {
    if (depth === 0 || this.below(4) === 0)
      return type === "i32" ? { text: "c[i]", value: ({ c }) => c } : { text: "(c[i] >>> 0)", value: ({ c }) => c >>> 0 };
    if (this.below(2)) {
      const [a, b] = [this.of(type, depth - 1), this.of(type, depth - 1)];
      const end = type === "i32" ? "| 0" : ">>> 0";
      const whole = (value: number): number => (type === "i32" ? value | 0 : value >>> 0);
      return { text: `((${a.text} + ${b.text}) ${end})`, value: (at) => whole((a.value(at) as number) + (b.value(at) as number)) };
    }
    const a = this.of(this.pick(["i64", "u64"]), depth - 1);
    return type === "i32"
      ? { text: this.lowBits("Int", a.text, "| 0"), value: (at) => Number(BigInt.asIntN(32, a.value(at) as bigint)) }
      : { text: this.lowBits("Uint", a.text, ">>> 0"), value: (at) => Number(BigInt.asUintN(32, a.value(at) as bigint)) };
  }

  private readonly lowBits = (kind: string, text: string, end: string): string => `(Number(BigInt.as${kind}N(32, ${text})) ${end})`;

  private float(depth: number): Tree {
    if (depth === 0) return { text: "(+c[i])", value: ({ c }) => c };
    const a = this.of(this.pick(["i64", "u64"]), depth - 1);
    const number: Tree = { text: `Number(${a.text})`, value: (at) => Number(a.value(at)) };
    if (this.below(2)) return number;
    const b = this.of("f64", depth - 1);
    return { text: `(${number.text} + 0.5 * ${b.text})`, value: (at) => (number.value(at) as number) + 0.5 * (b.value(at) as number) };
  }

  private truth(depth: number): Tree {
    if (depth === 0) return { text: "(c[i] > 0)", value: ({ c }) => c > 0 };
    const type = this.pick(["i64", "u64"] as const);
    const [a, b] = [this.of(type, depth - 1), this.of(type, depth - 1)];
    const operator = this.pick(["<", "<=", ">", ">=", "===", "!==", "!"] as const);
    if (operator === "!") return { text: `(!${a.text})`, value: (at) => a.value(at) === 0n };
    const compare = {
      "<": (s: Value, t: Value) => s < t,
      "<=": (s: Value, t: Value) => s <= t,
      ">": (s: Value, t: Value) => s > t,
      ">=": (s: Value, t: Value) => s >= t,
      "===": (s: Value, t: Value) => s === t,
      "!==": (s: Value, t: Value) => s !== t,
    }[operator];
    return { text: `(${a.text} ${operator} ${b.text})`, value: (at) => compare(a.value(at), b.value(at)) };
  }
}

/** Kernels with this many expressions each: more would take compilers of C too long. */
const OF_KERNEL = 100;

/** A kernel of random expressions, and their values. */
export interface Trees {
  readonly kernel: Kernel;
  readonly signed: readonly Tree[];
  readonly unsigned: readonly Tree[];
  readonly doubles: readonly Tree[];
  readonly words: readonly Tree[];
}

const mixed = (a: bigint, b: bigint): bigint => BigInt.asIntN(64, (a ^ b) * 3n);
const mixedUnsigned = (a: bigint, b: bigint): bigint => BigInt.asUintN(64, (a ^ b) * 3n);

/** The kernel of a seed. */
export function treesOf(seed: number, allowed: Allowed): Trees {
  const writer = new Writer(seed, allowed);
  const kinds = { signed: "i64", unsigned: "u64", doubles: "f64", words: "i32" } as const;
  const lists: Record<keyof typeof kinds, Tree[]> = { signed: [], unsigned: [], doubles: [], words: [] };
  for (let n = 0; n < OF_KERNEL; n++) {
    const choice = writer.below(10);
    const kind = choice < 4 ? "signed" : choice < 8 ? "unsigned" : choice === 8 && allowed.floats ? "doubles" : "words";
    lists[kind].push(writer.of(kinds[kind], 2 + writer.below(4)));
  }
  const assigned = (target: string, trees: readonly Tree[]): string[] => trees.map(({ text }, n) => `  ${target}[i][${n}] = ${text};`);
  const lines = [
    ...assigned("o", lists.signed),
    ...assigned("ou", lists.unsigned),
    ...assigned("d", lists.doubles),
    ...assigned("oc", lists.words),
  ];
  const names = ["x", "y", "u", "w", "p", "q", "c", "o", "ou", "oc", ...(allowed.floats ? ["d"] : [])].join(", ");
  const T = table(i64, TABLE);
  const made = `return [({ ${names} }, i) => {\n${lines.join("\n")}\n}, () => [T, mixed, mixedUnsigned]];`;
  const [body, captures] = new Function("T", "mixed", "mixedUnsigned", made)(T, mixed, mixedUnsigned) as [never, () => never];
  const params = {
    x: view(i64),
    y: view(i64),
    u: view(u64),
    w: view(u64),
    p: i64,
    q: u64,
    c: view(i32),
    o: view(i64, 2),
    ou: view(u64, 2),
    oc: view(i32, 2),
    ...(allowed.floats && { d: view(f64, 2) }),
  };
  return { kernel: kernel("trees", params as never, body, captures) as Kernel, ...lists };
}
