import type { Launch, Precision } from "../../device/device.js";
import { range } from "../../device/launch/policy.js";
import type { View } from "../../device/memory/view.js";
import { chunksPerLine } from "../../ir/launch.js";
import type { NumberType, ReduceParam } from "../../ir/types.js";
import type { Kernel } from "../../kernel/declare/kernel.js";
import type { Params } from "../../kernel/declare/params.js";
import { byLocal, isLocal, localOf, type DeviceSet } from "../../set/index.js";
import type { Container } from "../grid/grid.js";
import type { DataView, HaloCopy, Round } from "../grid/parts.js";
import { afterLaunches, gatherRounds, spreadOf, type Spread } from "./all-gather.js";
import { boxExchange } from "./box-exchange.js";
import { BoxCollected } from "./box-reductions.js";
import { foldKernel, type NamedFold } from "./fold-kernel.js";
import { groupsOf, shareGroups, type FoldGroups, type PartialRange } from "./fold-order.js";
import { hasRows, partialRows, type PartialRows } from "./rows.js";

/*
 * Reductions over several devices. In strict mode every member leaves the partials of its rows, one for each REDUCTION_CHUNK cells of the bounding box along x, whatever
 * the kind of grid. They are folded as one line, by the rule of docs/determinism.md: groups of 256 where they are (fold-order.ts), and the values of the groups by all
 * members, which bring them together before. In fast mode a launch leaves one value, and these are folded in the same way.
 */

/** How the partial results of one reduce parameter become a scalar on every member. It serves one set of launches of one precision. */
export interface Collection {
  readonly param: string;
  /** For `prepare`'s option `reductions`, on each member of this process. */
  readonly partials: readonly View[];
  /** Launches and copies that leave the result in the scalar, on each member; none where `partials` are the scalar itself. */
  readonly rounds: readonly Round[];
  /** Frees memory and launches, the scalar excepted. */
  free(): void;
}

/** Launches of one container on one member: standard or internal, and the boundaries at both ends of each axis that is cut. */
const FAST_SLOTS = { slabs: 3, boxes: 5 };

/** Partials that a member leaves for each reduction. */
export function partialsOf(grid: PartialRows, device: number, precision: Precision): number {
  if (precision === "fast") return hasRows(grid) ? FAST_SLOTS.boxes : FAST_SLOTS.slabs;
  return grid.partitions[device].planes * partialsPerPlane(grid);
}

/** Strict partials of one plane of the last axis, all of which a member has. */
function partialsPerPlane({ extents }: PartialRows): number {
  const [nx, ...others] = extents;
  return others.slice(0, -1).reduce((a, b) => a * b, chunksPerLine(nx));
}

/**
 * The part of a member's partials that one launch takes.
 * @param planes the first plane of the launch, counted from the member's first, and their number
 * @param slot which of the member's launches it is, see `slotOf`
 */
export function launchPartials(
  grid: PartialRows,
  partials: View,
  precision: Precision,
  planes: readonly [first: number, count: number],
  slot: number,
): View {
  if (partials.size === 1) return partials;
  if (precision === "fast") return partials.slice([slot, slot + 1]);
  const each = partialsPerPlane(grid);
  return partials.slice([planes[0] * each, (planes[0] + planes[1]) * each]);
}

/** The place of a launch's value among the values of its member: launch `n` of a data view. */
export const slotOf = (dataView: DataView, n: number): number => (dataView === "boundary" ? 1 + n : 0);

/** How the partials of all members become one value. */
interface ScalarExchange {
  /** First partial of each member, and the end of all. */
  readonly cuts: readonly number[];
  readonly groups: FoldGroups;
  /** The member that folds the values of all groups: the owner of the first partial. */
  readonly root: number;
  /** In place of the root every member folds what all have: their partials, or the values of groups. */
  readonly toAll: "partials" | "groups" | undefined;
}

/** Partials, at most, that are sent to all before they are folded in groups. */
const FEW_PARTIALS = 4096;

