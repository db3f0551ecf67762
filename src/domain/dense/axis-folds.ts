import type { Launch, Precision } from "../../device/device.js";
import type { View } from "../../device/memory/view.js";
import { byLocal, ifLocal, isLocal } from "../../set/index.js";
import { axisExchange, cellBounds, resultSizes, type AxisExchange, type Join } from "../container/axis-exchange.js";
import type { Container } from "../grid/grid.js";
import type { HaloCopy, Round, Rounds } from "../grid/parts.js";
import { Folding, Stack } from "./folding.js";
import { inOrder, MemberFolds, type FoldedCells, type MemberCells } from "./member-folds.js";

/*
 * Runs containers that reduce along axes. Where the last axis stays, each member folds what is its own, and sends it to the others. Where it is folded, each member
 * folds its planes to a few entries, and messages bring these together (container/axis-exchange.ts).
 */

export function axisFoldRounds(
  container: Container,
  precision: Precision,
  cells: (member: number) => MemberCells,
  folded: (member: number) => FoldedCells,
): Rounds {
  const { grid } = container;
  const last = grid.dimension - 1;
  return container.axisFolds![0].array.has(last)
    ? ownPlanes(container, precision, cells, folded)
    : new CutAxisFolds(container, precision, cells, folded).rounds();
}

/** Copies of the results of one member, or of its part of them, to all others. */
function spread({ grid, axisFolds = [] }: Container, from: number, { bounds }: FoldedCells): HaloCopy[] {
  return axisFolds.flatMap(({ array }) => {
    const piece = (on: number): View | undefined => ifLocal(grid.set, on, () => array.piece(on, bounds[0]));
    return [...grid.set.members.keys()].filter((to) => to !== from).map((to) => ({ from, to, source: piece(from), target: piece(to) }));
  });
}

/** The results of reduction `n` on a member, for the folded cells. */
function window({ axisFolds }: Container, n: number, on: number, { bounds }: FoldedCells): View {
  const { array, first, params } = axisFolds![n];
  return array.window(on, bounds.toReversed(), first, params.length);
}

/** One round: each member has results of its own planes. */
function ownPlanes(
  container: Container,
  precision: Precision,
  cells: (member: number) => MemberCells,
  folded: (member: number) => FoldedCells,
): Rounds {
  const { members } = container.grid.set;
  const made: Folding[] = [];
  const launches = members.map((): Launch[] => []);
  const copies: HaloCopy[] = [];
  for (const [m, member] of members.entries()) {
    const own = folded(m);
    const isEmpty = own.bounds.some(([first, end]) => first >= end);
    if (isEmpty) continue;
    copies.push(...spread(container, m, own));
    if (!isLocal(member)) continue;
    const folds = new MemberFolds(container, precision, member.device, cells(m), own);
    made.push(folds);
    launches[m].push(...folds.results((n) => window(container, n, m, own)));
  }
  return {
    rounds: [{ launches, copies }],
    free() {
      for (const folds of made) folds.free();
    },
  };
}

/** Folds the cut axis: strict mode in the order of container/fold-order.ts, fast mode in the order of members. */
class CutAxisFolds {
  private readonly exchange: AxisExchange;
  /** By position among the members that take part; of this process. */
  private readonly own: readonly MemberFolds[];
  /** By member of this process. */
  private readonly foldings: readonly Folding[];
  private readonly all: readonly number[];
  /** Numbers of the reductions. */
  private readonly folds: readonly number[];
  /** Values of a block of the results, by reduction. */
  private readonly block: readonly number[];

  constructor(
    private readonly container: Container,
    precision: Precision,
    cells: (member: number) => MemberCells,
    private readonly folded: (member: number) => FoldedCells,
  ) {
    const { set } = container.grid;
    this.all = [...set.members.keys()];
    this.folds = [...container.axisFolds!.keys()];
    this.exchange = axisExchange(container, precision);
    const { ranges, lists, blocks, tree } = this.exchange;
    this.block = resultSizes(container, cellBounds(container)).map((size) => Math.ceil(size / blocks));
    const own = Array<MemberFolds>(this.exchange.members.length);
    for (const [position, m] of this.exchange.members.entries()) {
      const member = set.members[m];
      if (!isLocal(member)) continue;
      const joins = tree.flat().filter(({ to }) => to === position);
      const capacity = Math.max(...[lists[position], ...joins.map(({ pushed }) => pushed)].map(({ longest }) => longest));
      const planes = { range: ranges[position], blocks, capacity };
      own[position] = new MemberFolds(container, precision, member.device, cells(m), folded(m), planes);
    }
    this.own = own;
    this.foldings = byLocal(set, ({ device }) => new Folding(container, precision, device));
  }

  rounds(): Rounds {
    const free = (): void => {
      for (const list of [this.own, this.foldings]) list.forEach((folding) => folding.free());
    };
    return { rounds: this.exchange.blocks === 1 ? this.upATree() : this.byBlocks(), free };
  }

