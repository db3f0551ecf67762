import { test } from "node:test";
import { throws } from "node:assert/strict";
import { argmin, atomic, f64, i32, kernel, list, range, reducer, scatter, sum, teamKernel, view, type Kernel } from "../../src/index.js";
import { GradientError, jvp, vjp } from "../../src/gradient/index.js";

/** The adjoint is refused with this message, which names the kernel and its place. */
function refused(of: Kernel, wrt: string[], message: RegExp, keepSeeds = false): void {
  throws(
    () => vjp(of, { wrt, keepSeeds }),
    (error: unknown) => {
      if (!(error instanceof GradientError)) throw error;
      if (!message.test(error.message) || !/^kernel "\w+", \S*refusals\.test\.ts:\d+:\d+: /.test(error.message)) throw error;
      return true;
    },
  );
}

test("team kernels", () => {
  const rows = teamKernel("rows", { x: view(f64) }, ({ x }, team) => {
    x[team.index] = 1;
  });
  refused(
    rows,
    ["x"],
    /it is a team kernel, whose gradient is not known \(write it over a range, or give its adjoint with rule\(\.\.\.\)\)/,
  );
});

test("folds whose derivative is not known", () => {
  const product = reducer(f64, 1, (a, b) => a * b);
  const own = kernel("own", { x: view(f64), p: product }, ({ x, p }, i) => p.merge(x[i]));
  refused(own, ["x"], /it folds "p" by a function of its own \(reduce by sum, min or max, or give its adjoint/);
  const least = kernel("least", { x: view(f64), h: scatter(f64, 1, "min") }, ({ x, h }, i) => h.min(0, x[i]));
  refused(least, ["x"], /it folds floats into "h" by least or greatest value \(add into it, or/);
  const place = kernel("place", { x: view(f64), m: argmin(f64) }, ({ x, m }, i) => m.min(x[i], i));
  refused(place, ["x"], /it folds "m_value" together with other values/);
  throws(() => jvp(place, { wrt: ["x"] }), GradientError);
});

test("values that are read again after a store in a loop", () => {
  const again = kernel("again", { n: i32, x: view(f64, 2), y: view(f64, 1) }, ({ n, x, y }, i) => {
    for (let k = 0; k < n; k++) y[i] = y[i] * x[i][k] * y[i];
  });
  refused(again, ["x"], /it reads y\[i\] again after it stored into y, in a loop, and its gradient needs the value \(keep it in a local/);
  const halves = kernel("halves", { n: i32, x: view(f64, 2) }, ({ n, x }, i) => {
    for (let k = 0; k < n; k++) x[i][k >> 1] = x[i][k >> 1] * x[i][k >> 1];
  });
  refused(halves, ["x"], /it reads x\[i\]\[k >> 1\] again/);
});

test("what atomic operations found", () => {
  const found = kernel("found", { n: atomic(i32), x: view(f64), y: view(f64) }, ({ n, x, y }, i) => {
    const at = n.add(0, 1);
    y[i] = at > 3 ? x[i] * x[i] : x[i];
  });
  refused(found, ["x"], /its gradient needs what atomic operations on "n" found/);
});

test("lists", () => {
  const hits = kernel("hits", { x: view(f64), found: list(f64) }, ({ x, found }, i) => {
    if (x[i] > 0) found.push(x[i] * x[i]);
  });
  refused(hits, ["x"], /it appends to "found", and gradients of lists are not known/);
});

test("names that gradients cannot be wanted of", () => {
  const axpy = kernel(
    "axpy",
    { n: i32, c: view(i32), a: f64, x: view(f64), y: view(f64), z: view(f64), s: sum(f64) },
    ({ n, c, a, x, y, z, s }, i) => {
      y[i] = a * x[i] + n + c[i];
      if (z[i] > 0) s.add(x[i]);
    },
  );
  refused(axpy, ["q"], /it has no parameter "q" that gradients can be wanted of \(it has a, x, y\)/);
  refused(axpy, ["s"], /it has no parameter "s"/);
  refused(axpy, ["c"], /"c" holds i32, and gradients are of floats \(leave it out of wrt\)/);
  refused(axpy, ["n"], /"n" holds i32/);
  refused(axpy, ["z"], /nothing that it stores depends on "z" \(leave it out of wrt\)/);
  const named = kernel("named", { x: view(f64), x_bar: view(f64) }, ({ x, x_bar }, i) => {
    x_bar[i] = x[i] * 2;
  });
  refused(named, ["x"], /it has a parameter x_bar, the name of the adjoint of x \(rename it\)/);
});

test("seeds that are kept", () => {
  const twice = kernel("twice", { n: i32, x: view(f64), y: view(f64) }, ({ n, x, y }, i) => {
    for (let k = 0; k < n; k++) y[i] = x[i] * k;
  });
  refused(twice, ["x"], /it may store into one place of "y" twice, and keepSeeds leaves/, true);
});

test("a disjoint array that is read at other places", () => {
  const hops = kernel("hops", { at: view(i32), x: view(f64, 1, { disjoint: true }) }, ({ at, x }, i) => {
    x[2 * at[i]] = x[2 * at[i] + 1] * 3;
  });
  refused(hops, ["x"], /two elements may read one place of "x", which it stores into at others/);
});

test("options", () => {
  const axpy = kernel("axpy", { a: f64, y: view(f64) }, ({ a, y }, i) => {
    y[i] = a * y[i];
  });
  throws(() => vjp(axpy, { wrt: [] }), /vjp, for wrt, is given an empty array|vjp, for wrt, is given/);
  throws(() => vjp(axpy, { wrt: ["a"], seeds: 1 } as never), /vjp has no option "seeds"; it has wrt, fixed, keepSeeds/);
  throws(() => vjp(range(3) as never, { wrt: ["a"] }), /give a kernel that kernel\(\.\.\.\) declares/);
});
