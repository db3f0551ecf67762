/*
 * Dependency graphs: nodes in the order of a sequential program, edges wherever that order must be kept.
 */

import { getOrMake } from "../entry.js";

/** Something that nodes read and write: a field, a device-resident scalar, the partial results of a reduction. */
export interface Datum {
  readonly name: string;
}

/**
 * Part of a datum that is touched. A member's cells of a field are `internal` or `boundary`, copies of its neighbours' cells lie in the `halo`;
 * everything else is `whole`.
 */
export type DatumPart = "internal" | "boundary" | "halo" | "whole";

/** The unit of dependencies: a node touches all of an atom or nothing. */
export interface Atom {
  readonly datum: Datum;
  readonly part: DatumPart;
}

export interface Accesses {
  readonly reads: readonly Atom[];
  readonly writes: readonly Atom[];
}

type Hazard = "read after write" | "write after read" | "write after write";

/** Why two nodes may not change places. */
export interface Reason {
  readonly hazard: Hazard;
  readonly datum: Datum;
}

/** `to` starts when `from` is complete. */
export interface Edge<N> {
  readonly from: N;
  readonly to: N;
  readonly reasons: readonly Reason[];
}

/** A scheduling hint (paper section V-B): `from` is better launched before `to`, and nothing breaks if it is not. */
export interface Hint<N> {
  readonly from: N;
  readonly to: N;
  readonly reason: string;
}

/** An acyclic graph whose nodes stand in an order that respects the edges. */
export class DependencyGraph<N> {
  private readonly byParent = new Map<N, Edge<N>[]>();
  private readonly byChild = new Map<N, Edge<N>[]>();
  private readonly position: ReadonlyMap<N, number>;
  /** Bit n of an entry: node n is an ancestor. */
  private readonly ancestors: bigint[];

  constructor(
    readonly nodes: readonly N[],
    readonly edges: readonly Edge<N>[],
    /** Dependencies that follow from others, and need no edge. */
    readonly redundant: readonly Edge<N>[] = [],
  ) {
    this.position = new Map(nodes.map((node, n) => [node, n]));
    for (const node of nodes) {
      this.byParent.set(node, []);
      this.byChild.set(node, []);
    }
    for (const edge of edges) {
      this.byParent.get(edge.from)!.push(edge);
      this.byChild.get(edge.to)!.push(edge);
    }
    for (const list of this.byChild.values()) list.sort((a, b) => this.position.get(a.from)! - this.position.get(b.from)!);
    this.ancestors = ancestorsOf(nodes.map((node) => this.incoming(node).map((edge) => this.position.get(edge.from)!)));
  }

  /** In the order of their parents. */
  incoming(node: N): readonly Edge<N>[] {
    return this.byChild.get(node)!;
  }

  outgoing(node: N): readonly Edge<N>[] {
    return this.byParent.get(node)!;
  }

  parents(node: N): N[] {
    return this.incoming(node).map((edge) => edge.from);
  }

  /** True if `to` depends on `from`, directly or not. */
  reaches(from: N, to: N): boolean {
    return contains(this.ancestors[this.position.get(to)!], this.position.get(from)!);
  }

  /** The same graph without the edges that follow from longer paths, except for those to be `kept`. */
  reduced(kept: (edge: Edge<N>) => boolean = () => false): DependencyGraph<N> {
    const follows = (edge: Edge<N>) =>
      !kept(edge) && this.parents(edge.to).some((other) => other !== edge.from && this.reaches(edge.from, other));
    return new DependencyGraph(
      this.nodes,
      this.edges.filter((edge) => !follows(edge)),
      this.edges.filter(follows),
    );
  }
}

/** Who touched an atom since its last write, that included. */
interface AtomState<N> {
  writer: N | undefined;
  readers: N[];
}

/** All dependencies between nodes that stand in sequential order, one edge for each pair. */
export function dependencies<N extends Accesses>(nodes: readonly N[]): DependencyGraph<N> {
  const states = new Map<Datum, Map<DatumPart, AtomState<N>>>();
  const stateOf = ({ datum, part }: Atom): AtomState<N> => {
    const parts = getOrMake(states, datum, () => new Map<DatumPart, AtomState<N>>());
    return getOrMake(parts, part, () => ({ writer: undefined, readers: [] }));
  };
  const edges: Edge<N>[] = [];
  for (const to of nodes) {
    const reasons = new Map<N, Reason[]>();
    const depend = (from: N | undefined, hazard: Hazard, datum: Datum) => {
      if (from === undefined || from === to) return;
      const known = getOrMake(reasons, from, () => []);
      if (!known.some((r) => r.hazard === hazard && r.datum === datum)) known.push({ hazard, datum });
    };
    for (const atom of to.reads) {
      const state = stateOf(atom);
      depend(state.writer, "read after write", atom.datum);
      state.readers.push(to);
    }
    for (const atom of to.writes) {
      const state = stateOf(atom);
      for (const reader of state.readers) depend(reader, "write after read", atom.datum);
      depend(state.writer, "write after write", atom.datum);
      state.writer = to;
      state.readers = [];
    }
    for (const [from, list] of reasons) edges.push({ from, to, reasons: list });
  }
  return new DependencyGraph(nodes, edges);
}

function ancestorsOf(parents: readonly (readonly number[])[]): bigint[] {
  const ancestors: bigint[] = [];
  for (const list of parents) ancestors.push(list.reduce((set, p) => set | ancestors[p] | (1n << BigInt(p)), 0n));
  return ancestors;
}

const contains = (set: bigint, n: number): boolean => ((set >> BigInt(n)) & 1n) === 1n;
