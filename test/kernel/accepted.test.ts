import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { f32, f64, fixed, i32, kernel, mulhi, sum, table, teamKernel, u32, view, type Params } from "isoform";
import { lowered } from "./lowered.js";

const x = view(f64),
  y = view(f64);
/** A kernel whose function is made from text, for what tools make of functions. */
const fromText = (params: Params, text: string) => kernel("text", params, new Function(`return ${text}`)() as never);
const double = (v: number): number => 2 * v;
const ns = { double, mulhi };

describe("functions are accepted as written", () => {
  it("with destructured parameters", () => {
    assert.equal(
      lowered(
        kernel("k", { x, y }, ({ x, y }, i) => {
          y[i] = x[i];
        }),
      ),
      "y[i] = x[i]",
    );
  });
  it("with renamed parameters", () => {
    assert.equal(
      lowered(
        kernel("k", { x, y }, ({ x: from, y: to }, n) => {
          to[n] = from[n];
        }),
      ),
      "y[i] = x[i]",
    );
  });
  it("with one record of parameters", () => {
    assert.equal(
      lowered(
        kernel("k", { x, y }, (p, i) => {
          p.y[i] = p.x[i];
        }),
      ),
      "y[i] = x[i]",
    );
  });
  it("with parameters taken apart in the body", () => {
    assert.equal(
      lowered(
        kernel("k", { x, y }, (p, i) => {
          const { x, y: out } = p;
          out[i] = x[i];
        }),
      ),
      "y[i] = x[i]",
    );
  });
  it("with nested patterns in helpers", () => {
    const add = (
      [
        a,
        {
          b,
          c: [d],
        },
      ]: [number, { b: number; c: [number] }],
      e = 0.5,
    ): number => a + b + d + e;
    assert.equal(
      lowered(
        kernel("k", { add, y }, ({ add, y }, i) => {
          y[i] = add([y[i], { b: 2.5, c: [3.5] }]);
        }),
      ),
      "let t: f64 = y[i]\ny[i] = t + 2.5 + 3.5 + 0.5",
    );
  });
  it("as method shorthand", () => {
    const holder = {
      body({ x, y }: { x: Record<number, number>; y: Record<number, number> }, i: number) {
        y[i] = x[i];
      },
    };
    assert.equal(lowered(kernel("k", { x, y }, holder.body)), "y[i] = x[i]");
  });
  it("as function expressions", () => {
    assert.equal(
      lowered(
        kernel("k", { x, y }, function named({ x, y }, i) {
          y[i] = x[i];
        }),
      ),
      "y[i] = x[i]",
    );
  });
  it("with an assignment as the whole body", () => {
    assert.equal(lowered(kernel("k", { x, y }, ({ x, y }, i) => (y[i] += x[i]))), "let t: f64 = y[i] + x[i]\ny[i] = t");
    assert.equal(lowered(kernel("k", { x, s: sum(f64) }, ({ x, s }, i) => s.add(x[i]))), "reduce s <- x[i]");
  });
  it("with helpers declared after their use", () => {
    assert.equal(
      lowered(
        kernel("k", { x, y }, ({ x, y }, i) => {
          y[i] = twice(x[i]);
          function twice(v: number): number {
            return v + v;
          }
        }),
      ),
      "let v: f64 = x[i]\ny[i] = v + v",
    );
  });
});

