import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { doctor, open } from "isoform";
import { agrees, DEPOSITS, difference, Push, tolerances, type PushOptions } from "../../../apps/pic/push/push.js";

const reports = await doctor();
const OPTIONS: PushOptions = { deposit: "auto", layout: "soa", precision: "fast", particles: 3001, hot: true };

describe("H_p1 in its variants", () => {
  for (const name of ["js", "wasm", "native", "opencl"]) {
    const missing = reports.find(({ backend }) => backend === name)?.missing?.reason;
    const skip = missing !== undefined && `${name}: ${missing}`;
    // On the CPU there is one member to a team; OpenCL has 64.
    for (const deposit of name === "opencl" ? (["duplicated", "cells"] as const) : DEPOSITS)
      test(`${deposit} on ${name} gives what one worker gives in order`, { skip }, async () => {
        const device = await open(name);
        try {
          const push = await Push.create(device, { ...OPTIONS, deposit, layout: deposit === "cells" ? "aos" : "soa" });
          const expected = await push.expected();
          assert.ok(Math.max(...Array.from(expected.current, Math.abs)) > 0);
          const off = difference(await push.result(), expected);
          assert.ok(agrees(off, tolerances(device)), JSON.stringify(off));
          assert.ok(push.remarks.some((line) => line.startsWith('scatter "j"')));
          // Some have left the cells that they were sorted by.
          assert.equal((await push.run(3)).length, 3);
          const later = await push.expected();
          const offLater = difference(await push.result(), later);
          assert.ok(agrees(offLater, tolerances(device)), JSON.stringify(offLater));
          push.free();
        } finally {
          await device.close();
        }
      });
  }

  test("a result that is none, or another one, does not agree", async () => {
    const device = await open("js");
    const push = await Push.create(device, { ...OPTIONS, particles: 100 });
    const expected = await push.expected();
    const [first, ...rest] = Array.from(expected.current);
    // 5 particles add to each coefficient.
    const slip = 1e-11 * expected.scale;
    assert.ok(agrees(difference(expected, expected), tolerances(device)));
    for (const wrong of [NaN, first + slip])
      assert.ok(!agrees(difference({ ...expected, current: [wrong, ...rest] }, expected), tolerances(device)));
    push.free();
    await device.close();
  });
});
