import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { foldOf, foldPartials, finishReductions, type FoldFunction } from "../../../src/device/cpu/partials.js";
import { CPU_MEMORY, View } from "../../../src/device/memory/view.js";
import type { ReduceParam } from "../../../src/ir/types.js";

type Fold = (a: number, b: number) => number;

/** The rule of docs/determinism.md, written for lists: chunks of 256, of each of which eight lanes are folded, and these by halves. */
function byRule(values: readonly number[], identity: number, fold: Fold): number {
  if (values.length === 1) return values[0];
  const chunks = Array.from({ length: Math.ceil(values.length / 256) }, (_, n) => values.slice(256 * n, 256 * (n + 1)));
  return byRule(
    chunks.map((chunk) => {
      const lanes = Array.from({ length: 8 }, (_, lane) => chunk.filter((_, n) => n % 8 === lane).reduce(fold, identity));
      const halves = (list: readonly number[]): number =>
        list.length === 1 ? list[0] : halves(list.slice(0, list.length / 2).map((a, n) => fold(a, list[list.length / 2 + n])));
      return halves(lanes);
    }),
    identity,
    fold,
  );
}

const uneven = (a: number, b: number): number => 0.5 * a + b;

describe("partials of a strict reduction", () => {
  it("are folded by the rule, whatever their number", () => {
    for (const count of [1, 2, 7, 8, 9, 255, 256, 257, 263, 264, 512, 513, 256 * 256, 256 * 256 + 1, 256 * 257 + 9]) {
      const values = Array.from({ length: count }, (_, n) => Math.sin(n) + n / 7);
      const sum = foldOf("sum", "f64") as Fold;
      assert.equal(
        foldPartials(Float64Array.from(values), count, { identity: 0, type: "f64" }, sum as FoldFunction),
        byRule(values, 0, sum),
        `${count}`,
      );
      // A fold that is no sum shows the order, and where the identity goes.
      assert.equal(
        foldPartials(Float64Array.from(values), count, { identity: 3, type: "f64" }, uneven as FoldFunction),
        byRule(values, 3, uneven),
        `${count}`,
      );
    }
  });

  it("are as many as the caller says, and none is the identity", () => {
    const sum = foldOf("sum", "f64") as Fold;
    assert.equal(foldPartials(Float64Array.of(1, 2, 4), 2, { identity: 0, type: "f64" }, sum as FoldFunction), 3);
    assert.equal(foldPartials(new Float64Array(0), 0, { identity: 7, type: "f64" }, sum as FoldFunction), 7);
  });

  it("are folded in their type", () => {
    assert.deepEqual([foldOf("sum", "f64")(0.1, 0.2), foldOf("sum", "f32")(1, 2 ** -24 * 3)], [0.1 + 0.2, Math.fround(1 + 3 * 2 ** -24)]);
    assert.deepEqual([foldOf("sum", "i32")(2 ** 31 - 1, 2), foldOf("sum", "u32")(2 ** 32 - 1, 2)], [-(2 ** 31) + 1, 1]);
    for (const type of ["f64", "f32", "i32", "u32"] as const)
      assert.deepEqual([foldOf("min", type)(2, 3), foldOf("max", type)(2, 3)], [2, 3]);
  });

  it("end in the results and in the view that takes them, or are left in it", () => {
    const buffer = { memory: CPU_MEMORY, bytes: 64, address: 0, host: new ArrayBuffer(64), live: true, free: () => undefined };
    const output = new View(buffer, "f64", [3], [-1], 2);
    const param = { kind: "reduce", name: "s", type: "f64", op: "sum", identity: 0 } as ReduceParam;
    const results = finishReductions({ outputs: { s: output }, partials: false }, [{ param, partials: Float64Array.of(1, 2, 4) }]);
    assert.deepEqual([results, [...new Float64Array(buffer.host).slice(0, 4)]], [{ s: 7 }, [0, 0, 7, 0]]);
    finishReductions({ outputs: { s: output }, partials: true }, [{ param, partials: Float64Array.of(1, 2, 4) }]);
    assert.deepEqual([...new Float64Array(buffer.host).slice(0, 4)], [4, 2, 1, 0]);
    assert.deepEqual(finishReductions({ outputs: {}, partials: false }, [{ param, partials: Float64Array.of(1, 1) }]), { s: 2 });
  });
});
