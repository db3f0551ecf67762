/*
 * Ports of Fortran to Fortran: without CUDA for one core (`cpu`), with OpenMP for all cores (`openmp`), with OpenMP for a GPU (`openmp-target`).
 */

import { orderOfForall } from "../analyse/forall.js";
import { isOpen, isSequential, regionsOf, type ParallelRegion } from "../analyse/regions.js";
import type { Procedures } from "../analyse/flow.js";
import { proceduresSeen, readSymbols, type UnitScope, type World } from "../analyse/symbols.js";
import { bodiesOf, mapStatements, withBodies } from "../analyse/visit.js";
import { assignedByCalls } from "../analyse/writes.js";
import type { Location } from "../../ir/types.js";
import { Problems } from "../errors.js";
import { fortranText } from "../print/units.js";
import type { Clause, Directed, Directive, DoConcurrent, Procedure, SourceFile, Stmt, Unit } from "../tree/index.js";
import { keepsData, type DataPlace } from "../data/arrays.js";
import { oldScalars } from "../data/scalars.js";
import { asLines } from "./lines.js";
import { dataKind, isCompute, isHosts } from "../data/items.js";
import { holdsConstruct, onDevice } from "./data/loops.js";
import { clausesOfNest, declaredAround, nestApart } from "./data/offload.js";
import { transfersIn, type PortTransfer } from "./data/moves.js";
import { openmpData, withAllocated, withDataOf, withDeclaredData } from "./data/openmp.js";
import { keptIn, withKept, type KeptNames } from "./kept.js";
import { threadsAsLoops } from "./kernels.js";
import { variablesOf, type PortVariable } from "./names.js";
import { notesOf, type PortNote } from "./notes.js";
import { isOfLoop, nestOf } from "./nest-of.js";
import { arranged, isProved, loopsOf, type NestSettings } from "./nests.js";
import { addCalled, dataOf, parallelLoop, targetLoop, withAtomicWrites } from "./openmp.js";
import { unitKey, sourceKey } from "../tree/keys.js";
import { plain } from "./plain.js";
import { renamed, renamer } from "./rename.js";
import type { FortranTarget } from "./targets.js";

export type { FortranTarget } from "./targets.js";

interface PortSettings {
  /** Ends of names and what they become: `{ _gpu: "_cpu" }`. */
  readonly rename?: Readonly<Record<string, string>>;
  /** Settings of a loop by name: `update_cuf`, or `limiter_cuf#2` if a procedure has several. */
  readonly loop?: (name: string) => NestSettings;
}

/** One parallel loop of a port. */
export interface PortedLoop {
  readonly name: string;
  readonly at: { readonly file: string; readonly line: number };
  /** Variables, outermost first; the first `parallel` of them run in parallel. */
  readonly axes: readonly string[];
  readonly parallel: number;
  readonly reductions: readonly string[];
  /** Scalars that an iteration reads before it writes them. */
  readonly carried: readonly string[];
}

interface PortText {
  readonly text: string;
  readonly loops: readonly PortedLoop[];
  readonly notes: readonly PortNote[];
  readonly transfers: readonly PortTransfer[];
}

/**
 * The file for another compiler. `others`: files that are read along, for what their procedures write. What cannot be ported is added to
 * `problems`, each thing at its place.
 */
