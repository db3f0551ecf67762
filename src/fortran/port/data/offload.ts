/* Nests of loops that OpenMP runs on a device, with the data of the loop and of the regions around it. */

import { isCompute, dataKind } from "./items.js";
import { componentsApart, mapsOfLoop, scalarsOfRegions, type LoopDirectives } from "./loops.js";
import type { DataPlace } from "./arrays.js";
import { Associates } from "./associates.js";
import type { ParallelRegion } from "../../analyse/regions.js";
import { find, namedVariable } from "../../analyse/symbols.js";
import { bodiesOf } from "../../analyse/visit.js";
import { loopsOf, type Nest } from "../nests.js";
import type { PortVariable } from "../names.js";
import type { Clause, Directed, Directive, Do, Stmt, Unit } from "../../tree/index.js";
import type { LoopData } from "../openmp.js";

/** Whether a loop runs on the host where others run on a device, with the host's own values: in `parallel do`, in `do concurrent`. */
export function isHosts(s: Directed, around: readonly Directive[]): boolean {
  const isDevices = (each: Directive): boolean =>
    each.sentinel === "cuf" || isCompute(each) || (each.sentinel === "acc" && each.words[0] === "loop");
  return ![...around, ...directivesIn(s)].some(isDevices);
}

const directivesIn = (s: Stmt): Directive[] => [
  ...(s.kind === "directed" ? [s.directive] : []),
  ...bodiesOf(s).flatMap((body) => body.flatMap(directivesIn)),
];

/** `declare` directives of a procedure, which hold for all of its statements. */
export const declaredAround = (unit: Unit): Directive[] =>
  unit.kind === "procedure"
    ? unit.declarations.flatMap((d) => (d.kind === "other" && d.directive && dataKind(d.directive) === "declare" ? [d.directive] : []))
    : [];

/** A nest whose components have names of their own. */
interface ApartNest {
  readonly nest: Nest;
  readonly variables: ReadonlyMap<string, PortVariable>;
  readonly associates: Associates;
}

export function nestApart(
  nest: Nest,
  variables: ReadonlyMap<string, PortVariable>,
  region: Pick<ParallelRegion, "written" | "privates" | "left" | "reductions"> | undefined,
  place: DataPlace | undefined,
): ApartNest {
  if (!place) return { nest, variables, associates: new Associates(undefined, nest) };
  const { scope } = place;
  const whole = nest.loops.length > 0 ? loopsOf(nest) : undefined;
  const associates = componentsApart(whole, scope, region);
  const named = associates.all();
  if (named.length === 0) return { nest, variables, associates };
  const heads = associates.within(nest.loops.map((loop) => ({ ...loop, body: [] }))) as Do[];
  const loops = heads.map((head, n) => ({ ...head, body: nest.loops[n].body }));
  const more = named.map(({ name, value }): [string, PortVariable] => {
    const isArray = namedVariable(scope, value)?.dims !== undefined;
    const plain = { isDerived: false, isLocal: false, isOuter: false, isOnDevice: false, isThreads: false };
    return [name, { name, isArray, attributes: new Set(), ...plain }];
  });
  return { nest: { ...nest, loops, body: associates.within(nest.body) }, variables: new Map([...variables, ...more]), associates };
}

/** Clauses that map what iterations share. */
export function clausesOfNest(
  nest: Nest,
  data: LoopData,
  { apart, around, place, at }: { apart: ApartNest; around: readonly Directive[]; place: DataPlace; at: Clause["at"] },
): Clause[] {
  const { associates, variables } = apart;
  const directives: LoopDirectives = { own: nest.clauses, around };
  const isArray = (name: string): boolean => variables.get(name)?.isArray ?? find(place.scope, name)?.dims !== undefined;
  const reduced = data.reductions.flatMap(({ names }) => names);
  const shared = [...data.shared, ...data.last].filter((name) => !data.onDevice.includes(name));
  const taken = new Set([...shared, ...data.own, ...reduced, ...nest.loops.map(({ variable }) => variable)]);
  const read = scalarsOfRegions([loopsOf(nest)], around, place).filter((name) => !taken.has(name));
  const names = [...shared, ...new Set(read)];
  return mapsOfLoop(names, new Set(names.filter((name) => !isArray(name))), { directives, associates, place, at });
}
