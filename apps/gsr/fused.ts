import type { Args, Kernel, Params, Policy, View } from "isoform";
import { f64, range, teams } from "isoform";
import type { DeviceSet } from "isoform/set";
import { TreeSum } from "isoform/set";
import { coefficientsOf, factorsOf } from "./narrow-rows.js";
import type { FormOptions, Sorted } from "./copies.js";
import type { MakeStep } from "./exact.js";
import { exactProduct, exactTranspose } from "./exact.js";
import { sweepFactored } from "./factored.js";
import { factoredVector, scaledVector } from "./factored-part.js";
import { a2Astro, a2Att, a2Instr } from "./kernels.js";
import type { ListStep } from "./lists.js";
import type { Bidiagonalisation, Step } from "./lsqr.js";
import { advance, measure, mergedAlpha, threeSums } from "./merged.js";
import type { ScalarName } from "./scalars.js";
import { SUMS } from "./scalars.js";
import { ASTROMETRIC, AXES, sections, sharedUnknowns } from "./shape.js";
import { flat, teamsOfSides } from "./sides.js";
import { attitudeKnots, startKnots } from "./sorted-attitude.js";
import { attitudeByKnot, combine, combineSides, constraintColumns, globalShare, rowPieces, starProducts } from "./sweep.js";
import { OF_KNOT, knotPack, knotTotals, sweep, sweepByKnot, sweepConstraints } from "./sweep.js";
import { constrained, unknowns, unknownsOfTiles } from "./system.js";
import type { Copies, Leaf, LongRows, Share, SharePart, Tile } from "./tiles.js";
import { gramOf, leafOf, readSparse } from "./tiles.js";
import { squaredNorms } from "./vectors.js";

/*
 * The fused form (sweep.ts) on the members of a set. Each tile of stars leaves its share of A^T u for unknowns that stars share, with its sums, in a
 * leaf; leaves are added in one order (TreeSum), then every member does the same with the shared unknowns. One tile on one member writes in place.
 */

/** How alpha, the norm of A^T u - beta v, is found: from the vector itself, or from sums that come together with the product (merged.ts). */
export const NORMS = ["separate", "merged"] as const;
export type Norm = (typeof NORMS)[number];

/** Members of a start knot's team: it has 100 to 200 rows, and sums of a warp need no shared memory. */
const KNOT_TEAM = 32;

/** Products of constraint rows with stars that come together: one for each such row, with v, and with T where the norm is merged. */
export const productsOf = (starConstraints: number, norm: Norm): number => (norm === "merged" ? 2 : 1) * starConstraints;

/** Parts and choices that a form of this kind is made of. */
interface FusedOptions {
  /** Copies of each member of this process. */
  readonly copies: readonly Copies[];
  /** Number of tiles of each member of the set. */
  readonly leaves: readonly number[];
  readonly launch: FormOptions;
  readonly sorted: Sorted;
  readonly norm: Norm;
}

/**
 * One sweep for A v, the norm and A^T u, for all sides. Sections that are not scattered into come from copies of their coefficients, or from rows in their
 * order, which pays where many atomic additions cost more than reading coefficients again. All processes of the set call it.
 */
export async function fusedForm(set: DeviceSet, shares: readonly Share[], options: FusedOptions): Promise<Bidiagonalisation> {
  const form = new Fused(set, shares, options);
  await form.prepare();
  return form.steps();
}

class Fused {
  private readonly single: boolean;
  private readonly sides: number;
  private readonly sum: TreeSum<"f64">;
  private readonly alpha: TreeSum<"f64">;
  private readonly parts: SharePart[] = [];
  private readonly owned: { free(): void }[] = [];
  private readonly norm: Norm;

