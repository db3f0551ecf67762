import assert from "node:assert/strict";
import { createHash } from "node:crypto";
import { describe, it } from "node:test";
import type { RankPlan, RankTask } from "../../../src/skeleton/ranks/rank-plan.js";
import { bandOf, ratioDeviation, forecast, forecastText, hashOf } from "../../../src/portability/scaling/forecast.js";
import { besideTasks, gridPredictor, kernelSeconds, withoutMarks } from "../../../src/portability/scaling/grid-predictor.js";
import type { ForecastInputs } from "../../../src/portability/scaling/predictor.js";
import { workPredictor } from "../../../src/portability/scaling/work-predictor.js";
import type { Application, ProblemOptions } from "../../../src/portability/application.js";
import { LaunchError } from "../../../src/base/errors.js";
import type { KernelTimes } from "../../../src/portability/scaling/parts.js";
import { linkFrom } from "../../../src/portability/scaling/ping-pong.js";
import { scalingChart } from "../../../src/portability/scaling/chart.js";
import { efficiencyOf, findings } from "../../../src/portability/scaling/study.js";
import { scalingTables } from "../../../src/portability/scaling/tell.js";
import { checkRequest, devicesFor, oneDevice, pointsOf, type ScalingRequest } from "../../../src/portability/scaling/request.js";

const REQUEST: ScalingRequest = {
  application: "blur",
  settings: { grid: "dense", layout: "soa", occ: "none", precision: "fast", fuse: true, unroll: 1 },
  sizes: { strong: 40, weak: 20 },
  ranks: [1, 2],
  extrapolated: [4, 512],
  devices: "cuda:{i}",
  repeats: 3,
};

/** A container that computes every cell, after a message of each rank to its neighbours. */
const part = (sends: readonly (1 | -1)[], computes: boolean) => ({
  launches: computes ? 1 : 0,
  cells: ([x, y]: readonly number[]) => (computes ? x * y : 0),
  sends: sends.map((step) => ({ step: [0, step] as const, bytes: ([x]: readonly number[]) => 8 * x })),
});
const compute: RankTask = {
  name: "blur",
  kind: "compute",
  container: "blur",
  stream: 0,
  waits: [],
  at: () => part([], true),
  bytesPerCell: 16,
  reduced: [],
};
const halo: RankTask = {
  ...compute,
  name: "halo a",
  kind: "halo",
  container: "halo a",
  at: ({ z }) => ({ first: part([1], false), inner: part([-1, 1], false), last: part([-1], false) })[z],
};
const PLAN: RankPlan = {
  name: "blur",
  level: "none",
  precision: "fast",
  iterations: 1,
  margins: [0, 0],
  alone: [compute],
  shared: { z: [halo, { ...compute, waits: [0] }] },
};

/** 2 us a launch and 1 ns a cell; 3 us beside them. */
const kernels = (size: number, planes: number): KernelTimes => ({
  extents: [size, planes],
  iterations: 1,
  tasks: [{ name: "blur", launches: 1, cells: size * planes, seconds: 2e-6 + size * planes * 1e-9 }],
  seconds: 5e-6 + size * planes * 1e-9,
});
const PREDICTOR = gridPredictor(REQUEST, PLAN);
const INPUTS: ForecastInputs = {
  kernels: Object.fromEntries(
    Object.keys(PREDICTOR.alone).map((name) => [name, kernels(...(name.split(" x ").map(Number) as [number, number]))]),
  ),
  link: { bandwidth: 1e9, latency: 4e-6, host: 0, carrier: "devices", seconds: {} },
};
const close = (actual: number, expected: number): void => assert.ok(Math.abs(actual / expected - 1) < 1e-9, `${actual} is not ${expected}`);

describe("a request", () => {
  it("has a point for each mode and number of ranks", () =>
    assert.deepEqual(
      pointsOf(REQUEST, [1, 2]).map(({ mode, ranks, size, planes }) => [mode, ranks, size, planes]),
      [
        ["strong", 1, 40, 40],
        ["strong", 2, 40, 40],
        ["weak", 1, 20, 20],
        ["weak", 2, 20, 40],
      ],
    ));

  it("names devices for each number of members", () => {
    assert.equal(devicesFor("wasm*{n}", 3), "wasm*3");
    assert.equal(devicesFor("wasm*{n}", 1), "wasm");
    assert.equal(devicesFor("cuda:{i}", 2), "cuda:0,cuda:1");
    assert.equal(oneDevice("cuda:{i}"), "cuda:0");
    assert.equal(oneDevice("mpi:wasm"), "wasm");
  });

  it("that cannot be run is refused with a remedy", () => {
    const refused = (others: Partial<ScalingRequest>, message: RegExp): void =>
      assert.throws(() => checkRequest({ ...REQUEST, ...others }), message);
    checkRequest(REQUEST);
    refused({ sizes: {} }, /give --strong or --weak/);
    refused({ ranks: [2, 1] }, /--ranks 2,1: give numbers in ascending order/);
    refused({ extrapolated: [8, 8] }, /--extrapolate 8,8/);
    refused({ devices: "wasm" }, /names no number of members: write \{n\}/);
    refused({ devices: "mpi:wasm" }, /spans processes: give --launch/);
    refused({ launch: "mpirun -n 2", devices: "mpi:wasm" }, /does not say how many processes to start: write \{n\}/);
    refused({ launch: "mpirun -n {n}", devices: "wasm*{n}" }, /with --launch it is one device of each rank/);
    refused({ launch: "mpirun -n {n}", devices: "mpi:wasm*2" }, /with --launch it is one device of each rank/);
  });
});

