import assert from "node:assert/strict";
import { test } from "node:test";
import { application as stream } from "../../apps/stream/application.js";
import { assess } from "../../src/portability/assessment.js";
import { measureApplications } from "../../src/portability/campaign.js";
import { missing } from "../emit/standalone/compiled.js";

test("an emitted port is covered by the files of its kernels", { skip: missing("gcc") }, async () => {
  const silent = () => ({ update() {}, done() {} });
  const options = { devices: ["js"], ports: ["c"], handwritten: false, quick: true, repeats: 1, gib: 1e-4, iterations: 1 } as const;
  const { coverage, runs } = assess(await measureApplications([stream], options, silent));
  assert.deepEqual(
    coverage!.map(({ application }) => application),
    ["isoform-emitted-c"],
  );
  const kernels = runs.filter(({ quantity, application }) => quantity !== "iteration" && application === "isoform-emitted-c");
  const files = coverage![0].files;
  assert.ok(kernels.length > 0 && kernels.every(({ quantity }) => files.some(({ file }) => file === quantity)), JSON.stringify(files));
  // Emitted C has a function of some lines for each kernel.
  assert.ok(files.every(({ lines, id }) => lines.length > 3 && id.length === 16));
});
