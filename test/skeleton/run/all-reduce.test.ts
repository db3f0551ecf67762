import assert from "node:assert/strict";
import { test } from "node:test";
import type { Device, Fold, FoldPart, Launch } from "../../../src/device/device.js";
import { open } from "../../../src/device/open.js";
import { dense, type Container } from "../../../src/domain/index.js";
import { f64, max } from "../../../src/index.js";
import { devices } from "../../../src/set/index.js";
import { Executor } from "../../../src/skeleton/run/executor.js";
import { OCC_LEVELS } from "../../../src/skeleton/plan/occ.js";
import type { Op } from "../../../src/skeleton/run/op.js";

/** What an executor prepares is not run here: a device that says it folds as GPUs do which wait for each other. */
function waitingForOthers(device: Device, folds: Set<Launch>): Device {
  const fold = (parts: readonly FoldPart[]): Fold => {
    const launches = parts.map(() => ({ free: () => undefined }) as unknown as Launch);
    for (const launch of launches) folds.add(launch);
    return { launches, allReduces: true };
  };
  return new Proxy(device, {
    get(target, property) {
      if (property === "fold") return fold;
      const value = Reflect.get(target, property, target) as unknown;
      if (property === "prepare")
        return ((kernel, args, policy, options) =>
          target.prepare(kernel, args, policy, { ...options, unfolded: false })) as Device["prepare"];
      return typeof value === "function" ? (value as (...all: unknown[]) => unknown).bind(target) : value;
    },
  });
}

/** By operation: all that is complete before it starts. */
function completeBefore(ops: readonly Op[]): Map<Op, ReadonlySet<Op>> {
  const before = new Map<Op, ReadonlySet<Op>>();
  const lasts = new Map<string, Op>();
  for (const op of ops) {
    const stream = `${op.member} ${op.stream}`;
    const parents = [...op.waits, ...(lasts.has(stream) ? [lasts.get(stream)!] : [])];
    before.set(op, new Set(parents.flatMap((parent) => [parent, ...before.get(parent)!])));
    lasts.set(stream, op);
  }
  return before;
}

for (const occ of OCC_LEVELS)
  test(`all of a member runs before or after its fold that waits for other members, with occ ${occ}`, async () => {
    const folds = new Set<Launch>();
    const members = await Promise.all(["js", "js", "js"].map(async (name) => waitingForOthers(await open(name), folds)));
    const set = await devices(members);
    const grid = dense(set, [4, 4, 12], { periodic: [true, true, true] });
    const [x, y, z] = ["x", "y", "z"].map((name) => grid.field(name, f64));
    const most = grid.scalar("most", f64);
    const around = (name: string, from: typeof x, to: typeof x): Container =>
      grid.container(name, { from, to }, ({ from, to }, c) => {
        to[c] = from.at(c, 0, 0, 1) + from.at(c, 0, 0, -1);
      });
    const sequence = [
      grid.container("most", { x, most: max(most) }, ({ x, most }, c) => most.max(x[c])),
      around("first", x, y),
      around("second", y, z),
      grid.container("scale", { x, z, most }, ({ x, z, most }, c) => {
        x[c] = z[c] / most;
      }),
    ];
    for (const field of [x, y, z]) field.fill(1);
    const executor = new Executor(set, sequence, { fuse: false, precision: "fast", temporary: [], sweepOrder: "forward" });
    const { ops } = executor.programFor(executor.stagesOf(1, 0), occ);
    const before = completeBefore(ops);
    const folding = ops.filter(({ launches }) => launches.some((launch) => folds.has(launch)));
    assert.equal(folding.length, 3);
    for (const fold of folding)
      for (const op of ops.filter(({ member }) => member === fold.member))
        assert.ok(op === fold || before.get(fold)!.has(op) || before.get(op)!.has(fold), `${op.node.name} of member ${op.member}`);
    executor.free();
    await set.close();
  });
