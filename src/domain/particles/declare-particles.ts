import { isPacked } from "../../ir/scalars.js";
import { originalPosition } from "#source-map";
import { affineOf, definitionsOf } from "../../ir/analysis/affine.js";
import type { Expr, KernelIR, Location, NumberType, Stmt, ViewParam } from "../../ir/types.js";
import { walkExprs, walkStmts } from "../../ir/walk.js";
import type { Cell, ColumnAccess, DepositAccess, DepositToken, Dimension, FieldParamToken, Particle } from "../../kernel/declare/cells.js";
import { KernelError } from "../../base/errors.js";
import type { Captures } from "../../kernel/declare/captures.js";
import { lower, type LowerSource } from "../../kernel/lower/lower.js";
import { analyseContainer, unrollOffsets } from "../container/analysis.js";
import {
  Field,
  type Container,
  type ContainerBody,
  type ContainerParam,
  type FieldUse,
  type Grid,
  type GridSpecies,
} from "../grid/grid.js";
import type { ArrayUse } from "../grid/parts.js";
import { asContainer, Declarations, requireArguments } from "../container/declare.js";
import type { FieldType } from "../grid/options.js";
import { Column, type Deposit } from "./columns.js";
import { sumByCell, type Slot } from "./deposits.js";
import { overTeams } from "./over-teams.js";
import { readCellOnce } from "./read-once.js";
import { add, index, int, sub } from "../../ir/expressions.js";

/** Declarations of a container over particles: columns of its species, fields that it adds to, and the ones of any container. */
export type ParticleParam = ContainerParam | Column | Deposit<Field>;
/** The parameters of a container over particles, by name. */
export type ParticleParams = Record<string, ParticleParam>;

type ParticleBodyParam<P> =
  P extends Column<infer C>
    ? ColumnAccess<C>
    : P extends Deposit<Field<FieldType, infer C, infer D>>
      ? DepositAccess<C, D>
      : P extends ContainerParam
        ? Parameters<ContainerBody<{ value: P }>>[0]["value"]
        : never;

/** A container as written: it runs for each particle of each cell, and changes what is the particle's own. */
export type ParticleBody<P extends ParticleParams, D extends Dimension = Dimension> = (
  params: { [K in keyof P]: ParticleBodyParam<P[K]> },
  p: Particle,
  c: Cell<D>,
) => void;

/**
 * Lowers and analyses a function of the particles of a species. It becomes a container over cells that loops over each cell's particles,
 * followed, for each field that they add to, by one that gathers what cells have for their neighbours.
 * Throws ContainerError with the author's line where the code is outside the language, or particles would race.
 */
export function declareOverParticles<P extends ParticleParams>(
  species: GridSpecies,
  name: string,
  params: P,
  body: ParticleBody<P>,
  calledAt: Location,
  captures?: Captures,
): readonly Container[] {
  const location = originalPosition(calledAt);
  const usage = 'species.container("name", { x, v }, ({ x, v }, p, c) => ..., () => [helper, CONSTANT])';
  requireArguments(name, params, body, captures, location, usage);
  const declared = new ParticleDeclarations(species, name, location);
  for (const [param, value] of Object.entries(params)) declared.add(param, value as ContainerParam);
  const lists = declared.lists();
  const { grid } = species;
  const source: LowerSource = {
    name,
    params: declared.tokens,
    policy: { cells: grid.dimension, particles: lists },
    body: body as unknown as LowerSource["body"],
    captures,
    location: calledAt,
  };
  return asContainer(() => {
    const targets = { has: (param: string) => declared.fields.has(param) || declared.deposits.has(param) };
    const unrolled = unrollOffsets(lower(source, {}), targets);
    requireOwn(unrolled, declared);
    const { ir: summed, slots } = sumByCell(unrolled);
    const fields = new Map<string, Pick<FieldUse, "field" | "level">>(declared.fields);
    const gathers = [...slots].map(([param, list]) => {
      const target = declared.deposits.get(param)!;
      const sums = grid.field(`${name}.${target.name}`, { type: target.type }, { cardinality: list.length });
      fields.set(param, { field: sums, level: "own" });
      return gather(species, target, sums, list, location);
    });
    const { ir: found, uses, mask } = analyseContainer(summed, fields, grid, declared.axisArrays);
    const ir = trustParticles(readCellOnce(found, fields), declared.columns);
    const { scalars, reductions, values, axisArrays } = declared;
    const arrays = arraysIn(ir, declared.columns);
    const made: Container = {
      name,
      grid,
      location,
      ir,
      uses,
      scalars,
      reductions,
      values,
      axisArrays,
      mask,
      arrays,
      particles: {
        species,
        needsSort: declared.deposits.size > 0 || mask !== undefined || dependsOnCell(unrolled, lists),
        lanes: () => species.lanes,
        overTeams,
        moves: [...arrays.values()].some(({ array, written }) => written && array === species.columns.x),
      },
      stencil: uses.some((use) => use.offsets.length > 0),
      reduces: reductions.size > 0,
    };
    grid.requireStencils(made);
    return [made, ...gathers];
  });
}