export function port(
  file: SourceFile,
  target: FortranTarget,
  { rename, loop: settingsOf }: PortSettings,
  problems: Problems,
  others: readonly SourceFile[] = [],
): PortText {
  // Other faults of names are reported for kernels only.
  const world = readSymbols([file, ...others], {}, new Problems());
  const scopes = new Map(world.scopes.map((scope) => [unitKey(scope.unit), scope]));
  // Serial loops need nothing that clauses leave open.
  const ofUnits = regionsIn(file, world, target === "cpu" ? new Problems() : problems);
  const regions = target === "cpu" ? undefined : byPlace([...ofUnits.values()].flat());
  const loops: PortedLoop[] = [];
  const notes = notesOf(file, target);
  const called = new Set<Procedure>();
  const isOffload = target === "openmp-target";
  const hasData = isOffload && keepsData([file, ...others]);
  if (hasData)
    for (const [scope, found] of ofUnits)
      problems.found.push(...oldScalars(scope, found).filter(({ construct }) => construct.includes("%")));
  const ported = { ...file, units: file.units.map((unit) => portUnit(unit, new Map())) };
  const onHost = plain(ported, target, problems);
  for (const { unit } of world.scopes) if (unit.kind === "procedure" && unit.attributes.includes("device")) called.add(unit);
  const plainly = isOffload ? withDeclareTarget(onHost, new Set([...called].map(unitKey))) : onHost;
  const made = rename ? renamed(plainly, renamer(rename)) : plainly;
  return { text: fortranText(made), loops, notes, transfers: isOffload ? transfersIn(made) : [] };

  function portUnit<T extends Unit>(unit: T, outer: ReadonlyMap<string, PortVariable>): T {
    const variables = variablesOf(unit, outer);
    const inner = { procedures: unit.procedures.map((procedure) => portUnit(procedure, variables)) };
    const scope = scopes.get(unitKey(unit));
    const declared = <U extends Unit>(made: U): U => (hasData && scope ? withDeclaredData(made, { scope, problems }) : made);
    if (unit.kind === "module") return declared({ ...unit, ...inner });
    const kept = scope && keptIn(scope, ofUnits.get(scope) ?? [], target === "cpu");
    const names: Names = {
      variables,
      procedures: scope ? proceduresSeen(scope) : NO_PROCEDURES,
      scope,
      kept,
      around: declaredAround(unit),
    };
    const { body } = unit.kind === "procedure" ? threadsAsLoops(unit, { scope, ...names }, problems) : unit;
    const directed =
      target === "cpu" || isPure(unit)
        ? body
        : mapStatements(body, (s) => [s.kind === "do-concurrent" && !orderOfForall(s) ? concurrentLoops(s) : s]);
    return declared({ ...unit, ...inner, body: portBody(directed, loopNames(unit.name, directed), names) });
  }

  function portBody(body: readonly Stmt[], ofLoops: ReadonlyMap<Stmt, string>, names: Names): Stmt[] {
    return body.flatMap((s): Stmt[] => {
      if (s.kind !== "directed") return portPlain(s, ofLoops, names);
      const name = ofLoops.get(s);
      const made = name === undefined ? portBody(s.body, ofLoops, within(s, names)) : portNest(s, name, names);
      const inner = names.scope ? withKept(made, names.kept?.get(sourceKey(s.at)) ?? [], names.scope, problems) : made;
      const whole = name === undefined && hasData && names.scope ? withData(s, inner, { scope: names.scope, problems }) : inner;
      return whole.length > 0 ? withBefore(s.before ?? [], whole) : s.before ? [{ kind: "comment", before: s.before, at: s.at }] : [];
    });
  }

  function within({ directive }: Directed, names: Names): Names {
    return hasData ? { ...names, around: [...names.around, directive] } : names;
  }

  /** A statement that is not a directive. */
  function portPlain(s: Stmt, ofLoops: ReadonlyMap<Stmt, string>, names: Names): Stmt[] {
    const { scope, around } = names;
    if (hasData && scope && around.some(isCompute) && !holdsConstruct(s)) {
      addCalled([s], names.procedures, called);
      return onDevice(s, around, { scope, problems });
    }
    const made = asLines(withBodies(s, (part) => portBody(part, ofLoops, names)));
    return hasData && scope ? withAllocated(made, { scope, problems }) : [made];
  }

  /** The data that a directive keeps on the device around statements, or moves. */
  function withData(s: Directed, body: readonly Stmt[], place: DataPlace): Stmt[] {
    if (dataKind(s.directive) !== undefined) return openmpData(s, body, place);
    return isCompute(s.directive) ? withDataOf(s, body, place) : [...body];
  }

  function portNest(s: Directed, name: string, names: Names): Stmt[] {
    const { procedures } = names;
    const found = nestOf(s);
    if (found.loops.length === 0) {
      problems.add(s.at, s.directive.words.join(" "), "is not followed by a loop");
      return [];
    }
    if (isOpen(s.directive, found.clauses) && !isProved(found, names.variables, procedures))
      return portBody(s.body, new Map(), within(s, names));
    const region = regions?.get(sourceKey(s.at)) ?? NO_CLAUSES;
    const place = devicePlace(s, names);
    const apart = nestApart(found, names.variables, region, place);
    const { variables } = apart;
    const nest = arranged(apart.nest, settingsOf?.(name) ?? {}, { at: s.at, name, variables, procedures, problems, notes });
    const data = dataOf(nest, variables, procedures, s.directive.sentinel === "cuf" ? undefined : region, {
      left: region.left,
      byCalls: names.scope ? assignedByCalls(names.scope, nest.body) : new Set(),
    });
    loops.push({
      name,
      at: s.at,
      axes: nest.loops.map(({ variable }) => variable),
      parallel: nest.parallel,
      reductions: data.reductions.flatMap((clause) => clause.names.map((each) => `${clause.op}:${each}`)),
      carried: data.carried,
    });
    addCalled(nest.body, procedures, called);
    const raced = new Set(region.left.flatMap(({ name, by }) => (by === "last" ? [] : [name])));
    const made = { ...nest, body: withAtomicWrites(portInner(nest.body), raced) };
    if (!place) return withBefore(nest.before, [target === "cpu" ? loopsOf(made) : parallelLoop(made, data, s.at)]);
    const mapped = clausesOfNest(made, data, { apart, around: names.around, place, at: s.at });
    return withBefore(nest.before, apart.associates.around([targetLoop(made, data, mapped, s.at)], s.at));
  }

  /** Place of a loop that runs on a device. */
  function devicePlace(s: Directed, { scope, around }: Names): DataPlace | undefined {
    return isOffload && scope && !(hasData && isHosts(s, around)) ? { scope, problems } : undefined;
  }

  /** Within a parallel loop, of all directives `atomic` alone counts. */
  function portInner(body: readonly Stmt[]): Stmt[] {
    return mapStatements(body, (s): readonly Stmt[] => {
      if (s.kind !== "directed") return [s];
      const isAtomic = s.directive.words[0] === "atomic" && target !== "cpu";
      if (s.directive.words[0] === "critical" && target !== "cpu")
        problems.add(s.at, "critical", "iterations wait for each other", "write a reduction, or `atomic` before each update");
      if (!isAtomic) return s.body.length > 0 ? withBefore(s.before ?? [], s.body) : [];
      const words = s.directive.words.length > 1 ? s.directive.words : ["atomic", "update"];
      return [{ ...s, directive: { ...s.directive, sentinel: "omp", words } }];
    });
  }
}

