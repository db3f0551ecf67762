/* Kernels with mistakes in them, which are made on purpose. */
import { describe } from "node:test";
import { f64, i32, kernel, teamKernel, view } from "isoform";
import { refuses } from "./refuses.js";

const x = view(f64),
  y = view(f64),
  n = view(i32);

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
        y[i + j + w] = 1;
      }),
      "y[i + j + w]",
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
      "a store to scratch by a team's members",
      teamKernel("k", { y, n }, ({ y, n }, team) => {
        const s = team.scratch("f64", 8);
        team.range(8, (j) => {
          s[n[j]] = 1;
        });
        y[team.index] = s[0];
      }),
      "s[n[j]] = ",
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
    [
      "a store by the lanes of a member",
      teamKernel("k", { y, x }, ({ y, x }, team) => {
        team.range(8, (j, lanes) => {
          lanes.range(4, (k) => {
            y[team.index * 8 + j] = x[k];
          });
        });
      }),
      "y[team.index * 8 + j] = ",
      /several lanes of a member may write/,
      /lane's index/,
    ],
    [
      "a local of a member assigned by its lanes",
      teamKernel("k", { x, y }, ({ x, y }, team) => {
        team.range(8, (j, lanes) => {
          let v = 0;
          lanes.range(4, (k) => {
            v += x[k];
          });
          y[team.index * 8 + j] = v;
        });
      }),
      "v += x[k]",
      /assigns v inside a loop shared by the lanes/,
      /lanes\.sum/,
    ],
    [
      "a result of the team folded by lanes",
      teamKernel("k", { x, y }, ({ x, y }, team) => {
        const { total } = team.reduce(8, { total: "sum" }, (j, r, lanes) => {
          lanes.range(4, (k) => {
            r.total.add(x[k]);
          });
        });
        y[team.index] = total;
      }),
      "r.total.add(x[k])",
      /folds into a result of the team/,
      /lanes\.sum/,
    ],
  ]);
});
