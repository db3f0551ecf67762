/* Kernels with mistakes in them, which are made on purpose. */
/* oxlint-disable no-useless-spread, no-unused-expressions */
import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { f64, fixed, i32, kernel, print, reducer, table, teamKernel, type Params, view } from "isoform";
import { lowered, refusal } from "./lowered.js";
import { refuses } from "./refuses.js";

const x = view(f64),
  y = view(f64);

describe("syntax outside the language is refused", () => {
  refuses([
    [
      "for-in",
      kernel("k", { x, y }, ({ x, y }, i) => {
        for (const v in x) y[i] += Number(v);
      }),
      "for (const v in",
      /for-in is not part/,
      /count with for/,
    ],
    [
      "the rest of the parameters in a pattern",
      kernel("k", { x, y }, ({ x, ...rest }, i) => {
        rest.y[i] = x[i];
      }),
      "...rest",
      /rest and computed names are not supported in a pattern/,
    ],
    [
      "computed names in a pattern",
      kernel("k", { x, y }, ({ ["x"]: values, y }, i) => {
        y[i] = values[i];
      }),
      '["x"]: values',
      /rest and computed names are not supported in a pattern/,
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
        outer: {
          y[i] = 1;
          if (i > 1) break outer;
          y[i] = 2;
        }
      }),
      "outer: {",
      /the label outer is not before a loop/,
      /label loops only/,
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
      /this is not part/,
      /docs/,
    ],
    [
      "spread",
      kernel("k", { y }, ({ y }, i) => {
        y[i] = Math.max(...[1, 2]);
      }),
      "...[1, 2]",
      /a spread list, \.\.\.a, is not part/,
      /write a loop: m = Math\.max\(m, a\[k\]\)/,
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
      /see docs\/language\.md/,
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
      "what JavaScript has",
      kernel("k", { y }, ({ y }, i) => {
        y[i] = Date.now();
      }),
      "Date.now",
      /Date\.now is not part of the kernel language/,
      /see docs\/language\.md/,
    ],
    [
      "undefined",
      kernel("k", { y }, ({ y }, i) => {
        y[i] = (y[i] as unknown) === undefined ? 1 : 0;
      }),
      "undefined",
      /undefined is not a number/,
      /kernels have numbers/,
    ],
    [
      "the console",
      kernel("k", { y }, ({ y }, i) => {
        console.log(y[i]);
      }),
      "console.log",
      /console works on the device js-debug only/,
      /write print/,
    ],
    [
      "a template that is printed",
      kernel("k", { y }, ({ y }, i) => {
        print(`cell ${i}`, y[i]);
      }),
      "`cell ${i}`",
      /does not take templates with values/,
      /write print\("cell", i\)/,
    ],
    [
      "a view that is printed",
      kernel("k", { y }, ({ y }, _i) => {
        print("cell", y as unknown as number);
      }),
      "y as unknown as number",
      /y is a view of rank 1/,
      /an index for each axis/,
    ],
    [
      "statements without effect",
      kernel("k", { y }, ({ y }, i) => {
        y[i] == 1;
      }),
      "y[i] == 1;",
      /no effect/,
      /assign its value/,
    ],
    [
      "several indices in one pair of brackets",
      kernel("k", { y: view(f64, 2) }, ({ y }, i) => {
        // @ts-expect-error one value is never used
        y[(0, i)] = 3 as never;
      }),
      "0, i",
      /several indices/,
      /write a\[i\]\[j\]/,
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
  it("steps of a team inside of others, and of lanes", () => {
    assert.match(
      refusal(
        teamKernel("k", { y }, ({ y }, team) => {
          team.range(4, (j) => {
            y[team.index * 4 + j] = team.sum(2, (k) => k);
          });
        }),
      ).message,
      /team\.sum inside team\.range \(share the work of one member out among its lanes/,
    );
    assert.match(
      refusal(
        teamKernel("k", { y }, ({ y }, team) => {
          team.single(() => {
            y[team.index] = team.max(2, (k) => k);
          });
        }),
      ).message,
      /team\.max inside team\.single \(end it before/,
    );
    assert.match(
      refusal(
        teamKernel("k", { y }, ({ y }, team) => {
          team.range(4, (j, lanes) => {
            y[team.index * 4 + j] = lanes.sum(2, (k) => k + lanes.sum(3, (m) => m));
          });
        }),
      ).message,
      /lanes\.sum inside lanes\.sum \(a lane runs alone: write a loop\)/,
    );
    assert.match(
      refusal(
        teamKernel("k", { y }, ({ y }, team) => {
          team.range(4, (j, lanes) => {
            y[team.index * 4 + j] = (lanes as never as { scratch: (n: number) => number }).scratch(2);
          });
        }),
      ).message,
      /lanes have no method "scratch"/,
    );
  });
  it("scratch whose length or options are not known", () => {
    assert.match(
      refusal(
        teamKernel("k", { y }, ({ y }, team) => {
          const held = team.scratch("f64", team.index + 1, { level: 1 });
          y[team.index] = held[0];
        }),
      ).message,
      /the length of scratch on level 1 must be known at the launch \(compute it from scalars and extents alone\)/,
    );
    assert.match(
      refusal(
        teamKernel("k", { y, n: i32 }, ({ y, n }, team) => {
          const held = team.scratch("f64", n);
          y[team.index] = held[0];
        }),
      ).message,
      /the length of scratch must be constant .*\{ level: 1 \}/,
    );
    assert.match(
      refusal(
        teamKernel("k", { y }, ({ y }, team) => {
          const held = team.scratch("f64", 4, { level: 2 as never });
          y[team.index] = held[0];
        }),
      ).message,
      /the options of scratch are/,
    );
    assert.match(
      refusal(
        teamKernel("k", { y }, ({ y }, team) => {
          const held = team.scratch("f64", 4, { disjoint: y.length > 3 });
          y[team.index] = held[0];
        }),
      ).message,
      /the options of scratch are \{ level: 0 \} or \{ level: 1 \}, and \{ disjoint: true \}/,
    );
  });
  it("parameters that are no declarations, and tables with gaps", () => {
    assert.match(
      refusal(kernel("k", { y: "3" as never }, () => undefined as never) as never).message,
      /index parameters|"y" is declared as 3/,
    );
    assert.match(
      refusal(kernel("k", { y, z: "3" } as unknown as Params, ((_: never, i: number) => void i) as never)).message,
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
