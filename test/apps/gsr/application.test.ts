import assert from "node:assert/strict";
import { after, test } from "node:test";
import { open } from "isoform";
import { devices } from "isoform/set";
import { formsOn } from "../../../src/portability/forms.js";
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

test("with a global section a run gives the seventh and eighth kernel, and is another problem", async () => {
  const options = { gib: 0.004, iterations: 4, globals: 1 } as const;
  const prepared = await application.prepare(await devices(device), options);
  assert.equal(prepared.problem, "gsr 0.004 GiB, global section");
  const samples = await prepared.run();
  assert.deepEqual(
    samples.map((s) => s.quantity),
    ["iteration", "a1Astro", "a1Att", "a1Instr", "a2Astro", "a2Att", "a2Instr", "a1Glob", "a2Glob"],
  );
  assert.ok(samples.every((s) => s.seconds > 0 && s.bytes! > 0 && s.flops! > 0));
  const { ok, maxError } = await prepared.validate();
  assert.ok(ok && maxError < 1e-13, `${maxError}`);
  prepared.free();
  // A coefficient a row less room for rows.
  assert.ok(Math.abs(application.footprint(options) / application.footprint({ ...options, globals: 0 }) - 1) < 0.01);
});

for (const form of application.forms!.names)
  test(`the form ${form} is measured under its own name, and stands up to the host's residual`, async () => {
    const prepared = await application.prepare(await devices(device), { gib: 0.004, iterations: 4, form });
    assert.equal(prepared.form, form);
    assert.equal(prepared.problem, "gsr 0.004 GiB");
    const [iteration, ...kernels] = await prepared.run();
    assert.equal(iteration.quantity, "iteration");
    assert.ok(kernels.length > 5 && kernels.every(({ quantity }) => form === "paper" || quantity.startsWith(`${form} `)));
    // An iteration is its kernels.
    for (const of of ["bytes", "flops"] as const)
      if (form !== "paper")
        assert.equal(
          kernels.reduce((sum, kernel) => sum + kernel[of]!, 0),
          iteration[of],
        );
    const { ok, maxError } = await prepared.validate();
    assert.ok(ok && maxError < 1e-13, `${maxError}`);
    prepared.free();
  });

test("several members have one member's solution, and a share of the work has a time of its own", async () => {
  const options = { gib: 0.004, iterations: 4, form: "fused" };
  const set = await devices("js*2");
  const together = await application.prepare(set, options);
  const [iteration, ...kernels] = await together.run();
  assert.ok(iteration.seconds > 0 && kernels.length === 0);
  const { ok, maxError } = await together.validate();
  assert.ok(ok && maxError < 1e-13, `${maxError}`);
  const share = await application.prepare(await devices(device), { ...options, memberOf: 2 });
  const [part] = await share.run();
  // Half of the rows, and all unknowns that stars share.
  assert.ok(part.bytes! > 0.45 * iteration.bytes! && part.bytes! < 0.7 * iteration.bytes!, `${part.bytes} of ${iteration.bytes}`);
  for (const prepared of [together, share]) prepared.free();
  await set.close();
});

test("several members do not take the form that runs on one device alone", async () => {
  const set = await devices("js*2");
  assert.deepEqual(formsOn(application, set, { gib: 0.004, form: "all" }), ["fused", "sorted", "gathered", "ordered"]);
  assert.throws(() => application.division!.requireMembers({ gib: 0.004 }, 1000), /1000 devices for a system whose \d+ stars/);
  await set.close();
});

test("the fastest form is a device's", async () => {
  assert.equal(application.forms!.fastest(await devices(device), { gib: 0.004 }), "fused");
});

test("the footprint is asked for before anything is made", () => {
  const bytes = application.footprint({ gib: 10 });
  assert.ok(bytes > 9.5 * 2 ** 30 && bytes < 11 * 2 ** 30);
  assert.ok(application.footprint({ gib: 10, form: "gathered" }) > 1.2 * bytes);
});