/** Meanings of the names of variables and procedures in a unit. */
interface Names {
  readonly variables: ReadonlyMap<string, PortVariable>;
  readonly procedures: Procedures;
  readonly scope?: UnitScope;
  /** Variables that keep their values through constructs, by the constructs' places. */
  readonly kept?: KeptNames;
  /** Directives around, outermost first, where data stay on a device. */
  readonly around: readonly Directive[];
}

const NO_PROCEDURES: Procedures = { get: () => undefined };

const NO_CLAUSES: Pick<ParallelRegion, "privates" | "carried" | "left" | "written" | "reductions"> = {
  privates: new Set(),
  carried: new Set(),
  left: [],
  written: new Set(),
  reductions: [],
};

/** Parallel loops of each unit; what is wrong with the variables of one is added to `problems`. */
function regionsIn(file: SourceFile, world: World, problems: Problems): Map<UnitScope, readonly ParallelRegion[]> {
  const from = world.problems.found.length;
  const regions = new Map(world.scopes.filter((scope) => scope.file === file.file).map((scope) => [scope, regionsOf(scope)]));
  problems.found.push(...world.problems.found.slice(from));
  return regions;
}

const byPlace = (regions: Iterable<ParallelRegion>): Map<string, ParallelRegion> =>
  new Map([...regions].flatMap((region) => placesOf(region.stmt).map((at) => [sourceKey(at), region] as const)));

