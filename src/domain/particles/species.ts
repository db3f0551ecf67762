import { originalPosition } from "#source-map";
import { requireFitting, type NumberArrayOf, typedArray, type View } from "../../device/memory/view.js";
import type { Location, NumberType } from "../../ir/types.js";
import type { Captures } from "../../kernel/declare/captures.js";
import type { Dimension } from "../../kernel/declare/cells.js";
import { IsoformError, LaunchError } from "../../base/errors.js";
import { callSite } from "../../kernel/declare/location.js";
import { type f32, f64, i32, type ScalarToken } from "../../kernel/declare/params.js";
import type { Pattern } from "../../patterns/pattern.js";
import { byLocal, isLocal, onAllRanks, type Ranks } from "../../set/index.js";
import { exchangeNow } from "../../set/exchange.js";
import { inTurn } from "../../set/in-turn.js";
import type { Container, Field, Grid, GridSpecies } from "../grid/grid.js";
import type { HaloCopy, MemberArray } from "../grid/parts.js";
import { inOneArray } from "../grid/pieces.js";
import { cutsRows } from "../grid/split.js";
import { Column, type ColumnLayout, type ColumnTypes } from "./columns.js";
import { declareOverParticles, type ParticleBody, type ParticleParams } from "./declare-particles.js";
import { EMPTY, NUMBERS, PARTICLE_STATE } from "./kernels.js";
import { listingOf } from "./lists.js";
import { Migration, type ParticleTraffic } from "./migration.js";
import { countInPlanes, inPlaneOrder, runsInPlanes, type InPlanes, type ParticleRun } from "./plane-order.js";
import { cellFinder, roundingOf, shareOut } from "./share-out.js";

/** Lanes for the particles of a cell: with fewer than the least, one thread takes them all; at most the lanes of a warp. */
const [FEWEST_LANES, MOST_LANES] = [4, 32];

/** Options of `species`. */
export interface SpeciesOptions {
  /** Default: `soa`. */
  layout?: ColumnLayout;
  /** The type of positions. Default: f64. */
  positions?: typeof f64 | typeof f32;
  /** Particles that each member can hold; by default, half as many again as the first `load` gives to the fullest one. */
  capacity?: number;
  /** Particles that can go from one member to the next in one step. Default: a quarter of the capacity. */
  exchange?: number;
  /**
   * Treatment of particles beyond an end of the grid that is not periodic, or in a cell that is not active: `refuse` ends the run
   * with an error, and they are still there to be looked at; `absorb` takes them out. Default: `refuse`.
   */
  leaving?: "refuse" | "absorb";
}

/**
 * Particles on a grid, none at first.
 * @param columns values of each particle besides its position `x`: `{ v: [f64, 3], w: f64 }`
 * @throws LaunchError for invalid columns and options
 */
export function particles<D extends Dimension, const C extends ColumnTypes>(
  grid: Grid<D>,
  name: string,
  columns: C,
  options: SpeciesOptions = {},
): Species<C, D> {
  return new Species(grid, name, columns, options, originalPosition(callSite(particles)));
}

type ComponentsOf<T> = T extends readonly [unknown, infer C extends number] ? C : 1;
/** The columns of a species, and its positions, one number for each axis. */
export type Columns<C extends ColumnTypes, D extends Dimension> = { readonly [K in keyof C]: Column<ComponentsOf<C[K]>> } & {
  readonly x: Column<D>;
};

/** Host arrays of columns: particle after particle, each with its components. */
export type HostColumns<C extends ColumnTypes = ColumnTypes> = { [K in keyof C]?: ArrayLike<number> } & { x: ArrayLike<number> };

/** Data of a skeleton's nodes besides columns. */
interface Datum {
  readonly name: string;
}

/**
 * Particles of one kind on a grid. Each has a position, in units of cells from the grid's first corner, so that cell [floor(x), floor(y), floor(z)]
 * is the one that it is in, and whatever columns are declared. The member that owns the cell holds the particle. Containers loop over them
 * cell by cell; where positions have changed since, skeletons sort them first, and send those on that have come to another member.
 */
export class Species<C extends ColumnTypes = ColumnTypes, D extends Dimension = Dimension> implements GridSpecies {
  readonly columns: Columns<C, D>;
  /** For each cell, the place of its first particle in the columns, and their number. */
  readonly first: Field<"i32", 1, D>;
  readonly count: Field<"i32", 1, D>;
  /** Each particle is on the member, and in the list of the cell, where its position is. */
  coherent = true;
  readonly outbox: Datum;
  readonly inbox: Datum;
  private migration: Migration | undefined;
  private list: Container | undefined;
  private readonly patterns = new Map<string, Pattern>();
  private generation = -1;
  private loadedPerCell = 0;

