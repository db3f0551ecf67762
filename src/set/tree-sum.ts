import type { ElementToken, Launch } from "../device/device.js";
import { CPU_MEMORY, type View } from "../device/memory/view.js";
import { range } from "../device/launch/policy.js";
import { LaunchError } from "../base/errors.js";
import type { NumericType } from "../ir/types.js";
import { kernel, type Kernel } from "../kernel/declare/kernel.js";
import { i32, view, type Params } from "../kernel/declare/params.js";
import type { DeviceSet } from "./device-set.js";
import { Exchange, type MemberCopy } from "./exchange.js";
import { byLocal, localOf } from "./member.js";

/*
 * Sums of arrays over leaves: arrays of one length, numbered from 0. Each member computes some that follow each other. Leaves are added as a
 * binary tree by number: 0 and 1 of a level make 0 of the next, and a last one without a neighbour goes up as it is. So the bits of a sum depend on
 * the leaves alone, not on the members that have computed them. A member adds what it can (few nodes stay); each member takes a part of all nodes'
 * elements, adds these, and sends the sums to all.
 */

/** Elements up to which the first member alone adds. */
const SMALL = 4096;
/** Elements at whose multiples parts begin. */
const ALIGNED = 64;

/** A node of the tree: leaves from index * 2^level on. */
interface Node {
  readonly level: number;
  readonly index: number;
}

/** Shape of the arrays that `TreeSum` adds. */
export interface TreeSumOptions {
  /** For errors: the name of what is summed up. */
  readonly name: string;
  /** Elements of each leaf. */
  readonly length: number;
  /** Number of leaves of each member, one after the other. */
  readonly leaves: readonly number[];
  /** Memory that takes the sum, by member of this process: contiguous, of rank 1. */
  readonly results: readonly View[];
}

/** Pushes a node; returns how often the top of the stack was added to the one below. */
function push(stack: Node[], node: Node): number {
  stack.push(node);
  let merges = 0;
  for (; stack.length > 1 && areSiblings(stack.at(-2)!, stack.at(-1)!); merges++) {
    const { level, index } = stack.at(-2)!;
    stack.splice(-2, 2, { level: level + 1, index: index / 2 });
  }
  return merges;
}

const areSiblings = (left: Node, right: Node): boolean =>
  left.level === right.level && left.index % 2 === 0 && right.index === left.index + 1;

/** Nodes that stay of leaves from `first` on. */
function nodesOf(first: number, count: number): Node[] {
  const stack: Node[] = [];
  for (let leaf = first; leaf < first + count; leaf++) push(stack, { level: 0, index: leaf });
  return stack;
}

/** Additions of a whole tree's nodes, in order: row `from` is added to row `to`. The sum is in row 0. */
function additionsOf(nodes: readonly Node[]): [to: number[], from: number[]] {
  const [to, from]: [number[], number[]] = [[], []];
  const stack: Node[] = [];
  const rows: number[] = [];
  const add = (): void => {
    from.push(rows.pop()!);
    to.push(rows.at(-1)!);
  };
  for (const [row, node] of nodes.entries()) {
    rows.push(row);
    for (let merges = push(stack, node); merges > 0; merges--) add();
  }
  // Nodes without a right neighbour go up.
  while (rows.length > 1) add();
  return [to, from];
}

const kernels = new Map<NumericType, { readonly add: Kernel; readonly join: Kernel }>();

function kernelsOf(type: NumericType): { readonly add: Kernel; readonly join: Kernel } {
  const known = kernels.get(type);
  if (known) return known;
  const token = { kind: "scalar", type } as const;
  const made = {
    add: kernel("add leaf", { sum: view(token), leaf: view(token) }, ({ sum, leaf }, i) => {
      sum[i] = sum[i] + leaf[i];
    }) as unknown as Kernel,
    join: kernel(
      "join leaves",
      { rows: view(token, 2, { disjoint: true }), to: view(i32), from: view(i32), count: i32 },
      ({ rows, to, from, count }, i) => {
        for (let n = 0; n < count; n++) rows[to[n]][i] = rows[to[n]][i] + rows[from[n]][i];
      },
    ) as unknown as Kernel,
  };
  kernels.set(type, made);
  return made;
}

