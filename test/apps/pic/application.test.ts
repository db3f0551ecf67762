import assert from "node:assert/strict";
import { after, test } from "node:test";
import { open } from "isoform";
import { devices } from "isoform/set";
import { application } from "../../../apps/pic/application.js";

const device = await open("js");
after(() => device.close());

test("a run gives the times of the operator and stands up to the continuity equation", async () => {
  const prepared = await application.prepare(await devices(device), { gib: 0.0002, iterations: 3 });
  assert.equal(prepared.problem, "pic 0.0002 GiB");
  const samples = await prepared.run();
  assert.deepEqual(
    samples.map(({ quantity }) => quantity),
    ["iteration", "push1"],
  );
  assert.ok(samples.every(({ seconds, bytes, flops }) => seconds > 0 && bytes! > 0 && flops! > 0));
  const { ok, maxError } = await prepared.validate();
  assert.ok(ok && maxError < 1e-13, `${maxError}`);
  prepared.free();
});

test("the footprint is that of the particles", () => {
  assert.equal(application.footprint({ gib: 1 }), 56 * Math.floor(2 ** 30 / 56));
  assert.throws(() => application.footprint({ gib: 1e-9 }), /from 1 to 2147483647 particles/);
});