class ParticleDeclarations extends Declarations {
  readonly columns = new Map<string, Column>();
  readonly deposits = new Map<string, Field>();

  constructor(
    private readonly species: GridSpecies,
    name: string,
    location: Location,
  ) {
    super(species.grid, name, location);
  }

  override add(param: string, value: ParticleParam): void {
    if (value instanceof Column) return this.addColumn(param, value);
    if (typeof value === "object" && value !== null && (value as Deposit).kind === "deposit")
      return this.addDeposit(param, (value as Deposit<Field>).field);
    super.add(param, value as ContainerParam);
  }

  protected override addAxisFold(param: string): void {
    this.fail(`the parameter "${param}" is a reduction along axes, and particles have none`, "deposit into a field, and reduce that");
  }

  private addColumn(param: string, column: Column): void {
    if (column.species !== this.species)
      this.fail(`the column "${column.name}" belongs to another species than "${this.species.name}"`, "loop over one species at a time");
    if ([...this.columns.values()].includes(column)) this.fail(`the column "${column.name}" is given twice`, "give it once");
    this.columns.set(param, column);
    const { type, components } = column;
    // Each particle belongs to one cell, and is at its own place.
    this.tokens[param] = { kind: "view", element: type, rank: components === 1 ? 1 : 2, disjoint: true };
  }

  private addDeposit(param: string, field: Field): void {
    if (!(field instanceof Field)) this.fail(`the parameter "${param}" deposits into something other than a field`, "write deposit(field)");
    if ((field.grid as Grid) !== this.grid)
      this.fail(`the field "${field.name}" belongs to another grid than the species`, "deposit into fields of the species' grid");
    if (isPacked(field.type)) this.fail(`the field "${field.name}" is stored as ${field.type}`, "deposit into a field of f64, f32 or i32");
    this.deposits.set(param, field);
    this.tokens[param] = { kind: "deposit", element: field.type, cardinality: field.cardinality } as DepositToken;
  }

  /** Adds the fields that tell which particles are in a cell; their names. */
  lists(): { first: string; count: string } {
    const add = (wish: string, field: Field): string => {
      let param = wish;
      while (Object.hasOwn(this.tokens, param)) param = `${param}_`;
      this.fields.set(param, { field, level: "own" });
      this.tokens[param] = { kind: "field", element: "i32", cardinality: 1, level: "own" } as FieldParamToken;
      return param;
    };
    const { first, count } = this.species;
    return { first: add("first", first), count: add("count", count) };
  }
}

/** Trusts columns, which are indexed by the particle: cells' lists contain only particles of the member. */
function trustParticles(ir: KernelIR, columns: ReadonlyMap<string, Column>): KernelIR {
  const params = ir.params.map((param) => (param.kind === "view" && columns.has(param.name) ? { ...param, trusted: [0] } : param));
  return { ...ir, params };
}

