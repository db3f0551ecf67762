import type { Code } from "../c/code.js";
import { NUMBERS, type Numbers } from "../../schedule/plan/numbers.js";

/** Spelling of a plan's arithmetic in the language of a launch function. */
interface Spelling {
  floor(a: string, b: string): string;
  ceil(a: string, b: string): string;
  least(a: string, b: string): string;
  greatest(a: string, b: string): string;
  /** These mention their operands several times. */
  readonly repeats: boolean;
  /** A line that declares a number which does not change. */
  declare(name: string, value: string): string;
  /** Lines that declare the least power of two that reaches `value`, or `most`. */
  declarePower(name: string, value: string, most: number): string[];
}

const isTerm = (text: string): boolean => /^(\w+|\([^()]*\))$/.test(text);
const isProduct = (text: string): boolean => isTerm(text) || /^\w+( \* \w+)*$/.test(text);
const isConstant = (text: string): boolean => /^\d+$/.test(text);
const closed = (text: string, open: (text: string) => boolean): string => (open(text) ? text : `(${text})`);

/** A plan's numbers as expressions, in which constants are computed; `fresh` gives names. Lines go to `code`. */
export class NumbersAsText implements Numbers<string> {
  constructor(
    private readonly spelling: Spelling,
    private readonly code: Code,
    private readonly fresh: (wish: string) => string,
  ) {}

  of(value: number): string {
    return String(value);
  }

  sum(a: string, b: string): string {
    if (a === "0" || b === "0") return a === "0" ? b : a;
    return this.known("sum", a, b) ?? `${closed(a, isProduct)} + ${closed(b, isProduct)}`;
  }

  product(...factors: readonly string[]): string {
    if (factors.includes("0")) return "0";
    const constant = factors.filter(isConstant).reduce((all, factor) => all * Number(factor), 1);
    const rest = factors.filter((factor) => !isConstant(factor)).map((factor) => closed(factor, isProduct));
    return [...(constant === 1 && rest.length > 0 ? [] : [String(constant)]), ...rest].join(" * ");
  }

  floor(a: string, b: string): string {
    if (b === "1") return a;
    return this.known("floor", a, b) ?? this.spelling.floor(closed(a, isProduct), closed(b, isTerm));
  }

  ceil(a: string, b: string): string {
    if (b === "1") return a;
    return this.known("ceil", a, b) ?? this.spelling.ceil(closed(a, isProduct), closed(b, isTerm));
  }

  least(a: string, b: string): string {
    if (a === b) return a;
    return this.known("least", a, b) ?? this.spelling.least(...this.inOrder(a, b));
  }

  greatest(a: string, b: string): string {
    if (a === b) return a;
    return this.known("greatest", a, b) ?? this.spelling.greatest(...this.inOrder(a, b));
  }

  powerUpTo(wish: string, value: string, most: number): string {
    const name = this.fresh(wish);
    for (const line of this.spelling.declarePower(name, value, most)) this.code.line(line);
    return name;
  }

  ifSome(count: string, value: string): string {
    return `(${count} > 0 ? ${value} : 0)`;
  }

  keep(wish: string, value: string): string {
    if (/^\w+$/.test(value)) return value;
    const name = this.fresh(wish);
    this.code.declaration(name, this.spelling.declare(name, value));
    return name;
  }

  /** Two operands, each evaluated once, a constant as the second. */
  private inOrder(a: string, b: string): [string, string] {
    const [first, second] = isConstant(a) ? [b, a] : [a, b];
    return this.spelling.repeats ? [this.keep("n", first), this.keep("n", second)] : [first, second];
  }

  private known(operation: "sum" | "floor" | "ceil" | "least" | "greatest", a: string, b: string): string | undefined {
    return isConstant(a) && isConstant(b) ? String(NUMBERS[operation](Number(a), Number(b))) : undefined;
  }
}

/** C, whose signed integers of 64 bits are `i64`. */
export const inC = (i64: string): Spelling => ({
  floor: (a, b) => `${a} / ${b}`,
  ceil: (a, b) => `(${a} + ${isConstant(b) ? Number(b) - 1 : `${b} - 1`}) / ${b}`,
  least: (a, b) => `(${a} < ${b} ? ${a} : ${b})`,
  greatest: (a, b) => `(${a} > ${b} ? ${a} : ${b})`,
  repeats: true,
  declare: (name, value) => `const ${i64} ${name} = ${unwrapped(value)};`,
  declarePower: (name, value, most) => [`${i64} ${name} = 1;`, `while (${name} < ${value} && ${name} < ${most}) ${name} *= 2;`],
});

export const IN_JAVASCRIPT: Spelling = {
  floor: (a, b) => `Math.floor(${a} / ${b})`,
  ceil: (a, b) => `Math.ceil(${a} / ${b})`,
  least: (a, b) => `Math.min(${a}, ${b})`,
  greatest: (a, b) => `Math.max(${a}, ${b})`,
  repeats: false,
  declare: (name, value) => `const ${name} = ${unwrapped(value)};`,
  declarePower: (name, value, most) => [`let ${name} = 1;`, `while (${name} < ${value} && ${name} < ${most}) ${name} *= 2;`],
};

/** A whole expression without the parentheses around it. */
const unwrapped = (text: string): string => (/^\([^()]*\)$/.test(text) ? text.slice(1, -1) : text);