/** The exchange of one reduction over some cells. */
export function scalarExchange(rows: PartialRows, precision: Precision, spread: Spread): ScalarExchange {
  const cuts = [0];
  for (const m of rows.partitions.keys()) cuts.push(cuts[m] + partialsOf(rows, m, precision));
  const groups = shareGroups(cuts);
  const owners = groups.folded.filter((partials) => sizeOf(partials) > 0).length;
  const isFew = owners > 1 || cuts.at(-1)! <= FEW_PARTIALS;
  return {
    cuts,
    groups,
    root: Math.max(
      0,
      cuts.findIndex((cut, m) => cut < cuts[m + 1]),
    ),
    toAll: spread !== "root" && isFew ? (owners > 1 ? "groups" : "partials") : undefined,
  };
}

/**
 * Memory, copies and launches for one reduction of a container that runs on all members, either on the standard view or on internal and
 * boundary views. On a set of one member the partials are the scalar itself.
 */
export function collect(container: Container, param: string, precision: Precision): Collection {
  const { set } = container.grid;
  const scalar = container.reductions.get(param)!;
  const reduce = container.ir.params.find((p): p is ReduceParam => p.kind === "reduce" && p.name === param)!;
  if (set.members.length === 1) return { param, partials: scalar.views, rounds: [], free() {} };
  const rows = partialRows(container);
  const made =
    precision === "strict" && hasRows(rows)
      ? new BoxCollected(set, reduce, scalar.views, boxExchange(rows), spreadOf(set))
      : new Collected(set, reduce, scalar.views, scalarExchange(rows, precision, spreadOf(set)));
  return { param, partials: made.partials, rounds: made.rounds(), free: () => made.free() };
}

/** Arrays of one reduction on all members. */
class Collected {
  /** Each member's own, of this process. */
  readonly partials: readonly View[];
  /** By member: its own partials, and partials of others that belong to its last group. */
  private readonly gathered: readonly View[];
  /** By member: the values of the groups that it folds; on the root the values of all groups. */
  private readonly groups: readonly View[];
  private readonly launches: Launch[] = [];
  private readonly fold: Kernel;
  private readonly all: readonly number[];
  /** Members that fold groups of partials. */
  private readonly owners: readonly number[];

  constructor(
    private readonly set: DeviceSet,
    { op, type, identity }: ReduceParam,
    private readonly results: readonly View[],
    private readonly exchange: ScalarExchange,
  ) {
    const { cuts, groups, toAll } = exchange;
    this.fold = foldKernel(op as NamedFold, type as NumberType);
    this.all = [...set.members.keys()];
    this.owners = this.all.filter((m) => sizeOf(groups.folded[m]) > 0);
    this.gathered = byLocal(set, (member, m) => {
      const length = Math.max(1, ...(toAll === "partials" ? cuts : [cuts[m + 1] - cuts[m], groups.folded[m][1] - cuts[m]]));
      const view = member.device.array({ type }, length);
      member.queue(0).write(view, Array<number>(length).fill(identity as number));
      return view;
    });
    this.partials = this.gathered.map((view, m) => view.slice(toAll === "partials" ? [cuts[m], cuts[m + 1]] : [0, cuts[m + 1] - cuts[m]]));
    this.groups = byLocal(set, ({ device }, m) =>
      device.array({ type }, Math.max(1, sizeOf(groupsOf(this.hasAll(m) ? [0, cuts.at(-1)!] : groups.folded[m])))),
    );
  }

  private get byDoubling(): boolean {
    return spreadOf(this.set) === "doubling";
  }

  /** Whether a member has the values of all groups. */
  private hasAll(m: number): boolean {
    return m === this.exchange.root || this.exchange.toAll === "groups";
  }

