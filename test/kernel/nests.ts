import { f32, kernel, view, type Kernel } from "../../src/index.js";
import { KernelBuilder } from "../../src/ir/builder.js";
import { constant, index, le, load, mul, type Typed } from "../../src/ir/expressions.js";
import type { KernelIR } from "../../src/ir/types.js";

/* Kernels that nest deep, and long ones. */

/** A kernel over arrays x and y of f32 that has this body. */
export const kernelOf = (body: string): Kernel =>
  new Function("kernel", "params", `return kernel("deep", params, ({ x, y }, i) => { ${body} });`)(kernel, {
    x: view(f32),
    y: view(f32),
  }) as Kernel;

export const around = (before: string, inside: string, after: string, n: number): string => before.repeat(n) + inside + after.repeat(n);

/** Bodies that nest `n` deep. */
export const NESTS: Record<string, (n: number) => string> = {
  "a sum in parentheses": (n) => `y[i] = ${around("x[i] + (", "1", ")", n)};`,
  signs: (n) => `y[i] = ${around("- ", "x[i]", "", n)};`,
  choices: (n) => `y[i] = ${around("x[i] > 9 ? 9 : ", "2", "", n)};`,
  calls: (n) => `y[i] = ${around("Math.abs(", "x[i]", ")", n)};`,
  ifs: (n) => around("if (x[i] > 0) {", "y[i] = 2;", "}", n),
  "else ifs": (n) => `${"if (x[i] > 9) { y[i] = 9; } else ".repeat(n)} { y[i] = 2; }`,
  loops: (n) =>
    `let t = 0; ${Array.from({ length: n }, (_, k) => `for (let k${k} = 0; k${k} < 1 + t; k${k}++) {`).join("")} t = 0; ${"}".repeat(n)} y[i] = t;`,
};

/** The deepest that the language takes, less what is around and inside of it. */
export const mostOf = (what: string): number => (what === "ifs" || what === "loops" ? 40 : 97);

/** 1,000 terms or factors. */
export const longChain = (operator: string): string => `y[i] = ${Array.from({ length: 1000 }, () => "x[i]").join(` ${operator} `)};`;

/** A function that calls a function and so on, `n` of them, from the innermost out; `form` writes the `k`th. */
export const CHAINS: Record<string, (k: number) => string> = {
  "a sum": (k) => `(v) => h${k - 1}(v) + 1`,
  "an argument": (k) => `(v) => h${k - 1}(v + 1)`,
  "an early return": (k) => `(v) => { if (v > 1000) return 5; return h${k - 1}(v) + 1; }`,
};

export function chainOf(form: (k: number) => string, n: number): Kernel {
  const helpers = Array.from({ length: n }, (_, k) => `const h${k} = ${k === 0 ? "(v) => v + 1" : form(k)};`);
  const names = helpers.map((_, k) => `h${k}`);
  const text = `kernel("chained", params, ({ x, y }, i) => { y[i] = h${n - 1}(x[i]); }, () => [${names}])`;
  return new Function("kernel", "params", `${helpers.join(" ")} return ${text};`)(kernel, { x: view(f32), y: view(f32) }) as Kernel;
}

/** Kernels of code made by a program that nests `n` deep, each of which puts a 1 into y where x has a 1. */
export const MADE: Record<string, (n: number) => KernelIR> = {
  blocks: (n) => {
    const b = new KernelBuilder("made");
    const [x, y] = [b.view("x", "f32"), b.view("y", "f32")];
    const inside = (depth: number): void =>
      depth === 0 ? b.store(y, index(0), 1) : b.if(le(load(x, index(0)), constant("f32", 1)), () => inside(depth - 1));
    inside(n);
    return b.finish();
  },
  expressions: (n) => {
    const b = new KernelBuilder("made");
    const [x, y] = [b.view("x", "f32"), b.view("y", "f32")];
    let value: Typed<"f32"> = load(x, index(0)) as Typed<"f32">;
    for (let k = 0; k < n; k++) value = mul(load(x, index(0)), value) as Typed<"f32">;
    b.store(y, index(0), value);
    return b.finish();
  },
};
