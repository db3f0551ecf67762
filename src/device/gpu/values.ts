import { unreachable } from "../../base/unreachable.js";
import { slotText, type GpuSlot } from "../../schedule/slots.js";
import type { Binding } from "../launch/binding.js";
import { BYTES, type View } from "../memory/view.js";
import type { RunValues } from "./launch-plan.js";
import { alignedBegin } from "./program.js";
import type { Fill } from "./steps.js";
import type { Part } from "./temporary.js";

/** Sources of the values for the slots of a launch's entries. */
export interface ValueSources {
  readonly binding: Binding;
  /** Address of a part of the launch's memory. */
  at(part: Part): number;
  /** Contributions of an element or team to each sorted target. */
  readonly slots: Readonly<Record<string, number>>;
  /** Start of each target's copy in shared memory, in units of 8 bytes. */
  readonly copies: Readonly<Record<string, number>>;
}

/** The address of a view's first element; an empty view may begin past the end of its memory. */
export const addressOf = (view: View): number => (view.size === 0 ? 0 : Number(view.buffer.address) + view.offset * BYTES[view.type]);

/** Fills the slots of one run of an entry. */
export function fillRun({ binding, at, slots, copies }: ValueSources, run: RunValues): Fill<GpuSlot> {
  const { views, scalars, outputs, peerStores } = binding;
  const policy = run.batch?.policy ?? (binding.policy.kind === "range" ? binding.policy : undefined);
  const inPeer = (name: string, side: string) => peerStores.find((one) => one.param === name && one.side === side)!.to;
  return (slot) => {
    switch (slot.kind) {
      case "scalar":
        return scalars[slot.name];
      case "view":
        return addressOf(views[slot.name]);
      case "extent":
        return views[slot.name].shape[slot.axis];
      case "stride":
        return views[slot.name].strides[slot.axis];
      case "size":
        return views[slot.name].size;
      case "begin":
        return policy?.begin[slot.axis];
      case "end":
        return policy && policy.begin[slot.axis] + policy.extents[slot.axis];
      case "count":
        return policy?.extents[slot.axis];
      case "alignedBegin":
        return policy && alignedBegin(policy, views);
      case "elements":
      case "segment":
      case "chunks":
      case "chunksPerLine":
      case "firstTeam":
      case "league":
      case "rowBlocks":
      case "tile":
      case "planes":
      case "partialCount":
      case "contributionCount":
        return run.numbers[slot.kind];
      case "slots":
        return slots[slot.name];
      case "keys":
      case "values":
        return at(slot);
      case "sortedKeys":
        return run.sorted && at({ kind: run.sorted.keys, name: slot.name });
      case "sortedOrder":
        return run.sorted?.order ? at({ kind: run.sorted.order, name: slot.name }) : 0;
      case "copy":
        return copies[slot.name];
      case "partials":
      case "folded":
        return partials(slot);
      case "output":
        return viewOrNone(binding.partials ? undefined : outputs[slot.name]);
      case "results":
        return at(slot);
      case "peerStore":
        return addressOf(inPeer(slot.name, slot.side));
      case "peerStorePlanes":
        return inPeer(slot.name, slot.side).shape[0];
      case "pieces":
      case "totals":
      case "ticket":
      case "members":
      case "me":
      case "mailboxes":
      case "turn":
      case "patience":
        throw new Error(`"${slotText(slot)}" is for folds by several blocks (final-reduction.ts)`);
      default:
        return unreachable(slot);
    }
  };

  function partials({ kind, name }: { kind: "partials" | "folded"; name: string }): number {
    const param = binding.ir.params.find((p) => p.kind === "reduce" && p.name === name);
    const before = kind === "partials" && param?.kind === "reduce" ? (run.batch?.partialsBefore ?? 0) * BYTES[param.type] : 0;
    if (binding.partials) return viewOrNone(outputs[name]) + before;
    const other = kind === "partials" ? "folded" : "partials";
    return at({ kind: run.swapped ? other : kind, name }) + before;
  }
}

const viewOrNone = (view: View | undefined): number => (view ? addressOf(view) : 0);
