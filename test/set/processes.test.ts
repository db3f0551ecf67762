import assert from "node:assert/strict";
import { test } from "node:test";
import { joinJobOf } from "../../src/set/processes.js";
import { isAlone, LAUNCH_VARIABLES, launched, speaks } from "../../src/set/launched.js";

/** Texts that a call writes to standard error while the environment has these variables besides. */
async function toldWith(variables: Readonly<Record<string, string>>, spec: unknown): Promise<string[]> {
  const [env, write] = [process.env, process.stderr.write];
  const texts: string[] = [];
  process.env = { ...env, ...variables };
  process.stderr.write = (text: string | Uint8Array) => texts.push(String(text)) > 0;
  try {
    assert.equal(await joinJobOf(spec), undefined);
  } finally {
    process.env = env;
    process.stderr.write = write;
  }
  return texts;
}

test("copies of a program that each do all of the work are told of once, by the first", async () => {
  const two = { OMPI_COMM_WORLD_SIZE: "2", OMPI_COMM_WORLD_RANK: "0", ISOFORM_ALONE: "" };
  assert.deepEqual(await toldWith({ ISOFORM_ALONE: "" }, "js"), []);
  assert.deepEqual(await toldWith({ ...two, OMPI_COMM_WORLD_SIZE: "1" }, "js"), []);
  assert.deepEqual(await toldWith({ ...two, OMPI_COMM_WORLD_RANK: "1" }, "js"), []);
  assert.deepEqual(await toldWith({ ...two, ISOFORM_ALONE: "1" }, "js"), []);
  const told = await toldWith(two, ["js", "wasm"]);
  assert.equal(told.length, 1);
  assert.match(told[0], /^isoform: mpirun started 2 processes, and each does all of the work by itself: write devices\("mpi:js,wasm"\)/);
  assert.deepEqual(await toldWith(two, "js"), [], "once");
});

test("the prefix of a job precedes a whole specification", async () => {
  for (const spec of [
    ["js", "mpi:js"],
    ["mpi:js", "js"],
    [{}, "mpi:js"],
  ])
    await assert.rejects(joinJobOf(spec), /"mpi:" precedes a whole specification \(write "mpi:wasm,native" as one text\)/);
});

test("launchers tell of their processes by variables", () => {
  assert.equal(launched({}), undefined);
  for (const { launcher, kind, count, rank } of LAUNCH_VARIABLES) {
    assert.deepEqual(launched({ [count]: "3", [rank]: "2" }), { launcher, kind, count: 3, rank: 2 });
    assert.deepEqual(launched({ [count]: "1" }), { launcher, kind, count: 1, rank: 0 });
    for (const odd of ["", "0", "-1", "1.5", "many"]) assert.equal(launched({ [count]: odd }), undefined);
    const said = [{}, { [rank]: "0" }, { [rank]: "1" }, { [rank]: "1", ISOFORM_ALONE: "1" }].map((more) =>
      speaks({ [count]: "2", ...more }),
    );
    assert.deepEqual(said, [true, true, false, true]);
  }
  assert.ok(speaks({}));
  assert.deepEqual([isAlone({}), isAlone({ ISOFORM_ALONE: "0" }), isAlone({ ISOFORM_ALONE: "1" })], [false, false, true]);
});
