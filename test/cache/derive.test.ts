import assert from "node:assert/strict";
import test from "node:test";
import { derive } from "../../src/cache/derive.js";

interface Counted {
  readonly of: object;
  readonly input: unknown;
}
const counted = (of: object, input: unknown): Counted => ({ of, input });
const alone = (of: object): Counted => ({ of, input: undefined });

test("what a pass made of an object and an input is made once", () => {
  const [a, b] = [{}, {}];
  const first = derive(a, counted, { n: 1, names: ["x"] });
  assert.equal(derive(a, counted, { n: 1, names: ["x"] }), first);
  for (const [of, input] of [
    [a, { n: 2, names: ["x"] }],
    [b, { n: 1, names: ["x"] }],
    [a, -0],
    [a, 0],
    [a, NaN],
    [a, null],
  ] as const)
    assert.deepEqual({ ...derive(of, counted, input) }, { of, input });
  assert.equal(derive(a, counted, { n: 1, names: ["x"] }), first);
});

test("passes have tables of their own, and need no input", () => {
  const a = {};
  assert.equal(derive(a, alone), derive(a, alone));
  assert.notEqual(derive(a, alone), derive({}, alone));
  assert.notEqual(derive(a, alone), derive(a, counted, 1));
});

test("a text tells inputs apart that are not plain data", () => {
  const a = {};
  assert.throws(() => derive(a, counted, new Map()), /not plain data/);
  const first = derive(a, counted, new Map([["x", 1]]), "x");
  assert.equal(derive(a, counted, new Map([["x", 2]]), "x"), first);
  assert.notEqual(derive(a, counted, new Map([["x", 1]]), "y"), first);
});

test("what failed is tried again, and the oldest of many results goes", () => {
  const a = {};
  let fails = true;
  const pass = (_: object, n: number): { readonly n: number } => {
    if (fails) throw new Error("no");
    return { n };
  };
  assert.throws(() => derive(a, pass, 0));
  fails = false;
  const [oldest, second] = [derive(a, pass, 0), derive(a, pass, 1)];
  for (let n = 2; n <= 256; n++) derive(a, pass, n);
  assert.equal(derive(a, pass, 1), second);
  assert.notEqual(derive(a, pass, 0), oldest);
});
