/* Variables that a construct has for itself: what statements in it assign is lost, and the variables keep their values from before. */

import type { Directed, Directive, Stmt } from "../tree/index.js";
import type { ParallelRegion } from "./regions.js";
import { sharingOf } from "./sharing.js";
import { findNamed, ownerOf, type UnitScope } from "./symbols.js";
import { bodiesOf, eachStatement } from "./visit.js";
import { assignedPlainly, writesOf } from "./writes.js";

/** Whether a directive of OpenACC or OpenMP makes scalars its own that no clause names. */
function isOfElements({ sentinel, words }: Directive): boolean {
  if (sentinel === "cuf") return false;
  if (sentinel === "acc") return words[0] === "parallel" || words[0] === "serial";
  return words[0] === "parallel" || (words[0] === "target" && words[1] !== "data");
}

const namedBy = ({ clauses }: Directive): Set<string> =>
  new Set(clauses.flatMap((clause) => (clause.kind === "private" || clause.kind === "firstprivate" ? clause.names : [])));

/**
 * Names of scalars, and of arrays in clauses, that a construct which is not a parallel loop has for itself and assigns.
 *
 * @param around directives around it, outermost first
 * @param regionOf parallel loops by their statements
 */
export function ownOf(
  scope: UnitScope,
  { directive, body }: Directed,
  around: readonly Directive[],
  regionOf: (s: Stmt) => ParallelRegion | undefined,
): string[] {
  const named = namedBy(directive);
  const isCompute = isOfElements(directive);
  if (!isCompute && named.size === 0) return [];
  const direct = assignedPlainly(body);
  // In OpenACC, results of loops belong to the construct.
  const given = new Set<string>();
  if (directive.sentinel === "acc")
    eachStatement(body, (s) => {
      const region = regionOf(s);
      for (const { name } of [...(region?.reductions ?? []), ...(region?.left ?? [])]) given.add(name);
    });
  // Loops that become kernels have arrays of their own.
  const leaves: Stmt[] = [];
  eachStatement(body, (s) => {
    if (regionOf(s)) return false;
    if (bodiesOf(s).length === 0) leaves.push(s);
    return true;
  });
  const outside = writesOf(scope, leaves);
  // Private variables of a region around are shared in an OpenMP region within.
  const regions = directive.sentinel === "acc" ? around : [];
  return [...writesOf(scope, body)].filter((name) => {
    const variable = findNamed(scope, name);
    if (!variable || variable.component || given.has(name)) return false;
    // Procedures assign the module's own.
    if (ownerOf(variable).unit.kind === "module" && !variable.dims && !direct.has(name)) return false;
    if (variable.dims && !outside.has(name)) return false;
    if (named.has(name)) return true;
    return isCompute && !variable.dims && !variable.derived && sharingOf(variable, name, regions, [directive]) === "private";
  });
}