/** One member's part of a sum. */
interface Share {
  /** Stack of nodes: the slot of the next leaf is the one at its height. */
  readonly slots: readonly View[];
  /** For each leaf its slot, and the additions after it. */
  readonly leaves: readonly { readonly slot: number; readonly adds: readonly Launch[] }[];
  /** All nodes' elements of the member's part, a row each; none where it adds nothing for others. */
  readonly rows?: View;
  readonly join?: Launch;
  free(): void;
}

/**
 * A sum over leaves, whose bits do not depend on how leaves are shared out among the members of a set, in one process or several. All members end with
 * the sum. Work is ordered in stream 0 of each member.
 */
export class TreeSum<T extends NumericType = NumericType> {
  private readonly shares: readonly Share[];
  private readonly rows: Exchange;
  private readonly sums: Exchange;
  /** Members that add others' elements. */
  private readonly owners: readonly number[];
  /** Whether all work is in streams of this process, so that events between them are enough. */
  private readonly isInStreams: boolean;

  /** @throws LaunchError where a set has no leaf */
  constructor(
    readonly set: DeviceSet,
    private readonly type: ElementToken<T>,
    private readonly options: TreeSumOptions,
  ) {
    const { name, leaves, length } = options;
    const total = leaves.reduce((sum, count) => sum + count, 0);
    if (leaves.length !== set.members.length || total === 0)
      throw new LaunchError(
        `"${name}" is summed up over [${leaves}] leaves on the ${set.members.length} members of ${set.name}: give a number for each, one or more in all`,
      );
    const firsts = leaves.map((_, m) => leaves.slice(0, m).reduce((sum, count) => sum + count, 0));
    const nodes = firsts.map((first, m) => nodesOf(first, leaves[m]));
    const parts = partsOf(length, set.members.length);
    const before = nodes.map((_, m) => nodes.slice(0, m).flat().length);
    this.shares = byLocal(set, (_, m) => this.shareOf(m, firsts[m], nodes.flat(), parts[m]));
    this.owners = [...set.members.keys()].filter((m) => parts[m][1] > parts[m][0]);
    this.isInStreams = set.ranks === undefined && set.locals.every(({ device }) => device.memory !== CPU_MEMORY);
    const { rows, sums } = this.plan(nodes, before, parts);
    const exchange = (copies: readonly MemberCopy[]): Exchange => new Exchange(set, copies, name, `sum "${name}"`);
    [this.rows, this.sums] = [exchange(rows), exchange(sums)];
  }

  /** Memory that leaf `n` of a member of this process, counted from its first, is written to; whatever it holds is what earlier leaves left. */
  leaf(member: number, n: number): View<T> {
    const { slots, leaves } = this.shares[member];
    return slots[leaves[n].slot] as View<T>;
  }

  /** Adds leaf `n` of a member of this process, once it is written, as far as it can be; leaves come in order. */
  add(member: number, n: number): void {
    const queue = localOf(this.set, member).queue(0);
    for (const launch of this.shares[member].leaves[n].adds) queue.submit(launch);
  }

  /** Brings the members' nodes together and leaves the sum in the results of all; all processes call it, once all leaves are added. */
  finish(): void {
    const { set, shares } = this;
    if (set.members.length === 1) return;
    const joins = (): void => {
      for (const member of set.locals) {
        const { join } = shares[member.index];
        if (join) member.queue(0).submit(join);
      }
    };
    if (this.isInStreams) return this.finishInStreams(joins);
    this.bring(this.rows);
    joins();
    this.bring(this.sums);
  }

  /**
   * The same by two waits. A copy is in its source's stream. Before rows are written owners have sent the last sums, for which all have waited; before results are
   * written owners have waited for all work on them.
   */
  private finishInStreams(joins: () => void): void {
    const all = this.set.locals.map(({ index }) => index);
    this.rows.run();
    this.wait(this.owners, all);
    joins();
    this.sums.run();
    this.wait(all, this.owners);
  }

  /** Makes members wait for what others have been given. */
  private wait(members: readonly number[], others: readonly number[]): void {
    const queueOf = (m: number) => localOf(this.set, m).queue(0);
    const events = others.map((m) => ({ m, event: queueOf(m).record() }));
    for (const member of members) for (const { m, event } of events) if (m !== member) queueOf(member).wait(event);
  }

