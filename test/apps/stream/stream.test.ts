import assert from "node:assert/strict";
import { after, test } from "node:test";
import { LaunchError, open } from "isoform";
import { devices } from "isoform/set";
import { application } from "../../../apps/stream/application.js";
import { DEFAULT_GIB, Stream, elements } from "../../../apps/stream/stream.js";

const device = await open("js");
after(() => device.close());

test("sizes", () => {
  assert.equal(elements(DEFAULT_GIB), 2 ** 25);
  assert.throws(() => elements(1e-9), LaunchError);
  assert.throws(() => elements(100), LaunchError);
  assert.throws(() => Stream.create(device, 2 ** 31 - 1), /choose a smaller --gib/);
});

test("the set follows its recurrence, and a wrong count of iterations shows", async () => {
  const stream = Stream.create(device, 1000, "strict");
  const { seconds, sum } = await stream.run(7);
  assert.deepEqual(Object.keys(seconds), ["copy", "mul", "add", "triad", "dot"]);
  assert.ok(Object.values(seconds).every((times) => times.length === 7));
  assert.ok((await stream.deviation(7, sum)) < 1e-13);
  assert.ok((await stream.deviation(6, sum)) > 1e-2);
  assert.ok((await stream.deviation(7, 1.001 * sum)) > 1e-4);
  stream.free();
});

test("bytes and operations of the set", () => {
  const stream = Stream.create(device, 1000);
  const costs = Object.fromEntries(stream.launches.map(({ kernel, cost }) => [kernel.name, [cost.bytes, cost.flops]]));
  assert.deepEqual(costs, { copy: [16000, 0], mul: [16000, 1000], add: [24000, 1000], triad: [24000, 2000], dot: [16000, 2000] });
  stream.free();
});

test("as an application", async () => {
  const prepared = await application.prepare(await devices(device), { gib: 1e-4, iterations: 3 });
  const samples = await prepared.run();
  assert.deepEqual(
    samples.map(({ quantity }) => quantity),
    ["iteration", "copy", "mul", "add", "triad", "dot"],
  );
  const [iteration, ...kernels] = samples;
  assert.ok(Math.abs(iteration.seconds - kernels.reduce((t, k) => t + k.seconds, 0)) < 1e-12);
  assert.equal(iteration.bytes, 96 * elements(1e-4));
  assert.equal((await prepared.validate()).ok, true);
  prepared.free();
});
