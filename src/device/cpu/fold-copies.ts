import type { ScatterOp, ScatterParam } from "../../ir/types.js";
import { identityOf } from "../../ir/identity.js";
import { isWide } from "../../ir/scalars.js";
import { kernel, type Kernel } from "../../kernel/declare/kernel.js";
import { f32, f64, i32, u32, view } from "../../kernel/declare/params.js";
import { range, type Policy } from "../launch/policy.js";
import { BYTES, View } from "../memory/view.js";
import { spanOf } from "./host-view.js";
import type { PrivateCopies } from "./private-copies.js";

/*
 * Private copies of a scatter target are folded by all workers: with sixteen of them, one thread alone would take many times as long as they
 * take for the elements.
 */

/** Elements of all copies below which the calling thread folds them by itself. */
const FEW = 4096;

const TOKENS = { f64, f32, i32, u32 } as const;
type Op = ScatterOp;

/** Copies in the order of their workers. A place to which nobody has added stays as it is, -0 included. */
const BODIES: Record<Op, (type: (typeof TOKENS)["f64"]) => Kernel> = {
  sum: (type) =>
    kernel("fold_copies", { target: view(type), copies: view(type, 2), identity: type }, ({ target, copies, identity }, i) => {
      let folded = target[i];
      for (let worker = 0; worker < copies.length; worker++) {
        const own = copies[worker][i];
        folded = own !== 0 ? folded + own : folded;
        copies[worker][i] = identity;
      }
      target[i] = folded;
    }),
  min: (type) =>
    kernel("fold_copies", { target: view(type), copies: view(type, 2), identity: type }, ({ target, copies, identity }, i) => {
      let folded = target[i];
      for (let worker = 0; worker < copies.length; worker++) {
        folded = Math.min(folded, copies[worker][i]);
        copies[worker][i] = identity;
      }
      target[i] = folded;
    }),
  max: (type) =>
    kernel("fold_copies", { target: view(type), copies: view(type, 2), identity: type }, ({ target, copies, identity }, i) => {
      let folded = target[i];
      for (let worker = 0; worker < copies.length; worker++) {
        folded = Math.max(folded, copies[worker][i]);
        copies[worker][i] = identity;
      }
      target[i] = folded;
    }),
};

const kernels = new Map<string, Kernel>();

/** Launch that folds private copies. */
export interface CopiesFold {
  readonly kernel: Kernel;
  readonly args: Readonly<Record<string, View | number>>;
  readonly policy: Policy;
}

/** The launch that folds these copies into their target; undefined where the calling thread is as fast. */
export function foldingOf({ op, element }: ScatterParam, target: View, copies: PrivateCopies): CopiesFold | undefined {
  const span = spanOf(target);
  const others = copies.workers - 1;
  // Bigints have no Math.min, and their sums take most of the time.
  if (isWide(element) || others * span < FEW) return undefined;
  const key = `${op} ${element}`;
  let made = kernels.get(key);
  // All numeric types have the operations of f64.
  if (!made) kernels.set(key, (made = BODIES[op](TOKENS[element] as (typeof TOKENS)["f64"])));
  const args = {
    target: new View(target.buffer, element, [span], [1], target.offset),
    copies: new View(copies.buffer, element, [others, span], [copies.stride / BYTES[element], 1], 0),
    identity: identityOf(op, element),
  };
  return { kernel: made, args, policy: range(span) };
}
