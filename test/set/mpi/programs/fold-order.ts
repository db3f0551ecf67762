import assert from "node:assert/strict";
import type { Device, Launch } from "../../../../src/device/device.js";
import { dense, sparse } from "../../../../src/domain/index.js";
import { f64, max, min, sum } from "../../../../src/index.js";
import { devices, isMessage } from "../../../../src/set/index.js";
import { OCC_LEVELS } from "../../../../src/skeleton/plan/occ.js";
import { Executor } from "../../../../src/skeleton/run/executor.js";
import type { Op } from "../../../../src/skeleton/run/op.js";
import { carryByStandIn } from "./stand-in.js";

/*
 * The order of work around folds that wait for other processes while they run: nothing of a process may be beside its own fold, as its GPU could put that after
 * the fold, which then waits for ever for a process that waits for it. Nothing runs here. The word is the devices.
 */

const set = await devices(process.argv[2]);
const folds = new Set<Launch>();
const launchThatFolds = (): Launch => {
  const launch = { free: () => undefined } as unknown as Launch;
  folds.add(launch);
  return launch;
};
Object.assign(carryByStandIn(set), { fold: launchThatFolds });
const { device, index } = set.locals[0];
const prepare = device.prepare.bind(device);
device.prepare = ((kernel, args, policy, options) => prepare(kernel, args, policy, { ...options, unfolded: false })) as Device["prepare"];

/** Whether an operation is work of this process: its member's, or a message that its member takes. */
const isOwn = ({ member, copies }: Op): boolean =>
  member === index || copies.some(({ from, to }) => to === index && isMessage(set, { from, to }));

/** By operation of this process: all of it that is complete before it starts. */
function completeBefore(ops: readonly Op[]): ReadonlyMap<Op, ReadonlySet<Op>> {
  const before = new Map<Op, ReadonlySet<Op>>();
  const lasts = new Map<number, Op>();
  for (const op of ops.filter(isOwn)) {
    const earlier = op.member === index ? lasts.get(op.stream) : undefined;
    const parents = [...op.waits.filter(isOwn), ...(earlier ? [earlier] : [])];
    before.set(op, new Set(parents.flatMap((parent) => [parent, ...before.get(parent)!])));
    if (op.member === index) lasts.set(op.stream, op);
  }
  return before;
}

const grids = [dense(set, [4, 4, 12], { periodic: [true, true, true] }), sparse(set, [6, 6, 24], (x, y, z) => x > 1 || z > 18)] as const;
let folding = 0;
for (const grid of grids)
  for (const occ of OCC_LEVELS) {
    const [x, y, z] = ["x", "y", "z"].map((name) => grid.field(name, f64));
    const [most, least, total] = ["most", "least", "total"].map((name) => grid.scalar(name, f64));
    const around = (name: string, from: typeof x, to: typeof x) =>
      grid.container(name, { from, to }, ({ from, to }, c) => {
        to[c] = from.at(c, 0, 0, 1) + from.at(c, 0, 0, -1);
      });
    const sequence = [
      grid.container("most", { x, most: max(most) }, ({ x, most }, c) => most.max(x[c])),
      around("first", x, y),
      // Its fold may start before anything needs the halo of y.
      grid.container("least", { y, least: min(least) }, ({ y, least }, c) => least.min(y[c])),
      around("second", y, z),
      grid.container("total", { z, total: sum(total) }, ({ z, total }, c) => total.add(z[c])),
      grid.container("scale", { x, z, most }, ({ x, z, most }, c) => {
        x[c] = z[c] / most;
      }),
    ];
    for (const field of [x, y, z]) field.fill(1);
    const executor = new Executor(set, sequence, { fuse: false, precision: "fast", temporary: [], sweepOrder: "forward" });
    const { ops } = executor.programFor(executor.stagesOf(1, 0), occ);
    const before = completeBefore(ops);
    for (const fold of ops.filter(({ launches }) => launches.some((launch) => folds.has(launch)))) {
      folding++;
      for (const op of before.keys())
        assert.ok(
          op === fold || before.get(fold)!.has(op) || before.get(op)!.has(fold),
          `${occ}: ${op.node.name} of member ${op.member} is beside the fold of ${fold.node.name}`,
        );
    }
    executor.free();
  }
console.log(`folds of rank ${set.ranks!.rank}: ${folding}`);
await set.close();
