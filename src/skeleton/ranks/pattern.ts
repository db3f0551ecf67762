import type { Launch, Precision } from "../../device/device.js";
import { BYTES } from "../../device/memory/view.js";
import type { DenseGrid } from "../../domain/dense/dense.js";
import type { Field, Grid } from "../../domain/grid/grid.js";
import type { HaloCopy } from "../../domain/grid/parts.js";
import { divisionIn, type Division } from "../../domain/grid/split.js";
import { LaunchError } from "../../base/errors.js";
import { getOrMake } from "../entry.js";
import type { Node } from "../plan/nodes.js";
import type { Op } from "../run/op.js";
import type { BoundProgram } from "../run/bound-program.js";
import { bytesOf } from "../run/replay.js";
import type { Timeline } from "../run/timeline.js";

/** A message of one task of one member. */
export interface Sent {
  readonly to: number;
  readonly bytes: number;
  /** Bytes of the same message of a member with other cells along each axis. */
  readonly bytesOn: (along: readonly number[]) => number;
}

/** One task of a plan on one member. */
export interface TaskPart {
  /** Cells of each launch along each axis, x first; of packed halos the components last. */
  readonly boxes: readonly (readonly number[])[];
  /** Moved by the launches, by the counting rule. */
  readonly bytes: number;
  /** Measured, where the plan was traced. */
  readonly seconds?: number;
  readonly sends: readonly Sent[];
}

/** One task of a plan on all members. */
export interface PatternTask {
  readonly name: string;
  readonly kind: "compute" | "halo" | "collect";
  /** Container that it runs, whichever of its cells; of a halo or a collect its own name. */
  readonly container: string;
  readonly stream: number;
  /** Tasks that come before it, by number. */
  readonly waits: readonly number[];
  /** By member. */
  readonly parts: readonly TaskPart[];
  /** Bytes of the value of each reduction that a collect completes. */
  readonly reduced: readonly number[];
  /** A collect over some cells only: of a region, or of a coarser grid. */
  readonly ofSome?: boolean;
  /** It packs or unpacks halos, which one member alone does not. */
  readonly packs: boolean;
}

/** Work and messages of the members of a set in one plan, without any memory. */
export interface PlanPattern {
  readonly name: string;
  readonly level: string;
  readonly precision: Precision;
  /** Iterations in a plan. */
  readonly iterations: number;
  /** Cells of the finest grid. */
  readonly extents: readonly number[];
  /** Members along y and z. */
  readonly division: Division;
  /** By member: planes of the last axis of that grid, and rows of each plane, where it has some of them. */
  readonly planes: readonly number[];
  readonly rows: readonly (number | undefined)[];
  /** In the order of launches. */
  readonly tasks: readonly PatternTask[];
}

/**
 * The pattern of a program.
 * @param measured when its operations ran, if it was traced
 * @throws LaunchError for tasks whose messages depend on more than the number of planes: folds along the cut axis, rolls, particles
 */
export function patternOf(name: string, { plan, ops }: BoundProgram, precision: Precision, measured?: Timeline): PlanPattern {
  const { graph, schedule, level, stages } = plan;
  const grid = finest(stages.containers.map((container) => container.grid));
  const numbers = new Map<Node, number>();
  const tasks: PatternTask[] = [];
  const seconds = new Map(measured?.spans.map(({ op, begin, end }) => [op, end - begin]));
  const byNode = new Map<Node, Op[]>();
  for (const op of ops) getOrMake(byNode, op.node, () => []).push(op);
  for (const { node, stream } of schedule.tasks) {
    requireModelled(name, node);
    const parents = graph.parents(node).map((parent) => numbers.get(parent)!);
    const byMember = grid.partitions.map((_, member) => stagesOf((byNode.get(node) ?? []).filter((op) => op.member === member)));
    const isPacked = byMember.some(({ packs, unpacks }) => packs.length + unpacks.length > 0);
    const add = (
      title: string,
      kind: PatternTask["kind"],
      container: string,
      waits: readonly number[],
      opsOf: (at: Stages) => readonly Op[],
    ): void => {
      const parts = byMember.map((each, member) => partOf(opsOf(each), ownCells(grid, member), seconds));
      const reduced = node.kind === "collect" ? [...node.container.reductions.values()].map(({ type }) => BYTES[type]) : [];
      tasks.push({
        name: title,
        kind,
        container,
        stream,
        waits,
        parts,
        reduced,
        ...(node.kind === "collect" && { ofSome: node.container.box !== undefined || node.container.grid !== grid }),
        packs: isPacked && kind === "compute" && node.kind === "halo",
      });
    };
    if (node.kind === "halo" && isPacked) {
      add(`pack ${node.name}`, "compute", `pack ${node.name}`, parents, ({ packs }) => packs);
      add(node.name, "halo", node.name, [tasks.length - 1], ({ exchange }) => exchange);
      add(`unpack ${node.name}`, "compute", `unpack ${node.name}`, [tasks.length - 1], ({ unpacks }) => unpacks);
    } else add(node.name, node.kind as PatternTask["kind"], containerOf(node), parents, ({ packs, exchange, unpacks }) => [...packs, ...exchange, ...unpacks]); // prettier-ignore
    numbers.set(node, tasks.length - 1);
  }
  return {
    name,
    level,
    precision,
    iterations: stages.iterations,
    extents: grid.extents,
    division: divisionIn(grid.partitions),
    planes: grid.partitions.map(({ planes }) => planes),
    rows: grid.partitions.map(({ rows }) => rows && rows[1] - rows[0]),
    tasks,
  };
}

