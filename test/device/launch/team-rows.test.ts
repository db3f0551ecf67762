import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import { cpuStorage } from "../../../src/device/cpu/storage.js";
import { teamLengths, residentTeams } from "../../../src/device/launch/team-rows.js";
import { bind } from "../../../src/device/launch/bind.js";
import { f64, i32, LaunchError, open, teamKernel, teams, view, type Device } from "../../../src/index.js";

const sorted = teamKernel("sorted", { n: i32, x: view(f64, 2) }, ({ n, x }, team) => {
  const held = team.scratch("f64", 2 * n + 1, { level: 1 });
  const marks = team.scratch("i32", x[0].length, { level: 1 });
  team.range(n, (j) => {
    held[j] = x[team.index][j];
    marks[j] = j;
  });
  team.range(n, (j) => {
    x[team.index][j] = held[marks[n - 1 - j]];
  });
});

let device: Device;
before(async () => void (device = await open("js")));
after(() => device.close());

test("each team that runs at a time has a row on lines of its own, as long as scalars and extents say", () => {
  const x = device.array(f64, [100, 7]);
  const binding = bind(device, sorted, { n: 5, x }, teams(100));
  assert.deepEqual([...teamLengths(binding.ir, binding).values()], [11, 7]);
  assert.equal(residentTeams(binding), device.capabilities.parallelism);
  const rows = Object.values(binding.views).filter((v) => v !== x);
  assert.deepEqual(
    rows.map(({ shape, strides }) => [shape[1], ...strides]),
    [
      [11, 16, 1],
      [7, 32, 1],
    ],
  );
  for (const row of rows) row.free();
  x.free();
});

test("a launch gives its teams' scratch back, and one without teams takes none", async () => {
  const x = device.from(f64, [1, 2, 3, 4, 5, 6], [2, 3]);
  const used = cpuStorage().allocated;
  const launch = device.prepare(sorted, { n: 3, x }, teams(2));
  assert.ok(cpuStorage().allocated > used);
  launch.free();
  assert.equal(cpuStorage().allocated, used);
  await device.run(sorted, { n: 3, x }, teams(2));
  assert.equal(cpuStorage().allocated, used);
  assert.deepEqual([...(await device.queue.read(x))], [3, 2, 1, 6, 5, 4]);
  await device.run(sorted, { n: 0, x }, teams(0));
  x.free();
});

test("indices of scratch that are known before the launch are checked", () => {
  const far = teamKernel("far", { n: i32, y: view(f64) }, ({ n, y }, team) => {
    const held = team.scratch("f64", n, { level: 1 });
    team.range(n + 1, (j) => {
      held[j] = j;
    });
    y[team.index] = held[0];
  });
  const y = device.array(f64, 2);
  assert.throws(
    () => device.prepare(far, { n: 4, y }, teams(2)),
    (error) => error instanceof LaunchError && /index 4 along axis 1, but scratch has extent 4/.test(error.message),
  );
});
