/* Directives that keep data on a device, or move it: ports leave them out, and say so where they stood. */

import { directiveText } from "../print/directives.js";
import type { Declaration, Directive, Stmt } from "../tree/index.js";
import type { PortTarget } from "./targets.js";

/** Whether a directive speaks of data alone: a region of `data`, `enter data`, `update`, `declare create` and the like. */
function isOfData({ sentinel, words, clauses }: Directive): boolean {
  if (words[0] === "end") return false;
  if (sentinel === "acc") return ["data", "enter", "exit", "update", "declare", "host_data"].includes(words[0]);
  if (sentinel !== "omp") return false;
  // `declare target` without a list is for a procedure, which a port gives its own.
  if (words[0] === "declare") return words[1] === "target" && clauses.length > 0;
  return words[0] === "target" && (words[1] === "update" || words.includes("data"));
}

const INSTEAD: Readonly<Partial<Record<PortTarget, string>>> = {
  "openmp-target": "each loop copies its arrays to the device and back",
  hip: "arrays have to be in memory that the GPU can access",
  cuda: "arrays have to be in memory that the GPU can access",
};

/** The comment in place of a directive that a port leaves out; none if data has one memory, or the directive is another. */
function dataNote(directive: Directive, target: PortTarget): string[] {
  const instead = isOfData(directive) ? INSTEAD[target] : undefined;
  if (instead === undefined) return [];
  return [`! Left out by isoform, because ${instead}: $${directive.sentinel} ${directiveText(directive)}`];
}

/** The comment of a directive that is left out as one more in front. */
export function withDataNote<T extends Stmt | Declaration>(item: T, target: PortTarget): T {
  const directive = "directive" in item ? item.directive : undefined;
  const note = directive ? dataNote(directive, target) : [];
  return note.length > 0 ? { ...item, before: [...(item.before ?? []), ...note] } : item;
}
