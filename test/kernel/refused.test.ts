/* Kernels with mistakes in them, which are made on purpose. */
/* oxlint-disable no-useless-spread, no-unused-expressions, no-unused-vars, no-const-assign */
import assert from "node:assert/strict";
import { describe, it } from "node:test";
import {
  bool,
  f32,
  f64,
  fixed,
  i32,
  kernel,
  min,
  reducer,
  scatter,
  sum,
  table,
  teamKernel,
  u32,
  view,
  type Kernel,
  type Params,
} from "isoform";
import { lowered, pointedAt, refusal } from "./lowered.js";

const x = view(f64),
  y = view(f64),
  s = view(f32),
  n = view(i32),
  u = view(u32),
  a = view(f64, 2);

/** A kernel, the text at which its error must point, its problem and its remedy. */
type Case = [title: string, kernel: unknown, at: string, problem: RegExp, remedy?: RegExp];

function refuses(cases: readonly Case[]): void {
  for (const [title, k, at, problem, remedy] of cases)
    it(title, () => {
      const error = refusal(k as Kernel);
      assert.match(error.problem, problem);
      if (remedy) assert.match(error.remedy ?? "", remedy);
      else assert.equal(error.remedy, undefined);
      assert.ok(pointedAt(error).trimStart().startsWith(at), `it points at ${pointedAt(error)}`);
      assert.match(error.message, /^kernel "k", .*\/test\/kernel\/refused\.test\.ts:\d+:\d+: /);
    });
}

const outside = 3;
const captured = { f: (v: number): number => v };
const fibonacci = (v: number): number => (v < 2 ? v : fibonacci(v - 1) + fibonacci(v - 2));

