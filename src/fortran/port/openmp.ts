/* Parallel nests as loops with directives of OpenMP. */

import { blockVariables, withNamesApart } from "../analyse/blocks.js";
import { controlFlow, type Procedures } from "../analyse/flow.js";
import { eachNode, eachStatement, namesInTree, rootOf, withBodies } from "../analyse/visit.js";
import type { ParallelRegion } from "../analyse/regions.js";
import { accumulation } from "../analyse/writes.js";
import type { Clause, Directed, Directive, Procedure, ReductionOp, Stmt } from "../tree/index.js";
import type { PortVariable } from "./names.js";
import { loopsOf, type Nest } from "./nests.js";

export interface LoopData {
  /** Arrays from outside, which all iterations share, in the order of their declarations. */
  readonly shared: readonly string[];
  /** Arrays among them that are in the device's memory. */
  readonly onDevice: readonly string[];
  /** Variables that each iteration has for itself, arrays first. */
  readonly own: readonly string[];
  /** Variables among them that hold values from before the loop. */
  readonly begun: readonly string[];
  /** Scalars of them that an iteration reads before it writes them. */
  readonly carried: readonly string[];
  /** Scalars whose values from the last iteration come back. */
  readonly last: readonly string[];
  readonly reductions: readonly Extract<Clause, { kind: "reduction" }>[];
}

/**
 * Roles of the variables of a nest. `region`: its clauses; CUDA Fortran has none, and gives each iteration all local arrays.
 * `left`: scalars that come back; `byCalls`: variables that called procedures assign, which have to be the same ones.
 */
export function dataOf(
  nest: Nest,
  variables: ReadonlyMap<string, PortVariable>,
  procedures: Procedures,
  region: Pick<ParallelRegion, "privates" | "carried"> | undefined,
  { left, byCalls }: { readonly left: ParallelRegion["left"]; readonly byCalls: ReadonlySet<string> },
): LoopData {
  const body = withNamesApart(nest.body);
  const { assigned, readFirst } = controlFlow(body, procedures);
  // Loops that become one may each name a variable.
  const once = new Set<string>();
  const named = nest.clauses.flatMap((clause) => {
    if (clause.kind !== "reduction") return [];
    const names = clause.names.filter((name) => !once.has(name) && once.add(name));
    return names.length > 0 ? [{ ...clause, names }] : [];
  });
  const reductions = [
    ...named,
    ...inferred(
      { loops: nest.loops, body },
      named,
      [...readFirst].filter((name) => !name.endsWith(" ") && assigned.has(name) && variables.get(name)?.isArray !== true),
    ),
  ];
  const reduced = new Set(reductions.flatMap(({ names }) => names));
  const atomic = new Set<string>();
  const indices = new Set(nest.loops.map(({ variable }) => variable));
  eachStatement(body, (s) => {
    if (s.kind === "do") indices.add(s.variable);
    if (s.kind === "directed" && s.directive.words[0] === "atomic")
      for (const inner of s.body) if (inner.kind === "assign") atomic.add(rootOf(inner.target)!);
  });
  const used = new Set([...namesInTree(body)].filter((name) => !name.endsWith(" ")));
  for (const name of blockVariables(body)) used.delete(name);
  // An array of a module that is not read shows by an assignment to its elements.
  const unknown = new Set<string>();
  eachStatement(body, (s) => {
    if (s.kind === "assign" && s.target.kind === "apply" && !variables.has(rootOf(s.target)!)) unknown.add(rootOf(s.target)!);
  });
  const back = new Map(left.map(({ name, by }) => [name, by]));
  const last = [...back.keys()].filter((name) => back.get(name) === "last");
  const isShared = (name: string): boolean => {
    if (back.has(name)) return back.get(name) !== "last";
    if (byCalls.has(name)) return true;
    const variable = variables.get(name);
    if (!variable) return unknown.has(name) || atomic.has(name);
    if (variable.attributes.has("parameter")) return false;
    const isOwn = region ? region.privates.has(name) : variable.isLocal && !KEPT.some((attribute) => variable.attributes.has(attribute));
    return atomic.has(name) || ((variable.isDerived || variable.isArray) && !isOwn);
  };
  // A device's array stands in the list whether this loop uses it or not, so that the lists of a procedure's loops are alike.
  const known = [...variables.keys(), ...[...used].filter((name) => !variables.has(name))].filter(
    (name) => used.has(name) || isListed(variables.get(name)),
  );
  const shared = known.filter((name) => isShared(name) && !reduced.has(name));
  const isElsewhere = (name: string): boolean => [...shared, ...last].includes(name) || reduced.has(name) || indices.has(name);
  const own = known.filter((name) => (assigned.has(name) || variables.get(name)?.isThreads) && !isElsewhere(name));
  const isArray = (name: string): boolean => variables.get(name)?.isArray === true;
  const carried = own.filter((name) => !isArray(name) && readFirst.has(name));
  const onDevice = shared.filter((name) => variables.get(name)?.isOnDevice);
  const begun = own.filter((name) => region?.carried.has(name));
  return { shared, onDevice, own: [...own.filter(isArray), ...own.filter((name) => !isArray(name))], begun, carried, last, reductions };
}

