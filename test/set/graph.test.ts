import assert from "node:assert/strict";
import { describe, it } from "node:test";
import type { Launch, Queue } from "../../src/device/device.js";
import { range } from "../../src/device/launch/policy.js";
import type { View } from "../../src/device/memory/view.js";
import { kernel } from "../../src/kernel/declare/kernel.js";
import { f64, sum, view } from "../../src/kernel/declare/params.js";
import { copyBetween, type DeviceSet, Scalar } from "../../src/set/index.js";
import { eachSet } from "./sets.js";

const smooth = kernel("smooth", { u: view(f64), v: view(f64) }, ({ u, v }, i) => {
  v[i] = 0.25 * u[i - 1] + 0.5 * u[i] + 0.25 * u[i + 1];
});
const total = kernel("total", { u: view(f64), s: sum(f64) }, ({ u, s }, i) => {
  s.add(u[i]);
});

/** Cells of each member, without its halo of one cell at each end. */
const CELLS = 3000;

/** Smoothing a line of cells that a set's members share: the smallest program with halos. */
class Smoothing {
  readonly halves: View<"f64">[][];
  readonly mass: Scalar<"f64">;
  private readonly launches: Launch[][];
  private readonly sums: Launch[];

  constructor(readonly set: DeviceSet) {
    this.mass = new Scalar(set, "mass", f64);
    this.halves = set.locals.map(({ device }, m) => [
      device.from(
        f64,
        Float64Array.from({ length: CELLS + 2 }, (_, i) => initial(set, m * CELLS + i - 1)),
      ),
      device.array(f64, CELLS + 2),
    ]);
    const inner = range([1, CELLS + 1]);
    this.launches = set.locals.map(({ device }, m) =>
      [0, 1].map((half) =>
        device.prepare(smooth, { u: this.halves[m][half], v: this.halves[m][1 - half] }, inner, { precision: "strict" }),
      ),
    );
    this.sums = set.locals.map(({ device }, m) =>
      device.prepare(total, { u: this.halves[m][0], s: this.mass.views[m] }, inner, { precision: "strict" }),
    );
  }

  get queues(): Queue[] {
    return this.set.locals.flatMap((member) => [member.queue(0), member.queue(1)]);
  }

  /** Two steps: kernels in stream 0 of each member, halos in stream 1. */
  readonly steps = (): void => {
    const { locals: members } = this.set;
    for (const half of [0, 1]) {
      const done = members.map((member, m) => {
        member.queue(0).submit(this.launches[m][half]);
        return member.queue(0).record();
      });
      const arrived = members.flatMap((member, m) =>
        [m - 1, m + 1]
          .filter((other) => members[other])
          .map((other) => {
            const stream = member.queue(1);
            stream.wait(done[m]);
            stream.wait(done[other]);
            const [from, to] = other > m ? [CELLS, 0] : [1, CELLS + 1];
            const cell = (of: number, at: number) => this.halves[of][1 - half].slice([at, at + 1]);
            copyBetween(cell(m, from), cell(other, to), stream, members[other].queue(1));
            return stream.record();
          }),
      );
      for (const member of members) for (const event of arrived) member.queue(0).wait(event);
    }
    members.forEach((member, m) => member.queue(0).submit(this.sums[m]));
  };

  async read(): Promise<number[]> {
    const pieces = await Promise.all(this.set.locals.map((member, m) => member.queue(0).read(this.halves[m][0].slice([1, CELLS + 1]))));
    return pieces.flatMap((piece) => [...piece]);
  }
}

const initial = ({ members }: DeviceSet, cell: number): number =>
  cell < 0 || cell >= members.length * CELLS ? 0 : Math.fround(Math.sin(cell * 12.9898) * 100);

function expected(set: DeviceSet, steps: number): number[] {
  let u = Array.from({ length: set.members.length * CELLS }, (_, i) => initial(set, i));
  for (let step = 0; step < steps; step++) u = u.map((value, i) => 0.25 * (u[i - 1] ?? 0) + 0.5 * value + 0.25 * (u[i + 1] ?? 0));
  return u;
}

await eachSet((name, open) =>
  describe(`a graph over the members of ${name}`, () => {
    it("does what its work does one by one", async (t) => {
      const set = await open();
      const direct = new Smoothing(set);
      for (let n = 0; n < 3; n++) direct.steps();
      assert.deepEqual(await direct.read(), expected(set, 6));

      const captured = new Smoothing(set);
      const [origin, ...others] = captured.queues;
      if (new Set(set.locals.map(({ device }) => device.memory.name === "cpu")).size > 1) {
        assert.throws(() => origin.capture(captured.steps, others), { name: "LaunchError", message: /cannot be captured together/ });
        return set.close();
      }
      const graph = origin.capture(captured.steps, others);
      assert.deepEqual(await captured.read(), expected(set, 0));
      for (let n = 0; n < 3; n++) origin.submit(graph);
      await origin.finish();
      assert.deepEqual(await captured.read(), expected(set, 6));
      assert.equal(await captured.mass.get(origin), await direct.mass.get(set.locals[0].queue(0)));
      t.diagnostic(graph.remarks.join("; "));

      const start = performance.now();
      for (let n = 0; n < 100; n++) origin.submit(graph);
      t.diagnostic(`host time of a submission: ${(10 * (performance.now() - start)).toFixed(1)} us`);
      await origin.finish();
      graph.free();
      await set.close();
    });

    it("leaves the streams in order, however often it alternates with other work", async () => {
      const set = await open();
      const smoothing = new Smoothing(set);
      const [origin, ...others] = smoothing.queues;
      if (new Set(set.locals.map(({ device }) => device.memory.name === "cpu")).size > 1) return set.close();
      const graph = origin.capture(smoothing.steps, others);
      for (let n = 0; n < 3; n++) {
        origin.submit(graph);
        const there = origin.record();
        for (const other of others) other.wait(there);
        smoothing.steps();
        for (const other of others) origin.wait(other.record());
      }
      assert.deepEqual(await smoothing.read(), expected(set, 12));
      graph.free();
      await set.close();
    });
  }),
);
