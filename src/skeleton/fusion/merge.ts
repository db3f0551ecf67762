import { unreachable } from "../../base/unreachable.js";
import { heldValue } from "../../ir/held.js";
import { valueType } from "../../ir/scalars.js";
import { analyseContainer } from "../../domain/container/analysis.js";
import type { AxisArray } from "../../domain/grid/axis-array.js";
import { resultsOf, type Container, type FieldUse, type Field } from "../../domain/grid/grid.js";
import { assignedKeys } from "../../ir/analysis/assigned.js";
import type { Expr, KernelIR, Location, NumberType, Param, Stmt } from "../../ir/types.js";
import { FreshNames } from "../../ir/passes/copy.js";
import { declares, mapChildren, mapStmts, walkStmts } from "../../ir/walk.js";
import type { Scalar } from "../../set/scalar.js";
import { footprintOf, cellOffset } from "./footprint.js";
import { getOrMake } from "../entry.js";
import type { FusionGroup, Inline, GroupedContainer } from "./group.js";
import { compare, int, select } from "../../ir/expressions.js";

/** Fields and scalars in place of the sequence's: they differ from them if results went to second buffers. */
export interface Buffers {
  /** Buffer of the values before the kernel. */
  from<T extends Field | Scalar>(of: T): T;
  /** Buffer of the values after the kernel. */
  to<T extends Field | Scalar>(of: T): T;
}

/** The same container on other fields and scalars. */
export function rebind(container: Container, field: (of: Field) => Field, scalar: (of: Scalar) => Scalar = (of) => of): Container {
  const { uses, scalars, reductions, assigned } = container;
  const same =
    uses.every((use) => field(use.field) === use.field) && [...scalars.values(), ...resultsOf(container)].every((of) => scalar(of) === of);
  if (same) return container;
  const others = (map: ReadonlyMap<string, Scalar>) => new Map([...map].map(([param, of]) => [param, scalar(of)]));
  return {
    ...container,
    uses: uses.map((use) => ({ ...use, field: field(use.field) })),
    scalars: others(scalars),
    reductions: others(reductions),
    assigned: assigned && others(assigned),
  };
}

/** One container that does the work of a group. */
export function mergeContainers(group: FusionGroup, buffers: Buffers): Container {
  const [{ container }] = group.parts;
  if (group.parts.length === 1 && group.second.size === 0) return rebind(container, buffers.from, buffers.from);
  return new Merger(group, buffers).merge();
}

/** A private array that takes the place of a field in one cell, that at `offset` from the own one. */
interface Materialised {
  readonly array: string;
  readonly field: Field;
  readonly offset: readonly number[];
}

/** Locals in place of fields, in one cell. */
type Held = Map<Field, Materialised>;
/** Locals in place of fields in neighbours, by field and offset. */
type HeldAround = Map<Field, Map<string, Materialised>>;

const typeOf = (field: Field): NumberType => valueType(field.type);

class Merger {
  private readonly names: FreshNames;
  private readonly params: Param[] = [];
  private readonly tables: KernelIR["tables"] = [];
  private readonly rank: number;
  private readonly location: Location;
  /** Names of view parameters, and their meanings after the merge. */
  private readonly views = new Map<Field, string>();
  private readonly fields = new Map<string, Pick<FieldUse, "field" | "level">>();
  private readonly scalars = new Map<Scalar, string>();
  private readonly axisArrays = new Map<AxisArray, string>();
  private readonly reductions = new Map<string, Scalar>();
  private readonly values = new Map<string, number | bigint | boolean>();
  private mask: string | undefined;
  private readonly declared = new Map<Container, ReadonlyMap<string, string>>();
  private readonly held: Materialised[] = [];
  /** The own cell's values of fields that the group writes. */
  private readonly own: Held = new Map();

  constructor(
    private readonly group: FusionGroup,
    private readonly buffers: Buffers,
  ) {
    const [{ container }] = group.parts;
    const { ir } = container;
    this.rank = container.grid.extents.length;
    this.location = container.location;
    this.names = new FreshNames({ ...ir, params: [], tables: [], body: [] });
  }

