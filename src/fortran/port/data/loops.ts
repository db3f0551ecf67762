/* Data of loops that run on a device: how each array gets there and back, by the clauses of the loop and by the regions around it. */

import type { ParallelRegion } from "../../analyse/regions.js";
import { find, namedVariable, type UnitScope } from "../../analyse/symbols.js";
import { eachNode, namesInTree } from "../../analyse/visit.js";
import { variableName } from "../../analyse/walk.js";
import { writesOf } from "../../analyse/writes.js";
import { expressionText } from "../../print/expressions.js";
import type { Clause, ComponentRef, Designator, Directed, Directive, Expr, Name, Stmt } from "../../tree/index.js";
import type { DataPlace } from "../../data/arrays.js";
import { Associates } from "./associates.js";
import { conditionsOf, dataItems, dataKind, isCompute, type DataItem } from "../../data/items.js";
import { checkAdjacent, regionType } from "./openmp.js";

/** Directives that say where the data of a loop are. */
export interface LoopDirectives {
  /** Clauses of the loop's own directives. */
  readonly own: readonly Clause[];
  /** Directives around it, outermost first. */
  readonly around: readonly Directive[];
}

const wholeText = (object: Designator): string => expressionText(object.kind === "apply" ? object.base : object);

/** Item for an array in the clauses of a loop, or else of the innermost region around that names it. */
export function itemFor(
  name: string,
  { own, around }: LoopDirectives,
  { problems }: DataPlace,
): { readonly item: DataItem; readonly isOwn: boolean } | undefined {
  const named = (clauses: readonly Clause[]): DataItem | undefined =>
    dataItems({ clauses: clauses.filter(({ kind }) => kind === "data") }, problems).find(
      ({ object, enter, given }) => (enter || given) && wholeText(object) === name,
    );
  const item = named(own);
  if (item) return { item, isOwn: true };
  for (const directive of around.toReversed()) {
    const kind = dataKind(directive);
    const found = kind === "region" || kind === "declare" || isCompute(directive) ? named(directive.clauses) : undefined;
    if (found) return { item: found, isOwn: false };
  }
  return undefined;
}

/**
 * Clauses for arrays and scalars that iterations of a loop share. A region around holds an array already, so that `tofrom` copies nothing.
 *
 * @param names arrays and scalars
 * @param scalars the names of scalars among them
 */
export function mapsOfLoop(
  names: readonly string[],
  scalars: ReadonlySet<string>,
  { directives, associates, place, at }: { directives: LoopDirectives; associates: Associates; place: DataPlace; at: Clause["at"] },
): Clause[] {
  const types = new Map<string, Designator[]>();
  const given: Designator[] = [];
  for (const name of names) {
    const found = itemFor(associates.meaning(name), directives, place);
    const plain: Name = { kind: "name", name, at };
    const item = found?.item;
    const object: Designator = item?.object.kind === "apply" ? { ...item.object, base: plain } : plain;
    if (found?.isOwn) checkAdjacent([object], place.problems);
    if (item?.given) given.push(plain);
    else {
      const type = found?.isOwn && !scalars.has(name) ? (regionType(found.item) ?? "tofrom") : "tofrom";
      const key = item?.always && found?.isOwn ? `always,${type}` : type;
      types.set(key, [...(types.get(key) ?? []), object]);
    }
  }
  const clause = (name: string, modifiers: readonly string[], objects: readonly Designator[]): Clause => ({
    kind: "data",
    name,
    modifiers,
    objects,
    at,
  });
  return [
    ...(given.length > 0 ? [clause("has_device_addr", [], given)] : []),
    ...[...types].map(([type, objects]) => clause("map", type.split(","), objects)),
  ];
}

/** Scalars that data regions of OpenACC around a loop have on the device, where the loop reads them. */
export function scalarsOfRegions(used: unknown, around: readonly Directive[], { scope, problems }: DataPlace): string[] {
  const names = namesInTree(used);
  return around.flatMap((directive) => {
    if (directive.sentinel !== "acc" || dataKind(directive) !== "region") return [];
    return dataItems(directive, problems).flatMap(({ object }) => {
      const variable = object.kind === "name" ? find(scope, object.name) : undefined;
      return object.kind === "name" && variable && !variable.dims && variable.derived === undefined && names.has(object.name)
        ? [object.name]
        : [];
    });
  });
}

/** Components that some code uses, of objects that it uses only so: by names of their own. */
export function componentsApart(
  tree: unknown,
  scope: UnitScope,
  region: Pick<ParallelRegion, "written" | "privates" | "left" | "reductions"> | undefined,
): Associates {
  const parts = new Map<string, (Name | ComponentRef)[]>();
  const whole = new Set<string>();
  eachNode(tree, (node) => {
    const e = node as unknown as Expr;
    if (e.kind === "part") {
      const root = rootOfPart(e);
      const variable = root === undefined ? undefined : namedVariable(scope, e);
      if (root !== undefined && variable && variable.derived === undefined) {
        parts.set(root, [...(parts.get(root) ?? []), e]);
        return false;
      }
    }
    if (e.kind === "name" && find(scope, e.name)?.derived !== undefined) whole.add(e.name);
    return true;
  });
  const associates = new Associates(scope, tree);
  const results = new Set([...(region?.left ?? []), ...(region?.reductions ?? [])].map(({ name }) => name));
  for (const [root, used] of parts) {
    const isOwn = (e: Name | ComponentRef): boolean =>
      results.has(variableName(e)) || (region?.written.has(variableName(e)) === true && !namedVariable(scope, e)?.dims);
    const hasArray = used.some((e) => namedVariable(scope, e)?.dims);
    if (whole.has(root) || region?.privates.has(root) || !hasArray || used.some(isOwn)) continue;
    for (const e of used) associates.named(e);
  }
  return associates;
}

const rootOfPart = (e: Expr): string | undefined => (e.kind === "name" ? e.name : e.kind === "part" ? rootOfPart(e.base) : undefined);

/** A statement that a construct runs on the device, and that no loop there holds: within `target`; one without arrays runs on the host. */
export function onDevice(s: Stmt, around: readonly Directive[], place: DataPlace): Stmt[] {
  const { scope } = place;
  const associates = componentsApart([s], scope, undefined);
  const body = associates.within([s]);
  const isArray = (name: string): boolean => {
    const variable = find(scope, name);
    return variable !== undefined && !variable.value && (variable.dims !== undefined || variable.derived !== undefined);
  };
  const components = [...namesInTree(body)].filter((name) => associates.meaning(name) !== name);
  const arrays = [...[...namesInTree(body)].filter(isArray), ...components];
  if (arrays.length === 0) return [s];
  const scalars = new Set([...writesOf(scope, [s])].filter((name) => find(scope, name) && !isArray(name)));
  const { at, before } = s;
  const clauses = mapsOfLoop([...arrays, ...scalars], scalars, { directives: { own: [], around }, associates, place, at });
  const conditions = conditionsOf(around.filter(isCompute).flatMap((each) => each.clauses));
  const directive: Directive = { sentinel: "omp", words: ["target"], clauses: [...clauses, ...conditions], at };
  const made: Directed = {
    kind: "directed",
    directive,
    body: [{ ...body[0], before: undefined }],
    closed: true,
    at,
    ...(before && { before }),
  };
  return associates.around([made], at);
}

/** Whether a statement holds a construct of directives, or a loop that becomes one. */
export function holdsConstruct(s: Stmt): boolean {
  let found = false;
  eachNode(s, (node) => {
    found ||= node.kind === "directed" || node.kind === "do-concurrent";
    return !found;
  });
  return found;
}
