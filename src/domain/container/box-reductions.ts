import type { Launch } from "../../device/device.js";
import { range } from "../../device/launch/policy.js";
import { View } from "../../device/memory/view.js";
import type { NumberElement, NumberType, ReduceParam } from "../../ir/types.js";
import { i32, type Params } from "../../kernel/declare/params.js";
import type { Kernel } from "../../kernel/declare/kernel.js";
import { byLocal, isLocal, localOf, type DeviceSet, type LocalMember } from "../../set/index.js";
import type { HaloCopy, Round, Span } from "../grid/parts.js";
import { afterLaunches, gatherRounds, type Spread } from "./all-gather.js";
import { partialsPerRow, rowCount, type BoxExchange, type Pieces } from "./box-exchange.js";
import { moveKernel, pickKernel } from "./moves.js";
import { foldKernel, type NamedFold } from "./fold-kernel.js";
import type { PartialRows } from "./rows.js";

/* Strict reductions of grids whose members have some of the rows of their planes. */

/** The part of a member's partials that one launch takes, and the copy that brings them into the order of the member's rows, if they are not in it. */
export interface PartialsPiece {
  readonly target: View;
  readonly moved?: { readonly from: View; readonly to: View };
}

/**
 * @param all room for the partials of a member, in the order of its rows, and as much again for launches that leave them in another order
 * @param box planes and rows of the launch, counted from the member's first ones in `rows`
 * @param before partials of launches before it
 */
export function pieceOfPartials(
  rows: PartialRows,
  member: number,
  all: View,
  [planes, lines]: readonly Span[],
  before: number,
): PartialsPiece {
  const [each, own] = [partialsPerRow(rows), rowCount(rows, member)];
  const shape = [1, planes[1] - planes[0], lines[1] - lines[0], each];
  const length = shape.reduce((a, b) => a * b, 1);
  const place = (planes[0] * own + lines[0]) * each;
  if (lines[1] - lines[0] === own) return { target: all.slice([place, place + length]) };
  const begin = all.size / 2 + before;
  const target = all.slice([begin, begin + length]);
  return {
    target,
    moved: { from: target.reshape(...shape), to: new View(all.buffer, all.type, shape, [0, own * each, each, 1], all.offset + place) },
  };
}

/** The launch that brings partials into the order of rows. */
export const movePartials = ({ device }: LocalMember, { from, to }: NonNullable<PartialsPiece["moved"]>): Launch =>
  device.prepare<Params>(moveKernel(from.type as NumberElement), { from, to }, range(...from.shape));

/** Arrays of one reduction on all members. */
export class BoxCollected {
  /** For launches on each member of this process: see `pieceOfPartials`. */
  readonly partials: readonly View[];
  /** By member: own partials, room for as many, and what others send. */
  private readonly arrays: readonly View[];
  private readonly launches: Launch[] = [];
  private readonly memory: View[] = [];
  private readonly fold: Kernel;
  private readonly type: NumberType;
  private readonly all: readonly number[];
  /** Members that fold groups of partials. */
  private readonly owners: readonly number[];
  /** Members that fold the values of groups. */
  private readonly folding: readonly number[];

  /** @param spread whether all members fold the values of groups, in place of the root, and how they come there */
  constructor(
    private readonly set: DeviceSet,
    { op, type, identity }: ReduceParam,
    private readonly results: readonly View[],
    private readonly exchange: BoxExchange,
    private readonly spread: Spread,
  ) {
    const { owned, groups, pieces } = exchange;
    this.type = type as NumberType;
    this.fold = foldKernel(op as NamedFold, this.type);
    this.all = [...set.members.keys()];
    this.owners = this.all.filter((m) => groups[m].length > 0);
    this.folding = spread !== "root" && this.owners.length > 1 ? this.all : [exchange.root];
    const arriving = this.all.map((m) => pieces.reduce((sum, { from, to, count }) => (to === m && from !== m ? sum + count : sum), 0));
    this.arrays = byLocal(set, (member, m) => {
      const length = Math.max(1, 2 * owned[m] + arriving[m]);
      const view = this.array(member, length);
      member.queue(0).write(view, Array<number>(length).fill(identity as number));
      return view;
    });
    this.partials = this.arrays.map((view, m) => view.slice([0, Math.max(1, 2 * owned[m])]));
  }

  /** Partials to the owners of their groups, the values of groups to whoever folds them, and the result from there to all. */
  rounds(): Round[] {
    const { results, all, owners, folding, set } = this;
    const { root } = this.exchange;
    const here = (m: number): boolean => isLocal(set.members[m]);
    const launches = (make: (m: number) => Launch[]): Launch[][] => all.map((m) => (here(m) ? make(m) : []));
    const { packs, copies } = this.toOwners();
    const first: Round[] = copies.length > 0 ? [{ launches: packs, copies }] : [];
    const spread =
      folding.length > 1
        ? []
        : all.filter((to) => to !== root).map((to): HaloCopy => ({ from: root, to, source: results[root], target: results[to] }));
    if (owners.length < 2) {
      const last = launches((m) => (m === root && owners.length > 0 ? this.foldGroups(m, results[m], false) : []));
      return [...first, { launches: last, copies: spread }];
    }
    const { values, ordered, places, messages } = this.valuesOf();
    const inGroups = launches((m) => (owners.includes(m) ? this.foldGroups(m, values(m, m)!, true) : []));
    const last = launches((m) => {
      if (!folding.includes(m)) return [];
      return [...this.picked(m, ordered.received[m], places, ordered.all[m]), this.folded(m, ordered.all[m], results[m], false)];
    });
    return [...first, ...afterLaunches(inGroups, messages), { launches: last, copies: spread }];
  }

