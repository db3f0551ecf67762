import assert from "node:assert/strict";
import { test } from "node:test";
import { progressLine } from "../../../apps/navier-stokes/simulation/progress-line.js";
import { compareProgress, readProgressLine } from "./read-progress.js";
import { GOLDEN } from "./golden.js";

test("numbers are written as Fortran's es20.10 writes them", () => {
  const { channel: _, ...plain } = readProgressLine(GOLDEN[0].lines[0]);
  const fortranNumber = (dt: number): string => progressLine({ ...plain, dt }).slice(10, 30);
  assert.equal(fortranNumber(8.9317101022e-3), "    8.9317101022E-03");
  assert.equal(fortranNumber(0), "    0.0000000000E+00");
  assert.equal(fortranNumber(-1), "   -1.0000000000E+00");
  assert.equal(fortranNumber(1.5e-123), "    1.5000000000-123");
  assert.equal(fortranNumber(9.99999999999e99), "    1.0000000000+100");
  assert.equal(fortranNumber(Number.NaN), "                 NaN");
  assert.equal(fortranNumber(-Infinity), "           -Infinity");
});

test("all lines of the original come back as they are", () => {
  for (const { lines } of GOLDEN)
    for (const line of lines) {
      const [step, ...words] = line.trim().split(/\s+/);
      const progress = readProgressLine(line);
      const written = progressLine(progress);
      assert.equal(written, step.padStart(10) + words.map((word) => word.toUpperCase().padStart(20)).join(""));
      assert.deepEqual(readProgressLine(written), progress);
      assert.ok(compareProgress(progress, readProgressLine(written)).every(({ error }) => error === 0));
    }
});

test("columns without spaces between them are told apart, and differences have names", () => {
  const progress = readProgressLine(GOLDEN[0].lines[0]);
  const other = { ...progress, dt: -1.5e-200, temperature: [progress.temperature[0], 2 * progress.temperature[1]] as const };
  assert.deepEqual(readProgressLine(progressLine(other)).dt, -1.5e-200);
  const differing = compareProgress(other, progress).filter(({ error }) => error > 1e-9);
  assert.deepEqual(
    differing.map(({ column }) => column),
    ["dt", "greatest temperature"],
  );
  assert.ok(Math.abs(differing[1].error - 1) < 1e-12);
});

test("what is no line is refused", () => {
  assert.throws(() => readProgressLine("1 2 3"), /3 columns instead of 10/);
  assert.throws(() => readProgressLine("1 2 3 4 5 x 7 8 9 10"), /a column is not a number/);
  const channel = readProgressLine(GOLDEN[0].lines[0]);
  assert.throws(() => compareProgress(channel, { ...channel, channel: undefined }), /columns/);
});
