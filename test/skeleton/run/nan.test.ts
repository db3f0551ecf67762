import assert from "node:assert/strict";
import { it } from "node:test";
import { f32, f64, i32 } from "isoform";
import { dense, type Field } from "../../../src/domain/index.js";
import { findNan, NanWatch } from "../../../src/skeleton/run/nan.js";
import { jsSet } from "../../domain/sets.js";

const [NX, NY] = [5, 9];

it("NaN is found in any component and on any member, the first one of the first field", async () => {
  for (const members of [1, 2]) {
    const grid = dense(jsSet(members), [NX, NY]);
    const [a, v, n] = [grid.field("a", f64), grid.field("v", f32, { cardinality: 3 }), grid.field("n", i32)];
    const watch = new NanWatch([n, a, v] as Field[]);
    const found = async (): Promise<unknown> => {
      const at = await watch.find();
      return at && [at.field.name, at.cell, at.component];
    };
    const put = (field: { fill(value: (...at: number[]) => number): void }, ...places: string[]): void =>
      field.fill((x, y, _z, k) => (places.includes([x, y, k].join()) ? NaN : 1));
    n.fill(0);
    put(a);
    put(v);
    assert.equal(await found(), undefined);
    put(v, "4,8,2");
    assert.deepEqual(await found(), ["v", [4, 8], 2]);
    put(v, "4,8,2", "0,8,1", "2,3,0", "2,3,1");
    assert.deepEqual(await found(), ["v", [2, 3], 0]);
    put(a, "3,7,0", "4,2,0");
    assert.deepEqual(await found(), ["a", [4, 2], 0]);
    assert.equal(await findNan(n as Field), undefined);
    watch.free();
    grid.free();
  }
});
