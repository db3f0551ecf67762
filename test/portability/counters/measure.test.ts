import assert from "node:assert/strict";
import { readFile, rm } from "node:fs/promises";
import { join } from "node:path";
import { after, test } from "node:test";
import { fileURLToPath } from "node:url";
import type { Device } from "../../../src/device/device.js";
import { open } from "../../../src/device/open.js";
import type { Application } from "../../../src/portability/application.js";
import { assess } from "../../../src/portability/assessment.js";
import { buildTables } from "../../../src/portability/build-tables.js";
import { measureApplications } from "../../../src/portability/campaign.js";
import { measureCounters } from "../../../src/portability/counters/measure.js";
import { findNcu } from "../../../src/portability/counters/ncu.js";
import { METRICS } from "../../../src/portability/counters/log.js";
import { report } from "../../../src/portability/report.js";
import { assessmentSchema } from "../../../src/portability/schema.js";
import { fakeNcu, HEADER, rowsOf, type FakeNcu } from "./fake-ncu.js";

const MAIN = fileURLToPath(new URL("../../../src/cli/main.js", import.meta.url));
const folders: string[] = [];
after(() => Promise.all(folders.map((folder) => rm(folder, { recursive: true }))));
const { ISOFORM_NCU: before } = process.env;
after(() => {
  if (before === undefined) delete process.env.ISOFORM_NCU;
  else process.env.ISOFORM_NCU = before;
});

/** Makes a fake ncu the one that is found. */
async function use(how?: FakeNcu): Promise<string> {
  const folder = await fakeNcu(how);
  folders.push(folder);
  process.env.ISOFORM_NCU = folder;
  return folder;
}

const TASK = { application: "stream", devices: "js", problem: { gib: 0.0001 } };
const measure = async (how?: FakeNcu) => {
  const folder = await use(how);
  return { folder, counters: await measureCounters(TASK, { ncu: findNcu(), program: [process.execPath, MAIN] }) };
};

test("counts of each kernel stand beside the work of its launches", async () => {
  const { folder, counters } = await measure();
  const device = await open("js");
  await device.close();
  assert.deepEqual(
    counters.map(({ kernel }) => kernel),
    ["init", "copy", "mul", "add", "triad", "dot"],
  );
  const triad = counters.find(({ kernel }) => kernel === "triad")!;
  const elements = triad.flops! / 2;
  assert.deepEqual(triad, {
    problem: "stream 0.0001 GiB",
    kernel: "triad",
    launches: 1,
    bytes: 24 * elements,
    flops: 2 * elements,
    read: 24 * elements,
    written: 12 * elements,
    seconds: 2e-6,
    l1HitRate: 0.125,
    atomicSectors: 4000,
  });
  const { words, locale } = JSON.parse(await readFile(join(folder, "words.json"), "utf8")) as { words: string[]; locale: string };
  assert.equal(locale, "C");
  for (const [name, value] of Object.entries({
    "--print-units": "base",
    "--profile-from-start": "off",
    "--clock-control": "none",
    "--cache-control": "all",
    "--metrics": Object.values(METRICS).join(","),
  }))
    assert.equal(words[words.indexOf(name) + 1], value);
});

test("functions of a kernel's code are added up, and others stand by themselves", async () => {
  const rows = (id: number, name: string, read: string, time: string, hits: string) =>
    rowsOf(id, name, [
      [METRICS.read, "byte", read],
      [METRICS.written, "byte", "0"],
      [METRICS.time, "ns", time],
      [METRICS.l1Hits, "%", hits],
    ]);
  const log = [
    HEADER,
    rows(0, "dot_kernel", "100", "90", "50"),
    rows(1, "dot_kernel_finish", "10", "9", "0"),
    rows(2, "fill(void *)", "0", "1", "0"),
  ];
  const output = JSON.stringify({ problem: "p", kernels: [{ kernel: "dot", launches: 1, bytes: 88, flops: 22 }] });
  const { counters } = await measure({ log: log.join("\n"), output: `hello\n${output}\n` });
  assert.deepEqual(counters, [
    { problem: "p", kernel: "dot", launches: 1, bytes: 88, flops: 22, read: 110, written: 0, seconds: 90e-9 + 9e-9, l1HitRate: 0.5 },
    { problem: "p", kernel: "fill", launches: 1, read: 0, written: 0, seconds: 1e-9, l1HitRate: 0 },
  ]);
});

