/*
 * Nests of loops that a directive makes parallel: which loops they are, and their order. A loop may be moved where nothing that its iterations do
 * depends on their order.
 */

import { controlFlow, type Procedures } from "../analyse/flow.js";
import { eachNode, eachStatement, mentionsName, rootOf } from "../analyse/visit.js";
import type { PortNote } from "./notes.js";
import type { Problems } from "../errors.js";
import { expressionText } from "../print/expressions.js";
import type { Apply, Clause, Directed, Do, Name, Stmt } from "../tree/index.js";
import type { PortVariable } from "./names.js";

export interface Nest {
  /** Outermost first: loops that hold nothing but the next. */
  readonly loops: readonly Do[];
  /** How many of them, from the outermost, run in parallel. */
  readonly parallel: number;
  readonly body: readonly Stmt[];
  /** Clauses of the directives before the loops. */
  readonly clauses: readonly Clause[];
  readonly before: readonly string[];
}

/** Settings for a loop from the configuration. */
export interface NestSettings {
  /** The loops' variables, outermost first. */
  readonly idx?: readonly string[];
  /** How many loops run in parallel. */
  readonly num_loop?: number;
}

/** The loops as they stand, from the outermost. */
export function loopsOf({ loops, body }: Nest): Stmt {
  return loops.reduceRight<Stmt | undefined>((inner, loop) => ({ ...loop, before: undefined, body: inner ? [inner] : body }), undefined)!;
}

/** A nest as the settings want it; as it was, and a problem, where that would change results. */
export function arranged(
  nest: Nest,
  { idx, num_loop }: NestSettings,
  where: {
    at: Directed["at"];
    name: string;
    variables: ReadonlyMap<string, Pick<PortVariable, "isArray" | "isLocal">>;
    procedures: Procedures;
    problems: Problems;
    notes?: PortNote[];
  },
): Nest {
  const refuse = (key: string, why: string, remedy?: string): Nest => {
    where.problems.add(where.at, `${key} of ${where.name}`, why, remedy);
    return nest;
  };
  const names = nest.loops.map(({ variable }) => variable);
  if (
    idx &&
    (idx.length > names.length || idx.some((name) => !names.slice(0, idx.length).includes(name)) || new Set(idx).size < idx.length)
  )
    return refuse("idx", `its perfectly nested loops are ${names.join(", ")}`, "name the outermost ones, each once");
  if (num_loop !== undefined && num_loop > names.length)
    return refuse("num_loop", `only ${names.length} of its loops are perfectly nested: ${names.join(", ")}`);
  const ordered = idx ? [...idx.map((name) => nest.loops[names.indexOf(name)]), ...nest.loops.slice(idx.length)] : nest.loops;
  const changed = ordered.findIndex((loop, n) => loop !== nest.loops[n]);
  // The loops that come to run at the same time, or in another order, and did not before.
  const moved = new Set(changed < 0 ? [] : nest.loops.slice(nest.parallel).filter((loop, n) => ordered[nest.parallel + n] !== loop));
  for (const loop of ordered.slice(0, num_loop ?? 0)) if (nest.loops.indexOf(loop) >= nest.parallel) moved.add(loop);
  const reduced = reducedIn(nest);
  const key = changed < 0 ? "num_loop" : "idx";
  for (const loop of moved) {
    const why = orderMatters(loop, nest, reduced, where);
    if (why) return refuse(key, why, "leave it out");
  }
  if (moved.size > 0 || changed >= 0) {
    const { assigned } = controlFlow(nest.body, where.procedures);
    const set = new Set([...names, ...assigned]);
    for (const { variable, start, stop, step } of nest.loops)
      if ([start, stop, step].some((bound) => mentionsName(bound, set)))
        return refuse(key, `the bounds of \`${variable}\` change within the nest`, "leave it out");
  }
  return { ...nest, loops: ordered, parallel: num_loop ?? Math.max(nest.parallel, ...[...moved].map((loop) => ordered.indexOf(loop) + 1)) };
}

