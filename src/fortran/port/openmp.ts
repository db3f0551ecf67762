/* Parallel nests as loops with directives of OpenMP. */

import { blockVariables } from "../analyse/blocks.js";
import { flowOf, type Procedures } from "../analyse/flow.js";
import { eachNode, eachStatement, namesIn, rootOf } from "../analyse/visit.js";
import type { Region } from "../analyse/regions.js";
import { accumulation } from "../analyse/writes.js";
import type { Clause, Directed, Directive, ReductionOp, Stmt } from "../tree/index.js";
import type { Variable } from "./names.js";
import { loopsOf, type Nest } from "./nests.js";

export interface Data {
  /** Arrays from outside, which all iterations share, in the order of their declarations. */
  readonly shared: readonly string[];
  /** Those of them that are in the device's memory. */
  readonly onDevice: readonly string[];
  /** Variables that each iteration has for itself, arrays first. */
  readonly own: readonly string[];
  /** Those of them that hold values from before the loop. */
  readonly begun: readonly string[];
  /** Scalars of them that an iteration reads before it writes them. */
  readonly carried: readonly string[];
  readonly reductions: readonly Extract<Clause, { kind: "reduction" }>[];
}

/** What becomes of the variables of a nest. `region`: what its clauses say; CUDA Fortran has none, and gives each iteration all local arrays. */
export function dataOf(
  nest: Nest,
  variables: ReadonlyMap<string, Variable>,
  procedures: Procedures,
  region: Pick<Region, "privates" | "carried"> | undefined,
): Data {
  const { assigned, readFirst } = flowOf(nest.body, procedures);
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
      nest,
      named,
      [...readFirst].filter((name) => assigned.has(name) && variables.get(name)?.isArray !== true),
    ),
  ];
  const reduced = new Set(reductions.flatMap(({ names }) => names));
  const atomic = new Set<string>();
  const indices = new Set(nest.loops.map(({ variable }) => variable));
  eachStatement(nest.body, (s) => {
    if (s.kind === "do") indices.add(s.variable);
    if (s.kind === "directed" && s.directive.words[0] === "atomic")
      for (const inner of s.body) if (inner.kind === "assign") atomic.add(rootOf(inner.target)!);
  });
  const used = namesIn(nest.body);
  for (const name of blockVariables(nest.body)) used.delete(name);
  // An array of a module that is not read shows by an assignment to its elements.
  const unknown = new Set<string>();
  eachStatement(nest.body, (s) => {
    if (s.kind === "assign" && s.target.kind === "apply" && !variables.has(rootOf(s.target)!)) unknown.add(rootOf(s.target)!);
  });
  const isShared = (name: string): boolean => {
    const variable = variables.get(name);
    if (!variable) return unknown.has(name) || atomic.has(name);
    if (variable.attributes.has("parameter")) return false;
    const isOwn = region ? region.privates.has(name) : variable.isLocal && !KEPT.some((attribute) => variable.attributes.has(attribute));
    return atomic.has(name) || variable.isDerived || (variable.isArray && !isOwn);
  };
  // A device's array stands in the list whether this loop uses it or not, so that the lists of a procedure's loops are alike.
  const known = [...variables.keys(), ...[...used].filter((name) => !variables.has(name))].filter(
    (name) => used.has(name) || isListed(variables.get(name)),
  );
  const shared = known.filter((name) => isShared(name) && !reduced.has(name));
  const own = known.filter(
    (name) => (assigned.has(name) || variables.get(name)?.isThreads) && !shared.includes(name) && !reduced.has(name) && !indices.has(name),
  );
  const isArray = (name: string): boolean => variables.get(name)?.isArray === true;
  const carried = own.filter((name) => !isArray(name) && readFirst.has(name));
  const onDevice = shared.filter((name) => variables.get(name)?.isOnDevice);
  const begun = own.filter((name) => region?.carried.has(name));
  return { shared, onDevice, own: [...own.filter(isArray), ...own.filter((name) => !isArray(name))], begun, carried, reductions };
}

/** Scalars that are added up, or of which the greatest is kept, and no clause tells so: as nvfortran takes them. */
function inferred(nest: Nest, named: Data["reductions"], carried: readonly string[]): Data["reductions"] {
  return carried.flatMap((name) => {
    const op = named.some(({ names }) => names.includes(name)) ? undefined : accumulation(name, nest.body);
    return op ? [{ kind: "reduction", op: op as ReductionOp, names: [name], at: nest.loops[0].at }] : [];
  });
}

/** Arrays with these outlive a kernel. */
const KEPT: readonly string[] = ["device", "managed", "allocatable", "pointer", "save"];

const isListed = (variable: Variable | undefined): boolean =>
  variable !== undefined && variable.isArray && (variable.isOnDevice || variable.isThreads) && !variable.isOuter;

/** `!$omp parallel do` on the outermost loop. */
export function parallelLoop(nest: Nest, { shared, reductions }: Data, at: Directed["at"]): Directed {
  return directed(
    nest,
    at,
    ["parallel", "do"],
    [
      { kind: "default", value: "firstprivate", at },
      ...(shared.length > 0 ? [{ kind: "shared", names: shared, at } as const] : []),
      ...reductions,
    ],
  );
}

/**
 * `!$omp target teams distribute parallel do` on all parallel loops. Scalars are private by name: without a clause, the threads of a team share
 * them (OpenMP 5.0, 2.19.1.1).
 */
export function targetLoop(nest: Nest, { shared, onDevice, own, begun, reductions }: Data, at: Directed["at"]): Directed {
  const named = (kind: "private" | "firstprivate", names: readonly string[]): Clause[] => (names.length > 0 ? [{ kind, names, at }] : []);
  const list = (name: string, names: readonly string[], before = ""): Clause[] =>
    names.length > 0 ? [{ kind: "other", name, text: before + names.join(","), at }] : [];
  return directed(
    nest,
    at,
    ["target", "teams", "distribute", "parallel", "do"],
    [
      { kind: "collapse", count: nest.parallel, at },
      ...list("has_device_addr", onDevice),
      ...list(
        "map",
        shared.filter((name) => !onDevice.includes(name)),
        "tofrom:",
      ),
      ...named(
        "private",
        own.filter((name) => !begun.includes(name)),
      ),
      ...named("firstprivate", begun),
      ...reductions,
    ],
  );
}

function directed(nest: Nest, at: Directed["at"], words: Directive["words"], clauses: readonly Clause[]): Directed {
  return { kind: "directed", directive: { sentinel: "omp", words, clauses, at }, body: [loopsOf(nest)], closed: false, at };
}

/** Procedures that some statements call, and those that these call. */
export function calledFrom(bodies: readonly (readonly Stmt[])[], procedures: Procedures): Set<string> {
  const found = new Set<string>();
  const look = (tree: unknown): void =>
    eachNode(tree, (node) => {
      const { name } = node as { name?: unknown };
      if (node.kind !== "name" || typeof name !== "string" || found.has(name)) return;
      const procedure = procedures.get(name);
      if (!procedure) return;
      found.add(name);
      look(procedure.body);
    });
  look(bodies);
  return found;
}