describe("captures are refused", () => {
  refuses([
    [
      "of variables",
      kernel("k", { y }, ({ y }, i) => {
        y[i] = outside * 2;
      }),
      "outside * 2",
      /captures "outside", which is not a parameter/,
      /declare it: kernel\(name, \{ \.\.\., outside \}/,
    ],
    [
      "of variables by helpers",
      kernel("k", { y, f: (v: number) => v * outside }, ({ y, f }, i) => {
        y[i] = f(2);
      }),
      "outside",
      /captures "outside"/,
      /declare it/,
    ],
    [
      "of functions of modules",
      kernel("k", { y }, ({ y }, i) => {
        y[i] = captured.f(y[i]);
      }),
      "captured.f",
      /captures "captured.f"/,
      /hand the function over/,
    ],
    [
      "of parameters that are not taken",
      kernel("k", { y, outside: f64 }, ({ y }, i) => {
        y[i] = outside;
      }),
      "outside;",
      /captures "outside"/,
      /declare it/,
    ],
    [
      "under names that are no parameters",
      kernel("k", { y }, (p, i) => {
        p.y[i] = (p as unknown as { z: number }).z;
      }),
      "p as unknown",
      /there is no parameter "z"/,
    ],
    [
      "of recursive helpers",
      kernel("k", { y, fibonacci }, ({ y, fibonacci }, i) => {
        y[i] = fibonacci(y[i]);
      }),
      "fibonacci(v - 1)",
      /fibonacci calls itself/,
      /no recursion; write a loop/,
    ],
    [
      "of functions inside that call themselves",
      kernel("k", { y }, ({ y }, i) => {
        const down = (v: number): number => (v > 0 ? down(v - 1) : v);
        y[i] = down(y[i]);
      }),
      "down(v - 1)",
      /down calls itself/,
      /loop/,
    ],
  ]);
});

describe("types that do not fit are refused", () => {
  refuses([
    [
      "division of integers",
      kernel("k", { n }, ({ n }, i) => {
        n[i] = n[i] / 2;
      }),
      "n[i] / 2",
      /integers are divided, which gives a fraction/,
      /\(a \/ b\) \| 0 for the whole part, or \+a \/ b/,
    ],
    [
      "division by an index",
      kernel("k", { y }, ({ y }, i) => {
        y[i] = 1 / i;
      }),
      "1 / i",
      /integers are divided/,
      /\+a/,
    ],
    [
      "i32 with u32",
      kernel("k", { n, u }, ({ n, u }, i) => {
        n[i] = n[i] + u[i];
      }),
      "n[i] + u[i]",
      /i32 and u32 are mixed/,
      />>> 0 or \(...\) \| 0/,
    ],
    [
      "a comparison of i32 with u32",
      kernel("k", { n, u }, ({ n, u }, i) => {
        if (n[i] < u[i]) n[i] = 0;
      }),
      "n[i] < u[i]",
      /i32 and u32 are mixed/,
      /convert one/,
    ],
    [
      "f64 stored as f32",
      kernel("k", { s, x }, ({ s, x }, i) => {
        s[i] = x[i] + 1;
      }),
      "s[i] = ",
      /s holds f32, and f64 is stored into it/,
      /Math\.fround/,
    ],
    [
      "f64 stored as i32",
      kernel("k", { n, x }, ({ n, x }, i) => {
        n[i] = x[i];
      }),
      "n[i] = ",
      /n holds i32, and f64/,
      /\| 0/,
    ],
    [
      "i32 stored as u32",
      kernel("k", { u, n }, ({ u, n }, i) => {
        u[i] = n[i];
      }),
      "u[i] = ",
      /u holds u32, and i32/,
      />>> 0/,
    ],
    [
      "truth values stored as numbers",
      kernel("k", { y, b: bool }, ({ y, b }, i) => {
        y[i] = b as never;
      }),
      "y[i] = ",
      /y holds f64, and bool/,
      /condition \? 1 : 0/,
    ],
    [
      "literals out of range",
      kernel("k", { n }, ({ n }, i) => {
        n[i] = 3000000000;
      }),
      "n[i] = ",
      /n holds i32, and 3000000000/,
      /3000000000 \| 0/,
    ],
    [
      "negative literals with u32",
      kernel("k", { u }, ({ u }, i) => {
        if (u[i] > -1) u[i] = 0;
      }),
      "u[i] > -1",
      /-1 meets u32/,
      /-1 >>> 0/,
    ],
    [
      "fractions where integers are needed",
      kernel("k", { n }, ({ n }, i) => {
        n[i] = 2.5;
      }),
      "n[i] = ",
      /n holds i32, and f64/,
      /\| 0/,
    ],
    [
      "fractions as indices",
      kernel("k", { x, y }, ({ x, y }, i) => {
        y[i] = x[Math.floor(x[i])];
      }),
      "Math.floor(x[i])",
      /an index must be i32, but here is f64/,
      /\| 0/,
    ],
    [
      "a variable that changes from i32 to f64",
      kernel("k", { y }, ({ y }, i) => {
        let v = i;
        v *= y[i];
        y[i] = v;
      }),
      "v *= y[i]",
      /v is i32, but here is f64/,
      /\| 0/,
    ],
    [
      "a variable that changes from f32 to f64",
      kernel("k", { s, y }, ({ s, y }, i) => {
        let v = s[i];
        v += y[i];
        s[i] = v;
      }),
      "v += y[i]",
      /v is f32, but here is f64/,
      /Math\.fround/,
    ],
    [
      "arithmetic of truth values",
      kernel("k", { y, b: bool }, ({ y, b }, i) => {
        y[i] = (b as never) + 1;
      }),
      "b as never) + 1",
      /bool and i32 cannot be combined/,
      /condition \? 1 : 0/,
    ],
    [
      "negated u32",
      kernel("k", { u }, ({ u }, i) => {
        u[i] = -u[i];
      }),
      "-u[i]",
      /a u32 is negated/,
      /0 - x/,
    ],
    [
      "bit operations on floats",
      kernel("k", { n, x }, ({ n, x }, i) => {
        n[i] = x[i] & 1;
      }),
      "x[i] & 1",
      /a bit operation on f64/,
      /convert it first/,
    ],
    [
      "powers of integers",
      kernel("k", { n }, ({ n }, i) => {
        n[i] = n[i] ** 2;
      }),
      "n[i] ** 2",
      /\*\* of integers/,
      /multiply/,
    ],
    [
      "f64 folded as i32",
      kernel("k", { x, t: sum(i32) }, ({ x, t }, i) => {
        t.add(x[i]);
      }),
      "t.add(x[i])",
      /t holds i32, and f64/,
      /\| 0/,
    ],
  ]);
});

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

describe("syntax outside the language is refused", () => {
  refuses([
    [
      "for-of",
      kernel("k", { x, y }, ({ x, y }, i) => {
        for (const v of x as unknown as number[]) y[i] += v;
      }),
      "for (const v of",
      /for-of is not part/,
      /count with for/,
    ],
    [
      "switch",
      kernel("k", { y }, ({ y }, i) => {
        switch (i) {
          default:
            y[i] = 1;
        }
      }),
      "switch",
      /switch is not part/,
      /if and else if/,
    ],
    [
      "throw",
      kernel("k", { y }, ({ y }, i) => {
        if (y[i] < 0) throw new Error("negative");
      }),
      "throw",
      /throw is not part/,
      /error code to a view/,
    ],
    [
      "labels",
      kernel("k", { y }, ({ y }, i) => {
        outer: for (;;) {
          y[i] = 1;
          break outer;
        }
      }),
      "outer: for",
      /a label is not part/,
      /docs\/language\.md/,
    ],
    [
      "var",
      kernel("k", { y }, ({ y }, i) => {
        var v = 1;
        y[i] = v;
      }),
      "var v",
      /var is not part/,
      /let or const/,
    ],
    [
      "strings",
      kernel("k", { y }, ({ y }, i) => {
        y[i] = "1" as never;
      }),
      '"1"',
      /"1" is not a number/,
      /numbers and truth values/,
    ],
    [
      "??",
      kernel("k", { y }, ({ y }, i) => {
        y[i] = (y[i] as number | undefined) ?? 1;
      }),
      "(y[i] as number | undefined) ??".slice(1),
      /\?\? is not part/,
      /write if/,
    ],
    [
      "this",
      kernel("k", { y }, function (this: { v: number }, { y }: { y: { [k: number]: number } }, i: number) {
        y[i] = this.v;
      } as never),
      "this.v",
      /ThisExpression is not part/,
      /docs/,
    ],
    [
      "spread",
      kernel("k", { y }, ({ y }, i) => {
        y[i] = Math.max(...[1, 2]);
      }),
      "...[1, 2]",
      /SpreadElement is not part/,
      /docs/,
    ],
    [
      "new objects",
      kernel("k", { y }, ({ y }, i) => {
        y[i] = new Date() as never;
      }),
      "new Date()",
      /only new Float64Array\(n\)/,
    ],
    [
      "private arrays of unknown length",
      kernel("k", { y }, ({ y }, i) => {
        const v = new Float64Array(i);
        y[i] = v[0];
      }),
      "new Float64Array(i)",
      /must be a constant from 1 to 65536/,
      /fixed\(i32\)/,
    ],
    [
      "random numbers of the engine",
      kernel("k", { y }, ({ y }, i) => {
        y[i] = Math.random();
      }),
      "Math.random()",
      /Math\.random is not part/,
      /philox/,
    ],
    [
      "unknown functions of Math",
      kernel("k", { y }, ({ y }, i) => {
        y[i] = (Math as never as { f: (v: number) => number }).f(1);
      }),
      "Math as never",
      /Math\.f is not part/,
    ],
    [
      "the wrong number of arguments",
      kernel("k", { y }, ({ y }, i) => {
        y[i] = (Math.pow as (v: number) => number)(y[i]);
      }),
      "Math.pow as",
      /Math\.pow takes 2 arguments here, and is given 1/,
    ],
    [
      "the console",
      kernel("k", { y }, ({ y }, i) => {
        console.log(y[i]);
      }),
      "console.log",
      /console is there on the device js-debug only/,
      /run it there, or remove/,
    ],
    [
      "statements without effect",
      kernel("k", { y }, ({ y }, i) => {
        y[i];
      }),
      "y[i];",
      /no effect/,
      /assign its value/,
    ],
    [
      "unknown properties",
      kernel("k", { y }, ({ y }, i) => {
        y[i] = (y as never as { size: number }).size;
      }),
      "y as never",
      /"\.size" is not known here/,
      /docs/,
    ],
  ]);
  it("functions without text", () => {
    assert.match(
      refusal(
        kernel("k", { y, f: Math.sin }, ({ y, f }, i) => {
          y[i] = f(1);
        }),
      ).message,
      /sin is built into the engine and has no source text/,
    );
    assert.match(
      refusal(
        kernel("k", { y }, (async ({ y }: never, i: never) => {
          y[i] = 1 as never;
        }) as never),
      ).message,
      /is async/,
    );
  });
  it("kernels without indices, or with too many", () => {
    assert.match(
      refusal(
        kernel("k", { y }, ({ y }) => {
          y[0] = 1;
        }),
      ).message,
      /0 index parameters \(write \(params, i\) => \.\.\., with 1 to 4 indices\)/,
    );
    assert.match(
      refusal(
        teamKernel("k", { y }, ({ y }) => {
          y[0] = 1;
        }),
      ).message,
      /takes the parameters and the team/,
    );
  });
  it("parameters that are no declarations, and tables with gaps", () => {
    assert.match(
      refusal(kernel("k", { y: 3 as never }, () => undefined as never) as never).message,
      /index parameters|"y" is declared as 3/,
    );
    assert.match(
      refusal(kernel("k", { y, z: 3 } as unknown as Params, ((_: never, i: number) => void i) as never)).message,
      /the parameter "z" is declared as 3 \(declare f64, view\(f64\)/,
    );
    assert.match(
      refusal(
        kernel("k", { t: table(f64, [[1], [1, 2]]), y }, ({ t, y }, i) => {
          y[i] = t[0][0];
        }),
      ).message,
      /"t" is not a full array of rank 1 to 4/,
    );
  });
  it("fixed parameters without a value", () => {
    assert.match(
      refusal(
        kernel("k", { m: fixed(i32), y }, ({ m, y }, i) => {
          y[i] = m;
        }),
      ).message,
      /fixed parameter "m" has no value \(give it with the arguments\)/,
    );
  });
  it("folds with statements", () => {
    const r = reducer(f64, 0, (p, q) => {
      let v = p;
      v += q;
      return v;
    });
    assert.match(
      refusal(
        kernel("k", { r, y }, ({ r, y }, i) => {
          r.merge(y[i]);
        }),
      ).message,
      /the fold of r has statements \(write it as one expression\)/,
    );
  });
  it("but the console is accepted where the function itself runs", () => {
    const k = kernel("k", { y }, ({ y }, i) => {
      console.log(y[i]);
      y[i] = 1;
    });
    assert.throws(() => lowered(k), /js-debug only/);
  });
});

describe("races are refused", () => {
  refuses([
    [
      "a store at the same place by all",
      kernel("k", { y, x }, ({ y, x }, i) => {
        y[0] = x[i];
      }),
      "y[0] = ",
      /several elements of the range may write y\[0\]/,
      /index y by the range's index i/,
    ],
    [
      "a store at a place from memory",
      kernel("k", { y, n }, ({ y, n }, i) => {
        y[n[i]] = 1;
      }),
      "y[n[i]]",
      /several elements of the range may write y\[n\[i\]\]/,
      /scatter/,
    ],
    [
      "a read of a neighbour that is written",
      kernel("k", { y }, ({ y }, i) => {
        y[i] = y[i + 1];
      }),
      "y[i + 1]",
      /reads y\[i \+ 1\] while y\[i\] is written by another element/,
      /write to another view/,
    ],
    [
      "a linear index",
      kernel("k", { y, w: i32 }, ({ y, w }, i, j) => {
        y[i * w + j] = 1;
      }),
      "y[i * w + j]",
      /several elements of the range may write/,
      /one index more/,
    ],
    [
      "a store by a team's members",
      teamKernel("k", { y, x }, ({ y, x }, team) => {
        team.range(8, (j) => {
          y[team.index] = x[j];
        });
      }),
      "y[team.index] = ",
      /several members of the team may write/,
      /member's index/,
    ],
    [
      "a local of the team assigned by its members",
      teamKernel("k", { x, y }, ({ x, y }, team) => {
        let v = 0;
        team.range(8, (j) => {
          v += x[j];
        });
        y[team.index] = v;
      }),
      "v += x[j]",
      /assigns v inside a loop shared by the team/,
      /team\.sum/,
    ],
  ]);
});
