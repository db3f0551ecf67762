/* Words of directives that a port leaves out, or gives another meaning, though its results stay the same. */

import { dataKind, isCompute } from "../data/items.js";
import { eachNode } from "../analyse/visit.js";
import type { Location } from "../../ir/types.js";
import type { CallStatement, Clause, Directive, SourceFile } from "../tree/index.js";
import { isOfOpenACC } from "./plain.js";
import type { PortTarget } from "./targets.js";

export interface PortNote {
  readonly at: Location;
  readonly construct: string;
  readonly note: string;
}

const WAITS = "left out: each construct waits until it is done";
const DEFAULT_DEVICE = "left out: the default device is used";

/** Notes on the directives of a file, in their order. */
export function notesOf(file: SourceFile, target: PortTarget): PortNote[] {
  const notes: PortNote[] = [];
  const add = (at: Location, construct: string, note: string): void => void notes.push({ at, construct, note });
  const hasDevice = target === "openmp-target" || target === "hip" || target === "cuda";
  const look = (directive: Directive): void => {
    const { sentinel, words, clauses, at } = directive;
    if (sentinel === "acc" && ["set", "init", "shutdown"].includes(words[0])) add(at, `acc ${words[0]}`, DEFAULT_DEVICE);
    if (sentinel === "acc" && words[0] === "wait") add(at, "acc wait", WAITS);
    for (const clause of clauses) {
      const note = noteOn(clause, directive, target);
      if (note !== undefined) add(clause.at, nameOf(clause), note);
    }
  };
  eachNode(file.units, (node) => {
    if (hasDevice && (node.kind === "directed" || node.kind === "other")) {
      const { directive } = node as { directive?: Directive };
      if (directive) look(directive);
    }
    const call = node.kind === "call" ? (node as CallStatement) : undefined;
    if (call?.procedure.kind === "name" && isOfOpenACC(call.procedure.name) === "left out")
      add(call.at, call.procedure.name, "left out: a port has no runtime of OpenACC");
  });
  return notes;
}

function noteOn(clause: Clause, directive: Directive, target: PortTarget): string | undefined {
  const { sentinel } = directive;
  if (dataKind(directive) === undefined && !isCompute(directive)) return undefined;
  if (clause.kind === "async") return WAITS;
  if (clause.kind === "other" && ["wait", "nowait", "depend"].includes(clause.name)) return WAITS;
  if (clause.kind === "other" && sentinel === "omp" && clause.name === "device") return DEFAULT_DEVICE;
  if (clause.kind !== "data") return undefined;
  if (clause.name === "present" && target === "openmp-target")
    return "becomes `map(tofrom: …)`, which copies an array that is absent, where OpenACC ends the program";
  if (clause.name === "attach" || clause.name === "detach") return "left out: loops take the arrays of components by their own addresses";
  return undefined;
}

const nameOf = (clause: Clause): string => (clause.kind === "other" || clause.kind === "data" ? clause.name : clause.kind);
