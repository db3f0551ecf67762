import assert from "node:assert/strict";
import { test } from "node:test";
import { add, cast, compare, constant, index, IRError, KernelBuilder, load, not, type Expr, type Typed } from "isoform/ir";

test("types of expressions are known to the type checker", () => {
  const b = new KernelBuilder("types", { rank: 2 });
  const x = b.view("x", "f64", 2);
  const bytes = b.view("bytes", "u8");
  const sum: Typed<"f64"> = add(load(x, [index(0), index(1)]), 1);
  const byte: Typed<"i32"> = load(bytes, index(0));
  const local = b.let("t", sum);
  b.assign(local, cast("f64", byte));
  const less: Typed<"bool"> = compare("lt", byte, 3);
  b.if(not(less), () => b.assign(local, 2));
  // A front end that finds types while it runs.
  const found: readonly Expr[] = [sum, local];
  assert.equal(add(found[0], found[1]).type, "f64");
  assert.equal(found.reduce(add).type, "f64");

  const refused = (build: () => unknown): void => assert.throws(build, IRError);
  // @ts-expect-error a condition is a truth value
  refused(() => b.if(byte, () => {}));
  // @ts-expect-error i32 into a local of f64
  refused(() => b.assign(local, byte));
  // @ts-expect-error a number is not negated by `not`
  refused(() => not(constant("f64", 1)));
  // @ts-expect-error one type for both operands
  refused(() => add(sum, byte));
});