/** Operations of a task on one member: launches before its messages, messages, and launches after them. */
interface Stages {
  readonly packs: readonly Op[];
  readonly exchange: readonly Op[];
  readonly unpacks: readonly Op[];
}

function stagesOf(ops: readonly Op[]): Stages {
  const works = ops.filter(({ launches, copies }) => launches.length + copies.length > 0);
  const first = works.findIndex(({ copies }) => copies.length > 0);
  const end = first < 0 ? works.length : first;
  return {
    packs: works.slice(0, end),
    exchange: works.slice(end).filter(({ copies }) => copies.length > 0),
    unpacks: works.slice(end).filter(({ copies }) => copies.length === 0),
  };
}

/** Cells of a member along each axis. */
function ownCells({ extents, partitions }: Grid, member: number): number[] {
  const { planes, rows } = partitions[member];
  return [...extents.slice(0, -1).map((n, axis) => (axis === 1 && rows ? rows[1] - rows[0] : n)), planes];
}

/** `laplace` for `laplace.internal`. */
const containerOf = (node: Node): string =>
  node.kind === "compute" && node.view !== "standard" ? node.name.slice(0, -`.${node.view}`.length) : node.name;

/** @param cells of the member along each axis */
function partOf(ops: readonly Op[], cells: readonly number[], seconds: ReadonlyMap<Op, number>): TaskPart {
  const times = ops.flatMap((op) => seconds.get(op) ?? []);
  return {
    boxes: ops.flatMap(({ node, launches }) => launches.map((launch) => boxOf(node, launch, cells))),
    bytes: ops.reduce((sum, { launches }) => sum + launches.reduce((all, { cost }) => all + cost.bytes, 0), 0),
    ...(times.length > 0 && { seconds: times.reduce((a, b) => a + b, 0) }),
    // A collect is one operation of all ranks, whatever messages this set has.
    sends: ops.flatMap(({ node, copies }) => (node.kind === "halo" ? copies.map((copy) => sentOf(node.field, copy)) : [])),
  };
}

/**
 * Cells that a launch computes; along an axis that it marches up, all, and along x if it computes every second one. A scalar step has none of its own: one
 * along each axis.
 */
function boxOf(node: Node, { policy }: Launch, cells: readonly number[]): readonly number[] {
  if (node.kind === "halo" && policy.kind === "range") {
    // As [z][y][x][component] or [component][z][y][x].
    const { extents } = policy;
    return node.field.layout === "aos" ? [extents[2], extents[1], extents[0], extents[3]] : extents.toReversed();
  }
  if (node.kind !== "compute" || policy.kind !== "range") return cells;
  if (node.container.assigned) return cells.map(() => 1);
  const { march, box } = node.container;
  const along = policy.extents.toReversed();
  if (box?.parity !== undefined) along[0] = box.bounds[0][1] - box.bounds[0][0];
  return along.map((length, axis) => (march && along.length - 1 - axis === march.axis ? cells[axis] : length));
}

function sentOf(field: Field, copy: HaloCopy): Sent {
  const { type } = field;
  // Only dense grids are planned for many ranks.
  const grid = field.grid as DenseGrid;
  return { to: copy.to, bytes: bytesOf(copy), bytesOn: (along) => BYTES[type] * grid.messageLength(field, copy, along) };
}

function requireModelled(name: string, node: Node): void {
  const refuse = (what: string): never => {
    throw new LaunchError(`skeleton "${name}": ${what}; predictions for many ranks cannot be made for it yet`);
  };
  switch (node.kind) {
    case "pack":
    case "move":
    case "sort":
      return refuse(`"${node.name}" moves particles, and how many is not known before`);
    case "compute":
      if (node.container.inRounds) refuse(`"${node.name}" rolls values, or folds along the axis that is cut`);
      if (node.peerStored.length > 0) refuse(`"${node.name}" stores in halos itself (occ "in-kernel")`);
      return;
    case "halo":
    case "collect":
      return;
    default:
      node satisfies never;
  }
}

/** The grid with the most planes; of several, the first. */
function finest(grids: readonly Grid[]): Grid {
  return grids.reduce((most, grid) => (grid.extents.at(-1)! > most.extents.at(-1)! ? grid : most));
}
