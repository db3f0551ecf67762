import type { Launch } from "../../device/device.js";
import { range } from "../../device/launch/policy.js";
import { BYTES, type LayoutName, type View } from "../../device/memory/view.js";
import type { NumberType } from "../../ir/types.js";
import { i32 } from "../../kernel/declare/params.js";
import { u8 } from "../../kernel/declare/storage.js";
import { makePattern, type Pattern, type PatternSteps } from "../../patterns/pattern.js";
import { planCopy } from "../../patterns/permute.js";
import { planScan } from "../../patterns/scan.js";
import { byLocal, localOf, spansProcesses } from "../../set/index.js";
import { numberIn } from "../../set/exchange.js";
import type { Grid } from "../grid/grid.js";
import { boxOfPlanes } from "../grid/host-rows.js";
import type { HaloCopy } from "../grid/parts.js";
import { cutsRows } from "../grid/split.js";
import { AFTER_CELLS, bury, EMPTY, findCells, findLeaving, forget, noteState, pack, seal, PARTICLE_STATE, vacate } from "./kernels.js";
import { mergeRanks, noteOrigins, ORIGIN } from "./origins.js";
import { planReorder, type Lists } from "./reorder.js";
import { bring } from "./reorder-kernels.js";

/** Strict mode: positions do not depend on the mode of the containers that move particles. */
const STRICT = { precision: "strict" } as const;

/** A column on one member. */
interface Memory {
  /** Arrivals from members before it, the particles' own places, arrivals from members after it: [place][k]. */
  readonly all: View<NumberType, 2>;
  /** By member that gets some: what leaves for it. */
  readonly outboxes: ReadonlyMap<number, View<NumberType, 2>>;
}

/** Messages by which particles go to other members, and the bytes of their outboxes. */
export interface ParticleTraffic {
  readonly messages: number;
  readonly bytes: number;
}

/** A column on all members. */
interface Stored {
  /** Contiguous ranges in which particles travel: components side by side, or one after the other. */
  readonly ranges: number;
  /** By member of this process. */
  readonly memories: readonly Memory[];
}

/** How particles learn where they are. */
interface MigrationOptions {
  /** Particles that a member can hold. */
  readonly capacity: number;
  /** Particles that can go from one member to another at a time. */
  readonly exchange: number;
  /** Whether those that leave the grid are taken out. */
  readonly absorb: boolean;
}

/** Columns of the particles of one species on the members of a set, and the launches that bring each particle to its member and its cell. */
export class Migration {
  /** For each member, the members that it gets particles from and gives them to, in their order. */
  private readonly neighbours: readonly (readonly number[])[];
  private readonly columns = new Map<string, Stored>();
  private readonly owned: { free(): void }[] = [];
  /** Start of each cell's particles, followed by the categories of `AFTER_CELLS`; by member. */
  readonly offsets: readonly View<"i32", 1>[];
  /** The first plane of each member, its first row, and how many rows it has. */
  readonly origins: readonly View<"i32", 1>[];
  readonly states: readonly View<"i32", 1>[];
  /** By member: the places of its outbox for each neighbour that are taken. */
  private readonly taken: readonly View<"i32", 1>[];
  /** For each own place, the cell in whose list it is. */
  readonly cellOf: readonly View<"i32", 1>[];

  constructor(
    private readonly grid: Grid,
    readonly options: MigrationOptions,
  ) {
    const { set, partitions } = grid;
    this.neighbours = partitions.map((_, m) => grid.around(m));
    this.offsets = byLocal(set, ({ device }, m) => this.own(device.array(i32, this.cellsOf(m) + AFTER_CELLS.empty + 1)));
    this.origins = byLocal(set, ({ device }, m) => this.own(device.from(i32, [partitions[m].first, ...this.rowsOf(m)])));
    this.states = byLocal(set, ({ device }) => this.own(device.array(i32, Object.keys(PARTICLE_STATE).length)));
    this.taken = byLocal(set, ({ device }, m) => this.own(device.array(i32, Math.max(1, this.neighbours[m].length))));
    this.cellOf = byLocal(set, ({ device }) => this.own(device.array(i32, options.capacity)));
    if (cutsRows(grid)) this.addColumn(ORIGIN, "i32", 2, "right");
  }

  /** New memory for a column, with 0 everywhere. */
  addColumn(name: string, type: NumberType, components: number, layout: LayoutName): void {
    const { capacity, exchange } = this.options;
    const memories = byLocal(this.grid.set, ({ device }, m): Memory => {
      const array = (length: number): View<NumberType, 2> =>
        this.own(device.array({ type: type as "f64" }, [length, components], { layout }));
      const outboxes = new Map(this.neighbours[m].map((to) => [to, array(exchange)]));
      return { all: array(capacity + this.neighbours[m].length * exchange), outboxes };
    });
    this.columns.set(name, { ranges: layout === "right" ? 1 : components, memories });
  }

  /** The places of a member's own particles in a column: [place][k]. */
  places(name: string, member: number): View<NumberType, 2> {
    return this.columns.get(name)!.memories[member].all.slice(this.window(member));
  }