  free(): void {
    for (const launch of this.launches) launch.free();
    for (const view of this.memory) view.free();
  }

  /** Packs what members have for others, and the messages. */
  private toOwners(): { readonly packs: Launch[][]; readonly copies: HaloCopy[] } {
    const { pieces, owned } = this.exchange;
    const packs = this.all.map((): Launch[] => []);
    const copies: HaloCopy[] = [];
    const arrived = this.all.map((m) => 2 * owned[m]);
    for (const { from, to, count, runs } of pieces.filter((each) => each.from !== each.to)) {
      const begin = arrived[to];
      arrived[to] += count;
      let source: View | undefined;
      if (isLocal(this.set.members[from])) {
        source = this.array(localOf(this.set, from), count);
        packs[from].push(
          ...this.picked(
            from,
            this.arrays[from],
            runs.flatMap(({ own, count: length }) => counted(own, length)),
            source,
          ),
        );
      }
      copies.push({ from, to, source, target: this.arrays[to]?.slice([begin, begin + count]) });
    }
    return { packs, copies };
  }

  /** Launches that fold the groups of a member. */
  private foldGroups(m: number, result: View, partials: boolean): Launch[] {
    const { pieces, owned, folded } = this.exchange;
    const gathered = this.array(localOf(this.set, m), folded[m]);
    const places = Array<number>(folded[m]);
    let arrived = 2 * owned[m];
    const put = ({ runs }: Pieces, placeOf: (own: number) => number): void => {
      for (const { own, folded: at, count } of runs) for (let n = 0; n < count; n++) places[at + n] = placeOf(own + n);
    };
    for (const each of pieces)
      if (each.to === m && each.from === m) put(each, (own) => own);
      else if (each.to === m) put(each, () => arrived++);
    return [...this.picked(m, this.arrays[m], places, gathered), this.folded(m, gathered, result, partials)];
  }

  /** Memory for the values of groups: each member's own, and all values on the members that fold them, as they arrive and in order. */
  private valuesOf() {
    const { groups } = this.exchange;
    const begins = [0];
    for (const list of groups) begins.push(begins.at(-1)! + list.length);
    const total = begins.at(-1)!;
    const array = (length: number, on: (m: number) => boolean): View[] =>
      byLocal(this.set, (member, m) => this.array(member, on(m) ? Math.max(1, length) : 1));
    const folds = (m: number): boolean => this.folding.includes(m);
    const received = array(total, folds);
    const own = byLocal(this.set, (member, m) =>
      folds(m) ? received[m].slice([begins[m], begins[m + 1]]) : this.array(member, Math.max(1, groups[m].length)),
    );
    const values = (of: number, on: number): View | undefined =>
      of === on ? own[on]?.slice([0, groups[of].length]) : received[on]?.slice([begins[of], begins[of + 1]]);
    const places = Array<number>(total);
    groups.forEach((list, m) => list.forEach((group, n) => (places[group] = begins[m] + n)));
    const pairs = (): HaloCopy[] =>
      this.owners.flatMap((from) =>
        this.folding
          .filter((to) => to !== from)
          .map((to): HaloCopy => ({
            from,
            to,
            source: values(from, from),
            target: isLocal(this.set.members[to]) ? values(from, to) : undefined,
          })),
      );
    const messages =
      this.spread === "doubling" && this.folding.length > 1
        ? gatherRounds(
            groups.map(({ length }) => length),
            received,
          )
        : [pairs()];
    return { values, ordered: { received, all: array(total, folds) }, places, messages };
  }

  /** The launch that picks values at some places. */
  private picked(m: number, from: View, places: readonly number[], to: View): Launch[] {
    const member = localOf(this.set, m);
    const table = member.device.from(i32, places) as View;
    this.memory.push(table);
    // Indices follow from the plan.
    const launch = member.device.prepare<Params>(pickKernel(this.type), { from, to, places: table }, range(places.length), {
      checked: false,
    });
    this.launches.push(launch);
    return [launch];
  }

  /** A launch that folds values as one line, or leaves what its chunks fold to: `partials`. */
  private folded(m: number, values: View, result: View, partials: boolean): Launch {
    const args = { result, partials: values };
    const launch = localOf(this.set, m).device.prepare<Params>(this.fold, args, range(values.size), { precision: "strict", partials });
    this.launches.push(launch);
    return launch;
  }

  private array({ device }: LocalMember, length: number): View {
    const view = device.array({ type: this.type }, length) as unknown as View;
    this.memory.push(view);
    return view;
  }
}

const counted = (first: number, count: number): number[] => Array.from({ length: count }, (_, n) => first + n);
