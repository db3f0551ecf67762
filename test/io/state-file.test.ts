import assert from "node:assert/strict";
import { createHash } from "node:crypto";
import { mkdtemp, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, test } from "node:test";
import { readState, writeState } from "../../src/io/index.js";

const folder = await mkdtemp(join(tmpdir(), "isoform-state-"));
after(() => rm(folder, { recursive: true }));
const path = join(folder, "state");
const FORMAT = "isoform test 1";

/** A file with these bytes and their checksum. */
async function sealed(text: string, values: Uint8Array): Promise<void> {
  const bytes = Buffer.concat([Buffer.from(text, "latin1"), values]);
  await writeFile(path, Buffer.concat([bytes, createHash("sha256").update(bytes).digest()]));
}

test("a state comes back with every bit", async () => {
  const state = { head: { steps: 7, name: "\u00e9" }, arrays: [Float64Array.of(1, -0, NaN), new Float64Array(0)] };
  await writeState(path, FORMAT, state);
  assert.deepEqual(await readState(path, FORMAT), state);
  await assert.rejects(readState(path, "isoform other 1"), /state is not a checkpoint of isoform other, or was written by another version/);
});

test("lengths that are not those of the file are refused before anything is allocated", async () => {
  const head = (lengths: unknown) => JSON.stringify({ head: {}, lengths });
  const line = (length: number | string) => `${FORMAT} ${String(length).padStart(12, "0")}\n`;
  const whole = (lengths: unknown) => line(head(lengths).length) + head(lengths);
  for (const [message, text] of [
    [/its head announces 16 bytes of values, and the file has 8/, whole([2])],
    [/its head announces 0 bytes of values, and the file has 8/, whole([])],
    [/announces 8000000000000 bytes/, whole([1e12])],
    [/lacks the lengths/, whole([-1, 2])],
    [/lacks the lengths/, whole([1.5])],
    [/lacks the lengths/, whole(["1"])],
    [/lacks the lengths/, whole({ length: 1 })],
    [/lacks the lengths/, `${line(4)}null`],
    [/its head is not JSON/, `${line(1)}{`],
    [/its head should have 999999999999 bytes/, line(999_999_999_999) + head([1])],
    [/its head should have NaN bytes/, `${FORMAT} -00000000001\n{}`],
    [/its head should have NaN bytes/, `${FORMAT} 0x0000000002\n{}`],
  ] as const) {
    await sealed(text, new Uint8Array(8));
    await assert.rejects(readState(path, FORMAT), { name: "IsoformError", message }, text);
  }
  await assert.rejects(readState(folder, FORMAT), /cannot read .*: (EISDIR|it is not a file)/);
  await assert.rejects(readState("/dev/zero", FORMAT), /it is not a file/);
  await writeState(path, FORMAT, { head: {}, arrays: [Float64Array.of(1, 2)] });
  await writeFile(path, (await readFile(path)).subarray(0, 60));
  await assert.rejects(readState(path, FORMAT), /is damaged: its checksum is wrong/);
});