  constructor(
    private readonly set: DeviceSet,
    private readonly shares: readonly Share[],
    private readonly options: FusedOptions,
  ) {
    const { leaves, norm } = options;
    this.norm = norm;
    this.single = set.members.length === 1 && leaves[0] === 1;
    const [{ system, scalars }] = shares;
    const { sides } = scalars;
    this.sides = sides;
    const length = sharedUnknowns(system.shape) + productsOf(system.starConstraints.length, norm) + SUMS[norm].length;
    const results: View[] = [];
    const alphas: View[] = [];
    for (const { member, system: own, vectors, scalars: ofMember } of shares) {
      const first = sections(own.shape).attitude;
      results[member.index] = flat(vectors.ahead!.slice([first, first + length]));
      alphas[member.index] = ofMember.at("alphaSquaredStars");
    }
    this.sum = new TreeSum(set, f64, { name: "A^T u", length: length * sides, leaves, results });
    this.alpha = new TreeSum(set, f64, { name: "alpha", length: sides, leaves, results: alphas });
  }

  /** Allocates what tiles need on the devices. */
  async prepare(): Promise<void> {
    const { copies } = this.options;
    for (const [n, share] of this.shares.entries()) this.parts.push(await this.partOf(share, copies[n]));
    if (this.norm === "merged") for (const [n, gram] of (await this.grams()).entries()) this.parts[n].gram = gram;
  }

