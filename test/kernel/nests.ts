import { f32, kernel, view, type Kernel } from "../../src/index.js";

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

/** 2,000 terms or factors. */
export const longChain = (operator: string): string => `y[i] = ${Array.from({ length: 2000 }, () => "x[i]").join(` ${operator} `)};`;
