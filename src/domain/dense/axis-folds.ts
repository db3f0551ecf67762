import type { Launch, Precision } from "../../device/device.js";
import type { View } from "../../device/memory/view.js";
import { byLocal, ifLocal, isLocal } from "../../set/index.js";
import { axisExchange, isDirect, isPiece, memberBounds, type CellBounds, type Join, type Line } from "../container/axis-exchange.js";
import type { Container } from "../grid/grid.js";
import type { HaloCopy, Rounds } from "../grid/parts.js";
import { FoldLaunches, Stack } from "./folding.js";
import { rowsInOrder, MemberFolds, type MemberCells } from "./member-folds.js";

/*
 * Runs containers that reduce along axes. Each member folds its cells to a few entries, or to results where all cells of these are its own; messages bring entries
 * together along lines of members (container/axis-exchange.ts), and results to all.
 */

export function axisFoldRounds(container: Container, precision: Precision, cells: (member: number) => MemberCells): Rounds {
  return new AxisFolds(container, precision, cells);
}

/** Stacks of the members of a line, by position in it, one for each reduction. Members of other processes have none here. */
type Stacks = readonly (readonly Stack[] | undefined)[];

/** A line whose root has the entries of all its cells, and the round in which it can use them. */
interface Joined {
  readonly step: number;
  /** None where its only member has results without entries. */
  readonly stacks: Stacks;
}

class AxisFolds implements Rounds {
  readonly rounds: { readonly launches: Launch[][]; readonly copies: HaloCopy[] }[] = [];
  /** By member of this process. */
  private readonly foldings: readonly FoldLaunches[];
  private readonly own: MemberFolds[] = [];
  private readonly all: readonly number[];
  /** Numbers of the reductions. */
  private readonly folds: readonly number[];

  constructor(
    private readonly container: Container,
    precision: Precision,
    cells: (member: number) => MemberCells,
  ) {
    const { set } = container.grid;
    this.all = [...set.members.keys()];
    this.folds = [...container.axisFolds!.keys()];
    this.foldings = byLocal(set, ({ device }) => new FoldLaunches(container, precision, device));
    const bounds = memberBounds(container);
    const { lines, last } = axisExchange(container, precision);
    for (const m of lines.flatMap(({ members }) => members)) {
      const member = set.members[m];
      if (isLocal(member)) this.own[m] = new MemberFolds(container, precision, member.device, cells(m), bounds[m]);
    }
    this.at(0);
    const joined = lines.map((line) => this.join(line));
    if (last) this.finish(last, this.joinLeaves(last, lines, joined));
    else lines.forEach((line, n) => this.finish(line, joined[n]));
  }

  free(): void {
    for (const list of [this.own, this.foldings]) list.forEach((folding) => folding.free());
  }

  /** Brings the entries of a line's members to its root. */
  private join(line: Line): Joined {
    if (isDirect(line)) return { step: 0, stacks: [] };
    const stacks = this.stacksOf(line);
    line.members.forEach((m, position) => this.launch(0, m, () => this.own[m].entries(stacks[position]!)));
    return { step: this.upTree(line, stacks, 0), stacks };
  }

  /** Folds the planes that the root of each line knows of, which leaves a value for each leaf of rows, and brings these to the root of all. */
  private joinLeaves(last: Line, lines: readonly Line[], joined: readonly Joined[]): Joined {
    const stacks = this.stacksOf(last);
    last.members.forEach((root, position) => {
      const { whole, values } = lines[position];
      const { step, stacks: known } = joined[position];
      this.launch(step, root, () =>
        this.folds.flatMap((n) => {
          const rows = this.foldings[root].array(n, values[n]);
          const folded = this.foldEntries(n, root, known[0]![n], whole.list.length, rowsInOrder(rows, [1, 1, 1, values[n]]), false);
          return [folded, this.foldings[root].push(n, stacks[position]![n], 0, rows, last.lists[position])];
        }),
      );
    });
    return { step: this.upTree(last, stacks, Math.max(...joined.map(({ step }) => step))), stacks };
  }

  private stacksOf({ members, lists, tree, values, blocks }: Line): Stacks {
    return members.map((m, position) => {
      const joins = tree.flat().filter(({ to }) => to === position);
      const capacity = Math.max(...[lists[position], ...joins.map(({ pushed }) => pushed)].map(({ longest }) => longest));
      return this.foldings[m] && this.folds.map((n) => this.foldings[m].stack(n, values[n], blocks, capacity));
    });
  }

  /** Each list goes to the root in log2(members) rounds. Gives the round after them. */
  private upTree({ members, tree, values }: Line, stacks: Stacks, begin: number): number {
    const inboxes = members.map((m, position) => {
      const most = Math.max(0, ...tree.flat().map(({ to, sent }) => (to === position ? sent : 0)));
      return most === 0 || !this.foldings[m] ? [] : this.folds.map((n) => this.foldings[m].array(n, most * values[n]));
    });
    const inbox = (n: number, { to, sent }: Join): View | undefined => inboxes[to][n]?.slice([0, sent * values[n]]);
    const pushed = (join: Join): Launch[] =>
      this.folds.map((n) => this.foldings[members[join.to]].push(n, stacks[join.to]![n], join.before, inbox(n, join)!, join.pushed));
    tree.forEach((joins, round) => {
      for (const join of joins) {
        const { from, to, sent } = join;
        for (const n of this.folds)
          this.copy(begin + round, {
            from: members[from],
            to: members[to],
            source: stacks[from]?.[n].entries(0, 0, sent),
            target: inbox(n, join),
          });
        this.launch(begin + round + 1, members[to], () => pushed(join));
      }
    });
    return begin + tree.length;
  }

