import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { f32, f64, max, sum } from "isoform";
import type { Device } from "../../../src/device/device.js";
import { open } from "../../../src/device/open.js";
import { reductionTraffic } from "../../../src/domain/container/reduction-traffic.js";
import type { Container } from "../../../src/domain/grid/grid.js";
import type { Rounds } from "../../../src/domain/grid/parts.js";
import { DenseGrid, dense, slab, type Grid } from "../../../src/domain/index.js";
import { skeleton } from "../../../src/skeleton/index.js";
import { copyBetween, devices, type DeviceSet } from "../../../src/set/index.js";
import { ELSEWHERE, tested } from "../../devices.js";
import { share } from "../../random/share.js";
import { randomCuts, whole } from "../cuts.js";
import { foldPlane, foldPlanes } from "../plane-fold.js";
import { noise } from "../sets.js";
import { counted } from "./counted.js";

const strict = { precision: "strict" } as const;
const TRIALS = share(200);
const AXES = [["x"], ["y"], ["x", "y"]] as const;
const add = (a: number, b: number): number => a + b;

/** Values whose sums depend on the order. */
const value = (x: number, y: number, z: number): number => noise(x, y, z) * 10 ** (4 * noise(z, x, y));

/** What a container sends along the cut axis, counted. */
function sent(container: Container, precision: "strict" | "fast") {
  const made = container.grid.foldAlongAxes!(container, precision);
  made.free();
  return counted(made);
}

/** Runs rounds to the end. */
async function run({ locals: members }: DeviceSet, { rounds }: Rounds): Promise<void> {
  for (const { launches, copies } of rounds) {
    launches.forEach((list, m) => list.forEach((launch) => members[m].queue(0).submit(launch)));
    await Promise.all(members.map((member) => member.queue(0).finish()));
    for (const { from, to, source, target } of copies) copyBetween(source!, target!, members[from].queue(0), members[to].queue(0));
    await Promise.all(members.map((member) => member.queue(0).finish()));
  }
}

/** A grid of three dimensions whose last axis is cut at these planes. */
function cutGrid(set: DeviceSet, [nx, ny]: readonly number[], cuts: readonly number[], options = {}): Grid {
  const given = cuts.slice(1).map((end, m) => ({ first: cuts[m], planes: end - cuts[m] }));
  return new DenseGrid(set, [nx, ny, cuts.at(-1)!], options, given) as unknown as Grid;
}

interface Folded {
  fold?: (a: number, b: number) => number;
  identity?: number;
  cell?: (x: number, y: number, z: number) => number;
  /** Planes. Default: all. */
  planes?: readonly [from: number, to: number];
}

/** Folds along z, and along what else is not in `axes`, in the host's order; sums by default. */
function reference([nx, ny, nz]: readonly number[], axes: readonly string[], options: Folded = {}): number[] {
  const { fold = add, identity = 0, cell = value, planes: [from, to] = [0, nz] } = options;
  const along = (axis: string, extent: number): number[] => (axes.includes(axis) ? [...Array(extent).keys()] : [-1]);
  const all = (n: number, extent: number): number[] => (n < 0 ? [...Array(extent).keys()] : [n]);
  return along("y", ny).flatMap((y) =>
    along("x", nx).map((x) => {
      const planes = Array.from({ length: to - from }, (_, n) => {
        const rows = all(y, ny).map((row) => all(x, nx).map((column) => cell(column, row, from + n)));
        return foldPlane(rows, x < 0, identity, fold);
      });
      return foldPlanes(planes, fold);
    }),
  );
}

const js = await open("js");
const setOf = (count: number, device: Device = js): Promise<DeviceSet> => devices(Array<Device>(count).fill(device));

