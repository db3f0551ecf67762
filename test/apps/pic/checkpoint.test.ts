import assert from "node:assert/strict";
import { mkdtemp, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, test } from "node:test";
import { previousOf, readState, writeState } from "isoform/io";
import { writeCheckpoint, type SavedOptions } from "../../../apps/pic/results/checkpoint.js";
import { readRun } from "./read-run.js";
import type { Row } from "../../../apps/pic/simulation/run.js";

const folder = await mkdtemp(join(tmpdir(), "isoform-pic-"));
after(() => rm(folder, { recursive: true }));
const file = (name: string) => join(folder, name);

const OPTIONS: SavedOptions = {
  case: "weibel",
  cells: 32,
  degree: 3,
  amplitude: 1e-3,
  k: 1.25,
  mode: 1,
  fractions: [1],
  drifts: [0],
  temperatures: [0.0002, 0.0024],
  particles: 3,
  dt: 0.05,
  every: 5,
  sort: 0,
  composition: "strang",
  loading: "sobol",
  layout: "soa",
  precision: "strict",
};
const ROW: Row = { time: 0, mode: 1, electric: [1, 2], magnetic: [3], kinetic: [4], momentum: [0, 0, 0], gauss: 0, divergence: 0 };

const checkpoint = (steps: number): Awaited<ReturnType<typeof readRun>> => ({
  options: OPTIONS,
  rows: [],
  state: {
    steps,
    about: { cells: "32 x 1 x 1" },
    arrays: [Float64Array.of(1, -0, Math.PI), Float64Array.of(NaN, 5e-324), new Float64Array(0)],
  },
});

test("a checkpoint comes back with every bit, in pieces too", async () => {
  await writeCheckpoint(file("small"), checkpoint(7));
  assert.deepEqual(await readRun(file("small")), checkpoint(7));
  const long = { ...checkpoint(1), state: { ...checkpoint(1).state, arrays: [Float64Array.from({ length: 2_500_001 }, (_, n) => n / 3)] } };
  await writeCheckpoint(file("long"), long);
  assert.deepEqual(await readRun(file("long")), long);
});

test("the checkpoint before the last one is kept", async () => {
  for (const steps of [1, 2, 3]) await writeCheckpoint(file("twice"), checkpoint(steps));
  const stepsOf = async (path: string) => (await readRun(path)).state.steps;
  assert.deepEqual([await stepsOf(file("twice")), await stepsOf(previousOf(file("twice")))], [3, 2]);
});

test("whatever byte is damaged, it is found, and the one before is named", async () => {
  const path = file("damaged");
  await writeCheckpoint(path, checkpoint(1));
  await writeCheckpoint(path, checkpoint(2));
  const whole = await readFile(path);
  const refused = async (bytes: Uint8Array, message: RegExp) => {
    await writeFile(path, bytes);
    await assert.rejects(readRun(path), (error: Error) => {
      assert.equal(error.name, "IsoformError");
      assert.match(error.message, message);
      assert.match(error.message, /; the previous checkpoint is intact: .*damaged\.previous$/);
      return true;
    });
  };
  for (let at = 0; at < whole.length; at++) {
    const bytes = Buffer.from(whole);
    bytes[at] ^= 0x04;
    await refused(bytes, at < 14 ? /is not a checkpoint of isoform pic/ : /is damaged: its checksum is wrong/);
  }
  for (const length of [0, 10, 27, 60, whole.length - 33, whole.length - 1])
    await refused(whole.subarray(0, length), length < 14 ? /is not a checkpoint/ : /is damaged: its checksum is wrong/);
  await refused(Buffer.concat([whole, Buffer.alloc(8)]), /is damaged: its checksum is wrong/);
  await rm(path);
  await assert.rejects(readRun(path), /cannot read .*damaged: ENOENT.*the previous checkpoint is intact/);
  await writeFile(previousOf(path), whole.subarray(0, 100));
  await assert.rejects(readRun(path), /cannot read [^;]*$/);
});

test("a checkpoint of a former version is refused as such", async () => {
  const { state, ...others } = checkpoint(1);
  await writeState(file("former"), "isoform pic 3", { head: { ...others, steps: 1, about: state.about }, arrays: [Float64Array.of(1)] });
  await assert.rejects(readRun(file("former")), /former is not a checkpoint of isoform pic, or was written by another version$/);
});