  merge(): Container {
    const { parts, inlined } = this.group;
    for (const part of parts)
      for (const touch of footprintOf(part.container).touches.values())
        if (touch.written.size > 0 && !this.own.has(touch.field)) this.own.set(touch.field, this.materialise(touch.field, this.here()));
    const body = parts.flatMap((part) => {
      const around: HeldAround = new Map();
      const copies = inlined.filter((inline) => inline.reader === part).flatMap((inline) => this.neighbours(inline, around));
      return [...copies, ...this.copy(part, this.here(), this.own, around)];
    });
    const ends = this.ends();
    return this.container([...this.starts([...body, ...ends]), ...body, ...ends]);
  }

  private here(): number[] {
    return Array<number>(this.rank).fill(0);
  }

  private materialise(field: Field, offset: readonly number[]): Materialised {
    const held = { array: this.names.fresh(`${field.name.replace(/\W/g, "_")}_here`), field, offset };
    this.held.push(held);
    return held;
  }

  /** The writer's code for each neighbour that the reader wants to know of. */
  private neighbours({ writer, field, offsets }: Inline, around: HeldAround): Stmt[] {
    const computed = getOrMake(around, field, () => new Map<string, Materialised>());
    return offsets.flatMap((offset) => {
      const values: Held = new Map();
      for (const touch of footprintOf(writer.container).touches.values())
        if (touch.written.size > 0) values.set(touch.field, this.materialise(touch.field, offset));
      computed.set(offset.join(), values.get(field)!);
      return this.copy(writer, offset, values, new Map(), true);
    });
  }

  /**
   * A container's code for the cell at an offset, with the fields that are written held in arrays. `around` holds values of neighbours
   * by place; `silent` copies leave no results but those arrays.
   */
  private copy(
    { container, again }: GroupedContainer,
    offset: readonly number[],
    values: Held,
    around: HeldAround,
    silent = again,
  ): Stmt[] {
    const { ir } = container;
    const fields = usesByParam(container);
    const renamed = new Map(this.declare(container));
    walkStmts(ir.body, (stmt) => declares(stmt).forEach((name) => renamed.set(name, this.names.fresh(name))));
    const name = (old: string) => renamed.get(old)!;

    /** Local that holds, in registers, the field's value that the code finds at `indices`. */
    const heldAt = (view: string, indices: readonly Expr[]): Materialised | undefined => {
      const use = fields.get(view);
      if (use?.level !== "own") return undefined;
      const distance = cellOffset(indices);
      return distance.every((d) => d === 0) ? values.get(use.field) : around.get(use.field)?.get(distance.join());
    };
    const distanceOf = (axis: number): number => offset[this.rank - 1 - axis];
    /** The indices of a cell tell it by its distance, also beyond the end of a periodic axis. */
    const moved = (index: Expr): Expr => (index.op === "index" ? shifted(index, distanceOf(index.axis)) : mapChildren(index, moved));
    const expr = (node: Expr): Expr => {
      if (node.op === "load" && (fields.has(node.view) || node.view === container.mask?.param)) {
        const held = heldAt(node.view, node.indices);
        const components = node.indices.slice(this.rank).map(expr);
        if (held) return elementOf(held, components[0]);
        return { ...node, view: name(node.view), indices: [...node.indices.slice(0, this.rank).map(moved), ...components] };
      }
      const mapped = mapChildren(node, expr);
      switch (mapped.op) {
        case "index":
          return this.coordinate(mapped, distanceOf(mapped.axis));
        case "load":
          return { ...mapped, view: name(mapped.view) };
        case "extent":
          return { ...mapped, view: name(mapped.view) };
        case "local":
        case "param":
          return { ...mapped, name: name(mapped.name) };
        case "element":
          return { ...mapped, array: name(mapped.array) };
        case "table":
          return { ...mapped, table: name(mapped.table) };
        case "const":
        case "teamSize":
        case "unary":
        case "binary":
        case "compare":
        case "logical":
        case "select":
        case "cast":
        case "call":
        case "checked":
        case "failed":
          return mapped;
        default:
          return unreachable(mapped);
      }
    };
    const stmt = (s: Stmt): Stmt | Stmt[] => {
      switch (s.kind) {
        case "let":
        case "assign":
        case "array":
        case "for":
          return { ...s, name: name(s.name) };
        case "setElement":
          return { ...s, array: name(s.array) };
        case "store":
          return setHeld(values.get(fields.get(s.view)!.field)!, s.indices[this.rank], s.value, s.location);
        case "reduce":
          return silent ? [] : { ...s, target: name(s.target) };
        case "reduceJointly":
        case "scatter":
        case "atomic":
        case "print":
        case "if":
        case "while":
        case "break":
        case "continue":
        case "teamFor":
        case "teamReduce":
        case "single":
          return s;
        default:
          return unreachable(s);
      }
    };
    return mapStmts(ir.body, { expr, stmt });
  }