  constructor(
    readonly grid: Grid<D>,
    readonly name: string,
    types: C,
    private readonly options: SpeciesOptions,
    /** Place of its declaration. */
    readonly location: Location,
  ) {
    const { positions = f64, leaving = "refuse", layout = "soa" } = options;
    const fail = (problem: string): never => {
      throw new LaunchError(`species "${name}" ${problem}`);
    };
    if ("x" in types) fail('declares the column "x": that is the name of the positions, which every species has');
    if (leaving !== "refuse" && leaving !== "absorb") fail(`has leaving: "${String(leaving)}"; use "refuse" or "absorb"`);
    if (layout !== "soa" && layout !== "aos") fail(`has layout "${String(layout)}"; use "soa" or "aos"`);
    for (const key of ["capacity", "exchange"] as const)
      if (options[key] !== undefined && !(Number.isInteger(options[key]) && options[key] > 0))
        fail(`has ${key} ${options[key]}; give a whole number of at least 1`);
    if (positions.type !== "f64" && positions.type !== "f32") fail(`has positions of ${(positions as ScalarToken).type}; use f64 or f32`);
    const all: ColumnTypes = { x: [positions, grid.dimension], ...types };
    const made = Object.entries(all).map(([column, type]) => {
      const [token, components] = Array.isArray(type) ? (type as [ScalarToken<NumberType>, number]) : [type as ScalarToken<NumberType>, 1];
      if (!Object.hasOwn(NUMBERS, token.type)) fail(`has a column "${column}" of ${token.type}; use ${Object.keys(NUMBERS).join(", ")}`);
      if (!Number.isInteger(components) || components < 1) fail(`has a column "${column}" of ${components} numbers; give 1 or more`);
      return [column, new Column(this, `${name}.${column}`, token.type, components, () => this.viewsOf(column))];
    });
    this.columns = Object.fromEntries(made) as Columns<C, D>;
    this.first = grid.field(`first of ${name}`, i32);
    this.count = grid.field(`count of ${name}`, i32);
    this.first.defined = this.count.defined = true;
    this.outbox = { name: `${name} that leave` };
    this.inbox = { name: `${name} that arrive` };
  }

  /**
   * A function over all particles: what it reads, changes and adds is found from its code, `(params, p, c) => ...` with the particle and the
   * cell that it is in when the container starts. Fields are read around the cell, `deposit(field)` is added to around it. The containers
   * that do it, in order: they are a step of a skeleton.
   *
   * @param captures lists what the body takes from around it, `() => [wave, C]`: constants, tables, functions, types of arrays
   */
  container<const P extends ParticleParams>(name: string, params: P, body: ParticleBody<P, D>, captures?: Captures): readonly Container[] {
    const location = callSite(this.container);
    return declareOverParticles(this, name, params, body as unknown as ParticleBody<P>, location, captures);
  }

  /**
   * Loads particles, replacing all earlier ones: host arrays of the columns, particle after particle; columns that are left out are 0. Throws LaunchError for lengths and values that do not fit, particles outside of the grid, and more of them than there is room for.
   */
  load(data: HostColumns<C>): void {
    const members = this.sharedOut(data);
    this.place(
      data,
      members,
      members.map((list) => list.length),
    );
  }

  /**
   * Loads particles that lie in cells of this process's members, as `downloadOwn` gives them; all processes call it, each with its own.
   * @param first number of the first of them among the particles of all processes, for errors
   * @throws LaunchError for more of them than there is room for, IsoformError on all ranks alike where one is given what it cannot take
   */
  async loadOwn(data: HostColumns<C>, first = 0): Promise<void> {
    const { set } = this.grid;
    const members = await onAllRanks(set, async () => {
      const lists = this.sharedOut(data, first);
      const other = set.members.find(({ index }) => lists[index].length > 0 && !set.locals.some((local) => local.index === index));
      if (other)
        throw new LaunchError(
          `species "${this.name}": particle ${first + lists[other.index][0]} is in a cell of ${other.name}, in another process: load it there`,
        );
      return lists;
    });
    const counts = members.map((list) => list.length);
    const all = set.ranks ? await set.ranks.gather(counts, `the particles of "${this.name}"`) : [counts];
    this.place(
      data,
      members,
      counts.map((_, m) => all.reduce((sum, each) => sum + each[m], 0)),
    );
  }

