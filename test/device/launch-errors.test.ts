import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import { f64, i32, kernel, LaunchError, open, range, scatter, teams, u8, type Device } from "../../src/index.js";

const refused = (body: () => unknown, message: RegExp): void =>
  assert.throws(body, (error: unknown) => error instanceof LaunchError && message.test(error.message));

let device: Device;
before(async () => void (device = await open("js")));
after(() => device.close());

test("policies of other than whole numbers are refused", () => {
  refused(() => range([0.5, 3.5]), /range axis 0 has 3 indices from 0.5/);
  refused(() => teams(3, { size: -7 }), /teams of -7 members/);
  refused(() => teams(3, { size: 0.5 }), /teams of 0.5 members/);
});

test("shapes that are none are refused", () => {
  const v = device.array(f64, [2, 3]);
  refused(() => v.reshape(-2, -3), /shape \[-2,-3\]/);
  refused(() => v.reshape(1, 1, 1, 2, 3), /1 to 4 axes/);
  refused(() => v.slice([0, 1], [0, 1], [0, 1]), /3 bounds/);
  refused(() => v.at(0, 0.5), /index 0.5 of axis 0/);
  refused(() => v.at(0.5, 0), /axis 0.5/);
});

test("arrays of no element type are refused", () => {
  refused(() => device.array(undefined as never, 4), /element type.*f64/);
  refused(() => device.array({ type: "i64" } as never, 4), /element type.*f64/);
  refused(() => device.array(f64, -1), /shape \[-1\]/);
});

test("values that an integer view cannot hold are refused", () => {
  refused(() => device.from(i32, [1.5, 2]), /value 0.*1\.5.*i32/);
  refused(() => device.from(i32, new Float64Array([1, Number.NaN])), /value 1.*NaN.*i32/);
  refused(() => device.from(u8, [255, 256]), /value 1.*256.*u8/);
});

test("options that name nothing are refused", () => {
  const k = kernel("count", { h: scatter(f64) }, ({ h }, i) => {
    h.add(0, i);
  });
  const args = { h: device.array(f64, 1) };
  refused(() => device.prepare(k, args, range(4), { scatter: "locked" as never }), /scatter strategy "locked".*sorted/);
  refused(() => device.prepare(k, args, range(4), { scatter: { g: "sorted" } }), /"g".*h/);
  refused(() => device.prepare(k, args, range(4), { precision: "loose" as never }), /precision "loose".*strict/);
  refused(() => device.prepare(k, args, undefined as never), /policy.*range/);
});
