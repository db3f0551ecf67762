import assert from "node:assert/strict";
import { test } from "node:test";
import { f64, i32, open, teamKernel, teams, view, type Device } from "../../../src/index.js";

/* Lanes that go through loops each for its own element: see ir/passes/loops-into-lanes.ts. */

const params = { turns: i32, a: view(f64, 2), b: view(f64, 2), c: view(f64, 2, { disjoint: true }) };
const [TEAMS, LANES, MOST] = [3, 37, 9];

/** Adds to a row of scratch. */
const product = teamKernel("product", params, ({ turns, a, b, c }, team) => {
  const sums = team.scratch("f64", 37);
  team.range(37, (j) => {
    sums[j] = a[team.index][j % 9];
  });
  for (let k = 0; k < turns; k++) {
    const factor = a[team.index][k];
    team.range(37, (j) => {
      sums[j] += factor * b[k][j];
    });
  }
  team.range(37, (j) => {
    c[team.index][j] = sums[j];
  });
});
/** Two rows, each after the other, that go the other way, and stand in a view. */
const march = teamKernel("march", params, ({ turns, a, b, c }, team) => {
  const carried = team.scratch("f64", 37);
  team.range(37, (j) => {
    carried[j] = b[0][j];
  });
  for (let k = turns - 1; k >= 0; k--)
    team.range(37, (j) => {
      const here = carried[j] * a[team.index][k] + b[k][j];
      c[team.index][j] = c[team.index][j] * 0.5 + here;
      carried[j] = here - c[team.index][j];
    });
});
/** Reads what no lane stores, of the view that lanes store to. */
const halves = teamKernel("halves", params, ({ turns, a, c }, team) => {
  for (let k = 0; k < turns; k++)
    team.range(18, (j) => {
      c[team.index][j] = c[team.index][j] + c[team.index][j + 18] * a[team.index][k];
    });
});
/** Has an element for each turn. */
const rows = teamKernel("rows", params, ({ turns, a, b, c }, team) => {
  const sums = team.scratch("f64", 333);
  team.range(333, (j) => {
    sums[j] = 0;
  });
  for (let k = 0; k < turns; k++)
    team.range(37, (j) => {
      sums[37 * k + j] += a[team.index][k] * b[k][j];
    });
  team.range(37, (j) => {
    c[team.index][j] = sums[j] + sums[j + 37];
  });
});

/** Members with a row of sums each, whose lanes read the same: in pairs. */
const tile = teamKernel("tile", params, ({ turns, a, b, c }, team) => {
  const sums = team.scratch("f64", 2 * 37);
  team.range(2, (i, lanes) => {
    lanes.range(37, (j) => {
      sums[i * 37 + j] = c[team.index][j];
    });
    for (let k = 0; k < turns; k++) {
      const factor = a[team.index][k] * (i + 1);
      lanes.range(37, (j) => {
        sums[i * 37 + j] += factor * b[k][j];
      });
    }
  });
  team.range(37, (j) => {
    c[team.index][j] = sums[j] - sums[37 + j];
  });
});

const [js, wasm] = await Promise.all([open("js"), open("wasm")]);
for (const device of [js, wasm]) device.checked = false;
test.after(() => Promise.all([js.close(), wasm.close()]));

async function outcome(device: Device, k: typeof product, turns: number) {
  const values = (length: number, from: number): number[] => Array.from({ length }, (_, n) => Math.sin(n + from));
  const a = device.from(f64, values(TEAMS * MOST, 1), [TEAMS, MOST]);
  const b = device.from(f64, values(MOST * LANES, 50), [MOST, LANES]);
  const c = device.from(f64, values(TEAMS * LANES, 900), [TEAMS, LANES]);
  const launch = device.prepare(k, { turns, a, b, c }, teams(TEAMS), { precision: "strict" });
  launch.submit();
  const result = [...(await device.queue.read(c))];
  const remarks = launch.remarks.join("\n");
  for (const used of [launch, a, b, c]) used.free();
  return { result, remarks };
}

test("each lane goes through the loop for its own element, with the same bits", async () => {
  for (const [k, inside] of [
    [product, true],
    [march, true],
    [tile, true],
    [halves, false],
    [rows, false],
  ] as const)
    for (const turns of [0, 1, 2, MOST]) {
      const { result, remarks } = await outcome(wasm, k, turns);
      assert.equal(/vectors side by side/.test(remarks), inside, `${k.name}: ${remarks}`);
      assert.equal(/members: two at a time/.test(remarks), k === tile, remarks);
      assert.deepEqual(result, (await outcome(js, k, turns)).result, `${k.name}, ${turns} turns`);
    }
});