const PERMISSION = "==ERROR== ERR_NVGPUCTRPERM - The user does not have permission to access NVIDIA GPU Performance Counters";
const FAILURES: readonly (readonly [what: string, how: FakeNcu, message: RegExp])[] = [
  ["counters that are barred", { log: PERMISSION }, /hardware counters are barred here .*or leave --counters out/],
  [
    "a profiler that does not start",
    { log: "", output: "==ERROR== Failed to initialize the profiler: LibraryNotLoaded\n" },
    /cannot start its profiler/,
  ],
  ["a program that fails", { log: "", output: "", status: 3 }, /stream on js under ncu ended with status 3: it said nothing/],
  [
    "no kernel",
    { log: "==WARNING== No kernels were profiled.\n" },
    /ncu counted no kernel of stream on js under ncu: ==WARNING== No kernels/,
  ],
  ["fewer launches than ran", { lost: 1 }, /ncu counted 0 of 1 launches of init/],
  ["a log that is cut off", { log: `${HEADER}\n"0","7","no` }, /ncu's log, line 2: it is cut off/],
  ["no result", { output: "nothing\n", log: [HEADER, rowsOf(0, "k", [[METRICS.read, "byte", "1"], [METRICS.written, "byte", "1"], [METRICS.time, "ns", "1"]])].join("\n") }, /printed no result, but: nothing/], // prettier-ignore
];

for (const [what, how, message] of FAILURES)
  test(`${what}: refused`, async () => {
    await assert.rejects(measure(how), { name: "IsoformError", message });
  });

test("a folder without ncu is named", () => {
  process.env.ISOFORM_NCU = "/nowhere";
  assert.throws(
    findNcu,
    /none was found in \/nowhere, which ISOFORM_NCU names: install it, name its folder in ISOFORM_NCU, or leave --counters out/,
  );
});

/** As much of an NVIDIA GPU as a campaign needs. */
const gpu = async (backend: string): Promise<Device> => {
  const device = await open("js");
  return new Proxy(device, {
    get(target, property) {
      if (property === "backend") return backend;
      const value = Reflect.get(target, property, target) as unknown;
      return typeof value === "function" ? value.bind(target) : value;
    },
  });
};

const toy: Application = {
  name: "toy",
  summary: "",
  footprint: () => 1,
  prepare: async () => ({
    problem: "toy 1 GiB",
    run: async () => [
      { quantity: "iteration", seconds: 1 },
      { quantity: "k", seconds: 1, bytes: 2e6, flops: 3e6 },
    ],
    validate: async () => ({ ok: true, maxError: 0, against: "nothing" }),
    free() {},
  }),
};
const silent = () => ({ update() {}, done() {} });

test("an assessment has counters in its JSON, its tables and its report", async () => {
  const log = [HEADER, rowsOf(0, "k_kernel", [[METRICS.read, "byte", "2,400,000"], [METRICS.written, "byte", "600000"], [METRICS.time, "ns", "1000"], [METRICS.atomics, "sector", "1500"], [METRICS.reductions, "sector", "500"]])]; // prettier-ignore
  const output = JSON.stringify({ problem: "toy 1 GiB", kernels: [{ kernel: "k", launches: 1, bytes: 2e6, flops: 3e6 }] });
  await use({ log: log.join("\n"), output: `${output}\n` });
  const registry = { names: async () => [], open: () => gpu("cuda"), check: async () => {} };
  const options = { devices: ["cuda:0"], repeats: 1, quick: true, counters: { program: ["isoform"] } };
  const found = assess(await measureApplications([toy], options, silent, registry));
  const { counters } = assessmentSchema.parse(JSON.parse(JSON.stringify(found)));
  assert.equal(counters!.length, 1);
  assert.deepEqual([counters![0].application, counters![0].kernel, counters![0].read], ["isoform-cuda", "k", 2_400_000]);
  const table = buildTables(found).find(({ title }) => title.startsWith("Hardware counters"))!;
  assert.deepEqual(table.rows[0].slice(3), ["k", "1", "2.00", "3.00", "2.40", "0.600", "1.50", "1.50", "1.00", "-", "2.00"]);
  assert.match(report(found), /Hardware counters: means of a launch[^]*<td>3\.00<\/td>/);
});

test("devices that have no such counters are refused by name, and nothing is measured", async () => {
  await use();
  let opened = 0;
  const registry = { names: async () => [], open: async () => (opened++, gpu("js")), check: () => assert.fail("a peak is measured") };
  const options = { devices: ["js"], repeats: 1, counters: { program: ["isoform"] } };
  await assert.rejects(
    measureApplications([toy], options, silent, registry),
    /--counters reads hardware counters of NVIDIA's GPUs, and js is not one: add cuda:0 to --devices, or leave the option out/,
  );
  process.env.ISOFORM_NCU = "/nowhere";
  opened = 0;
  await assert.rejects(measureApplications([toy], options, silent, registry), /none was found in \/nowhere/);
  assert.equal(opened, 0);
});
