import type { Args, Kernel, LaunchOptions, Params, Policy, View } from "isoform";
import { f64, i32, range, teams } from "isoform";
import type { DeviceSet } from "isoform/set";
import { TreeSum } from "isoform/set";
import type { SparseRows } from "./constraints.js";
import { a2Astro, a2Att, a2Constraints, a2Global, a2Instr, scaleConstraintRows } from "./kernels.js";
import { FACTOR_BYTES, sweepFactored } from "./factored.js";
import { factoredInstrument, factoredInstrumentFootprint } from "./factored-instrument.js";
import { factoredStars, factoredStarsFootprint } from "./factored-stars.js";
import { factoredPart, scaledVector } from "./factored-part.js";
import type { Bidiagonalisation, Step } from "./lsqr.js";
import { advance, measure, mergedAlpha, threeSums } from "./merged.js";
import type { ScalarName } from "./scalars.js";
import { SUMS } from "./scalars.js";
import type { Shape } from "./shape.js";
import { ASTROMETRIC, ATTITUDE, AXES, sections, sharedUnknowns } from "./shape.js";
import type { ListStep, SortedSection } from "./lists.js";
import type { KnotRows } from "./row-order.js";
import { attitudeKnots, sortedAttitude, sortedAttitudeFootprint, startKnots } from "./sorted-attitude.js";
import { sortedInstrument, sortedInstrumentFootprint } from "./sorted-instrument.js";
import { sortedStars, sortedStarsFootprint } from "./sorted-stars.js";
import { attitudeByKnot, combine, rowPieces, starProducts, sweep, sweepByKnot, sweepConstraints } from "./sweep.js";
import type { StarRows, System } from "./system.js";
import { constrained, unknowns, unknownsOfTiles } from "./system.js";
import type { Leaf, LongRows, Share, SharePart, Tile } from "./tiles.js";
import { entriesOf, gramOf, leafOf, readSparse, uploadLong } from "./tiles.js";
import { squaredNorm } from "./vectors.js";

/*
 * The fused form (sweep.ts) on the members of a set. Each tile of stars leaves its share of A^T u for unknowns that stars share, with its sums, in a
 * leaf; leaves are added in one order (TreeSum), then every member does the same with the shared unknowns. One tile on one member writes in place.
 */

/**
 * How shares of A^T u come together that are not of one star: scattered into, from a copy of their coefficients in the order of their unknowns, or, for the
 * attitude, because rows are in the order of their start knots; then the stars' part comes from a copy.
 */
export interface Sorted {
  readonly attitude: "scattered" | "copied" | "ordered";
  readonly instrument: "scattered" | "copied";
  /** Whether the sweep reads factors of rows in place of coefficients; for rows in the order of their start knots. */
  readonly factored?: boolean;
}

/** How alpha, the norm of A^T u - beta v, is found: from the vector itself, or from sums that come together with the product (merged.ts). */
export const NORMS = ["separate", "merged"] as const;
export type Norm = (typeof NORMS)[number];

/** Device memory of the form beside the system and the solver's vectors. */
export const fusedFootprint = (shape: Shape, sorted: Sorted): number =>
  8 * (sections(shape).unknowns + AXES * shape.knots) +
  (sorted.attitude === "copied" ? sortedAttitudeFootprint(shape) : 0) +
  (sorted.attitude === "ordered" ? (sorted.factored ? factoredStarsFootprint : sortedStarsFootprint)(shape) + orderFootprint(shape) : 0) +
  (sorted.instrument === "copied" ? (sorted.factored ? factoredInstrumentFootprint : sortedInstrumentFootprint)(shape) : 0) +
  (sorted.factored ? FACTOR_BYTES * shape.observations : 0);

/** Places of rows, and sums by start knot. */
const orderFootprint = (shape: Shape): number => 8 * shape.observations + (8 * ATTITUDE + 4) * shape.knots;

/** Members of a start knot's team: it has 100 to 200 rows, and sums of a warp need no shared memory. */
const KNOT_TEAM = 32;

/** Options of launches: over rows, and over what all members have alike, which must come out alike. */
export interface FormOptions {
  readonly rows: LaunchOptions;
  readonly alike: LaunchOptions;
}

/** Products of constraint rows with stars that come together: one for each such row, with v, and with T where the norm is merged. */
export const productsOf = (starConstraints: number, norm: Norm): number => (norm === "merged" ? 2 : 1) * starConstraints;

