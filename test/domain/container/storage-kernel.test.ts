import assert from "node:assert/strict";
import { it } from "node:test";
import { StorageKernel } from "../../../src/domain/container/storage-kernel.js";
import type { FieldLayout } from "../../../src/domain/grid/options.js";
import { f, i, j, kernel, store, view } from "../../ir/build.js";

it("indices of cells are right by construction, and those of components are the author's", () => {
  for (const [cardinality, layout, rank, trusted] of [
    [1, "soa", 2, [0, 1]],
    [1, "aos", 2, [0, 1]],
    [3, "soa", 3, [1, 2]],
    [3, "aos", 3, [0, 1]],
  ] as const) {
    const body = [store("u", [j, i], f(1))];
    const storage = new StorageKernel(kernel([view("u", 2), view("other")], body, { rank: 2 }));
    const plan = { fields: new Map([["u", { cardinality, layout: layout as FieldLayout }]]) };
    const { params } = storage.finish(body, plan, { policy: { kind: "range", rank: 2 }, fieldRank: () => rank, cell: [j, i] });
    const [u, other] = params.map((param) => (param.kind === "view" ? [param.rank, param.trusted] : []));
    assert.deepEqual(u, [rank, trusted], `${cardinality} ${layout}`);
    assert.deepEqual(other, [1, undefined]);
  }
});
