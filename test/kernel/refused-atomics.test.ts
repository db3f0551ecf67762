import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { atomic, f32, f64, i32, kernel, LaunchError, teamKernel, view } from "isoform";
import { refuses } from "./refuses.js";

describe("atomic arrays refuse", () => {
  refuses([
    [
      "their use as an array",
      kernel("k", { n: atomic(i32), y: view(i32) }, ({ n, y }, i) => {
        y[i] = (n as never as number[])[i];
      }),
      "n as never",
      /^n is an atomic array and is used as a number$/,
      /^write n\.load\(i\)$/,
    ],
    [
      "assignment",
      kernel("k", { n: atomic(i32) }, ({ n }, i) => {
        (n as never as number[])[i] = 1;
      }),
      "n as never",
      /^n is an atomic array, which is not assigned$/,
      /^write n\.store\(i, value\)$/,
    ],
    [
      "methods that they lack",
      kernel("k", { n: atomic(i32) }, ({ n }, i) => {
        (n as never as { mul(i: number, v: number): void }).mul(i, 2);
      }),
      "n as never",
      /^n has no method "mul"$/,
      /^an atomic array has add, sub, min, max, and, or, xor, exchange, compareExchange, load, store$/,
    ],
    [
      "an index too few",
      kernel("k", { n: atomic(i32, 2) }, ({ n }, i) => {
        (n.add as (i: number, v: number) => number)(i, 1);
      }),
      "n.add as",
      /^n\.add is given 2 arguments$/,
      /^write n\.add\(i, j, value\)$/,
    ],
    [
      "an exchange without the expected value",
      kernel("k", { n: atomic(i32) }, ({ n }, i) => {
        (n.compareExchange as (i: number, v: number) => number)(i, 1);
      }),
      "n.compareExchange as",
      /^n\.compareExchange is given 2 arguments$/,
      /^write n\.compareExchange\(i, expected, value\)$/,
    ],
    [
      "values that are not whole numbers",
      kernel("k", { n: atomic(i32), x: view(f64) }, ({ n, x }, i) => {
        n.add(0, x[i]);
      }),
      "n.add",
      /^n holds i32, and f64 is stored into it$/,
      /.*/,
    ],
    [
      "operations that every member of a team would do",
      teamKernel("k", { n: atomic(i32) }, ({ n }, team) => {
        n.add(team.index, 1);
      }),
      "n.add",
      /^changes n outside of the loops that members share, where each member runs the same statements$/,
      /^put it into team\.range, or team\.single$/,
    ],
    [
      "operations that every lane of a member would do",
      teamKernel("k", { n: atomic(i32), y: view(f64, 2) }, ({ n, y }, team) => {
        team.range(8, (j, lanes) => {
          n.add(j, 1);
          y[team.index][j] = lanes.sum(4, (k) => k);
        });
      }),
      "n.add",
      /^changes n outside of the loops that lanes share, where each lane runs the same statements$/,
      /^put it into lanes\.range$/,
    ],
  ]);

  it("types of elements other than i32 and u32", () => {
    assert.throws(
      () => atomic(f32 as never),
      (error: Error) =>
        error instanceof LaunchError &&
        /^atomic\(\.\.\.\) \(.*refused-atomics\.test\.\w+:\d+\) is given f32 for its elements; use i32 or u32, and for sums of floats scatter\(f32\)$/.test(
          error.message,
        ),
    );
  });

  it("wrong methods in the editor", () => {
    kernel("k", { n: atomic(i32, 2) }, ({ n }, i) => {
      // @ts-expect-error an index for each axis
      n.add(i, 1);
      // @ts-expect-error it has no product
      n.mul(i, i, 1);
      // @ts-expect-error it is not an array
      n[i] = 1;
      const old: number = n.exchange(i, i, 1);
      n.store(i, i, old);
    });
  });
});
