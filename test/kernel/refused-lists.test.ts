import { describe } from "node:test";
import { atomic, f64, i32, kernel, list, struct, teamKernel, vec3, view } from "isoform";
import { refuses } from "./refuses.js";

const Pair = struct("Pair", { a: f64, b: f64 });

describe("lists refuse", () => {
  refuses([
    [
      "other methods",
      kernel("k", { x: view(f64), out: list(f64) }, ({ x, out }, i) => {
        (out as never as { add(v: number): void }).add(x[i]);
      }),
      "out",
      /^out is a list, and has no method "add" in a kernel$/,
      /^write out\.push\(value\)$/,
    ],
    [
      "several values at once",
      kernel("k", { x: view(f64), out: list(f64) }, ({ x, out }, i) => {
        (out.push as (a: number, b: number) => void)(x[i], 1);
      }),
      "out",
      /^out\.push takes one value, and is given 2$/,
      /^write out\.push\(value\)$/,
    ],
    [
      "values that an earlier turn of a loop has stored",
      kernel("k", { x: view(i32, 2), n: i32, out: list(i32) }, ({ x, n, out }, i) => {
        let sum = 0;
        for (let j = 1; j < n; j++) {
          x[i][j] = j;
          sum += x[i][j - 1];
        }
        out.push(sum);
      }),
      "x[i][j - 1]",
      /^what is appended to out depends on x\[i\]\[j - 1\], into which the same element may have stored before$/,
      /^keep what is stored in a variable, and use that$/,
    ],
    [
      "reads of their length",
      kernel("k", { x: view(f64), out: list(f64) }, ({ x, out }, i) => {
        x[i] = (out as never as number[]).length;
      }),
      "out",
      /^out is a list, and has no "length" in a kernel$/,
      /^write out\.push\(value\), and read its count and elements in another kernel$/,
    ],
    [
      "reads of their elements",
      kernel("k", { x: view(f64), out: list(f64) }, ({ x, out }, i) => {
        x[i] = (out as never as number[])[0];
      }),
      "out",
      /^out is a list: a kernel appends to it and cannot read it$/,
      /read the elements in another kernel$/,
    ],
    [
      "values of another type",
      kernel(
        "k",
        { x: view(f64), out: list(vec3) },
        ({ x, out }, i) => {
          out.push(x[i] as never);
        },
        () => [vec3],
      ),
      "out",
      /^elements of out are vec3, and it is given a number$/,
      /^write vec3\(\.\.\.\)$/,
    ],
    [
      "floats where they hold whole numbers",
      kernel("k", { x: view(f64), out: list(i32) }, ({ x, out }, i) => {
        out.push(x[i]);
      }),
      "out",
      /^out holds i32, and f64 is stored into it$/,
      /.*/,
    ],
    [
      "records of other fields",
      kernel(
        "k",
        { x: view(f64), out: list(Pair) },
        ({ x, out }, i) => {
          out.push({ a: x[i] } as never);
        },
        () => [Pair],
      ),
      "out",
      /^a Pair has the fields a, b, and is given a$/,
      /.*/,
    ],
    [
      "more than they take of an element",
      kernel("k", { x: view(f64), out: list(f64) }, ({ x, out }, i) => {
        if (x[i] > 0) {
          out.push(x[i]);
          out.push(-x[i]);
        }
      }),
      "out.push(-x[i])",
      /^an element appends to out 2 times here, and the list takes 1 of each$/,
      /^declare list\(f64, 2\)$/,
    ],
    [
      "more than they take of an element, in a loop",
      kernel("k", { x: view(f64), out: list(f64, 6) }, ({ x, out }, i) => {
        for (let k = 0; k < 100; k++) out.push(x[i] * k);
      }),
      "for",
      /^an element appends to out 100 times here, and the list takes 6 of each$/,
      /^declare list\(f64, 100\)$/,
    ],
    [
      "values that depend on what the element has stored",
      kernel("k", { x: view(f64), at: view(i32), out: list(f64) }, ({ x, at, out }, i) => {
        x[i] = x[i] * 2;
        if (at[i] > 0) x[i] = 1;
        if (x[i] > 1) out.push(1);
      }),
      "x[i] > 1",
      /^what is appended to out depends on x\[i\], into which the same element may have stored before$/,
      /^keep what is stored in a variable, and use that$/,
    ],
    [
      "atomic arrays beside them",
      kernel("k", { n: atomic(i32), out: list(i32) }, ({ n, out }, i) => {
        if (n.add(0, 1) < 5) out.push(i);
      }),
      "n.add",
      /^it appends to out, and n is atomic: a kernel that counts would change it, too$/,
      /^append in another kernel$/,
    ],
    [
      "teams",
      teamKernel("k", { out: list(f64) }, ({ out }, team) => {
        out.push(team.index);
      }),
      "teamKernel",
      /^the parameter "out" is a list, which teams do not take$/,
      /^append in a kernel over a range$/,
    ],
  ]);
});
