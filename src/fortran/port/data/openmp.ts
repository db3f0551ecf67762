/* Data directives of OpenACC as directives of OpenMP; directives of OpenMP stay. */

import type { Clause, DataClause, Declaration, Designator, Directed, Directive, Stmt, Unit } from "../../tree/index.js";
import { eachStatement, rootOf } from "../../analyse/visit.js";
import { find, namedVariable, type UnitScope } from "../../analyse/symbols.js";
import type { Problems } from "../../errors.js";
import { unreachable } from "../../../base/unreachable.js";
import { expressionText } from "../../print/expressions.js";
import { arraysOf, declaredIn, type DataPlace } from "../../data/arrays.js";
import { Associates } from "./associates.js";
import { dataItems, dataKind, type DataItem } from "../../data/items.js";
import { byRows, isAdjacent } from "./sections.js";

const WORDS = {
  region: ["target", "data"],
  enter: ["target", "enter", "data"],
  exit: ["target", "exit", "data"],
  update: ["target", "update"],
  addresses: ["target", "data"],
} as const;

/** Loops wait until they are done, and run on the default device: so do the copies. */
const LEFT_OUT: readonly string[] = ["nowait", "depend", "device"];

/** A data directive, with the statements that it governs, as OpenMP has it. */
export function openmpData(s: Directed, body: readonly Stmt[], place: DataPlace): Stmt[] {
  const { directive, at } = s;
  const kind = dataKind(directive)!;
  if (directive.sentinel === "omp") {
    const clauses = directive.clauses.filter((clause) => clause.kind !== "other" || !LEFT_OUT.includes(clause.name));
    return [{ ...s, before: undefined, body, directive: { ...directive, clauses } }];
  }
  const items = dataItems(directive, place.problems);
  refuseUnkept(directive, kind, place.problems);
  const conditions = directive.clauses.filter((clause) => clause.kind === "condition");
  const names = new Associates(place.scope, [s, body]);
  const made = (of: keyof typeof WORDS, clauses: readonly Clause[]): Directed[] =>
    clauses.length === 0
      ? []
      : [
          {
            kind: "directed",
            directive: { sentinel: "omp", words: WORDS[of], clauses: [...clauses, ...conditions], at },
            body: of === "region" || of === "addresses" ? body : [],
            closed: of === "region" || of === "addresses",
            at,
          },
        ];
  const mapped = (type: (item: DataItem) => string | undefined): Clause[] => mapClauses(items, type, names, place);
  switch (kind) {
    case "declare":
      return [];
    case "region": {
      const clauses = mapped(regionType);
      return clauses.length > 0 ? names.around(made("region", clauses), at) : [...body];
    }
    case "enter":
      return names.around(made("enter", mapped(enterType)), at);
    case "exit": {
      // Copies first: `delete` does not.
      const last = items.filter(({ exit, finalize }) => exit === "copyout" && finalize);
      const before = listClauses(last, () => "from", names, place);
      return names.around([...made("update", before), ...made("exit", mapped(exitType))], at);
    }
    case "update":
      return names.around(
        updates(listClauses(items, updateWord, names, place), place, (clauses) => made("update", clauses)),
        at,
      );
    case "addresses": {
      const addressed = listClauses(items, () => "use_device_addr", names, place);
      return names.around(made("addresses", addressed), at);
    }
    default:
      return unreachable(kind);
  }
}

/** One directive, or several where a variable occurs twice, or elements are not adjacent. */
function updates(clauses: readonly DataClause[], { scope }: DataPlace, made: (clauses: readonly DataClause[]) => Stmt[]): Stmt[] {
  const objects = clauses.flatMap((clause) => clause.objects);
  if (objects.every(isAdjacent) && new Set(objects.map(rootOf)).size === objects.length) return made(clauses);
  return clauses.flatMap((clause) =>
    clause.objects.flatMap((object) => byRows({ ...clause, objects: [object] }, scope, (of) => made([of]))),
  );
}

