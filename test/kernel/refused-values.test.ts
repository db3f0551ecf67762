/* Kernels with mistakes in them, which are made on purpose. */
/* oxlint-disable no-unused-vars, no-const-assign */
import { describe } from "node:test";
import { f64, kernel, min, scatter, sum, table, view } from "isoform";
import { refuses } from "./refuses.js";

const x = view(f64),
  y = view(f64),
  a = view(f64, 2);

describe("what is no value or cannot change is refused", () => {
  refuses([
    [
      "too few indices in a value",
      kernel("k", { a, y }, ({ a, y }, i) => {
        y[i] = a[i] as never;
      }),
      "a[i]",
      /a is a view of rank 2 and is used with 1 index as a number/,
      /an index for each axis/,
    ],
    [
      "too few indices in an assignment",
      kernel("k", { a }, ({ a }, i) => {
        a[i] = 1 as never;
      }),
      "a[i] = ",
      /a is a view of rank 2, assigned with 1 index/,
      /an index for each axis/,
    ],
    [
      "too many indices",
      kernel("k", { x, y }, ({ x, y }, i) => {
        y[i] = (x[i] as never)[0];
      }),
      "x[i] as never)[0]",
      /a number is indexed/,
      /check the number of indices/,
    ],
    [
      "assigned parameters",
      kernel("k", { y, c: f64 }, ({ y, c }, i) => {
        c = 2;
        y[i] = c;
      }),
      "c = 2",
      /c is a parameter or a constant and cannot be assigned/,
      /local declared with let/,
    ],
    [
      "assigned constants",
      kernel("k", { y }, ({ y }, i) => {
        const c = y[i];
        // @ts-expect-error: the very mistake
        c += 1;
      }),
      "c += 1",
      /c is a parameter or a constant/,
      /let/,
    ],
    [
      "assigned tables",
      kernel("k", { t: table(f64, [1, 2]) }, ({ t }, i) => {
        (t as number[])[i] = 1;
      }),
      "t as number[]",
      /the table t is constant/,
      /use a view/,
    ],
    [
      "assigned fields",
      kernel("k", { y }, ({ y }, i) => {
        const r = { v: 1 };
        r.v = 2;
        y[i] = r.v;
      }),
      "r.v = 2",
      /fields of an object cannot be assigned/,
      /let/,
    ],
    [
      "assigned elements of constant lists",
      kernel("k", { y }, ({ y }, i) => {
        const v = [1, 2];
        v[0] = y[i];
      }),
      "v[0] = ",
      /array literal that is declared const/,
      /let, or use new Float64Array/,
    ],
    [
      "reading a scatter target",
      kernel("k", { h: scatter(f64), y }, ({ h, y }, i) => {
        y[i] = (h as never)[i];
      }),
      "h as never)[i]",
      /h is a scatter target: a kernel adds into it and cannot read it/,
      /h\.add\(index, value\)/,
    ],
    [
      "reading a reduction",
      kernel("k", { t: sum(f64), y }, ({ t, y }, i) => {
        y[i] = t as never;
      }),
      "t as never",
      /t is a reduction/,
      /t\.add\(value\)/,
    ],
    [
      "the wrong fold",
      kernel("k", { t: min(f64), y }, ({ t, y }, i) => {
        (t as never as { add: (v: number) => void }).add(y[i]);
      }),
      "t as never",
      /t has no method "add"/,
      /t\.min\(value\)/,
    ],
    [
      "the wrong number of indices of a scatter",
      kernel("k", { h: scatter(f64, 2) }, ({ h }, i) => {
        (h.add as (...v: number[]) => void)(i, 1);
      }),
      "h.add",
      /h has rank 2 and is given 2 arguments/,
      /an index for each axis, then the value/,
    ],
    [
      "methods of arrays",
      kernel("k", { x, y }, ({ x, y }, i) => {
        y[i] = (x as unknown as number[]).indexOf(2);
      }),
      "x as unknown",
      /arrays have no method "indexOf"/,
      /write a loop/,
    ],
    [
      "functions as numbers",
      kernel("k", { y }, ({ y }, i) => {
        y[i] = Math.sin as never;
      }),
      "Math.sin",
      /a function is used as a number/,
    ],
    [
      "a helper that returns nothing",
      kernel(
        "k",
        {
          y,
          f: (v: number): void => {
            if (v) return;
          },
        },
        ({ y, f }, i) => {
          y[i] = f(1) as never;
        },
      ),
      "f(1)",
      /returns nothing is used as a value/,
      /every path/,
    ],
    [
      "a helper that returns on some paths",
      kernel(
        "k",
        {
          y,
          f: (v: number) => {
            if (v > 0) return 1;
          },
        },
        ({ y, f }, i) => {
          y[i] = f(y[i])!;
        },
      ),
      "{",
      /f returns a value on some paths only/,
      /every path/,
    ],
    [
      "a helper that returns values of several forms",
      kernel(
        "k",
        {
          y,
          f: (v: number) => {
            if (v > 0) return [1, 2];
            return [3];
          },
        },
        ({ y, f }, i) => {
          y[i] = f(y[i])[0];
        },
      ),
      "return [3]",
      /differs in form/,
      /same values everywhere/,
    ],
    [
      "missing arguments",
      kernel("k", { y, f: (v: number, w?: number) => v + w! }, ({ y, f }, i) => {
        y[i] = f(y[i]);
      }),
      "w",
      /f needs 2 arguments, and is given 1/,
    ],
    [
      "kernels that return a value",
      kernel("k", { y }, (({ y }: { y: number[] }, i: number) => {
        return y[i];
      }) as never),
      "({ y }",
      /the kernel returns a value/,
      /write results to a view/,
    ],
    [
      "lists at an index that is not constant",
      kernel("k", { y }, ({ y }, i) => {
        y[i] = [1, 2, 3][i];
      }),
      "[1, 2, 3][i]",
      /indexed by something that is not constant/,
      /Float64Array\(n\), or a table/,
    ],
  ]);
});
