import type { Launch, Precision } from "../../device/device.js";
import { BYTES } from "../../device/memory/view.js";
import type { DenseGrid } from "../../domain/dense/dense.js";
import type { Field, Grid } from "../../domain/grid/grid.js";
import type { HaloCopy } from "../../domain/grid/parts.js";
import { cutsRows } from "../../domain/grid/split.js";
import { LaunchError } from "../../ir/errors.js";
import { entry } from "../entry.js";
import type { Node } from "../plan/nodes.js";
import type { Op } from "../run/op.js";
import type { Program } from "../run/program.js";
import { bytesOf } from "../run/replay.js";
import type { Timeline } from "../run/timeline.js";

/** A message of one task of one member. */
export interface Sent {
  readonly to: number;
  readonly bytes: number;
  /** Bytes of the same message on a grid of other extents. */
  readonly bytesOn: (extents: readonly number[]) => number;
}

/** One task of a plan on one member. */
export interface TaskPart {
  /** Cells of each launch along each axis, x first. */
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
  /** By member: planes of the last axis of that grid. */
  readonly planes: readonly number[];
  /** In the order of launches. */
  readonly tasks: readonly PatternTask[];
}

/**
 * The pattern of a program.
 * @param measured when its operations ran, if it was traced
 * @throws LaunchError for tasks whose messages depend on more than the number of planes: folds along the cut axis, rolls, particles
 */
export function patternOf(name: string, { plan, ops }: Program, precision: Precision, measured?: Timeline): PlanPattern {
  const { graph, schedule, level, stages } = plan;
  const grid = finest(stages.containers.map((container) => container.grid));
  const numbers = new Map<Node, number>(schedule.tasks.map(({ node }, n) => [node, n]));
  const seconds = new Map(measured?.spans.map(({ op, begin, end }) => [op, end - begin]));
  const byNode = new Map<Node, Op[]>();
  for (const op of ops) entry(byNode, op.node, () => []).push(op);
  return {
    name,
    level,
    precision,
    iterations: stages.iterations,
    extents: grid.extents,
    planes: grid.partitions.map(({ planes }) => planes),
    tasks: schedule.tasks.map(({ node, stream }): PatternTask => {
      requireModelled(name, node);
      return {
        name: node.name,
        kind: node.kind as PatternTask["kind"],
        container: containerOf(node),
        stream,
        waits: graph.parents(node).map((parent) => numbers.get(parent)!),
        parts: grid.partitions.map(({ planes }, member) => {
          const own = (byNode.get(node) ?? []).filter((op) => op.member === member);
          return partOf(own, [...grid.extents.slice(0, -1), planes], seconds);
        }),
        reduced: node.kind === "collect" ? [...node.container.reductions.values()].map(({ type }) => BYTES[type]) : [],
      };
    }),
  };
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

/** Cells that a launch computes; along an axis that it marches up, all. A scalar step has none of its own: one along each axis. */
function boxOf(node: Node, { policy }: Launch, cells: readonly number[]): readonly number[] {
  if (node.kind !== "compute" || policy.kind !== "range") return cells;
  if (node.container.assigned) return cells.map(() => 1);
  const { march } = node.container;
  const along = policy.extents.toReversed();
  return along.map((length, axis) => (march && along.length - 1 - axis === march.axis ? cells[axis] : length));
}

function sentOf(field: Field, copy: HaloCopy): Sent {
  const { type } = field;
  // Only dense grids are planned for many ranks.
  const grid = field.grid as DenseGrid;
  return { to: copy.to, bytes: bytesOf(copy), bytesOn: (extents) => BYTES[type] * grid.messageLength(field, copy, extents) };
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
      if (cutsRows(node.field.grid)) refuse(`the grid of "${node.field.name}" is cut along y`);
      return;
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