  /** The particles of each member, as the numbers that they have in `data`. Throws LaunchError for columns that do not fit, and particles outside of the grid. */
  private sharedOut(data: HostColumns<C>, first = 0): Int32Array[] {
    const { grid, name } = this;
    const axes = grid.dimension;
    const total = data.x?.length / axes;
    if (!Number.isInteger(total))
      throw new LaunchError(`species "${name}" is given ${data.x?.length ?? "no"} coordinates; give ${axes} for each particle`);
    for (const [column, values] of Object.entries(data)) this.requireColumn(column, values, total);
    const round = roundingOf(this.columns.x.type);
    return shareOut(grid, data.x, round, (n) => {
      const at = Array.from({ length: axes }, (_, a) => round(data.x[n * axes + a]));
      throw new LaunchError(
        `species "${name}": particle ${first + n} is at [${at}], in no active cell of the grid of [${grid.extents}] cells`,
      );
    });
  }

  /**
   * Puts particles on the members of this process, in place of all others.
   * @param members numbers in `data` of the particles of each member
   * @param counts particles of each member, of all processes
   */
  private place(data: HostColumns<C>, members: readonly Int32Array[], counts: readonly number[]): void {
    const { grid, name } = this;
    this.loadedPerCell = counts.reduce((sum, count) => sum + count, 0) / grid.cells;
    const most = Math.max(...counts);
    const migration = (this.migration ??= this.makeMigration(most));
    const { capacity } = migration.options;
    if (most > capacity)
      throw new LaunchError(
        `species "${name}": ${most} particles for a member that has room for ${capacity}; give it { capacity: ${most} }`,
      );
    for (const member of grid.set.locals) {
      const m = member.index;
      for (const [column] of this.entries) {
        const all = migration.allSlots(column, m);
        const width = all.shape[1];
        const begin = migration.firstSlot(m);
        const values = typedArray(all.type, all.size);
        if (column === "x") values.fill(EMPTY);
        const source = (data as Record<string, ArrayLike<number> | undefined>)[column];
        if (source)
          members[m].forEach((particle, n) => {
            for (let k = 0; k < width; k++) values[(begin + n) * width + k] = source[particle * width + k];
          });
        member.queue(0).write(all, values);
      }
      member.queue(0).clear(migration.states[m]);
      member.queue(0).write(migration.cellOf[m], new Int32Array(migration.cellOf[m].length).fill(-1));
      this.sorting(m).submit(member.queue(0));
    }
    this.coherent = true;
  }

  /** Throws LaunchError for an unknown column, and for values that are too few, too many, or not of the column's type. */
  private requireColumn(column: string, values: ArrayLike<number> | undefined, total: number): void {
    const { name } = this;
    if (!Object.hasOwn(this.columns, column))
      throw new LaunchError(`species "${name}" has no column "${column}"; its columns are ${Object.keys(this.columns).join(", ")}`);
    if (!values) return;
    const { components, type } = (this.columns as Record<string, Column>)[column];
    const what = `species "${name}", column "${column}"`;
    if (values.length !== total * components)
      throw new LaunchError(`${what}: ${values.length} values for ${total} particles; give ${components} for each`);
    requireFitting(type, values, what);
  }

  /** The particles' columns, particle after particle, cell by cell in (z, y, x) order whatever the devices; particles of one cell in a fixed order. */
  download(): Promise<{ [K in keyof C | "x"]: NumberArrayOf<NumberType> }> {
    return this.read(this.grid.set.ranks);
  }

  /** The same of the members of this process. All processes call it; where particles are sorted, as `held` leaves them, no messages are sent. */
  downloadOwn(): Promise<{ [K in keyof C | "x"]: NumberArrayOf<NumberType> }> {
    return this.read(undefined);
  }

  private read(ranks: Ranks | undefined): Promise<{ [K in keyof C | "x"]: NumberArrayOf<NumberType> }> {
    return inTurn(this.grid.set, () => this.readNow(ranks));
  }

  private async readNow(ranks: Ranks | undefined): Promise<{ [K in keyof C | "x"]: NumberArrayOf<NumberType> }> {
    await this.sort();
    const migration = this.loaded();
    const { locals } = this.grid.set;
    const states = await this.ownStates();
    const planes = cutsRows(this.grid) ? await this.inPlanes(ranks) : undefined;
    const columns = this.entries.map(async ([column, { type, components }]) => {
      const reads = locals.map((member, n) =>
        member.queue(0).read(migration.places(column, member.index).slice([0, states[n][PARTICLE_STATE.held]])),
      );
      const own = Promise.all(reads);
      const pieces = ranks ? (await ranks.gather(own, `column "${column}" of "${this.name}"`)).flat() : await own;
      return [column, planes ? inPlaneOrder(type, pieces, planes, components) : inOneArray(type, pieces)] as const;
    });
    return Object.fromEntries(await Promise.all(columns)) as { [K in keyof C | "x"]: NumberArrayOf<NumberType> };
  }