/**
 * One sweep for A v, the norm and A^T u. Sections that are not scattered into come from copies of their coefficients, or from rows in their order, which
 * pays where many atomic additions cost more than reading coefficients again.
 * @param leaves number of tiles of each member of the set
 * @param knotRows where rows of start knots lie in each tile of each share, if they are in this order
 */
export async function fusedForm(
  set: DeviceSet,
  shares: readonly Share[],
  leaves: readonly number[],
  options: FormOptions,
  sorted: Sorted,
  norm: Norm,
  knotRows: readonly (readonly KnotRows[])[] = [],
): Promise<Bidiagonalisation> {
  const form = new Fused(set, shares, leaves, options, sorted, norm, knotRows);
  await form.prepare();
  return form.steps();
}

class Fused {
  private readonly single: boolean;
  private readonly sum: TreeSum<"f64">;
  private readonly alpha: TreeSum<"f64">;
  private readonly parts: SharePart[] = [];
  private readonly owned: { free(): void }[] = [];

  constructor(
    private readonly set: DeviceSet,
    private readonly shares: readonly Share[],
    private readonly leaves: readonly number[],
    private readonly options: FormOptions,
    private readonly sorted: Sorted,
    private readonly norm: Norm,
    private readonly knotRows: readonly (readonly KnotRows[])[],
  ) {
    this.single = set.members.length === 1 && leaves[0] === 1;
    const [{ system }] = shares;
    const shared = sharedUnknowns(system.shape);
    const length = shared + productsOf(system.starConstraints.length, norm) + SUMS[norm].length;
    const results: View[] = [];
    const alphas: View[] = [];
    for (const { member, system: own, vectors, scalars } of shares) {
      const first = sections(own.shape).attitude;
      results[member.index] = vectors.ahead!.slice([first, first + length]);
      alphas[member.index] = scalars.at("alphaSquaredStars");
    }
    this.sum = new TreeSum(set, f64, { name: "A^T u", length, leaves, results });
    this.alpha = new TreeSum(set, f64, { name: "alpha", length: 1, leaves, results: alphas });
  }

  /** Makes copies of coefficients and what else tiles need on the devices; all processes of the set call it. */
  async prepare(): Promise<void> {
    for (const [n, share] of this.shares.entries()) this.parts.push(await this.partOf(share, this.knotRows[n]));
    if (this.norm === "merged") for (const [n, gram] of (await this.grams()).entries()) this.parts[n].gram = gram;
  }

  steps(): Bidiagonalisation {
    const { parts, single, sum, alpha, norm } = this;
    const act = (name: string, does: () => void): Step => ({ name, act: does });
    const together = single ? [] : [act("A^T u of all", () => sum.finish())];
    const alphas = single ? [] : [act("alpha of all", () => alpha.finish())];
    const each = (make: (part: SharePart) => Step[]): Step[] => parts.flatMap(make);
    const normV = (of: "combine" | "measure"): Step[] => [...each((part) => this.normOfV(part, of)), ...alphas];
    const constraints = each((part) => this.constraintsTransposed(part));
    const merged = norm === "merged";
    return {
      start: {
        squares: [
          ...each((part) => [...this.byKnot(part), ...part.tiles.flatMap((tile, n) => this.begin(part, tile, n))]),
          ...together,
          ...each((part) => [
            this.step(part, squaredNorm, { x: part.c, result: part.at("betaSquaredConstraints") }, range(part.c.length), "alike"),
          ]),
        ],
        product: [...constraints, ...normV("combine")],
      },
      forward: [
        ...each((part) => [...this.byKnot(part), ...part.tiles.flatMap((tile, n) => this.forward(part, tile, n))]),
        ...together,
        ...each((part) => this.forwardShared(part)),
      ],
      transpose: merged ? [...constraints, ...each((part) => this.merge(part))] : [...constraints, ...normV("combine")],
      anew: merged ? normV("measure") : undefined,
      advance: merged ? each((part) => this.advance(part)) : undefined,
      reset: () => parts.forEach((part) => this.reset(part)),
      free: () => {
        sum.free();
        alpha.free();
        for (const one of this.owned) one.free();
      },
    };
  }

  private step<P extends Params>(
    part: SharePart,
    kernel: Kernel<P>,
    args: Args<P>,
    policy: Policy,
    options: keyof FormOptions = "rows",
  ): Step {
    const { device } = part.share.member;
    return { name: kernel.name, queue: part.share.member.queue(0), launch: device.prepare(kernel, args, policy, this.options[options]) };
  }

