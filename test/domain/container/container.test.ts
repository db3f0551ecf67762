import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { f32, f64, i32, max, mulhi, sum, table, u8 } from "isoform";
import { printKernel } from "../../../src/ir/kernel-text.js";
import { verify } from "../../../src/ir/verify.js";
import type { Cell, FieldAccess } from "../../../src/kernel/declare/cells.js";
import type { Container } from "../../../src/domain/grid/grid.js";
import { BlankGrid, box, plane } from "../blank-grid.js";

const DECLARATION = /^ {2}(scalar|view|reduce|table) \w+: /;

/** The body, one statement a line; the indices of a container's code are called i, j, k for z, y, x. */
function code(container: Container): string[] {
  verify(container.ir);
  return printKernel(container.ir)
    .split("\n")
    .filter((line) => line && !line.startsWith("kernel") && !DECLARATION.test(line))
    .map((line) => line.slice(2));
}

const params = (container: Container): string[] =>
  printKernel(container.ir)
    .split("\n")
    .filter((line) => DECLARATION.test(line))
    .map((line) => line.trim());

describe("the code of containers", () => {
  it("a stencil reads the own cell and neighbours of one dense array", () => {
    const grid = box();
    const p = grid.field("p", f64),
      s = grid.field("s", f64);
    const laplace = grid.container("laplace", { p, s }, ({ p, s }, c) => {
      s[c] = 6 * p[c] - p.at(c, 1, 0, 0) - p.at(c, -1, 0, 0) - p.at(c, 0, 1, 0) - p.at(c, 0, -1, 0) - p.at(c, 0, 0, 1) - p.at(c, 0, 0, -1);
    });
    assert.deepEqual(code(laplace), [
      "s[i][j][k][0] = 6.0 * p[i][j][k][0] - p[i][j][k + 1][0] - p[i][j][k - 1][0] - p[i][j + 1][k][0] - p[i][j - 1][k][0] - p[i + 1][j][k][0] - p[i - 1][j][k][0]",
    ]);
    assert.deepEqual(params(laplace), ["view p: f64[][][][]", "view s: f64[][][][]"]);
    assert.deepEqual(laplace.uses, [
      {
        param: "p",
        field: p,
        level: "own",
        read: true,
        written: false,
        offsets: [
          [0, 0, -1],
          [0, -1, 0],
          [-1, 0, 0],
          [1, 0, 0],
          [0, 1, 0],
          [0, 0, 1],
        ],
      },
      { param: "s", field: s, level: "own", read: false, written: true, offsets: [] },
    ]);
    assert.equal(laplace.stencil, true);
    assert.equal(laplace.reduces, false);
    assert.match(laplace.location.file, /container\.test\.ts$/);
  });

  it("in two dimensions", () => {
    const grid = plane();
    const [u, v] = [grid.field("u", f32), grid.field("v", f32)];
    const heat = grid.container("heat", { u, v, a: 0.25 }, ({ u, v, a }, c) => {
      v[c] = Math.fround(a * (u.at(c, 1, 0) + u.at(c, -1, 0))) + u.at(c, 0, 1);
    });
    assert.deepEqual(code(heat), ["v[i][j][0] = f32(a * f64(u[i][j + 1][0] + u[i][j - 1][0])) + u[i + 1][j][0]"]);
    assert.deepEqual(heat.values, new Map([["a", 0.25]]));
    assert.deepEqual(heat.uses[0].offsets, [
      [-1, 0],
      [1, 0],
      [0, 1],
    ]);
  });

  it("offsets are constant in a loop around another whose counter has the same name, as minifiers write them", () => {
    const grid = plane();
    const [u, v] = [grid.field("u", f64), grid.field("v", f64)];
    const body = new Function("return({u:t,v:e},n)=>{for(let r=0;r<2;r++){let i=2*r-1,o=0;for(let r=0;r<3;r++)o+=t.at(n,i,r);e[n]+=o}}")();
    const container = grid.container("nested", { u, v }, body as never);
    const expected = [-1, 1].flatMap((dx) => [0, 1, 2].map((dy) => [dx, dy]));
    const offsets = container.uses[0].offsets.toSorted(([ax, ay], [bx, by]) => ax - bx || ay - by);
    assert.deepEqual(offsets, expected);
  });

  it("coordinates are the indices of the grid", () => {
    const grid = box();
    const n = grid.field("n", i32);
    const number = grid.container("number", { n }, ({ n }, c) => {
      n[c] = c.x + 100 * c.y + 10000 * c.z;
    });
    assert.deepEqual(code(number), ["n[i][j][k][0] = k + 100 * j + 10000 * i"]);
    assert.equal(number.stencil, false);
  });

  it("components are the last index, constant or not", () => {
    const grid = box();
    const u = grid.field("u", f64, 3),
      which = grid.field("which", u8),
      norm = grid.field("norm", f64);
    const use = grid.container("use", { u, which, norm }, ({ u, which, norm }, c) => {
      let s = 0.0;
      for (let k = 0; k < u[c].length; k++) s += u[c][k] * u.at(c, 1, 0, 0)[k];
      norm[c] = s + u[c][which[c]];
    });
    assert.deepEqual(code(use), [
      "let s: f64 = 0.0 + u[i][j][k][0] * u[i][j][k + 1][0]",
      "s = s + u[i][j][k][1] * u[i][j][k + 1][1]",
      "s = s + u[i][j][k][2] * u[i][j][k + 1][2]",
      "norm[i][j][k][0] = s + u[i][j][k][which[i][j][k][0]]",
    ]);
  });

  it("offsets may come from tables and loops", () => {
    const grid = plane();
    const f = grid.field("f", f64, 4),
      g = grid.field("g", f64, 4);
    const cx = table(i32, [1, 0, -1, 0]),
      cy = table(i32, [0, 1, 0, -1]);
    const stream = grid.container("stream", { f, g, cx, cy }, ({ f, g, cx, cy }, c) => {
      for (let q = 0; q < 4; q++) g[c][q] = f.at(c, -cx[q], -cy[q])[q];
    });
    assert.deepEqual(code(stream), [
      "g[i][j][0] = f[i][j - 1][0]",
      "g[i][j][1] = f[i - 1][j][1]",
      "g[i][j][2] = f[i][j + 1][2]",
      "g[i][j][3] = f[i + 1][j][3]",
    ]);
    assert.deepEqual(stream.uses[0].offsets, [
      [0, -1],
      [-1, 0],
      [1, 0],
      [0, 1],
    ]);
  });

  it("loops over neighbours are written out however long they are", () => {
    const grid = box();
    const u = grid.field("u", f64, 3),
      v = grid.field("v", f64, 3);
    const weights = table(
      f64,
      Array.from({ length: 27 }, (_, n) => [n, n + 1, n + 2]),
    );
    const sweep = grid.container("sweep", { u, v, weights }, ({ u, v, weights }, c) => {
      for (let i = 0; i < 3; i++) v[c][i] = 0;
      for (let n = 0; n < 27; n++) {
        const dx = (n % 3) - 1,
          dy = (((n / 3) | 0) % 3) - 1,
          dz = ((n / 9) | 0) - 1;
        for (let i = 0; i < 3; i++)
          for (let j = 0; j < 3; j++) v[c][i] = v[c][i] + weights[n][i] * weights[n][j] * u.at(c, dx, dy, dz)[j] * weights[26 - n][i];
      }
    });
    assert.equal(sweep.uses[0].offsets.length, 26);
    const kinds = sweep.ir.body.map((stmt) => stmt.kind);
    assert.equal(kinds.filter((kind) => kind === "store").length, 3);
    assert.ok(kinds.length >= 27 * 9);
  });

  it("compound assignments, values of assignments, helpers with cells and fields", () => {
    const grid = box();
    const x = grid.field("x", f64),
      y = grid.field("y", f64);
    const difference = (f: FieldAccess<1, 3>, c: Cell<3>, d: number): number => f.at(c, d, 0, 0) - f.at(c, -d, 0, 0);
    const step = grid.container("step", { x, y, difference }, ({ x, y, difference }, c) => {
      y[c] += difference(x, c, 1);
      y[c] *= 2;
      y[c]++;
    });
    assert.deepEqual(code(step), [
      "let y_value: f64 = y[i][j][k][0] + (x[i][j][k + 1][0] - x[i][j][k - 1][0])",
      "let y_value_1: f64 = y_value * 2.0",
      "y[i][j][k][0] = y_value_1 + 1.0",
    ]);
  });

  it("scalars are read where they lie, numbers are given at launch", () => {
    const grid = box();
    const [p, x] = [grid.field("p", f64), grid.field("x", f64)];
    const [rr, ps, n] = [grid.scalar("rr", f64), grid.scalar("ps", f64), grid.scalar("n", i32)];
    const update = grid.container("update", { rr, ps, n, p, x, shift: 2, on: true }, ({ rr, ps, n, p, x, shift, on }, c) => {
      x[c] += (rr / ps) * p[c] + (on ? shift : n);
    });
    assert.deepEqual(params(update), [
      "view rr: f64[]",
      "view ps: f64[]",
      "view n: i32[]",
      "view p: f64[][][][]",
      "view x: f64[][][][]",
      "scalar shift: f64",
      "scalar on: bool",
    ]);
    assert.deepEqual(code(update), [
      "let uniform: f64 = rr[0] / ps[0]",
      "let uniform_1: f64 = on ? shift : f64(n[0])",
      "x[i][j][k][0] = x[i][j][k][0] + (uniform * p[i][j][k][0] + uniform_1)",
    ]);
    assert.deepEqual(
      [...update.scalars],
      [
        ["rr", rr],
        ["ps", ps],
        ["n", n],
      ],
    );
    assert.deepEqual(
      update.uses.map((use) => [use.param, use.read, use.written]),
      [
        ["p", true, false],
        ["x", true, true],
      ],
    );
  });

  it("a reduction folds one value a cell at the end", () => {
    const grid = box();
    const [p, s] = [grid.field("p", f64), grid.field("s", f64)];
    const ps = grid.scalar("ps", f64);
    const dot = grid.container("dot", { p, s, ps: sum(ps) }, ({ p, s, ps }, c) => ps.add(p[c] * s[c]));
    assert.deepEqual(code(dot), ["let ps_value: f64 = p[i][j][k][0] * s[i][j][k][0]", "reduce ps <- ps_value"]);
    assert.deepEqual([...dot.reductions], [["ps", ps]]);
    assert.equal(dot.reduces, true);
    assert.equal(dot.stencil, false);
  });

  it("several folds of a cell, or folds on some paths, are gathered", () => {
    const grid = box();
    const u = grid.field("u", f64, 2);
    const [total, greatest] = [grid.scalar("total", f64), grid.scalar("greatest", f64)];
    const norms = grid.container("norms", { u, total: sum(total), greatest: max(greatest) }, ({ u, total, greatest }, c) => {
      if (u[c][0] < 0) return;
      for (let k = 0; k < 2; k++) total.add(u[c][k]);
      greatest.max(u[c][0]);
    });
    assert.deepEqual(code(norms), [
      "let greatest_value: f64 = -Infinity",
      "let total_value: f64 = 0.0",
      "if !(u[i][j][k][0] < 0.0)",
      "  total_value = 0.0 + u[i][j][k][0]",
      "  total_value = total_value + u[i][j][k][1]",
      "  greatest_value = max(u[i][j][k][0], -Infinity)",
      "reduce total <- total_value",
      "reduce greatest <- greatest_value",
    ]);
  });

  it("a reduction that nothing is added to gives its identity", () => {
    const grid = box();
    const none = grid.scalar("none", i32);
    const idle = grid.container("idle", { none: sum(none) }, () => {});
    assert.deepEqual(code(idle), ["reduce none <- 0"]);
  });

  it("isActive reads the mask, whose name is one not taken", () => {
    const grid = box();
    const active = grid.field("active", f64);
    const count = grid.field("count", i32);
    const neighbours = grid.container("neighbours", { active, count }, ({ active, count }, c) => {
      count[c] =
        (active.isActive(c, 1, 0, 0) ? 1 : 0) + (count.isActive(c, 0, 0, -2) && active.isActive(c) ? 1 : 0) + (active[c] > 0 ? 1 : 0);
    });
    assert.deepEqual(params(neighbours), ["view active: f64[][][][]", "view count: i32[][][][]", "view active_2: u8[][][]"]);
    assert.deepEqual(neighbours.mask, {
      param: "active_2",
      offsets: [
        [0, 0, -2],
        [1, 0, 0],
      ],
    });
    assert.equal(neighbours.stencil, false);
    assert.match(code(neighbours)[0], /^count\[i\]\[j\]\[k\]\[0\] = \(active_2\[i\]\[j\]\[k \+ 1\] != 0 \? 1 : 0\)/);
  });

  it("fields of the grids of half and of twice the cell size", () => {
    const coarse = new BlankGrid<2>([8, 4]),
      fine = new BlankGrid<2>([16, 8], coarse);
    const r = fine.field("r", f64),
      u = fine.field("u", f64, 2),
      b = coarse.field("b", f64),
      e = coarse.field("e", f64, 2);
    const restrict = coarse.container("restrict", { r, b }, ({ r, b }, c) => {
      b[c] = 0.25 * (r.fine(c, 0, 0) + r.fine(c, 1, 0) + r.fine(c, 0, 1) + r.fine(c, -1, 1));
    });
    assert.deepEqual(code(restrict), [
      "b[i][j][0] = 0.25 * (r[i * 2][j * 2][0] + r[i * 2][j * 2 + 1][0] + r[i * 2 + 1][j * 2][0] + r[i * 2 + 1][j * 2 - 1][0])",
    ]);
    assert.deepEqual(restrict.uses[0], {
      param: "r",
      field: r,
      level: "fine",
      read: true,
      written: false,
      offsets: [
        [0, 0],
        [1, 0],
        [-1, 1],
        [0, 1],
      ],
    });
    const prolong = fine.container("prolong", { u, e }, ({ u, e }, c) => {
      const near = e.coarse(c, 0, 0),
        far = e.coarse(c, 1, 0);
      for (let k = 0; k < 2; k++) u[c][k] += 0.75 * near[k] + 0.25 * (c.x & 1 ? far[k] : e.coarse(c, -1, 0)[k]);
    });
    assert.deepEqual(code(prolong).slice(0, 1), [
      "u[i][j][0] = u[i][j][0] + (0.75 * e[i >> 1][j >> 1][0] + 0.25 * (bool(j & 1) ? e[i >> 1][(j >> 1) + 1][0] : e[i >> 1][(j >> 1) - 1][0]))",
    ]);
    assert.deepEqual(prolong.uses[1], {
      param: "e",
      field: e,
      level: "coarse",
      read: true,
      written: false,
      offsets: [
        [-1, 0],
        [0, 0],
        [1, 0],
      ],
    });
    assert.equal(prolong.stencil, true);
  });

  it("a field that is given twice is one array", () => {
    const grid = box();
    const x = grid.field("x", f64);
    const total = grid.scalar("total", f64);
    const dot = grid.container("dot", { a: x, b: x, total: sum(total) }, ({ a, b, total }, c) => total.add(a[c] * b[c]));
    assert.deepEqual(code(dot)[0], "let total_value: f64 = a[i][j][k][0] * a[i][j][k][0]");
    assert.deepEqual(
      dot.uses.map((use) => [use.param, use.field]),
      [["a", x]],
    );
  });

  it("fields that the code leaves alone are no parameters", () => {
    const grid = box();
    const [x, y] = [grid.field("x", f64), grid.field("y", f64)];
    const clear = grid.container("clear", { x, y, mulhi }, ({ x }, c) => {
      x[c] = 0;
    });
    assert.deepEqual(params(clear), ["view x: f64[][][][]"]);
    assert.deepEqual(
      clear.uses.map((use) => use.param),
      ["x"],
    );
  });
});