describe("what tools write is accepted", () => {
  it("__name wrappers around functions", () => {
    const text = `({ x, y }, i) => {
      const f = /* @__PURE__ */ __name((v) => v * 2, "f");
      y[i] = f(x[i]);
    }`;
    assert.equal(lowered(fromText({ x, y }, text)), "let v: f64 = x[i]\ny[i] = v * 2.0");
  });
  it("calls through a module's namespace", () => {
    const u = view(u32);
    assert.equal(lowered(fromText({ u, mulhi }, "({ u }, i) => { u[i] = (0, builtins_1.mulhi)(u[i], 7); }")), "u[i] = mulhi(u[i], 7u)");
    assert.equal(
      lowered(fromText({ y, double }, "({ y }, i) => { y[i] = (0, __vi_import_0__.double)(y[i]); }")),
      "let v: f64 = y[i]\ny[i] = 2.0 * v",
    );
    assert.equal(
      lowered(
        kernel("k", { y, double: ns.double }, ({ y }, i) => {
          y[i] = ns.double(y[i]);
        }),
      ),
      "let v: f64 = y[i]\ny[i] = 2.0 * v",
    );
  });
  it("helpers that are named without being taken from the parameters", () => {
    assert.equal(
      lowered(
        kernel("k", { y, double }, ({ y }, i) => {
          y[i] = double(y[i]);
        }),
      ),
      "let v: f64 = y[i]\ny[i] = 2.0 * v",
    );
  });
  it("the statements of minifiers", () => {
    const text = "({x:t,y:e},n)=>{let o=0,r=!0;for(let s=0,a=3;s<a;s++)t[s]>1/0?r=!1:(o+=t[s],r&&(o*=2));r||(o=-o),e[n]=o}";
    assert.equal(
      lowered(fromText({ x, y }, text)),
      `let o: f64 = 0.0
let r: bool = !bool(0)
for s = 0 until 3
  if x[s] > Infinity
    r = !bool(1)
  else
    o = o + x[s]
    if r
      o = o * 2.0
if r
else
  o = -o
y[i] = o`,
    );
  });
  it("names of minifiers that are declared with let and stay as they are", () => {
    const text = (word: string): string => `({ y }, i) => {
      ${word} n = 1 << 2, m = n + 1;
      ${word} a = new Float64Array(n);
      for (let k = 0, e = n; k < e; k++) a[k] = m * k;
      for (let n = 0; n < 3; n++) y[i] += a[n];
      const other = (x) => { let n = x; n += 1; return n; };
      y[i] += other(n);
    }`;
    const [constant, variable] = ["const", "let"].map((word) => lowered(fromText({ y }, text(word))));
    assert.equal(variable, constant);
    // One that gets another value is no constant, whoever gives it.
    const changed = (by: string): string =>
      lowered(fromText({ y }, `({ y }, i) => { let n = 4; ${by}; const a = new Float64Array(n); y[i] = a[0]; }`));
    for (const by of ["n++", "n = 5", "[n] = [5]", "const f = () => { n = 5; }; f()"])
      assert.throws(() => changed(by), /the length of a private array must be a constant/);
  });
  it("strings of minifiers", () => {
    const text =
      "({ x, y }, team) => { const t = team.scratch(`f64`, 4); const r = team.reduce(4, { a: `sum` }, (j, r) => r.a.add(x[j])); y[team.index] = r.a; }";
    const written = text.replaceAll("`", '"');
    const [minified, plain] = [text, written].map((code) => lowered(teamKernel("k", { x, y }, new Function(`return ${code}`)() as never)));
    assert.equal(minified, plain);
  });
  it("truth values as numbers and powers of minifiers", () => {
    const params = { x: view(f32), y: view(f32), n: i32 };
    const same = (minified: string, plain: string) => {
      const [a, b] = [minified, plain].map((value) => lowered(fromText(params, `({ x, y, n }, i) => { y[i] = ${value}; }`)));
      assert.equal(a, b);
    };
    same("+(x[i] > 0)", "x[i] > 0 ? 1 : 0");
    same("2 * +(x[i] > n) + +!(n > 1) + +(1 < 2)", "2 * (x[i] > n ? 1 : 0) + (!(n > 1) ? 1 : 0) + 1");
    same("x[i] ** +y[i]", "Math.pow(x[i], y[i])");
    same("2 ** +y[i]", "Math.pow(2, y[i])");
    same("Math.fround(n ** +y[i])", "Math.fround(Math.pow(n, y[i]))");
    same("Math.fround(x[i] ** +n)", "Math.fround(Math.pow(x[i], n))");
  });
  it("returns and jumps of minifiers", () => {
    const text = "({x:t,y:e},n)=>{if(t[n]>0)return void(e[n]=1);for(let o=3;0<o;o=o-1)if(!(t[o]>0&&(e[n]+=o,1)))return}";
    assert.equal(
      lowered(fromText({ x, y }, text)),
      `let returned: bool = false
if x[i] > 0.0
  y[i] = 1.0
else
  for o = 3 until 0 step -1
    let t: bool = x[o] > 0.0
    if t
      y[i] = y[i] + f64(o)
      t = bool(1)
    if !t
      returned = true
      break`,
    );
  });
  it("functions moved into one expression by a bundler", () => {
    assert.equal(lowered(fromText({ x, y }, "(0, ({ x, y }, i) => { y[i] = x[i]; })")), "y[i] = x[i]");
  });
});

