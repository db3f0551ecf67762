import { unreachable } from "../../base/unreachable.js";
import type { WgslSlot } from "../../schedule/slots.js";
import { wordsOf } from "../../emit/wgsl/program.js";
import type { NumericType } from "../../ir/types.js";
import type { Binding } from "../launch/binding.js";
import type { RunValues } from "../gpu/launch-plan.js";
import type { Fill } from "../gpu/steps.js";
import type { Part } from "../gpu/temporary.js";
import type { Piece } from "./buffer-groups.js";

/** Sources of the values for the slots of a launch's shaders. */
export interface ValueSources {
  readonly binding: Binding;
  readonly pieces: readonly Piece[];
  /** The first word of a part of the launch's memory. */
  at(part: Part): number;
  /** Contributions of an element or team to each sorted target. */
  readonly slots: Readonly<Record<string, number>>;
  /** By reduce parameter or sorted target. */
  readonly types: ReadonlyMap<string, NumericType>;
}

/** Fills the slots of one run of a shader: memory is given in elements from the start of its buffer. */
export function fillRun({ binding, pieces, at, slots, types }: ValueSources, run: RunValues): Fill<WgslSlot> {
  const { views, scalars } = binding;
  const policy = run.batch?.policy ?? (binding.policy.kind === "range" ? binding.policy : undefined);
  const { bases } = pieces[run.batch?.piece ?? 0];
  const elementAt = (part: Part & { name: string }) => at(part) / wordsOf(types.get(part.name)!);
  return (slot) => {
    switch (slot.kind) {
      case "scalar":
        return scalars[slot.name];
      case "extent":
        return views[slot.name].shape[slot.axis];
      case "stride":
        return views[slot.name].strides[slot.axis];
      case "base":
        return bases.views[slot.name];
      case "size":
        return views[slot.name].size;
      case "begin":
        return policy?.begin[slot.axis];
      case "count":
        return policy?.extents[slot.axis];
      case "elements":
      case "segment":
      case "chunks":
      case "chunksPerLine":
      case "firstTeam":
      case "league":
      case "partialCount":
      case "contributionCount":
        return run.numbers[slot.kind];
      case "slots":
        return slots[slot.name];
      case "keys":
        return at(slot);
      case "values":
        return elementAt(slot);
      case "sortedKeys":
        return run.sorted && at({ kind: run.sorted.keys, name: slot.name });
      case "sortedOrder":
        return run.sorted?.order && at({ kind: run.sorted.order, name: slot.name });
      case "partials": {
        const before = run.batch?.partialsBefore ?? 0;
        if (binding.partials) return bases.outputs[slot.name] + before;
        return elementAt({ kind: run.swapped ? "folded" : "partials", name: slot.name }) + before;
      }
      case "folded":
        return elementAt({ kind: run.swapped ? "partials" : "folded", name: slot.name });
      case "output":
        return bases.outputs[slot.name];
      case "results":
        return at(slot);
      case "zero":
        return 0;
      case "one":
        return 1;
      default:
        return unreachable(slot);
    }
  };
}
