import { changedBy } from "../../ir/atomic.js";
import type { AtomicType } from "../../ir/types.js";
import { ATOMIC_METHODS } from "../../kernel/declare/atomic-methods.js";
import { storageOf, type AnyView } from "../memory/blocked-view.js";
import type { CopyArena } from "./arena.js";
import { fittingNumber, offsetIn, requireInside } from "./checked-view.js";
import type { Watch } from "./watch.js";

/** An atomic array: the object with `add`, `load` and the others that the function sees. Elements run one after the other. */
export function checkedAtomic(name: string, view: AnyView, arena: CopyArena, watch: Watch): object {
  const array = arena.array(storageOf(view));
  const at = offsetIn(view);
  const type = view.type as AtomicType;
  const method =
    (called: string) =>
    (...args: number[]): number => {
      const { fn, values, negates } = ATOMIC_METHODS[called];
      const indices = args.slice(0, view.rank);
      if (args.length !== view.rank + values.length)
        watch.fail(`"${name}" has ${view.rank} axes, and ${called} is given ${args.length} arguments`);
      requireInside(name, view, indices, watch);
      const operands = args.slice(view.rank).map((value) => fittingNumber(value, type, () => `${name}.${called}`, watch));
      const offset = at(indices);
      const old = array[offset];
      array[offset] = changedBy(fn, type, old, negates ? operands.map((value) => -value) : operands);
      return old;
    };
  return { length: view.shape[0], ...Object.fromEntries(Object.keys(ATOMIC_METHODS).map((called) => [called, method(called)])) };
}