/** An absent array, which OpenACC refuses when it runs, is copied: gfortran has no `map(present, …)`. */
export const regionType = ({ enter, exit }: DataItem): string | undefined => {
  if (enter === "no_create" || enter === undefined) return undefined;
  if (enter === "present") return "tofrom";
  return enter === "copyin" ? (exit === "copyout" ? "tofrom" : "to") : exit === "copyout" ? "from" : "alloc";
};
const enterType = ({ enter }: DataItem): string | undefined => (enter === "copyin" ? "to" : enter === "create" ? "alloc" : undefined);
const exitType = ({ exit, finalize }: DataItem): string | undefined =>
  exit === undefined ? undefined : finalize ? "delete" : exit === "copyout" ? "from" : "release";
const updateWord = ({ update }: DataItem): string | undefined => (update === "self" ? "from" : update === "device" ? "to" : undefined);

function refuseUnkept({ clauses, at }: Directive, kind: string, problems: Problems): void {
  const has = (name: string): boolean => clauses.some((clause) => clause.kind === "other" && clause.name === name);
  if (kind === "addresses" && has("if_present"))
    problems.add(at, "host_data if_present", "OpenMP has no addresses of arrays that may be absent", "write `if` with a condition");
  if (clauses.some((clause) => clause.kind === "other" && clause.name === "if"))
    problems.add(at, "if", "its condition is not an expression", "assign it to a variable");
}

/** Objects as OpenMP maps them: arrays of an object one by one, scalars as they are. */
function objectsOf(object: Designator, names: Associates, place: DataPlace): Designator[] {
  const whole = object.kind === "apply" ? object.base : object;
  const variable = namedVariable(place.scope, whole);
  const isScalar = variable !== undefined && !variable.dims && variable.derived === undefined;
  if (isScalar) return whole.kind === "name" ? [object] : [];
  return arraysOf(object, place).map((array) => {
    const name = names.named(array.whole);
    return array.section ? { kind: "apply", base: name, args: array.section, at: array.at } : name;
  });
}

/** Refuses sections that OpenMP cannot map. */
export function checkAdjacent(objects: readonly Designator[], problems: Problems): void {
  for (const object of objects)
    if (!isAdjacent(object))
      problems.add(object.at, expressionText(object), "OpenMP maps adjacent elements only", "name whole columns, as in `a(:, 2:n)`");
}

function grouped(
  items: readonly DataItem[],
  word: (item: DataItem) => string | undefined,
  names: Associates,
  place: DataPlace,
): Map<string, { readonly objects: Designator[]; readonly at: DataItem["at"] }> {
  const found = new Map<string, { readonly objects: Designator[]; readonly at: DataItem["at"] }>();
  for (const item of items) {
    const of = word(item);
    if (of === undefined) continue;
    const objects = objectsOf(item.object, names, place);
    if (objects.length === 0) continue;
    const key = item.always ? `always,${of}` : of;
    found.set(key, { objects: [...(found.get(key)?.objects ?? []), ...objects], at: item.at });
  }
  return found;
}

const mapClauses = (...of: Parameters<typeof grouped>): DataClause[] =>
  [...grouped(...of)].map(([type, { objects, at }]) => {
    checkAdjacent(objects, of[3].problems);
    return { kind: "data", name: "map", modifiers: type.split(","), objects, at };
  });

const listClauses = (...of: Parameters<typeof grouped>): DataClause[] =>
  [...grouped(...of)].map(([name, { objects, at }]) => ({ kind: "data", name, modifiers: [], objects, at }));

/** A construct that runs on the device, as a region with the data of its clauses; scalars are each loop's matter. */
export function withDataOf(s: Directed, body: readonly Stmt[], place: DataPlace): Stmt[] {
  const arrays = dataItems(s.directive, place.problems).filter(({ object }) => !isScalar(place.scope, object));
  const names = new Associates(place.scope, [s, body]);
  const clauses = mapClauses(arrays, regionType, names, place);
  if (clauses.length === 0) return [...body];
  const { at } = s;
  const conditions = s.directive.clauses.filter((clause) => clause.kind === "condition");
  const directive: Directive = { sentinel: "omp", words: WORDS.region, clauses: [...clauses, ...conditions], at };
  return names.around([{ kind: "directed", directive, body, closed: true, at }], at);
}