  /** Each list goes to the root in log2(members) rounds, and the results from there to all. */
  private upATree(): Round[] {
    const { members, tree, whole } = this.exchange;
    if (members.length === 0) return [{ launches: this.all.map(() => []), copies: [] }];
    const inboxes = members.map((m, position) => {
      const most = Math.max(0, ...tree.flat().map(({ to, sent }) => (to === position ? sent : 0)));
      return most === 0 || !this.foldings[m] ? [] : this.folds.map((n) => this.foldings[m].array(n, most * this.block[n]));
    });
    const inbox = (n: number, { to, sent }: Join): View | undefined => inboxes[to][n]?.slice([0, sent * this.block[n]]);
    const pushed = (join: Join): Launch[] =>
      this.folds.map((n) =>
        this.foldings[members[join.to]].push(n, this.own[join.to].stacks[n], join.before, inbox(n, join)!, join.pushed),
      );
    const sent = (join: Join): HaloCopy[] =>
      this.folds.map((n) => {
        const source = this.own[join.from]?.stacks[n].entries(0, 0, join.sent);
        return { from: members[join.from], to: members[join.to], source, target: inbox(n, join) };
      });
    let launches = this.entries();
    const rounds = tree.map((joins): Round => {
      const round = { launches, copies: joins.flatMap(sent) };
      launches = this.perMember((m) => joins.filter(({ to }) => members[to] === m).flatMap(pushed));
      return round;
    });
    const [root] = members;
    const height = whole.list.length;
    const roots = (): Launch[] =>
      this.folds.map((n) => this.foldings[root].root(n, this.own[0].stacks[n].entries(0, 0, height), height, this.window(n, root), true));
    const ends = this.perMember((m) => (m === root ? [...launches[m], ...roots()] : launches[m]));
    return [...rounds, { launches: ends, copies: spread(this.container, root, this.folded(root)) }];
  }

  /** Each member joins all lists for one block of the places; then all gather the blocks. */
  private byBlocks(): Round[] {
    const { members, lists } = this.exchange;
    const starts = lists.map((_, n) => lists.slice(0, n).reduce((sum, { list }) => sum + list.length, 0));
    const total = starts.at(-1)! + lists.at(-1)!.list.length;
    const arrays = (m: number, entries: number): View[] | undefined =>
      this.foldings[m] && this.folds.map((n) => this.foldings[m].array(n, entries * this.block[n]));
    const gathered = members.map((m) => arrays(m, total));
    const results = this.all.map((m) => arrays(m, members.length));
    const sent = (n: number, from: number, to: number): View | undefined =>
      this.own[from]?.stacks[n].entries(to, 0, lists[from].list.length);
    const arrived = (n: number, from: number, to: number): View | undefined =>
      gathered[to]?.[n].slice([starts[from] * this.block[n], (starts[from] + lists[from].list.length) * this.block[n]]);
    const block = (n: number, on: number, of: number): View | undefined =>
      results[on]?.[n].slice([of * this.block[n], (of + 1) * this.block[n]]);

    const launches = this.entries();
    // A member's own entries get to their place among the others by a launch that combines nothing.
    for (const [at, m] of members.entries())
      for (const n of this.own[at] ? this.folds : []) {
        const { length } = lists[at].list;
        const place = new Stack(arrived(n, at, at)!, this.block[n], 1, length);
        launches[m].push(this.foldings[m].push(n, place, 0, sent(n, at, at)!, { merges: Array<number>(length).fill(0) }));
      }
    const pairs = members.flatMap((from, a) => members.map((to, b) => ({ from, to, a, b }))).filter(({ a, b }) => a !== b);
    const scattered = pairs.flatMap(({ from, to, a, b }) =>
      this.folds.map((n) => ({ from, to, source: sent(n, a, b), target: arrived(n, a, b) })),
    );
    const joined = this.perMember((m) => {
      const at = members.indexOf(m);
      return at < 0 ? [] : this.folds.flatMap((n) => this.joinBlock(m, n, gathered[at]![n], block(n, m, at)!));
    });
    const others = members.flatMap((from, of) => this.all.filter((to) => to !== from).map((to) => ({ from, to, of })));
    const exchanged = others.flatMap(({ from, to, of }) =>
      this.folds.map((n) => ({ from, to, source: block(n, from, of), target: block(n, to, of) })),
    );
    const placed = this.perMember((m) =>
      this.folds.map((n) => {
        const into = this.window(n, m);
        return this.foldings[m].root(n, results[m]![n].slice([0, into.size]), 1, into, true);
      }),
    );
    return [
      { launches, copies: scattered },
      { launches: joined, copies: exchanged },
      { launches: placed, copies: [] },
    ];
  }

  /** Pushes the lists of all members for one block of the places, and folds what is left. */
  private joinBlock(m: number, n: number, lists: View, into: View): Launch[] {
    const { whole } = this.exchange;
    const height = whole.list.length;
    const folding = this.foldings[m];
    const stack = folding.stack(n, this.block[n], 1, whole.longest);
    const shape = [1, 1, 1, into.size];
    return [folding.push(n, stack, 0, lists, whole), folding.root(n, stack.entries(0, 0, height), height, inOrder(into, shape), false)];
  }

  /** By member: launches that leave its entries in its stacks. */
  private entries(): Launch[][] {
    const { members } = this.exchange;
    return this.perMember((m) => this.own[members.indexOf(m)]?.entries((n) => this.window(n, m).shape) ?? []);
  }

  /** By member: launches, none for members of other processes. */
  private perMember(launches: (member: number) => Launch[]): Launch[][] {
    return this.all.map((m) => (isLocal(this.container.grid.set.members[m]) ? launches(m) : []));
  }

  private window(n: number, m: number): View {
    return window(this.container, n, m, this.folded(m));
  }
}
