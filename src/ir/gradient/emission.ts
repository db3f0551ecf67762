import { constant } from "../expressions.js";
import { localOf } from "../by-name.js";
import type { LocalRef } from "../builder.js";
import type { FreshNames } from "../passes/copy.js";
import type { Expr, Location, ScalarType, Stmt } from "../types.js";
import type { TrailEntry, Env, CodeScope } from "./trail.js";

/** A statement before it gets its place. */
type Placeless = Stmt extends infer S ? (S extends Stmt ? Omit<S, "location"> : never) : never;

export const zeroOf = (type: ScalarType): Expr => constant(type, type === "bool" ? false : 0);
export const childOf = (env: Env): Env => ({ values: new Map(env.values), arrays: new Map(env.arrays), loads: new Map(env.loads) });

/** Writes statements into nested blocks, and keeps track of where locals are declared. */
export abstract class Emission {
  protected out: Stmt[] = [];
  protected trail: TrailEntry[] = [];
  protected scope: CodeScope = { head: [], tail: [], outer: undefined };
  /** Branches around the place that is written, inside of its scope. */
  protected depth = 0;
  protected location: Location;
  /** Scopes of locals and arrays of derivatives' code. */
  protected readonly owners = new Map<string, CodeScope>();
  /** Locals and arrays that depend on what gradients are wanted of. */
  protected readonly active = new Set<string>();
  /** By local or array: the name of its adjoint or tangent. */
  protected derivatives = new Map<string, string>();

  constructor(
    location: Location,
    protected readonly names: FreshNames,
  ) {
    this.location = location;
  }

  /** A name like the one that is wished for. */
  protected fresh(wish: string): string {
    return this.names.fresh(wish.replace(/_\d+$/, ""));
  }

  protected emit(stmt: Placeless): void {
    this.out.push({ ...stmt, location: this.location } as Stmt);
  }

  protected assign(local: LocalRef, value: Expr): void {
    this.emit({ kind: "assign", name: local.name, value });
  }

  /** A local of its own with a value. In a branch it is declared at the head of the scope, so that the reverse sweep sees it. */
  protected cell(wish: string, init: Expr): LocalRef {
    const name = this.fresh(wish);
    const { type } = init;
    if (this.depth === 0) this.emit({ kind: "let", name, type, init });
    else {
      this.scope.head.push({ kind: "let", name, type, init: zeroOf(type), location: this.location });
      this.emit({ kind: "assign", name, value: init });
    }
    this.owners.set(name, this.scope);
    return localOf(name, type);
  }

  /** The same for a value that never changes. */
  protected bind(wish: string, init: Expr, active = false): LocalRef {
    const local = this.cell(wish, init);
    if (active) this.active.add(local.name);
    return local;
  }

  /** A local of the block that is written; nothing outside of it reads it. */
  protected temporary(wish: string, init: Expr): LocalRef {
    const name = this.fresh(wish);
    this.emit({ kind: "let", name, type: init.type, init });
    return localOf(name, init.type);
  }

  protected isActive(value: Expr): boolean {
    return value.op === "local" && this.active.has(value.name);
  }

  /** Statements that `write` writes. */
  protected block(write: () => void): Stmt[] {
    const { out } = this;
    this.out = [];
    try {
      write();
      return this.out;
    } finally {
      this.out = out;
    }
  }

  /** Writes in a scope of its own, inside of the present one. */
  protected scoped<T>(write: (scope: CodeScope) => T): T {
    const { out, trail, scope, depth } = this;
    Object.assign(this, { out: [], trail: [], scope: { head: [], tail: [], outer: scope }, depth: 0 });
    try {
      return write(this.scope);
    } finally {
      Object.assign(this, { out, trail, scope, depth });
    }
  }

  /** Result of `write`, which leaves nothing: neither code nor declarations. */
  protected tried<T>(write: () => T): T {
    const { out, trail, derivatives } = this;
    const scopes: [CodeScope, number, number][] = [];
    for (let at: CodeScope | undefined = this.scope; at; at = at.outer) scopes.push([at, at.head.length, at.tail.length]);
    Object.assign(this, { out: [], trail: [], derivatives: new Map(derivatives) });
    try {
      return write();
    } finally {
      Object.assign(this, { out, trail, derivatives });
      for (const [at, head, tail] of scopes) {
        at.head.length = head;
        at.tail.length = tail;
      }
    }
  }
}
