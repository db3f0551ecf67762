import type { StmtOf } from "./frame.js";
import { add, and, fixed, ge, local, lt, when } from "./build.js";
import type { Expr } from "./nodes.js";
import type { RangeFrame } from "./range-frame.js";
import type { PairOfElements } from "./shape.js";

/** Whether one of two neighbours is in the row; the first is at the index `k`. */
export const pairInRow = (range: RangeFrame, k: Expr): Expr => and(ge(add(k, 1), range.begin(2)), lt(k, range.end(2)));

/**
 * Puts all that is done for two neighbours of a row: both are computed, so that threads at the ends of rows go the same way as others, and what is in
 * the range is stored.
 */
export function storePair(range: RangeFrame, { reading, stores }: PairOfElements): void {
  const { out, body, names } = range;
  const k = local(range.indexNames[2]!, "index");
  body.statements(reading);
  const kept = stores.map((two) =>
    two.map((stmt) => {
      const store = stmt as StmtOf<"store">;
      const name = names.fresh(`${store.view}_next`);
      const value = body.expr(store.value);
      out.put(fixed(name, value));
      return { store, offset: body.offset(store.view, store.indices), value: local(name, value.type) };
    }),
  );
  const put = (which: readonly number[]) =>
    out.inside(() => kept.forEach((two) => which.forEach((n) => range.store(body, two[n]!.store, two[n]!.offset, two[n]!.value))));
  const both = and(ge(k, range.begin(2)), lt(add(k, 1), range.end(2)));
  out.put(when(both, put([0, 1]), [when(ge(k, range.begin(2)), put([0]), put([1]))]));
}