const reducedIn = ({ clauses }: Nest): Set<string> =>
  new Set(clauses.flatMap((clause) => (clause.kind === "reduction" ? clause.names : [])));

/** Whether the parallel loops of a nest are seen to need no order. */
export const isProved = (nest: Nest, variables: OrderPlace["variables"], procedures: Procedures): boolean =>
  nest.loops.slice(0, nest.parallel).every((loop) => orderMatters(loop, nest, reducedIn(nest), { variables, procedures }) === undefined);

/** Variables and procedures around a nest; with `notes`, a local array that calls may leave unassigned is noted there, and taken as assigned. */
interface OrderPlace {
  readonly variables: ReadonlyMap<string, Pick<PortVariable, "isArray" | "isLocal">>;
  readonly procedures: Procedures;
  readonly notes?: PortNote[];
}

/** Why the iterations of a loop must keep their order; undefined if they need not. */
function orderMatters(
  loop: Do,
  nest: Nest,
  reduced: ReadonlySet<string>,
  { variables, procedures, notes }: OrderPlace,
): string | undefined {
  const { readFirst, assigned } = controlFlow(nest.body, procedures);
  const trusted = notes && controlFlow(nest.body, procedures, { trustsCalls: true }).readFirst;
  const own = new Set(nest.loops.map(({ variable }) => variable));
  for (const name of assigned) {
    if (own.has(name)) return `the loop's body assigns \`${name}\``;
    const variable = variables.get(name);
    const isShared = variable?.isArray === true && !variable.isLocal;
    const isTrusted = variable?.isArray === true && variable.isLocal && trusted?.has(name) === false;
    if (isTrusted && readFirst.has(name)) noteUnassigned(loop, name, notes!);
    else if (!isShared && readFirst.has(name) && !reduced.has(name))
      return `\`${name}\` is carried from one iteration of \`${loop.variable}\` to the next`;
    if (isShared && !isOfOneIteration(name, loop.variable, nest.body))
      return `different iterations of \`${loop.variable}\` may use the same elements of \`${name}\``;
  }
  return undefined;
}

function noteUnassigned({ variable, at }: Do, name: string, notes: PortNote[]): void {
  const note = `a call may leave it unassigned: an iteration of \`${variable}\` then reads an undefined value, no longer the one of the previous iteration`;
  if (!notes.some((each) => each.construct === name && each.at === at)) notes.push({ at, construct: name, note });
}

/** Whether no iteration of a loop assigns an element that another one uses, as far as subscripts tell. */
function isOfOneIteration(array: string, variable: string, body: readonly Stmt[]): boolean {
  type Place = readonly (string | undefined)[];
  const subscripts = ({ args }: Apply): Place => args.map((arg) => (arg.kind === "value" ? expressionText(arg.value, true) : undefined));
  const places: Place[] = [];
  let names = 0;
  eachNode(body, (node) => {
    if (node.kind === "name" && (node as Name).name === array) names++;
    if (node.kind === "apply" && rootOf(node as Apply) === array) places.push(subscripts(node as Apply));
  });
  const written: Place[] = [];
  eachStatement(body, (s) => {
    const targets =
      s.kind === "assign" ? [s.target] : s.kind === "call" ? s.args.map((arg) => (arg.kind === "value" ? arg.value : undefined)) : [];
    for (const e of targets) if (e?.kind === "apply" && rootOf(e) === array) written.push(subscripts(e));
  });
  // The whole array, or a procedure that writes it
  if (names > places.length || written.length === 0) return false;
  // `k+1` in both would do as well; `2*k` and `i+k` need more thought than this gives.
  const isApart = (a: Place, b: Place): boolean =>
    a.some(
      (subscript, n) => subscript !== undefined && (subscript === b[n] ? subscript === variable : isNumber(subscript) && isNumber(b[n])),
    );
  return written.every((a) => places.every((b) => isApart(a, b)));
}

const isNumber = (subscript: string | undefined): boolean => subscript !== undefined && /^\d+$/.test(subscript);
