import assert from "node:assert/strict";
import { test } from "node:test";
import type { Device, DeviceEvent, Launch } from "../../src/device/device.js";
import type { Application, GridReport, ProblemOptions } from "../../src/portability/application.js";
import { TuningTable } from "../../src/device/tuning/tuning.js";
import { DeviceError, EmitError, LaunchError } from "../../src/base/errors.js";
import { isTimed } from "../../src/portability/cells.js";
import { assess } from "../../src/portability/assessment.js";
import { measureApplications, type Registry } from "../../src/portability/campaign.js";
import { measurePeaks } from "../../src/portability/measure.js";
import { report } from "../../src/portability/report.js";
import { assessmentSchema } from "../../src/portability/schema.js";
import { Stopped } from "../../src/portability/stop.js";

const memory = { name: "cpu" };

/** As much of a device as measuring its peaks needs: every launch takes a millisecond. */
function device(name: string, log: string[], bytes = 2 ** 30): Device {
  const queue = {
    submit() {},
    copy() {},
    record: () => ({ since: async () => 1e-3 }),
  };
  return {
    name,
    backend: name,
    label: name,
    memory,
    queue,
    tuning: new TuningTable(),
    precision: "fast",
    capabilities: { f64: true, parallelism: 1, simdBytes: 0, memory: bytes, maxAllocation: bytes },
    run: async () => ({}),
    array: () => ({ free() {} }),
    prepare: () => ({ cost: { flops: 1e9, bytes: 1e9 }, free() {} }) as unknown as Launch,
    close: async () => void log.push(`close ${name}`),
  } as unknown as Device;
}

function application(log: string[], verdict = (run: number) => run > 0, report?: GridReport): Application {
  return {
    name: "toy",
    summary: "",
    onGrid: report !== undefined,
    footprint: (options: ProblemOptions) => (options.gib ?? 0.1) * 2 ** 30,
    async prepare({ name }) {
      log.push(`prepare ${name}`);
      let runs = 0;
      return {
        problem: "toy 0.1 GiB",
        async run() {
          log.push(`run ${name}`);
          runs++;
          return [
            { quantity: "iteration", seconds: runs },
            { quantity: "k", seconds: runs, bytes: 1e6, flops: 1 },
          ];
        },
        validate: async () => ({ ok: verdict(runs), maxError: runs, against: "nothing" }),
        report: report && (() => report),
        free: () => void log.push(`free ${name}`),
      };
    },
  };
}

function registry(devices: Device[]): Registry {
  return { names: async () => devices.map((d) => d.name), open: async (name) => devices.find((d) => d.name === name)! };
}

const silent = () => ({ update() {}, done() {} });

test("runs go round the devices after a warm-up each, and everything is given back", async () => {
  const log: string[] = [];
  const found = registry([device("a", log), device("b", log)]);
  const evidence = await measureApplications([application(log)], { repeats: 2 }, silent, found);
  assert.deepEqual(log, [
    "prepare a",
    "prepare b",
    "run a",
    "run b",
    "run a",
    "run b",
    "run a",
    "run b",
    "free a",
    "free b",
    "close a",
    "close b",
  ]);
  assert.deepEqual(
    evidence.runs
      .filter(isTimed)
      .filter((r) => r.quantity === "iteration")
      .map((r) => [r.application, r.run, r.seconds]),
    [
      ["isoform-a", 1, 2],
      ["isoform-a", 2, 3],
      ["isoform-b", 1, 2],
      ["isoform-b", 2, 3],
    ],
  );
  assert.deepEqual(
    evidence.validation.map((v) => [v.application, v.ok, v.maxError]),
    [
      ["isoform-a", true, 3],
      ["isoform-b", true, 3],
    ],
  );
  assert.equal(assess(evidence).metrics.length, 6);
});

test("a device's bandwidth is the most that kernels and the driver's copy reach, and says which", async () => {
  // Two arrays of a copy in a millisecond each, and three of a triad: in the same time the triad moves the most.
  const equal = await measurePeaks(device("a", []), { repeats: 1 });
  assert.equal(equal.bandwidthBy, "triad");
  assert.equal(equal.bandwidth, (3 * 2 ** 27) / 1e-3);
  const driver = device("b", []);
  let copied = false;
  driver.queue.copy = () => void (copied = true);
  driver.queue.record = () => ({ since: async () => (copied ? 0.5e-3 : 1e-3) }) as unknown as DeviceEvent;
  assert.equal((await measurePeaks(driver, { repeats: 1 })).bandwidthBy, "driver's copy");
});