describe("parameters", () => {
  it("fixed ones are constants, a variant for each value", () => {
    const power = kernel("power", { n: fixed(i32), x, y }, ({ n, x, y }, i) => {
      let p = 1;
      for (let k = 0; k < n; k++) p *= x[i];
      y[i] = n === 2 ? p : -p;
    });
    assert.equal(lowered(power, { n: 2 }), "let p: f64 = 1.0\nfor k = 0 until 2\n  p = p * x[i]\ny[i] = p");
    assert.match(lowered(power, { n: 3 }), /until 3\n.*\ny\[i\] = -p/s);
  });
  it("tables are looked up where indices are constant, and give their lengths", () => {
    const k = kernel(
      "k",
      {
        t: table(f64, [
          [1, 2, 3],
          [4, 5, 6],
        ]),
        y,
      },
      ({ t, y }, i) => {
        const row = t[1];
        y[i] = t[0][i] + row[2] + row.length + t.length;
      },
    );
    assert.equal(lowered(k), "y[i] = t[0][i] + t[1][2] + 3.0 + 2.0");
  });
  it("views tell their extents, and rows can be named", () => {
    const k = kernel("k", { a: view(f64, 3), y }, ({ a, y }, i) => {
      let m = 1;
      const plane = a[i],
        row = plane[m];
      m = 2;
      y[i] = row[m] + a.length + plane.length + row.length;
    });
    assert.equal(
      lowered(k),
      `let m: i32 = 1
let at: i32 = m
m = 2
y[i] = a[i][at][m] + f64(a.length) + f64(a[0].length) + f64(a[0][0].length)`,
    );
  });
});

describe("helpers", () => {
  it("give several values as an array or a record", () => {
    const polar = (re: number, im: number): [number, number] => [re * re + im * im, im / re];
    const multiply = (a: number, b: number) => ({ re: a * b, im: a - b });
    const k = kernel("k", { polar, multiply, x, y }, ({ polar, multiply, x, y }, i) => {
      const [r, t] = polar(x[i], y[i]);
      const { re, im: imaginary } = multiply(r, t);
      y[i] = re + imaginary;
    });
    assert.equal(
      lowered(k),
      `let re: f64 = x[i]
let im: f64 = y[i]
let t: f64 = re * re + im * im
let t_2: f64 = im / re
let t_3: f64 = t * t_2
let t_4: f64 = t - t_2
y[i] = t_3 + t_4`,
    );
  });
  it("give several values on several paths", () => {
    const order = (a: number, b: number): [number, number] => {
      if (a < b) return [a, b];
      return [b, a];
    };
    const k = kernel("k", { order, x, y }, ({ order, x, y }, i) => {
      const [a, b] = order(x[i], y[i]);
      y[i] = b - a;
    });
    assert.match(
      lowered(k),
      /if a < b\n {2}order_result_0 = a\n {2}order_result_1 = b\nelse\n {2}order_result_0 = b\n {2}order_result_1 = a/,
    );
  });
  it("change private arrays that are handed to them, and views", () => {
    const scale = (a: Float64Array, n: number, f: number): void => {
      for (let k = 0; k < n; k++) a[k] *= f;
    };
    const k = kernel("k", { scale, y }, ({ scale, y }, i) => {
      const a = new Float64Array([1, y[i]]);
      scale(a, a.length, 3);
      y[i] = a[1];
    });
    assert.equal(
      lowered(k),
      `private a: f64[2]
a[0] = 1.0
a[1] = y[i]
for k = 0 until 2
  a[k] = a[k] * 3.0
y[i] = a[1]`,
    );
  });
  it("take functions, and helpers that call helpers", () => {
    const apply = (f: (v: number) => number, v: number): number => f(v);
    const k = kernel("k", { apply, double, y }, ({ apply, double, y }, i) => {
      y[i] = apply(double, y[i]) + apply((v) => v - 1, 2.5);
    });
    assert.equal(lowered(k), "let v: f64 = y[i]\ny[i] = 2.0 * v + 1.5");
  });
});

