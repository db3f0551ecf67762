/* Fortran without CUDA: attributes, kinds, launches and calls of its library. */

import { mapStatements } from "../analyse/visit.js";
import { isStreamKind } from "../analyse/symbols.js";
import type { Problems } from "../errors.js";
import type { Declaration, Module, Procedure, Program, SourceFile, Stmt, Unit, Use } from "../tree/index.js";

const DEVICE_ATTRIBUTES: readonly string[] = ["device", "managed", "constant", "pinned", "shared", "texture"];
const MODULES: readonly string[] = ["cudafor", "cudadevice", "cublas", "openacc"];
/** Calls that mean nothing on the host. */
const SYNCHRONISATION: readonly string[] = ["cudadevicesynchronize", "cudastreamsynchronize", "cudagetlasterror", "cudasetdevice"];
export const isSynchronisation = (name: string): boolean => SYNCHRONISATION.includes(name);

/** The file for a compiler of plain Fortran, its parallel loops still behind their directives. */
export const plain = (file: SourceFile, problems: Problems): SourceFile => ({
  ...file,
  units: file.units.map((unit) => plainUnit(unit, problems) as Unit),
});

function plainUnit(unit: Unit, problems: Problems): Module | Procedure | Program {
  const common = {
    uses: kept(unit.uses, (use) => (isCudas(use) ? undefined : use)),
    declarations: kept(unit.declarations, plainDeclaration),
    procedures: unit.procedures.map((procedure) => plainUnit(procedure, problems) as Procedure),
  };
  if (unit.kind === "module") return { ...unit, ...common };
  const body = plainBody(unit.body, problems);
  if (unit.kind === "program") return { ...unit, ...common, body };
  return { ...unit, ...common, body, attributes: ["host"], launchBounds: undefined };
}

const isCudas = ({ module, cudaOnly }: Use): boolean => cudaOnly === true || MODULES.includes(module);

function plainDeclaration(d: Declaration): Declaration | undefined {
  switch (d.kind) {
    case "variables": {
      if (d.cudaOnly || d.type.derived === "dim3") return undefined;
      const attributes = d.attributes.filter((attribute) => !DEVICE_ATTRIBUTES.includes(attribute));
      const isStream = isStreamKind(d.type);
      return { ...d, attributes, ...(isStream && { type: { ...d.type, kindOf: undefined, text: "integer" } }) };
    }
    case "attributes":
      return d.cudaOnly || DEVICE_ATTRIBUTES.includes(d.attribute) ? undefined : d;
    case "other":
      return d.directive ? undefined : d;
    // Any other declaration has nothing of CUDA.
    default:
      return d;
  }
}

/** What `change` keeps; comments in front of the rest move on to what follows. */
function kept<T extends { readonly before?: readonly string[] }>(items: readonly T[], change: (item: T) => T | undefined): T[] {
  const made: T[] = [];
  let before: readonly string[] = [];
  for (const item of items) {
    const changed = change(item);
    const comments = [...before, ...(item.before ?? [])];
    before = changed ? [] : comments.filter((line) => line !== "");
    if (changed) made.push(comments.length > 0 ? { ...changed, before: comments } : changed);
  }
  return made;
}

function plainBody(body: readonly Stmt[], problems: Problems): Stmt[] {
  return mapStatements(body, (s): Stmt[] => {
    const comment: Stmt[] = s.before?.some((line) => line !== "") ? [{ kind: "comment", before: s.before, at: s.at }] : [];
    if ("cudaOnly" in s && s.cudaOnly) return comment;
    if (s.kind === "assign" && s.value.kind === "apply" && s.value.base.kind === "name") {
      const { name } = s.value.base;
      if (name === "dim3" || isSynchronisation(name)) return comment;
    }
    const name = s.kind === "assign" ? called(s.value) : s.kind === "call" ? called(s.procedure) : undefined;
    if (name !== undefined && isSynchronisation(name)) return comment;
    if (name !== undefined && /^cuda[a-z]/.test(name))
      problems.add(
        s.at,
        name,
        "is a call of CUDA's library, which has no counterpart here",
        "keep such calls in a file of their own, or behind `#ifdef`",
      );
    if (s.kind === "call" && s.launch) return [{ ...s, launch: undefined }];
    return [s];
  });
}

const called = (e: Extract<Stmt, { kind: "assign" }>["value"]): string | undefined =>
  e.kind === "apply" ? called(e.base) : e.kind === "name" ? e.name : undefined;
