import { Field } from "../../domain/grid/grid.js";
import { Scalar } from "../../set/index.js";
import { deviceGraph, type DeviceGraph } from "./device-graph.js";
import { fuse, type Fusion, type FusionOptions } from "../fusion/fusion.js";
import { dependencies, type DependencyGraph } from "./graph.js";
import type { StoresInHalos } from "./halos.js";
import { computeNode, stagesIn, type ComputeNode, type Derived, type Node } from "./nodes.js";
import type { OccLevel } from "./occ.js";
import { schedule, type StreamSchedule } from "./schedule.js";
import { SwappedMemory, requireTemporary, unrollSteps, type Pair, type Step, type Unrolled } from "../fusion/sequence.js";

/** Containers that run, in order: a number of iterations, unrolled and, where asked for, fused. */
export interface Stages extends Unrolled {
  readonly iterations: number;
  /** The containers before fusion, and what depends on what. */
  readonly written: DependencyGraph<ComputeNode>;
  readonly fusion: Fusion | undefined;
}

/** Everything about a run of some iterations that does not depend on where in memory the fields lie. */
export interface Plan extends DeviceGraph {
  readonly stages: Stages;
  readonly level: OccLevel;
  /** Fields whose halos are up to date, and species that are sorted, at the start; `fresh` are those at the end. */
  readonly atStart: ReadonlySet<Derived>;
  readonly schedule: StreamSchedule<Node>;
}

/**
 * Unrolls and fuses.
 * @param temporary fields whose values nobody needs after an iteration
 * @param first the first of the iterations
 * @param shared what other stages of the skeleton have, too: second buffers and merged containers; takes new ones
 */
export function stagesOf(
  steps: readonly Step[],
  iterations: number,
  fused: boolean,
  temporary: readonly Field[],
  first = 0,
  shared?: Pick<FusionOptions, "spares" | "merged">,
): Stages {
  const { containers, swaps } = unrollSteps(steps, iterations, first);
  const written = dependencies(stagesIn(containers).map((stage) => computeNode(stage, "standard", "as written"))).reduced();
  requireTemporary(containers, temporary);
  const memory = new SwappedMemory(swaps);
  const fusion = fused ? fuse(containers, { ...shared, temporary: temporary.map(memory.of) }) : undefined;
  if (!fusion) return { containers, swaps, iterations, written, fusion };
  return { containers: fusion.containers, swaps: [...fusion.swaps, ...swaps], iterations, written, fusion };
}

/**
 * @param atStart fields whose halos are up to date, and species that are sorted
 * @param able containers that can store in halos themselves
 * @param messages halos go between processes: they begin before the cells that hide them
 */
export function planOf(
  stages: Stages,
  members: number,
  level: OccLevel,
  atStart: ReadonlySet<Derived>,
  able?: StoresInHalos,
  messages = false,
): Plan {
  const graph = deviceGraph(stages.containers, members, level, atStart, { able, messages });
  // Makes the successors of a reduction wait for it on all members.
  const order = schedule(graph.graph, graph.hints, (node) => node.kind === "collect");
  return { ...graph, stages, level, atStart, schedule: order };
}

/** Data that are up to date when the plan has run and its swaps are done: `atStart` of the next one. */
export const nextStart = ({ fresh, stages }: Plan): ReadonlySet<Derived> => exchanged(fresh, stages.swaps);

/** Data that are up to date under their names after swaps. */
export function exchanged(fresh: ReadonlySet<Derived>, swaps: readonly Pair[]): Set<Derived> {
  const next = new Set(fresh);
  for (const [a, b] of swaps) {
    if (a instanceof Scalar || b instanceof Scalar) continue;
    const before = [next.has(a), next.has(b)];
    [b, a].forEach((field, n) => (before[n] ? next.add(field) : next.delete(field)));
  }
  return next;
}