  private async partOf(share: Share, knotRows: readonly KnotRows[] | undefined): Promise<SharePart> {
    const { member, system, vectors } = share;
    const { device } = member;
    const { stars, shared } = unknownsOfTiles(system);
    const own = <T extends { free(): void }>(one: T): T => (this.owned.push(one), one);
    const upload = async (rows: SparseRows, p: View<"f64">): Promise<LongRows> => {
      const sparse = uploadLong(device, rows);
      Object.values(sparse).forEach(own);
      await device.run(scaleConstraintRows, { column: sparse.index, a: sparse.values, p }, range(sparse.values.length), this.options.alike);
      return sparse;
    };
    const tiles: Tile[] = [];
    const unused = knotRows && own(device.array(f64, 1));
    const startSums = knotRows && own(device.array(f64, [startKnots(system.shape), ATTITUDE]));
    let row = 0;
    let star = 0;
    for (const [n, rows] of system.tiles.entries()) {
      const end = row + rows.shape.observations;
      tiles.push({
        rows,
        u: vectors.u.slice([row, end]),
        t: vectors.ahead!.slice(stars[n]),
        v: vectors.v.slice(stars[n]),
        w: vectors.w.slice(stars[n]),
        leaf: leafOf(system, this.sum.leaf(member.index, n), system.starConstraints.length, this.norm === "merged"),
        attitude: this.sorted.attitude === "copied" ? own(await sortedAttitude(rows, this.options.rows)) : undefined,
        ordered: knotRows && {
          knotRow: own(knotRows[n]),
          sums: startSums!,
          unused: unused!,
          stars: own(await this.starsOf(rows, star, system.scaling.all.slice(stars[n]))),
        },
        instrument: this.sorted.instrument === "copied" ? own(await this.instrumentOf(rows, system)) : undefined,
        constraints:
          system.starConstraints.length > 0
            ? await upload(entriesOf(system, system.starConstraints, stars[n]), system.scaling.all.slice(stars[n]))
            : undefined,
      });
      row = end;
      star += rows.shape.stars;
    }
    const all = Array.from({ length: system.constraintCount }, (_, r) => r);
    const places = new Map(system.starConstraints.map((r, place) => [r, place]));
    return {
      share,
      tiles,
      shared,
      c: vectors.u.slice([row, vectors.u.length]),
      at: (name) => share.scalars.at(name),
      constraints: await upload(entriesOf(system, all, shared), system.scaling.all.slice(shared)),
      attitude: own(device.array(f64, [system.shape.knots, AXES])),
      factored: system.factors && own(await factoredPart(device, system.shape, system.factors, system.scaling, this.options.alike)),
      starPlace: own(device.from(i32, all.length > 0 ? all.map((r) => places.get(r) ?? -1) : [-1])),
      starRows: own(device.from(i32, places.size > 0 ? system.starConstraints : [0])),
    };
  }

  private starsOf(rows: StarRows, firstStar: number, p: View<"f64">): Promise<SortedSection> {
    const options = this.options.rows;
    return this.sorted.factored ? factoredStars(rows, firstStar, p, options) : sortedStars(rows, firstStar, options);
  }

  private instrumentOf(rows: StarRows, { scaling }: System): Promise<SortedSection> {
    return this.sorted.factored
      ? factoredInstrument(rows, scaling.instrument, this.options.rows)
      : sortedInstrument(rows, this.options.rows);
  }

  /** Products of the constraint rows' entries on stars with each other, summed up over all stars, for each member. */
  private async grams(): Promise<View<"f64">[]> {
    const { set, parts } = this;
    const count = parts[0].share.system.starConstraints.length;
    const length = Math.max(1, count * count);
    const grams = parts.map(({ share: { member } }) => member.device.array(f64, length));
    this.owned.push(...grams);
    const results: View[] = [];
    parts.forEach(({ share: { member } }, n) => (results[member.index] = grams[n]));
    const sum = new TreeSum(set, f64, { name: "products of constraint rows", length, leaves: this.leaves, results });
    for (const { share, tiles } of parts)
      for (const [n, { constraints }] of tiles.entries()) {
        const queue = share.member.queue(0);
        const products = constraints ? gramOf(await readSparse(queue, constraints), count) : new Float64Array(length);
        queue.write(sum.leaf(share.member.index, n), products);
        sum.add(share.member.index, n);
      }
    sum.finish();
    for (const { share } of parts) await share.member.queue(0).finish();
    sum.free();
    return grams.map((gram) => gram.reshape(Math.max(1, count), Math.max(1, count)));
  }