/** The places of the directives before a loop. */
function placesOf(stmt: Stmt | undefined): Location[] {
  if (stmt?.kind !== "directed") return stmt ? [stmt.at] : [];
  const [only, more] = stmt.body.filter(({ kind }) => kind !== "comment" && kind !== "continue");
  return [stmt.at, ...(only?.kind === "directed" && !more ? placesOf(only) : [])];
}

/** Pure procedures keep their `do concurrent`: OpenMP has no place in them. */
const isPure = (unit: Unit): boolean =>
  unit.kind === "procedure" &&
  unit.prefixes.some((prefix) => prefix === "pure" || (prefix === "elemental" && !unit.prefixes.includes("impure")));

const withBefore = (before: readonly string[], [first, ...rest]: readonly Stmt[]): Stmt[] =>
  before.length > 0 ? [{ ...first, before: [...before, ...(first.before ?? [])] }, ...rest] : [first, ...rest];

/** Whether a directive makes the loop after it parallel. */
function isParallel(directive: Directive): boolean {
  if (isSequential(directive.clauses)) return false;
  return directive.sentinel === "cuf" ? directive.words[0] === "kernel" : isOfLoop(directive);
}

/** The parallel loops of a procedure: by its name, with their numbers where there are several. */
function loopNames(unit: string, body: readonly Stmt[]): Map<Stmt, string> {
  const found: Stmt[] = [];
  const look = (part: readonly Stmt[]): void => {
    for (const s of part)
      if (s.kind === "directed" && isParallel(s.directive)) found.push(s);
      else bodiesOf(s).forEach(look);
  };
  look(body);
  return new Map(found.map((s, n) => [s, found.length === 1 ? unit : `${unit}#${n + 1}`]));
}

/** `do concurrent` as loops after a directive; its first variable is the innermost, as in Fortran's arrays. */
function concurrentLoops({ axes, mask, reduce, body, at, before, behind }: DoConcurrent): Directed {
  const inner: readonly Stmt[] = mask ? [{ kind: "if", branches: [{ cond: mask, body, at }], oneLine: false, at }] : body;
  const loops = axes.reduce<readonly Stmt[]>((within, axis): Stmt[] => [{ kind: "do", ...axis, body: within, at }], inner);
  const clauses: Clause[] = [
    { kind: "collapse", count: axes.length, at },
    ...reduce.map(({ op, names }): Clause => ({ kind: "reduction", op, names, at })),
  ];
  const comment = [...(before ?? []), ...(behind === undefined ? [] : [behind])];
  const directive: Directive = { sentinel: "omp", words: ["parallel", "do"], clauses, at };
  return { kind: "directed", directive, body: loops, closed: false, at, ...(comment.length > 0 && { before: comment }) };
}

/** `!$omp declare target` in procedures that run on the device. */
function withDeclareTarget(file: SourceFile, places: ReadonlySet<string>): SourceFile {
  const change = <T extends Unit>(unit: T): T => {
    const inner = { procedures: unit.procedures.map(change) };
    if (unit.kind !== "procedure" || !places.has(unitKey(unit))) return { ...unit, ...inner };
    const directive: Directive = { sentinel: "omp", words: ["declare", "target"], clauses: [], at: unit.at };
    const line = { kind: "other", word: "declare target", text: "!$omp declare target", directive, at: unit.at } as const;
    return { ...unit, ...inner, declarations: [...unit.declarations, line] };
  };
  return { ...file, units: file.units.map(change) };
}