/** Uses of the columns by the code. */
function arraysIn(ir: KernelIR, columns: ReadonlyMap<string, Column>): Map<string, ArrayUse> {
  const [read, written] = [new Set<string>(), new Set<string>()];
  walkExprs(ir.body, (node) => void (node.op === "load" && read.add(node.view)));
  walkStmts(ir.body, (stmt) => void (stmt.kind === "store" && written.add(stmt.view)));
  return new Map(
    [...columns]
      .filter(([param]) => ir.params.some(({ name }) => name === param))
      .map(([param, array]) => [param, { array, read: read.has(param), written: written.has(param) }]),
  );
}

/** Rejects accesses to anything but the particle's own: columns at another place, and fields that are set instead of added to. */
export function requireOwn(ir: KernelIR, { columns, fields }: Record<"columns" | "fields", { has(param: string): boolean }>): void {
  const loop = ir.body.find((stmt) => stmt.kind === "for")!;
  const definitions = definitionsOf(ir.body);
  const isParticle = (index: Expr): boolean => {
    const form = affineOf(index, definitions);
    return form !== undefined && form.constant === 0 && JSON.stringify(form.terms) === JSON.stringify({ [`local:${loop.name}`]: 1 });
  };
  const check = (view: string, indices: readonly Expr[], location: Location): void => {
    if (columns.has(view) && !isParticle(indices[0]))
      throw new KernelError(
        ir.name,
        location,
        `${view} is not indexed by the particle`,
        `write ${view}[p], with the p that the function is given`,
      );
  };
  walkExprs(ir.body, (node, stmt) => void (node.op === "load" && check(node.view, node.indices, node.location ?? stmt.location)));
  walkStmts(ir.body, (stmt) => {
    if (stmt.kind !== "store") return;
    check(stmt.view, stmt.indices, stmt.location);
    if (fields.has(stmt.view))
      throw new KernelError(
        ir.name,
        stmt.location,
        `particles of one cell would all set ${stmt.view}`,
        `declare ${stmt.view}: deposit(field) and add to it, or set it in a container of the grid`,
      );
  });
}

/** True where the code looks at the cell, or at fields in it. */
function dependsOnCell(ir: KernelIR, { first, count }: { first: string; count: string }): boolean {
  let depends = false;
  const loop = ir.body.find((stmt) => stmt.kind === "for")!;
  walkExprs(loop.body, (node) => {
    if (node.op === "index") depends = true;
    if (node.op === "load" && node.view !== first && node.view !== count && node.indices.some((index) => index.op === "index"))
      depends = true;
  });
  return depends;
}

/** Adds to a field what the cells around have for each cell: slot n of the cell at minus its offset. */
function gather(species: GridSpecies, target: Field, sums: Field, slots: readonly Slot[], location: Location): Container {
  const { grid } = species;
  const axes = grid.extents.length;
  const type = target.type as NumberType;
  const at = (offset: readonly number[], k: number): Expr[] => [
    ...Array.from({ length: axes }, (_, axis) => sub(index(axis), offset[axes - 1 - axis])),
    int(k),
  ];
  const here = grid.extents.map(() => 0);
  const body = slots.map(({ offset, k }, n): Stmt => {
    const before: Expr = { op: "load", type, view: "target", indices: at(here, k) };
    const sum: Expr = { op: "load", type, view: "sums", indices: at(offset, n) };
    return { kind: "store", view: "target", indices: at(here, k), value: add(before, sum), location };
  });
  const view = (name: string): ViewParam => ({ kind: "view", name, element: type, rank: axes + 1, disjoint: false });
  const name = `gather ${target.name}`;
  const code: KernelIR = {
    name,
    policy: { kind: "range", rank: axes },
    params: [view("target"), view("sums")],
    tables: [],
    body,
    location,
  };
  const fields = new Map([target, sums].map((field, n) => [["target", "sums"][n], { field, level: "own" as const }]));
  const { ir, uses, mask } = analyseContainer(code, fields, grid);
  const stencil = slots.some(({ offset }) => offset.some((d) => d !== 0));
  const none = { scalars: new Map(), reductions: new Map(), values: new Map(), reduces: false };
  const made: Container = { name, grid, location, ir, uses, mask, stencil, ...none };
  grid.requireStencils(made);
  return made;
}