  /** A coordinate of the cell at distance `d` along the axis of the own one's. */
  private coordinate(index: Extract<Expr, { op: "index" }>, d: number): Expr {
    const { extents, periodic } = this.group.parts[0].container.grid;
    const axis = this.rank - 1 - index.axis;
    const beside = shifted(index, d);
    if (d === 0 || !periodic[axis]) return beside;
    const extent = extents[axis];
    const isInside = d < 0 ? compare("ge", index, int(-d)) : compare("lt", index, int(extent - d));
    return select(isInside, beside, shifted(index, d < 0 ? d + extent : d - extent));
  }

  /** New names of a container's parameters and tables: one for each field, scalar and value, whoever uses it. */
  private declare(container: Container): ReadonlyMap<string, string> {
    const known = this.declared.get(container);
    if (known) return known;
    const fields = usesByParam(container);
    const names = new Map<string, string>();
    for (const param of container.ir.params) {
      const { name } = param;
      const use = fields.get(name);
      const scalar = container.scalars.get(name);
      const axisArray = container.axisArrays?.get(name);
      if (use)
        names.set(
          name,
          getOrMake(this.views, use.field, () => this.view(param, this.buffers.from(use.field), use.level)),
        );
      else if (scalar)
        names.set(
          name,
          getOrMake(this.scalars, scalar, () => this.param(param)),
        );
      else if (axisArray)
        names.set(
          name,
          getOrMake(this.axisArrays, axisArray, () => this.param(param)),
        );
      else if (name === container.mask?.param) names.set(name, (this.mask ??= this.param(param)));
      else {
        const fresh = this.param(param);
        names.set(name, fresh);
        if (param.kind === "reduce") this.reductions.set(fresh, this.buffers.to(container.reductions.get(name)!));
        if (param.kind === "scalar") this.values.set(fresh, container.values.get(name)!);
      }
    }
    for (const table of container.ir.tables) {
      const name = this.names.fresh(table.name);
      names.set(table.name, name);
      this.tables.push({ ...table, name });
    }
    this.declared.set(container, names);
    return names;
  }

  private view(param: Param, field: Field, level: FieldUse["level"]): string {
    const name = this.param(param);
    this.fields.set(name, { field, level });
    return name;
  }

  private param(param: Param): string {
    const name = this.names.fresh(param.name);
    this.params.push({ ...param, name });
    return name;
  }

  /** Stores what the group leaves in the own cell. */
  private ends(): Stmt[] {
    const { parts, second, unstored } = this.group;
    return [...this.own.values()].flatMap((held): Stmt[] => {
      const { field } = held;
      const writers = parts.filter((part) => !part.again && (footprintOf(part.container).touches.get(field)?.written.size ?? 0) > 0);
      if (unstored.has(field) || writers.length === 0) return [];
      const view = second.has(field) ? this.target(field) : this.views.get(field)!;
      const written = new Set(writers.flatMap((part) => [...footprintOf(part.container).touches.get(field)!.written]));
      const components = Array.from({ length: field.cardinality }, (_, k) => k).filter((k) => second.has(field) || written.has(k));
      return components.map((k) => ({
        kind: "store",
        view,
        indices: this.indices(held.offset, k),
        value: elementOf(held, int(k)),
        location: this.location,
      }));
    });
  }

