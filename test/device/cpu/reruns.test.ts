import assert from "node:assert/strict";
import { test } from "node:test";
import type { CpuLaunch } from "../../../src/device/cpu/launch.js";
import { Reruns } from "../../../src/device/cpu/reruns.js";

/** A launch that has run over the views of `place`; `freed` takes `name` when its code is freed. */
const launch = (place: object, name: string, freed: string[], keeps = true): CpuLaunch =>
  ({
    binding: {
      ir: { params: [] },
      policy: { kind: "team", league: 1 },
      place,
      views: {},
      access: { views: {} },
      outputs: {},
      call: { device: { tuning: { isDefault: () => keeps } }, options: {}, kernel: {} },
    },
    lasted: { expected: () => 1 },
    handOver: () => ({ anyRange: true, free: () => freed.push(name) }),
    free: () => freed.push(`launch ${name}`),
  }) as unknown as CpuLaunch;

test("launches are kept for 64 places of views and 8 over each, and the oldest are freed", () => {
  const reruns = new Reruns();
  const freed: string[] = [];
  const places = Array.from({ length: 66 }, () => ({}));
  for (const [n, place] of places.slice(0, 64).entries()) reruns.keep(launch(place, `${n}`, freed));
  assert.deepEqual(freed, []);
  // The first is the one that was used last.
  reruns.keep(launch(places[0], "0 again", freed));
  reruns.keep(launch(places[64], "64", freed));
  assert.deepEqual(freed.splice(0), ["1"]);
  reruns.keep(launch(places[65], "65", freed));
  assert.deepEqual(freed.splice(0), ["2"]);
  for (let n = 0; n < 7; n++) reruns.keep(launch(places[65], `alike ${n}`, freed));
  assert.deepEqual(freed.splice(0), []);
  reruns.keep(launch(places[65], "one more", freed));
  assert.deepEqual(freed.splice(0), ["65"]);
  reruns.clear();
  assert.equal(freed.length, 64 - 1 + 8 + 1);
});

test("launches that leave nothing to others are freed", () => {
  const freed: string[] = [];
  new Reruns().keep(launch({}, "tuned", freed, false));
  assert.deepEqual(freed, ["launch tuned"]);
});
