import assert from "node:assert/strict";
import { it } from "node:test";
import { eachLauncher, launch, program } from "./launchers.js";

eachLauncher((launcher) => {
  for (const count of [1, 2, 3, 4])
    it(`messages, pieces, gathers, broadcasts and halos arrive as they were sent, between ${count} rank${count > 1 ? "s" : ""}`, () => {
      const { status, stdout, stderr } = launch(launcher, count, ["--expose-gc", program("messages")]);
      assert.equal(status, 0, stderr);
      const { count: found, checks } = JSON.parse(stdout) as { count: number; checks: number[] };
      assert.equal(found, count);
      assert.equal(checks.length, count);
      for (const each of checks) assert.ok(each >= (count === 1 ? 35 : 70), `${each} checks`);
    });
});