  /** Particles in the planes of each member, of all processes or of this one. */
  private async inPlanes(ranks: Ranks | undefined): Promise<readonly InPlanes[]> {
    const { set, partitions, extents } = this.grid;
    const { offsets } = this.loaded();
    const own = Promise.all(
      set.locals.map(async (member) => {
        const { first, planes, rows = [0, 1] } = partitions[member.index];
        return countInPlanes(await member.queue(0).read(offsets[member.index]), first, planes, extents[0] * (rows[1] - rows[0]));
      }),
    );
    return ranks ? (await ranks.gather(own, `the planes of "${this.name}"`)).flat() : own;
  }

  /** How many there are on each member, of all processes. */
  held(): Promise<number[]> {
    return inTurn(this.grid.set, async () => {
      await this.sort();
      return (await this.states()).map((state) => state[PARTICLE_STATE.held]);
    });
  }

  /** How many there are, and which of them, in the order of `download`, are the ones of `downloadOwn`. All processes call it. */
  places(): Promise<{ readonly count: number; readonly own: readonly ParticleRun[] }> {
    const { set } = this.grid;
    return inTurn(set, async () => {
      await this.sort();
      const held = (await this.states()).map((state) => state[PARTICLE_STATE.held]);
      const members = cutsRows(this.grid) ? await this.inPlanes(set.ranks) : held.map((count, first) => ({ first, counts: [count] }));
      const own = runsInPlanes(members, (m) => isLocal(set.members[m]));
      return { count: held.reduce((a, b) => a + b, 0), own };
    });
  }

  /** Sends particles to their members and sorts them by cell, where they are not. */
  async sort(): Promise<void> {
    this.loaded();
    if (this.coherent) return;
    const { set } = this.grid;
    const finish = () => Promise.all(set.locals.map((member) => member.queue(0).finish()));
    if (set.members.length > 1) {
      for (const member of set.locals) this.leaving(member.index).submit(member.queue(0));
      await finish();
      exchangeNow(set, this.transfers(), this.name, `the sort of "${this.name}"`);
      await finish();
    }
    for (const member of set.locals) this.sorting(member.index).submit(member.queue(0));
    await finish();
    this.coherent = true;
  }

  /**
   * Throws IsoformError if particles were found in no cell since the last `load`: outside of the grid, without a position, farther
   * than the next member, or too many for a member. `where` tells the reader of the message what was run.
   */
  async check(where: string): Promise<void> {
    if (!this.migration) return;
    const states = await this.states();
    const sum = (of: keyof typeof PARTICLE_STATE) => states.reduce((total, state) => total + state[PARTICLE_STATE[of]], 0);
    const { capacity, exchange } = this.migration.options;
    const fail = (problem: string): never => {
      throw new IsoformError(`${where}: ${problem}`);
    };
    if (sum("broken") > 0) fail(await this.described("broken", "a position that is not a number", (at) => at.some(Number.isNaN)));
    const cellOf = cellFinder(this.grid, roundingOf(this.columns.x.type));
    if (sum("outside") > 0 && this.options.leaving !== "absorb")
      fail(`${await this.described("outside", "left the grid", (at) => cellOf(at, 0) < 0)}; use { leaving: "absorb" } to remove them`);
    if (sum("elsewhere") > 0)
      fail(
        `particles of "${this.name}" went farther than to the next member, or more than ${exchange} to one at a time; ` +
          `use shorter steps, fewer devices, or a larger { exchange }`,
      );
    if (sum("crowded") > 0)
      fail(`a member has room for ${capacity} particles of "${this.name}", and ${sum("crowded")} more came; give a larger { capacity }`);
  }

  /** All memory that runs change, besides the fields: what a snapshot has to keep. */
  get kept(): readonly MemberArray[] {
    const { offsets, cellOf, states } = this.loaded();
    return [
      ...this.entries.map(([, column]) => column),
      ...Object.entries({ offsets, cellOf, states }).map(([name, views]) => ({ name, views })),
    ];
  }

  /** Threads of a GPU that share out the particles of a cell: about half as many as there are in one, when they are loaded. */
  get lanes(): number {
    const half = 2 ** Math.floor(Math.log2(this.loadedPerCell / 2));
    return half < FEWEST_LANES ? 1 : Math.min(half, MOST_LANES);
  }

  /** On one member, those that leave for others go to outboxes. */
  leaving(member: number): Pattern {
    return this.pattern(`leaving ${member}`, () => this.loaded().leaving(member));
  }

