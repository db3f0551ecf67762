import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { collectSeconds, linkBetween, predict, type RankJob } from "../../../src/skeleton/ranks/prediction.js";
import type { RankPlace, RankPlan, RankTask } from "../../../src/skeleton/ranks/rank-plan.js";
import { LAUNCH } from "../../../src/skeleton/run/timeline.js";

type PlacedPart = ReturnType<RankTask["at"]>;

/* Predictions that can be computed by hand: a container takes a second for each plane, a message its bytes over the link. */

/** All planes of a rank. */
const WHOLE = Infinity;
/** Launches over so many planes; negative: over all but these. */
const part = (boxes: readonly number[], sends: readonly (1 | -1)[] = [], bytes = 0): PlacedPart => ({
  launches: boxes.length,
  cells: ([, planes]) => boxes.reduce((sum, less) => sum + (less === WHOLE ? planes : less < 0 ? planes + less : less), 0),
  sends: sends.map((step) => ({ step: [0, step], bytes: () => bytes })),
});
type Parts = Readonly<Record<RankPlace["z"], PlacedPart>>;
const task = (kind: RankTask["kind"], name: string, stream: number, waits: readonly number[], at: Parts): RankTask => ({
  name,
  kind,
  container: name.split(".")[0],
  stream,
  waits,
  at: ({ z }) => at[z],
  bytesPerCell: 8,
  reduced: kind === "collect" ? [8] : [],
});
const everywhere = (placed: PlacedPart) => ({ first: placed, inner: placed, last: placed });

const BYTES = 60;
const halo = task("halo", "halo u", 1, [], { first: part([], [1], BYTES), inner: part([], [-1, 1], BYTES), last: part([], [-1], BYTES) });
const whole = everywhere(part([WHOLE]));
const plan = (shared: readonly RankTask[]): RankPlan => ({
  name: "step",
  level: "none",
  precision: "fast",
  iterations: 1,
  margins: [0, 0],
  alone: [task("compute", "step", 0, [], whole)],
  shared: { z: shared },
});
/** Halos first, then all cells. */
const NONE = plan([halo, task("compute", "step", 0, [0], whole)]);
/** Inner cells beside the halos, then those at the ends. */
const STANDARD = plan([
  halo,
  task("compute", "step.internal", 0, [], { first: part([-1]), inner: part([-2]), last: part([-1]) }),
  task("compute", "step.boundary", 0, [0], { first: part([1]), inner: part([1, 1]), last: part([1]) }),
]);

const job = (ranks: number, planes: number, others: Partial<RankJob> = {}): RankJob => ({
  ranks,
  perNode: ranks,
  extents: [1, planes * ranks],
  links: { node: { bandwidth: 20, latency: 0.5, host: 0.25 }, network: { bandwidth: 10, latency: 1, host: 0.25 } },
  carrier: "devices",
  seconds: (_, _launches, cells) => cells,
  ...others,
});
const close = (actual: number, expected: number): void => assert.ok(Math.abs(actual - expected) < 1e-9, `${actual} is not ${expected}`);

describe("an iteration of two ranks", () => {
  // A message takes 0.25 s of the host, 60 B over 20 B/s, and 0.5 s until its first byte.
  const message = 0.25 + 3 + 0.5;

  it("has its message before its ten planes where nothing overlaps", () => close(predict(NONE, job(2, 10)).seconds, message + 10));

  it("hides the message in nine planes where inner cells are computed meanwhile", () => close(predict(STANDARD, job(2, 10)).seconds, 10));

  it("waits for the rest of a message that its five planes cannot hide", () => {
    const slow = { node: { bandwidth: 10, latency: 0.5, host: 0.25 } };
    close(predict(STANDARD, job(2, 5, { links: slow })).seconds, 0.25 + 6 + 0.5 + 1);
  });

  it("takes the link between nodes where each rank has one of its own", () =>
    close(predict(NONE, job(2, 10, { perNode: 1 })).seconds, 0.25 + 6 + 1 + 10));

  it("adds what an iteration takes beside its tasks", () => close(predict(NONE, job(2, 10, { beside: 2 })).seconds, message + 10 + 2));

  it("divides a plan of two iterations by two", () => close(predict({ ...NONE, iterations: 2 }, job(2, 10)).seconds, (message + 10) / 2));

  it("counts both messages", () => {
    const { messages, bytes, planes } = predict(NONE, job(2, 10));
    assert.deepEqual([messages, bytes, planes], [2, 2 * BYTES, 10]);
  });
});

describe("several ranks", () => {
  it("one sends nothing", () => close(predict(NONE, job(1, 10)).seconds, 10));

  it("an inner one sends both messages through one port, one after the other", () =>
    close(predict(NONE, job(3, 10)).seconds, 2 * (0.25 + 3) + 0.5 + 10));

  it("the one with most planes decides", () => close(predict(NONE, { ...job(2, 10), extents: [1, 21] }).seconds, 3.75 + 11));

  it("processors that carry messages compute only afterwards", () => {
    // The port is the processor: 3.25 s of carrying, nine planes, then the plane at the end.
    close(predict(STANDARD, job(2, 10, { carrier: "processor" })).seconds, 3.25 + 10);
  });

  it("members in turns do the work of all", () => close(predict(NONE, job(2, 10, { carrier: "in turns" })).seconds, 2 * 3.75 + 2 * 10));

  it("too many for the planes are refused", () =>
    assert.throws(() => predict(NONE, { ...job(4, 10), extents: [1, 19] }), /4 ranks on 19 planes: a rank needs 5 planes or more/));

  it("a link that is missing is refused", () =>
    assert.throws(() => predict(NONE, job(2, 10, { perNode: 1, links: {} })), /the links have no "network"/));
});

describe("reductions", () => {
  const folds = 2 * LAUNCH;

  it("are a message of each rank in log2(ranks) rounds, with the values that it has so far", () => {
    const near = job(4, 10);
    // In fast mode four ranks leave 3 values each, which are one group.
    close(collectSeconds({ reduced: [8] }, { precision: "fast" }, near), folds + 2 * (0.25 + 0.5) + (8 * 3) / 4 / 20);
  });

  it("wait for the network where some ranks are on other nodes", () => {
    const far = job(4, 10, { perNode: 2 });
    close(collectSeconds({ reduced: [8] }, { precision: "fast" }, far), folds + 2 * (0.25 + 1) + (8 * 3) / 4 / 10);
  });

  it("send a value for each 256 partials in strict mode", () => {
    // Rows of 512 cells have two partials of 256: 2 x 40 planes x 16 rows.
    const strict = { ...job(4, 10), extents: [512, 16, 40] };
    close(
      collectSeconds({ reduced: [8] }, { precision: "strict" }, strict),
      folds + 1.5 + (0.75 * 8 * Math.ceil((2 * 16 * 40) / 256)) / 20,
    );
  });

  it("join all ranks before the next task", () => {
    const sum = plan([task("compute", "step", 0, [], whole), task("collect", "collect s", 0, [0], everywhere(part([])))]);
    const { seconds, collects } = predict(sum, job(2, 10));
    close(seconds, 10 + folds + 0.25 + 0.5 + 8 / 2 / 20);
    assert.equal(collects, 1);
  });
});

it("ranks of one node are neighbours in number", () => {
  const { links } = job(8, 1);
  assert.equal(linkBetween({ links, perNode: 4 }, 2, 3), links.node);
  assert.equal(linkBetween({ links, perNode: 4 }, 3, 4), links.network);
});