  steps(): Bidiagonalisation {
    const { parts, single, sides, sum, alpha, norm } = this;
    const act = (name: string, does: () => void): Step => ({ name, act: does });
    const { together } = this;
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
          ...each((part) => [this.squaresOfConstraints(part)]),
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
      exact: this.options.sorted.coefficients === "f32" && sides === 1 ? this.exact(constraints, normV("combine")) : undefined,
      reset: () => parts.forEach((part) => this.reset(part)),
      free: () => {
        sum.free();
        alpha.free();
        for (const one of this.owned) one.free();
      },
    };
  }

  private get together(): Step[] {
    return this.single ? [] : [{ name: "A^T u of all", act: () => this.sum.finish() }];
  }

  /** Products with coefficients in f64, where an iteration has others; for one side. */
  private exact(constraints: readonly Step[], normV: readonly Step[]): Bidiagonalisation["exact"] {
    const { parts, together } = this;
    const step =
      (part: SharePart): MakeStep =>
      (kernel, args, policy) =>
        this.step(part, kernel, args, policy);
    const each = (make: (part: SharePart, tile: Tile, n: number) => Step[]): Step[] =>
      parts.flatMap((part) => part.tiles.flatMap((tile, n) => make(part, tile, n)));
    return {
      forward: [
        ...each((part, tile, n) => this.forward(part, tile, n, exactProduct(part, tile, step(part)))),
        ...together,
        ...parts.flatMap((part) => this.forwardShared(part)),
      ],
      squares: [
        ...each((part, tile, n) => [...this.clear(part, tile), ...exactTranspose(part, tile, step(part)), ...this.add(part, n)]),
        ...together,
        ...parts.map((part) => this.squaresOfConstraints(part)),
      ],
      product: [...constraints, ...normV],
    };
  }

  private squaresOfConstraints(part: SharePart): Step {
    return this.step(
      part,
      squaredNorms(this.sides),
      { x: part.c, result: part.at("betaSquaredConstraints") },
      range(part.c.length),
      "alike",
    );
  }

  private step<P extends Params>(
    part: SharePart,
    kernel: Kernel<P>,
    args: Args<P>,
    policy: Policy,
    options: keyof FormOptions = "rows",
  ): Step {
    const { device } = part.share.member;
    return {
      name: kernel.name,
      queue: part.share.member.queue(0),
      launch: device.prepare(kernel, args, policy, this.options.launch[options]),
    };
  }

  private async partOf(share: Share, copies: Copies): Promise<SharePart> {
    const { sides } = this;
    const { member, system, vectors } = share;
    const { device } = member;
    const { shape } = system;
    const { stars, shared } = unknownsOfTiles(system);
    const own = <T extends { free(): void }>(one: T): T => (this.owned.push(one), one);
    const tiles: Tile[] = [];
    let row = 0;
    for (const [n, tile] of copies.tiles.entries()) {
      const end = row + tile.rows.shape.observations;
      const leaf = this.sum.leaf(member.index, n);
      tiles.push({
        ...tile,
        u: vectors.u.slice([row, end]),
        t: vectors.ahead!.slice(stars[n]),
        v: vectors.v.slice(stars[n]),
        w: vectors.w.slice(stars[n]),
        leaf: leafOf(system, leaf.reshape(leaf.size / sides, sides), system.starConstraints.length, this.norm === "merged"),
      });
      row = end;
    }
    const { constraints } = copies;
    const pieces = Math.max(constraints.bounds.length, ...tiles.map((tile) => tile.constraints?.bounds.length ?? 0));
    const ordered = this.options.sorted.attitude === "ordered";
    return {
      share,
      copies,
      tiles,
      shared,
      c: vectors.u.slice([row, vectors.u.length]),
      at: (name) => share.scalars.at(name),
      attitude: own(device.array(f64, [shape.knots, AXES, sides])),
      factored: system.factors && own(await factoredVector(device, shape, system.factors, sides)),
      knotSums: ordered ? own(device.array(f64, [startKnots(shape), OF_KNOT, sides])) : undefined,
      unused: ordered ? own(device.array(f64, sides)) : undefined,
      pieces: own(device.array(f64, [pieces, sides])),
    };
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
    const sum = new TreeSum(set, f64, { name: "products of constraint rows", length, leaves: this.options.leaves, results });
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
    if (tile.ordered || rows.narrow) return [...this.clear(part, tile), ...this.sweep(part, tile), ...this.add(part, n)];
    const each = range(rows.shape.observations);
    const tAstro = tile.t.reshape(rows.shape.stars, ASTROMETRIC, this.sides);
    const ofSide = (side: number): Step[] => {
      const [b, v, instrument] = [u.at(1, side), tAstro.at(2, side), leaf.shared.instrument.at(1, side)];
      return [
        this.step(part, a2Astro, { a: rows.astrometric, starRow: rows.starRow, u: b, v }, teams(rows.shape.stars)),
        ...(tile.instrument ? [] : [this.step(part, a2Instr, { a: rows.instrument, column: rows.column, u: b, v: instrument }, each)]),
        ...(tile.attitude
          ? []
          : [this.step(part, a2Att, { a: rows.attitude, knot: rows.knot, u: b, v: leaf.shared.attitude.at(2, side) }, each)]),
      ];
    };
    return [
      ...this.clear(part, tile),
      this.step(part, squaredNorms(this.sides), { x: u, result: leaf.at("betaSquared") }, each),
      ...Array.from({ length: this.sides }, (_, side) => ofSide(side)).flat(),
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
    return [
      this.step(part, attitudeByKnot(this.sides), { x: attitude, y: part.attitude }, range(system.shape.knots * this.sides), "alike"),
    ];
  }

  /** u := A v - (alpha/beta) u and t = A^T u of a tile, with its sums. */
  private forward(part: SharePart, tile: Tile, n: number, sweep = this.sweep(part, tile)): Step[] {
    const { leaf, constraints } = tile;
    const products = (x: View<"f64">, into: View<"f64">): Step[] =>
      constraints
        ? [
            this.pieces(part, constraints, x),
            this.step(
              part,
              starProducts(this.sides),
              { pieces: part.pieces, first: constraints.first, products: into },
              range(into.length),
              "alike",
            ),
          ]
        : [];
    // In place, all unknowns are summed up together.
    const ofStars = this.single
      ? []
      : [
          this.step(part, squaredNorms(this.sides), { x: tile.w, result: leaf.at("wSquares") }, range(tile.w.length)),
          ...(this.norm === "merged"
            ? [this.threeSums(part, tile.t, tile.v, (name) => leaf.at(name)), ...products(tile.t, leaf.timesT)]
            : []),
        ];
    return [...this.clear(part, tile), ...sweep, ...products(tile.v, leaf.timesV), ...ofStars, ...this.add(part, n)];
  }

  /** u := A v - (alpha/beta) u and t = A^T u of a tile, with the sum of squares of u. */
  private sweep(part: SharePart, tile: Tile): Step[] {
    if (part.factored) return [this.sweepFactors(part, tile), this.knotTotals(part, tile), ...this.fromCopies(part, tile)];
    const { sides } = this;
    const { rows, leaf, u, ordered } = tile;
    const { vectors, system } = part.share;
    const { astrometric: allStars, instrument: xInstr, global } = unknowns(system.shape, vectors.v);
    const { astrometric, attitude, instrument } = coefficientsOf(rows);
    const { type } = attitude;
    const { stars } = rows.shape;
    const args = {
      hasGlobal: rows.global !== undefined,
      astrometric,
      attitude,
      instrument,
      global: rows.global ?? system.knownTerms,
      column: rows.column,
      shift: part.at("minusRatio"),
      xAtt: part.attitude,
      xInstr,
      xGlobal: global ?? vectors.v,
      u,
    };
    if (ordered) {
      const byKnot = { ...args, star: rows.star, knotRow: ordered.knotRow, xAstro: allStars, sums: part.knotSums! };
      return [
        this.step(part, sweepByKnot(type, sides), byKnot, teamsOfSides(startKnots(rows.shape), sides / knotPack(sides), KNOT_TEAM)),
        this.knotTotals(part, tile),
        ...this.fromCopies(part, tile),
      ];
    }
    return [
      this.step(
        part,
        sweep(type, sides),
        {
          ...args,
          scatterAttitude: !tile.attitude,
          scatterInstrument: !tile.instrument,
          knot: rows.knot,
          starRow: rows.starRow,
          xAstro: tile.v.reshape(stars, ASTROMETRIC, sides),
          tAstro: tile.t.reshape(stars, ASTROMETRIC, sides),
          tAtt: leaf.shared.attitude,
          tInstr: leaf.shared.instrument,
          squares: leaf.at("betaSquared"),
        },
        teams(stars),
      ),
      ...this.fromCopies(part, tile),
    ];
  }

  /** The sweep over factors of rows. */
  private sweepFactors(part: SharePart, { rows, u, ordered }: Tile): Step {
    const { vectors, system } = part.share;
    const { place, times } = rows.factors!;
    const { sight, turns, weight } = factorsOf(rows);
    const { knotRow } = ordered!;
    const { pAtt, small } = part.copies.columns!;
    const { xStar, xSmall, xClass } = part.factored!;
    const ofRows = { sight, turns, weight, place, star: rows.star, global: rows.global ?? system.knownTerms, knotRow, times, small, u };
    const xGlobal = unknowns(system.shape, vectors.v).global ?? vectors.v;
    const vector = { xStar, xAtt: part.attitude, pAtt, xSmall, xClass, xGlobal, perPixel: 1 / rows.shape.pixels };
    const args = { ...ofRows, ...vector, shift: part.at("minusRatio"), sums: part.knotSums! };
    return this.step(part, sweepFactored(weight.type, this.sides), args, teamsOfSides(startKnots(rows.shape), this.sides, KNOT_TEAM));
  }

  /** Sums over all rows that a sweep by start knots has left by knot. */
  private knotTotals(part: SharePart, { rows, leaf }: Tile): Step {
    const global = leaf.shared.global?.at(0, 0) ?? part.unused!;
    const args = { sums: part.knotSums!, squares: leaf.at("betaSquared"), global };
    return this.step(part, knotTotals(this.sides), args, range(startKnots(rows.shape)));
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
      ...(ordered
        ? [this.step(part, attitudeKnots(this.sides), { sums: part.knotSums!, ...knots }, range(AXES, this.sides * rows.shape.knots))]
        : []),
      ...on(attitude?.finish(shared.attitude)),
      ...on(instrument?.finish(shared.instrument)),
      ...(rows.global && shared.global && !ordered
        ? [this.step(part, globalShare(this.sides), { g: rows.global, u, product: shared.global.at(0, 0) }, range(u.length))]
        : []),
    ];
  }

  /** The constraint rows' part of u, and sums over unknowns that stars share; every member does it. */
  private forwardShared(part: SharePart): Step[] {
    const { share, shared } = part;
    const { constraints, starPlace } = part.copies;
    const { single, sides } = this;
    const { vectors, system } = share;
    const bounds = single ? ([0, vectors.w.length] as const) : shared;
    const w = vectors.w.slice(bounds);
    return [
      this.pieces(part, constraints, vectors.v.slice(shared)),
      this.step(
        part,
        sweepConstraints(sides),
        {
          pieces: part.pieces,
          first: constraints.first,
          shift: part.at("minusRatio"),
          starPlace,
          starProducts: system.starConstraints.length > 0 ? this.total(part).timesV : part.pieces,
          u: part.c,
          squares: part.at("betaSquaredConstraints"),
        },
        range(part.c.length),
        "alike",
      ),
      this.step(part, squaredNorms(sides), { x: w, result: part.at("wSquaresShared") }, range(w.length), "alike"),
    ];
  }

  /** Products of constraint rows' pieces with a vector. */
  private pieces(part: SharePart, { bounds, index, values }: LongRows, x: View<"f64">): Step {
    const args = { bounds, column: index, a: values, x, pieces: part.pieces };
    return this.step(part, rowPieces(this.sides), args, teams(bounds.length - 1), "alike");
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
    return [this.step(part, constraintColumns(this.sides), args, range(v.length), "alike")];
  }

  /** The sum of squares of A^T u / beta - beta v, which `combine` also leaves in v. */
  private normOfV(part: SharePart, of: "combine" | "measure"): Step[] {
    const { share, tiles, shared } = part;
    const factors = { inverseBeta: part.at("inverseBeta"), minusBeta: part.at("minusBeta") };
    const over = (t: View<"f64">, v: View<"f64">, squares: View<"f64">, options: keyof FormOptions): Step[] => {
      const args = { ...factors, t: flat(t), v: flat(v) };
      if (of === "measure") return [this.step(part, measure, { ...args, squares }, range(v.length), options)];
      if (this.sides === 1) return [this.step(part, combine, { ...args, squares }, range(v.length), options)];
      return [
        this.step(part, combineSides(this.sides), args, range(v.size), options),
        this.step(part, squaredNorms(this.sides), { x: v, result: squares }, range(v.length), options),
      ];
    };
    const { ahead, v } = share.vectors;
    if (this.single) return over(ahead!.slice([0, v.length]), v, part.at("alphaSquared"), "rows");
    return [
      ...tiles.flatMap((tile, n) => [
        ...over(tile.t, tile.v, this.alpha.leaf(share.member.index, n), "rows"),
        { name: "add alpha", act: () => this.alpha.add(share.member.index, n) },
      ]),
      ...over(ahead!.slice(shared), v.slice(shared), part.at("alphaSquared"), "alike"),
    ];
  }

  private threeSums(
    part: SharePart,
    t: View<"f64">,
    v: View<"f64">,
    at: (name: (typeof SUMS.merged)[number]) => View<"f64">,
    options: keyof FormOptions = "rows",
  ): Step {
    const args = { t: flat(t), v: flat(v), tSquares: at("tSquares"), tTimesV: at("tTimesV"), vSquares: at("vSquares") };
    return this.step(part, threeSums, args, range(v.length), options);
  }

  /** The merged norm; in place, all unknowns count as shared ones. */
  private merge(part: SharePart): Step[] {
    const { ahead, v } = part.share.vectors;
    const bounds = this.single ? ([0, v.length] as const) : part.shared;
    const { timesV, timesT } = this.total(part);
    const rows = this.single ? 0 : timesV.length;
    const some = (products: View<"f64">): View<"f64"> => (rows > 0 ? flat(products) : part.copies.constraints.values);
    return [
      this.threeSums(part, ahead!.slice(bounds), v.slice(bounds), (name) => part.at(`${name as "tSquares"}Shared`), "alike"),
      this.step(
        part,
        mergedAlpha,
        {
          ...pick(part, ["tSquares", "tTimesV", "vSquares", "tSquaresShared", "tTimesVShared", "vSquaresShared"]),
          ...pick(part, ["beta", "inverseBeta", "alphaSquared", "alphaSquaredStars", "doubt"]),
          rows,
          row: part.copies.starRows,
          u: flat(part.c),
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
    const vectors = { v: flat(v), w: flat(w), x: flat(x), variance: flat(variance) };
    const scalars = pick(part, ["inverseBeta", "minusBeta", "inverseAlpha", "inverseRho", "xStep", "wStep"]);
    return [this.step(part, advance, { ...scalars, t: flat(ahead!.slice([0, v.length])), ...vectors }, range(v.length), "alike")];
  }
}

const pick = <K extends ScalarName>(part: SharePart, names: readonly K[]): Record<K, View<"f64">> =>
  Object.fromEntries(names.map((name) => [name, part.at(name)])) as Record<K, View<"f64">>;
