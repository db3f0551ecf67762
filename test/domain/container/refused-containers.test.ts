import { describe, it } from "node:test";
import { bool, f64, i32, sum, table } from "isoform";
import { BlankGrid, box, plane } from "../blank-grid.js";
import { refused } from "./refused.js";

const grid = box();
const [p, q, n] = [grid.field("p", f64), grid.field("q", f64), grid.field("n", i32)];
const u = grid.field("u", f64, 3),
  v = grid.field("v", f64, 3);
const [a, b] = [grid.scalar("a", f64), grid.scalar("b", f64)];

describe("containers are refused that", () => {
  it("mix fields of grids that are not related", () => {
    const r = box().field("r", f64);
    refused(
      () =>
        grid.container("k", { p, r }, ({ p, r }, c) => {
          p[c] = r[c];
        }),
      'container("k"',
      /the field "r" belongs to another grid, of \[16,8,4\] cells; the container's has \[16,8,4\]/,
      /make all fields of a container on its grid/,
    );
  });

  it("write a component at a neighbour that they touch elsewhere, too", () => {
    refused(
      () =>
        grid.container("k", { u }, ({ u }, c) => {
          u.at(c, 1, 0, 0)[0] = 1;
          u[c][1] = u[c][0];
        }),
      "u[c][0]",
      /writes u in another cell, at offset \[1,0,0\], and touches component 0 at the offsets \[1,0,0\] \(line \d+\) and \[0,0,0\]/,
      /touch each component of u at one offset only, so that no two cells meet/,
    );
  });

  it("write neighbours by a number of the component that is not constant", () => {
    refused(
      () =>
        grid.container("k", { u }, ({ u }, c) => {
          u.at(c, 1, 0, 0)[c.x % 3] = 1;
        }),
      "u.at(c, 1, 0, 0)[c.x % 3] = 1",
      /touches a component that is not constant/,
      /write u\[c\]\[k\], or touch each component/,
    );
  });

  it("read a neighbour of a field that they write", () => {
    refused(
      () =>
        grid.container("k", { p }, ({ p }, c) => {
          p[c] = p.at(c, 1, 0, 0);
        }),
      "p.at(c, 1, 0, 0)",
      /reads p at offset \[1,0,0\] while each cell writes its own p \(line \d+\)/,
      /write to another field and swap the two/,
    );
  });

  it("do so by two names", () => {
    refused(
      () =>
        grid.container("k", { p, also: p }, ({ p, also }, c) => {
          p[c] = also.at(c, 0, -1, 0);
        }),
      "also.at(c, 0, -1, 0)",
      /reads p at offset \[0,-1,0\] while each cell writes its own p/,
      /write to another field/,
    );
  });

  it("read at offsets that are not constant", () => {
    refused(
      () =>
        grid.container("k", { p, q, n }, ({ p, q, n }, c) => {
          q[c] = p.at(c, n[c], 0, 0);
        }),
      "p.at(c, n[c], 0, 0)",
      /the offsets at which p is read are not constant/,
      /loop with constant bounds and without break/,
    );
    refused(
      () =>
        grid.container("k", { p, q }, ({ p, q }, c) => {
          for (let k = 0; k < 4; k++) {
            if (q[c] > 1) break;
            q[c] = p.at(c, k, 0, 0);
          }
        }),
      "p.at(c, k, 0, 0)",
      /the offsets at which p is read are not constant/,
      /without break/,
    );
    refused(
      () =>
        grid.container("k", { p, q }, ({ p, q }, c) => {
          q[c] = p.at(c, -c.x, 0, 0);
        }),
      "p.at(c, -c.x, 0, 0)",
      /the offsets at which p is read are not constant/,
      /write numbers/,
    );
  });

  it("read beyond the grid", () => {
    refused(
      () =>
        grid.container("k", { p, q }, ({ p, q }, c) => {
          q[c] = p.at(c, 0, 0, 5);
        }),
      "p.at(c, 0, 0, 5)",
      /reads p at offset \[0,0,5\], but the grid has 4 cells along z/,
      /make the grid larger/,
    );
  });

  it("give offsets of another dimension", () => {
    refused(
      () =>
        grid.container("k", { p, q }, ({ p, q }, c) => {
          // @ts-expect-error three offsets are needed
          q[c] = p.at(c, 1, 0);
        }),
      "p.at(c, 1, 0)",
      /p\.at is given 2 offsets on a grid of 3 dimensions/,
      /write p\.at\(c, dx, dy, dz\)/,
    );
    const flat = plane();
    const f = flat.field("f", f64),
      g = flat.field("g", f64);
    refused(
      () =>
        flat.container("k", { f, g }, ({ f, g }, c) => {
          // @ts-expect-error two offsets are needed
          g[c] = f.at(c, 1, 0, 0);
        }),
      "f.at(c, 1, 0, 0)",
      /f\.at is given 3 offsets on a grid of 2 dimensions/,
      /write f\.at\(c, dx, dy\)/,
    );
    refused(
      () =>
        flat.container("k", { f }, ({ f }, c) => {
          // @ts-expect-error there is no z
          f[c] = c.z;
        }),
      "c.z",
      /the cell has no "\.z"/,
      /c\.x, c\.y/,
    );
  });

  it("take components for numbers, or numbers for components", () => {
    refused(
      () =>
        grid.container("k", { p, u }, ({ p, u }, c) => {
          // @ts-expect-error u has components
          p[c] = 2 * u[c];
        }),
      "u[c]",
      /u has 3 components in a cell and is used as a number/,
      /write u\[c\]\[k\]/,
    );
    refused(
      () =>
        grid.container("k", { p }, ({ p }, c) => {
          // @ts-expect-error p has none
          p[c][0] = 2;
        }),
      "p[c][0]",
      /a number is indexed/,
      /number of indices/,
    );
    refused(
      () =>
        grid.container("k", { u, v }, ({ u, v }, c) => {
          u[c] = v[c];
        }),
      "u[c] = v[c]",
      /all components of u are assigned at once|v has 3 components/,
      /u\[c\]\[k\]|v\[c\]\[k\]/,
    );
    refused(
      () =>
        grid.container("k", { p, u }, ({ p, u }, c) => {
          p[c] = u[c][3];
        }),
      "u[c][3]",
      /component 3 of u, which has 3 in a cell/,
      /count from 0 to 2/,
    );
    refused(
      () =>
        grid.container("k", { p, u }, ({ p, u }, c) => {
          // @ts-expect-error p is a field
          u[c][0] = p;
        }),
      "p",
      /p is a field and is used as a number/,
      /write p\[c\], or p\.at\(c, \.\.\.\)/,
    );
  });

  it("use something else in place of the cell", () => {
    refused(
      () =>
        grid.container("k", { p }, ({ p }, c) => {
          // @ts-expect-error a number is no cell
          p[c.x] = 1;
        }),
      "c.x",
      /p is not indexed by the cell/,
      /write p\[c\]/,
    );
    refused(
      () =>
        grid.container("k", { p, q }, ({ p, q }, c) => {
          // @ts-expect-error the cell is missing
          q[c] = p.at(1, 0, 0);
        }),
      "1, 0, 0",
      /p is not indexed by the cell/,
      /write p\.at\(c, dx, dy, dz\)/,
    );
    refused(
      () =>
        grid.container("k", { p }, ({ p }, c) => {
          // @ts-expect-error a cell is no number
          p[c] = c + 1;
        }),
      "c + 1",
      /the cell is used as a number/,
      /c\.x, c\.y or c\.z/,
    );
    refused(
      () =>
        grid.container("k", { p, q }, ({ p, q }, c) => {
          // @ts-expect-error cells have no offsets
          const k = c.add(0, 0, 1);
          q[c] = p[k];
        }),
      "c.add(0, 0, 1)",
      /the cell has no method "add"/,
      /fields take offsets: write u\.at\(c, dx, dy, dz\) for a neighbour's value/,
    );
  });

  it("read other levels as their own, and the other way round", () => {
    const coarse = new BlankGrid<3>([8, 4, 2]),
      fine = new BlankGrid<3>([16, 8, 4], coarse);
    const [f, g] = [fine.field("f", f64), coarse.field("g", f64)];
    refused(
      () =>
        coarse.container("k", { f, g }, ({ f, g }, c) => {
          g[c] = f[c];
        }),
      "f[c]",
      /f belongs to a grid of half the cell size/,
      /write f\.fine\(c, \.\.\.\)/,
    );
    refused(
      () =>
        fine.container("k", { f, g }, ({ f, g }, c) => {
          f[c] = g.at(c, 1, 0, 0);
        }),
      "g.at(c, 1, 0, 0)",
      /g belongs to a grid of twice the cell size/,
      /write g\.coarse\(c, \.\.\.\)/,
    );
    refused(
      () =>
        fine.container("k", { f }, ({ f }, c) => {
          f[c] = f.fine(c, 0, 0, 0);
        }),
      "f.fine(c, 0, 0, 0)",
      /f belongs to the container's own grid/,
      /write f\.at\(c, \.\.\.\)/,
    );
  });

  it("declare what they cannot take", () => {
    refused(
      () =>
        grid.container(
          "k",
          // @ts-expect-error a type alone is no parameter
          { p, on: bool },
          () => {},
        ),
      "container(",
      /the parameter "on" is a type and has no value/,
      /give a number, a truth value or a scalar/,
    );
    refused(
      () =>
        grid.container(
          "k",
          // @ts-expect-error the result would go nowhere
          { p, total: sum(f64) },
          () => {},
        ),
      "container(",
      /the parameter "total" is a reduction whose result goes nowhere/,
      /sum\(grid\.scalar\("name", f64\)\)/,
    );
    refused(
      () =>
        grid.container(
          "k",
          // @ts-expect-error an array is no parameter
          { p, list: new Float64Array(3) },
          () => {},
        ),
      "container(",
      /the parameter "list" is a Float64Array/,
      /give a field, an array along an axis, a scalar, sum\(scalar\)/,
    );
  });

  it("lack a part", () => {
    // @ts-expect-error there is no function
    refused(() => grid.container("k", { p }), 'container("k"', /it is given nothing for its function/, /write grid\.container/);
    // @ts-expect-error there are no parameters
    refused(() => grid.container("k", () => {}), 'container("k"', /it is given a function for its parameters/, /write grid\.container/);
  });

  it("read and reduce one scalar, or reduce into it twice", () => {
    refused(
      () => grid.container("k", { p, a, r: sum(a) }, ({ p, a, r }, c) => r.add(a * p[c])),
      'container("k"',
      /the scalar "a" is read and takes the result of a reduction/,
      /reduce into another scalar/,
    );
    refused(
      () =>
        grid.container("k", { p, r: sum(b), s: sum(b) }, ({ p, r, s }, c) => {
          r.add(p[c]);
          s.add(p[c]);
        }),
      'container("k"',
      /two reductions go into the scalar "b"/,
      /a scalar of its own/,
    );
    refused(
      () =>
        grid.container("k", { p, a }, ({ p, a }, c) => {
          a = p[c];
          p[c] = a;
        }),
      "a = p[c]",
      /a is a parameter or a constant and cannot be assigned/,
      /local declared with let/,
    );
  });

  it("have mistakes that kernels may have, too", () => {
    const outer = 3;
    refused(
      () =>
        grid.container("k", { p }, ({ p }, c) => {
          p[c] = outer;
        }),
      "outer",
      /captures "outer", which is not a parameter/,
      /list it after the function: container\(name, \{ \.\.\. \}, \(\{ \.\.\. \}, c\) => \.\.\., \(\) => \[outer\]\)/,
    );
    refused(
      () =>
        grid.container("k", { p, t: table(f64, [1, 2]) }, ({ p, t }, c) => {
          p[c] = t[2];
        }),
      "t[2]",
      /index 2 of t, which has 2 elements/,
      /0 to 1/,
    );
  });
});
