import assert from "node:assert/strict";
import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import { spawnSync } from "node:child_process";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { it } from "node:test";
import { Worker } from "node:worker_threads";
import { devices } from "../../../src/set/index.js";
import { eachLauncher, launch, program } from "./launchers.js";

it("one process has no ranks and no transport", async () => {
  const set = await devices("js");
  assert.equal(set.ranks, undefined);
  assert.equal(set.transport, undefined);
  await set.close();
});

it("mpi: precedes a whole specification, and patience is seconds above 0", async () => {
  await assert.rejects(devices(["js", "mpi:js"]), /"mpi:" precedes a whole specification \(write "mpi:wasm,native" as one text\)/);
  await assert.rejects(devices("js", { patience: 0 }), /a patience of 0 s: give seconds above 0/);
});

const set = new URL("../../../src/set/index.js", import.meta.url).href;

it("devices without mpi: in one of several processes warns once, by rank 0", () => {
  const text = `const { devices } = await import(${JSON.stringify(set)}); for (const name of ["js", "js*2"]) await (await devices(name)).close();`;
  const told = (env: NodeJS.ProcessEnv): string => {
    const { status, stderr } = spawnSync(process.execPath, ["--input-type=module", "-e", text], {
      encoding: "utf8",
      env: { ...process.env, ...env },
    });
    assert.equal(status, 0, stderr);
    return stderr;
  };
  assert.equal(
    told({ PMI_SIZE: "2", PMI_RANK: "0" }),
    'isoform: mpirun started 2 processes, and each does all of the work by itself: write devices("mpi:js"), or set ISOFORM_ALONE=1 where that is meant\n',
  );
  for (const env of [
    { PMI_SIZE: "2", PMI_RANK: "1" },
    { PMI_SIZE: "2", PMI_RANK: "0", ISOFORM_ALONE: "1" },
    { PMI_SIZE: "1", PMI_RANK: "0" },
  ])
    assert.equal(told(env), "");
});

it("a worker is refused", async () => {
  const text = `const { parentPort } = require("node:worker_threads");
    import(${JSON.stringify(set)}).then(({ devices }) => devices("mpi:js")).then(() => "opened", ({ message }) => message).then((told) => parentPort.postMessage(told));`;
  const worker = new Worker(text, { eval: true });
  const told = await new Promise((resolve, reject) => worker.once("message", resolve).once("error", reject));
  await worker.terminate();
  assert.match(told as string, /^a worker asks for "mpi:", and MPI is for the main thread/);
});

eachLauncher((launcher) => {
  for (const count of [1, 3])
    it(`a program computes with its own members and agrees with others, ${count} rank${count > 1 ? "s" : ""}`, () => {
      const folder = mkdtempSync(join(tmpdir(), "isoform-ranks-"));
      const { status, stdout, stderr } = launch(launcher, count, [program("ranks"), join(folder, "made")]);
      const made = status === 0 ? readFileSync(join(folder, "made"), "utf8") : "";
      rmSync(folder, { recursive: true });
      assert.equal(status, 0, stderr);
      assert.equal(made, "0");
      // Lines end as on a terminal where the launcher gives its processes one.
      const lines = stdout.split(/\r?\n/).filter((line) => line.startsWith("rank "));
      assert.deepEqual(
        lines.sort(),
        Array.from({ length: count }, (_, rank) => `rank ${rank} of ${count}: ${[0, 1, 2, 3].map((n) => 10 * rank + n).join()}`),
      );
    });
});