  /** All places of a member in a column, including arrivals. */
  allSlots(name: string, member: number): View<NumberType, 2> {
    return this.columns.get(name)!.memories[member].all;
  }

  /** The first of a member's own places among all. */
  firstSlot(member: number): number {
    return this.window(member)[0];
  }

  /** On one member, those that leave go to outboxes. */
  leaving(member: number): Pattern {
    const { grid, options } = this;
    const { exchange, capacity } = options;
    const { device } = localOf(grid.set, member);
    const x = this.places("x", member);
    const type = x.type as "f64";
    return makePattern(device, STRICT, (steps) => {
      const box = this.box(steps);
      if (cutsRows(grid)) {
        const origin = this.places(ORIGIN, member) as View<"i32", 2>;
        steps.launch(noteOrigins, { cellOf: this.cellOf[member], origin, ...this.ownBox(member) }, range(capacity));
      }
      for (const to of this.neighbours[member]) {
        const [goes, place] = [steps.array("i32", capacity), steps.array("i32", capacity)];
        const { first, planes } = grid.partitions[to];
        const [beginRow, rows] = this.rowsOf(to);
        const there = { begin: first, end: first + planes, cutsRows: cutsRows(grid), beginRow, endRow: beginRow + rows };
        steps.launch(findLeaving[type], { x: x as View<"f64", 2>, goes, ...box, ...there }, range(capacity));
        planScan(steps, { input: goes, output: place, op: "sum", exclusive: true });
        for (const [name, { memories }] of this.columns) {
          const outbox = memories[member].outboxes.get(to)!;
          const from = this.places(name, member);
          steps.launch(pack[outbox.type], { goes, place, from, to: outbox }, range(capacity, outbox.shape[1]));
        }
        const outbox = this.columns.get("x")!.memories[member].outboxes.get(to)! as View<"f64", 2>;
        steps.launch(seal[type], { goes, place, x: outbox, taken: this.takenOf(member, to)! }, range(exchange));
        steps.launch(forget[type], { goes, place, room: exchange, x: x as View<"f64", 2> }, range(capacity));
      }
    });
  }

  /** The messages of an exchange. Between devices of one process whole outboxes are copied; between processes, the taken places. */
  get traffic(): ParticleTraffic {
    const pairs = this.neighbours.reduce((sum, others) => sum + others.length, 0);
    const [own] = this.grid.set.locals;
    const columns = [...this.columns.values()].map(({ ranges, memories }) => ({ ranges, all: memories[own.index].all }));
    return {
      messages: pairs * columns.reduce((sum, { ranges }) => sum + ranges, 0),
      bytes: pairs * this.options.exchange * columns.reduce((sum, { all }) => sum + all.shape[1] * BYTES[all.type], 0),
    };
  }

  /** The copies of outboxes to where they arrive. */
  transfers(): readonly HaloCopy[] {
    const { exchange, capacity } = this.options;
    return [...this.columns.values()].flatMap(({ ranges, memories }) =>
      this.neighbours.flatMap((others, from) =>
        others.flatMap((to) => {
          const n = this.neighbours[to].indexOf(from);
          const begin = n * exchange + (from > to ? capacity : 0);
          const [giver, taker] = [memories[from], memories[to]];
          const source = giver?.outboxes.get(to);
          const target = taker?.all.slice([begin, begin + exchange]);
          const taken = this.takenOf(from, to);
          const leading = (): number => numberIn(taken!) * (ranges === 1 ? source!.shape[1] : 1);
          return Array.from({ length: ranges }, (_, k) => ({
            from,
            to,
            source: rangeOf(source, k, ranges),
            target: rangeOf(target, k, ranges),
            leading,
          }));
        }),
      ),
    );
  }

  /**
   * On one member, particles come into the order of their cells: see `planReorder`. Those that come from members before this one count as
   * earlier than its own, so that the order does not depend on where partitions are cut.
   * @param lists launches that leave in fields which particles each cell has
   */
  sorting(member: number, lists: () => readonly Launch[]): Pattern {
    const { grid, options } = this;
    const { capacity, absorb } = options;
    const { device } = localOf(grid.set, member);
    const all = this.allSlots("x", member);
    const type = all.type as "f64";
    const cells = this.cellsOf(member);
    const [offsets, state] = [this.offsets[member], this.states[member]];
    return makePattern(device, STRICT, (steps) => {
      const key = steps.array("i32", all.length);
      const active = this.active(steps, member);
      const { width: _, ...own } = this.ownBox(member);
      const where = { ...this.box(steps), ...own, cells, masked: !grid.activity.isFull, active };
      steps.launch(findCells[type], { x: all as View<"f64", 2>, key, ...where }, range(all.length), { given: true });
      const before = { cells, key, begin: this.firstSlot(member), cellOf: this.cellOf[member], offsets };
      const ranksOf = cutsRows(grid) ? this.mergedRanks(member) : undefined;
      const { order, starts } = planReorder(steps, { ...before, ranksOf });
      planCopy(steps, starts, offsets);
      const spare = new Map<string, View<NumberType, 2>>();
      for (const name of this.columns.keys()) {
        const column = this.allSlots(name, member);
        const target = this.places(name, member);
        const form = `${column.type} ${column.shape[1]} ${column.strides[1]}`;
        if (!spare.has(form))
          spare.set(form, steps.rows(column.type, [capacity, column.shape[1]], column.strides[1] === 1 ? "right" : "left"));
        const to = spare.get(form)!;
        steps.launch(
          bring[column.type],
          { starts, cells, order, blank: name === "x" ? EMPTY : 0, from: column, to },
          range(capacity, column.shape[1]),
        );
        planCopy(steps, to, target);
      }
      if (spansProcesses(grid.set))
        for (const places of this.arrivals(member))
          steps.launch(vacate[type], { x: all.slice([...places]) as View<"f64", 2> }, range(places[1] - places[0]));
      steps.launch(noteState, { offsets, cells, absorb, room: capacity, state }, range(Object.keys(PARTICLE_STATE).length));
      if (absorb) steps.launch(bury[type], { offsets, cells, x: this.places("x", member) as View<"f64", 2> }, range(capacity));
      for (const launch of lists()) steps.add(launch);
    });
  }