/** Scalars that are summed, or whose maximum is kept, without a clause: as nvfortran takes them. */
function inferred(nest: Pick<Nest, "loops" | "body">, named: LoopData["reductions"], carried: readonly string[]): LoopData["reductions"] {
  return carried.flatMap((name) => {
    const op = named.some(({ names }) => names.includes(name)) ? undefined : accumulation(name, nest.body);
    return op ? [{ kind: "reduction", op: op as ReductionOp, names: [name], at: nest.loops[0].at }] : [];
  });
}

/** Arrays with these outlive a kernel. */
const KEPT: readonly string[] = ["device", "managed", "allocatable", "pointer", "save"];

const isListed = (variable: PortVariable | undefined): boolean =>
  variable !== undefined && variable.isArray && (variable.isOnDevice || variable.isThreads) && !variable.isOuter;

/** Statements in which assignments of scalars that iterations share are atomic. */
export const withAtomicWrites = (body: readonly Stmt[], names: ReadonlySet<string>): Stmt[] =>
  body.map((s): Stmt => {
    if (s.kind === "directed" && s.directive.words[0] === "atomic") return s;
    if (s.kind !== "assign" || s.target.kind !== "name" || !names.has(s.target.name)) {
      const made = withBodies(s, (part) => withAtomicWrites(part, names));
      const isDirected = made.kind === "if" && made.branches[0].body.some(({ kind }) => kind === "directed");
      return isDirected ? { ...made, oneLine: false } : made;
    }
    const { at, before, behind, ...plain } = s;
    const directive: Directive = { sentinel: "omp", words: ["atomic", "write"], clauses: [], at };
    const assigned: Stmt = { ...plain, at, ...(behind !== undefined && { behind }) };
    return { kind: "directed", directive, body: [assigned], closed: false, at, ...(before && { before }) };
  });

/** `!$omp parallel do` on the outermost loop. */
export function parallelLoop(nest: Nest, { shared, last, reductions }: LoopData, at: Directed["at"]): Directed {
  return directed(
    nest,
    at,
    ["parallel", "do"],
    [
      { kind: "default", value: "firstprivate", at },
      ...(shared.length > 0 ? [{ kind: "shared", names: shared, at } as const] : []),
      ...(last.length > 0 ? [{ kind: "lastprivate", names: last, at } as const] : []),
      ...reductions,
    ],
  );
}

/**
 * `!$omp target teams distribute parallel do` on all parallel loops. Scalars are private by name: without a clause, the threads of a team share
 * them (OpenMP 5.0, 2.19.1.1).
 *
 * @param mapped clauses of the arrays and scalars that are not on the device by themselves
 */
export function targetLoop(
  nest: Nest,
  { onDevice, own, begun, last, reductions }: LoopData,
  mapped: readonly Clause[],
  at: Directed["at"],
): Directed {
  const named = (kind: "private" | "firstprivate" | "lastprivate", names: readonly string[]): Clause[] =>
    names.length > 0 ? [{ kind, names, at }] : [];
  return directed(
    nest,
    at,
    ["target", "teams", "distribute", "parallel", "do"],
    [
      { kind: "collapse", count: nest.parallel, at },
      ...(onDevice.length > 0 ? [{ kind: "other", name: "has_device_addr", text: onDevice.join(","), at } as const] : []),
      ...mapped,
      ...named(
        "private",
        own.filter((name) => !begun.includes(name)),
      ),
      ...named("firstprivate", begun),
      ...named("lastprivate", last),
      ...reductions,
    ],
  );
}

function directed(nest: Nest, at: Directed["at"], words: Directive["words"], clauses: readonly Clause[]): Directed {
  return { kind: "directed", directive: { sentinel: "omp", words, clauses, at }, body: [loopsOf(nest)], closed: false, at };
}

/** Adds the procedures that some statements call, and those that these call. */
export function addCalled(body: readonly Stmt[], procedures: Procedures, found: Set<Procedure>): void {
  eachNode(body, (node) => {
    const { name } = node as { name?: unknown };
    const called = node.kind === "name" && typeof name === "string" ? procedures.get(name) : undefined;
    if (!called || found.has(called.procedure)) return;
    found.add(called.procedure);
    addCalled(called.procedure.body, called.procedures, found);
  });
}
