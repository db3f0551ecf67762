/* Kernels with mistakes in them, which are made on purpose. */
/* oxlint-disable no-fallthrough, no-duplicate-case */
import { describe } from "node:test";
import { f64, i32, kernel, print, span, table, view } from "isoform";
import { refuses } from "./refuses.js";

const x = view(f64),
  y = view(f64),
  n = view(i32);

describe("switches that are not plain choices are refused", () => {
  refuses([
    [
      "fall-through",
      kernel("k", { y, n }, ({ y, n }, i) => {
        switch (n[i]) {
          // @ts-expect-error TypeScript refuses it, too
          case 3:
            y[i] = 1;
          case 4:
            y[i] = 2;
        }
      }),
      "case 3:",
      /^case 3 runs on into case 4$/,
      /write both bodies, or group the labels/,
    ],
    [
      "fall-through of one path",
      kernel("k", { y, n }, ({ y, n }, i) => {
        switch (n[i]) {
          // @ts-expect-error TypeScript refuses it, too
          case -1:
            if (y[i] > 0) break;
          default:
            y[i] = 2;
        }
      }),
      "case -1:",
      /^case -1 runs on into default$/,
      /write both bodies/,
    ],
    [
      "floats",
      kernel("k", { y }, ({ y }, i) => {
        switch (y[i]) {
          case 3:
            y[i] = 1;
        }
      }),
      "y[i]",
      /switch takes an integer, and is given f64/,
      /if and else if, or \(x\) \| 0/,
    ],
    [
      "cases that are not constant",
      kernel("k", { y, n }, ({ y, n }, i) => {
        switch (n[i]) {
          case i:
            y[i] = 1;
        }
      }),
      "i:",
      /a case is not a constant whole number/,
      /if and else if/,
    ],
    [
      "fractions",
      kernel("k", { y, n }, ({ y, n }, i) => {
        switch (n[i]) {
          case 1.5:
            y[i] = 1;
        }
      }),
      "1.5",
      /a case is not a constant whole number/,
      /if and else if/,
    ],
    [
      "one case twice",
      kernel("k", { y, n }, ({ y, n }, i) => {
        switch (n[i]) {
          case 1:
            y[i] = 1;
            break;
          case 1:
            y[i] = 2;
        }
      }),
      "case 1:",
      /case 1 stands twice/,
      /leave one of them out/,
    ],
  ]);
});