  free(): void {
    for (const thing of this.owned.splice(0)) thing.free();
  }

  /** The first row of a member's planes, and how many it has; in two dimensions planes are rows. */
  private rowsOf(member: number): readonly [first: number, rows: number] {
    const { extents, partitions } = this.grid;
    const [first, end] = partitions[member].rows ?? [0, extents.length === 3 ? extents[1] : 1];
    return [first, end - first];
  }

  /** A member's cells. */
  private ownBox(member: number): { firstPlane: number; planes: number; firstRow: number; rows: number; width: number } {
    const { first: firstPlane, planes } = this.grid.partitions[member];
    const [firstRow, rows] = this.rowsOf(member);
    return { firstPlane, planes, firstRow, rows, width: this.grid.extents[0] };
  }

  private cellsOf(member: number): number {
    const { planes, rows, width } = this.ownBox(member);
    return planes * rows * width;
  }

  /** Ranks of particles that come to other cells, by the cells in which they were: arrivals from each member, and the own places, are in that order. */
  private mergedRanks(member: number): NonNullable<Lists["ranksOf"]> {
    const { capacity, exchange } = this.options;
    const before = this.neighbours[member].filter((other) => other < member).length;
    return (steps, moves, rank) => {
      const merged = steps.array("i32", moves.length);
      const sizes = this.neighbours[member].map(() => exchange).toSpliced(before, 0, capacity);
      const lists = [0];
      for (const size of sizes) lists.push(lists.at(-1)! + size);
      const args = { moves, rank, lists: steps.own(steps.device.from(i32, lists)), own: before, merged, offsets: this.offsets[member] };
      const origin = this.allSlots(ORIGIN, member) as View<"i32", 2>;
      steps.launch(mergeRanks, { ...args, origin, ...this.ownBox(member) }, range(moves.length));
      return merged;
    };
  }

  /** A member's own places among all. */
  private window(member: number): readonly [number, number] {
    const { capacity, exchange } = this.options;
    const before = this.neighbours[member].filter((other) => other < member).length * exchange;
    return [before, before + capacity];
  }

  /** Places of arrivals, before and after a member's own. */
  private arrivals(member: number): (readonly [number, number])[] {
    const [begin, end] = this.window(member);
    const { length } = this.columns.get("x")!.memories[member].all;
    return (
      [
        [0, begin],
        [end, length],
      ] as const
    ).filter(([first, last]) => first < last);
  }

  /** The taken places of an outbox, if its member is of this process. */
  private takenOf(from: number, to: number): View<"i32", 1> | undefined {
    const n = this.neighbours[from].indexOf(to);
    return this.taken[from]?.slice([n, n + 1]);
  }

  private box(steps: PatternSteps): { axes: number; extents: View<"i32", 1>; periodic: View<"i32", 1> } {
    const { extents, periodic } = this.grid;
    const table = (values: readonly number[]) => steps.own(steps.device.from(i32, values));
    return { axes: extents.length, extents: table(extents), periodic: table(periodic.map(Number)) };
  }

  /** Which of a member's cells are active, in the order of their indices. */
  private active(steps: PatternSteps, member: number): View<"u8", 1> {
    const { activity } = this.grid;
    const { firstPlane, planes, firstRow, rows, width } = this.ownBox(member);
    const { planeSize } = activity;
    const all = activity.isFull ? [0] : activity.bytes(firstPlane, firstPlane + planes);
    const bytes =
      activity.isFull || rows * width === planeSize
        ? all
        : boxOfPlanes(all as Uint8Array, planeSize, [firstRow, firstRow + rows], planeSize / width);
    return steps.own(steps.device.from(u8, bytes));
  }

  private own<T extends { free(): void }>(thing: T): T {
    this.owned.push(thing);
    return thing;
  }
}

/** One of the contiguous ranges of memory that hold a view's elements. */
function rangeOf(view: View<NumberType, 2> | undefined, number: number, ranges: number): View | undefined {
  if (view === undefined) return undefined;
  return ranges === 1 && view.contiguous ? view.reshape(view.size) : view.at(1, number);
}
