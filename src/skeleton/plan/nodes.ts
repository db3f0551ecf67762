import type { Container, FieldUse, Field, GridSpecies } from "../../domain/grid/grid.js";
import type { DataView } from "../../domain/grid/parts.js";
import type { Accesses, Atom, Datum, Edge, DatumPart } from "./graph.js";

interface NodeBase extends Accesses {
  /** `laplace.internal`, `halo p`, `collect ps`; not unique where a plan holds several iterations. */
  readonly name: string;
  /** Number of the container in the plan that the node is, prepares or completes. */
  readonly stage: number;
  /** Why this node is there, or is as it is. */
  readonly reason: string;
}

/** A container at its place in a plan. */
export interface PlanStage {
  readonly container: Container;
  readonly number: number;
  /** The container's, with a number where there are several. */
  readonly name: string;
}

/** Containers in the order in which they run. */
export function stagesIn(containers: readonly Container[]): PlanStage[] {
  const counts = new Map<string, number>();
  return containers.map((container, number) => {
    const count = (counts.get(container.name) ?? 0) + 1;
    counts.set(container.name, count);
    return { container, number, name: count === 1 ? container.name : `${container.name} (${count})` };
  });
}

/** A container on one data view of every member. */
export interface ComputeNode extends NodeBase {
  readonly kind: "compute";
  readonly container: Container;
  readonly view: DataView;
  /** Fields that are written in halos of the neighbouring members, too. */
  readonly peerStored: readonly Field[];
}

/** Brings the halos of a field up to date. */
export interface HaloNode extends NodeBase {
  readonly kind: "halo";
  readonly field: Field;
}

/** Gathers the partial results of a container's reductions on every member and folds them there. */
interface CollectNode extends NodeBase {
  readonly kind: "collect";
  readonly container: Container;
}

/**
 * Brings the particles of a species to where their positions say. On several members, those that leave are packed, and moved; then each member
 * sorts its own by cell.
 */
type SpeciesNode = SpeciesNodeOf<"pack"> | SpeciesNodeOf<"move"> | SpeciesNodeOf<"sort">;
interface SpeciesNodeOf<K> extends NodeBase {
  readonly kind: K;
  readonly species: GridSpecies;
}

export type Node = ComputeNode | HaloNode | CollectNode | SpeciesNode;

/** Data that become stale after a write: the halos of a field, the order of the particles of a species. */
export type Derived = Field | GridSpecies;

/**
 * True if cells are read that may belong to another member: partitions are cut along some axes, and a cell, the eight of half the size
 * that make it up, and the one of twice the size that it is part of belong to one member.
 */
function readsAcross({ level, offsets, field }: FieldUse): boolean {
  const own = level === "fine" ? [0, 1] : [0];
  return offsets.some((offset) => field.grid.cutAxes.some((axis) => !own.includes(offset[axis])));
}

/** Fields of the container with cells that may belong to another member. */
export function fieldsAcross(container: Container): Field[] {
  return [...new Set(container.uses.filter(readsAcross).map((use) => use.field))];
}

const OWN: Record<DataView, readonly DatumPart[]> = {
  internal: ["internal"],
  boundary: ["boundary"],
  standard: ["internal", "boundary"],
};

/** A stencil reaches boundary cells from internal ones, and the halo from boundary ones only. */
const ACROSS: Record<DataView, readonly DatumPart[]> = {
  internal: ["internal", "boundary"],
  boundary: ["internal", "boundary", "halo"],
  standard: ["internal", "boundary", "halo"],
};

/** Internal cells of two grids do not lie upon each other: fields of other grids are read whole. */
function partsRead(use: FieldUse, view: DataView): readonly DatumPart[] {
  if (use.level !== "own") return readsAcross(use) ? ACROSS.standard : OWN.standard;
  return readsAcross(use) ? ACROSS[view] : OWN[view];
}

/**
 * A container on one data view. With `partials` its reductions leave their partial results there, for a collect node; else they go
 * straight into the scalars.
 */
