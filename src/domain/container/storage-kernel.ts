import { define, localOf } from "../../ir/by-name.js";
import type { NumberElement, Expr, KernelIR, Param, Stmt } from "../../ir/types.js";
import { FreshNames } from "../../ir/passes/copy.js";
import { mapStmts } from "../../ir/walk.js";
import type { Level } from "../../kernel/declare/cells.js";
import type { FieldLayout } from "../grid/options.js";

/** Properties of a field that determine the places of its values. */
export interface FieldPlan {
  readonly cardinality: number;
  readonly layout: FieldLayout;
  /** The grid on which it lies. Default: the container's own. */
  readonly level?: Level;
}

/** Input of a container's lowering, in addition to its code. */
export interface ContainerPlan {
  /** By view parameter. */
  readonly fields: ReadonlyMap<string, FieldPlan>;
  /** The view parameter that `isActive` reads. */
  readonly mask?: string;
  /** Elements of the range are stretches of cells. */
  readonly march?: object;
  /** The range counts every second cell of a row. */
  readonly everySecond?: object;
  /** Reductions leave the value of each cell in a view, in place of being folded. */
  readonly storeReduced?: boolean;
}

/** The form of a kernel over a kind of storage. */
export interface StorageShape {
  readonly policy: KernelIR["policy"];
  /** Rank of a field's view. */
  readonly fieldRank: (field: FieldPlan) => number;
  /** Address of the own cell's value. */
  readonly cell: Expr[];
}

const axesOf = (rank: number): number[] => [...Array(rank).keys()];

/** The axes of a field along which its cells lie; the component is the author's own to tell. */
const cellAxes = ({ cardinality, layout }: FieldPlan, rank: number): number[] =>
  cardinality === 1 ? axesOf(rank) : axesOf(rank).filter((axis) => axis !== (layout === "soa" ? 0 : rank - 1));

/** Builds the kernel over a grid's storage: parameters that it needs beside the container's own, by what they hold. */
export class StorageKernel<Role extends string> {
  /** Names of the parameters that were added. */
  readonly roles = new Map<Role, string>();
  private readonly names: FreshNames;
  private readonly added: Param[] = [];
  /** Statements to put before the body. */
  readonly prologue: Stmt[] = [];

  constructor(private readonly container: KernelIR) {
    this.names = new FreshNames(container);
  }

  /** The name of a view parameter that holds what `role` says; made on first use. */
  view(role: Role, element: NumberElement, rank: number): string {
    return this.param(role, (name) => ({ kind: "view", name, element, rank, disjoint: false, trusted: axesOf(rank) }));
  }

  /** The name of an i32 scalar parameter. */
  scalar(role: Role): string {
    return this.param(role, (name) => ({ kind: "scalar", name, type: "i32" }));
  }

  /** A name for a local. */
  fresh(wish: string): string {
    return this.names.fresh(wish);
  }

  /** A local, declared in the prologue. */
  local(wish: string, value: Expr): Expr {
    const name = this.names.fresh(wish);
    this.prologue.push(define(name, value, this.container.location));
    return localOf(name, value.type);
  }

  /** The kernel with this body, and with the views that the grid gives it in place of the container's. */
  finish(
    body: Stmt[],
    { fields, mask, storeReduced, march, everySecond }: ContainerPlan,
    { policy, fieldRank, cell }: StorageShape,
  ): KernelIR {
    // No two cells have one place, however far the analysis of races sees through a kernel over teams, stretches or every second cell.
    const disjoint = policy.kind === "team" || march !== undefined || everySecond !== undefined;
    const params = this.container.params.flatMap((param): Param[] => {
      const field = fields.get(param.name);
      if (param.kind === "view" && field) {
        const rank = fieldRank(field);
        return [{ ...param, rank, disjoint: disjoint || param.disjoint, trusted: cellAxes(field, rank) }];
      }
      if (param.name === mask) return [];
      if (param.kind !== "reduce" || !storeReduced) return [param];
      return [{ kind: "view", name: param.name, element: param.type, rank: cell.length, disjoint, trusted: axesOf(cell.length) }];
    });
    const storing = mapStmts(body, {
      stmt: (stmt) =>
        stmt.kind === "reduce" && storeReduced
          ? { kind: "store", view: stmt.target, indices: cell, value: stmt.value, location: stmt.location }
          : stmt,
    });
    return { ...this.container, policy, params: [...params, ...this.added], body: storing };
  }

  private param(role: Role, make: (name: string) => Param): string {
    let name = this.roles.get(role);
    if (name === undefined) {
      name = this.names.fresh(role);
      this.roles.set(role, name);
      this.added.push(make(name));
    }
    return name;
  }
}
