import assert from "node:assert/strict";
import { test } from "node:test";
import { add, cast, compare, index, IRError, KernelBuilder, load, not, select, type Expr, type Typed } from "isoform/ir";

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

  // What is not known before the program runs is checked when it runs.
  const condition: Expr = less;
  b.if(condition, () => b.assign(local, select(condition, found[0], found[1])));

  // @ts-expect-error bytes are read as i32
  const wrong: Typed<"f64"> = load(bytes, index(0));
  assert.throws(() => add(sum, wrong), IRError);
});
