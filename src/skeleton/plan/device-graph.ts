import type { Container, Field, GridSpecies } from "../../domain/grid/grid.js";
import type { DataView } from "../../domain/grid/parts.js";
import { dependencies, type DependencyGraph, type Hint } from "./graph.js";
import { updatesFor, type StoresInHalos } from "./halos.js";
import {
  collectNode,
  computeNode,
  fieldsAcross,
  haloNode,
  meansNeighbours,
  partialsMemory,
  speciesNodes,
  stagesIn,
  type ComputeNode,
  type Derived,
  type HaloNode,
  type Node,
  type PlanStage,
} from "./nodes.js";
import { splits, type OccLevel, type SideSplit } from "./occ.js";
import { dependencyLevels } from "./schedule.js";

export interface DeviceGraph {
  /** Dependencies of the containers as written, each on its standard view. */
  readonly base: DependencyGraph<ComputeNode>;
  /** The graph that is scheduled: with halo updates, splits and collected reductions, without redundant edges. */
  readonly graph: DependencyGraph<Node>;
  readonly hints: readonly Hint<Node>[];
  readonly splits: ReadonlyMap<number, SideSplit>;
  /** Fields whose halos are up to date when all is done, and species that are sorted. */
  readonly fresh: ReadonlySet<Derived>;
}

/** How halos come up to date. */
interface Ways {
  /** Containers that store in halos themselves. Default: none. */
  readonly able?: StoresInHalos;
  /** Copies are messages between processes, which travel while the host computes. */
  readonly messages?: boolean;
}

/**
 * Makes the graph for `members` devices out of a sequence of containers. On one member nothing is split, no halo is updated, and reductions
 * go straight into their scalars. `fresh` are the fields whose halos are up to date, and the species that are sorted, at the start.
 */
export function deviceGraph(
  containers: readonly Container[],
  members: number,
  level: OccLevel,
  fresh: ReadonlySet<Derived>,
  { able = () => false, messages = false }: Ways = {},
): DeviceGraph {
  const stages = stagesIn(containers);
  const base = dependencies(stages.map((stage) => computeNode(stage, "standard", "as written")));
  if (members === 1) return onOneMember(stages, base, fresh);
  const across = new Set(containers.flatMap(fieldsAcross));
  const inHalos: StoresInHalos = (container, field) => level === "in-kernel" && across.has(field) && able(container, field);
  const updates = updatesFor(containers, fresh, inHalos);
  const split = splits(base, updates.halos, level);
  for (const { container, number } of stages)
    if (container.uses.some((use) => use.written && inHalos(container, use.field))) split.delete(number);
  const nodes = stages.flatMap((stage) => [
    ...sortsBefore(stage, updates.sorts[stage.number], members),
    ...stageNodes(stage, updates.halos[stage.number], split.get(stage.number), inHalos),
  ]);
  const graph = dependencies(nodes).reduced(meansNeighbours);
  return { base: base.reduced(), graph, hints: hintsOf(graph, split, messages), splits: split, fresh: updates.fresh };
}

function onOneMember(stages: readonly PlanStage[], base: DependencyGraph<ComputeNode>, fresh: ReadonlySet<Derived>): DeviceGraph {
  const nothing = { base: base.reduced(), hints: [], splits: new Map<number, SideSplit>() };
  const updates = updatesFor(
    stages.map(({ container }) => container),
    fresh,
    () => false,
  );
  const nodes: readonly Node[] = stages.flatMap((stage) => [
    ...sortsBefore(stage, updates.sorts[stage.number], 1),
    base.nodes[stage.number],
  ]);
  const species = new Set(updates.sorts.flat());
  const moved = stages.flatMap(({ container: { particles } }) => (particles?.moves ? [particles.species] : []));
  // Halos there are none: they stay as they were.
  const kept = [...fresh].filter((derived) => !moved.includes(derived as GridSpecies));
  const sorted = [...updates.fresh].filter((derived) => species.has(derived as GridSpecies));
  return { ...nothing, graph: dependencies(nodes).reduced(), fresh: new Set([...kept, ...sorted]) };
}

function sortsBefore(stage: PlanStage, species: readonly GridSpecies[], members: number): Node[] {
  return species.flatMap((each) =>
    speciesNodes(
      each,
      stage,
      `${stage.name} asks for the cells of ${each.name}, whose positions have changed since they were sorted`,
      members,
    ),
  );
}

/** Nodes of one container on several members. */
function stageNodes(stage: PlanStage, stale: readonly Field[], split: SideSplit | undefined, inHalos: StoresInHalos): Node[] {
  const { container, name } = stage;
  const partials = partialsMemory(container);
  const written = new Set(container.uses.filter((use) => use.written).map((use) => use.field));
  const peerStored = [...written].filter((field) => inHalos(container, field));
  const halos = stale.map((field) =>
    haloNode(field, stage, `${name} reads neighbours of ${field.name}, whose halos are stale since it was written`),
  );
  const compute = split
    ? (["internal", "boundary"] as const).map((view) => computeNode(stage, view, split.reason, partials))
    : [
        computeNode(
          stage,
          "standard",
          peerStored.length > 0 ? "what neighbours read is stored there, too" : "nothing to overlap with",
          partials,
          peerStored,
        ),
      ];
  const collect = collectNode(stage, "each member has folded its own cells only", partials);
  return [...halos, ...compute, ...(container.reductions.size > 0 ? [collect] : [])];
}

/**
 * Boundary cells that travel are launched before internal ones; and internal cells before a halo update that they hide, unless they have
 * to wait for more than it, or halos are messages.
 */
function hintsOf(graph: DependencyGraph<Node>, split: ReadonlyMap<number, SideSplit>, messages: boolean): Hint<Node>[] {
  const hints: Hint<Node>[] = [];
  const add = (from: Node, to: Node, reason: string) => {
    if (!leads(graph, hints, to, from)) hints.push({ from, to, reason });
  };
  const levels = dependencyLevels(graph.nodes, (node) => graph.parents(node));
  const levelOf = (node: Node) => levels.findIndex((level) => level.includes(node));
  const part = (stage: number, view: DataView) =>
    graph.nodes.find((node) => node.kind === "compute" && node.stage === stage && node.view === view)!;
  const halos = graph.nodes.filter((node): node is HaloNode => node.kind === "halo" && split.has(node.stage));
  for (const [stage, { side, stencils }] of split) {
    const internal = part(stage, "internal");
    if (side === "before") add(part(stage, "boundary"), internal, "what travels is computed first");
    else if (!messages)
      for (const halo of halos)
        if (stencils.has(halo.stage) && levelOf(part(halo.stage, "internal")) <= levelOf(halo))
          add(internal, halo, "the device gets work before the host starts the copies");
  }
  return hints;
}

/** True if hints and dependencies lead from one node to another. */
function leads(graph: DependencyGraph<Node>, hints: readonly Hint<Node>[], from: Node, to: Node): boolean {
  const seen = new Set<Node>();
  const visit = (node: Node): boolean => {
    if (node === to) return true;
    if (seen.has(node)) return false;
    seen.add(node);
    return graph.outgoing(node).some((edge) => visit(edge.to)) || hints.some((hint) => hint.from === node && visit(hint.to));
  };
  return visit(from);
}