export function computeNode(
  { container, number, name }: PlanStage,
  view: DataView,
  reason: string,
  partials?: ReadonlyMap<string, Datum>,
  peerStored: readonly Field[] = [],
): ComputeNode {
  const reads: Atom[] = [];
  const writes: Atom[] = [];
  for (const use of container.uses) {
    if (use.read) reads.push(...atoms(use.field, partsRead(use, view)));
    if (use.written) writes.push(...atoms(use.field, OWN[view]));
  }
  for (const field of peerStored) writes.push(...atoms(field, ["halo"]));
  for (const { array, read, written } of container.arrays?.values() ?? []) {
    if (read) reads.push(...atoms(array, OWN[view]));
    if (written) writes.push(...atoms(array, OWN[view]));
  }
  for (const scalar of new Set(container.scalars.values())) reads.push(whole(scalar));
  for (const scalar of container.assigned?.values() ?? []) writes.push(whole(scalar));
  for (const array of new Set(container.axisArrays?.values())) reads.push(whole(array));
  for (const { array } of container.axisFolds ?? []) writes.push(whole(array));
  for (const [param, scalar] of container.reductions) writes.push(...(partials ? atoms(partials.get(param)!, OWN[view]) : [whole(scalar)]));
  const shown = view === "standard" ? name : `${name}.${view}`;
  return { kind: "compute", name: shown, stage: number, reason, container, view, peerStored, reads, writes };
}

/** True where a neighbour of the member, too, must have done `from` before the member can do `to`: halos are written in passing. */
export function meansNeighbours({ from, to, reasons }: Edge<Node>): boolean {
  const peerStored = [from, to].flatMap((node) => (node.kind === "compute" ? node.peerStored : []));
  return reasons.some(({ datum }) => peerStored.includes(datum as Field));
}

export function haloNode(field: Field, { number }: PlanStage, reason: string): HaloNode {
  return {
    kind: "halo",
    name: `halo ${field.name}`,
    stage: number,
    reason,
    field,
    reads: atoms(field, ["boundary"]),
    writes: atoms(field, ["halo"]),
  };
}

/** Nodes that sort the particles of a species on `members` members, in order. */
export function speciesNodes(species: GridSpecies, { number }: PlanStage, reason: string, members: number): SpeciesNode[] {
  const { name, outbox, inbox, first, count } = species;
  const columns = Object.values(species.columns).flatMap((column) => atoms(column, OWN.standard));
  const node = <K extends SpeciesNode["kind"]>(kind: K, reads: readonly Atom[], writes: readonly Atom[]): SpeciesNodeOf<K> => {
    return { kind, name: `${kind} ${name}`, stage: number, reason, species, reads, writes };
  };
  const lists = [first, count].flatMap((field) => atoms(field, OWN.standard));
  const sort = node("sort", [...columns, whole(inbox)], [...columns, ...lists]);
  if (members === 1) return [sort];
  return [node("pack", columns, [...columns, whole(outbox)]), node("move", [whole(outbox)], [whole(inbox)]), sort];
}

export function collectNode({ container, number }: PlanStage, reason: string, partials: ReadonlyMap<string, Datum>): CollectNode {
  const scalars = [...new Set(container.reductions.values())];
  return {
    kind: "collect",
    name: `collect ${scalars.map((s) => s.name).join(", ")}`,
    stage: number,
    reason,
    container,
    reads: [...partials.values()].flatMap((datum) => atoms(datum, OWN.standard)),
    writes: scalars.map(whole),
  };
}

/** Memory in which the partial results of one run of a container wait to be collected, by reduce parameter. */
export function partialsMemory(container: Container): Map<string, Datum> {
  return new Map([...container.reductions].map(([param, scalar]) => [param, { name: `partials of ${scalar.name}` }]));
}

const atoms = (datum: Datum, parts: readonly DatumPart[]): Atom[] => parts.map((part) => ({ datum, part }));
const whole = (datum: Datum): Atom => ({ datum, part: "whole" });