  /** Partials to the owners of their groups, the values of groups to the root, and the result from there to all. */
  rounds(): Round[] {
    const { cuts, groups, root, toAll } = this.exchange;
    const { results, gathered, all, owners } = this;
    if (toAll === "partials") return this.roundsOfPartials();
    const nothing = (): Launch[][] => all.map(() => []);
    const toOwners = groups.messages.map(({ from, to, partials: [first, end] }): HaloCopy => {
      const place = (on: number): View | undefined => gathered[on]?.slice([first - cuts[on], end - cuts[on]]);
      return { from, to, source: place(from), target: place(to) };
    });
    const spread = all.filter((to) => to !== root).map((to) => ({ from: root, to, source: results[root], target: results[to] }));
    const isHere = (m: number): boolean => isLocal(this.set.members[m]);
    const own = (m: number): View => {
      const [first, end] = groups.folded[m];
      return gathered[m].slice([first - cuts[m], end - cuts[m]]);
    };
    const first = toOwners.length > 0 ? [{ launches: nothing(), copies: toOwners }] : [];
    if (owners.length < 2) {
      // One group, or one member that has them all.
      const last = all.map((m) => (m === root && isHere(m) ? [this.folded(m, own(m), results[m], false)] : []));
      return [...first, { launches: last, copies: spread }];
    }
    const values = (of: number, on: number): View | undefined => {
      const [begin, end] = groupsOf(groups.folded[of]);
      return this.groups[on]?.slice(this.hasAll(on) ? [begin, end] : [0, end - begin]);
    };
    const inGroups = all.map((m) => (owners.includes(m) && isHere(m) ? [this.folded(m, own(m), values(m, m)!, true)] : []));
    const folding = all.filter((m) => this.hasAll(m));
    const toFolding = (): HaloCopy[] =>
      owners.flatMap((from) =>
        folding.filter((to) => to !== from).map((to) => ({ from, to, source: values(from, from), target: values(from, to) })),
      );
    const sizes = groups.folded.map(groupCount);
    const copies = this.byDoubling && folding.length > 1 ? gatherRounds(sizes, this.groups) : [toFolding()];
    const last = all.map((m) => (folding.includes(m) && isHere(m) ? [this.folded(m, this.groups[m], results[m], false)] : []));
    return [...first, ...afterLaunches(inGroups, copies), { launches: last, copies: folding.length > 1 ? [] : spread }];
  }

  /** Partials of each member to all others, which fold all of them. */
  private roundsOfPartials(): Round[] {
    const { gathered, all, results } = this;
    const { cuts } = this.exchange;
    const pairs = (): HaloCopy[] =>
      all.flatMap((from) =>
        all
          .filter((to) => to !== from && cuts[from] < cuts[from + 1])
          .map((to): HaloCopy => {
            const place = (on: number): View | undefined => gathered[on]?.slice([cuts[from], cuts[from + 1]]);
            return { from, to, source: place(from), target: place(to) };
          }),
      );
    const last = all.map((m) =>
      isLocal(this.set.members[m]) ? [this.folded(m, gathered[m].slice([0, cuts.at(-1)!]), results[m], false)] : [],
    );
    const sizes = all.map((m) => cuts[m + 1] - cuts[m]);
    const copies = this.byDoubling ? gatherRounds(sizes, gathered) : [pairs()];
    return [
      ...afterLaunches(
        all.map(() => []),
        copies,
      ),
      { launches: last, copies: [] },
    ];
  }

  free(): void {
    for (const launch of this.launches) launch.free();
    for (const views of [this.gathered, this.groups]) views.forEach((view) => view.free());
  }

  /** A launch that folds values as one line, or leaves what its chunks fold to: `partials`. */
  private folded(m: number, values: View, result: View, partials: boolean): Launch {
    const args = { result, partials: values };
    const launch = localOf(this.set, m).device.prepare<Params>(this.fold, args, range(values.size), { precision: "strict", partials });
    this.launches.push(launch);
    return launch;
  }
}

const sizeOf = ([first, end]: PartialRange): number => end - first;

/** Groups of the partials that a member folds. */
export const groupCount = (folded: PartialRange): number => (sizeOf(folded) === 0 ? 0 : sizeOf(groupsOf(folded)));

/** The rounds of several collections side by side. */
export function roundsOf(collections: readonly Collection[], members: number): Round[] {
  const count = Math.max(0, ...collections.map(({ rounds }) => rounds.length));
  // The last ones are the same for all: the values of groups, and the result.
  const aligned = collections.map(({ rounds }) => [...Array<undefined>(count - rounds.length).fill(undefined), ...rounds]);
  return Array.from({ length: count }, (_, n) => ({
    launches: Array.from({ length: members }, (_, m) => aligned.flatMap((rounds) => rounds[n]?.launches[m] ?? [])),
    copies: aligned.flatMap((rounds) => rounds[n]?.copies ?? []),
  }));
}