  /** The view that takes a field's results where they go to a second buffer. */
  private target(field: Field): string {
    const name = `${this.views.get(field)!}_next`;
    return this.view({ kind: "view", name, element: field.type, rank: this.rank + 1, disjoint: false }, this.buffers.to(field), "own");
  }

  /** Declares the arrays, with values from memory where the code after it may read them before they are set. */
  private starts(body: readonly Stmt[]): Stmt[] {
    const held = new Map(this.held.map((h) => [h.array, h]));
    const { exposed } = assignedKeys(
      body,
      (node) => {
        const h = node.op === "element" ? held.get(node.array) : undefined;
        if (!h || node.op !== "element") return [];
        const components = Array.from({ length: h.field.cardinality }, (_, k) => k);
        return components.filter((k) => node.index.op !== "const" || node.index.value === k).map((k) => `${h.array} ${k}`);
      },
      (stmt) =>
        stmt.kind === "setElement" && held.has(stmt.array) && stmt.index.op === "const" ? `${stmt.array} ${stmt.index.value}` : undefined,
    );
    return this.held.flatMap((h): Stmt[] => {
      const { array, field, offset } = h;
      const declaration: Stmt = {
        kind: "array",
        name: array,
        type: typeOf(field),
        length: field.cardinality,
        space: "private",
        location: this.location,
      };
      const values = Array.from({ length: field.cardinality }, (_, k): Stmt[] => {
        if (!exposed.has(`${array} ${k}`)) return [];
        const value: Expr = { op: "load", type: typeOf(field), view: this.views.get(field)!, indices: this.indices(offset, k) };
        return [{ kind: "setElement", array, index: int(k), value, location: this.location }];
      });
      return [declaration, ...values.flat()];
    });
  }

  /** Indices of component `k` in the cell at an offset. */
  private indices(offset: readonly number[], k: number): Expr[] {
    const cell = Array.from({ length: this.rank }, (_, axis) => shifted({ op: "index", type: "i32", axis }, offset[this.rank - 1 - axis]));
    return [...cell, int(k)];
  }

  private container(body: Stmt[]): Container {
    const { parts } = this.group;
    const { grid, ir: first } = parts[0].container;
    const name = parts.map((part) => part.container.name).join(" + ");
    const params = this.params.filter(
      (param) => param.kind !== "reduce" || body.some((s) => s.kind === "reduce" && s.target === param.name),
    );
    const raw: KernelIR = { ...first, name, params, tables: this.tables, body, location: this.location };
    const { ir, uses, mask } = analyseContainer(raw, this.fields, grid);
    const residents = new Map([...this.scalars].map(([scalar, param]) => [param, this.buffers.from(scalar)]));
    const kept = new Set(ir.params.map((param) => param.name));
    const keptOf = <T>(map: ReadonlyMap<string, T>) => new Map([...map].filter(([param]) => kept.has(param)));
    const reductions = keptOf(this.reductions);
    return {
      name,
      grid,
      location: this.location,
      ir,
      uses,
      scalars: keptOf(residents),
      reductions,
      values: keptOf(this.values),
      axisArrays: keptOf(new Map([...this.axisArrays].map(([array, param]) => [param, array]))),
      mask,
      stencil: uses.some((use) => use.offsets.length > 0),
      reduces: reductions.size > 0,
    };
  }
}

const usesByParam = ({ uses }: Container): ReadonlyMap<string, FieldUse> => new Map(uses.map((use) => [use.param, use]));

const shifted = (index: Expr, by: number): Expr =>
  by === 0 ? index : { op: "binary", type: "i32", fn: by > 0 ? "add" : "sub", a: index, b: int(Math.abs(by)) };

const elementOf = ({ array, field }: Materialised, index: Expr): Expr => ({ op: "element", type: typeOf(field), array, index });

/** Value that a field would give back after a store of `value`. */
const setHeld = ({ array, field }: Materialised, index: Expr, value: Expr, location: Location): Stmt => ({
  kind: "setElement",
  array,
  index,
  // A float of 16 bits is not read again: see group.ts.
  value: heldValue(field.type, value) ?? value,
  location,
});
