import type { DependencyGraph, Hint } from "./graph.js";

/** One node, ready to be launched: the paper's task (section V-C). */
export interface Task<N> {
  readonly node: N;
  /** Number of the stream, the same on all members. */
  readonly stream: number;
  /** Tasks of other streams whose events are waited for. */
  readonly waits: readonly Task<N>[];
  /** Why this stream. */
  readonly reason: string;
}

export interface StreamSchedule<N> {
  readonly streams: number;
  /** Levels of a breadth-first search along the dependencies: nodes of one level are independent. */
  readonly levels: readonly (readonly N[])[];
  /** In the order in which the host launches them. */
  readonly tasks: readonly Task<N>[];
  /** Number of pairs of tasks between which an event passes. */
  readonly events: number;
}

interface StreamChoice {
  readonly stream: number;
  readonly reason: string;
}

/**
 * Maps nodes to streams, puts events between streams, and orders the tasks: the three phases of the paper's section V-C. Hints take
 * part in the order only; of one level, nodes that are `urgent` come first.
 */
export function schedule<N extends { readonly name: string }>(
  graph: DependencyGraph<N>,
  hints: readonly Hint<N>[],
  urgent: (node: N) => boolean = () => false,
): StreamSchedule<N> {
  const levels = dependencyLevels(graph.nodes, (node) => graph.parents(node));
  const choices = new Map<N, StreamChoice>();
  const lasts = new Map<number, N>();
  for (const level of levels) chooseStreams(graph, level, choices, lasts);
  const ordered = dependencyLevels(graph.nodes, (node) => [
    ...graph.parents(node),
    ...hints.filter((h) => h.to === node).map((h) => h.from),
  ]);
  const order = ordered.flatMap((level) => [...level.filter(urgent), ...level.filter((node) => !urgent(node))]);
  const tasks = new Map<N, Task<N>>();
  for (const node of order) {
    const { stream, reason } = choices.get(node)!;
    const waits = graph
      .parents(node)
      .map((parent) => tasks.get(parent)!)
      .filter((parent) => parent.stream !== stream);
    tasks.set(node, { node, stream, waits, reason });
  }
  const list = [...tasks.values()];
  return {
    streams: lasts.size,
    levels,
    tasks: list,
    events: list.reduce((count, task) => count + task.waits.length, 0),
  };
}

/** A node is in the first level after all of its parents. */
export function dependencyLevels<N>(nodes: readonly N[], parents: (node: N) => readonly N[]): N[][] {
  const depth = new Map<N, number>();
  const depthOf = (node: N): number => {
    let d = depth.get(node);
    if (d === undefined) depth.set(node, (d = Math.max(-1, ...parents(node).map(depthOf)) + 1));
    return d;
  };
  const levels: N[][] = [];
  for (const node of nodes) (levels[depthOf(node)] ??= []).push(node);
  return levels;
}

/**
 * Streams for the nodes of one level, all different. A stream runs its nodes in order, so it must have run only nodes on which the new one
 * depends; the stream of the last parent saves an event, too.
 */
function chooseStreams<N extends { readonly name: string }>(
  graph: DependencyGraph<N>,
  level: readonly N[],
  choices: Map<N, StreamChoice>,
  lasts: Map<number, N>,
): void {
  const taken = new Set<number>();
  const choose = (node: N, stream: number, reason: string) => {
    taken.add(stream);
    choices.set(node, { stream, reason });
  };
  const open = (node: N, stream: number) => !taken.has(stream) && (!lasts.has(stream) || graph.reaches(lasts.get(stream)!, node));
  const others = level.filter((node) => {
    const parent = graph.parents(node).findLast((p) => open(node, choices.get(p)!.stream));
    if (parent) choose(node, choices.get(parent)!.stream, `the stream of ${parent.name}, on which it depends`);
    return !parent;
  });
  for (const node of others) {
    let stream = 0;
    while (!open(node, stream)) stream++;
    choose(node, stream, lasts.has(stream) ? "a stream that is free again" : "a stream of its own");
  }
  for (const node of level) lasts.set(choices.get(node)!.stream, node);
}