describe("times of kernels", () => {
  const seconds = kernelSeconds(kernels(20, 20), kernels(20, 5));

  it("have a part for each launch and a part for each cell", () => close(seconds(compute, 2, 1000), 2 * 2e-6 + 1000e-9));

  it("are all of cells where noise makes launches take less than nothing", () => {
    const [task] = kernels(20, 5).tasks;
    const noisy = kernelSeconds(kernels(20, 20), { ...kernels(20, 5), tasks: [{ ...task, seconds: 1e-9 }] });
    close(noisy(compute, 7, 400), 2e-6 + 400e-9);
  });

  it("of a container that was not measured are refused", () =>
    assert.throws(() => seconds({ ...compute, container: "other" }, 1, 1), /"other" is in the plan and was not measured/));

  it("take an iteration's time at most, where marks around short ones add to it", () => {
    const times = kernels(40, 40);
    const mark = (plain: KernelTimes): KernelTimes => ({
      ...plain,
      tasks: plain.tasks.map((task) => ({ ...task, seconds: 3 * task.seconds })),
    });
    const [total, found] = [mark(times), withoutMarks(mark(times))].map(({ tasks }) =>
      tasks.reduce((sum, { seconds }) => sum + seconds, 0),
    );
    assert.ok(total > times.seconds);
    close(found, times.seconds);
    assert.equal(withoutMarks(times), times);
    // A prediction from marked kernels has the time of the iteration on one rank.
    const marked: ForecastInputs = { kernels: { "40 x 40": mark(times), "40 x 10": mark(kernels(40, 10)) } };
    close(PREDICTOR.seconds(marked, { mode: "strong", ranks: 1, size: 40, planes: 40 }, { isMeasured: true }), times.seconds);
  });
  it("leave the rest of an iteration beside them", () => close(besideTasks(kernels(20, 20)), 3e-6));
});

describe("a forecast", () => {
  const made = forecast(REQUEST, PREDICTOR, INPUTS, "2026-01-01T00:00:00.000Z");
  const point = (mode: string, ranks: number) =>
    [...made.points, ...made.extrapolated].find((each) => each.mode === mode && each.ranks === ranks)!;

  it("of one rank is its own time", () => close(point("strong", 1).seconds, 5e-6 + 1600e-9));

  it("of two adds the message of a plane", () => {
    close(point("strong", 2).seconds, 5e-6 + 800e-9 + 4e-6 + 320 / 1e9);
    close(point("weak", 2).seconds, 5e-6 + 400e-9 + 4e-6 + 160 / 1e9);
  });

  it("leaves out what has too few planes", () =>
    assert.deepEqual(made.leftOut, { "strong 512": "40 planes leave fewer than 5 to a rank" }));

  it("has the hash of its file", () => {
    const text = forecastText(made);
    assert.equal(hashOf(text), createHash("sha256").update(Buffer.from(text)).digest("hex"));
    assert.deepEqual(JSON.parse(text).points, made.points);
  });

  it("is compared with the median, and the band has the largest error", () => {
    const seconds = (mode: string, ranks: number, by: number): number[] =>
      [0.9, 1, 7].map((noise) => noise * by * point(mode, ranks).seconds);
    const found = findings(made, "hash", PREDICTOR, { "strong 1": seconds("strong", 1, 1), "weak 2": seconds("weak", 2, 1.25) });
    assert.deepEqual(
      found.compared.map(({ mode, ranks }) => `${mode} ${ranks}`),
      ["strong 1", "weak 2"],
    );
    close(found.compared[1].error, -0.2);
    close(found.error, 0.25);
    const { low, high } = found.extrapolated.find(({ mode, ranks }) => mode === "weak" && ranks === 4)!;
    // An inner rank sends two planes of 160 bytes.
    const iteration = (latency: number, bandwidth: number): number => 5e-6 + 400e-9 + 4e-6 * latency + 320 / (1e9 * bandwidth);
    close(low, iteration(0.5, 1) / 1.25);
    close(high, iteration(2, 0.5) * 1.25);
    assert.match(
      scalingTables(found)
        .map(({ title }) => title)
        .join(),
      /errors of up to 25\.0 %/,
    );
    assert.match(scalingChart(found), /^<svg .*strong scaling.*weak scaling/s);
  });

  it("is the same for links that are as measured", () => {
    const { mode, ranks, size, planes, seconds } = point("strong", 2);
    close(PREDICTOR.seconds(INPUTS, { mode, ranks, size, planes }, { isMeasured: true }), seconds);
  });
});