test("what cannot be written is named, and leaves nothing behind", async () => {
  await assert.rejects(writeCheckpoint(file("no/state"), checkpoint(1)), /cannot write .*no.state: ENOENT/);
});

/** Heads that fit their checksum and mean nothing. */
const option = (more: object) => ({ options: { ...OPTIONS, ...more } });
const rows = (...more: object[]) => ({ rows: more.map((each) => ({ ...ROW, ...each })) });
const WRONG: readonly (readonly [message: RegExp, change: object])[] = [
  [/options\.every: Too small/, option({ every: 0 })],
  [/options\.every: /, option({ every: -5 })],
  [/options\.every: /, option({ every: 1.5 })],
  [/options\.every: /, option({ every: undefined })],
  [/options\.case: /, option({ case: "nope" })],
  [/options\.case: /, option({ case: "__proto__" })],
  [/options\.cells: /, option({ cells: "32" })],
  [/options\.cells: /, option({ cells: 1e300 })],
  [/options\.degree: /, option({ degree: null })],
  [/options\.amplitude: /, option({ amplitude: NaN })],
  [/options\.particles: /, option({ particles: 0 })],
  [/options\.particles: /, option({ particles: [3] })],
  [/options\.ionMass: /, option({ ionMass: -1 })],
  [/options\.dt: /, option({ dt: 0 })],
  [/options\.dt: /, option({ dt: "0.05" })],
  [/options\.composition: /, option({ composition: "constructor" })],
  [/options\.loading: /, option({ loading: "" })],
  [/options\.layout: /, option({ layout: "left" })],
  [/options\.precision: /, option({ precision: {} })],
  [/options\.sort: /, option({ sort: -1 })],
  [/options: Unrecognized key/, option({ device: "cuda:0" })],
  [/options: /, { options: undefined }],
  [/steps: /, { steps: "x" }],
  [/steps: /, { steps: -1 }],
  [/steps: /, { steps: 1e300 }],
  [/steps: /, { steps: null }],
  [/about: /, { about: "32" }],
  [/about\.cells: /, { about: { cells: {} } }],
  [/about\.cells: /, { about: { cells: "\u001b[2J" } }],
  [/rows: /, { rows: {} }],
  [/rows\.0\.time: /, rows({ time: "0" })],
  [/rows\.0\.time: /, rows({ time: -1 })],
  [/rows\.0\.electric: /, rows({ electric: [] })],
  [/rows\.0\.momentum: /, rows({ momentum: [0] })],
  [/rows\.0: Unrecognized key/, rows({ more: 1 })],
  [/rows: samples that are not in the order of time/, rows({ time: 1 }, { time: 1 })],
  [/rows: samples of several runs/, rows({ time: 1 }, { time: 2, kinetic: [1, 2] })],
  [/: Unrecognized key/, { more: 1 }],
];

test("heads that fit their checksum but not their meaning are refused in one line, with the place", async () => {
  const path = file("meaning");
  await writeCheckpoint(path, { ...checkpoint(1), rows: [ROW, { ...ROW, time: 1 }] });
  const { head, arrays } = await readState(path, "isoform pic 5");
  const { metadata, parts } = head as { metadata: object; parts: unknown };
  for (const [message, change] of WRONG) {
    await writeState(path, "isoform pic 5", { head: { metadata: { ...metadata, ...change }, parts }, arrays });
    await assert.rejects(readRun(path), (error: Error) => {
      assert.equal(error.name, "IsoformError", error.stack);
      assert.match(error.message, message);
      assert.match(error.message, /^[^\n]*meaning is not a checkpoint of isoform pic: [^\n]*$/);
      return true;
    });
  }
  for (const none of [null, 5, "x", []]) {
    await writeState(path, "isoform pic 5", { head: { metadata: none, parts }, arrays });
    await assert.rejects(readRun(path), /is not a checkpoint of isoform pic: Invalid input/);
    await writeState(path, "isoform pic 5", { head: none, arrays });
    await assert.rejects(readRun(path), /is an incomplete checkpoint: it lacks the list of its arrays/);
  }
});