test("a wrong run does not count and is reported", async () => {
  const found = registry([device("a", [])]);
  const evidence = await measureApplications([application([], (run) => run !== 2)], { repeats: 3 }, silent, found);
  assert.deepEqual(
    evidence.runs.filter((r) => r.quantity === "k").map((r) => r.run),
    [2, 3],
  );
  assert.equal(evidence.validation[0].ok, false);
});

test("where every run is wrong the assessment holds verdicts and no metrics", async () => {
  const evidence = await measureApplications([application([], () => false)], { repeats: 1 }, silent, registry([device("a", [])]));
  const { runs, metrics, validation } = assess(evidence);
  assert.deepEqual([runs.length, metrics.length, validation.map((v) => v.ok)], [0, 0, [false]]);
});

test("a device that cannot run an application is listed as missing there, and the others go on", async () => {
  const log: string[] = [];
  const refusing = (wrong: (name: string) => Error | undefined): Application => {
    const whole = application(log);
    return {
      ...whole,
      async prepare(set, options) {
        const error = wrong(set.name);
        if (error && set.name === "a") throw error;
        const prepared = await whole.prepare(set, options);
        return { ...prepared, run: async () => (error ? Promise.reject(error) : prepared.run()) };
      },
    };
  };
  const found = registry(["a", "b", "c"].map((name) => device(name, log)));
  const error = new EmitError("k", "c", "it is odd", "make it even");
  const evidence = await measureApplications([refusing((name) => (name === "c" ? undefined : error))], { repeats: 1 }, silent, found);
  assert.deepEqual([...new Set(evidence.runs.map((r) => r.application))], ["isoform-c"]);
  const place = { platform: evidence.devices[0].platform, problem: "toy 0.1 GiB", reason: error.message };
  assert.deepEqual(evidence.missing, [
    { application: "isoform-a", devices: "a", ...place },
    { application: "isoform-b", devices: "b", ...place },
  ]);
  assert.match(report(assessmentSchema.parse(assess(evidence))), /<caption>Missing<.*isoform-b.*&#34;k&#34; cannot be written for c/s);
  assert.equal(log.filter((line) => line === "free b").length, 1);
  await assert.rejects(measureApplications([refusing(() => error)], { repeats: 1 }, silent, found), error);
});

test("what fails on one device is listed as missing with its reason, and everything else goes on", async () => {
  const broken = (log: string[]): Application => {
    const whole = application(log, undefined);
    return {
      ...whole,
      async prepare(set, options) {
        if (set.name === "throws") throw new TypeError("a mistake");
        if (set.name === "launch") throw new LaunchError("13596 unknowns occur in no row");
        const prepared = await whole.prepare(set, options);
        const validate = async () => ({ ok: false, maxError: NaN, against: "solution" });
        return set.name === "nan" ? { ...prepared, validate } : prepared;
      },
    };
  };
  const log: string[] = [];
  const devices = ["throws", "launch", "nan", "untrue", "right"].map((name) => device(name, log));
  const found: Registry = {
    ...registry(devices),
    names: async () => [...devices.map(({ name }) => name), "closed"],
    async open(name) {
      if (name === "closed") throw new DeviceError(name, "its driver is lost");
      return devices.find((d) => d.name === name)!;
    },
    async check({ name }) {
      if (name === "untrue") throw new DeviceError(name, "it fails the self-test");
    },
  };
  const other = { ...application(log), name: "other" };
  const evidence = await measureApplications([broken(log), other], { repeats: 1 }, silent, found);
  const of = (problem: string) => evidence.missing!.filter((m) => m.devices !== "webgpu" && m.problem === problem);
  assert.ok(evidence.missing!.every(({ failed }) => failed));
  const reasons = evidence.missing!.map(({ application, reason }) => `${application}: ${reason}`);
  assert.deepEqual(reasons, [
    'isoform-untrue: device "untrue": it fails the self-test',
    "isoform-throws: TypeError: a mistake",
    "isoform-launch: 13596 unknowns occur in no row",
    "isoform-nan: wrong results: NaN from the solution",
    'isoform-closed: device "closed": its driver is lost',
    'isoform-untrue: device "untrue": it fails the self-test',
    'isoform-closed: device "closed": its driver is lost',
  ]);
  assert.equal(of("toy 0.1 GiB").length, 7);
  const ran = new Set(evidence.runs.map((r) => r.application));
  assert.deepEqual([...ran], ["isoform-right", "isoform-throws", "isoform-launch", "isoform-nan"], "the other application ran there");
  const text = report(assessmentSchema.parse(JSON.parse(JSON.stringify(assess(evidence)))));
  for (const reason of ["a mistake", "occur in no row", "wrong results", "self-test", "driver is lost"])
    assert.ok(text.slice(text.indexOf("<caption>Missing")).includes(reason), reason);
});

test("where all is wrong on the one device that there is, there is a report of it", async () => {
  const check = async () => Promise.reject(new DeviceError("a", "it fails the self-test"));
  const evidence = await measureApplications([application([])], { repeats: 1 }, silent, { ...registry([device("a", [])]), check });
  assert.deepEqual([evidence.runs, evidence.devices, evidence.missing!.length], [[], [], 1]);
  assert.match(report(assess(evidence)), /<caption>Missing.*self-test/s);
});

test("a campaign that is stopped keeps the runs that are finished, and lists the rest", async () => {
  const stop = new AbortController();
  let runs = 0;
  const whole = application([]);
  const endless: Application = {
    ...whole,
    async prepare(set, options) {
      const prepared = await whole.prepare(set, options);
      const run = async () => {
        if (++runs < 6) return prepared.run();
        stop.abort();
        return new Promise<never>(() => undefined);
      };
      return { ...prepared, run };
    },
  };
  const found = registry(["a", "b", "c"].map((name) => device(name, [])));
  const options = { repeats: 9, stop: stop.signal };
  const evidence = await measureApplications([endless, { ...whole, name: "later" }], options, silent, found);
  // A warm-up each, then a run each of a and b.
  assert.deepEqual([...new Set(evidence.runs.map((r) => r.application))], ["isoform-a", "isoform-b"]);
  assert.deepEqual(
    evidence.missing!.map(({ application, problem, reason }) => [application, problem, reason]),
    [
      ["isoform-c", "toy 0.1 GiB", "the assessment ended before it ran"],
      ...["a", "b", "c"].map((name) => [`isoform-${name}`, "later", "the assessment ended before it ran"]),
    ],
  );
  assert.match(report(assess(evidence)), /<caption>Missing/);
  await assert.rejects(measureApplications([whole], options, silent, found), Stopped);
});

test("what is too large for one of the machine's devices is missing there", async () => {
  const found = registry([device("a", []), device("b", [], 2 ** 34)]);
  const { runs, missing } = await measureApplications([application([])], { repeats: 1, gib: 2 }, silent, found);
  assert.deepEqual([...new Set(runs.map((r) => r.application))], ["isoform-b"]);
  assert.match(missing![0].reason, /toy needs 2\.00 GiB on a, which has 1\.00 GiB/);
});

test("devices that are not among those of the machine are listed as missing, unless devices are named", async () => {
  const leftOut = async () => [{ name: "webgpu", backend: "webgpu", platform: "a GPU", reason: "it has no f64" }];
  const found: Registry = { ...registry([device("a", [])]), leftOut };
  const { missing } = await measureApplications([application([])], { repeats: 1 }, silent, found);
  assert.deepEqual(missing, [
    { application: "isoform-webgpu", platform: "a GPU", problem: "toy 0.1 GiB", devices: "webgpu", reason: "it has no f64" },
  ]);
  const named = await measureApplications([application([])], { repeats: 1, devices: ["a"] }, silent, found);
  assert.deepEqual(named.missing, []);
});

test("files of a program that is not one source are its coverage on each platform", async () => {
  const files = [{ file: "toy.c", id: "1", lines: "1-9" }];
  const toy = application([]);
  const foreign: Application = { ...toy, prepare: async (...given) => ({ ...(await toy.prepare(...given)), files }) };
  const evidence = await measureApplications([foreign], { repeats: 1, devices: ["a"] }, silent, registry([device("a", [])]));
  assert.deepEqual(evidence.coverage, [{ application: "isoform-a", platform: evidence.runs[0].platform, problem: "toy 0.1 GiB", files }]);
});

test("ports are measured behind the devices, and are not taken for backends", async () => {
  const found = registry(["a", "emitted-c"].map((name) => device(name, [])));
  const options = { repeats: 1, devices: ["a"], ports: ["c"] } as const;
  const evidence = await measureApplications([application([])], options, silent, found);
  assert.deepEqual([...new Set(evidence.runs.map((r) => r.application))], ["isoform-a", "isoform-emitted-c"]);
  const runs = evidence.runs.filter(isTimed).map((run) => (run.application === "isoform-a" ? run : { ...run, seconds: run.seconds / 2 }));
  const { metrics } = assess({ ...evidence, runs: [...runs, ...runs.map((run) => ({ ...run, platform: "Y" }))] });
  assert.deepEqual(
    metrics.filter(({ yardstick }) => yardstick === "any").map((m) => [m.application, m.value]),
    [
      ["isoform-a", 0.5],
      ["isoform-emitted-c", 1],
      ["isoform", 0.5],
    ],
  );
});

test("a port that cannot be had here is missing by name, and the others go on", async () => {
  const found = registry(["a", "emitted-c"].map((name) => device(name, [])));
  const refusing: Registry = {
    ...found,
    async open(name, options) {
      if (name === "emitted-sycl") throw new DeviceError(name, "no compiler", "install one");
      if (name === "emitted-stdpar") throw new TypeError("a fault");
      return found.open(name, options);
    },
  };
  const options = { repeats: 1, devices: ["a"], ports: ["sycl", "stdpar", "c"] } as const;
  const evidence = await measureApplications([application([])], options, silent, refusing);
  assert.deepEqual([...new Set(evidence.runs.map((r) => r.application))], ["isoform-a", "isoform-emitted-c"]);
  assert.deepEqual(
    evidence.missing?.map(({ application, reason, failed }) => [application, reason, failed]),
    [
      ["isoform-emitted-sycl", 'device "emitted-sycl": no compiler (install one)', undefined],
      ["isoform-emitted-stdpar", "TypeError: a fault", true],
    ],
  );
});

test("forms are code paths of one problem: the first and the fastest, all, or one", async () => {
  const bytes = { plain: 1, small: 0.1, large: 20 };
  const formed = (log: string[]): Application => {
    const whole = application(log);
    const fastest = ({ name }: { readonly name: string }) => (name === "b" ? "large" : "small");
    return {
      ...whole,
      forms: { names: Object.keys(bytes), fastest },
      footprint: ({ form }) => bytes[form as keyof typeof bytes] * 0.1 * 2 ** 30,
      async prepare(set, options, progress) {
        log.push(`form ${options.form}`);
        return { ...(await whole.prepare(set, options, progress)), form: options.form };
      },
    };
  };
  const measured = async (form?: string, devices?: readonly string[]) => {
    const log: string[] = [];
    const found = registry([device("a", log), device("b", log, 4 * 2 ** 30)]);
    const { runs, missing, settings } = await measureApplications([formed(log)], { repeats: 1, form, devices }, silent, found);
    assert.deepEqual(new Set(runs.map(({ problem }) => problem)), new Set(["toy 0.1 GiB"]));
    assert.equal(settings!.length, log.filter((line) => line.startsWith("form")).length);
    const lacks = missing!.map(({ application, reason }) => `${application}: ${reason}`);
    return [runs.filter(({ quantity }) => quantity === "k").map(({ application }) => application), lacks] as const;
  };
  const tooLarge = ["isoform-a-large: toy needs 2.00 GiB on a, which has 1.00 GiB: choose a smaller --gib"];
  assert.deepEqual(await measured(), [["isoform-a", "isoform-a-small", "isoform-b", "isoform-b-large"], []]);
  assert.deepEqual(await measured("fastest"), [["isoform-a-small", "isoform-b-large"], []]);
  assert.deepEqual(await measured("small"), [["isoform-a-small", "isoform-b-small"], []]);
  const paths = ["a", "a-small", "b", "b-small", "b-large"].map((path) => `isoform-${path}`);
  assert.deepEqual(await measured("all"), [paths, tooLarge]);
  assert.deepEqual(await measured("all", ["a"]), [paths.slice(0, 2), tooLarge], "where a form fits, the others are missing");
  assert.deepEqual(await measured("large"), [["isoform-b-large"], tooLarge]);
  await assert.rejects(measured("large", ["a", "b"]), /toy needs 2\.00 GiB on a/);
  await assert.rejects(measured("round"), /--form round: toy has the forms plain, small, large, fastest, all/);
});

test("devices whose data do not fit in memory together take turns", async () => {
  const log: string[] = [];
  const found = registry([device("a", log), device("b", log)]);
  await measureApplications([application(log)], { repeats: 1, gib: 0.6 }, silent, found);
  assert.deepEqual(log.slice(0, 8), ["prepare a", "run a", "run a", "free a", "prepare b", "run b", "run b", "free b"]);
});

test("strict mode is a code path of its own", async () => {
  const found = registry([device("a", [])]);
  const evidence = await measureApplications([application([])], { repeats: 1, precision: "strict" }, silent, found);
  assert.equal(evidence.runs[0].application, "isoform-a-strict");
});

test("tuned launches are a code path of their own", async () => {
  const tuned = device("a", []);
  tuned.tuning.measuring = true;
  const evidence = await measureApplications([application([])], { repeats: 1 }, silent, registry([tuned]));
  assert.equal(evidence.runs[0].application, "isoform-a-tuned");
});

test("repeats end when the time is over, but not before three", async () => {
  const found = registry([device("a", [])]);
  const evidence = await measureApplications([application([])], { repeats: 10, seconds: 0 }, silent, found);
  assert.equal(evidence.runs.filter((r) => r.quantity === "k").length, 3);
});

test("where time is short, slow devices do fewer iterations, engines warm up, and runs whose mean is certain end", async () => {
  const asked: Record<string, (number | undefined)[]> = { steady: [], noisy: [], slow: [] };
  const timed: Application = {
    ...application([]),
    async prepare(set, options) {
      const prepared = await application([]).prepare(set, options);
      const given = asked[set.name];
      return {
        ...prepared,
        async run(iterations) {
          given.push(iterations);
          const noise = set.name === "noisy" && given.length % 2 ? 1.5 : 1;
          const cold = set.name === "slow" && given.length < 6 ? 2 ** (6 - given.length) : 1;
          return [{ quantity: "iteration", seconds: (set.name === "slow" ? 0.15 : 1e-3) * noise * cold }];
        },
        validate: async () => ({ ok: true, maxError: 0, against: "nothing" }),
      };
    },
  };
  const found = registry(Object.keys(asked).map((name) => device(name, [])));
  const { runs } = await measureApplications([timed], { repeats: 10, seconds: 1000 }, silent, found);
  const counted = (name: string) => runs.filter((run) => run.application === `isoform-${name}`).length;
  assert.deepEqual(Object.keys(asked).map(counted), [3, 10, 3]);
  // One, then up to 20 that take less than 0.05 s, or up to 5 that take less than 0.4 s; the slow one gets twice as fast with each run until the sixth, and the seventh shows that this was all.
  assert.deepEqual(asked.steady, [1, 20, 20, 20, 20]);
  assert.deepEqual(asked.slow, [1, 1, 1, 1, 1, 1, 2, 2, 2, 2]);
  const exact = await measureApplications([timed], { repeats: 4, iterations: 7 }, silent, found);
  assert.equal(exact.runs.length, 12, "who asks for repeats gets them");
  assert.deepEqual(new Set(asked.steady.slice(5)), new Set([undefined]), "and the problem's iterations");
});

test("after the runs, peaks are measured once more where they are a platform's roof", async () => {
  const copies: Record<string, number> = {};
  const timed = (name: string, seconds: number): Device => {
    const one = device(name, []);
    one.queue.copy = () => void (copies[name] = (copies[name] ?? 0) + 1);
    one.queue.record = () => ({ since: async () => seconds }) as unknown as DeviceEvent;
    return one;
  };
  const found = registry([timed("quick", 1e-3), timed("slow", 2e-3)]);
  await measureApplications([application([])], { repeats: 3, seconds: 1000 }, silent, found);
  assert.deepEqual(copies, { quick: 22, slow: 11 });
});

test("a problem larger than a device is refused before anything runs, and devices are closed", async () => {
  const log: string[] = [];
  const found = registry([device("a", log)]);
  await assert.rejects(
    measureApplications([application(log)], { repeats: 1, gib: 2 }, silent, found),
    /toy needs 2\.00 GiB on a, which has 1\.00 GiB: choose a smaller --gib/,
  );
  assert.deepEqual(log, ["close a"]);
});

const REPORT: GridReport = {
  grid: "sparse",
  layout: "aos",
  occ: "two-way",
  choices: [{ of: "storage", best: "sparse aos", seconds: { "dense soa": 2e-3, "sparse aos": 1e-3 } }],
};

test("applications on grids run on sets of devices, and how they did is reported", async () => {
  const log: string[] = [];
  const found = registry([device("a", log), device("b", log)]);
  const options = { repeats: 1, devices: ["a", "a*3", "a+b"], grid: "auto", occ: "two-way" } as const;
  const evidence = await measureApplications([application(log, undefined, REPORT)], options, silent, found);
  assert.deepEqual(log.slice(0, 3), ["prepare a", "prepare a*3", "prepare a,b"]);
  assert.deepEqual(log.slice(-2), ["close a", "close b"]);
  const settings = evidence.settings!;
  assert.deepEqual(
    settings.map((s) => [s.application, s.devices, s.precision]),
    [
      ["isoform-a-auto-grid-two-way", "a", "fast"],
      ["isoform-a*3-auto-grid-two-way", "a*3", "fast"],
      ["isoform-a+b-auto-grid-two-way", "a+b", "fast"],
    ],
  );
  const { grid, layout, occ, choices } = settings[0];
  assert.deepEqual({ grid, layout, occ, choices }, REPORT);
  const [one, divided, both] = evidence.devices;
  assert.equal(divided.peakBandwidth, one.peakBandwidth, "members share what the device has");
  assert.equal(both.peakBandwidth, 2 * one.peakBandwidth);
  assert.ok(both.platform.startsWith("2 x "));
  const assessment = assessmentSchema.parse(assess(evidence));
  assert.match(
    report(assessment),
    /<caption>Settings<\/caption>.*two-way<\/td><td class="words">storage: dense soa 2\.000 ms, sparse aos 1\.000 ms/s,
  );
});

test("options that an application does not have are refused before anything runs", async () => {
  const log: string[] = [];
  const measure = (options: object) =>
    measureApplications([application(log)], { repeats: 1, ...options }, silent, registry([device("a", log)]));
  await assert.rejects(measure({ layout: "aos" }), /^LaunchError: --layout: toy has no grid; leave the option out/);
  await assert.rejects(measure({ devices: ["a*2"] }), /toy runs on one device, and a\*2 has 2 members: choose single devices/);
  assert.deepEqual(log, ["close a", "close a"]);
});

test("a hand-written program that is not there is missing, by reason, unless it was left out", async () => {
  const byHand = () => ({
    program: "toy",
    problem: "toy 0.1 GiB",
    iterations: 1,
    sizes: [],
    inputs: [],
    outputs: [],
    quantities: ["iteration"],
    validate: () => ({ ok: true, maxError: 0, against: "nothing" }),
  });
  const found = registry([device("a", []), device("b", [])]);
  const evidence = await measureApplications([{ ...application([]), byHand }], { repeats: 1 }, silent, found);
  // One for the processor that both devices are.
  assert.deepEqual(
    evidence.missing?.map(({ application, devices, reason, failed }) => [application, devices, reason, failed]),
    [["handwritten", "C/OpenMP", "there is no hand-written program for toy in C", undefined]],
  );
  const without = await measureApplications([{ ...application([]), byHand }], { repeats: 1, handwritten: false }, silent, found);
  assert.deepEqual(without.missing, []);
});
