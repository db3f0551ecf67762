import assert from "node:assert/strict";
import { after, test } from "node:test";
import { open } from "isoform";
import { devices } from "isoform/set";
import { application } from "../../../apps/lbm/application.js";

const device = await open("wasm");
after(() => device.close());

test("runs give the step's time and work, and stand up to plain JavaScript", async () => {
  const prepared = await application.prepare(await devices(device), { gib: 0.002, iterations: 3 });
  assert.equal(prepared.problem, "lbm 0.002 GiB");
  for (let run = 0; run < 2; run++) {
    const samples = await prepared.run();
    assert.deepEqual(
      samples.map((s) => s.quantity),
      ["iteration", "stream and collide"],
    );
    // 18 x 18 x 18 cells of 19 populations, each read and written once.
    for (const { seconds, bytes, flops } of samples) {
      assert.ok(seconds > 0 && flops! > 18 ** 3 * 200);
      assert.ok(bytes! > 18 ** 3 * 19 * 16 && bytes! < 19 ** 3 * 19 * 16 * 1.5);
    }
    const { ok, maxError } = await prepared.validate();
    assert.ok(ok && maxError < 1e-14, `${maxError}`);
  }
  prepared.free();
});

test("the footprint is that of the size asked for, and too small ones are refused", () => {
  const bytes = application.footprint({ gib: 1 });
  assert.ok(bytes > 0.97 * 2 ** 30 && bytes <= 2 ** 30);
  assert.throws(() => application.footprint({ gib: 1e-6 }), /a cavity of 0.000001 GiB|a cavity of 1e-6 GiB/);
});
