import assert from "node:assert/strict";
import { after, test } from "node:test";
import { f64, open } from "../../../src/index.js";
import { dense } from "../../../src/domain/index.js";
import { devices } from "../../../src/set/index.js";
import { skeleton, swap } from "../../../src/skeleton/index.js";

/* A clock that every launch that is prepared, and every graph that is captured, moves on by an hour. */
const HOUR = 3600e3;
const real = performance.now.bind(performance);
let ahead = 0;
performance.now = () => real() + ahead;
after(() => (performance.now = real));

test("the seconds of a run leave out what was compiled and prepared on the way", async () => {
  const device = await open("js");
  const prepare = device.prepare.bind(device) as (...all: never[]) => never;
  let prepared = 0;
  device.prepare = ((...all: never[]) => {
    ahead += HOUR;
    prepared++;
    return prepare(...all);
  }) as never;
  const capture = device.queue.capture.bind(device.queue);
  let captured = 0;
  device.queue.capture = (...all) => {
    ahead += HOUR;
    captured++;
    return capture(...all);
  };
  const set = await devices([device, device]);
  const grid = dense(set, [4, 4, 8]);
  const [u, v] = ["u", "v"].map((name) => grid.field(name, f64));
  u.fill(1);
  v.fill(0);
  const move = grid.container("move", { u, v }, ({ u, v }, c) => {
    v[c] = u[c] + u.at(c, 0, 0, 1);
  });
  const run = skeleton(set, "moves", [move, swap(u, v)]);
  for (const iterations of [1, 3, 2]) {
    const { seconds } = await run.run(iterations);
    assert.ok(seconds >= 0 && seconds < 3600, `${seconds} s`);
  }
  assert.ok(prepared >= 2, `${prepared} launches were prepared`);
  assert.ok(captured >= 2, `${captured} graphs were captured`);
  run.free();
  grid.free();
  await set.close();
});