describe("an application that divides its work", () => {
  const application = {
    name: "sums",
    division: {
      counted: "rows",
      extents: ({ gib }: ProblemOptions) => [1000 * gib!],
      exchange: (_: ProblemOptions, members: number) => ({ bytes: 1e6 * (members - 1), messages: 2, waits: 3 }),
      requireMembers(_: ProblemOptions, members: number) {
        if (members > 100) throw new LaunchError("100 rows for more members");
      },
    },
  } as unknown as Application;
  const request = { ...REQUEST, application: "sums" };
  const predictor = workPredictor(request, application);
  const kernels = Object.fromEntries(
    Object.keys(predictor.alone).map((name, n) => [name, { extents: [], iterations: 1, tasks: [], seconds: (n + 1) * 1e-3 }]),
  );
  const link = { bandwidth: 1e9, latency: 4e-6, host: 1e-6, carrier: "devices", seconds: {} } as const;
  const made = forecast(request, predictor, { kernels, link });
  const seconds = (points: typeof made.points, name: string) => points.find(({ mode, ranks }) => `${mode} ${ranks}` === name)!.seconds;

  it("has the time of one member's share, and of the exchange", () => {
    assert.deepEqual(
      Object.keys(kernels),
      ["1 of 1, 40 GiB", "1 of 2, 40 GiB", "1 of 4, 40 GiB", "1 of 1, 20 GiB", "1 of 2, 40 GiB", "1 of 4, 80 GiB"].filter(
        (name, n, all) => all.indexOf(name) === n,
      ),
    );
    assert.deepEqual(predictor.alone["1 of 2, 40 GiB"], {
      what: "work",
      application: "sums",
      devices: "cuda:0",
      problem: { gib: 40, precision: "fast", memberOf: 2 },
    });
    close(seconds(made.points, "strong 1"), kernels["1 of 1, 40 GiB"].seconds);
    for (const mode of ["strong", "weak"])
      close(seconds(made.points, `${mode} 2`), kernels["1 of 2, 40 GiB"].seconds + 1e-3 + 3 * 4e-6 + 2e-6);
    close(seconds(made.extrapolated, "weak 4"), kernels["1 of 4, 80 GiB"].seconds + 3e-3 + 3 * 4e-6 + 2e-6);
    assert.deepEqual(
      made.points.map(({ extents }) => extents[0]),
      [40000, 40000, 20000, 40000],
    );
  });

  it("takes turns where members share a memory, but not where there are more than were measured", () => {
    const inTurns = forecast(request, predictor, { kernels, link: { ...link, carrier: "in turns" } });
    close(seconds(inTurns.points, "strong 2"), 2 * seconds(made.points, "strong 2"));
    close(seconds(inTurns.extrapolated, "strong 4"), seconds(made.extrapolated, "strong 4"));
  });

  it("is left out for members that it refuses", () =>
    assert.deepEqual(made.leftOut, { "strong 512": "100 rows for more members", "weak 512": "100 rows for more members" }));

  it("is refused where one device does all", () =>
    assert.throws(() => workPredictor(request, { ...application, division: undefined }), /sums runs on one device/));
});

describe("arithmetic", () => {
  it("deviations are ratios, whichever time is larger", () => {
    close(ratioDeviation(1.1, 1), 0.1);
    close(ratioDeviation(1, 1.1), 0.1);
  });

  it("a band goes from the fast link to the slow one, and by the error beyond both", () => {
    const { low, high } = bandOf(({ latency, bandwidth }) => latency + 1 / bandwidth, 0.5);
    close(low, (0.5 + 1) / 1.5);
    close(high, (2 + 2) * 1.5);
  });

  it("efficiency is the share of an ideal division", () => {
    const [, two, , weak] = pointsOf(REQUEST, [1, 2]);
    assert.equal(efficiencyOf(two, 0.5, 1), 1);
    assert.equal(efficiencyOf(weak, 2, 1), 0.5);
    assert.equal(efficiencyOf(two, 0.5, undefined), undefined);
  });

  it("a link comes from a small and a large message", () => {
    const [small, large] = [8, 4 * 2 ** 20];
    const link = linkFrom(
      new Map([
        [small, { seconds: 6e-6, host: 1e-6 }],
        [large, { seconds: 6e-6 + (large - small) / 2e9, host: 1e-6 }],
      ]),
    );
    close(link.bandwidth, 2e9);
    close(link.latency, 5e-6);
    assert.equal(link.host, 1e-6);
  });
});
