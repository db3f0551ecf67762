import assert from "node:assert/strict";
import { test } from "node:test";
import { i32, kernel, min, open, range, view } from "isoform";

const below = kernel("below", { y: view(i32), least: min(i32) }, ({ y, least }, i) => {
  least.min(i < -2147483648 ? y[i] : 1);
});

test("a choice below what an i32 holds is made for no element", async () => {
  const device = await open("wasm");
  const y = device.from(
    i32,
    Array.from({ length: 64 }, (_, n) => -n - 10),
  );
  for (const precision of ["strict", "fast"] as const)
    assert.deepEqual(await device.run(below, { y }, range([1, 60]), { precision }), { least: 1 });
  await device.close();
});
