import { describe } from "node:test";
import { argmax, argmin, f64, kernel, reducer, struct, teamKernel, view } from "isoform";
import { refuses } from "./refuses.js";

const Pair = struct("Pair", { a: f64, b: f64 });
const pairs = reducer(Pair, { a: 0, b: 0 }, (x, y) => ({ a: x.a + y.a, b: x.b }));

describe("reductions of a value with its place, and of records, refuse", () => {
  refuses([
    [
      "the method of the other extremum",
      kernel("k", { x: view(f64), best: argmin(f64) }, ({ x, best }, i) => {
        (best as never as { max(v: number, i: number): void }).max(x[i], i);
      }),
      "best",
      /^best has no method "max"$/,
      /^write best\.min\(value, index\)$/,
    ],
    [
      "a value without its place",
      kernel("k", { x: view(f64), best: argmax(f64) }, ({ x, best }, i) => {
        (best.max as (v: number) => void)(x[i]);
      }),
      "best",
      /^best is given 1 arguments instead of 2$/,
      /^write best\.max\(value, index\)$/,
    ],
    [
      "a place that is not a whole number",
      kernel("k", { x: view(f64), best: argmin(f64) }, ({ x, best }, i) => {
        best.min(x[i], x[i]);
      }),
      "x[i]);",
      /an index must be i32/,
      /.*/,
    ],
    [
      "their use as numbers",
      kernel("k", { x: view(f64), best: argmin(f64) }, ({ x, best }, i) => {
        x[i] = +best;
      }),
      "best",
      /^a reduction is used as a number$/,
    ],
    [
      "records of other fields",
      kernel("k", { x: view(f64), r: pairs }, ({ x, r }, i) => {
        r.merge({ a: x[i] } as never);
      }),
      "r.merge",
      /^a Pair has the fields a, b, and is given a$/,
      /^write Pair\(\{ a, b \}\)$/,
    ],
    [
      "folds by the members of a team",
      teamKernel("k", { x: view(f64), best: argmin(f64) }, ({ x, best }, team) => {
        team.range(4, (j) => best.min(x[j], j));
      }),
      "best.min",
      /^folds into best_value inside a loop shared by the team$/,
      /^fold over the members/,
    ],
    [
      "a fold with branches of statements",
      kernel(
        "k",
        {
          x: view(f64),
          r: reducer(Pair, { a: 0, b: 0 }, (p, q) => {
            let a = p.a;
            if (q.a > a) a = q.a;
            return { a, b: p.b };
          }),
        },
        ({ x, r }, i) => {
          r.merge({ a: x[i], b: 0 });
        },
      ),
      "(p, q) => {",
      /^the fold of r has statements other than constants$/,
      /^write one expression for each field/,
    ],
  ]);
});
