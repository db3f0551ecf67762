import assert from "node:assert/strict";
import { spawnSync } from "node:child_process";
import { fileURLToPath } from "node:url";
import { test } from "node:test";
import { LAUNCH_VARIABLES } from "../../src/set/launched.js";

const script = fileURLToPath(new URL("../../../scripts/prepare.js", import.meta.url));

test("npm run prepare knows the launchers' variables, and builds in one process only", async () => {
  const { COUNTS, isLaunched } = (await import(script)) as { COUNTS: readonly string[]; isLaunched: (env: NodeJS.ProcessEnv) => boolean };
  assert.deepEqual(
    COUNTS,
    LAUNCH_VARIABLES.map(({ count }) => count),
  );
  for (const name of COUNTS)
    assert.deepEqual([isLaunched({ [name]: "2" }), isLaunched({ [name]: "1" }), isLaunched({})], [true, false, false]);
});

test("in several processes it does nothing", () => {
  const { status, stdout, stderr } = spawnSync(process.execPath, [script], {
    encoding: "utf8",
    // Without npm a build would fail.
    env: { npm_lifecycle_event: "prepare", PMI_SIZE: "4", PATH: "/nonexistent" },
  });
  assert.deepEqual([status, stdout, stderr], [0, "", ""]);
});
