import assert from "node:assert/strict";
import { after, test } from "node:test";
import { open } from "isoform";
import { devices } from "isoform/set";
import { application } from "../../../apps/gsr/application.js";

const device = await open("js");
after(() => device.close());

test("a run gives the iteration and the six kernels, and stands up to the host's residual", async () => {
  const prepared = await application.prepare(await devices(device), { gib: 0.004, iterations: 4 });
  assert.equal(prepared.problem, "gsr 0.004 GiB");
  const samples = await prepared.run();
  assert.deepEqual(
    samples.map((s) => s.quantity),
    ["iteration", "a1Astro", "a1Att", "a1Instr", "a2Astro", "a2Att", "a2Instr"],
  );
  assert.ok(samples.every((s) => s.seconds > 0 && s.bytes! > 0 && s.flops! > 0));
  const { ok, maxError } = await prepared.validate();
  assert.ok(ok && maxError < 1e-13, `${maxError}`);
  prepared.free();
});

test("the footprint is asked for before anything is made", () => {
  const bytes = application.footprint({ gib: 10 });
  assert.ok(bytes > 9.5 * 2 ** 30 && bytes < 11 * 2 ** 30);
});
