import { identifier } from "../base/names.js";
import type { NumericType, ScatterOp } from "../ir/types.js";
import { local } from "./build.js";
import type { EntrySchedule } from "./entry.js";
import type { Func } from "./nodes.js";

/**
 * A function (place, value) of threads that act as one: each run of neighbours with one place has the fold of its values in the first of them,
 * for which it is true. Languages write it themselves, of votes and shuffles; `folded` is what one value and the next make.
 */
export const runFold = (entry: EntrySchedule, op: ScatterOp, type: NumericType): Func =>
  entry.program.function(`fold_run_${op}_${type}`, () => ({
    id: identifier(`fold_run_${op}_${type}`),
    apart: false,
    params: [
      { id: identifier("place"), type: "index" },
      { id: identifier("value"), type, changes: "outside" },
    ],
    result: "bool",
    body: [
      {
        kind: "foldRun",
        value: { id: identifier("value"), type },
        folded: entry.body.fold(op, type, local("value", type), local("other", type)),
      },
    ],
  }));
