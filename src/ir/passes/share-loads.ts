import { jsonText } from "../../base/json.js";
import { define, localOf } from "../by-name.js";
import { FreshNames } from "./copy.js";
import { isFloat, type ScalarType } from "../scalars.js";
import type { Expr, KernelIR, Stmt } from "../types.js";
import { isExact } from "../loop-stops.js";
import { literal, simplify } from "../simplify.js";
import {
  alwaysEvaluated,
  assignedLocals,
  blocksOf,
  children,
  declares,
  exprsOf,
  hasJump,
  mapBlocks,
  mapChildren,
  mapOwnExprs,
} from "../walk.js";
import { changedIn, someExpr, walkExprs, walkStmts } from "../walk.js";

type Load = Extract<Expr, { op: "load" }>;
type Loop = Extract<Stmt, { kind: "for" }>;

/**
 * Loads each value once for all who use it in a block, and before a loop the floats that all of its turns read from one place: for compilers that
 * do not see that memory has not changed. Only of views that the kernel does not write, which must not share memory with those that it does.
 */
export function shareLoads(ir: KernelIR): KernelIR {
  return new Sharing(ir).kernel();
}

/** The same in a changed part of the kernel, for floats alone: no index depends on the new locals. */
export function shareFloatLoads(ir: KernelIR, part: readonly Stmt[]): Stmt[] {
  return new Sharing(ir, isFloat).block(part, new Map());
}

/** By what is loaded: the local that has it. */
type Shared = ReadonlyMap<string, string>;

class Sharing {
  private readonly names: FreshNames;
  private readonly written: ReadonlySet<string>;
  private readonly assigned: ReadonlySet<string>;

  constructor(
    private readonly ir: KernelIR,
    private readonly isShared: (type: ScalarType) => boolean = () => true,
  ) {
    this.names = new FreshNames(ir);
    this.assigned = assignedLocals(ir.body);
    this.written = changedIn(ir.body, "view", "scatter");
  }

  kernel(): KernelIR {
    return { ...this.ir, body: this.block(this.ir.body, new Map()) };
  }

  block(stmts: readonly Stmt[], outer: Shared): Stmt[] {
    const counts = new Map<string, number>();
    walkExprs(stmts, (e) => {
      const key = this.keyOf(e);
      if (key !== undefined) counts.set(key, (counts.get(key) ?? 0) + 1);
    });
    const shared = new Map(outer);
    return stmts.flatMap((stmt) => {
      const before: Stmt[] = [];
      const share = (load: Load): void => {
        const key = this.keyOf(load);
        if (key === undefined || shared.has(key) || counts.get(key)! < 2) return;
        const value = { ...load, indices: load.indices.map((index) => substitute(index)) };
        const name = this.names.fresh(load.view);
        before.push(define(name, value, stmt.location));
        shared.set(key, name);
      };
      const substitute = (e: Expr): Expr => {
        const name = e.op === "load" ? shared.get(this.keyOf(e) ?? "") : undefined;
        return name === undefined ? mapChildren(e, substitute) : localOf(name, e.type);
      };
      for (const e of exprsOf(stmt)) eachLoad(e, share);
      const inside = stmt.kind === "for" ? this.ahead(stmt, shared, before) : shared;
      return [...before, mapBlocks(mapOwnExprs(stmt, substitute), (block) => this.block(block, inside))];
    });
  }

  /** Loads `before` a loop what each of its turns would load first thing from the same place, if there are turns; what is known inside. */
  private ahead(loop: Loop, outer: Shared, before: Stmt[]): Shared {
    if (isExact(loop.stop)) return outer;
    const any = simplify({ op: "compare", type: "bool", fn: loop.step > 0 ? "lt" : "gt", a: loop.start, b: loop.stop });
    if (any.op === "const" && !any.value) return outer;
    const own = new Set([loop.name]);
    walkStmts(loop.body, (stmt) => declares(stmt).forEach((name) => own.add(name)));
    const inside = new Map(outer);
    const load = (e: Load): void => {
      const key = this.keyOf(e);
      if (key === undefined || inside.has(key) || !isFloat(e.type)) return;
      if (someExpr(e, (x) => x.op === "local" && own.has(x.name))) return;
      const name = this.names.fresh(e.view);
      const value: Expr = any.op === "const" ? e : { op: "select", type: e.type, cond: any, a: e, b: literal(e.type, 0) };
      before.push(define(name, value, loop.location));
      inside.set(key, name);
    };
    for (const stmt of loop.body) {
      for (const e of exprsOf(stmt)) eachLoad(e, load);
      if (blocksOf(stmt).some(hasJump) || hasJump([stmt])) break;
    }
    return inside;
  }

  /** The same for loads of one value; undefined if the value, or the place, may change. */
  private keyOf(e: Expr): string | undefined {
    if (e.op !== "load" || this.written.has(e.view) || !this.isShared(e.type)) return undefined;
    const fixed = (x: Expr): boolean =>
      x.op === "local"
        ? !this.assigned.has(x.name)
        : x.op !== "element" && (x.op !== "load" || !this.written.has(x.view)) && children(x).every(fixed);
    return e.indices.every(fixed) ? jsonText([e.view, e.indices], "location") : undefined;
  }
}

/** Visits the loads that an expression always makes, inner ones first. */
function eachLoad(e: Expr, visit: (load: Load) => void): void {
  for (const child of alwaysEvaluated(e)) eachLoad(child, visit);
  if (e.op === "load") visit(e);
}
