import assert from "node:assert/strict";
import { mkdtemp, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, test } from "node:test";
import { previousOf, readCheckpoint, writeCheckpoint } from "../../../apps/pic/checkpoint.js";

const folder = await mkdtemp(join(tmpdir(), "isoform-pic-"));
after(() => rm(folder, { recursive: true }));
const file = (name: string) => join(folder, name);

const checkpoint = (steps: number) => ({
  options: { case: "weibel", particles: 3 },
  rows: [],
  state: {
    steps,
    about: { cells: "32 x 1 x 1" },
    arrays: [Float64Array.of(1, -0, Math.PI), Float64Array.of(NaN, 5e-324), new Float64Array(0)],
  },
});

test("a checkpoint comes back with every bit, in pieces too", async () => {
  await writeCheckpoint(file("small"), checkpoint(7));
  assert.deepEqual(await readCheckpoint(file("small")), checkpoint(7));
  const long = { ...checkpoint(1), state: { ...checkpoint(1).state, arrays: [Float64Array.from({ length: 2_500_001 }, (_, n) => n / 3)] } };
  await writeCheckpoint(file("long"), long);
  assert.deepEqual(await readCheckpoint(file("long")), long);
});

test("the checkpoint before the last one is kept", async () => {
  for (const steps of [1, 2, 3]) await writeCheckpoint(file("twice"), checkpoint(steps));
  const stepsOf = async (path: string) => (await readCheckpoint(path)).state.steps;
  assert.deepEqual([await stepsOf(file("twice")), await stepsOf(previousOf(file("twice")))], [3, 2]);
});

test("whatever byte is damaged, it is found, and the one before is named", async () => {
  const path = file("damaged");
  await writeCheckpoint(path, checkpoint(1));
  await writeCheckpoint(path, checkpoint(2));
  const whole = await readFile(path);
  const refused = async (bytes: Uint8Array, message: RegExp) => {
    await writeFile(path, bytes);
    await assert.rejects(readCheckpoint(path), (error: Error) => {
      assert.equal(error.name, "IsoformError");
      assert.match(error.message, message);
      assert.match(error.message, /; the one before it is whole: --restart .*damaged\.previous$/);
      return true;
    });
  };
  for (let at = 0; at < whole.length; at++) {
    const bytes = Buffer.from(whole);
    bytes[at] ^= 0x04;
    await refused(bytes, at < 14 ? /is no checkpoint of isoform pic/ : /is damaged: its checksum is wrong/);
  }
  for (const length of [0, 10, 27, 60, whole.length - 33, whole.length - 1])
    await refused(whole.subarray(0, length), length < 14 ? /is no checkpoint/ : /is damaged: its checksum is wrong/);
  await refused(Buffer.concat([whole, Buffer.alloc(8)]), /is damaged: its checksum is wrong/);
  await rm(path);
  await assert.rejects(readCheckpoint(path), /cannot read .*damaged: ENOENT.*the one before it is whole/);
  await writeFile(previousOf(path), whole.subarray(0, 100));
  await assert.rejects(readCheckpoint(path), /cannot read [^;]*$/);
});

test("what cannot be written is named, and leaves nothing behind", async () => {
  await assert.rejects(writeCheckpoint(file("no/state"), checkpoint(1)), /cannot write .*no.state: ENOENT/);
});
