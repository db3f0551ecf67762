import { define, indexOf, localOf } from "../ir/build.js";
import type { ElementType, Expr, KernelIR, Param, ReduceParam, Stmt, ViewParam } from "../ir/types.js";
import { Names } from "../ir/unroll.js";
import { mapStmts } from "../ir/walk.js";
import type { FieldLayout } from "./field.js";

/** What of a field decides where its values lie. */
export interface FieldPlan {
  readonly cardinality: number;
  readonly layout: FieldLayout;
}

/** What a container's lowering needs to know beside its code. */
export interface ContainerPlan {
  /** By view parameter. */
  readonly fields: ReadonlyMap<string, FieldPlan>;
  /** The view parameter that `isActive` reads. */
  readonly mask?: string;
  /** Reductions leave the value of each cell in a view of this rank, in place of being folded. */
  readonly record?: number;
}

/** Builds the kernel over a grid's storage: parameters that it needs beside the container's own, by what they hold. */
export class StorageKernel<Role extends string> {
  /** Names of the parameters that were added. */
  readonly roles = new Map<Role, string>();
  private readonly names: Names;
  private readonly added: Param[] = [];
  /** Statements to stand in front of the body. */
  readonly prologue: Stmt[] = [];

  constructor(private readonly container: KernelIR) {
    this.names = new Names(container);
  }

  /** The name of a view parameter that holds what `role` says; made on first use. */
  view(role: Role, element: ElementType, rank: number): string {
    return this.param(role, (name) => ({ kind: "view", name, element, rank, disjoint: false }));
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

  /** The kernel with `body` over a range of `rank`, and field views of the ranks that the grid gives them. */
  finish(body: Stmt[], rank: number, { fields, mask, record }: ContainerPlan, fieldRank: (plan: FieldPlan) => number): KernelIR {
    const reduced = new Map<string, ReduceParam>();
    const params = this.container.params.flatMap((param): Param[] => {
      const plan = fields.get(param.name);
      if (param.kind === "view" && plan) return [{ ...param, rank: fieldRank(plan) }];
      if (param.name === mask) return [];
      if (param.kind !== "reduce" || record === undefined) return [param];
      reduced.set(param.name, param);
      return [recordOf(param, record)];
    });
    const recorded = mapStmts(body, {
      stmt: (stmt) =>
        stmt.kind === "reduce" && reduced.has(stmt.target)
          ? { kind: "store", view: stmt.target, indices: indices(record!), value: stmt.value, location: stmt.location }
          : stmt,
    });
    return {
      ...this.container,
      policy: { kind: "range", rank },
      params: [...params, ...this.added],
      body: recorded,
    };
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

const recordOf = ({ name, type }: ReduceParam, rank: number): ViewParam => ({ kind: "view", name, element: type, rank, disjoint: false });

const indices = (rank: number): Expr[] => Array.from({ length: rank }, (_, axis) => indexOf(axis));
