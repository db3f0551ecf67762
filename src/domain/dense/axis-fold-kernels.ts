import type { NumberType } from "../../ir/types.js";
import { kernel, type Kernel } from "../../kernel/declare/kernel.js";
import { i32, view, type ScalarToken } from "../../kernel/declare/params.js";
import type { AxisFold } from "../grid/grid.js";

/*
 * Kernels that combine what accumulation kernels leave. An element is a place among the results.
 */

/** Kernels of one operator and type. */
export interface AxisFoldKernels {
  /** Folds parts, [part][value][lane], in order into results. */
  readonly parts: Kernel;
  /** Folds rows, [row][value][lane], to items, and pushes these onto a stack of entries (container/fold-order.ts). */
  readonly push: Kernel;
  /** Folds the entries of a stack, [entry][value], to results, beginning with the last. */
  readonly root: Kernel;
}

type Fold = (a: number, b: number) => number;

const FOLDS: Record<AxisFold["op"], Fold> = {
  sum: (a, b) => a + b,
  min: (a, b) => Math.min(a, b),
  max: (a, b) => Math.max(a, b),
};

const known = new Map<string, AxisFoldKernels>();

export function axisFoldKernels(op: AxisFold["op"], type: NumberType): AxisFoldKernels {
  const key = `${op} ${type}`;
  let kernels = known.get(key);
  if (!kernels) known.set(key, (kernels = makeKernels(FOLDS[op], { kind: "scalar", type })));
  return kernels;
}

/** `old` is 1 where what results were takes part; `each` is the number of values of a part, a row or an entry. */
function makeKernels(fold: Fold, type: ScalarToken<NumberType>): AxisFoldKernels {
  const results = { fold, into: view(type, 4), n1: i32, n2: i32, n3: i32, each: i32, old: i32 };
  const parts = kernel(
    "fold parts",
    { ...results, parts: view(type), count: i32, lanes: i32 },
    ({ fold, into, parts, n1, n2, n3, each, count, lanes, old }, a, k, b, c) => {
      const value = ((a * n1 + k) * n2 + b) * n3 + c;
      let folded = parts[value * lanes];
      for (let part = 0; part < count; part++)
        for (let lane = 0; lane < lanes; lane++) if (part + lane > 0) folded = fold(folded, parts[(part * each + value) * lanes + lane]);
      into[a][k][b][c] = old > 0 ? fold(into[a][k][b][c], folded) : folded;
    },
  );
  const push = kernel(
    "push entries",
    { fold, stack: view(type, 1, { disjoint: true }),
      capacity: i32, rows: view(type), merges: view(i32), height: i32, each: i32, block: i32, count: i32, perItem: i32, items: i32, lanes: i32 }, // prettier-ignore
    ({ fold, stack, capacity, rows, merges, height, each, block, count, perItem, items, lanes }, q, w) => {
      const value = q * block + w;
      if (value < each) {
        let top = height;
        for (let item = 0; item < items; item++) {
          const first = item * perItem;
          const end = Math.min(count, first + perItem);
          let folded = rows[(first * each + value) * lanes];
          for (let row = first; row < end; row++) {
            let one = rows[(row * each + value) * lanes];
            for (let lane = 1; lane < lanes; lane++) one = fold(one, rows[(row * each + value) * lanes + lane]);
            folded = row > first ? fold(folded, one) : one;
          }
          for (let merge = 0; merge < merges[item]; merge++) {
            top--;
            folded = fold(stack[(q * capacity + top) * block + w], folded);
          }
          stack[(q * capacity + top) * block + w] = folded;
          top++;
        }
      }
    },
  );
  const root = kernel(
    "fold entries",
    { ...results, stack: view(type), height: i32 },
    ({ fold, into, stack, n1, n2, n3, each, height, old }, a, k, b, c) => {
      const value = ((a * n1 + k) * n2 + b) * n3 + c;
      let folded = stack[(height - 1) * each + value];
      for (let after = 1; after < height; after++) folded = fold(stack[(height - 1 - after) * each + value], folded);
      into[a][k][b][c] = old > 0 ? fold(into[a][k][b][c], folded) : folded;
    },
  );
  return { parts: parts as unknown as Kernel, push: push as unknown as Kernel, root: root as unknown as Kernel };
}