  /** Leaves t and products 0, for kernels that add to them. */
  private reset({ share: { member, system, vectors } }: SharePart): void {
    const length = vectors.v.length + productsOf(system.starConstraints.length, this.norm);
    member.queue(0).clear(vectors.ahead!.slice([0, length]));
  }

  /** Prepares a tile's leaf, which its kernels add to: in place it is 0 already. */
  private clear({ share }: SharePart, { leaf }: Tile): Step[] {
    return this.single ? [] : [{ name: "clear leaf", act: () => share.member.queue(0).clear(leaf.all) }];
  }

  private add({ share: { member } }: SharePart, n: number): Step[] {
    return this.single ? [] : [{ name: "add leaf", act: () => this.sum.add(member.index, n) }];
  }

  /** t = A^T b and |b|^2 of a tile. */
  private begin(part: SharePart, tile: Tile, n: number): Step[] {
    const { rows, u, leaf } = tile;
    if (tile.ordered) return [...this.clear(part, tile), ...this.sweep(part, tile), ...this.add(part, n)];
    const each = range(rows.shape.observations);
    const tAstro = tile.t.reshape(rows.shape.stars, ASTROMETRIC);
    return [
      ...this.clear(part, tile),
      this.step(part, squaredNorm, { x: u, result: leaf.at("betaSquared") }, each),
      this.step(part, a2Astro, { a: rows.astrometric, starRow: rows.starRow, u, v: tAstro }, teams(rows.shape.stars)),
      ...(tile.instrument
        ? []
        : [this.step(part, a2Instr, { a: rows.instrument, column: rows.column, u, v: leaf.shared.instrument }, each)]),
      ...(tile.attitude ? [] : [this.step(part, a2Att, { a: rows.attitude, knot: rows.knot, u, v: leaf.shared.attitude }, each)]),
      ...this.fromCopies(part, tile),
      ...this.add(part, n),
    ];
  }

  /** The attitude's part of v as the sweep of all tiles reads it. */
  private byKnot(part: SharePart): Step[] {
    const { vectors, system } = part.share;
    const v = unknowns(system.shape, vectors.v);
    const { attitude } = v;
    if (part.factored)
      return scaledVector(
        (kernel, args, policy) => this.step(part, kernel, args, policy, "alike"),
        system.shape,
        part.factored,
        v,
        system.scaling,
        part.attitude,
      );
    return [this.step(part, attitudeByKnot, { x: attitude, y: part.attitude }, range(system.shape.knots), "alike")];
  }

  /** u := A v - (alpha/beta) u and t = A^T u of a tile, with its sums. */
  private forward(part: SharePart, tile: Tile, n: number): Step[] {
    const { leaf, constraints } = tile;
    const products = (x: View<"f64">, into: View<"f64">): Step[] =>
      constraints
        ? [
            this.pieces(part, constraints, x),
            this.step(
              part,
              starProducts,
              { pieces: constraints.pieces, first: constraints.first, products: into },
              range(into.length),
              "alike",
            ),
          ]
        : [];
    // In place, all unknowns are summed up together.
    const ofStars = this.single
      ? []
      : [
          this.step(part, squaredNorm, { x: tile.w, result: leaf.at("wSquares") }, range(tile.w.length)),
          ...(this.norm === "merged"
            ? [this.threeSums(part, tile.t, tile.v, (name) => leaf.at(name)), ...products(tile.t, leaf.timesT)]
            : []),
        ];
    return [...this.clear(part, tile), ...this.sweep(part, tile), ...products(tile.v, leaf.timesV), ...ofStars, ...this.add(part, n)];
  }