  /** Results of a line, and their way to all members. */
  private finish(line: Line, { step, stacks }: Joined): void {
    if (line.blocks > 1) return this.shareOut(line, stacks);
    const { members, whole, bounds, values } = line;
    const [root] = members;
    const inPlace = isPiece(this.container);
    const results = inPlace ? [] : this.all.map((m) => this.arrays(m, (n) => values[n]));
    const into = (n: number): View => (inPlace ? this.window(n, root, bounds) : rowsInOrder(results[root]![n], [1, 1, 1, values[n]]));
    this.launch(step, root, () =>
      isDirect(line)
        ? this.own[root].results(into, inPlace)
        : this.folds.map((n) => this.foldEntries(n, root, stacks[0]![n], whole.list.length, into(n), inPlace)),
    );
    const { grid, axisFolds } = this.container;
    const source = (n: number, on: number): View | undefined =>
      inPlace ? ifLocal(grid.set, on, () => axisFolds![n].array.piece(on, bounds.at(-1)!)) : results[on]?.[n];
    for (const n of this.folds)
      for (const to of this.all) if (to !== root) this.copy(step, { from: root, to, source: source(n, root), target: source(n, to) });
    if (!inPlace) this.place(step + 1, line, results);
  }

  /** Each member of a line joins all its lists for one block of the places; then all gather the blocks. */
  private shareOut(line: Line, stacks: Stacks): void {
    const { members, lists, values, blocks } = line;
    const size = (n: number): number => Math.ceil(values[n] / blocks);
    const starts = lists.map((_, n) => lists.slice(0, n).reduce((sum, { list }) => sum + list.length, 0));
    const total = starts.at(-1)! + lists.at(-1)!.list.length;
    const gathered = members.map((m) => this.arrays(m, (n) => total * size(n)));
    const results = this.all.map((m) => this.arrays(m, (n) => blocks * size(n)));
    const sent = (n: number, from: number, to: number): View | undefined => stacks[from]?.[n].entries(to, 0, lists[from].list.length);
    const arrived = (n: number, from: number, to: number): View | undefined =>
      gathered[to]?.[n].slice([starts[from] * size(n), (starts[from] + lists[from].list.length) * size(n)]);
    const block = (n: number, on: number, of: number): View | undefined => results[on]?.[n].slice([of * size(n), (of + 1) * size(n)]);
    members.forEach((m, at) => {
      // A member's own entries get to their place among the others by a launch that combines nothing.
      this.launch(0, m, () =>
        this.folds.map((n) => {
          const { length } = lists[at].list;
          const own = new Stack(arrived(n, at, at)!, size(n), 1, length);
          return this.foldings[m].push(n, own, 0, sent(n, at, at)!, { merges: Array<number>(length).fill(0) });
        }),
      );
      for (const n of this.folds) {
        members.forEach((to, b) => {
          if (b !== at) this.copy(0, { from: m, to, source: sent(n, at, b), target: arrived(n, at, b) });
        });
        this.launch(1, m, () => this.joinBlock(line, m, n, gathered[at]![n], block(n, m, at)!));
        for (const to of this.all) if (to !== m) this.copy(1, { from: m, to, source: block(n, m, at), target: block(n, to, at) });
      }
    });
    this.place(2, line, results);
  }

  /** Pushes the lists of all members for one block of the places, and folds what is left. */
  private joinBlock({ whole }: Line, m: number, n: number, lists: View, into: View): Launch[] {
    const stack = this.foldings[m].stack(n, into.size, 1, whole.longest);
    const pushed = this.foldings[m].push(n, stack, 0, lists, whole);
    return [pushed, this.foldEntries(n, m, stack, whole.list.length, rowsInOrder(into, [1, 1, 1, into.size]), false)];
  }

  private foldEntries(n: number, m: number, stack: Stack, height: number, into: View, accumulating: boolean): Launch {
    return this.foldings[m].root(n, stack.entries(0, 0, height), height, into, accumulating);
  }

  /** Brings results, which lie in order, to their places in the arrays of all members. */
  private place(step: number, { bounds }: Line, results: readonly (readonly View[] | undefined)[]): void {
    for (const m of this.all)
      this.launch(step, m, () =>
        this.folds.map((n) => {
          const into = this.window(n, m, bounds);
          return this.foldings[m].root(n, results[m]![n].slice([0, into.size]), 1, into, true);
        }),
      );
  }

  /** Memory for each reduction on a member of this process. */
  private arrays(m: number, length: (n: number) => number): View[] | undefined {
    return this.foldings[m] && this.folds.map((n) => this.foldings[m].array(n, length(n)));
  }

  /** The results of reduction `n` on a member, for some cells. */
  private window(n: number, on: number, bounds: CellBounds): View {
    const { array, first, params } = this.container.axisFolds![n];
    return array.window(on, bounds, first, params.length);
  }

  /** Adds launches of a member, if it is of this process. */
  private launch(step: number, m: number, launches: () => Launch[]): void {
    const { launches: all } = this.at(step);
    if (isLocal(this.container.grid.set.members[m])) all[m].push(...launches());
  }

  private copy(step: number, copy: HaloCopy): void {
    this.at(step).copies.push(copy);
  }

  private at(step: number) {
    while (this.rounds.length <= step) this.rounds.push({ launches: this.all.map(() => []), copies: [] });
    return this.rounds[step];
  }
}
