/*
 * Sharing of a scalar that iterations assign, as directives state it: private to each iteration, private to the whole construct, or
 * coming back with the assigned value.
 */

import type { Clause, DataClause, Directive, Stmt } from "../tree/index.js";
import { ownerOf, type Variable } from "./symbols.js";
import { eachStatement } from "./visit.js";

/**
 * `private`: what iterations assign is lost. `shared`: it comes back, and iterations that do not agree race. `last`: the last iteration's value comes
 * back. `ordered`: it comes back as from iterations in order. `kept`: it comes back in a memory that host and device share, and not otherwise.
 */
export type Sharing = "private" | "shared" | "last" | "ordered" | "kept";

/** Clauses of data by which a scalar comes back, and those by which the device keeps it. */
const COMES_BACK = /^(copy|copyout|pcopy|pcopyout|present|present_or_copy|present_or_copyout|deviceptr)$/;
const STAYS = /^(copyin|create|pcopyin|pcreate|present_or_copyin|present_or_create|no_create)$/;

/** Types of `map` that give nothing back. */
const ONE_WAY: readonly string[] = ["to", "alloc", "release", "delete"];

/** Names in the text of a clause, whatever part is named: `a, b(1:n)`, `j : 2`. */
export function listedNames(text: string): readonly string[] {
  let flat = text.toLowerCase().replace(/:(?![^()]*\)).*$/s, "");
  for (let inner = ""; inner !== flat; flat = flat.replace(/\([^()]*\)/g, "")) inner = flat;
  return flat.split(",").map((name) => name.trim());
}

/** Whether a data clause names a variable, or a part of it that is not a component. */
const namesWhole = ({ objects }: DataClause, name: string): boolean =>
  objects.some((object) => {
    const base = object.kind === "apply" ? object.base : object;
    return base.kind === "name" && base.name === name;
  });

/** Sharing of a variable by a data clause; undefined where the clause does not name it. */
function byClause(clause: Clause, name: string): Sharing | undefined {
  if (clause.kind !== "data" || !namesWhole(clause, name)) return undefined;
  if (clause.name === "map") return ONE_WAY.includes(clause.modifiers.at(-1)!) ? "kept" : "shared";
  return COMES_BACK.test(clause.name) ? "shared" : STAYS.test(clause.name) ? "kept" : undefined;
}

/** Sharing of a variable by a directive's data clauses; `shared` takes precedence over data kept on the device. */
function byData({ clauses }: Directive, name: string): Sharing | undefined {
  const said = clauses.map((clause) => byClause(clause, name));
  return said.includes("shared") ? "shared" : said.find((each) => each !== undefined);
}

/** Sharing by a directive's list of private or shared variables. */
function byList({ clauses }: Directive, name: string): Sharing | undefined {
  const named = clauses.filter((clause) => "names" in clause && clause.names.includes(name));
  const has = (...kinds: readonly Clause["kind"][]): boolean => named.some(({ kind }) => kinds.includes(kind));
  return has("lastprivate") ? "last" : has("private", "firstprivate") ? "private" : has("shared", "reduction") ? "shared" : undefined;
}

/** `defaultmap(tofrom)`, `defaultmap(tofrom: scalar)`. */
const mapsScalars = (clause: Clause): boolean =>
  clause.kind === "other" && clause.name === "defaultmap" && /^\W*(tofrom|from)\b\s*(:\s*scalar\b.*)?$/i.test(clause.text);

const isPrivateByDefault = (clause: Clause): boolean => clause.kind === "default" && clause.value.endsWith("private");

/** Whether a directive of OpenACC or CUDA runs what follows in many elements. */
const isOfElements = ({ sentinel, words }: Directive): boolean =>
  sentinel === "cuf" || ["parallel", "serial", "loop"].some((word) => words.includes(word));

const isTarget = ({ sentinel, words }: Directive): boolean => sentinel === "omp" && words[0] === "target" && words[1] !== "data";

/**
 * Sharing of a scalar that the iterations of a directed loop assign.
 *
 * @param around directives around the loop, outermost first
 * @param own directives of the loop itself
 */
export function sharingOf(variable: Variable, name: string, around: readonly Directive[], own: readonly Directive[]): Sharing {
  const inwards = [...around, ...own];
  const outwards = inwards.toReversed();
  const first = (of: (directive: Directive) => Sharing | undefined): Sharing | undefined => {
    for (const directive of outwards) {
      const said = of(directive);
      if (said) return said;
    }
    return undefined;
  };
  const listedAs = first((directive) => byList(directive, name));
  if (listedAs) return listedAs;
  if (isOfDevice(variable)) return "shared";
  if (inwards.some(({ sentinel }) => sentinel === "omp")) return ofOpenMP(own, around, name);
  const said = first((directive) => byData(directive, name));
  // Variables in the data region around a construct may come back by `update`.
  if (said) return said === "kept" && !own.some((directive) => byData(directive, name)) ? "shared" : said;
  if (inwards.some(({ sentinel, words }) => sentinel === "acc" && words[0] === "kernels")) return "ordered";
  return inwards.some(isOfElements) ? "private" : "shared";
}

/** Whether variables of loops keep their values after a directive; otherwise they are private. */
export const keepsIndex = ({ sentinel, words }: Directive): boolean =>
  sentinel === "cuf" || (sentinel === "omp" && ["loop", "simd"].includes(words.at(-1)!) && !words.includes("do"));

/** Whether a directive makes the variables of the loops after it private. */
export const hasOwnIndices = (directive: Directive): boolean =>
  !keepsIndex(directive) && ["do", "loop", "distribute", "kernels"].some((word) => directive.words.includes(word));

/** Whether a scalar is in the device's memory for good: by CUDA's attributes, or by `declare`. */
function isOfDevice(variable: Variable): boolean {
  if (["device", "managed"].some((attribute) => variable.attributes.has(attribute))) return true;
  return ownerOf(variable).unit.declarations.some(
    (each) =>
      each.kind === "other" &&
      each.directive?.words[0] === "declare" &&
      each.directive.clauses.some((clause) => clause.kind === "data" && namesWhole(clause, variable.name)),
  );
}

function ofOpenMP(own: readonly Directive[], around: readonly Directive[], name: string): Sharing {
  for (const directive of own.toReversed()) {
    const said = byData(directive, name);
    if (said) return said;
    if (isTarget(directive)) return directive.clauses.some(mapsScalars) ? "shared" : "private";
    if (directive.sentinel === "omp" && directive.clauses.some(isPrivateByDefault)) return "private";
  }
  // The clauses of a parallel region hold for the loops in it; what a target region around gives back is asked of it.
  return around.some(({ clauses }) => clauses.some(isPrivateByDefault)) ? "private" : "shared";
}

/** Whether statements assign a scalar by `atomic write` or in `critical` alone: iterations share it then, whatever the default. */
export function isAssignedExclusively(name: string, body: readonly Stmt[]): boolean {
  let [exclusively, otherwise] = [false, false];
  const assigns = (s: Stmt): boolean => s.kind === "assign" && s.target.kind === "name" && s.target.name === name;
  eachStatement(body, (s) => {
    if (s.kind === "directed" && (s.directive.words[0] === "critical" || s.directive.words.join(" ") === "atomic write")) {
      eachStatement(s.body, (inner) => void (exclusively ||= assigns(inner)));
      return false;
    }
    otherwise ||= assigns(s);
    return true;
  });
  return exclusively && !otherwise;
}
