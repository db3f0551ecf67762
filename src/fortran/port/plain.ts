/* Fortran without CUDA: attributes, kinds, launches and calls of its library. */

import { mapStatements, namesInTree } from "../analyse/visit.js";
import { expressionsOf } from "../analyse/walk.js";
import { isStreamKind } from "../analyse/symbols.js";
import type { Problems } from "../errors.js";
import type { Declaration, Directive, Module, Procedure, MainProgram, SourceFile, Stmt, Unit, Use } from "../tree/index.js";
import { dataKind } from "../data/items.js";
import type { PortTarget } from "./targets.js";

const DEVICE_ATTRIBUTES: readonly string[] = ["device", "managed", "constant", "pinned", "shared", "texture"];
const MODULES: readonly string[] = ["cudafor", "cudadevice", "cublas", "openacc"];
/** Calls that mean nothing on the host. */
const SYNCHRONISATION: readonly string[] = ["cudadevicesynchronize", "cudastreamsynchronize", "cudagetlasterror", "cudasetdevice"];
export const isSynchronisation = (name: string): boolean => SYNCHRONISATION.includes(name);

/** The file for a compiler of plain Fortran, its parallel loops still after their directives. */
export const plain = (file: SourceFile, target: PortTarget, problems: Problems): SourceFile => ({
  ...file,
  units: file.units.map((unit) => plainUnit(unit, target, problems) as Unit),
});

function plainUnit(unit: Unit, target: PortTarget, problems: Problems): Module | Procedure | MainProgram {
  const { made: declarations, left } = kept(unit.declarations, (d) => plainDeclaration(d, target));
  const common = {
    uses: kept(unit.uses, (use) => (isCudas(use) ? undefined : use)).made,
    declarations,
    procedures: unit.procedures.map((procedure) => plainUnit(procedure, target, problems) as Procedure),
  };
  if (unit.kind === "module") {
    const place = unit.procedures.length > 0 || unit.beforeContains ? "beforeContains" : "beforeEnd";
    return { ...unit, ...common, ...(left.length > 0 && { [place]: [...left, ...(unit[place] ?? [])] }) };
  }
  const comments: Stmt[] = left.length > 0 ? [{ kind: "comment", before: left, at: unit.at }] : [];
  const body = [...comments, ...plainBody(unit.body, problems)];
  if (unit.kind === "program") return { ...unit, ...common, body };
  return { ...unit, ...common, body, attributes: ["host"], launchBounds: undefined };
}

const isCudas = ({ module, cudaOnly }: Use): boolean => cudaOnly === true || MODULES.includes(module);

function plainDeclaration(d: Declaration, target: PortTarget): Declaration | undefined {
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
      return d.directive && !(target === "openmp-target" && staysInOpenMP(d.directive)) ? undefined : d;
    // Any other declaration has nothing of CUDA.
    default:
      return d;
  }
}

const staysInOpenMP = (directive: Directive): boolean => directive.sentinel === "omp" && dataKind(directive) === "declare";

/** Statements that `change` keeps; comments before dropped ones move to the next statement, or are `left` after the last. */
function kept<T extends { readonly before?: readonly string[] }>(
  items: readonly T[],
  change: (item: T) => T | undefined,
): { made: T[]; left: readonly string[] } {
  const made: T[] = [];
  let before: readonly string[] = [];
  for (const item of items) {
    const changed = change(item);
    const comments = [...before, ...(item.before ?? [])];
    before = changed ? [] : comments.filter((line) => line !== "");
    if (changed) made.push(comments.length > 0 ? { ...changed, before: comments } : changed);
  }
  return { made, left: before };
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
    if (name !== undefined && isOfOpenACC(name) === "left out") return comment;
    refuseOpenACC(s, problems);
    if (name !== undefined && /^cuda[a-z]/.test(name))
      problems.add(
        s.at,
        name,
        "is a call of the CUDA library, which has no counterpart here",
        "keep such calls in a separate file, or inside `#ifdef`",
      );
    if (s.kind === "call" && s.launch) return [{ ...s, launch: undefined }];
    return [s];
  });
}

/** Functions that ports leave out, and those that they cannot, as their results count; undefined of other names. */
export const isOfOpenACC = (name: string): "left out" | "refused" | undefined =>
  /^acc_(set_device_num|set_device_type|set_default_async|init\w*|shutdown\w*|wait\w*)$/.test(name)
    ? "left out"
    : /^acc_(get|async_test|on_device|malloc|free|copyin|create|copyout|delete|update|is_present|map_data|unmap_data|memcpy|attach|detach|hostptr|deviceptr|p?present_or)/.test(
          name,
        )
      ? "refused"
      : undefined;

function refuseOpenACC(s: Stmt, problems: Problems): void {
  const names = namesInTree(s.kind === "call" ? [s.procedure, s.args] : expressionsOf(s));
  for (const name of names)
    if (isOfOpenACC(name) === "refused")
      problems.add(
        s.at,
        name,
        "is a function of OpenACC's runtime, which a port does not have",
        "write directives such as `!$acc enter data` or `!$acc update` instead, or keep the call inside `#ifdef _OPENACC`",
      );
}

const called = (e: Extract<Stmt, { kind: "assign" }>["value"]): string | undefined =>
  e.kind === "apply" ? called(e.base) : e.kind === "name" ? e.name : undefined;
