/* Copies of arrays that the text of a port asks for, for the report. */

import { eachNode } from "../../analyse/visit.js";
import { expressionText } from "../../print/expressions.js";
import { dataKind, isCompute } from "../../data/items.js";
import type { CallStatement, Directive, SourceFile } from "../../tree/index.js";
import type { Location } from "../../../ir/types.js";
import { actionOf } from "./calls.js";

/** One array, section or scalar that a directive, or a loop, brings to the device or back. */
export interface PortTransfer {
  readonly at: Location;
  readonly array: string;
  /** In the target's words: `target data map(to)`, `enter copyin`. */
  readonly transfer: string;
}

/** Transfers in the order of the text; arrays that are present already are copied by `update` and `always` alone. */
export function transfersIn({ units }: Pick<SourceFile, "units">): PortTransfer[] {
  const found: PortTransfer[] = [];
  eachNode(units, (node) => {
    if (node.kind === "directed" || node.kind === "other") {
      const { directive } = node as { directive?: Directive };
      if (directive) found.push(...ofDirective(directive));
    }
    if (node.kind !== "call") return;
    const call = node as CallStatement;
    const action = actionOf(call);
    if (action) found.push({ at: call.at, ...action });
  });
  return found;
}

function ofDirective(directive: Directive): PortTransfer[] {
  if (directive.sentinel !== "omp" || (dataKind(directive) === undefined && !isCompute(directive))) return [];
  return directive.clauses.flatMap((clause) => {
    if (clause.kind !== "data" || !["map", "to", "from"].includes(clause.name)) return [];
    const { modifiers, name } = clause;
    const words = directive.words.join(" ");
    const transfer = `${words} ${name}${modifiers.length > 0 ? `(${modifiers.join(", ")})` : ""}`;
    return clause.objects.map((object) => ({ at: object.at, array: expressionText(object), transfer }));
  });
}