  /** u := A v - (alpha/beta) u and t = A^T u of a tile, with the sum of squares of u. */
  private sweep(part: SharePart, tile: Tile): Step[] {
    if (part.factored) return [this.sweepFactors(part, tile), ...this.fromCopies(part, tile)];
    const { rows, leaf, u, ordered } = tile;
    const { vectors, system } = part.share;
    const { astrometric: allStars, instrument, global } = unknowns(system.shape, vectors.v);
    const { stars } = rows.shape;
    const args = {
      hasGlobal: rows.global !== undefined,
      astrometric: rows.astrometric,
      attitude: rows.attitude,
      instrument: rows.instrument,
      global: rows.global ?? system.knownTerms,
      column: rows.column,
      shift: part.at("minusRatio"),
      xAtt: part.attitude,
      xInstr: instrument,
      xGlobal: global ?? vectors.v,
      u,
      squares: leaf.at("betaSquared"),
    };
    if (ordered) {
      const { knotRow, sums, unused } = ordered;
      const tGlobal = leaf.shared.global ?? unused;
      const teamsOfKnots = teams(startKnots(rows.shape), { size: KNOT_TEAM });
      return [
        this.step(part, sweepByKnot, { ...args, star: rows.star, knotRow, xAstro: allStars, sums, tGlobal }, teamsOfKnots),
        ...this.fromCopies(part, tile),
      ];
    }
    return [
      this.step(
        part,
        sweep,
        {
          ...args,
          scatterAttitude: !tile.attitude,
          scatterInstrument: !tile.instrument,
          knot: rows.knot,
          starRow: rows.starRow,
          xAstro: tile.v.reshape(stars, ASTROMETRIC),
          tAstro: tile.t.reshape(stars, ASTROMETRIC),
          tAtt: leaf.shared.attitude,
          tInstr: leaf.shared.instrument,
        },
        teams(stars),
      ),
      ...this.fromCopies(part, tile),
    ];
  }

  /** The sweep over factors of rows. */
  private sweepFactors(part: SharePart, { rows, leaf, u, ordered }: Tile): Step {
    const { vectors, system } = part.share;
    const { sight, turns, weight, place, times } = rows.factors!;
    const { knotRow, sums, unused } = ordered!;
    const { pAtt, xStar, xSmall, xClass, small } = part.factored!;
    const ofRows = { sight, turns, weight, place, star: rows.star, global: rows.global ?? system.knownTerms, knotRow, times, small, u };
    const xGlobal = unknowns(system.shape, vectors.v).global ?? vectors.v;
    const vector = { xStar, xAtt: part.attitude, pAtt, xSmall, xClass, xGlobal, perPixel: 1 / rows.shape.pixels };
    const results = { sums, squares: leaf.at("betaSquared"), tGlobal: leaf.shared.global ?? unused };
    const args = { ...ofRows, ...vector, shift: part.at("minusRatio"), ...results };
    return this.step(part, sweepFactored, args, teams(startKnots(rows.shape), { size: KNOT_TEAM }));
  }

  /** Shares of A^T u that are not scattered. */
  private fromCopies(part: SharePart, { rows, u, t, leaf, attitude, instrument, ordered }: Tile): Step[] {
    const queue = part.share.member.queue(0);
    const { shared } = leaf;
    const on = (steps: readonly ListStep[] = []): Step[] => steps.map((step) => ({ ...step, queue }));
    const knots = { groups: startKnots(rows.shape), t: shared.attitude };
    return [
      ...on(ordered?.stars.sums(u)),
      ...on(attitude?.sums(u)),
      ...on(instrument?.sums(u)),
      ...on(ordered?.stars.finish(t)),
      ...(ordered ? [this.step(part, attitudeKnots, { sums: ordered.sums, ...knots }, range(AXES, rows.shape.knots))] : []),
      ...on(attitude?.finish(shared.attitude)),
      ...on(instrument?.finish(shared.instrument)),
      ...(rows.global && shared.global && !ordered
        ? [this.step(part, a2Global, { g: rows.global, u, product: shared.global }, range(u.length))]
        : []),
    ];
  }

  /** The constraint rows' part of u, and sums over unknowns that stars share; every member does it. */
  private forwardShared(part: SharePart): Step[] {
    const { share, constraints, shared, single } = { ...part, single: this.single };
    const { vectors, system } = share;
    const bounds = single ? ([0, vectors.w.length] as const) : shared;
    const w = vectors.w.slice(bounds);
    return [
      this.pieces(part, constraints, vectors.v.slice(shared)),
      this.step(
        part,
        sweepConstraints,
        {
          pieces: constraints.pieces,
          first: constraints.first,
          shift: part.at("minusRatio"),
          starPlace: part.starPlace,
          starProducts: system.starConstraints.length > 0 ? this.total(part).timesV : constraints.values,
          u: part.c,
          squares: part.at("betaSquaredConstraints"),
        },
        range(part.c.length),
        "alike",
      ),
      this.step(part, squaredNorm, { x: w, result: part.at("wSquaresShared") }, range(w.length), "alike"),
    ];
  }