describe("folds along the cut axis", { skip: ELSEWHERE }, () => {
  it("have the bits of one member for any cuts, in log2(members) + 1 rounds and 2 messages a member", async () => {
    for (let seed = 0; seed < TRIALS; seed++) {
      const planes = whole(2, 700, seed, 1);
      // Few members more often than many, which take long to prepare.
      const members = seed === 0 ? 64 : whole(1, whole(1, Math.min(64, planes), seed, 2), seed, 4);
      const count = Math.max(planes, members);
      const cuts = randomCuts(count, members, seed);
      const axes = AXES[seed % 3];
      const extents = [whole(1, seed % 2 === 0 ? 3 : 40, seed, 3), 2, count];
      const grid = cutGrid(await setOf(members), extents, cuts);
      const p = grid.field("p", f64);
      const total = grid.field("total", f64, { axes });
      const measure = grid.container("measure", { p, total: sum(total) }, ({ p, total }, c) => total.add(p[c]));
      p.fill(value);
      // As `grid.run` does it.
      const made = grid.foldAlongAxes!(measure, "strict");
      await run(grid.set, made);
      const where = `seed ${seed}: [${extents}] along ${axes}, cut at ${cuts}`;
      assert.deepEqual([...(await total.download())], reference(extents, axes), where);
      const found = counted(made);
      assert.ok(found.rounds <= Math.ceil(Math.log2(members)) + 1 && found.messages <= 2 * (members - 1), where);
      if (members > 1) assert.deepEqual(reductionTraffic(measure, "strict"), found, where);
      made.free();
      grid.free();
    }
  });

  it("of 64 members take 7 rounds and 126 messages", async () => {
    const grid = dense(await setOf(64), [3, 2, 300]);
    const total = grid.field("total", f64, { axes: ["x"] });
    const measure = grid.container("measure", { total: sum(total) }, ({ total }, c) => total.add(c.z));
    for (const precision of ["strict", "fast"] as const) {
      const { rounds, messages } = sent(measure, precision);
      assert.deepEqual([rounds, messages], [7, 126]);
      assert.deepEqual(reductionTraffic(measure, precision), sent(measure, precision));
    }
    grid.free();
  });

  it("are listed by explain() with their rounds, messages and bytes", async () => {
    const grid = dense(await setOf(5), [300, 20, 50]);
    const [total, all] = [grid.field("total", f64, { axes: ["x"] }), grid.scalar("all", f64)];
    const measure = grid.container("measure", { total: sum(total) }, ({ total }, c) => total.add(c.z));
    const count = grid.container("count", { all: sum(all) }, ({ all }, c) => all.add(c.x));
    const steps = skeleton(grid.set, "steps", [measure, count], strict);
    // 300 results: lists of 10 planes each, 1 to 4 entries, on their way to the first member. 2000 partials in 8 groups.
    const lists = reductionTraffic(measure, "strict").bytes;
    const partials = reductionTraffic(count, "strict").bytes;
    assert.ok(lists >= 8 * 300 * 8 && partials < 8 * (4 * 255 + 4 * 8));
    const text = await steps.explain();
    assert.ok(
      text.includes(
        `Messages of reductions\n  measure      4 rounds, 8 messages, ${lists} bytes\n  collect all  4 rounds, 20 messages, ${partials} bytes`,
      ),
      text,
    );
    steps.free();
    grid.free();
  });

  it("share out results of 1 MiB or more by places, with the same bits, some axes being cut off by a region", async () => {
    const extents = [512, 260, 21];
    const on = [slab("x", 1, 511), slab("z", 3, 20)];
    const cell = (x: number, y: number, z: number): number => noise(x + 512 * y, z);
    const wanted = reference([510, 260, 21], ["x", "y"], { planes: [3, 20], cell: (x, y, z) => cell(x + 1, y, z) });
    const trials: { cuts: number[]; messages: number; precision?: "fast" }[] = [
      { cuts: [0, 21], messages: 0 },
      { cuts: [0, 5, 6, 19, 21], messages: 4 * 3 + 4 * 3 },
      // Two members of four have planes to fold, and all take results.
      { cuts: [0, 2, 3, 12, 21], messages: 2 + 2 * 3 },
      { cuts: [0, 9, 21], messages: 2 + 2, precision: "fast" },
    ];
    for (const { cuts, messages, precision = "strict" } of trials) {
      const grid = cutGrid(await setOf(cuts.length - 1), extents, cuts);
      const p = grid.field("p", f64);
      const total = grid.field("total", f64, { axes: ["x", "y"], cardinality: 2, ghosts: 1 });
      const into = sum(total, { components: [1, 2], accumulate: true });
      const measure = grid.container("measure", { p, total: into }, ({ p, total }, c) => total.add(0, p[c]), undefined, { on });
      p.fill(cell);
      total.set(() => 1);
      await grid.run(measure, { precision });
      const traffic = reductionTraffic(measure, precision);
      assert.deepEqual([traffic.rounds, traffic.messages], [messages === 0 ? 0 : 2, messages]);
      if (messages > 0) assert.deepEqual(sent(measure, precision), traffic);
      const found = await total.download();
      const at = (x: number, y: number): number => found[2 * ((y + 1) * 514 + x + 1) + 1];
      let off = 0;
      for (const [n, sums] of wanted.entries()) off = Math.max(off, Math.abs(at(1 + (n % 510), Math.floor(n / 510)) - (1 + sums)));
      assert.ok(precision === "strict" ? off === 0 : off < 1e-12, `cut at ${cuts}, ${precision}: off by ${off}`);
      // The other component, ghosts and columns outside of the region stay.
      assert.deepEqual([found[0], found[1], at(0, 5), at(511, 7)], [1, 1, 1, 1]);
      const copies = await Promise.all(grid.set.locals.map((member, m) => member.queue(0).read(total.piece(m, [0, 0]))));
      for (const copy of copies) assert.deepEqual(copy, copies[0]);
      grid.free();
    }
  });
});

for (const name of ["js", "wasm", "native", "opencl", "webgpu"]) {
  const opened = tested(name) ? await open(name).catch((error: Error) => error.message) : "not asked for";
  describe(`strict folds along the cut axis on ${name}`, { skip: typeof opened === "string" && opened }, () => {
    it("have the bits of the definition", async () => {
      const extents = [37, 3, 75];
      const single = (x: number, y: number, z: number): number => Math.fround(value(x, y, z));
      const round = (a: number, b: number): number => Math.fround(a + b);
      for (const axes of AXES)
        for (const cuts of [
          [0, 75],
          [0, 6, 7, 33, 75],
        ]) {
          const grid = cutGrid(await setOf(cuts.length - 1, opened as Device), extents, cuts);
          const p = grid.field("p", f32);
          const [total, most] = ["total", "most"].map((name) => grid.field(name, f32, { axes }));
          const measure = grid.container("measure", { p, total: sum(total), most: max(most) }, ({ p, total, most }, c) => {
            total.add(p[c]);
            most.max(p[c]);
          });
          p.fill(single);
          await grid.run(measure, strict);
          const where = `along ${axes}, cut at ${cuts}`;
          assert.deepEqual([...(await total.download())], reference(extents, axes, { fold: round, cell: single }), where);
          assert.deepEqual(
            [...(await most.download())],
            reference(extents, axes, { fold: Math.max, identity: -Infinity, cell: single }),
            where,
          );
          grid.free();
        }
    });
  });
}