describe("loops over other things are refused", () => {
  refuses([
    [
      "views of higher rank",
      kernel("k", { u: view(f64, 2), y }, ({ u, y }, i) => {
        for (const row of u as unknown as number[][]) y[i] += row[0];
      }),
      "u as unknown",
      /for-of goes over u, a view of rank 2, given 0 indices/,
      /all indices but the last/,
    ],
    [
      "lists",
      kernel("k", { y }, ({ y }, i) => {
        for (const v of [1, 2]) y[i] += v;
      }),
      "[1, 2]",
      /for-of goes over something else than numbers and arrays/,
      /span\(begin, end\), a table or an array/,
    ],
    [
      "a step that is not constant",
      kernel(
        "k",
        { n, y },
        ({ n, y }, i) => {
          for (const v of span(0, 9, n[i])) y[i] += v;
        },
        () => [span],
      ),
      "span(0, 9",
      /the step of span is not a constant whole number/,
      /for \(let k = a/,
    ],
    [
      "fractions",
      kernel(
        "k",
        { x, y },
        ({ x, y }, i) => {
          for (const v of span(0, x[i])) y[i] += v;
        },
        () => [span],
      ),
      "span(0, x",
      /span is given f64, and counts i32/,
      /\| 0/,
    ],
    [
      "span by itself",
      kernel(
        "k",
        { y },
        ({ y }, i) => {
          const s = span(0, 3);
          for (const v of s) y[i] += v;
        },
        () => [span],
      ),
      "span(0, 3)",
      /span stands outside of the head of a loop/,
      /for \(const k of span/,
    ],
    [
      "a variable from around the loop",
      kernel("k", { x, y }, ({ x, y }, i) => {
        let v = 0;
        for (v of x) y[i] += v;
      }),
      "for (v of x)",
      /a variable from outside of the loop/,
      /declare it there/,
    ],
    [
      "assigned elements of a table",
      kernel(
        "k",
        { y, t: table(f64, [1, 2]) },
        ({ y, t }, i) => {
          for (const v of t) print(v, (y[i] as unknown as { v: number }).v);
        },
        () => [print],
      ),
      "y[i] as unknown",
      /"\.v" is not known here/,
      /docs\/language/,
    ],
  ]);
});

describe("objects that change are refused", () => {
  refuses([
    [
      "fields",
      kernel("k", { y }, ({ y }, i) => {
        let s = { a: 1, b: y[i] };
        s.a = 2;
        s = { ...s, b: 3 };
        y[i] = s.a;
      }),
      "s.a = 2",
      /fields of an object cannot be assigned/,
      /write s = \{ \.\.\.s, a: value \}/,
    ],
    [
      "other fields",
      kernel("k", { y }, ({ y }, i) => {
        let s: Record<string, number> = { a: 1, b: y[i] };
        s = { a: 1, c: 2 };
        y[i] = s.a;
      }),
      "s = { a",
      /s has the fields a, b, and is given an object with a, c/,
      /\{ \.\.\.s, a \}/,
    ],
    [
      "numbers",
      kernel("k", { y }, ({ y }, i) => {
        let s: unknown = { a: 1 };
        s = 2;
        y[i] = s as number;
      }),
      "s = 2",
      /s holds an object, and is given something else/,
      /the same fields/,
    ],
    [
      "arrays in them",
      kernel("k", { y }, ({ y }, i) => {
        let s = { a: [1, 2] };
        if (y[i] > 0) s = { a: [2, 3] };
        y[i] = s.a[0];
      }),
      "s = { a",
      /a of s is neither a number nor a truth value/,
      /const of its own/,
    ],
    [
      "two forms",
      kernel("k", { y }, ({ y }, i) => {
        const s: { a: number; b?: number } = y[i] > 0 ? { a: 1 } : { a: 1, b: y[i] };
        y[i] = s.a;
      }),
      "y[i] > 0 ?",
      /the two values differ in form/,
      /same fields on both sides/,
    ],
    [
      "a number that becomes an object",
      kernel("k", { y }, ({ y }, i) => {
        let s: unknown = 0;
        if (y[i] > 0) s = { a: 1 };
        y[i] = s as number;
      }),
      "{ a: 1 }",
      /an object|record/,
    ],
    [
      "spread numbers",
      kernel("k", { y }, ({ y }, i) => {
        const s = { ...(y as object), a: 1 };
        y[i] = s.a;
      }),
      "y as object",
      /is not an object of the kernel/,
      /name each field/,
    ],
    [
      "Object.assign to a variable",
      kernel("k", { y }, ({ y }, i) => {
        const s = { a: y[i] };
        y[i] = Object.assign(s, { a: 2 }).a;
      }),
      "s, { a: 2 }",
      /fields of an object cannot be assigned/,
      /\{ \.\.\.a, b \}/,
    ],
    [
      "prototypes",
      kernel("k", { y }, ({ y }, i) => {
        const s = { __proto__: { a: 1 } } as unknown as { a: number };
        y[i] = s.a;
      }),
      "__proto__",
      /__proto__ is not a field/,
      /another name/,
    ],
    [
      "truth values that are tested as numbers",
      kernel("k", { y }, ({ y }, i) => {
        y[i] = Number.isNaN(y[i] > 0) ? 1 : 0;
      }),
      "Number.isNaN",
      /Number\.isNaN of a truth value/,
      /give it a number/,
    ],
  ]);
});