  /** Products of constraint rows' pieces with a vector. */
  private pieces(part: SharePart, { bounds, index, values, pieces }: LongRows, x: View<"f64">): Step {
    return this.step(part, rowPieces, { bounds, column: index, a: values, x, pieces }, teams(bounds.length - 1), "alike");
  }

  /** The sum of all leaves, as a member has it. */
  private total({ share: { vectors, system } }: SharePart): Leaf {
    const first = sections(system.shape).attitude;
    const rows = system.starConstraints.length;
    const length = sharedUnknowns(system.shape) + productsOf(rows, this.norm) + SUMS[this.norm].length;
    return leafOf(system, vectors.ahead!.slice([first, first + length]), rows, this.norm === "merged");
  }

  private constraintsTransposed(part: SharePart): Step[] {
    const { system, vectors } = part.share;
    const { byColumn } = system;
    const v = constrained(system, vectors.ahead!);
    const args = { columnStart: byColumn.start, row: byColumn.index, a: byColumn.values, u: part.c, v };
    return [this.step(part, a2Constraints, args, range(v.length), "alike")];
  }

  /** The sum of squares of A^T u / beta - beta v, which `combine` also leaves in v. */
  private normOfV(part: SharePart, of: "combine" | "measure"): Step[] {
    const { share, tiles, shared } = part;
    const kernel = of === "combine" ? combine : measure;
    const factors = { inverseBeta: part.at("inverseBeta"), minusBeta: part.at("minusBeta") };
    const over = (t: View<"f64">, v: View<"f64">, squares: View<"f64">, options: keyof FormOptions): Step =>
      this.step(part, kernel, { ...factors, t, v, squares }, range(v.length), options);
    const { ahead, v } = share.vectors;
    if (this.single) return [over(ahead!.slice([0, v.length]), v, part.at("alphaSquared"), "rows")];
    return [
      ...tiles.flatMap((tile, n) => [
        over(tile.t, tile.v, this.alpha.leaf(share.member.index, n), "rows"),
        { name: "add alpha", act: () => this.alpha.add(share.member.index, n) },
      ]),
      over(ahead!.slice(shared), v.slice(shared), part.at("alphaSquared"), "alike"),
    ];
  }

  private threeSums(
    part: SharePart,
    t: View<"f64">,
    v: View<"f64">,
    at: (name: (typeof SUMS.merged)[number]) => View<"f64">,
    options: keyof FormOptions = "rows",
  ): Step {
    const args = { t, v, tSquares: at("tSquares"), tTimesV: at("tTimesV"), vSquares: at("vSquares") };
    return this.step(part, threeSums, args, range(v.length), options);
  }

  /** The merged norm; in place, all unknowns count as shared ones. */
  private merge(part: SharePart): Step[] {
    const { ahead, v } = part.share.vectors;
    const bounds = this.single ? ([0, v.length] as const) : part.shared;
    const { timesV, timesT } = this.total(part);
    const rows = this.single ? 0 : timesV.length;
    const some = (products: View<"f64">): View<"f64"> => (rows > 0 ? products : part.constraints.values);
    return [
      this.threeSums(part, ahead!.slice(bounds), v.slice(bounds), (name) => part.at(`${name as "tSquares"}Shared`), "alike"),
      this.step(
        part,
        mergedAlpha,
        {
          ...pick(part, ["tSquares", "tTimesV", "vSquares", "tSquaresShared", "tTimesVShared", "vSquaresShared"]),
          ...pick(part, ["beta", "inverseBeta", "alphaSquared", "alphaSquaredStars", "doubt"]),
          rows,
          row: part.starRows,
          u: part.c,
          rowsTimesV: some(timesV),
          rowsTimesT: some(timesT),
          gram: part.gram!,
        },
        range(1),
        "alike",
      ),
    ];
  }

  private advance(part: SharePart): Step[] {
    const { ahead, v, w, x, variance } = part.share.vectors;
    const scalars = pick(part, ["inverseBeta", "minusBeta", "inverseAlpha", "inverseRho", "xStep", "wStep"]);
    return [this.step(part, advance, { ...scalars, t: ahead!.slice([0, v.length]), v, w, x, variance }, range(v.length), "alike")];
  }
}

const pick = <K extends ScalarName>(part: SharePart, names: readonly K[]): Record<K, View<"f64">> =>
  Object.fromEntries(names.map((name) => [name, part.at(name)])) as Record<K, View<"f64">>;