const isScalar = (scope: UnitScope, object: Designator): boolean => {
  const variable = namedVariable(scope, object.kind === "apply" ? object.base : object);
  return variable !== undefined && !variable.dims && variable.derived === undefined;
};

/**
 * Declarations and statements of a unit whose `declare` directives are OpenMP's: variables that exist all the time in `declare target`, a procedure's own
 * in a region around its statements.
 */
export function withDeclaredData<T extends Unit>(unit: T, place: DataPlace): T {
  const found = unit.declarations.flatMap((d) =>
    d.kind === "other" && d.directive && dataKind(d.directive) === "declare" && d.directive.sentinel === "acc" ? [d.directive] : [],
  );
  if (found.length === 0) return unit;
  const items = found.flatMap((directive) => dataItems(directive, place.problems));
  const isLasting = (item: DataItem): boolean => {
    const variable = item.object.kind === "name" ? find(place.scope, item.object.name) : undefined;
    return unit.kind !== "procedure" || variable?.attributes.has("save") === true;
  };
  const lasting = items.filter(isLasting);
  const declared = lasting.flatMap((item) => declareTarget(item, place));
  const own = items.filter((item) => !isLasting(item));
  const declarations = [...unit.declarations, ...declared];
  if (unit.kind === "module" || own.length === 0) return { ...unit, declarations };
  refuseReturns(unit.body, own[0], place.problems);
  const names = new Associates(place.scope, unit.body);
  const clauses = mapClauses(own, regionType, names, place);
  const { at } = unit;
  const directive: Directive = { sentinel: "omp", words: WORDS.region, clauses, at };
  const body = clauses.length === 0 ? unit.body : names.around([{ kind: "directed", directive, body: unit.body, closed: true, at }], at);
  return { ...unit, declarations, body };
}

/** `declare target(u)`; arrays that are allocated are mapped there. */
function declareTarget({ object, link, at }: DataItem, { scope, problems }: DataPlace): Declaration[] {
  const variable = object.kind === "name" ? find(scope, object.name) : undefined;
  if (!variable || object.kind !== "name") {
    problems.add(at, "declare", "its list is not one of variables", "name each variable");
    return [];
  }
  if (variable.attributes.has("allocatable")) return [];
  if (variable.attributes.has("pointer")) {
    problems.add(at, `declare ${object.name}`, "pointers are not supported", "make it allocatable, or write enter data");
    return [];
  }
  const clause: Clause = { kind: "data", name: link ? "link" : "", modifiers: [], objects: [object], at };
  const directive: Directive = { sentinel: "omp", words: ["declare", "target"], clauses: [clause], at };
  return [{ kind: "other", word: "declare target", text: "", directive, at }];
}

export function refuseReturns(body: readonly Stmt[], { at }: DataItem, problems: Problems): void {
  eachStatement(body, (s) => {
    if (s.kind === "return")
      problems.add(at, "declare", "a `return` would leave its data on the device", "write `!$acc data` around the statements before it");
  });
}

/** `allocate` and `deallocate` of arrays that `declare` has on the device, with directives that map them there and remove them. */
export function withAllocated(s: Stmt, place: DataPlace): Stmt[] {
  if (s.kind !== "allocate" && s.kind !== "deallocate") return [s];
  const arrays = s.kind === "allocate" ? s.arrays.map(({ target }) => target) : s.arrays;
  const { at } = s;
  const directed = (words: Directive["words"], type: string, objects: readonly Designator[]): Stmt[] => {
    const clause: Clause = { kind: "data", name: "map", modifiers: [type], objects, at };
    return objects.length === 0
      ? []
      : [{ kind: "directed", directive: { sentinel: "omp", words, clauses: [clause], at }, body: [], closed: false, at }];
  };
  const found = declaredIn(arrays, place).map(({ whole }) => whole);
  return s.kind === "allocate" ? [s, ...directed(WORDS.enter, "alloc", found)] : [...directed(WORDS.exit, "delete", found), s];
}
