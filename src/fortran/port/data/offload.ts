/* Nests of loops that OpenMP runs on a device, with the data of the loop and of the regions around it. */

import { conditionsOf, dataKind, isCompute } from "../../data/items.js";
import { componentsApart, mapsOfLoop, scalarsOfRegions, type LoopDirectives } from "./loops.js";
import type { DataPlace } from "../../data/arrays.js";
import { Associates } from "./associates.js";
import type { ParallelRegion } from "../../analyse/regions.js";
import { find, namedVariable } from "../../analyse/symbols.js";
import { loopsOf, type Nest } from "../nests.js";
import type { PortVariable } from "../names.js";
import type { Clause, Directive, Do, Unit } from "../../tree/index.js";
import type { LoopData } from "../openmp.js";

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
  const maps = mapsOfLoop(names, new Set(names.filter((name) => !isArray(name))), { directives, associates, place, at });
  return [...maps, ...conditionsOf([...around.filter(isCompute).flatMap(({ clauses }) => clauses), ...nest.clauses])];
}
