import assert from "node:assert/strict";
import { test } from "node:test";
import { i32, kernel, open, print, range, view } from "isoform";
import { bind } from "../../../src/device/launch/bind.js";
import { PrintingRuns, readPrinted, readLinesNow } from "../../../src/device/launch/printing-runs.js";
import { freePrintRecords, printRecords } from "../../../src/device/launch/prints.js";
import { readView } from "../../../src/device/cpu/host-view.js";
import type { View } from "../../../src/device/memory/view.js";

const told = kernel("told", { x: view(i32) }, ({ x }, i) => {
  print("at", x[i]);
});
const silent = kernel("silent", { x: view(i32) }, ({ x }, i) => {
  x[i] = i;
});
const js = await open("js");
const x = js.array(i32, 4);
const reading = { read: (of: View) => readView(of), clear: () => {} };
const live = (bound: ReturnType<typeof bind>): boolean[] => printRecords(bound).map(({ buffer }) => buffer.live !== false);

test("lines of a launch that has run several times are read once, and its records live until then", async () => {
  const bound = bind(js, told, { x }, range(4));
  const runs = new PrintingRuns();
  assert.equal(runs.none, true);
  runs.note(bound);
  runs.note(bound);
  freePrintRecords(bound);
  assert.ok(live(bound).every(Boolean), "while they are to be read");
  assert.deepEqual(
    runs.take(() => false),
    [],
  );
  const taken = runs.take((one) => one === bound);
  assert.deepEqual([taken.length, runs.none], [1, true]);
  const cleared: View[] = [];
  await readPrinted(taken, { ...reading, clear: (of) => cleared.push(of) });
  assert.deepEqual(cleared, printRecords(bound).slice(0, 1), "the next run counts its lines from 0");
  assert.ok(!live(bound).some(Boolean), "afterwards");
});

test("records that two queues are to read live until both have", () => {
  const bound = bind(js, told, { x }, range(4));
  const [first, second] = [new PrintingRuns(), new PrintingRuns()];
  first.note(bound);
  second.note(bound);
  freePrintRecords(bound);
  const cleared: View[] = [];
  readLinesNow(
    first.take(() => true),
    reading.read,
    (of) => cleared.push(of),
  );
  assert.deepEqual(cleared, printRecords(bound).slice(0, 1));
  assert.ok(live(bound).every(Boolean));
  readLinesNow(
    second.take(() => true),
    reading.read,
    reading.clear,
  );
  assert.ok(!live(bound).some(Boolean));
});

test("a launch that prints nothing is not noted", () => {
  const runs = new PrintingRuns();
  runs.note(bind(js, silent, { x }, range(4)));
  assert.equal(runs.none, true);
});

test.after(() => js.close());
