/* Directives as Fortran: the text after the sentinel. */

import { unreachable } from "../../base/unreachable.js";
import type { Clause, Directive, LaunchDirective } from "../tree/index.js";
import { expressionText } from "./expressions.js";

export function directiveText({ sentinel, words, clauses, launch }: Directive): string {
  if (sentinel !== "cuf") return [words.join(" "), ...clauses.map(clauseText)].join(" ").replace(/ \(/, "(");
  const count = clauses.find((clause) => clause.kind === "collapse");
  const rest = clauses.filter((clause) => clause !== count).map((clause) => clauseText(clause).replace(/^reduction/, "reduce"));
  return [`${words.join(" ")}${count ? `(${count.count})` : ""}`, launch ? launchText(launch) : "<<<*,*>>>", ...rest].join(" ");
}

/** `<<<grid,block,stream=s>>>` */
export function launchText({ grid, block, shared, stream }: LaunchDirective): string {
  const sizes = [grid, block].map((part) => (part ? expressionText(part, true).replace(/^\[(.*)\]$/, "($1)") : "*"));
  const more = [shared && `shared=${expressionText(shared, true)}`, stream && `stream=${expressionText(stream, true)}`];
  return `<<<${[...sizes, ...more.filter((part) => part !== undefined)].join(",")}>>>`;
}

function clauseText(clause: Clause): string {
  switch (clause.kind) {
    case "collapse":
      return `collapse(${clause.count})`;
    case "reduction":
      return `reduction(${clause.op}:${clause.names.join(",")})`;
    case "private":
    case "firstprivate":
    case "lastprivate":
    case "shared":
      return `${clause.kind}(${clause.names.join(",")})`;
    case "default":
      return `default(${clause.value})`;
    case "async":
      return clause.queue ? `async(${expressionText(clause.queue, true)})` : "async";
    case "level":
      return clause.level;
    case "data": {
      const list = clause.objects.map((object) => expressionText(object, true)).join(",");
      return `${clause.name}(${clause.modifiers.length > 0 ? `${clause.modifiers.join(",")}:` : ""}${list})`;
    }
    case "condition":
      return `if(${clause.of === undefined ? "" : `${clause.of}:`}${expressionText(clause.value)})`;
    case "other":
      return clause.text === "" ? clause.name : `${clause.name}(${clause.text})`;
    default:
      return unreachable(clause);
  }
}