  free(): void {
    this.shares.forEach((share) => share.free());
    for (const exchange of [this.rows, this.sums]) exchange.free();
  }

  /** Copies between members, each after what both have been given, and before what follows. */
  private bring(exchange: Exchange): void {
    this.meet();
    exchange.run();
    this.meet();
  }

  /** Makes the members of this process wait for each other; CPUs do their work in order anyway. */
  private meet(): void {
    const queues = this.set.locals.filter(({ device }) => device.memory !== CPU_MEMORY).map((member) => member.queue(0));
    if (queues.length < 2) return;
    const events = queues.map((queue) => queue.record());
    queues.forEach((queue, n) => events.forEach((event, m) => n !== m && queue.wait(event)));
  }

  private shareOf(m: number, first: number, all: readonly Node[], [begin, end]: readonly [number, number]): Share {
    const { length, leaves: counts, results } = this.options;
    const { device } = localOf(this.set, m);
    const alone = this.set.members.length === 1;
    const { add, join } = kernelsOf(this.type.type);
    const stack: Node[] = [];
    const heights: { slot: number; merges: number }[] = [];
    for (let n = 0; n < counts[m]; n++) {
      const slot = stack.length;
      heights.push({ slot, merges: push(stack, { level: 0, index: first + n }) });
    }
    const most = Math.max(0, ...heights.map(({ slot }) => slot + 1));
    const memory = device.array(this.type, Math.max(1, (alone ? most - 1 : most) * length));
    const inMemory = (n: number): View => memory.slice([n * length, (n + 1) * length]);
    // A member without others adds in place of the result.
    const slots = Array.from({ length: most }, (_, n): View => (alone ? (n === 0 ? results[m] : inMemory(n - 1)) : inMemory(n)));
    const adding = (to: number): Launch =>
      device.prepare<Params>(add, { sum: slots[to], leaf: slots[to + 1] }, range(length), { precision: "strict" });
    const adds = Array.from({ length: Math.max(0, most - 1) }, (_, to) => adding(to));
    const leaves = heights.map(({ slot, merges }, n) => {
      const ups = alone && n === counts[m] - 1 ? slot : merges;
      return { slot, adds: Array.from({ length: ups }, (_, k) => adds[slot - 1 - k]) };
    });
    const launches = [...adds];
    const owned: View[] = [memory];
    let rows: View | undefined;
    let joining: Launch | undefined;
    if (!alone && end > begin) {
      rows = device.array(this.type, [all.length, end - begin]);
      const [to, from] = additionsOf(all);
      const lists = [to, from].map((list) => device.from(i32, list.length > 0 ? list : [0]));
      owned.push(rows, ...lists);
      joining = device.prepare<Params>(join, { rows, to: lists[0], from: lists[1], count: to.length }, range(end - begin), {
        precision: "strict",
      });
      launches.push(joining);
    }
    const free = (): void => {
      for (const launch of launches) launch.free();
      for (const one of owned) one.free();
    };
    return { slots, leaves, rows, join: joining, free };
  }

  /** The copies of all processes, in one order. */
  private plan(nodes: readonly (readonly Node[])[], before: readonly number[], parts: readonly (readonly [number, number])[]) {
    const { results } = this.options;
    const members = [...this.set.members.keys()];
    if (members.length === 1) return { rows: [], sums: [] };
    const { owners } = this;
    const row = (m: number, n: number): View | undefined => this.shares[m]?.rows?.at(0, n);
    const rows = owners.flatMap((to) =>
      members.flatMap((from) =>
        nodes[from].map((_, n): MemberCopy => ({
          from,
          to,
          source: this.shares[from]?.slots[n].slice(parts[to]),
          target: row(to, before[from] + n),
        })),
      ),
    );
    const sums = owners.flatMap((from) =>
      members.map((to): MemberCopy => ({ from, to, source: row(from, 0), target: results[to]?.slice(parts[from]) })),
    );
    return { rows, sums };
  }
}

/** The elements that each member adds. */
function partsOf(length: number, members: number): (readonly [begin: number, end: number])[] {
  const each = length <= SMALL ? length : Math.ceil(length / members / ALIGNED) * ALIGNED;
  return Array.from({ length: members }, (_, m) => [Math.min(length, m * each), Math.min(length, (m + 1) * each)] as const);
}