  /** Messages by which particles go to other members; undefined before any are loaded. */
  get traffic(): ParticleTraffic | undefined {
    return this.migration?.traffic;
  }

  /** Copies of outboxes to where they arrive. */
  transfers(): readonly HaloCopy[] {
    return this.loaded().transfers();
  }

  /** On one member, particles come into the order of their cells, and lists say which cell has which. */
  sorting(member: number): Pattern {
    const { grid } = this;
    const lists = () => grid.prepare(this.listing(), member, "standard", { precision: "strict" });
    return this.pattern(`sorting ${member}`, () => this.loaded().sorting(member, lists));
  }

  /** Gives back all memory; the species cannot be used again. */
  free(): void {
    this.forget();
    this.migration?.free();
    this.migration = undefined;
    for (const field of [this.first, this.count]) field.free();
  }

  private forget(): void {
    for (const pattern of this.patterns.values()) pattern.free();
    this.patterns.clear();
  }

  /** Launches that were prepared for memory as the grid has laid it out. */
  private pattern(key: string, make: () => Pattern): Pattern {
    this.grid.layOut();
    if (this.generation !== this.grid.generation) this.forget();
    this.generation = this.grid.generation;
    let pattern = this.patterns.get(key);
    if (!pattern) this.patterns.set(key, (pattern = make()));
    return pattern;
  }

  private listing(): Container {
    const { offsets, origins } = this.loaded();
    const arrays = {
      offsets: { name: `offsets of ${this.name}`, views: offsets },
      origins: { name: `origins of ${this.name}`, views: origins },
    };
    return (this.list ??= listingOf(this, arrays.offsets, arrays.origins));
  }

  private loaded(): Migration {
    if (!this.migration) throw new LaunchError(`species "${this.name}" has no particles; load some first`);
    return this.migration;
  }

  private makeMigration(most: number): Migration {
    this.grid.layOut();
    const { leaving, layout = "soa", capacity = Math.ceil(1.5 * most) + 64 } = this.options;
    const { exchange = Math.ceil(capacity / 4) } = this.options;
    const migration = new Migration(this.grid as unknown as Grid, { capacity, exchange, absorb: leaving === "absorb" });
    for (const [name, { type, components }] of this.entries)
      migration.addColumn(name, type, components, layout === "aos" ? "right" : "left");
    return migration;
  }

  /** Views of a column for containers. */
  private viewsOf(column: string): readonly View<NumberType>[] {
    const { components } = (this.columns as Record<string, Column>)[column];
    return byLocal(this.grid.set, (_, m) => {
      const places = this.loaded().places(column, m);
      return components === 1 ? places.at(1, 0) : places;
    });
  }

  private get entries(): readonly [string, Column][] {
    return Object.entries(this.columns);
  }

  /** By member, of all processes. */
  private async states(): Promise<ArrayLike<number>[]> {
    const { ranks } = this.grid.set;
    const own = this.ownStates();
    return ranks ? (await ranks.gather(own, `the states of "${this.name}"`)).flat() : own;
  }

  /** By member of this process. */
  private ownStates(): Promise<ArrayLike<number>[]> {
    const { states } = this.loaded();
    return Promise.all(this.grid.set.locals.map((member) => member.queue(0).read(states[member.index])));
  }

  /** `3 particles of "electrons" have left the grid, one of them at [9.5, 3.2] on wasm`. */
  private async described(what: "outside" | "broken", had: string, test: (at: readonly number[]) => boolean): Promise<string> {
    const migration = this.loaded();
    const axes = this.grid.dimension;
    const states = await this.states();
    const count = states.reduce((sum, state) => sum + state[PARTICLE_STATE[what]], 0);
    const [which, have, one] = count === 1 ? ["1 particle", "has", ""] : [`${count} particles`, "have", "one of them "];
    const whole = `${which} of "${this.name}" ${have} ${had}`;
    const { locals, ranks } = this.grid.set;
    const search = async (): Promise<string | undefined> => {
      for (const member of locals) {
        const x = await member.queue(0).read(migration.places("x", member.index));
        for (let n = 0; n < x.length; n += axes) {
          const at = [...x.subarray(n, n + axes)];
          if (Math.fround(at[0]) !== Math.fround(EMPTY) && test(at)) return `[${at}] on ${member.name}`;
        }
      }
      return undefined;
    };
    const found = ranks
      ? (await ranks.gather(search(), `a particle of "${this.name}"`)).find((place) => place !== undefined)
      : await search();
    return found === undefined ? whole : `${whole}, ${one}at ${found}`;
  }
}