describe("teams", () => {
  it("have scratch of level 1, whose length is known at the launch", () => {
    const k = teamKernel("rows", { n: i32, x: view(f64, 2), y }, ({ n, x, y }, team) => {
      const twice = 2 * n;
      const held = team.scratch("f64", twice + x[0].length, { level: 1 });
      const few = team.scratch("i32", 4, { level: 0 });
      team.range(held.length, (j) => {
        held[j] = 1;
        if (j < 4) few[j] = j;
      });
      y[team.index] = held[0] + few[1];
    });
    assert.equal(
      lowered(k),
      `let twice: i32 = 2 * n
scratch few: i32[4]
team for j until scratch[0].length
  scratch[team.place][j] = 1.0
  if j < 4
    few[j] = j
y[team.index] = scratch[team.place][0] + f64(few[1])`,
    );
  });
  it("members share work out among lanes", () => {
    const k = teamKernel("rows", { n: i32, x: view(f64, 3), y: view(f64, 2) }, ({ n, x, y }, team) => {
      team.range(n, (j, lanes) => {
        y[team.index][j] = lanes.sum(8, (k) => x[team.index][j][k]);
      });
    });
    assert.equal(
      lowered(k),
      `team for j until n
  lanes reduce j_2 until 8 (sum_: f64 sum)
    reduce sum_ <- x[team.index][j][j_2]
  y[team.index][j] = sum_`,
    );
  });
  it("share loops, folds and scratch", () => {
    const k = teamKernel("rows", { n: i32, x: view(f64, 2), y }, ({ n, x, y }, team) => {
      const s = team.scratch("f64", 8);
      team.range(n, (j) => {
        s[j] = 2 * x[team.index][j];
      });
      const { total, most } = team.reduce(n, { total: "sum", most: "max" }, (j, r) => {
        if (s[j] > 0) r.total.add(s[j]);
        r.most.max(s[j]);
      });
      team.single(() => {
        s[0] = total;
      });
      y[team.index] = s[0] + most + team.sum(n, (j) => x[team.index][j]);
    });
    assert.equal(
      lowered(k),
      `scratch s: f64[8]
team for j until n
  s[j] = 2.0 * x[team.index][j]
team reduce j_2 until n (total_: f64 sum, most_: f64 max)
  if s[j_2] > 0.0
    reduce total_ <- s[j_2]
  reduce most_ <- s[j_2]
team single
  s[0] = total_
let t: f64 = s[0] + most_
team reduce j_3 until n (sum_: f64 sum)
  reduce sum_ <- x[team.index][j_3]
y[team.index] = t + sum_`,
    );
  });
});

describe("the type of private arrays and of scratch may be a parameter", () => {
  const typed = (Real: Float64ArrayConstructor | Float32ArrayConstructor, type: typeof f64 | typeof f32) =>
    kernel("typed", { x: view(type), y: view(type), Real }, ({ x, y, Real }, i) => {
      const own = new Real(2);
      for (let k = 0; k < 2; k++) own[k] = x[i] * (k + 1);
      y[i] = own[0] + own[1];
    });
  it("f32 and f64 from one source", () => {
    assert.match(lowered(typed(Float32Array, f32)), /own: f32\[2\]/);
    assert.match(lowered(typed(Float64Array, f64)), /own: f64\[2\]/);
  });
  it("scratch, too", () => {
    const k = teamKernel("k", { y, Real: Float32Array }, ({ y, Real }, team) => {
      const own = team.scratch(Real, 2);
      team.range(2, (j) => {
        own[j] = j;
      });
      y[team.index] = own[1];
    });
    assert.match(lowered(k), /scratch own: f32\[2\]/);
    const untyped = teamKernel("k", { y }, ({ y }, team) => {
      y[team.index] = team.scratch(y as never, 2)[0];
    });
    assert.throws(() => lowered(untyped), /the type of scratch must be written as a string, or be an array type that is a parameter/);
  });
});
